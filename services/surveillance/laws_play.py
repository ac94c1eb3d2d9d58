"""L10: the dealer followed the posted rule, cards went where they were due, and every choice was legal.

Owns the check of each event of a round against the posted rule set and the cards on the felt just before it (30-809,
30-812 to 30-814, 30-820 to 30-829). Written from the rule, not from the round's code; `legality` has the players' half.
"""

from collections.abc import Iterator
from typing import Any

from services.game.authority import Role
from services.game.rules import DealerShows, HoleCard, HouseRules, Soft17
from services.surveillance import counting
from services.surveillance import round_facts as r
from services.surveillance import shoe_facts as s
from services.surveillance import table_facts as t
from services.surveillance.facts import Fact
from services.surveillance.findings import Finding, found
from services.surveillance.laws_settlement import dealer_natural, surrender_is_early
from services.surveillance.legality import why_illegal
from services.surveillance.observed_round import ObservedRound, SeenHand
from services.surveillance.round_facts import Recipient
from services.surveillance.scene import TableScene, digest_of_text, read_rules


class PlayedByTheRules:
    """L10, folded over the table streams."""

    def observe(self, fact: Fact, scene: TableScene) -> Iterator[Finding]:
        """Ask of one event whether the rules allowed it as the felt lay."""
        event = fact.event
        if isinstance(event, s.CardDrawn) and scene.suspended and event.leaf:
            # One that left the shoe before is laid down all the same: it can go nowhere else. A physical shoe gives what
            # the dealer takes: that is an irregularity, and the card is set aside.
            yield found("L10", fact, f"the card at {event.position} leaves the shoe while play is suspended (30-828)")
        if fact.area != "table" or event is None:
            return
        if isinstance(event, t.RulesPosted | t.LimitsChanged):
            if digest_of_text(event.rules_text) != event.digest:
                yield found("L10", fact, "the posted text of the rules does not have the posted digest")
            elif read_rules(event.rules_text) is None:
                yield found("L10", fact, "the posted rules are not a lawful rule set")
            return
        if isinstance(event, _SUPERVISORS_ACTS) and fact.envelope.actor.role not in _MAY_DECIDE:
            yield found(
                "L10", fact, f"{fact.name} by a {fact.envelope.actor.role.value}: a pit supervisor decides (30-828(1))"
            )
        current, rules = scene.round, scene.rules
        if current is None or rules is None or type(event) not in _ROUND_EVENTS:
            return
        if scene.suspended and isinstance(event, _STOPPED):
            yield found("L10", fact, f"{fact.name} while play is suspended (30-828)")
        if current.voided and isinstance(event, _STOPPED):
            yield found("L10", fact, f"{fact.name} after the round was voided")
        reason = why_broken(current, rules, event)
        if reason:
            yield found("L10", fact, reason)

    def finish(self) -> Iterator[Finding]:
        """Nothing is left open at the end."""
        return iter(())


_ROUND_EVENTS = frozenset(r.VIEWS)
_SUPERVISORS_ACTS = (r.HandVoided, r.RoundVoided, t.TableResumed)
_MAY_DECIDE = frozenset({Role.SUPERVISOR, Role.LICENSEE, Role.REGULATOR})
_STOPPED = (r.HandHit, r.HandDoubled, r.HandSplit, r.InsurancePlaced, r.HandSurrendered)


def why_broken(current: ObservedRound, rules: HouseRules, event: Any) -> str:
    """The rule that the event broke, in words; "" when it was right."""
    match event:
        case r.CardDealt():
            return _card(current, rules, event)
        case r.HoleRevealed():
            return _reveal(current, rules)
        case r.HoleChecked():
            return _check(current, rules, event)
        case r.WagersSettled():
            return _dealer_done(current, rules, event)
        case r.BettingClosed():
            wagered = sorted(seat for seat, hands in current.hands.items() if any(not hand.voided for hand in hands))
            return "" if sorted(event.seats) == wagered else f"cards go to seats {event.seats}, wagers lie on {wagered}"
        case _:
            return why_illegal(current, rules, event)


def _card(current: ObservedRound, rules: HouseRules, event: r.CardDealt) -> str:
    due = first_cards(current, rules)
    dealt = len(current.positions())
    target = (0 if event.to is Recipient.DEALER else event.seat, event.face_down)
    if dealt < len(due):
        if target != due[dealt]:
            return f"card {dealt + 1} of the deal goes to {_whom(target)}, it is due to {_whom(due[dealt])} (30-820)"
        return ""
    if event.to is Recipient.PLAYER:
        hand = current.hand(event.seat, event.hand)
        if hand is None or hand.owed < 1:
            return f"a card for hand {event.hand} of seat {event.seat}, which did not ask for one (30-821)"
        return ""
    return _dealer_card(current, rules)


def first_cards(current: ObservedRound, rules: HouseRules) -> list[tuple[int, bool]]:
    """The deal of 30-820 as (seat, face down), seat 0 the dealer: a card each, the up card, a second each, the hole."""
    each = [(seat, False) for seat in current.seats]
    hole = [] if rules.hole_card is HoleCard.NO_HOLE_CARD else [(0, rules.dealer_shows is DealerShows.UP_CARD)]
    return [*each, (0, False), *each, *hole]


def _whom(target: tuple[int, bool]) -> str:
    who = f"seat {target[0]}" if target[0] else "the dealer"
    return f"{who}, face down" if target[1] else who


def _dealer_card(current: ObservedRound, rules: HouseRules) -> str:
    """Whether the dealer may take another card (30-823, 30-826)."""
    row = current.dealer.get(0, [])
    if any(seen.card is None for seen in row):
        return "the dealer draws before the hole card is shown (30-823)"
    waiting = next((hand for row_ in current.hands.values() for hand in row_ if unfinished(hand, rules)), None)
    if waiting is not None and not dealer_natural(current, rules):
        return f"the dealer draws while seat {waiting.seat} has not finished (30-821)"
    total, soft = counting.count(current.dealer_faces)
    if not must_draw(total, soft=soft, rules=rules):
        return f"the dealer draws on {counting.total_text(current.dealer_faces)} (30-826)"
    if not rules.dealer_draws_when_decided and not needs_dealer(current, rules):
        return "the dealer draws although every hand is decided (30-826)"
    return ""


def must_draw(total: int, *, soft: bool, rules: HouseRules) -> bool:
    """16 or less draws; a soft 17 draws where that is posted (30-803(3)(a), 30-826)."""
    return total < 17 or (total == 17 and soft and rules.soft17 is Soft17.HIT)


def unfinished(hand: SeenHand, rules: HouseRules) -> bool:
    """Whether the hand certainly still has its turn before it, so that nobody after it may act."""
    if hand.voided or hand.surrendered or hand.even_money or hand.stood or hand.is_natural:
        return False
    if hand.owed > 0 or len(hand.cards) < 2:
        return True
    if hand.doubled or counting.count(hand.faces)[0] >= 21:
        return False
    # A split ace with its second card may have a choice left or none: either way the next hand is not early.
    return not hand.split_aces


def needs_dealer(current: ObservedRound, rules: HouseRules) -> bool:
    """Whether some stake is undecided until the dealer has drawn (30-826)."""
    row = current.dealer.get(0, [])
    natural = dealer_natural(current, rules)
    for hands in current.hands.values():
        for hand in hands:
            if hand.voided or hand.even_money or hand.is_bust:
                continue
            waits_for_natural = hand.is_natural or (hand.surrendered and not surrender_is_early(current, rules))
            if waits_for_natural or hand.surrendered:
                if len(row) == 1 and natural is None and waits_for_natural:
                    return True
                continue
            return True
    insured = any(name not in current.lines for name in current.insurance)
    return len(row) == 1 and insured


def _reveal(current: ObservedRound, rules: HouseRules) -> str:
    if dealer_natural(current, rules) or current.voided:
        return ""
    waiting = next((hand for row in current.hands.values() for hand in row if unfinished(hand, rules)), None)
    return f"the hole card is shown while seat {waiting.seat} has not finished (30-823)" if waiting is not None else ""


def _check(current: ObservedRound, rules: HouseRules, event: r.HoleChecked) -> str:
    up = current.up_card
    if up is None or current.hole_checks:
        return "the hole card is checked a second time, or before the deal (30-823)"
    ace = up.rank == "A"
    asked = (ace and rules.hole_card in {HoleCard.PEEK_ACE, HoleCard.PEEK_ACE_TEN}) or (
        counting.is_ten_value(up) and rules.hole_card is HoleCard.PEEK_ACE_TEN
    )
    if not asked:
        return f"the hole card is checked under {up}, the house does not (30-823)"
    wanted = r.HoleQuestion.IS_TEN_VALUE if ace else r.HoleQuestion.IS_ACE
    return "" if event.question is wanted else f"under {up} the question is {wanted}, not {event.question}"


def _dealer_done(current: ObservedRound, rules: HouseRules, event: r.WagersSettled) -> str:
    """Nobody is settled against a dealer who still has to draw (30-826)."""
    if current.voided or dealer_natural(current, rules):
        return ""
    for line in event.lines:
        hand = current.hand(line.seat, line.hand)
        compared = line.cause in {r.Cause.HIGHER_TOTAL, r.Cause.TIE}
        if hand is None or hand.voided or not compared:
            continue
        total, soft = counting.count(current.dealer_faces)
        if must_draw(total, soft=soft, rules=rules):
            return f"hands are settled against a dealer who stopped at {counting.total_text(current.dealer_faces)} (30-826)"
    return ""

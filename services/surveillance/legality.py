"""Whether a player's choice was legal as the felt lay: the players' half of L10.

Owns the conditions of 30-807 to 30-814, 30-821, 30-826 and 30-829, one function for each choice; each answers with the
broken rule in words, or "". Written from the rule sheet; shares no code with the round.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from services.game.rules import DoubleOn, HoleCard, HouseRules, InsuranceRule, Rounding, SplitBy, Surrender
from services.surveillance import counting
from services.surveillance import round_facts as r
from services.surveillance.observed_round import ObservedRound, SeenHand

INSURANCE, DOUBLE, SPLIT, MAIN = "insurance", "double", "split", "main"


def why_illegal(current: ObservedRound, rules: HouseRules, event: Any) -> str:
    """The rule that a player's choice broke, in words; "" when it was legal or is no choice."""
    check = _CHECKS.get(type(event))
    return check(current, rules, event) if check is not None else ""


def _wager(current: ObservedRound, rules: HouseRules, event: r.WagerPlaced) -> str:
    kind = rules.wager_kind(event.kind)
    if kind is None:
        return f"the rules know no wager {event.kind!r}"
    cents = event.amount_cents
    if cents < 1:
        return f"a wager of {cents} cents"
    if event.kind == MAIN:
        if current.hands.get(event.seat):
            return f"a second main wager on seat {event.seat} (30-809)"
        limits = rules.limits
        if not limits.minimum_cents <= cents <= limits.maximum_cents:
            return f"a wager of {cents} cents, the limits are {limits.minimum_cents} to {limits.maximum_cents} (30-809)"
        if cents % limits.increment_cents:
            return f"a wager of {cents} cents in steps of {limits.increment_cents} (30-809)"
    elif kind.requires:
        other = next((s.amount_cents for hand in current.hands.get(event.seat, []) for s in hand.stakes[:1]), 0)
        if not other:
            return f"a {event.kind} wager on seat {event.seat} without a {kind.requires} wager (30-807)"
        if kind.most is not None and cents > kind.most * other:
            return f"a {event.kind} wager of {cents} cents on one of {other} (30-807)"
    if not 1 <= event.seat <= rules.max_seats:
        return f"a wager on seat {event.seat} of {rules.max_seats} (30-803)"
    return ""


def _in_turn(current: ObservedRound, rules: HouseRules, event: Any) -> SeenHand | str:
    """The hand that acts, or why it may not act now."""
    hand = current.hand(event.seat, event.hand)
    where = f"seat {event.seat} hand {event.hand}"
    if hand is None:
        return f"{where} is not there"
    if _check_is_due(current, rules):
        return f"{where} acts before the dealer's check (30-823)"
    if current.hole_checks and current.hole_checks[-1].makes_blackjack:
        return f"{where} acts although the dealer has a blackjack (30-823)"
    if current.hole_revealed:
        return f"{where} acts after the hole card is shown (30-823)"
    closed = _closed(hand)
    if closed:
        return f"{where} acts, but {closed} (30-826)"
    for seat in current.seats:
        for index, other in enumerate(current.hands.get(seat, [])):
            if other is hand:
                return hand
            if not _closed(other) and not other.split_aces:
                return f"{where} acts out of turn, it is seat {seat} hand {index} (30-821)"
    return f"{where} takes no part in the round"


def _closed(hand: SeenHand) -> str:
    """Why a hand takes no more choices, "" while it does."""
    if hand.voided or hand.surrendered or hand.even_money or hand.stood:
        return "the hand is over"
    if hand.doubled:
        return "it was doubled"
    if hand.is_natural:
        return "it is a blackjack"
    total, _ = counting.count(hand.faces)
    if total >= 21:
        return f"it has {total}"
    return ""


def _check_is_due(current: ObservedRound, rules: HouseRules) -> bool:
    """Whether the house checks the hole card under this up card and has not done so yet."""
    up, row = current.up_card, current.dealer.get(0, [])
    if up is None or len(row) < 2 or current.hole_checks or all(seen.card is not None for seen in row):
        return False
    if up.rank == "A":
        return rules.hole_card in {HoleCard.PEEK_ACE, HoleCard.PEEK_ACE_TEN}
    return counting.is_ten_value(up) and rules.hole_card is HoleCard.PEEK_ACE_TEN


def _ready(hand: SeenHand) -> str:
    if len(hand.cards) < 2 or hand.owed > 0:
        return f"seat {hand.seat} acts on {len(hand.cards)} cards, before the next one is dealt (30-821)"
    return ""


def _hit(current: ObservedRound, rules: HouseRules, event: r.HandHit) -> str:
    hand = _in_turn(current, rules, event)
    if isinstance(hand, str):
        return hand
    if hand.split_aces and not rules.hit_split_aces:
        return f"seat {event.seat} draws to split aces (30-814)"
    return _ready(hand)


def _stand(current: ObservedRound, rules: HouseRules, event: r.HandStood) -> str:
    hand = _in_turn(current, rules, event)
    return hand if isinstance(hand, str) else _ready(hand)


def _double(current: ObservedRound, rules: HouseRules, event: r.HandDoubled) -> str:
    hand = _in_turn(current, rules, event)
    if isinstance(hand, str):
        return hand
    if len(hand.cards) != 2 or hand.owed > 0:
        return f"seat {event.seat} doubles on {len(hand.cards)} cards (30-813)"
    after_split = rules.double_after_split and (not hand.split_aces or rules.double_after_split_aces)
    if hand.from_split and not after_split:
        return f"seat {event.seat} doubles after a split (30-813)"
    total, soft = counting.count(hand.faces)
    lowest = {DoubleOn.NINE_TO_ELEVEN: 9, DoubleOn.TEN_ELEVEN: 10}.get(rules.double_on)
    if (lowest is not None and not lowest <= total <= 11) or (rules.double_on is DoubleOn.HARD_ONLY and soft):
        return f"seat {event.seat} doubles on {counting.total_text(hand.faces)}, the house allows {rules.double_on} (30-813)"
    if event.amount_cents < 1 or event.amount_cents > hand.main_cents:
        return f"seat {event.seat} doubles {hand.main_cents} cents with {event.amount_cents} (30-813)"
    if event.amount_cents < hand.main_cents and not rules.double_for_less:
        return f"seat {event.seat} doubles for less (30-813)"
    return ""


def _split(current: ObservedRound, rules: HouseRules, event: r.HandSplit) -> str:
    hand = _in_turn(current, rules, event)
    if isinstance(hand, str):
        return hand
    faces = hand.faces
    if len(hand.cards) != 2 or len(faces) != 2 or hand.owed > 0:
        return f"seat {event.seat} splits {len(hand.cards)} cards (30-814)"
    pair = faces[0].rank == faces[1].rank if rules.split_by is SplitBy.RANK else counting.same_value(*faces)
    if not pair:
        return f"seat {event.seat} splits {faces[0]} {faces[1]} (30-814)"
    if hand.split_aces and not rules.resplit_aces:
        return f"seat {event.seat} splits aces again (30-814)"
    if len(current.hands[event.seat]) >= rules.max_hands:
        return f"seat {event.seat} splits to more than {rules.max_hands} hands (30-814)"
    if event.amount_cents != hand.main_cents:
        return f"seat {event.seat} splits {hand.main_cents} cents with {event.amount_cents} (30-814)"
    if event.new_hand != event.hand + 1:
        return f"hand {event.new_hand} is made of hand {event.hand}: it belongs right after it (30-814)"
    return ""


def _surrender(current: ObservedRound, rules: HouseRules, event: r.HandSurrendered) -> str:
    hand = current.hand(event.seat, event.hand)
    if hand is None or rules.surrender is Surrender.NONE:
        return f"seat {event.seat} surrenders, the house does not offer it (30-829)"
    if len(hand.cards) != 2 or hand.owed > 0 or hand.surrender_declined or _closed(hand):
        return f"seat {event.seat} surrenders on {len(hand.cards)} cards or after another choice (30-829)"
    if hand.from_split and not rules.surrender_after_split:
        return f"seat {event.seat} surrenders a split hand (30-829)"
    ten_up = current.up_card is not None and counting.is_ten_value(current.up_card)
    early = rules.surrender is Surrender.EARLY or (rules.surrender is Surrender.EARLY_VS_TEN and ten_up)
    if _check_is_due(current, rules):
        return "" if early else f"seat {event.seat} surrenders before the dealer's check (30-829)"
    turn = _in_turn(current, rules, event)
    return turn if isinstance(turn, str) else ""


def _insure(current: ObservedRound, rules: HouseRules, event: r.InsurancePlaced) -> str:
    late = _insurance_window(current, event)
    hand = current.hand(event.seat, event.hand)
    if late or hand is None:
        return late or f"seat {event.seat} has no hand to insure"
    if rules.insurance is InsuranceRule.OFF:
        return f"seat {event.seat} insures, the house does not offer it (30-812)"
    if not 0 < 2 * event.amount_cents <= hand.main_cents:
        return f"seat {event.seat} insures {hand.main_cents} cents for {event.amount_cents}, more than half (30-812)"
    # No half cent and no half chip can be staked: the half of an odd wager is rounded down.
    step = 1 if rules.rounding is Rounding.EXACT else rules.chip_cents
    if rules.insurance is InsuranceRule.EXACTLY_HALF and event.amount_cents != hand.main_cents // 2 // step * step:
        return f"seat {event.seat} insures for {event.amount_cents} cents, the house takes exactly half (30-812)"
    return ""


def _even_money(current: ObservedRound, rules: HouseRules, event: r.EvenMoneyTaken) -> str:
    late = _insurance_window(current, event)
    hand = current.hand(event.seat, event.hand)
    if late or hand is None:
        return late or f"seat {event.seat} has no hand"
    if not rules.even_money or not hand.is_natural:
        return f"seat {event.seat} takes even money without a blackjack, or where it is not offered (30-812)"
    return ""


def _insurance_window(current: ObservedRound, event: Any) -> str:
    up = current.up_card
    if up is None or up.rank != "A":
        return f"seat {event.seat} answers insurance under {up}, not an ace (30-812)"
    if current.insurance_closed or current.hole_checks or current.hole_revealed:
        return f"seat {event.seat} answers insurance after it was closed (30-812)"
    hand = current.hand(event.seat, event.hand)
    if hand is not None and hand.insurance_answered:
        return f"seat {event.seat} answers insurance a second time (30-812)"
    if any(h.stood or h.doubled or h.from_split or len(h.cards) > 2 for row in current.hands.values() for h in row):
        return f"seat {event.seat} answers insurance after play began (30-812)"
    return ""


_CHECKS: Mapping[type, Callable[[ObservedRound, HouseRules, Any], str]] = MappingProxyType(
    {
        r.WagerPlaced: _wager,
        r.HandHit: _hit,
        r.HandStood: _stand,
        r.HandDoubled: _double,
        r.HandSplit: _split,
        r.HandSurrendered: _surrender,
        r.InsurancePlaced: _insure,
        r.EvenMoneyTaken: _even_money,
    }
)

"""L7: one settlement for each stake, its amount by the posted pay rule, and the ledger paid what the table said.

Owns a settlement worked out again from the cards on the felt and the posted rule set (30-807, 30-808, 30-810, 30-812 to
30-814, 30-828(1), 30-829), and the comparison of both services' lines. Shares no code with the round's settlement or
the ledger.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from services.game.rules import (
    BY_DEALER_BLACKJACK,
    DealerBlackjackTakes,
    HouseRules,
    MainResult,
    PayRule,
    Rounding,
    Surrender,
)
from services.surveillance import counting
from services.surveillance import round_facts as r
from services.surveillance import table_facts as t
from services.surveillance import wager_facts as w
from services.surveillance.facts import Fact
from services.surveillance.findings import Finding, found
from services.surveillance.observed_round import ObservedRound, SeenHand
from services.surveillance.round_facts import Outcome
from services.surveillance.scene import TableScene

MAIN, TIP = "main", "tip"
LOST, BACK = Fraction(-1), Fraction(0)

_WORDS = {
    MainResult.NATURAL: Outcome.BLACKJACK,
    MainResult.EVEN_MONEY: Outcome.EVEN_MONEY,
    MainResult.BUST: Outcome.BUST,
    MainResult.SURRENDER: Outcome.SURRENDER,
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one stake should have come to: the outcome, the exact amount due in cents, and what is paid of it."""

    outcome: Outcome
    due: Fraction
    returned_cents: int


@dataclass(frozen=True, slots=True)
class NotYet:
    """Why something cannot be told: in words."""

    reason: str


_DEALER_UNKNOWN = NotYet("the dealer's cards are not known yet")


def verdict(outcome: Outcome, net: Fraction, stake_cents: int, rules: HouseRules) -> Verdict:
    """Pay `net` times the stake. A gain is rounded by itself and the stake goes back whole; else what is left is rounded."""
    due = stake_cents * (1 + net)
    whole, rest = (stake_cents, due - stake_cents) if net >= 0 else (0, due)
    unit = 1 if rules.rounding is Rounding.EXACT else rules.chip_cents
    units = rest // unit
    if units * unit != rest and rules.rounding is Rounding.UP_TO_CHIP:
        units += 1
    return Verdict(outcome, due, whole + int(units) * unit)


def settle_again(current: ObservedRound, rules: HouseRules, hand: SeenHand, kind: str, cents: int) -> Verdict | NotYet:
    """The verdict on one stake of a hand as the cards lie, or why it cannot be told yet."""
    if current.voided or hand.voided:
        return verdict(Outcome.PUSH, BACK, cents, rules)
    natural = dealer_natural(current, rules)
    declared = rules.wager_kind(kind)
    if declared is not None and declared.resolved_by == BY_DEALER_BLACKJACK:
        if natural is None:
            return _DEALER_UNKNOWN
        net = rules.insurance_pays if natural else LOST
        return verdict(Outcome.WIN if natural else Outcome.LOSE, net, cents, rules)
    result = result_of(current, rules, hand, natural)
    if isinstance(result, NotYet):
        return result
    takes_original = rules.dealer_blackjack_takes is DealerBlackjackTakes.ORIGINAL
    if result is MainResult.LOSE and natural and takes_original and kind not in {MAIN, TIP}:
        return verdict(Outcome.PUSH, BACK, cents, rules)
    share = pay_of(rules, current, hand, result)
    if share is None:
        return NotYet(f"the posted rules have no pay for {result}")
    plain = Outcome.WIN if share > 0 else Outcome.LOSE if share < 0 else Outcome.PUSH
    return verdict(_WORDS.get(result, plain), share, cents, rules)


def dealer_natural(current: ObservedRound, rules: HouseRules) -> bool | None:
    """Whether the dealer has a blackjack; None while nobody can know (30-823)."""
    row = current.dealer.get(0, [])
    if len(row) >= 2 and all(seen.card is not None for seen in row[:2]):
        return current.dealer_natural
    if current.hole_checks:
        return current.hole_checks[-1].makes_blackjack
    up = current.up_card
    if up is not None and up.rank != "A" and not counting.is_ten_value(up):
        return False
    return None


def result_of(current: ObservedRound, rules: HouseRules, hand: SeenHand, natural: bool | None) -> MainResult | NotYet:
    """How a hand ended against the dealer's, or why that is open."""
    if hand.even_money:
        return MainResult.EVEN_MONEY
    if any(seen.card is None for seen in hand.cards):
        return NotYet("a card of the hand has not been seen")
    if hand.is_bust:
        return MainResult.BUST
    if hand.surrendered:
        if surrender_is_early(current, rules) or natural is False:
            return MainResult.SURRENDER
        return MainResult.LOSE if natural else _DEALER_UNKNOWN
    if natural is None:
        return _DEALER_UNKNOWN
    if hand.is_natural:
        return MainResult.NATURAL_TIE if natural else MainResult.NATURAL
    if natural:
        return MainResult.LOSE
    row = current.dealer.get(0, [])
    if len(row) < 2 or any(seen.card is None for seen in row):
        return _DEALER_UNKNOWN
    mine, dealers = counting.count(hand.faces)[0], counting.count(current.dealer_faces)[0]
    if dealers > 21 or mine > dealers:
        return MainResult.WIN
    return MainResult.TIE if mine == dealers else MainResult.LOSE


def surrender_is_early(current: ObservedRound, rules: HouseRules) -> bool:
    """Whether surrender keeps half whatever the dealer turns out to hold (30-829)."""
    if rules.surrender is Surrender.EARLY_VS_TEN:
        return current.up_card is not None and counting.is_ten_value(current.up_card)
    return rules.surrender is Surrender.EARLY


def pay_of(rules: HouseRules, current: ObservedRound, hand: SeenHand, result: MainResult) -> Fraction | None:
    """The gain of the first pay rule that fits, as a share of the stake; None when none fits."""
    row = current.dealer.get(0, [])
    known = len(row) > 1 and all(seen.card is not None for seen in row)
    dealers = counting.count(current.dealer_faces)[0] if known else None
    for rule in rules.main_pays:
        if rule.result is result and _fits(rule, hand, dealers):
            return rules.blackjack_pays if rule.net is None else rule.net
    return None


def _fits(rule: PayRule, hand: SeenHand, dealers: int | None) -> bool:
    asked = (
        (rule.hand_total, counting.count(hand.faces)[0]),
        (rule.dealer_total, dealers),
        (rule.doubled, hand.doubled),
    )
    enough = rule.least_cards is None or len(hand.cards) >= rule.least_cards
    return enough and all(wanted is None or wanted == actual for wanted, actual in asked)


@dataclass(slots=True)
class _Paid:
    """The lines of one round by hold id, as the table and as the ledger wrote them."""

    table: dict[str, r.SettlementLine] = field(default_factory=dict)
    ledger: dict[str, w.SettledLine] = field(default_factory=dict)
    released: set[str] = field(default_factory=set)
    """Holds that went back undecided; the stake that came in the place of one has the next name."""


class SettledRight:
    """L7, its second half, folded over table and wager streams together."""

    def __init__(self) -> None:
        self._rounds: dict[str, _Paid] = {}
        self._final: dict[str, str] = {}

    def observe(self, fact: Fact, scene: TableScene) -> Iterator[Finding]:
        """Settle again what one event settled."""
        event = fact.event
        match event:
            case r.RoundOpened():
                self._rounds[fact.key] = _Paid()
                if scene.text_of(event.rules_digest) == "":
                    yield found("L7", fact, f"the rule set {event.rules_digest[:12]} of this round was never posted")
            case t.StakesReleased():
                self._rounds.setdefault(fact.key, _Paid()).released.update(event.holds)
            case r.WagersSettled():
                yield from self._table_settled(fact, scene, event)
            case w.RoundSettled():
                paid = self._rounds.setdefault(fact.key, _Paid())
                if self._final.get(fact.key) == event.round_id:
                    yield found("L7", fact, f"the round {event.round_id} is settled again after its final settlement")
                if event.final:
                    self._final[fact.key] = event.round_id
                for line in event.lines:
                    for hold in line.holds:
                        if hold in paid.ledger:
                            yield found("L7", fact, f"the hold {hold} is settled twice")
                        paid.ledger[hold] = line
            case r.RoundCompleted():
                yield from self._completed(fact, scene, event)
            case _:
                pass

    def finish(self) -> Iterator[Finding]:
        """The round in play may be unsettled."""
        return iter(())

    def _table_settled(self, fact: Fact, scene: TableScene, event: r.WagersSettled) -> Iterator[Finding]:
        current = scene.round
        if current is None or current.completed:
            yield found("L7", fact, "stakes are settled with no round in play")
            return
        if event.revision != len(current.revisions) + 1:
            yield found("L7", fact, f"settlement {event.revision} follows {len(current.revisions)}")
        paid = self._rounds.setdefault(fact.key, _Paid())
        stakes = current.stakes()
        for line in event.lines:
            name = (line.seat, line.kind, line.ordinal)
            what = f"the {line.kind} stake {line.ordinal} of seat {line.seat}"
            if name in current.lines or hold_id(current.round_id, *name, paid.released) in paid.table:
                yield found("L7", fact, f"{what} is settled a second time")
            if stakes.get(name) != line.stake_cents:
                yield found(
                    "L7", fact, f"{what} is settled for {line.stake_cents} cents, {stakes.get(name, 0)} were staked"
                )
            paid.table[hold_id(current.round_id, *name, paid.released)] = line
            if line.due != line.returned_cents + line.breakage:
                yield found(
                    "L7",
                    fact,
                    f"{what}: {line.due} due is not {line.returned_cents} returned and {line.breakage} broken",
                )
            yield from _judge(fact, scene, current, line, what)

    def _completed(self, fact: Fact, scene: TableScene, event: r.RoundCompleted) -> Iterator[Finding]:
        current, paid = scene.round, self._rounds.pop(fact.key, _Paid())
        if current is None:
            return
        stakes = current.stakes()
        for name in stakes:
            if hold_id(current.round_id, *name, paid.released) not in paid.table:
                yield found("L7", fact, f"the {name[1]} stake {name[2]} of seat {name[0]} was never settled")
        staked, returned = sum(stakes.values()), sum(line.returned_cents for line in paid.table.values())
        if (event.staked_cents, event.returned_cents) != (staked, returned):
            yield found(
                "L7",
                fact,
                f"{event.staked_cents} staked and {event.returned_cents} returned are stated, {staked} and {returned} were",
            )
        yield from _compare(fact, paid)


def hold_id(round_id: str, seat: int, kind: str, ordinal: int, released: Collection[str] = ()) -> str:
    """The hold of a stake (DESIGN §5); `.2`, `.3` and so on when one of that name was given back undecided."""
    first = name = f"{round_id}/{seat}/{kind}/{ordinal}"
    attempt = 1
    while name in released:
        attempt += 1
        name = f"{first}.{attempt}"
    return name


def _judge(
    fact: Fact, scene: TableScene, current: ObservedRound, line: r.SettlementLine, what: str
) -> Iterator[Finding]:
    hand = current.hand(line.seat, line.hand)
    if hand is None or scene.rules is None:
        missing = "its hand is not there" if hand is None else "its rule set cannot be read"
        yield found("L7", fact, f"{what} cannot be settled again: {missing}")
        return
    owner = next(
        (
            h
            for h in current.hands[line.seat]
            if any(s.kind == line.kind and s.ordinal == line.ordinal for s in h.stakes)
        ),
        None,
    )
    if owner is not None and owner is not hand:
        yield found("L7", fact, f"{what} is settled with hand {line.hand}, on which it does not stand")
    wanted = settle_again(current, scene.rules, hand, line.kind, line.stake_cents)
    if isinstance(wanted, NotYet):
        yield found("L7", fact, f"{what} is settled as {line.outcome}: {wanted.reason}")
        return
    if wanted.outcome is not line.outcome:
        yield found("L7", fact, f"{what} is settled as {line.outcome}, by the cards it is {wanted.outcome}")
    if wanted.due != line.due:
        yield found("L7", fact, f"{what}: {line.due} cents due are recorded, by the posted rules {wanted.due} are")
    elif wanted.returned_cents != line.returned_cents:
        yield found(
            "L7",
            fact,
            f"{what}: {line.returned_cents} cents are returned, rounded by the rule {wanted.returned_cents} are",
        )


def _compare(fact: Fact, paid: _Paid) -> Iterator[Finding]:
    """The ledger's lines and the table's are the same decisions; a ledger's line may carry several stakes of a hand."""
    for hold in paid.table.keys() - paid.ledger.keys():
        yield found("L7", fact, f"the table settled {hold}, the ledger did not")
    for hold in paid.ledger.keys() - paid.table.keys():
        yield found("L7", fact, f"the ledger settled {hold}, the table did not")
    for line in paid.ledger.values():
        if line.for_dealers is not (line.kind == TIP and line.returned_cents > line.stake_cents):
            whose = "the dealers" if line.for_dealers else "the patron"
            yield found(
                "L7", fact, f"{line.returned_cents} cents of the {line.kind} stake {line.holds} went to {whose}"
            )
    for holds, line in {line.holds: line for line in paid.ledger.values()}.items():
        theirs = [paid.table[hold] for hold in holds if hold in paid.table]
        if len(theirs) != len(holds):
            continue
        for one in theirs:
            said = (one.seat, one.hand, one.outcome.value, one.cause.value)
            if said != (line.seat, line.hand, line.outcome, line.cause):
                yield found(
                    "L7",
                    fact,
                    f"{holds[0]}: seat, hand, outcome, cause are {', '.join(map(str, said))} at the table, "
                    f"{line.seat}, {line.hand}, {line.outcome}, {line.cause} in the ledger",
                )
        sums = (sum(t.stake_cents for t in theirs), sum(t.due for t in theirs), sum(t.returned_cents for t in theirs))
        if sums != (line.stake_cents, line.due, line.returned_cents):
            yield found(
                "L7",
                fact,
                f"{holds[0]}: stake, due, returned are {sums[0]}, {sums[1]}, {sums[2]} at the table, "
                f"{line.stake_cents}, {line.due}, {line.returned_cents} in the ledger",
            )

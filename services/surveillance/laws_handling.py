"""How the cards were handled: committed before the wagers, cut, burned and ended as posted (30-816 to 30-819, DESIGN §6).

Owns a fold of the shoe's handling beside the table's rounds: when it was shuffled, where the cutting card stands, which
burns were made, which draw was the last round's. L2 for what the shoe says of itself, L3 where table and shoe differ, L10
where the posted rules were not followed. Memory is one shoe per table. Shares no code with the services.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from services.game.rules import BurnCardVisible, CutCardFirst, HouseRules
from services.surveillance import round_facts as r
from services.surveillance import shoe_facts as s
from services.surveillance import table_facts as t
from services.surveillance.facts import Fact
from services.surveillance.findings import Finding, found
from services.surveillance.scene import TableScene, read_rules
from services.surveillance.shoe_facts import BurnReason

RESEED_AFTER: Final = 5_000
"""A shuffling shoe is seeded anew after so many cards (GLI-19 3.3)."""
_PROCEDURE: Final = frozenset({BurnReason.AFTER_SHUFFLE, BurnReason.DEALER_CHANGE})


@dataclass(slots=True)
class _Shoe:
    """The shoe in play, as it was handled so far."""

    shuffled: s.CardsShuffled
    late_for: str
    """The round whose wagers were placed before the shuffle, "" when none were."""
    behind: int | None = None
    out: int = 0
    last_round: bool = False
    round_id: str = ""
    """The round that drew last."""
    finishes: str = ""
    """The round for which the discards were reshuffled."""
    burned_after_shuffle: int = 0
    shown: int = 0
    hidden: int = 0
    due_in: str = ""
    """The round in which the cutting card came, until the table has said so."""

    @property
    def ends(self) -> bool:
        """Whether the cutting card, or the time for a new seed, has come with the last card out."""
        if self.shuffled.continuous:
            return self.out >= RESEED_AFTER
        before = 52 * self.shuffled.decks - (self.behind or 0)
        at_the_card = self.out == before and self.shuffled.cut_card_first is CutCardFirst.SHUFFLE_NOW
        return self.last_round or self.out > before or at_the_card


@dataclass(slots=True)
class _Table:
    """One table: its shoe, the rules on display, the burn that a new dealer owes."""

    shoe: _Shoe | None = None
    rules: HouseRules | None = None
    rounds: int = 0
    owed: int = 0
    change: int = 0
    burned: list[str] = field(default_factory=list)
    cut_seen: str = ""
    """The physical shoe whose cutting card a device saw; how such a shoe was shuffled and cut, nobody here knows."""


class CardsHandled:
    """Folded over the shoe's and the table's streams together."""

    def __init__(self) -> None:
        self._tables: dict[str, _Table] = {}

    def observe(self, fact: Fact, scene: TableScene) -> Iterator[Finding]:
        """Fold one event in."""
        event = fact.event
        if event is None or fact.area not in {"shoe", "table"}:
            return
        table = self._tables.setdefault(fact.key, _Table())
        if fact.area == "table":
            yield from _at_table(fact, table, scene, event)
            return
        if isinstance(event, s.CardsShuffled):
            table.shoe = _Shoe(event, _wagered_round(scene))
        elif isinstance(event, s.ObservedShoeStarted):
            table.shoe = None
        elif isinstance(event, s.CutCardSeen):
            table.cut_seen = event.shoe_id
        elif table.shoe is not None and getattr(event, "shoe_id", "") == table.shoe.shuffled.shoe_id:
            yield from _at_shoe(fact, table, table.shoe, event)

    def finish(self) -> Iterator[Finding]:
        """Nothing is left open at the end."""
        return iter(())


def _wagered_round(scene: TableScene) -> str:
    """The round in play if wagers that were not given back lie on it, "" otherwise."""
    current = scene.round
    if current is None or current.completed or current.voided:
        return ""
    return current.round_id if any(not hand.voided for row in current.hands.values() for hand in row) else ""


# The shoe --------------------------------------------------------------------------------------------------------------


def _at_shoe(fact: Fact, table: _Table, shoe: _Shoe, event: Any) -> Iterator[Finding]:
    match event:
        case s.CardsCut():
            yield from _cut(fact, shoe, event)
        case s.CutCardPlaced():
            yield from _placed(fact, shoe, event)
        case s.CardDrawn():
            yield from _drawn(fact, table, shoe, event)
        case s.CardBurned():
            yield from _burned(fact, table, shoe, event)
        case s.DiscardsReshuffled():
            shoe.last_round, shoe.finishes = True, event.round_id
        case s.ShoeRetired() | s.ShoeAbandoned():
            table.shoe = None
        case _:
            pass


def _cut(fact: Fact, shoe: _Shoe, event: s.CardsCut) -> Iterator[Finding]:
    if event.stack or shoe.shuffled.continuous:
        return
    least, cards = shoe.shuffled.min_cut_cards, 52 * shoe.shuffled.decks
    if not least <= event.depth <= cards - least:
        yield found(
            "L2", fact, f"a cut at {event.depth} of {cards} cards, {least} are the distance from an end (30-817)"
        )


def _placed(fact: Fact, shoe: _Shoe, event: s.CutCardPlaced) -> Iterator[Finding]:
    cards = 52 * shoe.shuffled.decks
    if not 1 <= event.cards_behind <= cards // 2:
        yield found("L2", fact, f"{event.cards_behind} of {cards} cards stand behind the cutting card (30-817)")
    if shoe.out:
        yield found("L2", fact, f"the cutting card is placed after {shoe.out} cards are out (30-817)")
    shoe.behind = event.cards_behind


def _comes_out(fact: Fact, shoe: _Shoe, event: s.CardDrawn | s.CardBurned) -> Iterator[Finding]:
    if shoe.behind is None and not shoe.shuffled.continuous:
        yield found("L2", fact, f"the card at {event.position} comes out before the cutting card was placed (30-817)")
        shoe.behind = 0
    shoe.out = max(shoe.out, event.position)
    ends = shoe.ends
    if event.last_round is not ends:
        said = "the last round" if event.last_round else "not the last round"
        yield found(
            "L2",
            fact,
            f"the card at {event.position} is said to be of {said}; {shoe.behind or 0} cards stand behind the cutting card, "
            f"by the rule {shoe.shuffled.cut_card_first} (30-816)",
        )
    shoe.last_round = shoe.last_round or ends


def _drawn(fact: Fact, table: _Table, shoe: _Shoe, event: s.CardDrawn) -> Iterator[Finding]:
    if shoe.late_for and event.round_id == shoe.late_for:
        yield found(
            "L2",
            fact,
            f"{event.round_id} is dealt from {shoe.shuffled.shoe_id}, whose order was committed to after its wagers "
            "(DESIGN §6)",
        )
        shoe.late_for = ""
    if shoe.last_round and event.round_id not in {shoe.round_id, shoe.finishes}:
        yield found("L2", fact, f"{event.round_id} is dealt after the last round of {shoe.shuffled.shoe_id} (30-816)")
    if table.owed:
        yield found("L10", fact, f"the card at {event.position} comes before the burn of the new dealer (30-819)")
        table.owed = 0
    was_over = shoe.last_round
    yield from _comes_out(fact, shoe, event)
    if shoe.last_round and not was_over:
        shoe.due_in = event.round_id
    shoe.round_id = event.round_id


def _burned(fact: Fact, table: _Table, shoe: _Shoe, event: s.CardBurned) -> Iterator[Finding]:
    yield from _comes_out(fact, shoe, event)
    if event.reason in _PROCEDURE:
        shoe.hidden += event.face_down
        shoe.shown += not event.face_down
    if event.reason is BurnReason.AFTER_SHUFFLE:
        shoe.burned_after_shuffle += 1
    if event.reason is BurnReason.DEALER_CHANGE:
        table.burned.append(event.burn_id)
        table.owed = max(0, table.owed - (event.burn_id == f"{fact.key}/dealer/{table.change}"))


# The table -------------------------------------------------------------------------------------------------------------


def _at_table(fact: Fact, table: _Table, scene: TableScene, event: Any) -> Iterator[Finding]:
    match event:
        case t.RulesPosted() | t.LimitsChanged():
            table.rules = read_rules(event.rules_text)
        case r.RoundOpened():
            table.rounds += 1
        case t.ShoeAssigned():
            yield from _assigned(fact, table, scene)
        case t.DealerChanged():
            yield from _dealer(fact, table, event)
        case t.DealerBurnFinished():
            yield from _dealer_done(fact, table, event)
        case t.ShuffleBecameDue():
            yield from _due(fact, table, event)
        case r.RoundCompleted() if table.shoe is not None and table.shoe.due_in == fact.envelope.round_id:
            table.shoe.due_in = ""
            yield found("L3", fact, "the cutting card came in this round, and the table does not say so (30-816)")
        case _:
            pass


def _assigned(fact: Fact, table: _Table, scene: TableScene) -> Iterator[Finding]:
    """What is posted about the handling is what was done with the cards that the round is dealt from."""
    shoe, rules = table.shoe, scene.rules
    if shoe is None or rules is None or shoe.shuffled.continuous:
        return
    said = (shoe.shuffled.min_cut_cards, shoe.shuffled.cut_card_first)
    if said != (rules.min_cut_cards, rules.cut_card_first):
        yield found(
            "L10",
            fact,
            f"cut by {said[0]}, ended by {said[1]}; posted are {rules.min_cut_cards}, {rules.cut_card_first} (30-817)",
        )
    least = 52 * shoe.shuffled.decks * (100 - rules.penetration_percent) // 100
    if (shoe.behind or 0) < least:
        yield found(
            "L10",
            fact,
            f"{shoe.behind or 0} cards behind the cutting card, {rules.penetration_percent} percent leave {least} (30-817)",
        )
    if shoe.burned_after_shuffle < rules.burn_after_shuffle:
        yield found(
            "L10",
            fact,
            f"{shoe.burned_after_shuffle} cards were burned after the shuffle, posted {rules.burn_after_shuffle} (30-819)",
        )
    if (rules.burn_card_visible is BurnCardVisible.NEVER and shoe.shown) or (
        rules.burn_card_visible is BurnCardVisible.ALWAYS and shoe.hidden
    ):
        yield found(
            "L10",
            fact,
            f"{shoe.shown} burned cards were shown and {shoe.hidden} not, posted is {rules.burn_card_visible} (30-819)",
        )


def _dealer(fact: Fact, table: _Table, event: t.DealerChanged) -> Iterator[Finding]:
    if table.rules is not None:
        due = table.rules.burn_on_dealer_change if table.rounds else 0
        if event.burn != due:
            yield found(
                "L10", fact, f"the new dealer is to burn {event.burn} cards, by the posted rules {due} (30-819)"
            )
    table.owed, table.change = event.burn, event.change


def _dealer_done(fact: Fact, table: _Table, event: t.DealerBurnFinished) -> Iterator[Finding]:
    made = table.burned.count(f"{fact.key}/dealer/{event.change}")
    if event.burned != made:
        yield found("L3", fact, f"the table has a burn of {event.burned} cards, the shoe burned {made} (30-819)")
    if not event.burned and not event.reason:
        yield found("L3", fact, "nothing was burned for the new dealer, and nobody says why (30-819)")
    table.owed = 0
    table.burned.clear()


def _due(fact: Fact, table: _Table, event: t.ShuffleBecameDue) -> Iterator[Finding]:
    shoe = table.shoe
    if event.shoe_id == table.cut_seen:
        return
    in_play = ("", "") if shoe is None else (shoe.shuffled.shoe_id, shoe.due_in)
    if in_play != (event.shoe_id, event.round_id):
        yield found(
            "L3", fact, f"the cutting card of {event.shoe_id} is said to have come, the shoe gave none (30-816)"
        )
    if shoe is not None:
        shoe.due_in = ""

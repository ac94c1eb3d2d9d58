"""L3: each dealt card in one hand or the rack, table and shoe agree. L8: no wager after the close, no card before.

Owns the comparison of the shoe's stream with the table's, in log order: all streams of one table share a partition.
Memory is one shoe and one round per table. Shares no code with the services that it compares.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from services.game.cards import Card
from services.game.rules import Moment
from services.surveillance import counting
from services.surveillance import round_facts as r
from services.surveillance import shoe_facts as s
from services.surveillance import table_facts as t
from services.surveillance import wager_facts as w
from services.surveillance.facts import Fact
from services.surveillance.findings import Finding, found
from services.surveillance.observed_round import ObservedRound
from services.surveillance.scene import TableScene


@dataclass(slots=True)
class DrawnCard:
    """A card as the shoe gave it. `where` is "" until it lies somewhere: "felt", then "rack"."""

    round_id: str
    card: Card | None
    face_down: bool
    where: str = ""


@dataclass(slots=True)
class ShoeOnTable:
    """The shoe in play at one table, by position; burned cards are in the rack."""

    shoe_id: str
    cards: dict[int, DrawnCard] = field(default_factory=dict)
    not_racked: dict[int, DrawnCard] = field(default_factory=dict)
    checks: dict[int, tuple[bool, int]] = field(default_factory=dict)
    observed: bool = False
    before: tuple[int, ...] = ()
    """Positions in the shoe before of cards that lay on the felt when a physical shoe was changed."""

    def rack(self, place: int) -> None:
        """The card went to the discard rack."""
        drawn = self.not_racked.pop(place, None)
        if drawn is not None:
            drawn.where = "rack"


class CardsAgree:
    """L3, folded over shoe and table streams together."""

    def __init__(self) -> None:
        self._shoes: dict[str, ShoeOnTable] = {}

    def observe(self, fact: Fact, scene: TableScene) -> Iterator[Finding]:
        """Fold one event in and compare."""
        event = fact.event
        if event is None or fact.area == "wager":
            return
        if isinstance(event, s.CardsShuffled | s.ObservedShoeStarted):
            observed = isinstance(event, s.ObservedShoeStarted)
            felt = _on_felt(self._shoes.get(fact.key)) if observed else ()
            self._shoes[fact.key] = ShoeOnTable(event.shoe_id, observed=observed, before=felt)
            return
        shoe = self._shoes.get(fact.key)
        if shoe is None:
            if isinstance(event, r.CardDealt):
                yield found("L3", fact, f"a card is dealt from position {event.position} and no shoe is in play")
            return
        if fact.area == "shoe":
            yield from _from_shoe(fact, shoe, event, scene)
        else:
            yield from _on_table(fact, shoe, event, scene)

    def finish(self) -> Iterator[Finding]:
        """Cards of the round in play may still be on their way."""
        return iter(())


def _from_shoe(fact: Fact, shoe: ShoeOnTable, event: Any, scene: TableScene) -> Iterator[Finding]:
    match event:
        case s.CardDrawn():
            drawn = DrawnCard(event.round_id, event.card, event.face_down)
            shoe.cards[event.position] = shoe.not_racked[event.position] = drawn
        case s.CardBurned():
            shoe.cards[event.position] = DrawnCard(event.round_id, event.card, event.face_down, "rack")
        case s.HoleCardChecked():
            shoe.checks[event.position] = (event.makes_blackjack, event.up_position)
        case s.CardRevealed():
            yield from _revealed(fact, shoe, event)
        case s.HiddenCardTurned() if event.position in shoe.cards:
            shoe.cards[event.position].card = event.card
        case s.DiscardsReshuffled():
            yield from _back_from_felt(fact, shoe, event.recycled)
        case s.DiscardsReturned():
            # A continuous shuffler takes the cards of a settled round while the dealer picks them up (30-822).
            if scene.round is None or not scene.round.is_settled:
                yield from _back_from_felt(fact, shoe, event.positions)
        case _:
            pass


def _revealed(fact: Fact, shoe: ShoeOnTable, event: s.CardRevealed) -> Iterator[Finding]:
    drawn = shoe.cards.get(event.position)
    if drawn is None:
        return
    drawn.card = event.card
    said, up_position = shoe.checks.get(event.position, (None, 0))
    up = shoe.cards.get(up_position)
    if said is not None and up is not None and up.card is not None:
        makes_blackjack = counting.is_natural([up.card, event.card], from_split=False)
        if makes_blackjack is not said:
            yield found("L3", fact, f"the check said {said}, the hole card is {event.card} under {up.card}")


def _back_from_felt(fact: Fact, shoe: ShoeOnTable, positions: tuple[int, ...]) -> Iterator[Finding]:
    for place in positions:
        lying = shoe.not_racked.get(place)
        if lying is not None:
            yield found("L3", fact, f"the card at {place} goes back into the shoe while it lies on the felt")


def _on_table(fact: Fact, shoe: ShoeOnTable, event: Any, scene: TableScene) -> Iterator[Finding]:
    match event:
        case r.CardDealt():
            yield from _dealt(fact, shoe, event)
        case r.HoleRevealed() | r.DoubleRevealed():
            yield from _turned_over(fact, shoe, event)
        case t.CardSetAside():
            yield from _set_aside(fact, shoe, event)
        case r.HoleChecked() if shoe.observed:
            # Who checked the hole card of a physical shoe is the dealer; the shoe cannot be asked.
            pass
        case r.HoleChecked():
            check = shoe.checks.get(event.position)
            if check is None or check[0] is not event.makes_blackjack:
                answer = "was never asked" if check is None else f"answered {check[0]}"
                yield found("L3", fact, f"the shoe {answer}, the table has {event.makes_blackjack}")
        case r.CardsPickedUp():
            felt = sorted((*_on_felt(shoe), *shoe.before))
            shoe.before = ()
            if sorted(event.order) != felt:
                yield found("L3", fact, f"picked up {sorted(event.order)}, on the felt lie {felt}")
            for place in event.order:
                shoe.rack(place)
        case r.RoundCompleted():
            yield from _left_behind(fact, shoe, scene)
        case _:
            pass


def _on_felt(shoe: ShoeOnTable | None) -> tuple[int, ...]:
    lying = {} if shoe is None else shoe.not_racked
    return tuple(place for place, drawn in lying.items() if drawn.where == "felt")


def _set_aside(fact: Fact, shoe: ShoeOnTable, event: t.CardSetAside) -> Iterator[Finding]:
    drawn = shoe.cards.get(event.position)
    if drawn is None or drawn.where or drawn.card != event.card:
        lies = "which the shoe never gave" if drawn is None else f"which is {drawn.card} on the {drawn.where or 'way'}"
        yield found("L3", fact, f"{event.card} is set aside from position {event.position}, {lies}")
    shoe.rack(event.position)


def _turned_over(fact: Fact, shoe: ShoeOnTable, event: r.HoleRevealed | r.DoubleRevealed) -> Iterator[Finding]:
    drawn = shoe.cards.get(event.position)
    if drawn is None or drawn.where != "felt":
        yield found("L3", fact, f"the card at {event.position} is turned over and lies in no hand")
    elif drawn.card != event.card:
        yield found("L3", fact, f"turned over as {event.card}, the shoe has {drawn.card or 'not shown it'}")


def _left_behind(fact: Fact, shoe: ShoeOnTable, scene: TableScene) -> Iterator[Finding]:
    """At the end of a round no card of it may lie anywhere but in the rack."""
    for place, left in list(shoe.not_racked.items()):
        if left.round_id == fact.envelope.round_id:
            where = "is still on the felt" if left.where else "is in no hand and not in the rack"
            yield found("L3", fact, f"the round is complete and the card at {place} {where}")
            shoe.rack(place)
    for oddity in scene.round.oddities if scene.round is not None else ():
        yield found("L3", fact, oddity)


def _dealt(fact: Fact, shoe: ShoeOnTable, event: r.CardDealt) -> Iterator[Finding]:
    drawn = shoe.cards.get(event.position)
    if drawn is None:
        yield found("L3", fact, f"a card is dealt from position {event.position}, which the shoe never gave")
        return
    if drawn.where:
        yield found("L3", fact, f"the card at {event.position} is dealt a second time, it is on the {drawn.where}")
    if drawn.round_id != fact.envelope.round_id:
        yield found("L3", fact, f"the card at {event.position} was drawn for round {drawn.round_id}")
    if drawn.face_down is not event.face_down:
        yield found("L3", fact, f"shoe and table differ in whether the card at {event.position} lies face down")
    if not event.face_down and drawn.card != event.card:
        yield found("L3", fact, f"the shoe gave {drawn.card} at {event.position}, the table has {event.card}")
    drawn.where = "felt"


class BettingWindow:
    """L8: by log order, never by a clock: no wager after betting closed, no card before."""

    def observe(self, fact: Fact, scene: TableScene) -> Iterator[Finding]:
        """Compare one event with where the table's round stands."""
        current = scene.round if scene.in_play else None
        if isinstance(fact.event, w.StakesHeld):
            yield from _held(fact, scene, fact.event)
        else:
            reason = _out_of_window(fact.event, current)
            if reason:
                yield found("L8", fact, reason)

    def finish(self) -> Iterator[Finding]:
        """Nothing is left open at the end."""
        return iter(())


_LATER = (r.InsurancePlaced, r.HandDoubled, r.HandSplit)


def _out_of_window(event: Any, current: ObservedRound | None) -> str:
    """Why the event comes too early or too late, "" when it does not."""
    closed = current is not None and current.closed
    match event:
        case r.RoundOpened() if current is not None:
            return f"a round is opened while {current.round_id} is in play"
        case r.WagerPlaced() if current is None or closed:
            return f"a wager of {event.amount_cents} cents on seat {event.seat} after betting was closed"
        case r.BettingClosed() if current is None or closed:
            return "betting is closed a second time, or with no round open"
        case r.CardDealt() if not closed:
            return f"the card at {event.position} is dealt before betting is closed"
        case s.CardDrawn() if not event.leaf:
            # A device saw it, so it did come: what a card out of its time means is recorded with it (30-828).
            return ""
        case s.CardDrawn() if current is None or not closed or current.round_id != event.round_id:
            return f"the card at {event.position} is drawn for {event.round_id} before its betting is closed"
        case _ if isinstance(event, _LATER) and not closed:
            return f"{type(event).__name__} before betting is closed"
        case _:
            return ""


def _held(fact: Fact, scene: TableScene, event: w.StakesHeld) -> Iterator[Finding]:
    current = scene.round if scene.in_play else None
    if current is None or current.round_id != event.round_id:
        yield found("L8", fact, f"stakes are held for {event.round_id}, which is not open")
        return
    for hold in event.holds:
        kind = scene.rules.wager_kind(hold.kind) if scene.rules is not None else None
        early = kind is not None and kind.placed_at is Moment.BETTING
        if early and current.closed:
            yield found("L8", fact, f"the stake {hold.hold} of {hold.amount_cents} cents is held after the close")
        if kind is not None and not early and not current.closed:
            yield found("L8", fact, f"the stake {hold.hold} is held before betting is closed")

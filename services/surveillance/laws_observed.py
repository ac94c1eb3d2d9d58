"""Observed tables: what can be held to the laws where the cards are physical, and what cannot.

Owns the checks that only observed tables need. Of a physical shoe the order was never committed to, so nothing can be
opened and no card proved (L2); what is left is that positions are counted without gaps, that no face is out more often than
the decks hold it unless the log itself says so, and that the count at the end is the fold's. Of a table: every irregularity
stops play, and nothing is dealt while play is stopped (30-828).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from services.game.cards import Card
from services.surveillance import round_facts as r
from services.surveillance import shoe_facts as s
from services.surveillance import table_facts as t
from services.surveillance.facts import Fact
from services.surveillance.findings import Finding, found
from services.surveillance.scene import TableScene


class OutOfShoe(Protocol):
    """A card that left a shoe."""

    card: Card | None
    burned: bool


class PhysicalShoe(Protocol):
    """What is folded of a physical shoe."""

    decks: int
    retired: bool
    impossible: set[int]

    @property
    def out(self) -> Any:
        """Its cards in order."""
        ...


def observed_card(fact: Fact, shoe: PhysicalShoe, event: s.CardDrawn | s.CardBurned) -> Iterator[Finding]:
    """A card that a device saw proves nothing and claims to prove nothing."""
    if event.leaf or event.salt:
        yield found("L2", fact, f"the card at {event.position} of a physical shoe comes with a proof")
    if event.card is not None:
        yield from _counted(fact, shoe, event.card, event.position)


def observed_shoe(fact: Fact, shoe: PhysicalShoe, event: Any) -> Iterator[Finding]:
    """The other events of a physical shoe."""
    match event:
        case s.ImpossibleCardSeen():
            shoe.impossible.add(event.position)
        case s.CutCardSeen() if event.after != len(shoe.out):
            yield found("L2", fact, f"the cutting card came after {event.after} cards, {len(shoe.out)} are out")
        case s.HiddenCardTurned():
            yield from _turned(fact, shoe, event)
        case s.ObservedShoeEnded():
            shoe.retired = True
            yield from _ended(fact, shoe, event)
        case _:
            pass


def _turned(fact: Fact, shoe: PhysicalShoe, event: s.HiddenCardTurned) -> Iterator[Finding]:
    if not 1 <= event.position <= len(shoe.out):
        yield found("L2", fact, f"the card at position {event.position} is turned over and was never drawn")
        return
    out = shoe.out[event.position - 1]
    if out.card is not None:
        yield found("L2", fact, f"the card at {event.position} lay open as {out.card} and is turned over")
        return
    yield from _counted(fact, shoe, event.card, event.position)
    out.card = event.card


def _counted(fact: Fact, shoe: PhysicalShoe, card: Card, position: int) -> Iterator[Finding]:
    """A card too many is an irregularity, which the service has to say itself, right before."""
    copies = 1 + sum(out.card == card for out in shoe.out)
    cannot_be = copies > shoe.decks or position > 52 * shoe.decks
    if cannot_be and position not in shoe.impossible:
        yield found("L2", fact, f"{card} is out {copies} times in a shoe of {shoe.decks} decks, and nobody said so")
    if not cannot_be and position in shoe.impossible:
        yield found("L2", fact, f"{card} at {position} is said to be impossible, it is out {copies} times")


def _ended(fact: Fact, shoe: PhysicalShoe, event: s.ObservedShoeEnded) -> Iterator[Finding]:
    burned = sum(out.burned for out in shoe.out)
    unseen = sum(out.card is None for out in shoe.out)
    counted = (event.drawn, event.burned, event.unseen, event.undealt)
    folded = (len(shoe.out) - burned, burned, unseen, max(52 * shoe.decks - len(shoe.out), 0))
    if counted != folded:
        yield found("L2", fact, f"drawn, burned, unseen and undealt are said to be {counted}, they are {folded}")


@dataclass(slots=True)
class _Watched:
    """One table: the observation that came last, the irregularities, and whether one waits for its suspension."""

    device: str = ""
    irregularities: int = 0
    owes_stop: int = 0


_GOES_ON = "the tray holds "
"""How the one irregularity is told that does not stop play: the tray's count."""


class IrregularitiesStopPlay:
    """L10 at observed tables, folded over the table streams."""

    def __init__(self) -> None:
        self._tables: dict[str, _Watched] = {}

    def observe(self, fact: Fact, scene: TableScene) -> Iterator[Finding]:
        """Compare one event of a table with what was seen wrong just before it."""
        if fact.area != "table":
            return
        watched = self._tables.setdefault(fact.key, _Watched())
        event = fact.event
        if watched.owes_stop and not isinstance(event, t.TableSuspended):
            yield found("L10", fact, f"irregularity {watched.owes_stop} is recorded and play is not stopped (30-828)")
        watched.owes_stop = 0
        match event:
            case t.IrregularityFound():
                if event.irregularity != watched.irregularities + 1:
                    yield found("L10", fact, f"irregularity {event.irregularity} follows {watched.irregularities}")
                watched.irregularities = event.irregularity
                if not scene.suspended and not event.message.startswith(_GOES_ON):
                    watched.owes_stop = event.irregularity
            case r.CardDealt() if scene.suspended and watched.irregularities:
                yield found("L10", fact, f"the card at {event.position} is dealt while play is stopped (30-828)")
            case _:
                pass

    def finish(self) -> Iterator[Finding]:
        """Nothing is left open at the end."""
        return iter(())

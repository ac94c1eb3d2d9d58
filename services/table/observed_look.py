"""One observation at an observed table, and how what breaks the rules in it is recorded (30-828).

Owns the words between the intake, which asks others, and the folds, which are pure: what is looked at, and what is known.
"""

from dataclasses import dataclass
from typing import Final

from services.game.authority import CommandContext
from services.game.cards import Card
from services.game.rejections import Rejection
from services.game.round_state import HandState
from services.table import events as e
from services.table.readings import IrregularityKind as Irregular
from services.table.readings import Observation
from services.table.table import Play, Table

Events = tuple[e.TableEvent, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where the shoe has a card that was seen."""

    shoe_id: str
    round_id: str
    position: int
    impossible: bool


@dataclass(frozen=True, slots=True)
class Known:
    """What was asked of others about an observation before it is folded. `refusal`: why they could not say.

    `place` is the seen card's, `shoe` the physical shoe in play as (id, decks, last round), `tray_cents` the ledger's tray.
    """

    place: Place | None = None
    shoe: tuple[str, int, bool] | None = None
    tray_cents: int | None = None
    refusal: str = ""


NOTHING: Final = Known()


@dataclass(frozen=True, slots=True)
class Look:
    """One observation at a table, as recorded in `table`, with what is known besides."""

    table: Table
    observation: Observation
    known: Known
    context: CommandContext

    @property
    def play(self) -> Play | None:
        """The round in play."""
        return self.table.live

    def irregular(
        self,
        kind: Irregular,
        message: str,
        *,
        rejection: Rejection | None = None,
        place: Place | None = None,
        card: Card | None = None,
        due_cents: int = 0,
        stops: bool = True,
    ) -> Events:
        """What is recorded of something that broke the rules, and that play stops."""
        reading, table = self.observation.reading, self.table
        event = e.IrregularityFound(
            irregularity=table.watch.irregularities + 1,
            kind=kind,
            round_id=table.live.id if table.live is not None else "",
            device=self.observation.device,
            device_sequence=reading.device_sequence,
            broken=rejection.name if rejection is not None else "",
            message=message[:400],
            seat=reading.seat,
            position=place.position if place is not None else 0,
            card=card,
            amount_cents=reading.amount_cents,
            due_cents=due_cents,
        )
        if not stops or table.suspended:
            return (event,)
        return event, e.TableSuspended(f"irregularity {event.irregularity}, {kind.value}: {message}"[:400])

    def refused(self, kind: Irregular, rejection: Rejection) -> Events:
        """The round's own refusal, as something that happened."""
        return self.irregular(kind, rejection.message, rejection=rejection)


def overplayed(look: Look) -> Events:
    """Play went on although it was stopped: recorded, said once, and not taken for a part of the round."""
    if look.table.watch.overplayed:
        return ()
    reading = look.observation.reading
    return look.irregular(Irregular.PLAYED_WHILE_SUSPENDED, f"{reading.kind.value} while play is suspended")


def hands_of(play: Play, seat: int) -> list[HandState]:
    """The seat's hands."""
    return [hand for hand in play.round.hands if hand.seat == seat]

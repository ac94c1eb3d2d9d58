"""What one call of a gateway adds to a table's log, appended together; the state runs ahead of the log by what waits.

Owns the order and the names of these appends. Promises that an observation and all that follows from it are one append, so
that a crash leaves both or neither, and that each event bears the time at which it happened and its gaming day.
"""

from collections.abc import Callable

from services.game.authority import Actor, CommandContext
from services.runtime.aggregate import Moment, Outcome, Turn
from services.table import commands as c
from services.table import events as e
from services.table.contexts import Contexts
from services.table.readings import Observation
from services.table.table import Table, evolve

TableTurn = Turn[Table, c.Command, e.TableEvent]
Published = Callable[[str, Outcome[Table, e.TableEvent]], None]


def id_of(observation: Observation) -> str:
    """The id under which other services know what an observation told."""
    return f"observed/{observation.device}/{observation.reading.device_sequence}"


class Batch:
    """Events of one turn on their way to the log; `published` is told of what was recorded."""

    def __init__(self, turn: TableTurn, contexts: Contexts, context: CommandContext, published: Published) -> None:
        self.turn = turn
        self.context = context
        self._contexts = contexts
        self._published = published
        self._events: list[e.TableEvent] = []
        self._moments: list[Moment] = []
        self._first: Observation | None = None
        self.state = turn.state

    def add(self, observation: Observation, events: tuple[e.TableEvent, ...]) -> None:
        """Take up what an observation leads to."""
        if not events:
            return
        self._first = self._first or observation
        moment = self._moment(observation)
        for event in events:
            self._events.append(event)
            self._moments.append(moment)
            self.state = evolve(self.state, event)

    async def flush(self) -> None:
        """Make what was taken up durable; raises the journal's errors."""
        if self._events and self._first is not None:
            await self._record(self._first, self.context.actor, self._events, self._moments, "")
        self._events.clear()
        self._moments.clear()
        self._first = None
        self.state = self.turn.state

    async def record_by(self, actor: Actor, observation: Observation, events: tuple[e.TableEvent, ...]) -> None:
        """Record all this at once in another's name: a supervisor's ruling is his, whichever device brought it."""
        await self.flush()
        await self._record(observation, actor, list(events), [self._moment(observation)] * len(events), "/ruling")
        self.state = self.turn.state

    async def prepare(self, observation: Observation, events: tuple[e.TableEvent, ...]) -> None:
        """Record what has to stand before an observation can be taken up, such as a guest's seat."""
        await self.flush()
        # Named for its place in the stream: after a crash between two of these the next one is another request.
        at = self.turn.last_event.sequence if self.turn.last_event is not None else 0
        moments = [self._moment(observation)] * len(events)
        await self._record(observation, self.context.actor, list(events), moments, f"/before/{at}")
        self.state = self.turn.state

    def _moment(self, observation: Observation) -> Moment:
        # The gateway's clock says on which gaming day it was: a device's own may be off by hours, or dead.
        day = self._contexts.gaming_day(self.turn.key, observation.received_time_us)
        return Moment(observation.happened_us, day)

    async def _record(
        self, first: Observation, actor: Actor, events: list[e.TableEvent], moments: list[Moment], what: str
    ) -> None:
        # Named for what it records, so that a call which is cut differently the next time is another request.
        digest = first.reading.digest
        context = CommandContext(
            f"{id_of(first)}/{digest.hex()[:16]}{what}",
            actor,
            self.context.occurred_time_us,
            self.context.gaming_day,
            self.turn.last_event,
            digest,
        )
        outcome = await self.turn.record(tuple(events), context, moments)
        self._published(self.turn.key, outcome)

"""Intake of observations: what devices saw goes on the log, once, in each device's order, whatever it says (DESIGN §5).

Owns the use case of gateways. Promises that nothing is refused for its content; that sending again records nothing twice,
because the log itself knows each device's last reading; that each event bears the time at which it happened and its gaming
day, however late the line brought it.
"""

from collections.abc import Callable

from services.game.authority import CommandContext, Role
from services.game.rejections import Rejection
from services.runtime.aggregate import AggregateHost, Moment, Outcome, Turn
from services.runtime.table_key import check_table_key
from services.table import commands as c
from services.table import events as e
from services.table import replies as a
from services.table.authority import require
from services.table.contexts import Contexts
from services.table.device_log import DeviceSequenceGap, arrived, is_on_log
from services.table.readings import MOST_IN_ONE_CALL, MalformedReading, Observation, check_device, check_reading
from services.table.table import Table, evolve

TableTurn = Turn[Table, c.Command, e.TableEvent]
Published = Callable[[str, Outcome[Table, e.TableEvent]], None]

_SENDERS = frozenset({Role.DEVICE, Role.SYSTEM})


class Intake:
    """Records observations. `published` is told of everything that was recorded."""

    def __init__(
        self,
        host: AggregateHost[Table, c.Command, e.TableEvent],
        contexts: Contexts,
        published: Published,
    ) -> None:
        self._host = host
        self._contexts = contexts
        self._published = published

    async def record_observations(
        self, table: str, context: CommandContext, command: c.RecordObservations
    ) -> a.ObservationsRecorded:
        """Record what is not on the log yet; raises DeviceSequenceGap when nothing could be, and MalformedReading.

        The request's id plays no part: a gateway cuts its calls as it likes, and the identity of a reading is its device's.
        """
        require(context, _SENDERS, "report what devices saw")
        check_observations(command.observations)
        async with self._host.turn(table) as turn:
            batch = _Batch(turn, self._contexts, context, self._published)
            for observation in command.observations:
                try:
                    events = arrived(batch.state.devices, observation)
                except DeviceSequenceGap as gap:
                    await batch.flush()
                    if not batch.recorded:
                        raise gap from None
                    break
                batch.add(observation, events)
            await batch.flush()
            return batch.answer(command.observations)

    async def get_devices(self, table: str, _query: object) -> a.DeviceList:
        """The devices that reported about the table, by name."""
        state = await self._host.state(check_table_key(table))
        return a.DeviceList(
            tuple(
                a.DeviceView(log.device, log.last, log.offset_us, log.clock, log.last_received_us)
                for _, log in sorted(state.devices.items())
            )
        )


class _Batch:
    """What one call adds to the log, appended together; `state` runs ahead of the log by what is not flushed yet."""

    def __init__(self, turn: TableTurn, contexts: Contexts, context: CommandContext, published: Published) -> None:
        self._turn = turn
        self._contexts = contexts
        self._context = context
        self._published = published
        self._events: list[e.TableEvent] = []
        self._moments: list[Moment] = []
        self._first: Observation | None = None
        self.state = turn.state
        self.recorded = 0
        self.repeated = 0
        self.contested = 0

    def add(self, observation: Observation, events: tuple[e.TableEvent, ...]) -> None:
        """Take up what an observation leads to."""
        if is_on_log(self.state.devices, observation):
            self.repeated += not events
            self.contested += bool(events)
        else:
            self.recorded += 1
        if not events:
            return
        self._first = self._first or observation
        # The gateway's clock says on which gaming day it was: a device's own may be off by hours, or dead.
        day = self._contexts.gaming_day(self._turn.key, observation.received_time_us)
        moment = Moment(observation.happened_us, day)
        for event in events:
            self._events.append(event)
            self._moments.append(moment)
            self.state = evolve(self.state, event)

    async def flush(self) -> None:
        """Make what was taken up durable."""
        if not self._events or self._first is None:
            return
        reading = self._first.reading
        # Named for what it records, so that a call which is cut differently the next time is another request.
        name = f"observed/{self._first.device}/{reading.device_sequence}/{reading.digest.hex()[:16]}"
        context = CommandContext(
            name,
            self._context.actor,
            self._context.occurred_time_us,
            self._context.gaming_day,
            self._turn.last_event,
            reading.digest,
        )
        outcome = await self._turn.record(tuple(self._events), context, self._moments)
        self._events.clear()
        self._moments.clear()
        self._first = None
        self.state = outcome.state
        self._published(self._turn.key, outcome)

    def answer(self, observations: tuple[Observation, ...]) -> a.ObservationsRecorded:
        """How far the devices of the call are recorded."""
        names = dict.fromkeys(observation.device for observation in observations)
        known = self.state.devices
        standings = tuple(a.DeviceStanding(name, known[name].last if name in known else 0) for name in names)
        return a.ObservationsRecorded(standings, self.repeated, self.contested)


def check_observations(observations: tuple[Observation, ...]) -> None:
    """Raise MalformedReading unless these are 1 to 500 readings."""
    if not 1 <= len(observations) <= MOST_IN_ONE_CALL:
        raise MalformedReading(
            f"one call takes 1 to {MOST_IN_ONE_CALL} observations, not {len(observations)}", field="observations"
        )
    for at, observation in enumerate(observations):
        try:
            check_device(observation.device)
            check_reading(observation.reading)
        except Rejection as rejection:
            rejection.facts["at"] = at
            raise
        if observation.received_time_us <= 0:
            raise MalformedReading("the gateway's time is missing", field="received_time_us", at=at)

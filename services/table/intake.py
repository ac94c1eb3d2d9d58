"""Intake of observations: what devices saw goes on the log, once, in each device's order, whatever it says (DESIGN §5).

Owns the use case of gateways. Promises that nothing is refused for its content, and that sending again records nothing
twice, because the log itself knows each device's last reading. What cannot be taken up yet, because a service is away, is
neither recorded nor acknowledged: the gateway keeps it and sends it again.
"""

from services.game.authority import CommandContext, Role
from services.game.rejections import Rejection
from services.runtime.aggregate import AggregateHost
from services.runtime.failures import ServiceUnavailable
from services.runtime.table_key import check_table_key
from services.shoe.client import ShoeClient
from services.table import commands as c
from services.table import events as e
from services.table import replies as a
from services.table.authority import require
from services.table.batch import Batch, Published
from services.table.conductor import Conductor
from services.table.contexts import Contexts
from services.table.device_log import DeviceSequenceGap, arrived, is_on_log
from services.table.observed_look import Place
from services.table.observing import Observing
from services.table.readings import MOST_IN_ONE_CALL, MalformedReading, Observation, check_device, check_reading
from services.table.table import Table
from services.wager.client import WagerClient

_SENDERS = frozenset({Role.DEVICE, Role.SYSTEM})


class Intake:
    """Records observations. `published` is told of everything that was recorded."""

    def __init__(
        self,
        host: AggregateHost[Table, c.Command, e.TableEvent],
        conductor: Conductor,
        shoes: ShoeClient,
        ledgers: WagerClient,
        contexts: Contexts,
        published: Published,
    ) -> None:
        self._host = host
        self._contexts = contexts
        self._observing = Observing(conductor, shoes, ledgers, contexts)
        self._published = published

    async def record_observations(
        self, table: str, context: CommandContext, command: c.RecordObservations
    ) -> a.ObservationsRecorded:
        """Record what is not on the log yet; raises DeviceSequenceGap when nothing could be, and MalformedReading.

        The request's id plays no part: a gateway cuts its calls as it likes, and the identity of a reading is its device's.
        """
        require(context, _SENDERS, "report what devices saw")
        check_observations(command.observations)
        failure: Exception | None = None
        async with self._host.turn(table) as turn:
            batch = Batch(turn, self._contexts, context, self._published)
            tally = _Tally()
            places: dict[str, Place] = {}
            for at, observation in enumerate(command.observations):
                try:
                    if not tally.known(batch, observation):
                        await self._observing.take(batch, command.observations[at:], places)
                        tally.recorded += 1
                except (DeviceSequenceGap, ServiceUnavailable) as missing:
                    failure = missing
                    break
            await batch.flush()
            await self._observing.finish(batch)
            answer = tally.answer(batch.state, command.observations)
        if failure is not None and not tally.recorded:
            raise failure
        return answer

    async def get_devices(self, table: str, _query: object) -> a.DeviceList:
        """The devices that reported about the table, by name."""
        state = await self._host.state(check_table_key(table))
        return a.DeviceList(
            tuple(
                a.DeviceView(log.device, log.last, log.offset_us, log.clock, log.last_received_us)
                for _, log in sorted(state.devices.items())
            )
        )


class _Tally:
    """How the observations of one call went."""

    def __init__(self) -> None:
        self.recorded = 0
        self._repeated = 0
        self._contested = 0

    def known(self, batch: Batch, observation: Observation) -> bool:
        """Whether its identity is on the log; other content under it is recorded as contested."""
        devices = batch.state.devices
        if not is_on_log(devices, observation):
            return False
        contested = arrived(devices, observation)
        batch.add(observation, contested)
        self._contested += bool(contested)
        self._repeated += not contested
        return True

    def answer(self, state: Table, observations: tuple[Observation, ...]) -> a.ObservationsRecorded:
        """How far the devices of the call are recorded."""
        names = dict.fromkeys(observation.device for observation in observations)
        known = state.devices
        standings = tuple(a.DeviceStanding(name, known[name].last if name in known else 0) for name in names)
        return a.ObservationsRecorded(standings, self._repeated, self._contested)


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

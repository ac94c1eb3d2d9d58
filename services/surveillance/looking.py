"""Looking every second how far the read model is behind the journal, and which rounds are stuck, for Prometheus and people.

Owns that look. Promises that the lag grows while nobody can tell, and that an alarm is said once when it comes and once
when it goes. Decides nothing.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

import structlog
from sqlalchemy import Connection, func, select

from services.journal.errors import JournalError
from services.journal.port import Journal
from services.runtime.clock import Clock
from services.runtime.failures import ServiceUnavailable
from services.surveillance import schema
from services.surveillance.lag import LagWatch
from services.surveillance.meter_queries import open_rounds
from services.surveillance.metrics import Metrics
from services.surveillance.read_model import ReadModel
from services.surveillance.replies import PartitionLag
from services.surveillance.stuck import LIMITS_US, OpenRound, StuckRound, stuck_rounds

LOOK_SECONDS = 1.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen: events in the read model, how far it is behind, each partition; `trouble` says why it is not known."""

    events: int = 0
    lag_events: int = 0
    lag_us: int = 0
    partitions: tuple[PartitionLag, ...] = ()
    findings: int = 0
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class _Rows:
    projected: Mapping[int, int]
    audited: Mapping[int, int]
    events: int
    newest_us: int
    findings: int
    rounds: tuple[OpenRound, ...]


class Looking:
    """Looks while it runs, and whenever `look` is called."""

    def __init__(self, journal: Journal, model: ReadModel, *, clock: Clock, metrics: Metrics) -> None:
        self._journal = journal
        self._model = model
        self._clock = clock
        self._metrics = metrics
        self._watch = LagWatch()
        self._alarmed: dict[str, StuckRound] = {}
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Look every second from now on."""
        self._task = asyncio.ensure_future(self._run())

    async def stop(self) -> None:
        """End."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def look(self) -> Look:
        """How things stand now."""
        end: Mapping[int, int] = {}
        try:
            end = await self._journal.end()
            heads = sum(head.sequence for head in await self._journal.streams())
            rows = await self._model.ask(_rows)
        except (ServiceUnavailable, JournalError) as error:
            lag_us = self._watch.unseen(self._clock.now_us())
            self._metrics.lag_seconds.set(lag_us / 1e6)
            partitions = tuple(PartitionLag(number, 0, 0, last) for number, last in sorted(end.items()))
            return Look(lag_us=lag_us, partitions=partitions, trouble=str(error))
        now_us = self._clock.now_us()
        look = Look(
            events=rows.events,
            lag_events=max(0, heads - rows.events),
            lag_us=self._watch.look(now_us, end, rows.projected, rows.newest_us),
            partitions=tuple(
                PartitionLag(number, rows.projected.get(number, 0), rows.audited.get(number, 0), last)
                for number, last in sorted(end.items())
            ),
            findings=rows.findings,
        )
        self._metrics.lag_events.set(look.lag_events)
        self._metrics.lag_seconds.set(look.lag_us / 1e6)
        self._tell_of_rounds(rows.rounds, now_us)
        return look

    def _tell_of_rounds(self, rounds: tuple[OpenRound, ...], now_us: int) -> None:
        stuck = {one.round_id: one for one in stuck_rounds(rounds, now_us)}
        for phase in LIMITS_US:
            self._metrics.open_rounds.labels(phase).set(sum(one.phase == phase for one in rounds))
            self._metrics.stuck_rounds.labels(phase).set(sum(one.phase == phase for one in stuck.values()))
        for name in stuck.keys() - self._alarmed.keys():
            log.warning("a round is stuck", round=name, phase=stuck[name].phase, still_us=stuck[name].still_us)
        for name in self._alarmed.keys() - stuck.keys():
            log.info("a round goes on again", round=name)
        self._alarmed = stuck

    async def _run(self) -> None:
        while True:
            try:
                await self.look()
            except Exception:
                log.exception("the lag cannot be measured")
            await asyncio.sleep(LOOK_SECONDS)


def _rows(connection: Connection) -> _Rows:
    streams, readers = schema.streams.c, schema.reader_positions
    events, newest = connection.execute(select(func.sum(streams.sequence), func.max(streams.recorded_time_us))).one()
    return _Rows(
        {row.partition: row.offset for row in connection.execute(select(schema.positions))},
        {row.partition: row.offset for row in connection.execute(select(readers).where(readers.c.reader == "laws"))},
        int(events or 0),
        newest or 0,
        connection.execute(select(func.count()).select_from(schema.findings)).scalar_one(),
        open_rounds(connection),
    )

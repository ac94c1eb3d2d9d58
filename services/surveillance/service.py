"""Surveillance's use cases: what happened, where things stand, what is wrong.

Owns the answers, and runs the two readers of the journal (`projecting`, `auditing`). Promises: nothing here is in the way
of a hand; answers come from the read model, a round's replay from the journal itself; a stop or a crash costs time only.
Does not know gRPC.
"""

import asyncio
from collections.abc import AsyncIterator
from functools import partial

import structlog
from sqlalchemy import Connection

from services.journal.port import Journal
from services.runtime.clock import Clock
from services.runtime.failures import NotFound
from services.surveillance import findings_store, queries
from services.surveillance import replies as a
from services.surveillance.auditing import Auditing
from services.surveillance.facts import FactReader
from services.surveillance.looking import Looking
from services.surveillance.meter_board import meter_board
from services.surveillance.metrics import Metrics
from services.surveillance.owners import owners_of
from services.surveillance.places import Place
from services.surveillance.projecting import Projecting
from services.surveillance.read_model import ReadModel, ReadModelLost
from services.surveillance.replaying import Whereabouts, read_round
from services.surveillance.watching import Watchers

log = structlog.get_logger(__name__)


class SurveillanceService:
    """The second opinion over `journal`, its read model at `place`. Call `start` once, and `stop` at the end.

    `meters` says whether this process folds the meters too; where workers do, it need not.
    """

    def __init__(self, journal: Journal, place: Place, *, clock: Clock, metrics: Metrics, meters: bool = True) -> None:
        self._journal = journal
        self._clock = clock
        self._metrics = metrics
        self._reader = FactReader()
        self._watchers = Watchers()
        self._model = ReadModel(place, self._read_again)
        self._projecting = Projecting(journal, self._model, metrics=metrics, watchers=self._watchers, meters=meters)
        self._auditing = Auditing(
            journal, self._model, self._projecting.leading, metrics=metrics, watchers=self._watchers
        )
        self._projecting.audited_by(self._auditing.follower)
        self._looking = Looking(journal, self._model, clock=clock, metrics=metrics)
        self._ask = self._model.ask

    async def start(self) -> None:
        """Open the read model and begin to read.

        Raises OSError when the file's folder cannot be written, ReadModelRefused when this build may not use the
        database; one that does not answer is waited for.
        """
        try:
            await asyncio.to_thread(self._model.open)
        except ReadModelLost as lost:
            log.warning("surveillance waits for its read model", reason=str(lost))
        self._projecting.follower.start()
        self._auditing.follower.start()
        self._looking.start()

    async def stop(self) -> None:
        """End the readers; the next start goes on where they were."""
        await self._looking.stop()
        await self._auditing.follower.stop()
        await self._projecting.stop()
        await asyncio.to_thread(self._model.close)

    def _read_again(self) -> None:
        self._projecting.follower.again()

    # Questions ----------------------------------------------------------------------------------------------------------

    async def list_rounds(self, table: str, query: a.ListRounds) -> a.RoundList:
        """Rounds that fit, newest first; raises QueryOutOfRange."""
        return await self._ask(lambda connection: queries.list_rounds(connection, table, query))

    async def get_round(self, _table: str, query: a.GetRound) -> a.RoundFound:
        """One round, folded from the journal; raises NotFound."""

        def look(connection: Connection) -> tuple[Whereabouts, tuple[str, str]]:
            row = queries.round_row(connection, query.round_id)
            if row is None:
                raise NotFound(f"there is no round {query.round_id[:140]!r}")
            around = queries.neighbours(connection, row["table_key"], row["number"])
            return queries.whereabouts(connection, row), around

        where, (before, after) = await self._ask(look)
        record = await read_round(self._journal, self._reader, query.round_id, where)
        if record is None:
            raise NotFound(f"there is no round {query.round_id[:140]!r}")
        found = await self._ask(
            lambda connection: queries.list_findings(
                connection, "", a.ListFindings(round_id=query.round_id, limit=queries.MOST)
            )
        )
        return a.RoundFound(record, found.findings, before, after)

    async def list_tables(self, table: str, query: a.ListTables) -> a.TableList:
        """Tables as they stand."""
        now_us = self._clock.now_us()
        keys = [table] if table else None
        return a.TableList(await self._ask(lambda c: queries.table_overviews(c, now_us, floor=query.floor, keys=keys)))

    async def watch_floor(self, table: str, query: a.WatchFloor) -> AsyncIterator[a.FloorChange]:
        """All tables once, then what changes."""
        watcher = self._watchers.join()
        try:
            everything = await self.list_tables(table, a.ListTables(query.floor))
            yield a.FloorChange(everything.tables, (), ())
            while True:
                tables, ended, findings = await watcher.next()

                def mine(key: str) -> bool:
                    return (not table or key == table) and (not query.floor or key.startswith(f"{query.floor}/"))

                keys = [key for key in sorted(tables) if mine(key)]
                seen = [finding for finding in findings if mine(finding.stream.partition(":")[2])]
                if keys or seen:
                    now_us = self._clock.now_us()
                    rows = await self._ask(partial(queries.table_overviews, now_us=now_us, keys=keys))
                    yield a.FloorChange(
                        rows,
                        tuple(name for name in ended if mine(name.rpartition("#")[0])),
                        tuple(queries.finding_view(findings_store.row_of(finding)) for finding in seen),
                    )
        finally:
            self._watchers.leave(watcher)

    async def list_findings(self, table: str, query: a.ListFindings) -> a.FindingList:
        """Broken laws, newest first; raises QueryOutOfRange."""
        return await self._ask(lambda connection: queries.list_findings(connection, table, query))

    async def get_lag(self, _table: str, _query: a.GetLag) -> a.Lag:
        """How far the readers are."""
        look = await self._looking.look()
        readers = [self._projecting.follower]
        if self._projecting.leading.is_set():
            readers.append(self._auditing.follower)
        troubles = [f"{reader.name}: {reader.trouble}" for reader in readers if reader.trouble]
        troubles += [look.trouble] if look.trouble else []
        return a.Lag(
            healthy=not troubles,
            reason="; ".join(troubles),
            events_projected=look.events,
            duplicates=self._projecting.duplicates,
            gaps_mended=self._projecting.gaps,
            partitions=look.partitions,
            lag_events=look.lag_events,
            lag_us=look.lag_us,
            findings=look.findings,
            stands_by=not self._projecting.leading.is_set(),
            owners=owners_of(self._journal, look.partitions),
        )

    async def get_meters(self, table: str, query: a.GetMeters) -> a.MeterBoard:
        """The meters of floors, tables and dealers on their newest gaming day, and the rounds that are stuck."""
        now_us = self._clock.now_us()
        return await self._ask(lambda connection: meter_board(connection, now_us, floor=query.floor, table=table))

"""Surveillance's use cases: what happened, where things stand, what is wrong.

Owns the two readers of the journal (the projection, the laws) and the answers. Promises: nothing here is in the way of
a hand; answers come from the read model, a round's replay from the journal itself; a stop or a crash costs time only.
Does not know gRPC.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path

import structlog
from sqlalchemy import Connection, func, select

from services.journal.causal_reading import in_causal_order
from services.journal.port import Journal, Recorded
from services.runtime.clock import Clock
from services.runtime.failures import NotFound, ServiceUnavailable
from services.surveillance import findings_store, queries, schema
from services.surveillance import replies as a
from services.surveillance.facts import Fact, FactReader
from services.surveillance.findings import Finding
from services.surveillance.following import Follower
from services.surveillance.laws import Auditor
from services.surveillance.metrics import Metrics
from services.surveillance.projection import Changes, GapFound, Projection
from services.surveillance.read_model import ReadModel, ReadModelLost, is_of
from services.surveillance.replaying import Whereabouts, read_round
from services.surveillance.store import empty
from services.surveillance.watching import Watchers

log = structlog.get_logger(__name__)


class SurveillanceService:
    """The second opinion over `journal`, its read model in the file `path`. Call `start` once, and `stop` at the end."""

    def __init__(self, journal: Journal, path: Path, *, clock: Clock, metrics: Metrics) -> None:
        self._journal = journal
        self._clock = clock
        self._metrics = metrics
        self._reader = FactReader()
        self._projection: Projection | None = None
        self._auditor = Auditor()
        self._audited: dict[int, int] = {}
        self._watchers = Watchers()
        self._duplicates = 0
        self._gaps = 0
        self._projecting = Follower("projection", self._subscribe_projection, self._project, share=0.8)
        self._auditing = Follower("laws", self._subscribe_laws, self._audit, share=0.5)
        self._model = ReadModel(path, self._projecting.again)
        self._ask = self._model.ask

    async def start(self) -> None:
        """Open the read model and begin to read; raises OSError when the file's folder cannot be written."""
        await asyncio.to_thread(self._model.open)
        self._projecting.start()
        self._auditing.start()

    async def stop(self) -> None:
        """End both readers; the next start goes on where they were."""
        await self._projecting.stop()
        await self._auditing.stop()
        await asyncio.to_thread(self._model.close)

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
        end = await self._journal.end()

        def look(connection: Connection) -> tuple[dict[int, int], int, int, int]:
            rows = connection.execute(select(schema.positions))
            streams = schema.streams.c
            events, newest = connection.execute(
                select(func.sum(streams.sequence), func.max(streams.recorded_time_us))
            ).one()
            findings = connection.execute(select(func.count()).select_from(schema.findings)).scalar_one()
            return {row.partition: row.offset for row in rows}, events or 0, newest or 0, findings

        try:
            projected, events, newest, findings = await self._ask(look)
        except ReadModelLost as lost:
            partitions = tuple(a.PartitionLag(partition, 0, 0, last) for partition, last in sorted(end.items()))
            return a.Lag(
                healthy=False, reason=str(lost), events_projected=0, duplicates=self._duplicates, gaps_mended=self._gaps,
                partitions=partitions, lag_events=sum(end.values()), lag_us=0, findings=0,
            )  # fmt: skip
        lag_events = sum(max(0, last - projected.get(partition, 0)) for partition, last in end.items())
        self._metrics.lag_events.set(lag_events)
        troubles = [
            f"{reader.name}: {reader.trouble}" for reader in (self._projecting, self._auditing) if reader.trouble
        ]
        return a.Lag(
            healthy=not troubles,
            reason="; ".join(troubles),
            events_projected=events,
            duplicates=self._duplicates,
            gaps_mended=self._gaps,
            partitions=tuple(
                a.PartitionLag(partition, projected.get(partition, 0), self._audited.get(partition, 0), last)
                for partition, last in sorted(end.items())
            ),
            lag_events=lag_events,
            lag_us=max(0, self._clock.now_us() - newest) if lag_events and newest else 0,
            findings=findings,
        )

    # The projection -----------------------------------------------------------------------------------------------------

    async def _subscribe_projection(self) -> AsyncIterator[Recorded]:
        """Take the rows up where they are, then read on from there."""
        is_another = await asyncio.to_thread(self._model.open)
        engine = self._model.engine
        projection = await asyncio.to_thread(Projection, engine)
        if not await is_of(self._journal, projection.heads):
            log.warning("the read model is of another journal, or of a later copy of it, and is built anew")
            await asyncio.to_thread(empty, engine)
            projection = await asyncio.to_thread(Projection, engine)
            is_another = True
        if is_another:
            # What the laws found went with the rows, and is found again.
            self._auditing.again()
        for known in projection.open_rounds:
            facts: list[Fact] = []
            async for recorded in self._journal.read(known.stream, known.after_sequence):
                if recorded.envelope.sequence > known.last_sequence:
                    break
                facts.append(self._reader.read(recorded))
            projection.restore(facts)
        self._projection = projection
        return self._journal.subscribe(dict(projection.positions))

    async def _project(self, batch: Sequence[Recorded]) -> None:
        facts = [self._reader.read(recorded) for recorded in batch]
        changes: Changes | None = None
        while changes is None:
            try:
                changes = await asyncio.to_thread(self._projected, facts)
            except GapFound as gap:
                self._gaps += 1
                self._metrics.gaps.inc()
                await self._mend(gap, facts)
        self._duplicates += changes.duplicates
        self._metrics.duplicates.inc(changes.duplicates)
        self._metrics.projected.inc(changes.projected)
        self._metrics.lag_seconds.set(max(0, self._clock.now_us() - facts[-1].envelope.recorded_time_us) / 1e6)
        self._watchers.tell(changes.tables, changes.ended_rounds)

    def _projected(self, facts: Sequence[Fact]) -> Changes:
        if self._projection is None:
            raise ServiceUnavailable("the projection is not open")
        with self._model.in_use():
            return self._projection.project(facts)

    async def _mend(self, gap: GapFound, facts: list[Fact]) -> None:
        """Read what was passed over from the journal, and put it where it belongs."""
        missing: list[Fact] = []
        wanted = next(f.sequence for f in facts if f.stream == gap.stream and f.sequence > gap.sequence)
        async for recorded in self._journal.read(gap.stream, gap.sequence):
            if recorded.envelope.sequence >= wanted:
                break
            missing.append(self._reader.read(recorded))
        if not missing:
            raise gap
        facts[:0] = missing

    # The laws -----------------------------------------------------------------------------------------------------------

    async def _subscribe_laws(self) -> AsyncIterator[Recorded]:
        """The laws remember what went before, so they begin at the beginning; what they found is kept once."""
        self._auditor = Auditor()
        self._audited = {}
        return in_causal_order(self._journal)

    async def _audit(self, batch: Sequence[Recorded]) -> None:
        fresh = await asyncio.to_thread(self._held_to_the_laws, batch)
        for recorded in batch:
            self._audited[recorded.position.partition] = recorded.position.offset
        self._metrics.audited.inc(len(batch))
        for finding in fresh:
            self._metrics.findings.labels(finding.law).inc()
        if fresh:
            keys = {finding.stream.partition(":")[2] for finding in fresh}
            self._watchers.tell(tables=keys, findings=fresh)

    def _held_to_the_laws(self, batch: Sequence[Recorded]) -> list[Finding]:
        findings = [finding for recorded in batch for finding in self._auditor.observe(self._reader.read(recorded))]
        if not findings:
            return []
        with self._model.in_use() as engine:
            return findings_store.keep(engine, findings)

"""A worker that folds the partitions it is given: woken by whoever delivers records, never trusting him to deliver them all.

Owns the partitions' foldings and the one thread that works on them. Promises: with the database or the broker away it waits,
says so, and goes on; a partition that must not be read on stops alone, with an alarm; what was never delivered is found by
looking at the log's end, and folded. Knows nothing of Faust.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import TypeVar

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from services.journal.errors import JournalError
from services.journal.kafka_cluster import Cluster
from services.journal.kafka_layout import Layout
from services.journal.kafka_partition import PartitionLog
from services.journal.kafka_passage import Passage
from services.journal.kafka_records import RawRecord
from services.runtime.failures import ServiceUnavailable
from services.surveillance.facts import Fact
from services.surveillance.meter_store import AnotherJournal, Folded, behind, fold_in, folded_sequences, writing
from services.surveillance.partition_folding import PartitionFolding
from services.surveillance.places import Place

FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 5.0
LOOK_SECONDS = 2.0
"""How long a record may lie undelivered before the worker fetches it itself."""

T = TypeVar("T")
log = structlog.get_logger(__name__)


class WorkerMetrics:
    """What a worker tells Prometheus; no labels."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, text: str) -> Counter:
            return Counter(f"holecard_surveillance_worker_{name}", text, registry=registry)

        def gauge(name: str, text: str) -> Gauge:
            return Gauge(f"holecard_surveillance_worker_{name}", text, registry=registry)

        self.events = counter("events_folded_total", "Events folded into the meters by this worker.")
        self.duplicates = counter("duplicates_total", "Events that came again and were ignored.")
        self.gaps = counter("gaps_total", "Gaps in a stream's meters, mended from the journal.")
        self.healed = counter(
            "undelivered_records_total", "Records that were not delivered and that it fetched itself."
        )
        self.partitions = gauge("partitions", "Partitions of the journal that this worker folds.")
        self.stopped = gauge("stopped_partitions", "Partitions that must not be read on.")
        self.behind = gauge("behind_records", "Records in its partitions that it has not taken.")
        self.waiting = gauge("waiting", "1 while it waits for the database or the broker.")


class FoldingWorker:
    """Folds the partitions of `layout` that it is given into the meters at `place`.

    `trouble` says for what it waits, "" when it works. `progress` grows with every record taken and every look that finds
    nothing left to take: something that watches it may end a process in which it stands still.
    """

    def __init__(self, cluster: Cluster, layout: Layout, place: Place, registry: CollectorRegistry) -> None:
        self.metrics = WorkerMetrics(registry)
        self.trouble = "not started"
        self.progress = 0
        self._layout = layout
        self._place = place
        self._engine: Engine | None = None
        self._passage = Passage(cluster)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="folding")
        self._known: dict[int, PartitionFolding] = {}
        self._mine: set[int] = set()
        self._looking: asyncio.Task[None] | None = None
        self._delivered = monotonic()
        self._counted = Folded()
        self._mended = 0

    @property
    def partitions(self) -> frozenset[int]:
        """The partitions that it folds now."""
        return frozenset(self._mine)

    def stops(self) -> list[str]:
        """Why partitions must not be read on, one sentence each."""
        return [str(f.log.failure) for n, f in self._known.items() if n in self._mine and f.log.failure is not None]

    def start(self) -> None:
        """Begin to look at the log's ends."""
        self._looking = asyncio.ensure_future(self._look_for_ever())

    async def stop(self) -> None:
        """End; what was taken and not written will be folded by whoever gets the partitions."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)
        self._mine.clear()
        await asyncio.get_running_loop().run_in_executor(self._thread, self._release)
        self._thread.shutdown()

    def give(self, partitions: Iterable[int]) -> None:
        """Fold these from now on, each from where its rows are."""
        self._mine |= set(partitions)
        self.metrics.partitions.set(len(self._mine))
        # Not delivered yet, but there: the next look takes up what others left.
        self._delivered = 0.0

    def take_away(self, partitions: Iterable[int]) -> None:
        """Fold these no more. What is under way may still be written: it counts once, whoever writes it."""
        self._mine -= set(partitions)
        self.metrics.partitions.set(len(self._mine))

    async def take(self, number: int, records: Sequence[RawRecord]) -> None:
        """Fold records that were delivered; returns when they are in the rows, or the partition is not ours any more."""
        self._delivered = monotonic()
        await self._until_done([number], lambda: self._take(number, records))

    async def look(self) -> None:
        """Fetch what lies in the log and was not delivered, and mend rows that lack what was folded before."""
        numbers = sorted(self._mine)
        await self._until_done(numbers, lambda: self._look(numbers))

    # In the thread ------------------------------------------------------------------------------------------------------

    def _folding(self, number: int) -> PartitionFolding:
        folding = self._known.get(number)
        if folding is None:
            folding = PartitionFolding(PartitionLog(self._layout, number), self._passage, self._write)
            with self._opened().connect() as connection:
                folding.know(folded_sequences(connection))
            self._known[number] = folding
        return folding

    def _take(self, number: int, records: Sequence[RawRecord]) -> None:
        self._folding(number).take(records)
        self._count()

    def _look(self, numbers: Sequence[int]) -> None:
        foldings = [self._folding(number) for number in numbers]
        ends = self._passage.ends(folding.log for folding in foldings)
        for folding in foldings:
            undelivered = ends[folding.log.number] - folding.log.next_record
            if undelivered > 0 and folding.log.failure is None:
                self.metrics.healed.inc(undelivered)
                folding.catch_up(ends[folding.log.number])
                self._count()
        with self._opened().connect() as connection:
            lacking = [behind(connection, folding.heads()) for folding in foldings]
        for folding, streams in zip(foldings, lacking, strict=True):
            if streams and folding.log.failure is None:
                folding.mend(streams)
        self._count()
        self.metrics.behind.set(sum(max(0, ends[f.log.number] - f.log.next_record) for f in foldings))

    def _write(self, facts: Sequence[Fact]) -> Folded:
        with self._opened().connect() as connection:
            writing(connection)
            done = fold_in(connection, facts)
            connection.commit()
        return done

    def _opened(self) -> Engine:
        if self._engine is None:
            self._engine = self._place.open()
        return self._engine

    def _release(self) -> None:
        self._passage.close()
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.dispose()

    def _count(self) -> None:
        known = self._known.values()
        events, again = sum(f.folded.events for f in known), sum(f.folded.duplicates for f in known)
        mended = sum(f.mended for f in known)
        self.metrics.events.inc(events - self._counted.events)
        self.metrics.duplicates.inc(again - self._counted.duplicates)
        self.metrics.gaps.inc(mended - self._mended)
        self._counted, self._mended = Folded(events, again), mended

    # Waiting ------------------------------------------------------------------------------------------------------------

    async def _until_done(self, numbers: Sequence[int], work: Callable[[], None]) -> None:
        """Do the work in the thread, again and again while something is away, as long as the partitions are ours."""
        pause = FIRST_PAUSE_SECONDS
        loop = asyncio.get_running_loop()
        while self._mine.issuperset(numbers):
            try:
                await loop.run_in_executor(self._thread, work)
            except (DBAPIError, JournalError, ServiceUnavailable, AnotherJournal) as error:
                reason = self._place.lost(error.orig) if isinstance(error, DBAPIError) else str(error)
                if isinstance(error, AnotherJournal):
                    reason += ": run `holecard projection rebuild`"
                if reason != self.trouble:
                    log.warning("the worker waits", reason=reason)
                self.trouble = reason
                self.metrics.waiting.set(1)
                # What waits for something is not stuck: ending the process would not bring it back.
                self.progress += 1
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
            else:
                if self.trouble:
                    log.info("the worker works")
                self.trouble = ""
                self.metrics.waiting.set(0)
                self.metrics.stopped.set(len(self.stops()))
                self.progress += 1
                return

    async def _look_for_ever(self) -> None:
        while True:
            try:
                if monotonic() - self._delivered >= LOOK_SECONDS:
                    self._delivered = monotonic()
                    await self.look()
            except Exception:
                # Told, not hidden: progress stands, and whoever watches it ends the process.
                log.exception("the worker failed")
            await asyncio.sleep(LOOK_SECONDS / 4)

"""What ops sees of the journal: how long an append takes, how much a commit carries, what is read back, who owns what.

Owns the measuring of a journal from outside, the same for both adapters, in the process's registry. Promises that the
journal behaves as it does without. Label values are bounded: areas, topics, partition numbers, names of errors; never a
stream, since its name holds a table.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from services.journal.causal_reading import in_causal_order
from services.journal.commits import CommitObserver
from services.journal.errors import JournalError
from services.journal.port import Journal, NewEvent, Recorded, StreamHead

if TYPE_CHECKING:
    # A house on the embedded journal starts without Kafka's client, which takes a third of a second to load.
    from services.journal.kafka_journal import PartitionStatus

AREAS = frozenset({"shoe", "table", "wager", "wallet", "meter", "cage", "case"})
"""What may stand before the colon of a stream's name (DESIGN §3)."""

DURATION_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
COMMIT_EVENTS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
COMMIT_BYTES = tuple(256 * 4**power for power in range(9))


@runtime_checkable
class Committing(Protocol):
    """A journal that tells of its commits."""

    def observe_commits(self, observer: CommitObserver) -> None:
        """Call `observer` after every commit from now on."""
        ...


@runtime_checkable
class Partitioned(Protocol):
    """A journal of partitions that are claimed."""

    def partitions(self) -> "Sequence[PartitionStatus]":
        """Every partition as this process knows it now."""
        ...


class JournalMetrics:
    """The journal's figures of one process in `registry`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.appends = Histogram(
            "holecard_journal_append_duration_seconds",
            "Time from handing events to the journal to their being durable.",
            ("area",),
            buckets=DURATION_SECONDS,
            registry=registry,
        )
        self.failures = Counter(
            "holecard_journal_append_failures_total",
            "Appends that were not acknowledged, by the name of the error.",
            ("area", "error"),
            registry=registry,
        )
        self.replayed = Counter(
            "holecard_journal_replayed_events_total",
            "Events read back from streams, to build states and to answer repeated requests.",
            ("area",),
            registry=registry,
        )
        self._commit_events = Histogram(
            "holecard_journal_commit_events",
            "Events in one group commit of this process.",
            buckets=COMMIT_EVENTS,
            registry=registry,
        )
        self._commit_bytes = Histogram(
            "holecard_journal_commit_bytes",
            "Stored bytes of the events in one group commit of this process.",
            buckets=COMMIT_BYTES,
            registry=registry,
        )
        self._commit_duration = Histogram(
            "holecard_journal_commit_duration_seconds",
            "Time that one group commit took to be durable.",
            buckets=DURATION_SECONDS,
            registry=registry,
        )

    def commit(self, events: int, stored_bytes: int, seconds: float) -> None:
        """Take note of one group commit; called in the writer's thread."""
        self._commit_events.observe(events)
        self._commit_bytes.observe(stored_bytes)
        self._commit_duration.observe(seconds)


class MeasuredJournal:
    """`journal` with its appends and readings measured; everything else is passed on as it is."""

    def __init__(self, journal: Journal, metrics: JournalMetrics) -> None:
        self._journal = journal
        self._metrics = metrics

    async def append(self, stream: str, expected_sequence: int, events: Sequence[NewEvent]) -> tuple[Recorded, ...]:
        """See `port.Journal.append`."""
        area = area_of(stream)
        began = perf_counter()
        try:
            recorded = await self._journal.append(stream, expected_sequence, events)
        except JournalError as error:
            self._metrics.failures.labels(area, type(error).__name__).inc()
            raise
        self._metrics.appends.labels(area).observe(perf_counter() - began)
        return recorded

    async def read(self, stream: str, after_sequence: int = 0) -> AsyncIterator[Recorded]:
        """See `port.Journal.read`."""
        count = 0
        try:
            async for recorded in self._journal.read(stream, after_sequence):
                count += 1
                yield recorded
        finally:
            # Once a reading and not once an event: a long log is read at ten microseconds an event.
            self._metrics.replayed.labels(area_of(stream)).inc(count)

    async def replay(self, after: Mapping[str, int]) -> AsyncIterator[Recorded]:
        """See `port.Journal.replay`."""
        counts: dict[str, int] = {}
        try:
            async for recorded in self._journal.replay(after):
                area = area_of(recorded.envelope.stream)
                counts[area] = counts.get(area, 0) + 1
                yield recorded
        finally:
            for area, count in counts.items():
                self._metrics.replayed.labels(area).inc(count)

    def subscribe(self, after: Mapping[int, int]) -> AsyncIterator[Recorded]:
        """See `port.Journal.subscribe`."""
        return self._journal.subscribe(after)

    def partitions(self) -> "Sequence[PartitionStatus]":
        """Every partition of a cluster's journal as this process knows it now; none of an embedded one."""
        return self._journal.partitions() if isinstance(self._journal, Partitioned) else ()

    def in_causal_order(self, given: Mapping[str, int]) -> AsyncIterator[Recorded]:
        """See `causal_reading.CausallyRead`."""
        return in_causal_order(self._journal, given=given)

    async def end(self) -> Mapping[int, int]:
        """See `port.Journal.end`."""
        return await self._journal.end()

    async def streams(self) -> Sequence[StreamHead]:
        """See `port.Journal.streams`."""
        return await self._journal.streams()

    async def tenure(self, stream: str) -> int:
        """See `port.Journal.tenure`."""
        return await self._journal.tenure(stream)

    async def close(self) -> None:
        """See `port.Journal.close`."""
        await self._journal.close()


class PartitionCollector(Collector):
    """Every partition of a Kafka journal as this process knows it, read when Prometheus asks.

    `statuses` gives them; each process counts what it has read itself, its own replay at the start included.
    """

    def __init__(self, statuses: "Callable[[], Sequence[PartitionStatus]]") -> None:
        self._statuses = statuses

    def collect(self) -> Iterable[Metric]:
        """See `Collector.collect`."""
        counts = {
            "events": CounterMetricFamily(
                "holecard_journal_partition_events", "Events read that count.", labels=_PARTITION
            ),
            "batches": CounterMetricFamily(
                "holecard_journal_partition_batches", "Batches read that count.", labels=_PARTITION
            ),
            "claims": CounterMetricFamily("holecard_journal_claims", "Claims read.", labels=_PARTITION),
            "void": CounterMetricFamily(
                "holecard_journal_void_batches",
                "Batches read that count for nobody, because their claim had ended.",
                labels=_PARTITION,
            ),
            "duplicate": CounterMetricFamily(
                "holecard_journal_duplicate_batches", "Batches read that say once more what stands.", labels=_PARTITION
            ),
        }
        owned = GaugeMetricFamily(
            "holecard_journal_partition_owned", "1 where this process writes, as far as it has read.", labels=_PARTITION
        )
        stopped = GaugeMetricFamily(
            "holecard_journal_partition_stopped",
            "1 where a record must not be there and nothing after it is read; the log says which and why.",
            labels=_PARTITION,
        )
        read = CounterMetricFamily(
            "holecard_journal_partition_events_read",
            "Events this process read out of the log, its own writes not counted: its rate while replaying is the replay's.",
            labels=_PARTITION,
        )
        age = GaugeMetricFamily(
            "holecard_journal_snapshot_age_seconds",
            "Age of this process's snapshot of the partition; not there while it has none.",
            labels=_PARTITION,
        )
        for status in self._statuses():
            labels = status.topic, str(status.kafka_partition)
            for name, family in counts.items():
                family.add_metric(labels, getattr(status.counts, name))
            owned.add_metric(labels, status.owned)
            stopped.add_metric(labels, bool(status.stopped))
            read.add_metric(labels, status.events_read)
            if status.snapshot_age_seconds is not None:
                age.add_metric(labels, status.snapshot_age_seconds)
        return [*counts.values(), owned, stopped, read, age]


_PARTITION = ("topic", "partition")


def area_of(stream: str) -> str:
    """The area of a stream, "other" for one that the house does not know: what a label may say is bounded."""
    area = stream.partition(":")[0]
    return area if area in AREAS else "other"


def measured(journal: Journal, registry: CollectorRegistry) -> MeasuredJournal:
    """Give the journal with its figures in `registry`: what every adapter tells, and partitions where it has them."""
    metrics = JournalMetrics(registry)
    if isinstance(journal, Committing):
        journal.observe_commits(metrics.commit)
    if isinstance(journal, Partitioned):
        registry.register(PartitionCollector(journal.partitions))
    return MeasuredJournal(journal, metrics)

"""The check of a journal on Kafka: every partition is walked as every reader walks it, and what must not be there is named.

Promises: claims decide what counts, as for everyone; each event's bytes, its place and its link are checked again on the
way; a partition that is stopped is named with its record, and the others are checked to their ends. Changes nothing.
"""

from collections.abc import AsyncIterator, Mapping, Sequence

from services.journal.causal_order import CausalOrder
from services.journal.errors import JournalDamaged
from services.journal.findings import Damage, Finding, Observer
from services.journal.fsck import FsckReport
from services.journal.kafka_cluster import Cluster
from services.journal.kafka_errors import PartitionStopped
from services.journal.kafka_journal import KafkaJournal
from services.journal.kafka_layout import Layout
from services.journal.log_walk import LogRow, LogWalk
from services.journal.port import Recorded, StreamHead


async def fsck_kafka(cluster: Cluster, layout: Layout, observers: Sequence[Observer] = ()) -> FsckReport:
    """Check everything that is in the journal now, also while others write it.

    `observers` ride along in causal order; their findings count only when the journal is sound. Raises TopicsRefused,
    JournalUnavailable.
    """
    journal = await KafkaJournal.open_read_only(cluster, layout)
    try:
        end = await journal.end()
        walk, damage = LogWalk(observers), [_finding(stop) for stop in journal.stops()]
        heads: dict[str, StreamHead] = {}
        try:
            async for recorded in until(journal, end):
                # Kafka's offsets have claims and void batches in between: the walk counts what counts.
                walk.take(LogRow(recorded.position.partition, walk.events + 1, recorded.stored, None))
                envelope = recorded.envelope
                heads[envelope.stream] = StreamHead(envelope.stream, envelope.sequence, recorded.hash)
        except JournalDamaged as error:
            damage.append(_finding(error))
        found = () if damage else walk.finish(heads.values())
        return FsckReport(walk.events, walk.streams, (*damage, *found))
    finally:
        await journal.close()


async def until(journal: KafkaJournal, end: Mapping[int, int]) -> AsyncIterator[Recorded]:
    """Give all events up to the given end of each partition, in causal order; raises JournalDamaged, JournalUnavailable."""
    readings = {number: journal.subscribe({}, partitions=[number]) for number, last in end.items() if last}
    order = CausalOrder(readings)
    try:
        while (number := order.next_to_read()) is not None:
            recorded = await anext(readings[number])
            order.take(recorded)
            if recorded.position.offset >= end[number]:
                order.end(number)
            for ready in order.ready():
                yield ready
    finally:
        for reading in readings.values():
            await reading.aclose()


def _finding(damage: JournalDamaged) -> Finding:
    kind = damage.kind if isinstance(damage, PartitionStopped) else Damage.EDITED
    return Finding(kind, damage.stream, damage.sequence, str(damage))

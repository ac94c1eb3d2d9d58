"""Who writes each partition of a cluster's journal, and how far the read model is behind in it.

Owns the answer's making from what the journal knows. An embedded journal has no owners to tell of, and neither has the
topic of surveillance while it is empty: nobody writes it yet, so nobody's tables stand.
"""

from collections.abc import Iterable, Mapping

from services.journal.port import Journal
from services.runtime.journal_metrics import Partitioned
from services.surveillance.replies import PartitionLag, PartitionOwner

UNWRITTEN = "holecard.surveillance.v1"


def owners_of(journal: Journal, lags: Iterable[PartitionLag]) -> tuple[PartitionOwner, ...]:
    """Every partition's owner, by number; none where the journal has no claims."""
    if not isinstance(journal, Partitioned):
        return ()
    behind: Mapping[int, int] = {
        lag.partition: _records(lag.end_offset) - _records(lag.projected_offset) for lag in lags
    }
    return tuple(
        PartitionOwner(
            partition=status.number,
            topic=status.topic,
            kafka_partition=status.kafka_partition,
            owner=status.claim.owner if status.claim else "",
            address=status.claim.address if status.claim else "",
            epoch=max(0, status.epoch),
            claimed_time_us=status.claim.claimed_time_us if status.claim else 0,
            records_behind=max(0, behind.get(status.number, 0)),
            void_batches=status.counts.void,
            snapshot_age_us=None if status.snapshot_age_seconds is None else round(status.snapshot_age_seconds * 1e6),
            stopped=status.stopped,
        )
        for status in journal.partitions()
        if status.claim or status.next_record or status.stopped or not status.topic.endswith(UNWRITTEN)
    )


def _records(offset: int) -> int:
    from services.journal.kafka_layout import record_of

    return record_of(offset)[0]

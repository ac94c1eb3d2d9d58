"""A partition's records one by one with the verdict on each, for people who look into a log.

Promises: the verdict is that of every reader, because it is made by the same code from the partition's beginning. Does not
follow: it ends where the log ended when it began.
"""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from services.journal.errors import JournalUnavailable
from services.journal.kafka_cluster import Cluster
from services.journal.kafka_errors import PartitionStopped
from services.journal.kafka_layout import Layout
from services.journal.kafka_partition import PartitionLog
from services.journal.kafka_records import RawRecord, Reading, read_record

_PATIENCE_SECONDS = 20.0


class Verdict(StrEnum):
    """What a record is to every reader."""

    CLAIM = "claim"
    COUNTS = "counts"
    VOID = "void"
    DUPLICATE = "duplicate"
    STOPS = "stops"
    """It must not be there: nobody reads the partition on."""
    AFTER = "after"
    """It lies after a record that stopped the partition: nobody has judged it."""


@dataclass(frozen=True, slots=True)
class Scanned:
    """A record, what it says, and the verdict; `failure` is set for the one that stops the partition."""

    raw: RawRecord
    reading: Reading
    verdict: Verdict
    failure: PartitionStopped | None


def scan(cluster: Cluster, layout: Layout, number: int) -> Iterator[Scanned]:
    """Give every record of a port partition from its beginning to its present end.

    Raises ValueError for a partition that the layout has not, JournalUnavailable.
    """
    log = PartitionLog(layout, number)
    for raw in _records(cluster, log):
        yield Scanned(raw, read_record(raw), *_judge(log, raw))


def _judge(log: PartitionLog, raw: RawRecord) -> tuple[Verdict, PartitionStopped | None]:
    stopped_before, before = log.failure is not None, replace(log.counts)
    if stopped_before:
        return Verdict.AFTER, None
    log.take(raw)
    if log.failure is not None:
        return Verdict.STOPS, log.failure
    if log.counts.claims > before.claims:
        return Verdict.CLAIM, None
    if log.counts.void > before.void:
        return Verdict.VOID, None
    return (Verdict.DUPLICATE if log.counts.duplicate > before.duplicate else Verdict.COUNTS), None


def _records(cluster: Cluster, log: PartitionLog) -> Iterator[RawRecord]:
    with cluster.translated(), contextlib.closing(cluster.consumer()) as consumer:
        place = log.place
        consumer.assign([place])
        consumer.seek_to_beginning(place)
        end = consumer.end_offsets([place])[place]
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while consumer.position(place) < end:
            polled = consumer.poll(timeout_ms=500).get(place, ())
            if polled:
                deadline = time.monotonic() + _PATIENCE_SECONDS
            elif time.monotonic() > deadline:
                raise JournalUnavailable(f"Kafka does not give {place} on from {consumer.position(place)}: try again")
            for record in polled:
                if record.offset >= end:
                    return
                yield RawRecord(record.offset, record.headers, record.value)

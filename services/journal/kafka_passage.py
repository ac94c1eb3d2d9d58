"""Taking a partition's records in order on demand: for readers that somebody else wakes, such as a stream worker.

Promises that every record goes through the partition's `PartitionLog`, from its first one, so that claims decide what
counts as for everyone; that holes and cut-off logs stop the partition. One thread owns it and its consumer. Does not
follow by itself.
"""

import time
from collections.abc import Iterable, Iterator, Sequence

from kafka import KafkaConsumer
from kafka.errors import OffsetOutOfRangeError

from services.journal.errors import JournalUnavailable
from services.journal.findings import Damage
from services.journal.kafka_cluster import Cluster
from services.journal.kafka_partition import PartitionLog
from services.journal.kafka_records import RawRecord
from services.journal.port import Recorded

_POLL_MS = 250
_PATIENCE_SECONDS = 15.0


class Passage:
    """Reads partitions for one thread. Every method raises JournalUnavailable when the broker does not answer."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._consumer: KafkaConsumer | None = None

    def ends(self, logs: Iterable[PartitionLog]) -> dict[int, int]:
        """Kafka's offset after the last record of each partition, by the partition's number."""
        logs = list(logs)
        with self._cluster.translated():
            ends = self._client().end_offsets([log.place for log in logs]) if logs else {}
        return {log.number: ends[log.place] for log in logs}

    def take(self, log: PartitionLog, until: int) -> Iterator[tuple[Recorded, ...]]:
        """Take what lies before Kafka's offset `until`, and give the events of each record that counts.

        Ends early when the partition is stopped; `failure` says why.
        """
        for raw in self._records(log, log.next_record, until):
            log.take(raw)
            if log.failure is not None:
                return
            events = log.recent(raw.offset)
            if events:
                yield events
        if log.failure is None and log.next_record < until:
            log.stop(log.next_record, Damage.MISSING, "there is no record here: a foreign producer's transaction")

    def again(self, log: PartitionLog, records: Sequence[int]) -> Iterator[tuple[Recorded, ...]]:
        """Give the events of records that were taken before; raises PartitionStopped when they are not what was taken."""
        wanted = set(records)
        if not wanted:
            return
        for raw in self._records(log, min(wanted), max(wanted) + 1):
            if raw.offset in wanted:
                events = log.checked(raw)
                if events is None:
                    log.stop(raw.offset, Damage.EDITED, "it is not the record that was read here before")
                    if log.failure is not None:
                        raise log.failure
                    return
                yield events

    def close(self) -> None:
        """Let the consumer go."""
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            consumer.close(autocommit=False, timeout_ms=0)

    def _records(self, log: PartitionLog, first: int, until: int) -> Iterator[RawRecord]:
        if first >= until:
            return
        try:
            with self._cluster.translated():
                yield from self._polled(log, first, until)
        except JournalUnavailable:
            # Whatever state the consumer is in now, the next request starts with a fresh one.
            self.close()
            raise

    def _polled(self, log: PartitionLog, first: int, until: int) -> Iterator[RawRecord]:
        consumer, place = self._client(), log.place
        consumer.assign([place])
        consumer.seek(place, first)
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while (consumer.position(place) or 0) < until:
            try:
                polled = consumer.poll(timeout_ms=_POLL_MS).get(place, ())
            except OffsetOutOfRangeError:
                log.stop(
                    first, Damage.TRUNCATED, "the broker has no record here: its log was cut off or is another one"
                )
                return
            if polled:
                deadline = time.monotonic() + _PATIENCE_SECONDS
            elif time.monotonic() > deadline:
                raise JournalUnavailable(f"Kafka does not give {place} on from {consumer.position(place)}: try again")
            for record in polled:
                if record.offset >= until:
                    return
                yield RawRecord(record.offset, record.headers, record.value)

    def _client(self) -> KafkaConsumer:
        if self._consumer is None:
            self._consumer = self._cluster.consumer()
        return self._consumer

"""The thread that owns the consumer: it takes every partition's records in order, from the beginning and then live.

Promises: a partition that must not be read on stops alone, the others go on; a broker that is away is waited for.
Nobody else touches this consumer. Does not keep records.
"""

import threading
from collections.abc import Callable, Mapping, Sequence

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError, LogTruncationError, OffsetOutOfRangeError, TopicAuthorizationFailedError

from services.journal.findings import Damage
from services.journal.kafka_cluster import Cluster
from services.journal.kafka_partition import PartitionLog
from services.journal.kafka_records import RawRecord

_POLL_MS = 200
_PAUSE_SECONDS = 0.2


class LogFollower:
    """Follows the partitions of `logs`; calls `progressed` in its thread with those that took something."""

    def __init__(
        self, cluster: Cluster, logs: Sequence[PartitionLog], progressed: Callable[[Sequence[PartitionLog]], None]
    ) -> None:
        """Connect and start; blocks for the connection. Raises JournalUnavailable."""
        self._cluster = cluster
        self._logs: Mapping[TopicPartition, PartitionLog] = {log.place: log for log in logs}
        self._progressed = progressed
        self._stop = threading.Event()
        self.trouble: Exception | None = None
        self.ended: Exception | None = None
        """What ended the thread for good."""
        self._consumer: KafkaConsumer = cluster.consumer()
        self._thread = threading.Thread(target=self._run, name="journal-follower", daemon=True)
        self._thread.start()

    @property
    def is_refused(self) -> bool:
        """Whether the brokers do not let this process read: that does not pass by waiting."""
        return isinstance(self.trouble, TopicAuthorizationFailedError)

    def stop(self) -> None:
        """End the thread. Blocks for a moment; call it off the event loop."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        consumer = self._consumer
        try:
            consumer.assign(list(self._logs))
            for place, log in self._logs.items():
                consumer.seek(place, log.first_to_read)
            while not self._stop.is_set():
                self._poll(consumer)
        except Exception as error:  # noqa: BLE001 - a reader that died must be told by everybody who waits for it
            self.trouble = self.ended = error
            for log in self._logs.values():
                reason = f"the reader failed ({type(error).__name__}: {error})"
                log.stop(log.next_record, Damage.UNREADABLE, reason, unread=True)
            self._progressed(list(self._logs.values()))
        finally:
            consumer.close(autocommit=False, timeout_ms=0)

    def _poll(self, consumer: KafkaConsumer) -> None:
        self._rewind(consumer)
        try:
            polled = consumer.poll(timeout_ms=_POLL_MS)
            if not polled:
                self._stop_at_holes(consumer)
            self.trouble = None
        except OffsetOutOfRangeError as error:
            self._stop_cut_off(consumer, error.args[0] if error.args else None)
            return
        except LogTruncationError as error:
            self._stop_cut_off(consumer, error.divergent_offsets)
            return
        except (KafkaError, OSError) as error:
            # The broker is away or changes its mind: what was taken stays taken, and the next poll goes on from there.
            self.trouble = error
            self._stop.wait(_PAUSE_SECONDS)
            return
        for place, records in polled.items():
            log = self._logs[place]
            for record in records:
                log.take(RawRecord(record.offset, record.headers, record.value))
            if log.failure is not None:
                consumer.pause(place)
        if polled:
            self._progressed([self._logs[place] for place in polled])

    def _rewind(self, consumer: KafkaConsumer) -> None:
        """Begin anew with the partitions whose snapshot was wrong."""
        for place, log in self._logs.items():
            if log.needs_rewind:
                consumer.seek(place, 0)
                log.rewound()

    def _stop_at_holes(self, consumer: KafkaConsumer) -> None:
        """Stop the partitions in which the consumer has gone on without giving records: markers of a transaction (F10)."""
        for place, log in self._logs.items():
            # No position is known while the client makes sure of it after a change of leader.
            if (
                log.failure is None
                and log.is_proved
                and (consumer.position(place, timeout_ms=0) or 0) > log.next_record
            ):
                reason = "there is no record here: a foreign producer's transaction"
                if log.stop(log.next_record, Damage.MISSING, reason):
                    consumer.pause(place)
                self._progressed([log])

    def _stop_cut_off(self, consumer: KafkaConsumer, places: object) -> None:
        """Stop the partitions whose next record the broker no longer has, or no longer has reached."""
        # Which ones the client library says by the keys of a dictionary; without it none may be trusted.
        named = [place for place in places if place in self._logs] if isinstance(places, Mapping) else list(self._logs)
        for place in named:
            log = self._logs[place]
            reason = "the broker has no record here: its log was cut off, deleted from the front, or is another one"
            if log.stop(log.next_record, Damage.TRUNCATED, reason):
                consumer.pause(place)
        self._progressed([self._logs[place] for place in named])

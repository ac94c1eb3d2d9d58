"""Fetching records that were taken before: one thread with a consumer of its own, a bounded chunk at a time.

Promises: what is fetched is compared with what was taken, event by event, before it goes out; a chunk is bounded in bytes.
Does not follow the log's end.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import OffsetOutOfRangeError

from services.journal.errors import JournalClosed, JournalError, JournalUnavailable
from services.journal.findings import Damage
from services.journal.kafka_cluster import FETCH_BYTES, Cluster
from services.journal.kafka_errors import PartitionStopped
from services.journal.kafka_partition import PartitionLog, near_each_other
from services.journal.kafka_records import RawRecord
from services.journal.port import Recorded

CHUNK_BYTES = FETCH_BYTES
CHUNK_RECORDS = 256
"""A chunk ends at whichever comes first, after at least one record."""
_FURTHEST = 500
"""Records further apart than this are fetched by two readings: passing over what lies between would cost more."""
_PATIENCE_SECONDS = 20.0
_PAUSE_SECONDS = 0.05

T = TypeVar("T")


class History:
    """The thread and its consumer; `fetch` and `reached` are for event loops."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal-history")
        self._consumer: KafkaConsumer | None = None
        self._place: TopicPartition | None = None
        self._next = -1
        self._closed = False

    async def fetch(
        self, log: PartitionLog, records: Sequence[int], stream: str = ""
    ) -> list[tuple[int, tuple[Recorded, ...]]]:
        """The events of the first of these records, by Kafka's offset; at least of one. Only those of `stream` if named.

        Raises PartitionStopped when a record is not what was taken before, JournalUnavailable, JournalClosed.
        """
        return await self._run(lambda: self._fetch(log, near_each_other(records, _FURTHEST), stream))

    async def reached(self, logs: Sequence[PartitionLog]) -> dict[int, int]:
        """For each partition Kafka's offset after its last record, as of now. Raises JournalUnavailable, JournalClosed."""
        return await self._run(lambda: self._reached(logs))

    def refuse_more(self) -> None:
        """Let no further request in."""
        self._closed = True

    def close(self) -> None:
        """End the thread. Blocks; call it off the event loop, after `refuse_more`."""
        self._thread.submit(self._release)
        self._thread.shutdown()

    async def _run(self, work: Callable[[], T]) -> T:
        if self._closed:
            raise JournalClosed("the journal is closed")
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._attempt, work)

    def _attempt(self, work: Callable[[], T]) -> T:
        try:
            with self._cluster.translated():
                return work()
        except JournalUnavailable:
            # Whatever state the consumer is in now, the next request starts with a fresh one.
            self._release()
            raise

    def _client(self) -> KafkaConsumer:
        if self._consumer is None:
            # It goes from partition to partition and never waits for new records.
            self._consumer = self._cluster.consumer(wait_ms=1)
        return self._consumer

    def _release(self) -> None:
        consumer, self._consumer, self._place = self._consumer, None, None
        if consumer is not None:
            consumer.close(autocommit=False, timeout_ms=0)

    def _reached(self, logs: Sequence[PartitionLog]) -> dict[int, int]:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                ends = self._client().end_offsets([log.place for log in logs])
            except KeyError as error:
                # The client library forgets partitions whose leader it does not know yet, and then misses them itself.
                if time.monotonic() > deadline:
                    raise JournalUnavailable(f"Kafka does not say where {error} ends: try again") from error
                time.sleep(_PAUSE_SECONDS)
            else:
                return {log.number: ends[log.place] for log in logs}

    def _fetch(self, log: PartitionLog, records: Sequence[int], stream: str) -> list[tuple[int, tuple[Recorded, ...]]]:
        consumer = self._client()
        self._seek(consumer, log.place, records[0])
        wanted = set(records)
        found: list[tuple[int, tuple[Recorded, ...]]] = []
        size, deadline = 0, time.monotonic() + _PATIENCE_SECONDS
        while len(found) < len(records) and size < CHUNK_BYTES:
            if self._next > records[-1]:
                raise _changed(log, records[len(found)], "it is no longer there")
            if time.monotonic() > deadline:
                raise JournalUnavailable(f"Kafka does not give {log.place} offset {self._next}: try again")
            try:
                polled = consumer.poll(timeout_ms=500, max_records=records[-1] - self._next + 1)
            except OffsetOutOfRangeError as error:
                raise _changed(log, self._next, "it is no longer there") from error
            for record in polled.get(log.place, ()):
                self._next = record.offset + 1
                if record.offset in wanted:
                    events = log.checked(RawRecord(record.offset, record.headers, record.value), stream)
                    if events is None:
                        raise _changed(log, record.offset, "it is not the record that was read here before")
                    found.append((record.offset, events))
                    size += len(record.value)
        return found

    def _seek(self, consumer: KafkaConsumer, place: TopicPartition, record: int) -> None:
        if self._place != place:
            consumer.assign([place])
            self._place, self._next = place, -1
        if self._next != record:
            consumer.seek(place, record)
            self._next = record


def _changed(log: PartitionLog, record: int, reason: str) -> JournalError:
    if log.distrust(f"record {record}: {reason}"):
        return JournalUnavailable(f"{log.place} is read anew, because its snapshot was wrong: try again")
    return PartitionStopped(log.place.topic, log.place.partition, record, Damage.EDITED, reason)

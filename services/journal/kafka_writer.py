"""The thread that owns the producer: group commit for every partition, one record of each on its way at a time.

What arrives while a partition's record is on its way goes into its next. Promises: an append is answered only when
its record is durable in its place (`kafka_tenure`); nobody waits for ever; what waits is bounded. After a failure the
producer is dropped with whatever it still tries: under an older claim that counts for nobody. Does not read the log.
"""

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from kafka import KafkaProducer
from kafka.errors import KafkaError

from services.journal.commits import CommitObserver, nobody
from services.journal.errors import EventRefused, JournalClosed, JournalOverloaded, JournalUnavailable
from services.journal.kafka_cluster import MAX_RECORD_BYTES, Cluster
from services.journal.kafka_commit import Answers, Append, deliver
from services.journal.kafka_partition import PartitionLog
from services.journal.kafka_records import Headers
from services.journal.kafka_tenure import Flight, Tenure
from services.journal.port import MAX_EVENT_BYTES, NewEvent, Recorded
from services.runtime.clock import Clock
from services.wire.batch import Claim

MAX_QUEUED_EVENTS = 20_000
MAX_QUEUED_BYTES = 128 * 1024 * 1024
"""What may wait for the writer thread; beyond it an append is refused at once with JournalOverloaded."""
_EVENT_OVERHEAD_BYTES = 1_024
"""Counted for each queued event besides its payload; an envelope's other fields cannot take more but for odd names."""
SURE_FOR_SECONDS = 1.0
"""For how long a look at the log's end counts. Far less than a group's session timeout, so that a process that still takes
part has lost nothing unseen; one that was paused looks again before it answers."""
_TICK_SECONDS = 1.0
_GRACE_SECONDS = 4.0
"""How much longer than its delivery timeout the client library may take to tell that a record failed."""


@dataclass(frozen=True, slots=True)
class _Landed:
    flight: Flight
    offset: int


@dataclass(frozen=True, slots=True)
class _Failed:
    flight: Flight
    error: BaseException


@dataclass(frozen=True, slots=True)
class _Wanted:
    number: int
    waiter: Future[None]


@dataclass(frozen=True, slots=True)
class _Progress:
    number: int


@dataclass(frozen=True, slots=True)
class _Released:
    number: int


_Message = tuple[int, Append] | _Landed | _Failed | _Wanted | _Progress | _Released | None


class KafkaWriter:
    """Owns the tenures of the partitions; `submit` and `claim` are for event loops, the rest runs in the thread."""

    def __init__(
        self,
        cluster: Cluster,
        logs: Mapping[int, PartitionLog],
        make_claim: Callable[[], Claim],
        clock: Clock,
        committed: Callable[[], None],
    ) -> None:
        """Start the thread; `committed` is called in it after every durable commit."""
        self._cluster = cluster
        self._tenures = {number: Tenure(log, make_claim, clock.now_us) for number, log in logs.items()}
        self._committed = committed
        self._producer: KafkaProducer | None = None
        self._dropped: list[KafkaProducer] = []
        self._queue: queue.SimpleQueue[_Message] = queue.SimpleQueue()
        self._gauge = threading.Lock()
        self._queued_events = 0
        self._queued_bytes = 0
        self._closing = False
        self.observe: CommitObserver = nobody
        self._thread = threading.Thread(target=self._run, name="journal-writer", daemon=True)
        self._thread.start()

    def submit(
        self, number: int, stream: str, expected_sequence: int, events: Sequence[NewEvent]
    ) -> asyncio.Future[tuple[Recorded, ...]]:
        """Queue one append to a partition and return its answer to come; never blocks.

        Raises EventRefused, JournalOverloaded, JournalClosed before anything is queued.
        """
        size = 0
        for event in events:
            if len(event.payload) > MAX_EVENT_BYTES - _EVENT_OVERHEAD_BYTES:
                raise EventRefused(f"a payload of {len(event.payload)} bytes is over the limit of {MAX_EVENT_BYTES}")
            size += len(event.payload) + _EVENT_OVERHEAD_BYTES
        if size > MAX_RECORD_BYTES:
            raise EventRefused(f"an append of {size} bytes is over the limit of {MAX_RECORD_BYTES} of one record")
        answer: asyncio.Future[tuple[Recorded, ...]] = asyncio.get_running_loop().create_future()
        with self._gauge:
            if self._closing:
                raise JournalClosed("the journal is closed")
            full = self._queued_events + len(events) > MAX_QUEUED_EVENTS or self._queued_bytes + size > MAX_QUEUED_BYTES
            if full and self._queued_events:
                raise JournalOverloaded(
                    f"{self._queued_events} events ({self._queued_bytes} bytes) wait for the broker; nothing of this"
                    " append was written, send it again in a moment"
                )
            self._queued_events += len(events)
            self._queued_bytes += size
            self._queue.put((number, Append(stream, expected_sequence, tuple(events), size, answer)))
        return answer

    async def claim(self, numbers: Iterable[int]) -> None:
        """Make the partitions this process's own; raises JournalUnavailable, PartitionStopped, JournalClosed."""
        waiters = []
        with self._gauge:
            if self._closing:
                raise JournalClosed("the journal is closed")
            for number in numbers:
                waiter: Future[None] = Future()
                waiters.append(waiter)
                self._queue.put(_Wanted(number, waiter))
        done = await asyncio.gather(*map(asyncio.wrap_future, waiters), return_exceptions=True)
        for error in done:
            if isinstance(error, BaseException):
                raise error

    def progressed(self, logs: Sequence[PartitionLog]) -> None:
        """Hear from the follower that partitions have moved on; only what a tenure waits for goes into its thread."""
        for log in logs:
            tenure = self._tenures[log.number]
            if tenure.is_busy and (tenure.flight is None or log.failure is not None):
                self._queue.put(_Progress(log.number))

    def release(self, numbers: Iterable[int]) -> None:
        """Write these partitions no longer; what was queued is answered with PartitionNotOwned. Never blocks."""
        for number in numbers:
            self._queue.put(_Released(number))

    def owned(self, number: int) -> int | None:
        """The claim's epoch if this process writes the partition now, as far as it has read it, else None.

        After a record of unknown outcome it does not, until it has claimed anew.
        """
        tenure = self._tenures[number]
        epoch = tenure.epoch
        return epoch if tenure.is_owned else None

    def is_sure(self, number: int) -> bool:
        """Whether this process owns the partition and the broker has shown so within the last SURE_FOR_SECONDS.

        A process that was paused or cut off does not know what happened meanwhile until it has looked again.
        """
        tenure = self._tenures[number]
        return tenure.is_owned and time.monotonic() - tenure.sure_s < SURE_FOR_SECONDS

    def seen(self, numbers: Iterable[int], began_s: float) -> None:
        """Note that all of the partitions that was there at monotonic time `began_s` has been read."""
        for number in numbers:
            tenure = self._tenures[number]
            tenure.sure_s = max(tenure.sure_s, began_s)

    def epoch(self, number: int) -> int:
        """The claim's offset of the present tenure; raises PartitionNotOwned, or JournalUnavailable while it begins."""
        tenure = self._tenures[number]
        if tenure.is_latest:
            return tenure.epoch
        if tenure.is_coming:
            raise JournalUnavailable(f"{tenure.log.place} is being taken over by this process: ask again in a moment")
        raise tenure.not_owned()

    def close(self) -> None:
        """Write what is queued and end the thread. Blocks; call it off the event loop."""
        with self._gauge:
            if not self._closing:
                self._closing = True
                self._queue.put(None)
        self._thread.join()

    # --- in the thread ----------------------------------------------------------------------------------------------

    def _run(self) -> None:
        stopping = False
        while not (stopping and not any(tenure.is_busy for tenure in self._tenures.values())):
            messages = self._take()
            stopping = stopping or None in messages
            try:
                touched = {self._handle(message) for message in messages if message is not None}
                touched |= self._overdue()
                if not messages:
                    touched |= {number for number, tenure in self._tenures.items() if tenure.is_busy}
                for number in touched:
                    self._deliver(self._tenures[number].advance(self._send))
            except Exception as error:  # noqa: BLE001 - whatever it is, nobody may be left waiting for an answer
                self._break_all(JournalUnavailable(f"the writer failed ({type(error).__name__}: {error})"))
            if stopping:
                self._refuse_what_cannot_be_finished()
            self._close_dropped(wait=False)
        self._drop_producer()
        self._close_dropped(wait=True)

    def _take(self) -> list[_Message]:
        """Wait for one message or the tick, then take all that is queued."""
        messages: list[_Message] = []
        with contextlib.suppress(queue.Empty):
            messages.append(self._queue.get(timeout=_TICK_SECONDS))
            while True:
                messages.append(self._queue.get_nowait())
        return messages

    def _handle(self, message: "tuple[int, Append] | _Landed | _Failed | _Wanted | _Progress | _Released") -> int:
        match message:
            case (number, append):
                self._tenures[number].pending.append(append)
                return number
            case _Landed(flight, offset):
                tenure = self._tenures[flight.number]
                if tenure.flight is flight:
                    commit = flight.commit
                    if commit is not None and commit.record == offset:
                        self.observe(len(commit.recorded), commit.size, time.monotonic() - flight.began_s)
                    self._deliver(tenure.landed(offset))
                    self._committed()
                return flight.number
            case _Failed(flight, error):
                tenure = self._tenures[flight.number]
                if tenure.flight is flight:
                    # Never abort and go on: this producer's numbering and ours may differ from here on.
                    self._drop_producer()
                    self._deliver(tenure.failed(self._cluster.explained(error)))
                return flight.number
            case _Wanted(number, waiter):
                self._tenures[number].waiters.append(waiter)
                return number
            case _Released(number):
                self._deliver(self._tenures[number].release())
                return number
            case _Progress(number):
                return number

    def _send(self, flight: Flight, value: bytes, headers: Headers) -> None:
        flight.began_s = time.monotonic()
        place = self._tenures[flight.number].log.place
        try:
            if self._producer is None:
                self._producer = self._cluster.producer()
            sent: Any = self._producer.send(place.topic, value, headers=headers, partition=place.partition)
        except (KafkaError, JournalUnavailable, OSError) as error:
            self._queue.put(_Failed(flight, error.__cause__ or error))
            return
        sent.add_callback(lambda metadata: self._queue.put(_Landed(flight, metadata.offset)))
        sent.add_errback(lambda error: self._queue.put(_Failed(flight, error)))

    def _overdue(self) -> set[int]:
        """End the tenures whose record the client library seems to have forgotten."""
        patience = self._cluster.delivery_timeout_ms / 1000 + _GRACE_SECONDS
        overdue = set()
        for number, tenure in self._tenures.items():
            if tenure.flight is not None and time.monotonic() - tenure.flight.began_s > patience:
                self._drop_producer()
                self._deliver(tenure.failed(self._cluster.explained(TimeoutError("no answer from the client"))))
                overdue.add(number)
        return overdue

    def _refuse_what_cannot_be_finished(self) -> None:
        """When closing: what is on its way is waited for, what would need a new claim is not."""
        for tenure in self._tenures.values():
            if tenure.flight is None and tenure.is_busy:
                self._deliver(tenure.refuse(JournalClosed("the journal was closed; nothing of this was written")))

    def _break_all(self, failure: JournalUnavailable) -> None:
        self._drop_producer()
        for tenure in self._tenures.values():
            if tenure.is_busy:
                self._deliver(tenure.failed(failure))

    def _deliver(self, answers: Answers) -> None:
        if not answers:
            return
        with self._gauge:
            self._queued_events -= sum(len(append.events) for append, _ in answers)
            self._queued_bytes -= sum(append.size for append, _ in answers)
        deliver(answers)

    def _drop_producer(self) -> None:
        """End the producer at once with all it has on its way; each such record comes back as failed."""
        producer, self._producer = self._producer, None
        if producer is not None:
            # close(timeout=0) gives up with a timeout before it stops the sending thread, which would go on retrying.
            producer._sender.force_close()  # noqa: SLF001 - the library has no public way to stop at once
            self._dropped.append(producer)

    def _close_dropped(self, *, wait: bool) -> None:
        """Release what dropped producers still hold, once their sending thread has ended; `wait` for that a little."""
        kept = []
        for producer in self._dropped:
            sender = producer._sender  # noqa: SLF001 - as above
            if wait:
                sender.join(_GRACE_SECONDS)
            if sender.is_alive():
                kept.append(producer)
                continue
            with contextlib.suppress(KafkaError):
                producer.close(timeout=0)
        self._dropped = kept

"""One partition as its log tells it: who may write, where each stream stands, which records count.

This is the one reader of DESIGN §4. Promises: whoever takes the same records comes to the same verdict. A batch whose
claim is not the latest before it is void, and counted. The same events once more are duplicates, and counted.
Anything else that does not continue its streams stops the partition for good, by name. Keeps per stream its head,
where its events lie, and eight bytes of each event's hash; the newest records are kept whole up to a bound. What it knows
can be cut as a snapshot and resumed from one; at the first doubt about that (`distrust`, or whatever would stop it) it
forgets all and asks to be fed from the beginning, so that a snapshot can cost time and nothing else. Does not talk to Kafka.
"""

import threading
from array import array
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise

from kafka import TopicPartition

from services.journal.chain import hash_of
from services.journal.errors import EventRefused
from services.journal.findings import Damage
from services.journal.kafka_errors import PartitionStopped
from services.journal.kafka_layout import Layout, offset_of
from services.journal.kafka_records import RawRecord, Reading, read_record
from services.journal.kafka_stream_index import IndexMark, StreamIndex
from services.journal.port import Position, Recorded, StreamHead
from services.wire.batch import Claim
from services.wire.envelope import NO_HASH, Envelope
from services.wire.partition_snapshot import Origin, PartitionSnapshot

RECENT_BYTES = 4 * 1024 * 1024
"""How much of the newest records each partition keeps in memory, so that live subscriptions need not fetch them again."""
_NO_CLAIM = -1


@dataclass(slots=True)
class Counts:
    """What was met in a partition; each only grows."""

    events: int = 0
    batches: int = 0
    claims: int = 0
    void: int = 0
    duplicate: int = 0


@dataclass(frozen=True, slots=True)
class OwnBatch:
    """A batch that this process made after everything in the log, to lie at `record`; its value, events, hashes.

    `generation` is the log's when it was made: what was made of a log that has begun anew since must be read like any other.
    """

    generation: int
    record: int
    claim: int
    value: bytes
    recorded: Sequence[Recorded]
    hashes: Sequence[bytes]


class PartitionLog:
    """Feed it every record in order with `take`. Safe to use from several threads; each record is taken once."""

    def __init__(self, layout: Layout, number: int) -> None:
        self.number = number
        self.place: TopicPartition = layout.kafka_partition(number)
        self.generation = 0
        """Grows each time all is forgotten."""
        self.needs_rewind = False
        """Whether nothing is taken until somebody feeds it from the beginning and says so with `rewound`."""
        self.events_read = 0
        """Events read out of the log by this process, its own writes not counted; only grows."""
        self._layout = layout
        self._lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self.counts = Counts()
        self.next_record = 0
        self.end = 0
        self.claim_offset = _NO_CLAIM
        self.claim: Claim | None = None
        self.failure: PartitionStopped | None = None
        self._streams: dict[str, StreamIndex] = {}
        self._batches: array[int] = array("q")
        self._recent: dict[int, tuple[Recorded, ...]] = {}
        self._recent_bytes = 0
        self._own: OwnBatch | None = None
        self._last_value = b""
        self._unproved = b""
        self._doubted: Callable[[str], None] | None = None

    # --- snapshots --------------------------------------------------------------------------------------------------

    @property
    def first_to_read(self) -> int:
        """Where to begin reading: at the last record of the snapshot when there is one, to compare it."""
        return self.next_record - 1 if self._unproved else self.next_record

    @property
    def is_proved(self) -> bool:
        """Whether what it knows was read by this process, or its last record compared with the log."""
        return not self._unproved and not self.needs_rewind

    def resume(self, snapshot: PartitionSnapshot, doubted: Callable[[str], None]) -> None:
        """Begin where the snapshot ends, before anything is taken; `doubted` hears why if it turns out not to fit."""
        with self._lock:
            self.counts = Counts(
                snapshot.events, len(snapshot.batches), snapshot.claims, snapshot.void, snapshot.duplicate
            )
            self.next_record, self.end = snapshot.next_record, snapshot.end
            self.claim_offset, self.claim = snapshot.claim_offset, snapshot.claim
            self._streams = {part.name: StreamIndex.resumed(part) for part in snapshot.streams}
            self._batches = snapshot.batches
            self._unproved = snapshot.last_value_hash
            self._doubted = doubted

    def cut(self, origin: Origin) -> PartitionSnapshot | None:
        """What it knows now; None while there is nothing, or nothing to rely on. Holds others up for the heads only."""
        with self._lock:
            if self.failure is not None or not self.is_proved or not self.next_record or not self._last_value:
                return None
            marks = [IndexMark.of(name, index) for name, index in self._streams.items()]
            counts, batches, count = self.counts, self._batches, len(self._batches)
            last_value, next_record, end = self._last_value, self.next_record, self.end
            claim_offset, claim = self.claim_offset, self.claim
            events, claims, void, duplicate = counts.events, counts.claims, counts.void, counts.duplicate
        return PartitionSnapshot(
            origin,
            next_record,
            sha256(last_value).digest(),
            end,
            claim_offset,
            claim,
            events,
            claims,
            void,
            duplicate,
            batches[:count],
            tuple(mark.part() for mark in marks),
        )

    def distrust(self, reason: str) -> bool:
        """Forget what came out of a snapshot and read anew; False when all was read from the log."""
        with self._lock:
            return self._start_again(reason)

    def rewound(self) -> None:
        """Hear that from now on it is fed from the beginning."""
        with self._lock:
            self.needs_rewind = False

    def _start_again(self, reason: str) -> bool:
        doubted = self._doubted
        if doubted is None:
            return False
        self._begin()
        self.generation += 1
        self.needs_rewind = True
        doubted(reason)
        return True

    def _prove(self, raw: RawRecord) -> None:
        with self._lock:
            if raw.offset == self.next_record - 1 and sha256(raw.value or b"").digest() == self._unproved:
                self._unproved, self._last_value = b"", raw.value or b""
            else:
                self._start_again(f"record {self.next_record - 1} of the log is not the one it ends with")

    # --- taking records ---------------------------------------------------------------------------------------------

    def take(self, raw: RawRecord) -> None:
        """Take the record, unless it is known already; sets `failure` when it must not be there."""
        if not self._goes_on():
            return
        if self._unproved and raw.offset >= self.next_record - 1:
            self._prove(raw)
            return
        if raw.offset < self.next_record:
            return
        # Decoded before the lock is taken: an event loop may wait for it. What this process wrote is known without decoding.
        own, generation = self._own, self.generation
        is_own = own is not None and own.record == raw.offset and own.value == raw.value
        reading = Reading() if is_own else read_record(raw)
        with self._lock:
            if raw.offset < self.next_record or generation != self.generation:
                return
            if raw.offset > self.next_record:
                reason = (
                    f"offsets {self.next_record} to {raw.offset - 1} are gone: deleted, compacted or a transaction's"
                )
                self._stop(raw.offset, Damage.MISSING, reason)
                return
            if is_own and own is not None:
                self._take_own(own)
            else:
                self._take(raw, reading)
                self.events_read += len(reading.envelopes)
            if self._goes_on():
                self.next_record = raw.offset + 1
                self._last_value = raw.value or b""

    def _goes_on(self) -> bool:
        return self.failure is None and not self.needs_rewind

    def expect_own(self, own: OwnBatch) -> None:
        """Hear what this process is about to write after the last record; the one before it is forgotten."""
        if own.generation == self.generation:
            self._own = own

    def take_own(self, own: OwnBatch) -> None:
        """Take a batch that this process wrote and the broker acknowledged in its place."""
        with self._lock:
            if own.generation == self.generation and own.record == self.next_record and self.failure is None:
                self._take_own(own)
                self.next_record = own.record + 1
                self._last_value = own.value

    def _take_own(self, own: OwnBatch) -> None:
        if own.claim == self.claim_offset:
            self._keep(own.record, own.recorded, own.hashes)
        else:
            self.counts.void += 1

    def stop(self, offset: int, kind: Damage, reason: str, *, unread: bool = False) -> bool:
        """Stop the partition for a reason that lies outside its records; `unread` when nobody is left to read it anew.

        Returns whether it stands: what came out of a snapshot is read anew first.
        """
        with self._lock:
            if unread:
                self._doubted = None
            self._stop(offset, kind, reason)
            return self.failure is not None

    def _take(self, raw: RawRecord, reading: Reading) -> None:
        if reading.complaint:
            self._stop(raw.offset, Damage.UNREADABLE, reading.complaint)
        elif reading.claim is not None:
            self.claim_offset, self.claim = raw.offset, reading.claim
            self.counts.claims += 1
        elif reading.batch_claim != self.claim_offset:
            self.counts.void += 1
        else:
            self._take_batch(raw.offset, reading.envelopes, reading.stored)

    def _take_batch(self, record: int, envelopes: Sequence[Envelope], stored: Sequence[bytes]) -> None:
        hashes = [hash_of(one) for one in stored]
        if all(self._knows(envelope, one) for envelope, one in zip(envelopes, hashes, strict=True)):
            self.counts.duplicate += 1
            return
        heads: dict[str, tuple[int, bytes]] = {}
        recorded = []
        for at, envelope in enumerate(envelopes):
            complaint = self._complaint(envelope, heads)
            if complaint is not None:
                self._stop(record, *complaint)
                return
            heads[envelope.stream] = envelope.sequence, hashes[at]
            recorded.append(Recorded(Position(self.number, offset_of(record, at + 1)), envelope, stored[at]))
        self._keep(record, recorded, hashes)

    def _knows(self, envelope: Envelope, event_hash: bytes) -> bool:
        index = self._streams.get(envelope.stream)
        return index is not None and index.has(envelope.sequence, event_hash)

    def _complaint(self, envelope: Envelope, heads: dict[str, tuple[int, bytes]]) -> tuple[Damage, str] | None:
        """What is wrong with an event as the next of its stream; None when nothing is."""
        name = f"{envelope.stream} {envelope.sequence}"
        index = self._streams.get(envelope.stream)
        sequence, head = heads.get(envelope.stream) or ((index.sequence, index.hash) if index else (0, NO_HASH))
        if envelope.writer_epoch != self.claim_offset:
            return Damage.EDITED, f"{name} was written under claim {envelope.writer_epoch}, its batch under another"
        if index is None and not self._belongs(envelope.stream):
            return Damage.UNREADABLE, f"{name} does not belong into this partition: a foreign producer"
        if envelope.sequence > sequence + 1:
            return Damage.MISSING, f"{name} follows {sequence}: there is a gap"
        if envelope.sequence <= sequence:
            return Damage.FORKED, f"another event is {name} already: two writers, or a second history"
        if envelope.previous_hash != head:
            return Damage.EDITED, f"{name} does not carry the hash of the event before it"
        return None

    def _belongs(self, stream: str) -> bool:
        try:
            return self._layout.partition_of(stream) == self.number
        except EventRefused:
            return False

    def _keep(self, record: int, recorded: Sequence[Recorded], hashes: Sequence[bytes]) -> None:
        """Add a batch whose events are known to continue their streams; each stream's events may lie apart in it."""
        by_stream: dict[str, tuple[int, list[bytes]]] = {}
        for one, event_hash in zip(recorded, hashes, strict=True):
            envelope = one.envelope
            by_stream.setdefault(envelope.stream, (envelope.sequence, []))[1].append(event_hash)
        for stream, (first, its_hashes) in by_stream.items():
            index = self._streams.get(stream)
            if index is None:
                index = self._streams[stream] = StreamIndex()
            index.extend(record, first, its_hashes)
        self._batches.append(record)
        self.end = recorded[-1].position.offset
        self.counts.events += len(recorded)
        self.counts.batches += 1
        self._recent[record] = tuple(recorded)
        self._recent_bytes += sum(len(one.stored) for one in recorded)
        while self._recent_bytes > RECENT_BYTES and len(self._recent) > 1:
            dropped = self._recent.pop(next(iter(self._recent)))
            self._recent_bytes -= sum(len(one.stored) for one in dropped)

    def _stop(self, offset: int, kind: Damage, reason: str) -> None:
        if self.failure is None and not self._start_again(f"with it, the log stops at record {offset}: {reason}"):
            self.failure = PartitionStopped(self.place.topic, self.place.partition, offset, kind, reason)

    # --- asking -----------------------------------------------------------------------------------------------------

    def head(self, stream: str) -> tuple[int, bytes]:
        """The stream's last sequence and hash; 0 and NO_HASH when there is no such stream."""
        with self._lock:
            index = self._streams.get(stream)
            return (index.sequence, index.hash) if index else (0, NO_HASH)

    def heads(self) -> list[StreamHead]:
        """The head of every stream."""
        with self._lock:
            return [StreamHead(name, index.sequence, index.hash) for name, index in self._streams.items()]

    def records_of(self, stream: str, after_sequence: int, limit: int) -> list[int]:
        """The first records, at most `limit`, that hold events of the stream after that sequence."""
        with self._lock:
            index = self._streams.get(stream)
            return [] if index is None else index.records_after(after_sequence, limit)

    def before_what_follows(self, given: Mapping[str, int]) -> int:
        """An offset after which all events lie that follow these sequences of their streams; the end when there are none."""
        with self._lock:
            behind = [name for name, index in self._streams.items() if index.sequence > given.get(name, 0)]
            end = self.end
        first = [self.records_of(name, given.get(name, 0), 1)[0] for name in behind]
        return offset_of(min(first), 0) if first else end

    def records_from(self, record: int, limit: int) -> list[int]:
        """The first records that count at or after Kafka's offset `record`, at most `limit`."""
        with self._lock:
            start = bisect_left(self._batches, record)
            return list(self._batches[start : start + limit])

    def recent(self, record: int) -> tuple[Recorded, ...] | None:
        """The events of a record that is still in memory."""
        with self._lock:
            return self._recent.get(record)

    def records_with(self, after: Mapping[str, int]) -> list[int]:
        """All records that hold events of these streams after those sequences, in log order."""
        with self._lock:
            records: set[int] = set()
            for stream, sequence in after.items():
                index = self._streams.get(stream)
                if index is not None:
                    records.update(index.records_after(sequence, len(index.records)))
            return sorted(records)

    def checked(self, raw: RawRecord, stream: str = "") -> tuple[Recorded, ...] | None:
        """The events of a record that was taken before and is read again; None when they are not what was taken.

        With a stream named, only its events are decoded and given: a record holds those of many.
        """
        reading = read_record(raw, stream)
        if reading.complaint or reading.claim is not None:
            return None
        with self._lock:
            known = all(self._knows(e, hash_of(s)) for e, s in zip(reading.envelopes, reading.stored, strict=True))
            index = self._streams.get(stream)
            missed = bool(stream) and (index is None or index.count_in(raw.offset) != len(reading.stored))
        if missed:
            # Stored in another order of fields than this version writes; never yet, but allowed.
            return self.checked(raw)
        if not known:
            return None
        return tuple(
            Recorded(Position(self.number, offset_of(raw.offset, at)), envelope, stored)
            for at, envelope, stored in zip(reading.numbers, reading.envelopes, reading.stored, strict=True)
        )


def near_each_other(records: Sequence[int], furthest: int) -> list[int]:
    """The records up to the first that lies further than `furthest` from the one before it: worth one reading."""
    for at, (before, record) in enumerate(pairwise(records), 1):
        if record - before > furthest:
            return list(records[:at])
    return list(records)

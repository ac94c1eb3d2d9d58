"""The journal's port: what every adapter promises. `tests/contract/journal_suite.py` holds each adapter to it.

A journal has one or more partitions; a stream lies in one of them. Offsets count up inside a partition, in log order.
Order between partitions is not defined; order inside a stream is by sequence, never by time (DESIGN §3).
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from services.game.authority import Actor, EventId
from services.game.record import Record
from services.journal.chain import hash_of
from services.wire.envelope import Envelope

MAX_EVENT_BYTES = 8 * 1024 * 1024
"""The largest stored event; a larger one is refused with EventRefused."""


class NewEvent(Record, frozen=True):
    """What a caller wants stored.

    The journal adds stream, sequence, recorded_time_us, writer_epoch and previous_hash; the ranges are those of
    `Envelope`.
    """

    type: str
    schema_version: int
    payload: bytes
    occurred_time_us: int
    actor: Actor
    request_id: str
    request_digest: bytes
    cause: EventId | None
    round_id: str
    gaming_day: str


class Position(NamedTuple):
    """Where an event lies in the log. Compare offsets only inside one partition."""

    partition: int
    offset: int


class Recorded(Record, frozen=True):
    """One stored event: where it lies, what it says, and exactly the bytes that are stored."""

    position: Position
    envelope: Envelope
    stored: bytes

    @property
    def hash(self) -> bytes:
        """SHA-256 of the stored bytes, which the stream's next event carries."""
        return hash_of(self.stored)


@dataclass(frozen=True, slots=True)
class StreamHead:
    """A stream's last event; `sequence` is at least 1."""

    stream: str
    sequence: int
    hash: bytes


class Journal(Protocol):
    """The immutable record. Safe to use from many tasks of one event loop; no method blocks the loop."""

    async def append(self, stream: str, expected_sequence: int, events: Sequence[NewEvent]) -> tuple[Recorded, ...]:
        """Store the events of one command; durable on disk when this returns, and visible to every reader.

        All of them or none. `expected_sequence` is the stream's last sequence that the decision saw, 0 for a new
        stream. Raises SequenceConflict (nothing written), EventRefused (nothing written), JournalOverloaded (nothing
        written) or JournalUnavailable (outcome unknown if the append was under way; ask again with the same request
        id). A cancelled append may still be written. An empty `events` writes nothing and only checks
        `expected_sequence`.
        """
        ...

    def read(self, stream: str, after_sequence: int = 0) -> AsyncIterator[Recorded]:
        """Give the stream's events after that sequence in order, up to its end when the reading gets there.

        An unknown stream is an empty one. Every event's hash and its link to the one before are checked.
        Raises JournalDamaged at the first event that is not what was written, JournalUnavailable.
        """
        ...

    def replay(self, after: Mapping[str, int]) -> AsyncIterator[Recorded]:
        """Give the events of these streams after those sequences, up to the journal's end when the reading gets there.

        Each stream's in order, with the checks of `read`; order between streams is not defined. Costs one passage over what
        the streams share, where reading them one after the other would cost as many as there are streams.
        Raises JournalDamaged, JournalUnavailable.
        """
        ...

    def subscribe(self, after: Mapping[int, int]) -> AsyncIterator[Recorded]:
        """Give the events of every stream after the given offset of each partition, then live; absent = from the start.

        Log order inside each partition, each event once, for ever; memory stays bounded however long the backlog is.
        Closing the iterator ends it. Raises PositionBeyondEnd, JournalDamaged, JournalUnavailable.
        """
        ...

    async def end(self) -> Mapping[int, int]:
        """Return the last offset of each partition; 0 (sqlite) or the offset before the first (others) when empty."""
        ...

    async def streams(self) -> Sequence[StreamHead]:
        """Return the head of every stream, by name."""
        ...

    async def tenure(self, stream: str) -> int:
        """Return the number of this process's present time as the stream's writer, at least 0.

        A state kept in memory holds only as long as this number stays the same: another one means that somebody else may
        have written in between. It says what was so at some moment of the last second, or later. Raises JournalUnavailable
        when this process is not the writer (which kind says whose the stream is), or cannot tell.
        """
        ...

    async def close(self) -> None:
        """Finish what is queued, then release everything. Closing twice is fine; later calls raise JournalClosed."""
        ...

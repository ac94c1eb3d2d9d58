"""Events get their place: sequence, offset, hash and bytes, before they are on their way to the disk.

Owns the heads of all streams as they will be once everything staged is stored. Promises: an append is staged whole or not at
all, on top of what was staged before it; so appends can be staged faster than the disk takes them, and their order is fixed
here. Does not store anything. When storing fails, what is staged is worthless and the journal must be opened again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from services.game.authority import EventId
from services.journal.chaining import chained
from services.journal.errors import EventRefused, SequenceConflict
from services.journal.port import NewEvent, Position, Recorded
from services.runtime.clock import Clock
from services.wire.envelope import NO_HASH

EventRow = tuple[int, int, int, bytes, bytes]
"""Offset, stream number, sequence, hash, stored bytes."""

# A named tuple made as the tuple it is, in half the time.
_position = partial(tuple.__new__, Position)


@dataclass(frozen=True, slots=True)
class Head:
    """A stream's last event, and the number that stands for the stream's name in the rows."""

    number: int
    sequence: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class Staged:
    """One append, ready to be stored: its rows, the head that its stream will have, and what its caller will be given."""

    stream: str
    head: Head
    rows: list[EventRow]
    recorded: tuple[Recorded, ...]


class Staging:
    """The next place in the log and in every stream."""

    def __init__(self, heads: dict[str, Head], offset: int, epoch: int, clock: Clock) -> None:
        """Go on after the stored `heads` and `offset`; `epoch` and the clock's time are written into each event."""
        self._heads = heads
        self._next_number = max((head.number for head in heads.values()), default=0) + 1
        self._offset = offset
        self._epoch = epoch
        self._clock = clock

    def stage(self, stream: str, expected_sequence: int, events: Sequence[NewEvent]) -> Staged | None:
        """Give one append its place; None when there are no events to place.

        Raises SequenceConflict, or EventRefused for an event that breaks a range or names a cause that never happened; then
        nothing is staged.
        """
        head = self._heads.get(stream) or Head(self._next_number, 0, NO_HASH)
        if expected_sequence != head.sequence:
            raise SequenceConflict(stream, expected_sequence, head.sequence)
        if not events:
            return None
        self._check_causes(stream, events)
        recorded: list[Recorded] = []
        rows: list[EventRow] = []
        offset = self._offset
        placed = chained(stream, (head.sequence, head.hash), events, self._clock.now_us(), self._epoch)
        for envelope, stored, event_hash in placed:
            offset += 1
            rows.append((offset, head.number, envelope.sequence, event_hash, stored))
            recorded.append(Recorded(_position((0, offset)), envelope, stored))
        head = self._heads[stream] = Head(head.number, recorded[-1].envelope.sequence, rows[-1][3])
        self._offset = offset
        self._next_number = max(self._next_number, head.number + 1)
        return Staged(stream, head, rows, tuple(recorded))

    def _check_causes(self, stream: str, events: Sequence[NewEvent]) -> None:
        """A cause in a stream that lies here must be there already: once stored, a false one would be a finding for ever.

        A cause in this very stream is checked by the envelope; one in a stream of another journal cannot be.
        """
        checked: EventId | None = None
        for event in events:
            cause = event.cause
            if cause is checked:
                continue
            checked = cause
            if cause is None or cause.stream == stream:
                continue
            head = self._heads.get(cause.stream)
            if head is not None and cause.sequence > head.sequence:
                raise EventRefused(f"{cause.stream!r} has {head.sequence} events: {cause.sequence} is no cause yet")

"""Where one stream's events lie in its partition, kept in memory: some ten bytes an event.

Only grows, so that a part of it can be copied while it does. Does not know records or Kafka.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from services.wire.envelope import NO_HASH
from services.wire.partition_snapshot import PREFIX_BYTES, StreamPart


@dataclass(slots=True)
class StreamIndex:
    """For each record with events of the stream the first of their sequences; and their hashes' prefixes."""

    sequence: int = 0
    hash: bytes = NO_HASH
    firsts: "array[int]" = field(default_factory=lambda: array("q"))
    records: "array[int]" = field(default_factory=lambda: array("q"))
    prefixes: bytearray = field(default_factory=bytearray)

    @classmethod
    def resumed(cls, part: StreamPart) -> "StreamIndex":
        """As it was cut."""
        return cls(part.sequence, part.hash, part.firsts, part.records, bytearray(part.prefixes))

    def has(self, sequence: int, event_hash: bytes) -> bool:
        """Whether the event with that sequence has that hash; all of it for the last event, its beginning for others."""
        if sequence == self.sequence:
            return event_hash == self.hash
        at = (sequence - 1) * PREFIX_BYTES
        return 0 <= at < len(self.prefixes) and self.prefixes[at : at + PREFIX_BYTES] == event_hash[:PREFIX_BYTES]

    def extend(self, record: int, first: int, hashes: Sequence[bytes]) -> None:
        """Take events that follow the head."""
        self.firsts.append(first)
        self.records.append(record)
        for event_hash in hashes:
            self.prefixes += event_hash[:PREFIX_BYTES]
        self.sequence = first + len(hashes) - 1
        self.hash = hashes[-1]

    def records_after(self, sequence: int, limit: int) -> list[int]:
        """The first records, at most `limit`, that hold events after that sequence."""
        if self.sequence <= sequence:
            return []
        start = max(bisect_right(self.firsts, sequence + 1) - 1, 0)
        return list(self.records[start : start + limit])

    def count_in(self, record: int) -> int:
        """How many events of the stream lie in that record."""
        at = bisect_left(self.records, record)
        if at == len(self.records) or self.records[at] != record:
            return 0
        after = self.firsts[at + 1] if at + 1 < len(self.firsts) else self.sequence + 1
        return after - self.firsts[at]


@dataclass(frozen=True, slots=True)
class IndexMark:
    """How far an index had come; `part` copies it up to there, even while it grows on."""

    name: str
    index: StreamIndex
    sequence: int
    hash: bytes
    entries: int

    @classmethod
    def of(cls, name: str, index: StreamIndex) -> "IndexMark":
        """Now."""
        return cls(name, index, index.sequence, index.hash, len(index.firsts))

    def part(self) -> StreamPart:
        """The index as it was then."""
        index = self.index
        return StreamPart(
            self.name,
            self.sequence,
            self.hash,
            index.firsts[: self.entries],
            index.records[: self.entries],
            bytes(index.prefixes[: self.sequence * PREFIX_BYTES]),
        )

"""One stream as a check of the whole log meets it: its order, its links, and who is to blame when a link is broken.

Owns the reasoning about one stream's chain. Promises: an untouched chain gives no finding, and a single change gives
findings that name the changed event, not its neighbours. Memory is 32 bytes an event. Does not read the log or decode.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from services.journal.findings import Damage, Finding
from services.wire.envelope import HASH_BYTES, NO_HASH


@dataclass(slots=True)
class Event:
    """An event as the walk needs it.

    `hash` is that of its bytes; `previous_hash` None when the bytes cannot be trusted to say it. `noted_hash` is what
    the journal noted for it, None when there is no such note; the two differ when one of them was changed.
    """

    stream: str
    sequence: int
    offset: int
    hash: bytes
    previous_hash: bytes | None
    noted_hash: bytes | None = None
    blamed: bool = False
    vouched: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether bytes and note agree, as far as there is a note."""
        return self.noted_hash is None or self.noted_hash == self.hash

    @property
    def written_hash(self) -> bytes:
        """The hash it was most likely written with."""
        return self.hash if self.noted_hash is None else self.noted_hash


@dataclass(slots=True)
class _Gap:
    """Sequences that were passed over; `next_previous` is the hash that the event after them carries."""

    first: int
    last: int
    next_previous: bytes | None


class StreamWalk:
    """Takes a stream's events in log order with `take`, then its recorded head with `finish`."""

    def __init__(self, stream: str) -> None:
        self.stream = stream
        self.sequence = 0
        self.missing = 0
        self._last: Event | None = None
        self._suspect: Event | None = None
        self._hashes = _Hashes()
        self._branches: dict[int, set[bytes]] = {}
        self._gaps: list[_Gap] = []
        self._arrivals: tuple[array[int], array[int]] | None = None
        self._late = False
        self._findings: list[Finding] = []

    def hash_at(self, sequence: int) -> bytes | None:
        """The hash of an event that was met, None when there was none."""
        return self._hashes.get(sequence)

    def take(self, event: Event) -> None:
        """Take the stream's next event in log order."""
        if event.sequence == self.sequence + 1:
            self._check_link(event)
            self._advance(event)
        elif event.sequence > self.sequence:
            self._settle_suspect(None)
            if self._arrivals is None:
                self._arrivals = array("q"), array("q")
            self._gaps.append(_Gap(self.sequence + 1, event.sequence - 1, event.previous_hash))
            self._advance(event)
        else:
            self._take_late(event)

    def finish(self, head: tuple[int, bytes] | None) -> Iterator[Finding]:
        """Give the findings, once the log has ended.

        `head` is the sequence and hash recorded for the stream's last event, None when none is recorded.
        """
        at_head = head is not None and head[0] == self.sequence
        self._settle_suspect(head[1] if head is not None and at_head else None)
        for gap in self._gaps:
            self.missing += gap.last - gap.first + 1
            reach = "is" if gap.first == gap.last else f"to {gap.last} are"
            self._report(Damage.MISSING, gap.first, 0, f"{reach} missing; the stream goes on after it")
        if self._late:
            self._report_swapped()
        if head is None:
            self._report(Damage.INDEX, self.sequence, 0, "no head is recorded for the stream")
        else:
            self._check_head(*head)
        yield from self._findings

    def _advance(self, event: Event) -> None:
        self._arrive(event)
        self._hashes.put(event.sequence, event.written_hash)
        self.sequence = event.sequence
        self._last = event

    def _check_link(self, event: Event) -> None:
        before, carried = self._last, event.previous_hash
        self._settle_suspect(carried)
        written = before.written_hash if before is not None else NO_HASH
        if carried is None or carried == written or carried in self._branches.get(self.sequence, ()):
            return
        if before is not None and not before.is_whole:
            # The bytes before were found changed already, unless this event vouches for them: then only the note is wrong.
            before.vouched = carried == before.hash
        elif before is not None and not before.blamed:
            self._suspect = event

    def _settle_suspect(self, carried: bytes | None) -> None:
        """Decide whose fault a broken link is, by the hash that the event after the second one carries.

        When that is the second one's hash, the second one is as it was written, so the first is not.
        """
        event, self._suspect = self._suspect, None
        if event is None:
            return
        if carried is not None and carried != event.hash:
            event.blamed = True
            self._report(
                Damage.EDITED, event.sequence, event.offset, "it does not carry the hash of the event before it"
            )
        else:
            reason = "the next event carries another hash: this is not the event that it was written after"
            self._report(Damage.EDITED, event.sequence - 1, 0, reason)

    def _take_late(self, event: Event) -> None:
        gap = next((gap for gap in self._gaps if gap.first <= event.sequence <= gap.last), None)
        if gap is not None:
            self._fill(gap, event)
            return
        if not event.is_whole:
            return  # reported as edited by whoever compared bytes and note
        known = self._hashes.get(event.sequence)
        if known == event.hash or event.hash in self._branches.get(event.sequence, ()):
            self._report(Damage.DUPLICATED, event.sequence, event.offset, "the same event is there once more")
        else:
            self._branches.setdefault(event.sequence, set()).add(event.hash)
            reason = "another event has this stream and sequence: two writers, or a second history"
            self._report(Damage.FORKED, event.sequence, event.offset, reason)

    def _fill(self, gap: _Gap, event: Event) -> None:
        self._late = True
        self._gaps.remove(gap)
        before = self._hashes.get(event.sequence - 1) if event.sequence > 1 else NO_HASH
        broken = before is not None and event.previous_hash not in {None, before}
        if event.sequence == gap.last and gap.next_previous is not None:
            broken = broken or gap.next_previous != event.written_hash
        if broken and event.is_whole:
            self._report(Damage.EDITED, event.sequence, event.offset, "it does not fit its neighbours' hashes")
        if gap.first < event.sequence:
            self._gaps.append(_Gap(gap.first, event.sequence - 1, event.previous_hash))
        if event.sequence < gap.last:
            self._gaps.append(_Gap(event.sequence + 1, gap.last, gap.next_previous))
        self._arrive(event)
        self._hashes.put(event.sequence, event.written_hash)

    def _arrive(self, event: Event) -> None:
        """Note the order of arrival, from the first gap on: before it there is nothing to be out of order."""
        if self._arrivals is not None:
            self._arrivals[0].append(event.sequence)
            self._arrivals[1].append(event.offset)

    def _report_swapped(self) -> None:
        """Of the events since the first gap, those whose rank in the log is not their rank by sequence."""
        sequences, offsets = self._arrivals or (array("q"), array("q"))
        for found, offset, due in zip(sequences, offsets, sorted(sequences), strict=True):
            if found != due:
                self._report(Damage.SWAPPED, found, offset, f"it stands in the log where sequence {due} belongs")

    def _check_head(self, sequence: int, head_hash: bytes) -> None:
        last = self._last
        if sequence > self.sequence:
            self.missing += sequence - self.sequence
            reason = f"the stream ends at {self.sequence}, but sequence {sequence} was acknowledged"
            self._report(Damage.TRUNCATED, self.sequence + 1, 0, reason)
        elif sequence < self.sequence:
            self._report(Damage.INDEX, self.sequence, 0, f"the recorded head is at sequence {sequence}")
        elif last is not None and head_hash != last.written_hash:
            if not last.is_whole:
                last.vouched = head_hash == last.hash
            elif not last.blamed and head_hash not in self._branches.get(sequence, ()):
                reason = "its hash is not the one recorded as the stream's head: the event was edited, or the head"
                self._report(Damage.EDITED, sequence, last.offset, reason)

    def _report(self, kind: Damage, sequence: int, offset: int, reason: str) -> None:
        self._findings.append(Finding(kind, self.stream, sequence, reason, offset))


class _Hashes:
    """Hashes by sequence, packed in runs; sequences mostly come in order."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._runs: list[bytearray] = []
        self._late: dict[int, bytes] = {}

    def put(self, sequence: int, event_hash: bytes) -> None:
        if self._runs and sequence == self._starts[-1] + len(self._runs[-1]) // HASH_BYTES:
            self._runs[-1] += event_hash
        elif not self._starts or sequence > self._starts[-1]:
            self._starts.append(sequence)
            self._runs.append(bytearray(event_hash))
        else:
            self._late[sequence] = event_hash

    def get(self, sequence: int) -> bytes | None:
        at = bisect_right(self._starts, sequence) - 1
        if at >= 0:
            start = (sequence - self._starts[at]) * HASH_BYTES
            found = self._runs[at][start : start + HASH_BYTES]
            if found:
                return bytes(found)
        return self._late.get(sequence)

"""The check of a whole log, row by row: bytes against notes, every stream's chain, streams against their heads.

Works on rows from anywhere, so that it serves every adapter and the tests that damage rows one byte at a time.
Promises: each change to a stored event is found and named by stream, sequence and kind. Does not read files.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from services.journal.chain import hash_of
from services.journal.findings import Damage, Finding, Observer
from services.journal.port import Position, Recorded, StreamHead
from services.journal.stream_walk import Event, StreamWalk
from services.wire.envelope import Envelope, EnvelopeInvalid, decode


@dataclass(frozen=True, slots=True)
class Note:
    """What a journal noted beside an event for finding it: derived data, checked against the event."""

    stream: str
    sequence: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class LogRow:
    """One row of the log; `note` is None where the adapter keeps none."""

    partition: int
    offset: int
    stored: bytes
    note: Note | None


@dataclass(slots=True)
class _Misfit:
    """A row whose note does not fit its bytes: by hash (`event` is where the note puts it), or by place alone."""

    event: Event
    envelope: Envelope | None
    unreadable: str


class LogWalk:
    """Feed it every row of the log in order with `take`, then the recorded heads with `finish`."""

    def __init__(self, observers: Sequence[Observer] = ()) -> None:
        self.events = 0
        self.readable_offset = 0
        self._observers = observers
        self._streams: dict[str, StreamWalk] = {}
        self._changed: list[_Misfit] = []
        self._misplaced: list[tuple[LogRow, Note, Envelope]] = []
        self._findings: list[Finding] = []
        self._holes = 0
        self._hole_ranges: list[str] = []

    @property
    def streams(self) -> int:
        """How many streams were met."""
        return len(self._streams)

    def take(self, row: LogRow) -> None:
        """Take the next row."""
        self._check_offset(row.offset)
        self.events += 1
        event_hash, note = hash_of(row.stored), row.note
        envelope, unreadable = _decoded(row.stored)
        if note is not None and note.hash != event_hash:
            event = Event(note.stream, note.sequence, row.offset, event_hash, None, note.hash)
            self._changed.append(_Misfit(event, envelope, unreadable))
        elif envelope is not None:
            event = Event(envelope.stream, envelope.sequence, row.offset, event_hash, envelope.previous_hash)
            if note is not None and (note.stream, note.sequence) != (envelope.stream, envelope.sequence):
                self._misplaced.append((row, note, envelope))
            recorded = Recorded(Position(row.partition, row.offset), envelope, row.stored)
            for observer in self._observers:
                observer.see(recorded)
        elif note is not None:
            event = Event(note.stream, note.sequence, row.offset, event_hash, None)
            self._report(Damage.UNREADABLE, note.stream, note.sequence, row.offset, unreadable)
        else:
            self._report(Damage.UNREADABLE, "", 0, row.offset, unreadable)
            return
        walk = self._streams.get(event.stream)
        if walk is None:
            walk = self._streams[event.stream] = StreamWalk(event.stream)
        walk.take(event)

    def finish(self, heads: Iterable[StreamHead]) -> tuple[Finding, ...]:
        """Return what is wrong, in log order where there is one; then, when nothing is, what the observers found."""
        recorded = {head.stream: (head.sequence, head.hash) for head in heads}
        missing = 0
        for name in sorted(self._streams.keys() | recorded.keys()):
            walk = self._streams.get(name) or StreamWalk(name)
            self._findings.extend(walk.finish(recorded.get(name)))
            missing += walk.missing
        self._findings.extend(self._explain_changed())
        self._findings.extend(self._explain_misplaced())
        if self._holes > missing:
            reason = f"no event stands at {', '.join(self._hole_ranges)}, and no stream's gap accounts for it"
            self._report(Damage.MISSING, "", 0, 0, reason)
        found = _once(self._findings)
        if not found:
            found = [finding for observer in self._observers for finding in observer.findings()]
        return tuple(found)

    def _check_offset(self, offset: int) -> None:
        due, self.readable_offset = self.readable_offset + 1, offset
        if offset != due:
            self._holes += offset - due
            if len(self._hole_ranges) < 10:
                self._hole_ranges.append(f"offset {due}" if offset == due + 1 else f"offsets {due} to {offset - 1}")

    def _explain_changed(self) -> Iterator[Finding]:
        """Name each row whose bytes do not have the hash noted for them."""
        noted: Mapping[bytes, Event] = {m.event.written_hash: m.event for m in self._changed}
        for misfit in self._changed:
            event, envelope = misfit.event, misfit.envelope
            other = noted.get(event.hash)
            if other is not None and other is not event:
                reason = f"its bytes are those of {other.stream} {other.sequence}, which stand here unchanged"
                yield self._found(Damage.SWAPPED, event, reason)
            elif event.vouched:
                yield self._found(Damage.INDEX, event, "the hash noted for it is not its own; the event is whole")
            elif envelope is not None and self._hash_of(envelope) == event.hash:
                reason = f"its bytes are {envelope.stream} {envelope.sequence} once more; the event itself is gone"
                yield self._found(Damage.DUPLICATED, event, reason)
            else:
                reason = "its bytes do not have the hash recorded for them"
                yield self._found(
                    Damage.EDITED, event, f"{reason}; {misfit.unreadable}" if misfit.unreadable else reason
                )

    def _hash_of(self, envelope: Envelope) -> bytes | None:
        walk = self._streams.get(envelope.stream)
        return walk.hash_at(envelope.sequence) if walk else None

    def _explain_misplaced(self) -> Iterator[Finding]:
        """Name each whole event that is noted under another identity than its own."""
        found = {(finding.stream, finding.sequence) for finding in self._findings}
        present = {(envelope.stream, envelope.sequence) for _, _, envelope in self._misplaced}
        for row, note, envelope in self._misplaced:
            if (envelope.stream, envelope.sequence) in found:
                continue  # the order of its stream has told about it already
            kind = Damage.SWAPPED if (note.stream, note.sequence) in present else Damage.INDEX
            reason = f"it is filed as {note.stream} {note.sequence}"
            yield Finding(kind, envelope.stream, envelope.sequence, reason, row.offset)

    def _found(self, kind: Damage, event: Event, reason: str) -> Finding:
        return Finding(kind, event.stream, event.sequence, reason, event.offset)

    def _report(self, kind: Damage, stream: str, sequence: int, offset: int, reason: str) -> None:
        self._findings.append(Finding(kind, stream, sequence, reason, offset))


def _decoded(stored: bytes) -> tuple[Envelope | None, str]:
    try:
        return decode(stored), ""
    except EnvelopeInvalid as error:
        return None, str(error)


def _once(findings: list[Finding]) -> list[Finding]:
    """Without findings that say the same of the same event, by stream and sequence."""
    found: dict[tuple[str, str, int], Finding] = {}
    for finding in findings:
        found.setdefault((finding.kind, finding.stream, finding.sequence), finding)
    return sorted(found.values(), key=lambda finding: (finding.stream, finding.sequence, finding.kind))

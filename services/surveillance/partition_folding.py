"""One partition of the journal folded into the meters, record by record, by the journal's own reading rules.

Owns the way from a record that somebody delivers to rows. Promises: what was missed before it is read from the log
first; what counts is decided by the partition's `PartitionLog` alone; an event is folded once however often it is
delivered, whoever folded it before; rows that were set back (a rebuild, a lost database) are mended from the log. After
an error everything can be called again. Blocks; one thread.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from services.journal.kafka_partition import PartitionLog
from services.journal.kafka_passage import Passage
from services.journal.kafka_records import RawRecord
from services.journal.port import Recorded
from services.surveillance.facts import Fact, FactReader
from services.surveillance.meter_store import Folded

BATCH = 500
ALL = 1 << 40

Write = Callable[[Sequence[Fact]], Folded]
"""Folds a batch in one transaction."""


class PartitionFolding:
    """A partition as a worker has it: its log, and what was taken from it but not written yet."""

    def __init__(self, log: PartitionLog, passage: Passage, write: Write) -> None:
        self.log = log
        self.folded = Folded()
        """What was met so far; `gaps` holds those that are not mended yet."""
        self.mended = 0
        self._passage = passage
        self._write = write
        self._reader = FactReader()
        self._pending: list[Fact] = []
        self._known: dict[str, int] = {}

    def know(self, sequences: Mapping[str, int]) -> None:
        """Hear how far streams are folded already, so that a replay need not read what they hold."""
        self._known = dict(sequences)

    def take(self, records: Iterable[RawRecord]) -> None:
        """Take records that were delivered, after all that comes before them."""
        self._flush()
        for raw in records:
            if raw.offset > self.log.next_record:
                self._read_up_to(raw.offset)
            if raw.offset == self.log.next_record and self.log.failure is None:
                self.log.take(raw)
                self._queue(self.log.recent(raw.offset) or ())
        self._flush()

    def catch_up(self, end: int) -> None:
        """Read everything before Kafka's offset `end`, whether it was delivered or not."""
        self._flush()
        self._read_up_to(end)
        self._flush()

    def mend(self, behind: Mapping[str, int]) -> None:
        """Fold from the log what these streams lack after these sequences."""
        for stream, sequence in behind.items():
            self._known.pop(stream, None)
            facts: list[Fact] = []
            for events in self._passage.again(self.log, self.log.records_of(stream, sequence, ALL)):
                facts += [self._reader.read(one) for one in events if self._is_wanted(one, stream, sequence)]
                if len(facts) >= BATCH:
                    self._write(facts)
                    facts = []
            self._write(facts)
            self.mended += 1

    def heads(self) -> dict[str, int]:
        """How far each stream goes, as far as the log was taken."""
        return {head.stream: head.sequence for head in self.log.heads()}

    def _is_wanted(self, one: Recorded, stream: str, sequence: int) -> bool:
        return one.envelope.stream == stream and one.envelope.sequence > sequence

    def _read_up_to(self, end: int) -> None:
        for events in self._passage.take(self.log, end):
            self._queue(events)
            if len(self._pending) >= BATCH:
                self._flush()

    def _queue(self, events: Iterable[Recorded]) -> None:
        for one in events:
            if one.envelope.sequence > self._known.get(one.envelope.stream, 0):
                self._pending.append(self._reader.read(one))

    def _flush(self) -> None:
        while self._pending or self.folded.gaps:
            batch = self._pending[:BATCH]
            done = self._write(batch)
            del self._pending[:BATCH]
            self.folded.events += done.events
            self.folded.duplicates += done.duplicates
            self.folded.gaps |= done.gaps
            while self.folded.gaps:
                stream, sequence = next(iter(self.folded.gaps.items()))
                self.mend({stream: sequence})
                del self.folded.gaps[stream]

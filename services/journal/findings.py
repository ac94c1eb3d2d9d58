"""What a check of the journal reports: one finding for each thing that is not as it was written.

The kinds of damage have names of their own, because each asks for another act: a fork points to two writers, a
truncation to a lost disk or a deleted tail, an edit to somebody's hand.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from services.journal.port import Recorded


class Damage(StrEnum):
    """How an event differs from what was acknowledged."""

    EDITED = "edited"
    """Its bytes are not the ones that were stored: a flipped bit, or somebody's hand."""
    UNREADABLE = "unreadable"
    """Its bytes are unchanged, and still no envelope that this version knows."""
    MISSING = "missing"
    """Later events of its stream are there, it is not: a gap."""
    SWAPPED = "swapped"
    """It is there, unchanged, in another event's place."""
    DUPLICATED = "duplicated"
    """The very same event is there more than once."""
    FORKED = "forked"
    """Two different events have the same stream and sequence: two writers, or a second history."""
    TRUNCATED = "truncated"
    """The stream ends before the head that was recorded for it."""
    INDEX = "index"
    """The event is whole; what the journal noted beside it (place, hash, head) is not."""
    FILE = "file"
    """The file itself is damaged, outside the events or so that they cannot be reached."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: what kind, where, and why.

    `kind` is a `Damage`, or the name of the law that a further check found broken ("L3"). `stream` is empty and
    `sequence` 0 when it concerns no single event; `offset` is 0 when no row of the log can be named.
    """

    kind: str
    stream: str
    sequence: int
    reason: str
    offset: int = 0

    def __str__(self) -> str:
        place = f"{self.stream} {self.sequence}" if self.stream else "the journal"
        row = f" (offset {self.offset})" if self.offset else ""
        return f"{self.kind}: {place}{row}: {self.reason}"


class Observer(Protocol):
    """A further check that rides along: it sees every readable event once, in log order, then gives its findings."""

    def see(self, recorded: Recorded) -> None:
        """Take the next event."""
        ...

    def findings(self) -> Iterable[Finding]:
        """Return what is wrong; called once, after the last event."""
        ...

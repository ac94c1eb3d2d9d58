"""What can go wrong with the journal, each error by the act it asks for.

`SequenceConflict` and `EventRefused` are about one append and leave the journal as it was. `JournalUnavailable` and its
kinds are about the journal. `JournalDamaged` means that stored bytes are not what was written.
"""


class JournalError(Exception):
    """Every error of this package."""


class SequenceConflict(JournalError):
    """The stream is not where the append expected it: someone appended in between. Load again, decide again.

    `stream`; `expected_sequence` as asked; `actual_sequence` is the stream's last one now. Nothing was written.
    """

    def __init__(self, stream: str, expected_sequence: int, actual_sequence: int) -> None:
        super().__init__(
            f"stream {stream!r} is at sequence {actual_sequence}, not at {expected_sequence}: load it again"
        )
        self.stream = stream
        self.expected_sequence = expected_sequence
        self.actual_sequence = actual_sequence


class EventRefused(JournalError, ValueError):
    """An event of the append breaks a range or is too large; nothing of the append was written."""


class JournalUnavailable(JournalError):
    """The journal cannot do this now; the message says why and what to do.

    When it comes from an append that was already on its way, the outcome is unknown: ask again with the same request
    id.
    """


class JournalOverloaded(JournalUnavailable):
    """More is queued than the journal takes; nothing of this append was written. Wait a little and send it again."""


class JournalClosed(JournalUnavailable):
    """The journal was closed, or opened read-only; nothing of this append was written."""


class JournalLocked(JournalUnavailable):
    """Another process is this journal's writer; `pid` is its process id, None when it cannot be told."""

    def __init__(self, message: str, pid: int | None) -> None:
        super().__init__(message)
        self.pid = pid


class NotAJournal(JournalUnavailable):
    """There is no file at the path, or it is something else than a Holecard journal."""


class JournalFileDamaged(JournalUnavailable):
    """The file was a journal and is damaged where the database keeps its own order."""


class JournalVersionUnsupported(JournalUnavailable):
    """The journal was written by a newer Holecard than this one."""


class PositionBeyondEnd(JournalError):
    """A reader asks to go on after a position that this journal has never reached.

    The reader's memory is of another journal, or the journal was restored from an older copy. Rebuild the reader.
    """


class JournalDamaged(JournalError):
    """Stored events are not what was written. `stream`, `sequence` and `reason` name the first of them."""

    def __init__(self, stream: str, sequence: int, reason: str) -> None:
        super().__init__(
            f"stream {stream!r} sequence {sequence}: {reason}; run `holecard verify` for the whole journal"
        )
        self.stream = stream
        self.sequence = sequence
        self.reason = reason

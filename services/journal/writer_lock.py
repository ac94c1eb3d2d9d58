"""The lock that makes a journal's writer the only one: a file beside the journal that its process holds with flock.

Promises: the lock ends with its process, however that dies. Does not: protect against programs that do not ask for it,
nor across machines on a network file system (a journal belongs on a local disk).
"""

import fcntl
import os
from pathlib import Path

from services.journal.errors import JournalLocked, JournalUnavailable

_ELSE = {"journal": ", or open read-only"}


class WriterLock:
    """Held from construction until `release`; the file stays and names the last holder's process id."""

    def __init__(self, journal: Path, what: str = "journal") -> None:
        """Take the lock of the journal at that path, or of another file that has one writer; `what` is said of it.

        Raises JournalLocked when another holds it, also within this process; JournalUnavailable when the file cannot
        be made.
        """
        self.path = journal.with_name(journal.name + ".lock")
        try:
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise JournalUnavailable(
                f"cannot write {self.path}: {error.strerror}; give this process a directory that it may write to"
            ) from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            pid = self._holder()
            os.close(self._descriptor)
            who = f"process {pid}" if pid else "another process"
            raise JournalLocked(
                f"{what} {journal} is being written by {who}; stop it first" + _ELSE.get(what, ""), pid
            ) from error
        try:
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)
        except OSError:
            # A full disk has no room for the number; the lock holds all the same, and what follows names the disk.
            return

    def _holder(self) -> int | None:
        text = os.pread(self._descriptor, 32, 0).strip()
        return int(text) if text.isdigit() else None

    def release(self) -> None:
        """Let another writer in. Releasing twice is fine."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

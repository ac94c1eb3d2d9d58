"""How a reading process learns that the writing process has committed: it asks SQLite now and then.

Promises: one question every few hundredths of a second for the whole journal, however many subscriptions wait, and none
while nobody does. Does not read events.
"""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

from services.journal.commit_bell import CommitBell
from services.journal.errors import JournalUnavailable
from services.journal.sqlite_file import SqliteFailure, open_for_reading
from services.journal.sqlite_reader import last_offset

POLL_SECONDS = 0.03
"""Between two questions; a read-only subscription is behind by at most about this much."""


class CommitWatch:
    """A thread that rings a read-only journal's bell; started by the first who waits."""

    def __init__(self, path: Path, bell: CommitBell) -> None:
        self._path = path
        self._bell = bell
        self._stop = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """See that the thread runs; cheap when it does."""
        with self._starting:
            if self._thread is None and not self._stop.is_set():
                self._thread = threading.Thread(target=self._run, name="journal-watch", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """End the thread. Blocks for a moment; call it off the event loop."""
        with self._starting:
            self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            with closing(open_for_reading(self._path)) as connection:
                self._watch(connection)
        except (*SqliteFailure, JournalUnavailable):
            # Whoever waits is woken and meets the same error in his own query, where it can be told.
            self._bell.disturb()

    def _watch(self, connection: sqlite3.Connection) -> None:
        seen = None
        while not self._stop.is_set():
            version = connection.execute("PRAGMA data_version").fetchone()[0]
            if version != seen:
                # First the version, then the offset: a commit in between changes the version again.
                seen = version
                self._bell.ring(last_offset(connection))
            self._stop.wait(POLL_SECONDS)

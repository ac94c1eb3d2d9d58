"""The journal's SQLite file: its tables, its settings, and how to open it without surprises.

Owns the file format, version 1. Promises: whatever is wrong with a path is said in one sentence with what to do. Does
not append or read events.

`event.stored` is the truth. The columns `stream`, `sequence` and `hash` and the table `stream` (each stream's last
event) are derived from it, for finding events; fsck checks them against it.
"""

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from services.journal.errors import (
    JournalError,
    JournalFileDamaged,
    JournalUnavailable,
    JournalVersionUnsupported,
    NotAJournal,
)

APPLICATION_ID = 0x486F4C43
"""Marks the file as ours ("HoLC") in SQLite's header."""
FORMAT_VERSION = 1
"""The newest file format this version knows; kept as `user_version`."""

_TABLES = (
    """CREATE TABLE event (
        position INTEGER PRIMARY KEY,
        stream INTEGER NOT NULL,
        sequence INTEGER NOT NULL,
        hash BLOB NOT NULL,
        stored BLOB NOT NULL
    ) STRICT""",
    "CREATE UNIQUE INDEX event_of_stream ON event (stream, sequence)",
    """CREATE TABLE stream (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        sequence INTEGER NOT NULL,
        hash BLOB NOT NULL
    ) STRICT""",
    """CREATE TABLE opening (
        epoch INTEGER PRIMARY KEY,
        opened_time_us INTEGER NOT NULL,
        process_id INTEGER NOT NULL,
        after_position INTEGER NOT NULL
    ) STRICT""",
)

_ADVICE = {
    "SQLITE_FULL": "the disk is full: free some space, then start again",
    "SQLITE_READONLY": "it is read-only: give this process the right to write the file and its directory",
    "SQLITE_CANTOPEN": "it cannot be opened: check that the directory exists and this process may use it",
    "SQLITE_BUSY": "another program holds a lock on it: close every other program that has it open",
    "SQLITE_LOCKED": "another program holds a lock on it: close every other program that has it open",
    "SQLITE_IOERR": "the disk reports an error: check the disk and its space, then start again",
    "SQLITE_CONSTRAINT": "another program wrote into it: run `holecard verify` before you start again",
}


SqliteFailure = (sqlite3.Error, UnicodeDecodeError)
"""What Python's sqlite3 raises; the second for damaged text, such as a table's definition, in some places."""


def explained(path: Path, error: sqlite3.Error | UnicodeDecodeError) -> JournalUnavailable:
    """Return the error to raise for a failure of SQLite: what happened and what to do."""
    name = "SQLITE_CORRUPT" if isinstance(error, UnicodeDecodeError) else ""
    name = name or getattr(error, "sqlite_errorname", "") or ""
    if name.startswith("SQLITE_NOTADB"):
        return NotAJournal(f"{path} is not a database: point to a Holecard journal, or to a new path")
    if name.startswith("SQLITE_CORRUPT"):
        return JournalFileDamaged(
            f"journal {path}: the file is damaged: run `holecard verify` on it and go back to a good copy ({name}: {error})"
        )
    kind = "_".join(name.split("_")[:2])
    advice = _ADVICE.get(kind, "start again; if it comes back, run `holecard verify`")
    return JournalUnavailable(f"journal {path}: {advice} ({name or type(error).__name__}: {error})")


def open_for_writing(path: Path, opened_time_us: int) -> tuple[sqlite3.Connection, int]:
    """Open or create the journal; the caller holds its writer lock. Return the connection and this opening's epoch.

    Raises NotAJournal, JournalVersionUnsupported, JournalFileDamaged, JournalUnavailable.
    """
    is_new = not path.exists() or path.stat().st_size == 0
    with _translated(path):
        connection = sqlite3.connect(
            _uri(path, "rwc"), uri=True, isolation_level=None, check_same_thread=False, timeout=5
        )
        with _closed_on_error(connection):
            if not is_new or _has_tables(connection):
                _check_identity(connection, path)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            # The writer takes the log over itself, when nobody waits; this is only the limit should it fall behind.
            connection.execute("PRAGMA wal_autocheckpoint = 8000")
            connection.execute("BEGIN IMMEDIATE")
            if not _has_tables(connection):
                for statement in _TABLES:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
            epoch = _record_opening(connection, opened_time_us)
            connection.execute("COMMIT")
            if is_new:
                _sync_directory(path.parent)
            return connection, epoch


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Open an existing journal read-only; it is never written to, not even its side files where that can be avoided.

    Raises NotAJournal, JournalVersionUnsupported, JournalFileDamaged, JournalUnavailable.
    """
    if not path.exists():
        raise NotAJournal(f"there is no journal at {path}: check the path, or start the house once to create it")
    if not path.is_file() or path.stat().st_size == 0:
        raise NotAJournal(f"{path} is {'empty' if path.is_file() else 'not a file'}: point to a Holecard journal")
    mode = "ro"
    if not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists():
        # Without a log beside it and no right to make one the file cannot change under us: the writer closed it.
        mode = "ro&immutable=1"
    with _translated(path):
        connection = sqlite3.connect(
            _uri(path, mode), uri=True, isolation_level=None, check_same_thread=False, timeout=5
        )
        with _closed_on_error(connection):
            connection.execute("PRAGMA query_only = ON")
            _check_identity(connection, path)
            return connection


def _record_opening(connection: sqlite3.Connection, opened_time_us: int) -> int:
    after = connection.execute("SELECT coalesce(max(position), 0) FROM event").fetchone()[0]
    statement = "INSERT INTO opening SELECT coalesce(max(epoch), 0) + 1, ?, ?, ? FROM opening RETURNING epoch"
    epoch: int = connection.execute(statement, (opened_time_us, os.getpid(), after)).fetchone()[0]
    return epoch


def _check_identity(connection: sqlite3.Connection, path: Path) -> None:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if application == 0 and not _has_tables(connection):
        # What SQLite leaves in the file itself before its log is taken over for the first time.
        raise NotAJournal(
            f"{path} holds nothing yet: a journal that was copied without the file {path.name}-wal beside it looks so,"
            " since what is new stands there first. Copy both together, with the house stopped"
        )
    if application != APPLICATION_ID:
        raise NotAJournal(f"{path} is another program's database: point to a Holecard journal, or to a new path")
    if version > FORMAT_VERSION:
        raise JournalVersionUnsupported(
            f"journal {path} has format {version}, this Holecard knows up to {FORMAT_VERSION}: install a newer Holecard"
        )
    if version < 1 or not _has_tables(connection):
        raise JournalFileDamaged(f"journal {path} has lost its tables (format {version}): go back to a good copy")


def _has_tables(connection: sqlite3.Connection) -> bool:
    found = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' LIMIT 1").fetchone()
    return found is not None


def _uri(path: Path, mode: str) -> str:
    return f"file:{quote(str(path.absolute()))}?mode={mode}"


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except SqliteFailure as error:
        raise explained(path, error) from error
    except OSError as error:
        raise JournalUnavailable(f"journal {path}: {error.strerror}: check the path and its rights") from error


@contextlib.contextmanager
def _closed_on_error(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except (*SqliteFailure, JournalError, OSError):
        connection.close()
        raise

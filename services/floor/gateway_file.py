"""The file of a gateway's log: its tables, whose floor it belongs to, and how to open it without surprises.

Owns the format, version 1. Promises that whatever is wrong with the file is said in one sentence with what to do, before a
device is answered.
"""

import sqlite3
from pathlib import Path
from typing import Final

from services.journal.writer_lock import WriterLock
from services.runtime.settings import SettingsRefused

APPLICATION_ID: Final = 0x486F4C47
"""Marks the file as a gateway's log ("HoLG") in SQLite's header."""
FORMAT_VERSION: Final = 1
PAGE_BYTES: Final = 4_096

_TABLES = (
    "CREATE TABLE owner (floor TEXT NOT NULL) STRICT",
    """CREATE TABLE reading (
        position INTEGER PRIMARY KEY AUTOINCREMENT,
        table_key TEXT NOT NULL,
        device TEXT NOT NULL,
        sequence INTEGER NOT NULL,
        received_us INTEGER NOT NULL,
        offset_us INTEGER,
        content BLOB NOT NULL
    ) STRICT""",
    "CREATE UNIQUE INDEX reading_of_device ON reading (table_key, device, sequence)",
    "CREATE INDEX reading_of_table ON reading (table_key, position)",
    """CREATE TABLE device (
        table_key TEXT NOT NULL,
        device TEXT NOT NULL,
        last_sequence INTEGER NOT NULL,
        PRIMARY KEY (table_key, device)
    ) STRICT, WITHOUT ROWID""",
    "CREATE TABLE forwarded (table_key TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT, WITHOUT ROWID",
)

_ADVICE = {
    "SQLITE_FULL": "the disk is full, or the log has reached its limit: make room",
    "SQLITE_READONLY": "it is read-only: give this process the right to write the file and its directory",
    "SQLITE_CANTOPEN": "it cannot be opened: check that the directory exists and this process may use it",
    "SQLITE_BUSY": "another program holds a lock on it: close every other program that has it open",
    "SQLITE_IOERR": "the disk reports an error: check the disk, then start the gateway again",
    "SQLITE_CORRUPT": "the file is damaged: keep it aside for the auditors and start with a new one",
    "SQLITE_NOTADB": "it is not a database: point to a gateway's log, or to a new path",
}


class GatewayLogUnusable(SettingsRefused):
    """The gateway cannot keep anything in this file; the text says why and what to do."""


class GatewayLogOfAnotherFloor(GatewayLogUnusable):
    """The log belongs to another floor: forwarding it would put one casino's readings on another's tables."""


def what_to_do(error: Exception) -> str:
    """One clause: what happened and what to do."""
    name = getattr(error, "sqlite_errorname", "") or ""
    kind = "_".join(name.split("_")[:2])
    advice = _ADVICE.get(kind, "start the gateway again")
    return f"{advice} ({name or type(error).__name__}: {error})"


def open_file(path: Path, floor: str, limit_bytes: int) -> tuple[sqlite3.Connection, WriterLock]:
    """The writing connection and the lock that makes it the only one.

    Raises GatewayLogOfAnotherFloor, GatewayLogUnusable or JournalLocked.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GatewayLogUnusable(f"{path.parent} cannot be made: {error.strerror}") from error
    lock = WriterLock(path, "gateway log")
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        _prepare(connection, path, floor)
        if limit_bytes:
            connection.execute(f"PRAGMA max_page_count = {max(limit_bytes // PAGE_BYTES, 1)}")
    except BaseException as error:
        if connection is not None:
            connection.close()
        lock.release()
        if isinstance(error, sqlite3.Error):
            raise GatewayLogUnusable(f"gateway log {path}: {what_to_do(error)}") from error
        raise
    return connection, lock


def _prepare(connection: sqlite3.Connection, path: Path, floor: str) -> None:
    connection.execute("PRAGMA busy_timeout = 2000")
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if not tables:
        _create(connection, floor)
    elif application != APPLICATION_ID:
        raise GatewayLogUnusable(f"{path} is not a gateway's log: point to one, or to a new path")
    elif version != FORMAT_VERSION:
        raise GatewayLogUnusable(
            f"{path} has format {version}, this build knows {FORMAT_VERSION}: start the build that wrote it"
        )
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    row = connection.execute("SELECT floor FROM owner").fetchone()
    owner = row[0] if row else ""
    if owner != floor:
        raise GatewayLogOfAnotherFloor(
            f"{path} is the gateway log of floor {owner!r}, not of {floor!r}: start the gateway with --floor {owner}, "
            "or with another --log"
        )


def _create(connection: sqlite3.Connection, floor: str) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for statement in _TABLES:
        connection.execute(statement)
    connection.execute("INSERT INTO owner VALUES (?)", (floor,))
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
    connection.execute("COMMIT")

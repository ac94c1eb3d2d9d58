"""The check of a SQLite journal file: everything is walked, and each difference from what was written is named.

Promises: any change of a stored event's bytes is found; missing, swapped, duplicated and forked events, a truncated
tail, and notes (index columns, heads) that do not fit are told apart, each with stream, sequence and reason. Changes
nothing.

What a plain chain cannot detect: somebody who may write the file and rewrites a stream's tail together with every hash
after it, or cuts off the tail together with the recorded heads, or the order in which events of different streams lie.
Signed checkpoints kept elsewhere are what catches that (DESIGN §4).
"""

import contextlib
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from services.journal.errors import JournalFileDamaged
from services.journal.findings import Damage, Finding, Observer
from services.journal.log_walk import LogRow, LogWalk, Note
from services.journal.port import StreamHead
from services.journal.sqlite_file import SqliteFailure, open_for_reading
from services.journal.sqlite_reader import stream_heads


@dataclass(frozen=True, slots=True)
class FsckReport:
    """What was checked, and what was found; sound when nothing was."""

    events: int
    streams: int
    findings: tuple[Finding, ...]

    @property
    def is_sound(self) -> bool:
        """Whether every event is what was written."""
        return not self.findings


def fsck(path: str | Path, observers: Sequence[Observer] = ()) -> FsckReport:
    """Check the whole journal at that path, as of one moment, also while another process writes it.

    `observers` ride along; their findings count only when the journal itself is sound, else they would repeat its
    damage. Raises NotAJournal, JournalVersionUnsupported, JournalUnavailable: the path is no journal or cannot be
    opened.
    """
    try:
        connection = open_for_reading(Path(path).resolve())
    except JournalFileDamaged as error:
        return FsckReport(0, 0, (Finding(Damage.FILE, "", 0, str(error)),))
    with contextlib.closing(connection):
        return _check(connection, LogWalk(observers))


def _check(connection: sqlite3.Connection, walk: LogWalk) -> FsckReport:
    damage: list[Finding] = []
    heads: list[StreamHead] = []
    try:
        connection.execute("BEGIN")
        damage.extend(_file_findings(connection))
        heads = [head for head in stream_heads(connection) if _is_head(head)]
        damage.extend(_walk_rows(connection, walk))
    except SqliteFailure as error:
        reason = f"reading stopped after offset {walk.readable_offset}: {error}"
        damage.append(Finding(Damage.FILE, "", 0, reason, walk.readable_offset))
    findings = walk.finish(heads)
    return FsckReport(walk.events, walk.streams, (*damage, *findings))


def _walk_rows(connection: sqlite3.Connection, walk: LogWalk) -> list[Finding]:
    """Walk every row; return findings for rows that do not even hold values of the right types."""
    mangled = []
    rows = connection.execute(
        "SELECT position, stored, coalesce(name, '#' || stream), event.sequence, event.hash"
        " FROM event LEFT JOIN stream ON stream.id = event.stream ORDER BY position"
    )
    for row in rows:
        if tuple(map(type, row)) != _TYPES:
            reason = "its row holds other values than a journal stores"
            place = (row[2], row[3]) if isinstance(row[2], str) and isinstance(row[3], int) else ("", 0)
            mangled.append(Finding(Damage.FILE, *place, reason, row[0]))
            continue
        offset, stored, name, sequence, event_hash = row
        walk.take(LogRow(0, offset, stored, Note(name, sequence, event_hash)))
    return mangled


_TYPES = (int, bytes, str, int, bytes)


def _is_head(head: StreamHead) -> bool:
    """Whether the row holds a head at all; a stream without one is found by the walk."""
    return tuple(map(type, (head.stream, head.sequence, head.hash))) == (str, int, bytes)


def _file_findings(connection: sqlite3.Connection) -> list[Finding]:
    """What SQLite itself says of its pages and indexes; a damaged index can hide an event from readers."""
    said = [row[0] for row in connection.execute("PRAGMA integrity_check(20)")]
    return [] if said == ["ok"] else [Finding(Damage.FILE, "", 0, text) for text in said]

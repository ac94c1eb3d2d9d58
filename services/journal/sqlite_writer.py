"""The one thread that writes a SQLite journal: group commit.

Whatever is queued goes into one transaction and so shares one wait for the disk; yet each append succeeds or fails by
itself, because it was given its place, or refused one, before it was queued (see `staging`).

Promises: an append is answered only after its transaction is on disk (WAL, synchronous=FULL). After any error of the
disk the writer is done (crash-only): what was under way has an unknown outcome, all later appends are refused until
the journal is opened again, so that nothing is ever decided on memory that the disk does not hold.
"""

import asyncio
import queue
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from services.journal.commit_bell import CommitBell
from services.journal.commits import CommitObserver, nobody
from services.journal.errors import (
    EventRefused,
    JournalClosed,
    JournalDamaged,
    JournalError,
    JournalOverloaded,
    JournalUnavailable,
    SequenceConflict,
)
from services.journal.port import MAX_EVENT_BYTES, NewEvent, Recorded
from services.journal.sqlite_file import explained
from services.journal.staging import EventRow, Head, Staged, Staging
from services.runtime.clock import Clock

MAX_QUEUED_EVENTS = 20_000
MAX_QUEUED_BYTES = 128 * 1024 * 1024
"""What may wait for the writer thread; beyond it an append is refused at once with JournalOverloaded."""

LOG_BYTES = 4 * 1024 * 1024
"""How far SQLite's log file (-wal) grows before it is taken over into the journal file."""
PAGES_A_COMMIT_BYTES = 12_288
"""Three pages, which even the smallest commit writes: the event's, its index entry's, its stream's head."""

_EVENT_OVERHEAD_BYTES = 512
"""Counted for each queued event besides its payload."""

_INSERT_EVENT = "INSERT INTO event VALUES (?, ?, ?, ?, ?)"
_BLOCK = 50
_INSERT_BLOCK = _INSERT_EVENT + ", (?, ?, ?, ?, ?)" * (_BLOCK - 1)
"""Fifty rows in one statement, where many are written: a statement of its own costs a row a third more."""
_SET_HEAD = (
    "INSERT INTO stream VALUES (?, ?, ?, ?)"
    " ON CONFLICT (id) DO UPDATE SET sequence = excluded.sequence, hash = excluded.hash"
)


@dataclass(frozen=True, slots=True)
class _Request:
    """One append on its way to the writer thread: staged, or an answer that must only keep its turn."""

    staged: Staged | None
    outcome: tuple[Recorded, ...] | JournalError
    size: int
    answer: asyncio.Future[tuple[Recorded, ...]]


class SqliteWriter:
    """Owns the writing connection; `submit` is for the event loop, what begins with `_` runs in the thread."""

    def __init__(self, connection: sqlite3.Connection, path: Path, epoch: int, clock: Clock, bell: CommitBell) -> None:
        """Take over the connection.

        Raises JournalDamaged when the heads do not fit the events, which only a change from outside can cause.
        """
        self._connection = connection
        self._path = path
        self._bell = bell
        heads = _load_heads(connection)
        _check_heads(heads, bell.offset)
        self._staging = Staging(heads, bell.offset, epoch, clock)
        self._failure: JournalUnavailable | None = None
        self._committed = bell.offset
        self._unmerged_bytes = 0
        self._closing = False
        self._queue: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        # Held while an append is staged and queued, so that the queue has the order of the staging.
        self._gate = threading.Lock()
        self._queued_events = 0
        self._queued_bytes = 0
        self.observe: CommitObserver = nobody
        self._thread = threading.Thread(target=self._run, name="journal-writer", daemon=True)
        self._thread.start()

    @property
    def failure(self) -> JournalUnavailable | None:
        """What ended the writing for good; None while all is well."""
        return self._failure

    def submit(
        self, stream: str, expected_sequence: int, events: Sequence[NewEvent]
    ) -> asyncio.Future[tuple[Recorded, ...]]:
        """Queue one append and return its answer to come; never blocks.

        Raises EventRefused, JournalOverloaded, JournalClosed, JournalUnavailable before anything is queued.
        """
        size = 0
        for event in events:
            if len(event.payload) > MAX_EVENT_BYTES - _EVENT_OVERHEAD_BYTES:
                raise EventRefused(f"a payload of {len(event.payload)} bytes is over the limit of {MAX_EVENT_BYTES}")
            size += len(event.payload) + _EVENT_OVERHEAD_BYTES
        answer: asyncio.Future[tuple[Recorded, ...]] = asyncio.get_running_loop().create_future()
        with self._gate:
            self._check_room(len(events), size)
            self._queue.put(self._request(stream, expected_sequence, events, size, answer))
            self._queued_events += len(events)
            self._queued_bytes += size
        return answer

    def _check_room(self, events: int, size: int) -> None:
        if self._closing:
            raise JournalClosed(f"journal {self._path} is closed")
        if self._failure is not None:
            raise self._refusal()
        full = self._queued_events + events > MAX_QUEUED_EVENTS or self._queued_bytes + size > MAX_QUEUED_BYTES
        if full and self._queued_events:
            raise JournalOverloaded(
                f"journal {self._path}: {self._queued_events} events ({self._queued_bytes} bytes) wait for the disk"
                "; nothing of this append was written, send it again in a moment"
            )

    def _request(
        self,
        stream: str,
        expected_sequence: int,
        events: Sequence[NewEvent],
        size: int,
        answer: asyncio.Future[tuple[Recorded, ...]],
    ) -> _Request:
        try:
            staged = self._staging.stage(stream, expected_sequence, events)
        except SequenceConflict as conflict:
            # Told when its turn comes: what it lost against is on disk by then, and whoever loads again sees it.
            return _Request(None, conflict, size, answer)
        return _Request(staged, staged.recorded if staged else (), size, answer)

    def close(self) -> None:
        """Write what is queued, end the thread and close the connection. Blocks; call it off the event loop."""
        with self._gate:
            if not self._closing:
                self._closing = True
                self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        open_for_more = True
        while open_for_more:
            group, open_for_more = self._take_group()
            if group:
                failed_before = self._failure is not None
                self._commit(group)
                self._deliver(group, self._refusal() if failed_before else self._failure)
                self._take_over_log()
        try:
            self._connection.close()
        except sqlite3.Error as error:
            # All acknowledged events are in the log file; the next opening takes them over from there.
            self._failure = self._failure or explained(self._path, error)
        self._bell.stop()

    def _take_group(self) -> tuple[list[_Request], bool]:
        """Wait for one request, then take all that is queued."""
        group: list[_Request] = []
        request = self._queue.get()
        try:
            while request is not None:
                group.append(request)
                request = self._queue.get_nowait()
        except queue.Empty:
            return group, True
        return group, False

    def _commit(self, group: list[_Request]) -> None:
        """Store what is staged in one transaction; sets `_failure` when that fails."""
        if self._failure is not None:
            return
        rows: list[EventRow] = []
        heads: dict[str, Head] = {}
        for request in group:
            if request.staged is not None:
                rows += request.staged.rows
                heads[request.staged.stream] = request.staged.head
        if not rows:
            return
        began = time.monotonic()
        try:
            self._write(rows, heads)
        except sqlite3.Error as error:
            self._fail(explained(self._path, error))
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody may be left waiting for an answer
            self._fail(JournalUnavailable(f"journal {self._path}: the writer failed ({type(error).__name__}: {error})"))
        else:
            stored_bytes = sum(len(row[-1]) for row in rows)
            self._unmerged_bytes += stored_bytes + PAGES_A_COMMIT_BYTES
            self._committed = rows[-1][0]
            self.observe(len(rows), stored_bytes, time.monotonic() - began)

    def _write(self, rows: list[EventRow], heads: dict[str, Head]) -> None:
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        single_from = len(rows) - len(rows) % _BLOCK
        for start in range(0, single_from, _BLOCK):
            connection.execute(_INSERT_BLOCK, list(chain.from_iterable(rows[start : start + _BLOCK])))
        connection.executemany(_INSERT_EVENT, rows[single_from:])
        connection.executemany(
            _SET_HEAD, [(head.number, name, head.sequence, head.hash) for name, head in heads.items()]
        )
        connection.execute("COMMIT")

    def _take_over_log(self) -> None:
        """Copy the log file into the journal file once it has grown, after the answers are out: nobody waits for it."""
        if self._failure is not None or self._unmerged_bytes < LOG_BYTES:
            return
        self._unmerged_bytes = 0
        try:
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except sqlite3.Error as error:
            # What was acknowledged is in the log file; but a disk that fails here will fail the next append too.
            self._fail(explained(self._path, error))

    def _fail(self, failure: JournalUnavailable) -> None:
        with self._gate:
            self._failure = failure

    def _refusal(self) -> JournalUnavailable:
        return JournalUnavailable(f"the journal stopped after an error and must be opened again: {self._failure}")

    def _deliver(self, group: list[_Request], failure: JournalUnavailable | None) -> None:
        by_loop: defaultdict[asyncio.AbstractEventLoop, list[_Request]] = defaultdict(list)
        for request in group:
            by_loop[request.answer.get_loop()].append(request)
        with self._gate:
            self._queued_events -= sum(len(request.staged.rows) for request in group if request.staged)
            self._queued_bytes -= sum(request.size for request in group)
        for loop, requests in by_loop.items():
            try:
                loop.call_soon_threadsafe(_answer, requests, failure)
            except RuntimeError:
                # The loop is closed: nobody is left who could hear the answer.
                continue
        self._bell.ring(self._committed)


def _load_heads(connection: sqlite3.Connection) -> dict[str, Head]:
    rows = connection.execute("SELECT name, id, sequence, hash FROM stream")
    return {name: Head(number, sequence, head_hash) for name, number, sequence, head_hash in rows}


def _check_heads(heads: dict[str, Head], offset: int) -> None:
    counted = sum(head.sequence for head in heads.values())
    if counted != offset:
        raise JournalDamaged("", offset, f"the streams' heads count {counted} events, the log has {offset}")


def _answer(requests: list[_Request], failure: JournalUnavailable | None) -> None:
    for request in requests:
        if request.answer.done():
            continue
        outcome = failure or request.outcome
        if isinstance(outcome, JournalError):
            request.answer.set_exception(outcome)
        else:
            request.answer.set_result(outcome)

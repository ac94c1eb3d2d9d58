"""The one thread that writes a SQLite journal: group commit.

Whatever is queued goes into one transaction and so shares one wait for the disk; yet each append succeeds or fails by
itself, because a conflict is found against the heads in memory before anything of that append is written.

Promises: an append is answered only after its transaction is on disk (WAL, synchronous=FULL). After any error of the
disk the writer is done (crash-only): what was under way has an unknown outcome, all later appends are refused until
the journal is opened again, so that nothing is ever decided on memory that the disk does not hold.
"""

import asyncio
import queue
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from services.journal.chain import hash_of
from services.journal.commit_bell import CommitBell
from services.journal.errors import (
    EventRefused,
    JournalClosed,
    JournalDamaged,
    JournalError,
    JournalOverloaded,
    JournalUnavailable,
    SequenceConflict,
)
from services.journal.port import MAX_EVENT_BYTES, NewEvent, Position, Recorded, quick_recorded
from services.journal.sqlite_file import explained
from services.runtime.clock import Clock
from services.wire.envelope import NO_HASH, Encoder, EnvelopeInvalid, quick_envelope

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

_EventRow = tuple[int, int, int, bytes, bytes]


@dataclass(slots=True)
class _Head:
    """A stream's last event, and the number of its row in the table `stream`."""

    id: int
    sequence: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class _Request:
    """One append on its way to the writer thread."""

    stream: str
    expected_sequence: int
    events: tuple[NewEvent, ...]
    size: int
    answer: asyncio.Future[tuple[Recorded, ...]]


_Outcome = tuple[Recorded, ...] | JournalError
_Answers = list[tuple[_Request, _Outcome]]


class SqliteWriter:
    """Owns the writing connection and every stream's head; `submit` is for event loops, the rest runs in the thread."""

    def __init__(self, connection: sqlite3.Connection, path: Path, epoch: int, clock: Clock, bell: CommitBell) -> None:
        """Take over the connection.

        Raises JournalDamaged when the heads do not fit the events, which only a change from outside can cause.
        """
        self._connection = connection
        self._path = path
        self._epoch = epoch
        self._clock = clock
        self._bell = bell
        self._heads = _load_heads(connection)
        self._offset: int = connection.execute("SELECT coalesce(max(position), 0) FROM event").fetchone()[0]
        self._check_heads()
        self._failure: JournalUnavailable | None = None
        self._unmerged_bytes = 0
        self._closing = False
        self._queue: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._gauge = threading.Lock()
        self._queued_events = 0
        self._queued_bytes = 0
        self._thread = threading.Thread(target=self._run, name="journal-writer", daemon=True)
        self._thread.start()

    @property
    def offset(self) -> int:
        """The last committed offset, 0 when the journal is empty."""
        return self._bell.offset

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
        with self._gauge:
            if self._closing:
                raise JournalClosed(f"journal {self._path} is closed")
            if self._failure is not None:
                raise self._refusal()
            full = self._queued_events + len(events) > MAX_QUEUED_EVENTS or self._queued_bytes + size > MAX_QUEUED_BYTES
            if full and self._queued_events:
                raise JournalOverloaded(
                    f"journal {self._path}: {self._queued_events} events ({self._queued_bytes} bytes) wait for the disk"
                    "; nothing of this append was written, send it again in a moment"
                )
            self._queued_events += len(events)
            self._queued_bytes += size
            self._queue.put(_Request(stream, expected_sequence, tuple(events), size, answer))
        return answer

    def close(self) -> None:
        """Write what is queued, end the thread and close the connection. Blocks; call it off the event loop."""
        with self._gauge:
            if not self._closing:
                self._closing = True
                self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        open_for_more = True
        while open_for_more:
            group, open_for_more = self._take_group()
            if group:
                self._deliver(self._answers_to(group))
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

    def _answers_to(self, group: list[_Request]) -> _Answers:
        try:
            return self._commit(group)
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody may be left waiting for an answer
            failure = JournalUnavailable(f"journal {self._path}: the writer failed ({type(error).__name__}: {error})")
            return self._fail(failure, [(request, ()) for request in group])

    def _commit(self, group: list[_Request]) -> _Answers:
        if self._failure is not None:
            return [(request, self._refusal()) for request in group]
        answers: _Answers = []
        touched: dict[str, _Head] = {}
        rows: list[_EventRow] = []
        offset = self._offset
        for request in group:
            try:
                recorded = self._stage(request, offset, touched, rows)
            except JournalError as error:
                answers.append((request, error))
            else:
                offset += len(recorded)
                answers.append((request, recorded))
        if not rows:
            return answers
        try:
            self._write(rows, touched)
        except sqlite3.Error as error:
            return self._fail(explained(self._path, error), answers)
        self._heads.update(touched)
        self._offset = offset
        self._unmerged_bytes += sum(len(row[-1]) for row in rows) + PAGES_A_COMMIT_BYTES
        return answers

    def _stage(
        self, request: _Request, offset: int, touched: dict[str, _Head], rows: list[_EventRow]
    ) -> tuple[Recorded, ...]:
        """Encode one append after what is staged already; changes `touched` and `rows` only when all of it is good."""
        stream = request.stream
        head = touched.get(stream) or self._heads.get(stream)
        sequence, previous_hash = (head.sequence, head.hash) if head else (0, NO_HASH)
        if request.expected_sequence != sequence:
            raise SequenceConflict(stream, request.expected_sequence, sequence)
        if not request.events:
            return ()
        number = head.id if head else len(self._heads) + sum(name not in self._heads for name in touched) + 1
        recorded_time_us = self._clock.now_us()
        encoder = Encoder()
        recorded: list[Recorded] = []
        new_rows: list[_EventRow] = []
        for event in request.events:
            sequence += 1
            offset += 1
            envelope = quick_envelope(
                stream,
                sequence,
                event.type,
                event.payload,
                event.schema_version,
                event.occurred_time_us,
                recorded_time_us,
                event.actor,
                event.request_id,
                event.request_digest,
                event.cause,
                event.round_id,
                event.gaming_day,
                self._epoch,
                previous_hash,
            )
            try:
                stored = encoder.encode(envelope)
            except EnvelopeInvalid as error:
                raise EventRefused(str(error)) from error
            previous_hash = hash_of(stored)
            new_rows.append((offset, number, sequence, previous_hash, stored))
            recorded.append(quick_recorded(Position(0, offset), envelope, stored))
        rows.extend(new_rows)
        touched[stream] = _Head(number, sequence, previous_hash)
        return tuple(recorded)

    def _write(self, rows: list[_EventRow], touched: dict[str, _Head]) -> None:
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        single_from = len(rows) - len(rows) % _BLOCK
        for start in range(0, single_from, _BLOCK):
            connection.execute(_INSERT_BLOCK, list(chain.from_iterable(rows[start : start + _BLOCK])))
        connection.executemany(_INSERT_EVENT, rows[single_from:])
        connection.executemany(_SET_HEAD, [(head.id, name, head.sequence, head.hash) for name, head in touched.items()])
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
            self._fail(explained(self._path, error), [])

    def _fail(self, failure: JournalUnavailable, answers: _Answers) -> _Answers:
        with self._gauge:
            self._failure = failure
        return [(request, failure if isinstance(outcome, tuple) else outcome) for request, outcome in answers]

    def _refusal(self) -> JournalUnavailable:
        return JournalUnavailable(f"the journal stopped after an error and must be opened again: {self._failure}")

    def _deliver(self, answers: _Answers) -> None:
        by_loop: defaultdict[asyncio.AbstractEventLoop, _Answers] = defaultdict(list)
        events = size = 0
        for request, outcome in answers:
            events += len(request.events)
            size += request.size
            by_loop[request.answer.get_loop()].append((request, outcome))
        with self._gauge:
            self._queued_events -= events
            self._queued_bytes -= size
        for loop, its_answers in by_loop.items():
            try:
                loop.call_soon_threadsafe(_answer, its_answers)
            except RuntimeError:
                # The loop is closed: nobody is left who could hear the answer.
                continue
        self._bell.ring(self._offset)

    def _check_heads(self) -> None:
        counted = sum(head.sequence for head in self._heads.values())
        if counted != self._offset:
            raise JournalDamaged(
                "", self._offset, f"the streams' heads count {counted} events, the log has {self._offset}"
            )


def _load_heads(connection: sqlite3.Connection) -> dict[str, _Head]:
    rows = connection.execute("SELECT name, id, sequence, hash FROM stream")
    return {name: _Head(number, sequence, head_hash) for name, number, sequence, head_hash in rows}


def _answer(answers: _Answers) -> None:
    for request, outcome in answers:
        if request.answer.done():
            continue
        if isinstance(outcome, tuple):
            request.answer.set_result(outcome)
        else:
            request.answer.set_exception(outcome)

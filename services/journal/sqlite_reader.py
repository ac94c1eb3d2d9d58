"""Reading a SQLite journal: short read-only queries on threads of their own, each event checked before it goes out.

Promises: readers never wait for the writer nor make it wait; no snapshot is held between two chunks, so the log file
can always be taken over; a chunk is bounded in events and bytes. Does not tell kinds of damage apart: it stops at the
first.
"""

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from services.journal.chain import ChainReader
from services.journal.errors import JournalClosed, JournalDamaged, PositionBeyondEnd
from services.journal.port import Position, Recorded, StreamHead
from services.journal.sqlite_file import SqliteFailure, explained, open_for_reading
from services.wire.envelope import NO_HASH, Decoder, Envelope, EnvelopeInvalid

CHUNK_EVENTS = 512
CHUNK_BYTES = 4 * 1024 * 1024
"""A chunk ends at whichever comes first, after at least one event."""

_THREADS = 2

T = TypeVar("T")


class SqliteReader:
    """Read-only connections, one per thread, and the queries that run on them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="journal-reader")
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._closed = False

    async def run(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Run a query off the event loop. Raises JournalUnavailable, and what the query raises."""
        if self._closed:
            raise JournalClosed(f"journal {self._path} is closed")
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._query, query)

    def _query(self, query: Callable[[sqlite3.Connection], T]) -> T:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = open_for_reading(self._path)
            self._connections.append(connection)
        try:
            return query(connection)
        except SqliteFailure as error:
            raise explained(self._path, error) from error

    def refuse_more(self) -> None:
        """Let no further query in."""
        self._closed = True

    def close(self) -> None:
        """End the threads and close the connections. Blocks; call it off the event loop, after `refuse_more`."""
        self._threads.shutdown()
        while self._connections:
            self._connections.pop().close()


class StreamReading:
    """One reading of one stream: where it stands, and its chain so far."""

    def __init__(self, stream: str, after_sequence: int) -> None:
        self._stream = stream
        self._after = after_sequence
        self._chain: ChainReader | None = None
        self._decode = Decoder().decode

    def next_chunk(self, connection: sqlite3.Connection) -> tuple[list[Recorded], bool]:
        """Return the next events and whether there are more."""
        head = connection.execute("SELECT id, sequence, hash FROM stream WHERE name = ?", (self._stream,)).fetchone()
        if head is None or head[1] <= self._after:
            return [], False
        number, last_sequence, _ = head
        chain = self._chain
        if chain is None:
            chain = self._chain = ChainReader(
                self._stream, self._after, _hash_at(connection, number, self._stream, self._after)
            )
        rows = _chunk(
            connection,
            # Not beyond the head, which is the end of an append: a reader never ends in the middle of one.
            "SELECT position, hash, stored FROM event WHERE stream = ? AND sequence > ? AND sequence <= ?"
            " ORDER BY sequence LIMIT ?",
            (number, self._after, last_sequence, CHUNK_EVENTS),
        )
        decode = self._decode
        chunk = [_next_of(chain, decode, offset, recorded_hash, stored) for offset, recorded_hash, stored in rows]
        if not chunk:
            raise JournalDamaged(self._stream, self._after + 1, f"missing: the stream should reach {last_sequence}")
        self._after = chain.sequence
        return chunk, chain.sequence < last_sequence


class LogReading:
    """One reading of the whole log: its offset, and the chain of every stream it has met."""

    def __init__(self, after_offset: int) -> None:
        self.offset = after_offset
        self._chains: dict[int, ChainReader] = {}
        self._decode = Decoder().decode

    def start(self, connection: sqlite3.Connection) -> None:
        """Raise PositionBeyondEnd when the log has never reached the offset to go on from."""
        end = last_offset(connection)
        if not 0 <= self.offset <= end:
            raise PositionBeyondEnd(
                f"asked to go on after offset {self.offset}, but this journal ends at {end}: it is another journal"
                " or an older copy; rebuild the reader from offset 0"
            )

    def next_chunk(self, connection: sqlite3.Connection) -> list[Recorded]:
        """Return the events after the offset, none when the end is reached."""
        rows = _chunk(
            connection,
            "SELECT position, stream, sequence, hash, stored FROM event WHERE position > ? ORDER BY position LIMIT ?",
            (self.offset, CHUNK_EVENTS),
        )
        chunk: list[Recorded] = []
        for offset, number, sequence, recorded_hash, stored in rows:
            chain = self._chains.get(number) or self._meet(connection, number, sequence)
            if offset != self.offset + 1:
                raise JournalDamaged(
                    chain.stream, sequence, f"offsets {self.offset + 1} to {offset - 1} before it are missing"
                )
            chunk.append(_next_of(chain, self._decode, offset, recorded_hash, stored))
            self.offset = offset
        return chunk

    def _meet(self, connection: sqlite3.Connection, number: int, sequence: int) -> ChainReader:
        found = connection.execute("SELECT name FROM stream WHERE id = ?", (number,)).fetchone()
        if found is None:
            raise JournalDamaged(f"#{number}", sequence, "its stream has no head")
        before = sequence - 1
        chain = ChainReader(found[0], before, _hash_at(connection, number, found[0], before))
        self._chains[number] = chain
        return chain


def last_offset(connection: sqlite3.Connection) -> int:
    """Return the offset of the last event, 0 in an empty journal."""
    offset: int = connection.execute("SELECT coalesce(max(position), 0) FROM event").fetchone()[0]
    return offset


def stream_heads(connection: sqlite3.Connection) -> list[StreamHead]:
    """Return the head of every stream, by name."""
    rows = connection.execute("SELECT name, sequence, hash FROM stream ORDER BY name")
    return [StreamHead(name, sequence, head_hash) for name, sequence, head_hash in rows]


def _chunk(connection: sqlite3.Connection, query: str, arguments: tuple[int, ...]) -> list[tuple[Any, ...]]:
    """The query's rows until their stored bytes (the last column) reach CHUNK_BYTES."""
    rows: list[tuple[Any, ...]] = []
    size = 0
    # Closed at once: a statement that is left half-way, or kept alive by a traceback, would hold its snapshot.
    with contextlib.closing(connection.execute(query, arguments)) as cursor:
        for row in cursor:
            rows.append(row)
            size += len(row[-1])
            if size >= CHUNK_BYTES:
                break
    return rows


def _next_of(
    chain: ChainReader, decode: Callable[[bytes], Envelope], offset: int, recorded_hash: bytes, stored: object
) -> Recorded:
    """The event of a row, once it is known to be unchanged and the very next of its stream; raises JournalDamaged."""
    # A damaged row may hold a value of any type, whatever the column says.
    if type(stored) is not bytes or sha256(stored).digest() != recorded_hash:
        raise JournalDamaged(chain.stream, chain.sequence + 1, "its bytes do not have the hash recorded for them")
    try:
        envelope = decode(stored)
    except EnvelopeInvalid as error:
        raise JournalDamaged(chain.stream, chain.sequence + 1, f"it cannot be decoded: {error}") from error
    chain.accept(envelope, recorded_hash)
    # A named tuple made as the tuple it is: half the time, and this runs for every event of a replay.
    return Recorded(tuple.__new__(Position, (0, offset)), envelope, stored)


def _hash_at(connection: sqlite3.Connection, number: int, stream: str, sequence: int) -> bytes:
    if sequence == 0:
        return NO_HASH
    found = connection.execute(
        "SELECT hash FROM event WHERE stream = ? AND sequence = ?", (number, sequence)
    ).fetchone()
    if found is None:
        raise JournalDamaged(stream, sequence, "missing: a reader goes on after it")
    event_hash: bytes = found[0]
    return event_hash

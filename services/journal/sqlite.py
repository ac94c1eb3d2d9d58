"""The embedded journal: one SQLite file, one partition (0), offsets from 1 without gaps.

Promises what `port.Journal` says, for one writer process and any number of reading processes on the same machine. A
stream's events, their order and their hashes are exactly what was acknowledged, or the reader is told. Does not
replicate or back up.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import Self

from services.journal.commit_bell import CommitBell
from services.journal.commits import CommitObserver
from services.journal.errors import JournalClosed, JournalUnavailable, NotAJournal, PositionBeyondEnd
from services.journal.port import NewEvent, Recorded, StreamHead
from services.journal.sqlite_file import open_for_reading, open_for_writing
from services.journal.sqlite_reader import (
    LogReading,
    SqliteReader,
    StreamReading,
    last_offset,
    stream_heads,
)
from services.journal.sqlite_watch import CommitWatch
from services.journal.sqlite_writer import SqliteWriter
from services.journal.writer_lock import WriterLock
from services.runtime.clock import Clock, SystemClock


class SqliteJournal:
    """A journal in one SQLite file. Made by `open` (the writer) or `open_read_only`."""

    def __init__(self, path: Path, writer: SqliteWriter | None, lock: WriterLock | None, bell: CommitBell) -> None:
        self._path = path
        self._writer = writer
        self._lock = lock
        self._bell = bell
        self._watch = CommitWatch(path, bell) if writer is None else None
        self._reader = SqliteReader(path)
        self._closing: asyncio.Task[None] | None = None

    @classmethod
    def open(cls, path: str | Path, *, clock: Clock | None = None) -> Self:
        """Open the journal at that path for writing and reading, creating it when there is none.

        Blocks for a few milliseconds of disk. Counts one writer epoch. `clock` is the system's unless one is given.
        Raises JournalLocked when another process (or this one) writes it already, NotAJournal,
        JournalVersionUnsupported, JournalDamaged, JournalUnavailable.
        """
        clock = clock or SystemClock()
        path = Path(path).resolve()
        if not path.parent.is_dir():
            raise NotAJournal(f"there is no directory {path.parent}: create it, then start again")
        with contextlib.ExitStack() as undo:
            lock = WriterLock(path)
            undo.callback(lock.release)
            connection, epoch = open_for_writing(path, clock.now_us())
            undo.callback(connection.close)
            bell = CommitBell(last_offset(connection))
            writer = SqliteWriter(connection, path, epoch, clock, bell)
            undo.pop_all()
        return cls(path, writer, lock, bell)

    @classmethod
    def open_read_only(cls, path: str | Path) -> Self:
        """Open an existing journal for reading, beside whatever process writes it.

        Raises NotAJournal, JournalVersionUnsupported, JournalUnavailable.
        """
        path = Path(path).resolve()
        with contextlib.closing(open_for_reading(path)) as connection:
            bell = CommitBell(last_offset(connection))
        return cls(path, None, None, bell)

    @property
    def failure(self) -> JournalUnavailable | None:
        """What ended this journal's writing (disk full, disk broken): open it again; None while all is well."""
        return None if self._writer is None else self._writer.failure

    def observe_commits(self, observer: CommitObserver) -> None:
        """Tell `observer` of every commit of this process from now on; a reader has none."""
        if self._writer is not None:
            self._writer.observe = observer

    async def append(self, stream: str, expected_sequence: int, events: Sequence[NewEvent]) -> tuple[Recorded, ...]:
        """See `port.Journal.append`."""
        if self._writer is None:
            raise JournalClosed(f"journal {self._path} is open read-only: open it as the writer to append")
        return await self._writer.submit(stream, expected_sequence, events)

    async def read(self, stream: str, after_sequence: int = 0) -> AsyncGenerator[Recorded]:
        """See `port.Journal.read`."""
        reading = StreamReading(stream, after_sequence)
        more = True
        while more:
            chunk, more = await self._reader.run(reading.next_chunk)
            for recorded in chunk:
                yield recorded

    async def replay(self, after: Mapping[str, int]) -> AsyncGenerator[Recorded]:
        """See `port.Journal.replay`; one stream after the other, since here each is found by itself."""
        for stream, sequence in after.items():
            async for recorded in self.read(stream, sequence):
                yield recorded

    async def subscribe(self, after: Mapping[int, int]) -> AsyncGenerator[Recorded]:
        """See `port.Journal.subscribe`; the only partition is 0."""
        if after.keys() - {0}:
            raise PositionBeyondEnd(f"a SQLite journal has partition 0 only, not {sorted(after)}: rebuild the reader")
        reading = LogReading(after.get(0, 0))
        await self._reader.run(reading.start)
        while True:
            chunk = await self._reader.run(reading.next_chunk)
            for recorded in chunk:
                yield recorded
            if not chunk:
                if self._watch is not None:
                    self._watch.start()
                if not await self._bell.wait_beyond(reading.offset):
                    raise JournalClosed(f"journal {self._path} is closed")

    async def end(self) -> Mapping[int, int]:
        """See `port.Journal.end`; offsets count from 1, so an empty journal ends at 0."""
        return {0: await self._reader.run(last_offset)}

    async def streams(self) -> Sequence[StreamHead]:
        """See `port.Journal.streams`."""
        return await self._reader.run(stream_heads)

    async def tenure(self, stream: str) -> int:
        """See `port.Journal.tenure`; the file's lock makes it one for as long as the journal is open."""
        if self._writer is None:
            raise JournalClosed(f"journal {self._path} is open read-only: nothing is written to {stream} here")
        if self._closing is not None:
            raise JournalClosed(f"journal {self._path} is closed")
        return 0

    async def close(self) -> None:
        """See `port.Journal.close`."""
        if self._closing is None:
            self._reader.refuse_more()
            self._bell.stop()
            self._closing = asyncio.create_task(asyncio.to_thread(self._close))
        # Shielded: a caller that is cancelled must not leave the lock behind, and a second caller waits for the first.
        await asyncio.shield(self._closing)

    def _close(self) -> None:
        # The reader goes first: the last connection to close takes the log file over into the journal file.
        self._reader.close()
        if self._watch is not None:
            self._watch.stop()
        if self._writer is not None:
            self._writer.close()
        if self._lock is not None:
            self._lock.release()

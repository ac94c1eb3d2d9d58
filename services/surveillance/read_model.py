"""The read model as the running service has it: opened, asked, and given up when its file is not what it was.

Owns the open database. Promises that a file that was deleted, replaced or damaged under a running house is noticed at the
next question or write at the latest, and that nobody gets an answer from it; `opened_anew` makes another. What is in the
rows, and reading them in again, is others' work.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from services.journal.port import Journal
from services.runtime.failures import ServiceUnavailable
from services.surveillance.store import open_store

T = TypeVar("T")


class ReadModelLost(ServiceUnavailable):
    """The file is gone, is another one, or cannot be read: it is built anew from the journal."""


class ReadModel:
    """The database at `path`; `lost` is called whenever it turns out not to be usable any more."""

    def __init__(self, path: Path, lost: Callable[[], None]) -> None:
        self._path = path
        self._lost = lost
        self._engine: Engine | None = None
        self._file: tuple[int, int] | None = None
        self._doubted = False

    @property
    def engine(self) -> Engine:
        """The open database; raises ServiceUnavailable before the start and after the end."""
        if self._engine is None:
            raise ServiceUnavailable("surveillance is not running")
        return self._engine

    def open(self) -> bool:
        """Open it, or look whether it is still what was opened and else make another; whether it is another than before.

        Blocks. Raises OSError when the folder cannot be written.
        """
        if self._engine is not None and not self._doubted and self._file == _identity(self._path):
            return False
        if self._engine is not None:
            self._engine.dispose()
        self._engine = open_store(self._path)
        known, self._file = self._file, _identity(self._path)
        self._doubted = False
        return known != self._file

    def close(self) -> None:
        """Close it. Blocks."""
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None

    @contextmanager
    def in_use(self) -> Iterator[Engine]:
        """The database for one question or write. Blocks.

        Raises ReadModelLost, and no DBAPIError, when the file is not the one that was opened or cannot be used.
        """
        engine = self.engine
        if self._doubted or self._file != _identity(self._path):
            self._doubted = True
            raise ReadModelLost("the read model is gone and is built anew from the journal: ask again in a moment")
        try:
            yield engine
        except DBAPIError as error:
            self._doubted = True
            raise ReadModelLost(f"the read model cannot be used and is looked at again: {error.orig}") from error

    async def ask(self, question: Callable[[Connection], T]) -> T:
        """The answer to `question`, worked out beside the event loop; raises ServiceUnavailable when there is none now."""

        def answer() -> T:
            with self.in_use() as engine, engine.connect() as connection:
                return question(connection)

        try:
            return await asyncio.to_thread(answer)
        except ReadModelLost:
            self._lost()
            raise


async def is_of(journal: Journal, heads: Mapping[str, tuple[int, str]]) -> bool:
    """Whether these last events of streams (sequence, hash in hex) stand in the journal with the same bytes.

    They do not when the rows were made from another journal, or from a later copy of it.
    """
    for stream, (sequence, digest) in heads.items():
        found = ""
        async for recorded in journal.read(stream, sequence - 1):
            found = recorded.hash.hex()
            break
        if found != digest:
            return False
    return True


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino

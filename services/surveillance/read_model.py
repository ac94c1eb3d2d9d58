"""The read model as the running service has it: opened, asked, and given up when its database is not what it was.

Owns the open database. Promises that a file that was deleted, replaced or damaged under a running house, and a PostgreSQL
that went away, is noticed at the next question or write at the latest, and that nobody gets an answer from it; `open`
opens or makes another. What is in the rows, and reading them in again, is others' work.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from services.journal.port import Journal
from services.runtime.failures import ServiceUnavailable
from services.surveillance.places import Place
from services.surveillance.store import one_moment

T = TypeVar("T")

LONGEST_USE_SECONDS = 10.0


class ReadModelLost(ServiceUnavailable):
    """The file is gone, is another one, or cannot be read; or PostgreSQL does not answer. It is mended or waited for."""


class ReadModel:
    """The database at `place`; `lost` is called whenever it turns out not to be usable any more."""

    def __init__(self, place: Place, lost: Callable[[], None]) -> None:
        self.place = place
        self._lost = lost
        self._engine: Engine | None = None
        self._identity: object = None
        self._doubted = False
        self._trouble = "surveillance is not running"
        self._quiet = threading.Condition()
        self._users = 0

    @property
    def engine(self) -> Engine:
        """The open database; raises ServiceUnavailable before the start and after the end."""
        if self._engine is None:
            raise ServiceUnavailable(self._trouble)
        return self._engine

    def open(self) -> bool:
        """Open it, or look whether it is still what was opened and else make another; whether it is another than before.

        Blocks. Raises OSError when the folder cannot be written, ReadModelRefused when this build may not use it,
        ReadModelLost when it cannot be reached.
        """
        if self._engine is not None and not self._doubted and self._identity == self.place.identity():
            return False
        self._dispose()
        try:
            self._engine = self.place.open()
        except DBAPIError as error:
            self._trouble = self.place.lost(error.orig)
            raise ReadModelLost(self._trouble) from error
        except ServiceUnavailable as error:
            self._trouble = str(error)
            raise
        known, self._identity = self._identity, self.place.identity()
        self._doubted = False
        return known != self._identity

    def close(self) -> None:
        """Close it, once those who use it now are done. Blocks."""
        engine, self._engine = self._engine, None
        self._trouble = "surveillance is not running"
        with self._quiet:
            # Who was cancelled is still at work in his thread, and a connection given back too late would stay open.
            self._quiet.wait_for(lambda: not self._users, LONGEST_USE_SECONDS)
        if engine is not None:
            engine.dispose()

    def _dispose(self) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.dispose()

    @contextmanager
    def in_use(self) -> Iterator[Engine]:
        """The database for one question or write. Blocks.

        Raises ReadModelLost, and no DBAPIError, when the file is not the one that was opened or cannot be used.
        """
        engine = self.engine
        if self._identity != self.place.identity() or (self._doubted and not self.place.is_shared):
            self._doubted = True
            raise ReadModelLost("the read model is gone and is built anew from the journal: ask again in a moment")
        with self._quiet:
            self._users += 1
        try:
            yield engine
        except DBAPIError as error:
            self._doubted = True
            self._trouble = self.place.lost(error.orig)
            raise ReadModelLost(self._trouble) from error
        finally:
            with self._quiet:
                self._users -= 1
                self._quiet.notify_all()

    async def ask(self, question: Callable[[Connection], T]) -> T:
        """The answer to `question`, worked out beside the event loop; raises ServiceUnavailable when there is none now."""

        def answer() -> T:
            with self.in_use() as engine, reading(engine).connect() as connection:
                one_moment(connection)
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


def reading(engine: Engine) -> Engine:
    """Connections whose transactions see one moment."""
    if engine.dialect.name == "postgresql":
        return engine.execution_options(isolation_level="REPEATABLE READ")
    return engine

"""Where a read model lies: a file of this process, or a PostgreSQL database that several share.

Owns what is different between the two for the service that uses one: opening, noticing that it is another, leading. What
is in the rows is the same for both.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Protocol

from sqlalchemy import URL, Engine

from services.journal.writer_lock import WriterLock
from services.surveillance import findings_store, postgres
from services.surveillance.store import open_existing, open_store, remove


class Lead(Protocol):
    """Who may project."""

    def held(self) -> bool:
        """Whether this process leads, taking the lead if it is free. Blocks; raises DBAPIError when nobody can tell."""
        ...

    def release(self) -> None:
        """Let another lead. Blocks."""
        ...


class Place(Protocol):
    """Where a read model lies. Methods block."""

    @property
    def is_shared(self) -> bool:
        """Whether other processes may use it too."""
        ...

    @property
    def name(self) -> str:
        """Where it is, as people may see it."""
        ...

    def open(self) -> Engine:
        """The database, ready; raises OSError, ReadModelRefused, or DBAPIError when it cannot be reached."""
        ...

    def identity(self) -> object:
        """What changes when another database lies here; None when there is none."""
        ...

    def lost(self, reason: object) -> str:
        """What to tell people when it cannot be used."""
        ...

    def lead(self) -> Lead:
        """The right to project into it."""
        ...

    def beside(self) -> AbstractContextManager[Engine]:
        """An empty read model beside this one, to be built and swapped in inside the block; one at a time."""
        ...

    def swap(self) -> None:
        """Put the one that was built beside in this one's place, in one transaction: nobody sees some rows of each."""
        ...


class _Alone:
    """Leads always: the file's lock is held by whoever hosts the service."""

    def held(self) -> bool:
        return True

    def release(self) -> None:
        return


class FilePlace:
    """A SQLite file."""

    is_shared = False

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def name(self) -> str:
        """The path."""
        return str(self.path)

    def open(self) -> Engine:
        """The database in the file, made anew when it cannot be trusted."""
        return open_store(self.path)

    def identity(self) -> object:
        """The file's device and number."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def lost(self, reason: object) -> str:
        """It is looked at again, and built anew if need be."""
        return f"the read model cannot be used and is looked at again: {reason}"

    def lead(self) -> Lead:
        """This process."""
        return _Alone()

    @contextmanager
    def beside(self) -> Iterator[Engine]:
        """A file beside it; raises JournalLocked when another is being built."""
        path = self._next
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = WriterLock(path, "the rebuild of")
        try:
            remove(path)
            engine = open_store(path)
            try:
                yield engine
            finally:
                engine.dispose()
        finally:
            remove(path)
            lock.release()
            lock.path.unlink(missing_ok=True)

    def swap(self) -> None:
        """Page by page in one transaction, so that a house that has the file open goes on with it."""
        kept = open_existing(self.path)
        if kept is None:
            # Nothing that anybody could be reading.
            remove(self.path)
            with closing(sqlite3.connect(self._next)) as settled:
                settled.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._next.replace(self.path)
            return
        built = open_store(self._next)
        with kept.connect() as connection:
            findings_store.keep(built, findings_store.all_kept(connection))
        kept.dispose()
        built.dispose()
        with (
            closing(sqlite3.connect(self._next)) as source,
            closing(sqlite3.connect(self.path, timeout=30)) as target,
        ):
            source.backup(target)

    @property
    def _next(self) -> Path:
        return self.path.with_name(self.path.name + ".next")


class PostgresPlace:
    """A PostgreSQL database."""

    is_shared = True

    def __init__(self, url: URL) -> None:
        self.url = url

    @property
    def name(self) -> str:
        """The address without its password."""
        return postgres.shown(self.url)

    def open(self) -> Engine:
        """The database, refused when it is not of this build."""
        return postgres.opened(self.url)

    def identity(self) -> object:
        """The address: what lies there is told apart by the mark of its writer."""
        return str(self.url)

    def lost(self, reason: object) -> str:
        """It is waited for."""
        first_line = str(reason).strip().partition("\n")[0]
        return f"PostgreSQL at {postgres.shown(self.url)} cannot be used and is waited for: {first_line}"

    def lead(self) -> Lead:
        """Whoever holds the lock."""
        return postgres.Leadership(self.url)

    def beside(self) -> AbstractContextManager[Engine]:
        """A schema beside it; raises ReadModelRefused when another is being built."""
        return postgres.beside(self.url)

    def swap(self) -> None:
        """By renaming the schemas."""
        postgres.swap(self.url)


def place_of(where: str | Path) -> Place:
    """The place of an address such as postgresql://…, or of a file's path; raises SettingsRefused."""
    if isinstance(where, str) and "://" in where:
        return PostgresPlace(postgres.read_url(where))
    return FilePlace(Path(where))

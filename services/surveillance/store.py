"""The projection's database in a file: opened, checked, migrated, thrown away and made again when it cannot be trusted.

Owns the file. Promises that what `open_store` gives is a database of this build's shape and meaning: one that is missing,
damaged, of another meaning or no database at all is built anew, since the journal is the truth; one that is behind by a
migration is migrated, since the file is this process's own; one of a newer build is left alone and refused. Does not
know what the rows mean.
"""

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import structlog
from sqlalchemy import Connection, Engine, create_engine, delete, event, insert, select, text
from sqlalchemy.exc import DBAPIError

from services.runtime.failures import ServiceUnavailable
from services.surveillance.migrating import Standing, is_readable, migrate, revision_of, standing_of
from services.surveillance.schema import DERIVED, METERS, REVISION, SCHEMA_VERSION, meta, metadata

log = structlog.get_logger(__name__)


class ReadModelRefused(ServiceUnavailable):
    """The database is not one that this build may use; the text says why and which command mends it."""


def open_store(path: Path) -> Engine:
    """The database at `path`, ready; raises OSError when the folder cannot be written, ReadModelRefused for a newer one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    engine = _connect(f"sqlite:///{path}")
    found = _standing(engine)
    if found is Standing.NEWER:
        engine.dispose()
        raise ReadModelRefused(
            f"the read model {path} was made by a newer build of Holecard: run that one, or delete the file and it is built"
            " again from the journal"
        )
    if found is Standing.BEHIND:
        log.info("the read model is migrated", path=str(path))
        with engine.begin() as connection:
            migrate(connection)
        found = _standing(engine)
    if found is not Standing.CURRENT:
        if found is not Standing.EMPTY:
            log.warning("the projection is not one of this build and is built anew", path=str(path))
        engine.dispose()
        remove(path)
        engine = _connect(f"sqlite:///{path}")
        with engine.begin() as connection:
            migrate(connection)
    return engine


def open_existing(path: Path) -> Engine | None:
    """The database at `path` for reading only, None when there is none of this build's schema; changes nothing."""
    if not path.is_file():
        return None
    engine = create_engine(f"sqlite:///file:{quote(str(path.resolve()))}?mode=ro&uri=true")
    with suppress(DBAPIError), engine.connect() as connection:
        if is_readable(connection):
            return engine
    engine.dispose()
    return None


def unchecked(path: Path) -> Engine:
    """The file as it is, of whatever build; raises nothing before it is asked."""
    return _connect(f"sqlite:///{path}")


def open_memory() -> Engine:
    """A database in memory, for comparison and tests."""
    from sqlalchemy.pool import StaticPool

    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    create(engine)
    return engine


def create(engine: Engine) -> None:
    """Make every table at once, without the migrations' history: for a database that lives no longer than its process."""
    metadata.create_all(engine)
    with engine.begin() as connection:
        names = {"schema_version": str(SCHEMA_VERSION), "writer": ""}
        connection.execute(insert(meta), [{"name": name, "value": value} for name, value in names.items()])
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
        connection.execute(text("INSERT INTO alembic_version VALUES (:revision)"), {"revision": REVISION})


def empty(engine: Engine) -> None:
    """Throw every derived row away, so that everything is read again from the journal's beginning."""
    with engine.begin() as connection:
        for table in (*DERIVED, *METERS):
            connection.execute(delete(table))


def one_moment(connection: Connection) -> None:
    """Begin a transaction in which every question is answered from the same moment, and nothing is swapped meanwhile."""
    if connection.dialect.name == "postgresql":
        hold_still(connection)
    else:
        connection.exec_driver_sql("BEGIN")


def hold_still(connection: Connection) -> None:
    """Keep the rows from being swapped until the transaction's end; first thing in it.

    A swap of a file is one transaction of its own, so SQLite needs nothing.
    """
    if connection.dialect.name == "postgresql":
        # Taking a table's lock takes no snapshot: what was swapped while we waited for it is what we see.
        connection.exec_driver_sql("LOCK TABLE meta IN ACCESS SHARE MODE")


def digests(engine: Engine, tables: Iterable[Any] = DERIVED) -> dict[str, str]:
    """SHA-256 over all rows of each table, in the order of their keys: equal rows, equal digests."""
    found = {}
    with engine.connect() as connection:
        for table in tables:
            digest = hashlib.sha256()
            for row in connection.execute(select(table).order_by(*table.primary_key.columns)):
                digest.update(repr(tuple(row)).encode())
            found[table.name] = digest.hexdigest()
    return found


def _connect(url: str) -> Engine:
    engine = create_engine(url)
    event.listen(engine, "connect", _pragmas)
    return engine


def _pragmas(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    # A derived file may lose its last transactions in a power cut: position and effect go together, so it only lags.
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=5000"):
        with suppress(Exception):  # a file that is no database is found out when it is first read
            cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _standing(engine: Engine) -> Standing:
    """How the file stands to this build; one that is damaged or of before migrations counts as of other meaning."""
    path = engine.url.database
    if path is None or not Path(path).exists() or not Path(path).stat().st_size:
        return Standing.EMPTY
    try:
        with engine.connect() as connection:
            found = standing_of(connection) if revision_of(connection) else Standing.OTHER
            # A page that is damaged further on shows here rather than in the middle of a transaction.
            sound = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar() == "ok"
    except DBAPIError:
        return Standing.OTHER
    return found if sound else Standing.OTHER


def remove(path: Path) -> None:
    """Delete the database's files."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)

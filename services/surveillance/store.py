"""The projection's database: opened, checked, thrown away and made again when it cannot be trusted.

Owns the file. Promises that what `open_store` gives is a database of this build's schema: one that is missing, damaged,
of another version or no database at all is built anew, since the journal is the truth. Does not know what the rows
mean.
"""

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import structlog
from sqlalchemy import Engine, create_engine, delete, event, insert, select
from sqlalchemy.exc import DBAPIError

from services.surveillance.schema import DERIVED, SCHEMA_VERSION, meta, metadata

log = structlog.get_logger(__name__)


def open_store(path: Path) -> Engine:
    """The database at `path`, ready; raises OSError when the folder cannot be written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    engine = _connect(f"sqlite:///{path}")
    found = _version(engine)
    if found != str(SCHEMA_VERSION):
        if found is not None:
            log.warning("the projection is not one of this build and is built anew", path=str(path), version=found)
        engine.dispose()
        _remove(path)
        engine = _connect(f"sqlite:///{path}")
        create(engine)
    return engine


def open_existing(path: Path) -> Engine | None:
    """The database at `path` for reading only, None when there is none of this build's schema; changes nothing."""
    if not path.is_file():
        return None
    engine = create_engine(f"sqlite:///file:{quote(str(path.resolve()))}?mode=ro&uri=true")
    try:
        with engine.connect() as connection:
            found = connection.execute(select(meta.c.value).where(meta.c.name == "schema_version")).scalar()
    except DBAPIError:
        found = None
    if found == str(SCHEMA_VERSION):
        return engine
    engine.dispose()
    return None


def open_memory() -> Engine:
    """A database in memory, for comparison and tests."""
    from sqlalchemy.pool import StaticPool

    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    create(engine)
    return engine


def create(engine: Engine) -> None:
    """Make every table and write down the version."""
    metadata.create_all(engine)
    with engine.begin() as connection:
        connection.execute(insert(meta), [{"name": "schema_version", "value": str(SCHEMA_VERSION)}])


def empty(engine: Engine) -> None:
    """Throw every derived row away, so that everything is read again from the journal's beginning."""
    with engine.begin() as connection:
        for table in DERIVED:
            connection.execute(delete(table))


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


def _version(engine: Engine) -> str | None:
    """The schema version written in the database; None when there is no database, "" when it cannot be read."""
    path = engine.url.database
    if path is None or not Path(path).exists() or not Path(path).stat().st_size:
        return None
    try:
        with engine.connect() as connection:
            result = connection.execute(select(meta.c.value).where(meta.c.name == "schema_version")).scalar()
            # A page that is damaged further on shows here rather than in the middle of a transaction.
            ok = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
    except DBAPIError:
        return ""
    return str(result) if result is not None and ok == "ok" else ""


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)

"""The projection's database on PostgreSQL: reached, checked, migrated, and who of several processes leads.

Owns the connections. The read model lies in the schema `surveillance`, one being built beside it in `surveillance_next`.
Promises that a database that is behind, newer or empty is refused with the command that mends it; that no password is
ever shown; that at most one process leads, and another may as soon as it is gone. Does not know what the rows mean.
"""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg.types.string import StrDumper
from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import NullPool

from services.runtime.settings import SettingsRefused
from services.surveillance.migrating import Standing, migrate, missing_after, revision_of, standing_of
from services.surveillance.schema import REVISION
from services.surveillance.store import ReadModelRefused

SCHEMA = "surveillance"
NEXT = "surveillance_next"
CONNECT_SECONDS = 5
_KEEP_FINDINGS = "INSERT INTO surveillance_next.findings SELECT * FROM surveillance.findings ON CONFLICT DO NOTHING"


def lock_number(name: str) -> int:
    """The number of an advisory lock by its name, the same in every process."""
    return int.from_bytes(hashlib.sha256(f"holecard {name}".encode()).digest()[:8], "big", signed=True)


LEADER = lock_number("leader")
MIGRATING = lock_number("migrating")
REBUILDING = lock_number("rebuilding")


class _Text(StrDumper):
    """PostgreSQL's texts hold no NUL character; a log may."""

    def dump(self, obj: str) -> Any:
        return super().dump(obj.replace("\x00", "\N{REPLACEMENT CHARACTER}") if "\x00" in obj else obj)


def read_url(address: str) -> URL:
    """An address such as postgresql://user@host/database; raises SettingsRefused."""
    try:
        url = make_url(address)
    except (ArgumentError, ValueError) as error:
        raise SettingsRefused("the projection's address is not one such as postgresql://user@host/database") from error
    if url.get_backend_name() not in {"postgresql", "postgres"} or not url.database:
        raise SettingsRefused(f"{shown(url)} is not an address such as postgresql://user@host/database")
    return url.set(drivername="postgresql+psycopg")


def shown(url: URL) -> str:
    """The address as people may see it, without the password."""
    return url.set(drivername="postgresql").render_as_string(hide_password=True)


def connected(url: URL, schema: str = SCHEMA) -> Engine:
    """Connections to the database, in which names without a schema are those of `schema`; nothing is reached yet."""
    # Asked before it is lent out, a connection that a restart of PostgreSQL has cut is replaced and nobody notices.
    engine = create_engine(
        url,
        pool_pre_ping=True,
        connect_args={"connect_timeout": CONNECT_SECONDS, "application_name": "holecard-surveillance"},
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: psycopg.Connection[Any], _record: Any) -> None:
        connection.adapters.register_dumper(str, _Text)
        connection.execute(f"SET search_path TO {schema}")
        connection.commit()

    return engine


def opened(url: URL) -> Engine:
    """The read model at this address, ready; raises ReadModelRefused, and DBAPIError when it cannot be reached."""
    engine = connected(url)
    try:
        with engine.connect() as connection:
            refuse_unless_current(connection, shown(url))
    except BaseException:
        engine.dispose()
        raise
    return engine


def refuse_unless_current(connection: Connection, name: str) -> None:
    """Raise ReadModelRefused, with the command that mends it, when the database is not of this build."""
    match standing_of(connection):
        case Standing.CURRENT:
            return
        case Standing.NEWER:
            raise ReadModelRefused(
                f"the read model in {name} has had migration {revision_of(connection)}, which this build does not know (it"
                f" knows up to {REVISION}): run the newer build, or give this one a database of its own"
            )
        case Standing.OTHER:
            raise ReadModelRefused(
                f"the rows in {name} were written by a build that read the journal otherwise: run `holecard projection"
                " rebuild` with the same --projection"
            )
        case Standing.EMPTY | Standing.BEHIND:
            missing = ", ".join(missing_after(revision_of(connection)))
            raise ReadModelRefused(
                f"the read model in {name} has not had migration {missing}: run `holecard surveillance migrate` with the"
                " same --projection"
            )


def migrated(url: URL, schema: str = SCHEMA, to: str = REVISION) -> tuple[str, ...]:
    """Bring the schema to this build's shape, making it when it is not there; the migrations that were run.

    Raises ReadModelRefused for a newer one, DBAPIError when the database cannot be reached or may not be changed.
    """
    engine = connected(url, schema)
    try:
        with engine.begin() as connection:
            # Two that migrate at once would each make the other's tables.
            connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": MIGRATING})
            connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {schema}"))
            if standing_of(connection) is Standing.NEWER:
                refuse_unless_current(connection, shown(url))
            return migrate(connection, to)
    finally:
        engine.dispose()


@contextmanager
def beside(url: URL) -> Iterator[Engine]:
    """An empty read model beside the one in use, to be built; at most one at a time.

    Raises ReadModelRefused when another is being built, DBAPIError.
    """
    keeper = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    with keeper.connect() as connection:
        if not connection.execute(text("SELECT pg_try_advisory_lock(:number)"), {"number": REBUILDING}).scalar():
            raise ReadModelRefused(
                f"the read model in {shown(url)} is being rebuilt already: wait until that has ended"
            )
        connection.execute(text(f"DROP SCHEMA IF EXISTS {NEXT} CASCADE"))
        migrated(url, NEXT)
        engine = connected(url, NEXT)
        try:
            yield engine
        finally:
            engine.dispose()
            connection.execute(text(f"DROP SCHEMA IF EXISTS {NEXT} CASCADE"))


def swap(url: URL) -> None:
    """Put the read model that was built beside in the place of the one in use, in one transaction.

    Whoever asks a question now is waited for, and whoever asks the next one gets the new rows; nobody sees some of each.
    """
    keeper = create_engine(url, poolclass=NullPool)
    with keeper.begin() as connection:
        if connection.execute(text("SELECT to_regclass(:name)"), {"name": f"{SCHEMA}.meta"}).scalar():
            connection.execute(text(f"LOCK TABLE {SCHEMA}.meta IN ACCESS EXCLUSIVE MODE"))
            if connection.execute(text("SELECT to_regclass(:name)"), {"name": f"{SCHEMA}.findings"}).scalar():
                # Findings are never deleted.
                connection.execute(text(_KEEP_FINDINGS))
        connection.execute(text(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE"))
        connection.execute(text(f"ALTER SCHEMA {NEXT} RENAME TO {SCHEMA}"))


class Leadership:
    """The right to project, held by at most one process at a time through a lock of a connection kept for it alone.

    The lock ends with the connection, however the process dies. That an owner which was cut off writes no more is held by
    the mark that every write looks at (`Projection`), not by this. Methods block.
    """

    def __init__(self, url: URL) -> None:
        self._engine = create_engine(
            url,
            poolclass=NullPool,
            isolation_level="AUTOCOMMIT",
            connect_args={
                "connect_timeout": CONNECT_SECONDS,
                "application_name": "holecard-leader",
                # A process whose host is gone says nothing more: its lock must not be kept for two hours.
                "keepalives_idle": 5,
                "keepalives_interval": 2,
                "keepalives_count": 3,
            },
        )
        self._connection: Connection | None = None
        self._lock = threading.Lock()
        self._is_over = False

    def held(self) -> bool:
        """Whether this process leads now, taking the lead if it is free; raises DBAPIError when nobody can tell."""
        with self._lock:
            return not self._is_over and self._held()

    def release(self) -> None:
        """Let another lead, for good."""
        with self._lock:
            self._is_over = True
            self._let_go()

    def _held(self) -> bool:
        try:
            if self._connection is not None:
                self._connection.execute(text("SELECT 1"))
                return True
            connection = self._engine.connect()
            if connection.execute(text("SELECT pg_try_advisory_lock(:number)"), {"number": LEADER}).scalar():
                self._connection = connection
                return True
            connection.close()
        except DBAPIError:
            self._let_go()
            raise
        return False

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            # Without a pool this ends the server's session, to which the lock belongs.
            with suppress(DBAPIError):
                connection.close()

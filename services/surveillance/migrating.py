"""Which revision a read model's database has, and bringing it to this build's by Alembic.

Owns that comparison for SQLite and PostgreSQL alike. Promises that a database of a newer build is never touched, and
that migrating twice does nothing the second time. Does not open databases.
"""

from enum import StrEnum
from pathlib import Path

from sqlalchemy import Connection, inspect, select, text
from sqlalchemy.exc import DBAPIError

from services.surveillance.schema import REVISION, REVISIONS, SCHEMA_VERSION, meta

_SCRIPTS = Path(__file__).parent / "migrations"


class Standing(StrEnum):
    """How a database stands to this build."""

    EMPTY = "empty"
    """There is no read model in it, or one from before migrations."""
    CURRENT = "current"
    BEHIND = "behind"
    """Migrations are missing."""
    NEWER = "newer"
    """It has had migrations that this build does not know."""
    OTHER = "other"
    """It has the right shape, but its rows mean something else: they must be derived again."""


def revision_of(connection: Connection) -> str:
    """The last migration that the database has had; "" when none. Raises DBAPIError when it cannot be read."""
    if not inspect(connection).has_table("alembic_version"):
        return ""
    return str(connection.execute(text("SELECT version_num FROM alembic_version")).scalar() or "")


def standing_of(connection: Connection) -> Standing:
    """How the database stands to this build; raises DBAPIError when it cannot be read."""
    revision = revision_of(connection)
    if not revision:
        return Standing.EMPTY
    if revision != REVISION:
        return Standing.BEHIND if revision in REVISIONS else Standing.NEWER
    found = connection.execute(select(meta.c.value).where(meta.c.name == "schema_version")).scalar()
    return Standing.CURRENT if found == str(SCHEMA_VERSION) else Standing.OTHER


def missing_after(revision: str) -> tuple[str, ...]:
    """The migrations that a database of this revision has not had."""
    return REVISIONS[REVISIONS.index(revision) + 1 :] if revision in REVISIONS else REVISIONS


def migrate(connection: Connection, to: str = REVISION) -> tuple[str, ...]:
    """Run what is missing, in the connection's transaction; the revisions that were run.

    Raises DBAPIError. The caller sees to it that nobody else migrates the same database now.
    """
    before = revision_of(connection)
    if before == to:
        return ()
    # Half a second that only those pay who migrate.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, to)
    return tuple(revision for revision in missing_after(before) if revision <= to)


def is_readable(connection: Connection) -> bool:
    """Whether the database is of this build and can be read."""
    try:
        return standing_of(connection) is Standing.CURRENT
    except DBAPIError:
        return False

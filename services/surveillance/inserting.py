"""Writing rows that may be there already, in the one form that SQLite and PostgreSQL share (ON CONFLICT)."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite


def insertion(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """An insert that knows ON CONFLICT."""
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)


def insert_new(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert the rows whose keys are not there; the others stay as they are."""
    if rows:
        connection.execute(insertion(connection, table).on_conflict_do_nothing(), list(rows))


def put(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert whole rows, in the place of those with the same keys."""
    if rows:
        statement = insertion(connection, table)
        rest = {c.name: statement.excluded[c.name] for c in table.columns if not c.primary_key}
        statement = statement.on_conflict_do_update(index_elements=list(table.primary_key.columns), set_=rest)
        connection.execute(statement, list(rows))


def add(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
    """Insert rows; where the key is there, add the values of these columns to what it has."""
    if rows:
        statement = insertion(connection, table)
        sums = {name: table.c[name] + statement.excluded[name] for name in names}
        statement = statement.on_conflict_do_update(index_elements=list(table.primary_key.columns), set_=sums)
        connection.execute(statement, list(rows))

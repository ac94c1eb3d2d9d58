"""From facts to rows, position and effect in one transaction.

Owns the writing of the read model. Promises: a fact is projected once, however often it is delivered; a gap in a stream
is seen and nothing after it is projected; the rows follow from the journal alone, so that a second build gives the same
ones; one that another took over from, or whose rows were swapped for others, writes nothing more. Not safe for two
threads at once.
"""

import dataclasses
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Dialect, Engine, delete, insert, select, update
from sqlalchemy import Table as SqlTable
from sqlalchemy.sql.compiler import SQLCompiler

from services.surveillance import schema
from services.surveillance.facts import Fact
from services.surveillance.table_book import Row, Seat, TableBook, new_table


class GapFound(Exception):
    """A stream goes on after a missing event; `stream` and the `sequence` after which to read it again."""

    def __init__(self, stream: str, sequence: int) -> None:
        super().__init__(f"{stream} was projected up to {sequence} and goes on later")
        self.stream = stream
        self.sequence = sequence


class TakenOver(Exception):
    """Another projects into these rows now, or they are other rows: nothing was written; take them up again."""


@dataclass(slots=True)
class Changes:
    """What a batch changed: tables by key, rounds that ended; how many facts were new, and how many came again."""

    tables: set[str] = field(default_factory=set)
    ended_rounds: list[str] = field(default_factory=list)
    projected: int = 0
    duplicates: int = 0


@dataclass(frozen=True, slots=True)
class OpenRound:
    """An open round whose events must be folded again after a restart: the sequences of its table's stream."""

    stream: str
    after_sequence: int
    last_sequence: int


_TAKEN = "another process projects now, or the rows were swapped for others"

Also = Callable[[Connection, Sequence[Fact]], None]


class Projection:
    """The read model in `engine`, taken over from whoever wrote it before; with `looking` it is only read."""

    def __init__(self, engine: Engine, *, looking: bool = False, also: Also | None = None) -> None:
        """`also` is called in the transaction of every write with what is new in it."""
        self.engine = engine
        self._also = also
        self._mark = "" if looking else secrets.token_hex(8)
        self._is_over = False
        self._books: dict[str, TableBook] = {}
        self._streams: dict[str, tuple[int, str, int]] = {}
        self._positions: dict[int, int] = {}
        self._load()

    @property
    def positions(self) -> Mapping[int, int]:
        """How far each partition is projected."""
        return self._positions

    @property
    def sequences(self) -> Mapping[str, int]:
        """How far each stream is projected."""
        return {stream: known[0] for stream, known in self._streams.items()}

    @property
    def heads(self) -> Mapping[str, tuple[int, str]]:
        """The last projected event of each stream: its sequence and its hash in hex."""
        return {stream: known[:2] for stream, known in self._streams.items()}

    @property
    def open_rounds(self) -> tuple[OpenRound, ...]:
        """Rounds that were in play when the rows were written, to be given to `restore` before anything is projected."""
        return tuple(
            OpenRound(f"table:{key}", book.row["round_first_sequence"] - 1, self._streams[f"table:{key}"][0])
            for key, book in self._books.items()
            if book.row["round_id"] and book.current is None and f"table:{key}" in self._streams
        )

    def restore(self, facts: Iterable[Fact]) -> None:
        """Fold the events of an open round again; they are projected already, so no row changes."""
        for fact in facts:
            book = self._books[fact.key]
            kept = dict(book.row), {session: dataclasses.replace(seat) for session, seat in book.seats.items()}
            book.apply(fact)
            book.row, book.seats = kept
            book.finished.clear()

    def project(self, facts: Sequence[Fact]) -> Changes:
        """Write a batch in one transaction; raises GapFound after writing what came before the gap, and TakenOver."""
        if self._is_over:
            raise TakenOver(_TAKEN)
        changes = Changes()
        gap: GapFound | None = None
        event_rows: list[Row] = []
        new: list[Fact] = []
        for fact in facts:
            last = self._streams.get(fact.stream, (0, "", 0))[0]
            if fact.sequence <= last:
                changes.duplicates += 1
                continue
            if fact.sequence > last + 1:
                gap = GapFound(fact.stream, last)
                break
            self._take(fact, changes)
            new.append(fact)
            event_rows.append(_event_row(fact))
        try:
            with self.engine.begin() as connection:
                if changes.projected:
                    self._hold(connection)
                    self._write(connection, event_rows, changes)
                    if self._also is not None:
                        self._also(connection, new)
        except TakenOver:
            self._is_over = True
            raise
        except BaseException:
            # Memory must not run ahead of the rows: take everything up again from what was written.
            self._load()
            raise
        if gap is not None:
            raise gap
        return changes

    def _take(self, fact: Fact, changes: Changes) -> None:
        book = self._books.get(fact.key)
        if book is None:
            book = self._books[fact.key] = TableBook(fact.key, new_table(fact.key))
        book.apply(fact)
        self._streams[fact.stream] = (fact.sequence, fact.hash.hex(), fact.envelope.recorded_time_us)
        partition, offset = fact.position
        self._positions[partition] = max(offset, self._positions.get(partition, offset))
        changes.tables.add(fact.key)
        changes.projected += 1

    def _write(self, connection: Connection, event_rows: list[Row], changes: Changes) -> None:
        _insert(connection, schema.events, event_rows)
        round_rows: dict[str, Row] = {}
        hand_rows: dict[str, list[Row]] = {}
        for key in changes.tables:
            book = self._books[key]
            rows = [*book.finished]
            changes.ended_rounds += [row["round_id"] for row, _ in book.finished]
            book.finished.clear()
            unfinished = book.rows_of_round()
            if unfinished is not None:
                rows.append(unfinished)
            for row, of_hands in rows:
                round_rows[row["round_id"]], hand_rows[row["round_id"]] = row, of_hands
        _replace(connection, schema.rounds, schema.rounds.c.round_id, round_rows.keys(), list(round_rows.values()))
        of_rounds = [row for rows in hand_rows.values() for row in rows]
        _replace(connection, schema.hands, schema.hands.c.round_id, hand_rows.keys(), of_rounds)
        tables = [self._books[key].row for key in changes.tables]
        _replace(connection, schema.tables, schema.tables.c.table_key, changes.tables, tables)
        _replace(connection, schema.seats, schema.seats.c.table_key, changes.tables, self._seat_rows(changes.tables))
        streams = {row["stream"] for row in event_rows}
        _replace(connection, schema.streams, schema.streams.c.stream, streams, [self._stream_row(s) for s in streams])
        positions = [{"partition": partition, "offset": offset} for partition, offset in self._positions.items()]
        _replace(connection, schema.positions, schema.positions.c.partition, self._positions.keys(), positions)

    def _seat_rows(self, keys: Iterable[str]) -> list[Row]:
        return [
            {"table_key": key, "session": session, **dataclasses.asdict(seat)}
            for key in keys
            for session, seat in self._books[key].seats.items()
        ]

    def _stream_row(self, stream: str) -> Row:
        sequence, digest, time_us = self._streams[stream]
        return {"stream": stream, "sequence": sequence, "hash": digest, "recorded_time_us": time_us}

    def _hold(self, connection: Connection) -> None:
        """Keep everybody else from writing until the transaction's end; raises TakenOver."""
        mine = (schema.meta.c.name == "writer", schema.meta.c.value == self._mark)
        # An update that changes nothing takes the row's lock in one database and the file's in the other.
        if connection.execute(update(schema.meta).where(*mine).values(value=self._mark)).rowcount != 1:
            raise TakenOver(_TAKEN)

    def _load(self) -> None:
        """Take the state up from the rows."""
        with self.engine.begin() as connection:
            if self._mark:
                writer = update(schema.meta).where(schema.meta.c.name == "writer")
                connection.execute(writer.values(value=self._mark))
            self._positions = {row.partition: row.offset for row in connection.execute(select(schema.positions))}
            self._streams = {
                row.stream: (row.sequence, row.hash, row.recorded_time_us)
                for row in connection.execute(select(schema.streams))
            }
            self._books = {
                row["table_key"]: TableBook(row["table_key"], dict(row))
                for row in connection.execute(select(schema.tables)).mappings()
            }
            for row in connection.execute(select(schema.seats)).mappings():
                book = self._books[row["table_key"]]
                book.seats[row["session"]] = Seat(**{f.name: row[f.name] for f in dataclasses.fields(Seat)})


def _replace(connection: Connection, table: SqlTable, column: Any, keys: Iterable[Any], rows: list[Row]) -> None:
    """Put `rows` in the place of the rows of these keys: the one form of upsert that every database has."""
    wanted = list(keys)
    for start in range(0, len(wanted), 500):
        connection.execute(delete(table).where(column.in_(wanted[start : start + 500])))
    _insert(connection, table, rows)


def _insert(connection: Connection, table: SqlTable, rows: list[Row]) -> None:
    """Insert whole rows by the driver's own executemany: the values need no conversion, and most of the time goes here."""
    if not rows:
        return
    statement = _insertion(table, connection.dialect)
    names = statement.positiontup
    if names is None:
        connection.exec_driver_sql(str(statement), rows)
    else:
        connection.exec_driver_sql(str(statement), [tuple(row[name] for name in names) for row in rows])


@lru_cache(maxsize=64)
def _insertion(table: SqlTable, dialect: Dialect) -> SQLCompiler:
    statement = insert(table).compile(dialect=dialect, column_keys=table.columns.keys())
    if not isinstance(statement, SQLCompiler):
        raise TypeError(f"an insert into {table.name} compiles to {type(statement).__name__}")
    return statement


def _event_row(fact: Fact) -> Row:
    envelope = fact.envelope
    return {
        "stream": envelope.stream,
        "sequence": envelope.sequence,
        "table_key": fact.key,
        "name": fact.name,
        "round_id": envelope.round_id,
        "actor_role": envelope.actor.role.value,
        "actor_id": envelope.actor.id,
        "gaming_day": envelope.gaming_day,
        "occurred_time_us": envelope.occurred_time_us,
        "recorded_time_us": envelope.recorded_time_us,
    }

"""The meters as rows: folded in with their (stream, sequence) in one transaction, once each, by any number of writers.

Owns the rows of `meter_streams` and `meters`. Promises that an event that comes again changes nothing, that a gap is seen
and nothing after it is folded, and that two writers of one stream never count the same event twice: the stream's row is
locked from its reading to its writing, and nothing is remembered between two batches.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select

from services.surveillance.facts import Fact
from services.surveillance.inserting import add, insert_new, put
from services.surveillance.meters import NAMES, Bucket, Figures, Meters, StreamState, evolve
from services.surveillance.schema import meter_streams, meters
from services.surveillance.store import one_moment

_STATE = tuple(entry.name for entry in dataclasses.fields(StreamState))
_NEW = {entry.name: entry.default for entry in dataclasses.fields(StreamState)}


class AnotherJournal(Exception):
    """The meters were folded from another journal, or from a later copy of it: rebuild them."""


@dataclass(slots=True)
class Folded:
    """What a batch came to: events that were new, that came again; for each stream with a gap the sequence before it."""

    events: int = 0
    duplicates: int = 0
    gaps: dict[str, int] = field(default_factory=dict)
    ended_rounds: int = 0


def fold_in(connection: Connection, facts: Sequence[Fact]) -> Folded:
    """Fold a batch in, in the connection's transaction; raises AnotherJournal.

    The facts of one stream must come in its order. Whoever calls this has begun the transaction by `writing`, or holds
    what that takes.
    """
    folded = Folded()
    if not facts:
        return folded
    states = _locked(connection, {fact.stream: fact.key for fact in facts})
    changed: dict[str, Meters] = {}
    for fact in facts:
        stream = fact.stream
        now = changed.get(stream) or Meters(states[stream])
        last = now.stream.sequence
        if fact.sequence <= last:
            if fact.sequence == last and fact.hash.hex() != now.stream.hash:
                raise AnotherJournal(f"{stream} {last} is not the event that was folded")
            folded.duplicates += 1
        elif fact.sequence > last + 1:
            folded.gaps.setdefault(stream, last)
        elif last and fact.envelope.previous_hash.hex() != now.stream.hash:
            raise AnotherJournal(f"{stream} {fact.sequence} does not follow the event that was folded")
        else:
            changed[stream] = evolve(now, fact)
            folded.events += 1
    _write(connection, changed, {fact.stream: fact.key for fact in facts})
    return folded


def writing(connection: Connection) -> None:
    """Begin a transaction that writes meters: from here on nobody else writes the same streams, nor swaps the rows."""
    if connection.dialect.name == "postgresql":
        one_moment(connection)
    else:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def folded_sequences(connection: Connection) -> dict[str, int]:
    """How far each stream is folded."""
    rows = connection.execute(select(meter_streams.c.stream, meter_streams.c.sequence))
    return {row.stream: row.sequence for row in rows}


def behind(connection: Connection, heads: Mapping[str, int]) -> dict[str, int]:
    """The streams whose meters are behind these sequences, each with the sequence that is folded."""
    known = folded_sequences(connection)
    return {stream: known.get(stream, 0) for stream, head in heads.items() if known.get(stream, 0) < head}


def read_meters(connection: Connection) -> dict[str, Meters]:
    """Every stream's meters as they are in the rows."""
    figures: dict[str, dict[Bucket, Figures]] = {}
    for row in connection.execute(select(meters)).mappings():
        bucket = (row["gaming_day"], row["dealer"])
        figures.setdefault(row["stream"], {})[bucket] = Figures(*(row[name] for name in NAMES))
    rows = connection.execute(select(meter_streams)).mappings()
    return {row["stream"]: Meters(_state_of(row), figures.get(row["stream"], {})) for row in rows}


def _locked(connection: Connection, keys: Mapping[str, str]) -> dict[str, StreamState]:
    """The state of these streams, their rows locked until the transaction's end."""
    # In one order everywhere, or two writers could wait for each other.
    names = sorted(keys)
    insert_new(connection, meter_streams, [{"stream": name, **_place(keys[name]), **_NEW} for name in names])
    wanted = select(meter_streams).where(meter_streams.c.stream.in_(names)).order_by(meter_streams.c.stream)
    return {row["stream"]: _state_of(row) for row in connection.execute(wanted.with_for_update()).mappings()}


def _write(connection: Connection, changed: Mapping[str, Meters], keys: Mapping[str, str]) -> None:
    put(
        connection,
        meter_streams,
        [
            {"stream": name, **_place(keys[name]), **{entry: getattr(now.stream, entry) for entry in _STATE}}
            for name, now in sorted(changed.items())
        ],
    )
    rows = [
        {"stream": name, "gaming_day": day, "dealer": dealer, **_place(keys[name]), **dataclasses.asdict(figures)}
        for name, now in sorted(changed.items())
        for (day, dealer), figures in sorted(now.figures.items())
    ]
    add(connection, meters, rows, NAMES)


def _place(key: str) -> dict[str, str]:
    return {"table_key": key, "floor": key.partition("/")[0]}


def _state_of(row: Any) -> StreamState:
    return StreamState(**{name: row[name] for name in _STATE})

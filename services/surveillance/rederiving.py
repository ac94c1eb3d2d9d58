"""Whether the read model is what the journal says: built a second time beside it, and compared row by row.

Owns the comparison that L6 asks of the projection (failures G03 and G05: a projection that lost events and called itself
healthy). The second build stops where the first one stands, so that it can be made while the house plays.
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from sqlalchemy import Connection, Engine, select

from services.journal.port import Recorded
from services.surveillance.facts import Fact, FactReader
from services.surveillance.projection import Projection
from services.surveillance.schema import events, hands, positions, rounds, seats, streams, tables

COMPARED = (positions, streams, events, rounds, hands, tables, seats)
BATCH = 1_000
MOST = 100

Row = dict[str, Any]


async def build_again(log: AsyncIterator[Recorded], until: Mapping[int, int], engine: Engine) -> None:
    """Project `log` into an empty database, up to these offsets of each partition."""
    projection, reader = Projection(engine), FactReader()
    left = {partition for partition, offset in until.items() if offset}
    batch: list[Fact] = []
    async for recorded in log:
        partition, offset = recorded.position
        if offset <= until.get(partition, 0):
            batch.append(reader.read(recorded))
        if offset >= until.get(partition, 0):
            left.discard(partition)
        if len(batch) >= BATCH:
            projection.project(batch)
            batch = []
        if not left:
            break
    if batch:
        projection.project(batch)


def differences(kept: Engine | Connection, again: Engine | Connection) -> list[str]:
    """What the kept read model has otherwise than the second build, each as a sentence; at most MOST of them.

    A read model that is written to meanwhile is given as a connection that sees one moment.
    """
    found: list[str] = []
    for table in COMPARED:
        for line in _compare(
            table.name, list(table.primary_key.columns.keys()), _rows(kept, table), _rows(again, table)
        ):
            found.append(line)
            if len(found) >= MOST:
                return found
    return found


def _rows(source: Engine | Connection, table: Any) -> Iterator[Row]:
    with source.connect() if isinstance(source, Engine) else nullcontext(source) as connection:
        wanted = select(table).order_by(*table.primary_key.columns).execution_options(yield_per=1_000)
        for row in connection.execute(wanted).mappings():
            yield dict(row)


def _compare(name: str, key: Sequence[str], kept: Iterator[Row], again: Iterator[Row]) -> Iterator[str]:
    """Walk both in the order of their keys, row beside row."""
    mine, theirs = next(kept, None), next(again, None)
    while mine is not None or theirs is not None:
        here = tuple(mine[column] for column in key) if mine is not None else None
        there = tuple(theirs[column] for column in key) if theirs is not None else None
        if theirs is None or (here is not None and there is not None and here < there):
            yield f"{name} {_place(here)}: only in the read model"
            mine = next(kept, None)
        elif mine is None or (here is not None and there is not None and there < here):
            yield f"{name} {_place(there)}: missing from the read model"
            theirs = next(again, None)
        else:
            for column in mine:
                if mine[column] != theirs[column]:
                    yield f"{name} {_place(here)}: {column} is {mine[column]!r}, the journal gives {theirs[column]!r}"
                    break
            mine, theirs = next(kept, None), next(again, None)


def _place(key: tuple[Any, ...] | None) -> str:
    return " ".join(map(str, key or ()))

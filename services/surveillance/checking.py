"""Whether the read model and the meters are what the journal gives, whatever has happened to them (G05, L6).

Owns that comparison for both databases: everything is derived a second time by the very folds that wrote it, up to where the
rows stand, from one moment of them. The house may play on meanwhile.
"""

import asyncio
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection, Engine, select

from services.journal.port import Journal
from services.surveillance import schema
from services.surveillance.facts import Fact, FactReader
from services.surveillance.meter_store import read_meters
from services.surveillance.meters import Meters, evolve
from services.surveillance.places import FilePlace, Place
from services.surveillance.projection import Projection
from services.surveillance.read_model import reading
from services.surveillance.rebuilding import BATCH, up_to
from services.surveillance.rederiving import MOST, differences
from services.surveillance.store import one_moment, open_store


async def compare(journal: Journal, place: Place, folder: Path) -> list[str]:
    """What is otherwise than the journal gives, each as a sentence; works in the empty folder `folder`.

    Raises the journal's errors, ReadModelRefused, OSError, DBAPIError.
    """
    kept = await asyncio.to_thread(_one_moment, place, folder)
    again = await asyncio.to_thread(open_store, folder / "again.db")
    connection = await asyncio.to_thread(reading(kept).connect)
    try:
        await asyncio.to_thread(one_moment, connection)
        sequences = await asyncio.to_thread(_sequences, connection)
        meters = await asyncio.to_thread(read_meters, connection)
        await _build_again(journal, sequences, again)
        found = await asyncio.to_thread(differences, connection, again)
        return [*found, *await meter_differences(journal, meters)][:MOST]
    finally:
        await asyncio.to_thread(connection.close)
        kept.dispose()
        again.dispose()


async def meter_differences(journal: Journal, kept: Mapping[str, Meters]) -> list[str]:
    """How the meters differ from those folded from the log up to the same event of each stream."""
    reader = FactReader()
    found: list[str] = []
    for stream, meters in sorted(kept.items()):
        right = Meters()
        async for recorded in journal.read(stream):
            if recorded.envelope.sequence > meters.stream.sequence:
                break
            right = evolve(right, reader.read(recorded))
        found += _differences(stream, meters, right)
    return found


def _differences(stream: str, kept: Meters, right: Meters) -> list[str]:
    if kept == right:
        return []
    if kept.stream != right.stream:
        return [f"meters {stream}: stands at {kept.stream}, the journal gives {right.stream}"]
    buckets = sorted(kept.figures.keys() | right.figures.keys())
    return [
        f"meters {stream} {' '.join(bucket)}: {kept.figures.get(bucket)}, the journal gives {right.figures.get(bucket)}"
        for bucket in buckets
        if kept.figures.get(bucket) != right.figures.get(bucket)
    ]


def _one_moment(place: Place, folder: Path) -> Engine:
    """The read model; of a file, which a reader that takes long would hold up, a copy."""
    if not isinstance(place, FilePlace):
        return place.open()
    copy = folder / "kept.db"
    with (
        closing(sqlite3.connect(f"file:{quote(str(place.path.resolve()))}?mode=ro", uri=True)) as original,
        closing(sqlite3.connect(copy)) as target,
    ):
        original.backup(target)
    return open_store(copy)


def _sequences(connection: Connection) -> dict[str, int]:
    return {row.stream: row.sequence for row in connection.execute(select(schema.streams))}


async def _build_again(journal: Journal, sequences: Mapping[str, int], engine: Engine) -> None:
    """Project every stream up to the same event as the kept rows have it."""
    projection, reader, batch = Projection(engine), FactReader(), list[Fact]()
    async for recorded in up_to(journal, await journal.end()):
        if recorded.envelope.sequence <= sequences.get(recorded.envelope.stream, 0):
            batch.append(reader.read(recorded))
        if len(batch) >= BATCH:
            await asyncio.to_thread(projection.project, batch)
            batch = []
    await asyncio.to_thread(projection.project, batch)

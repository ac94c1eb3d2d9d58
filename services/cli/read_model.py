"""Where the command line reads rounds from: the data folder's read model when it is up to date, else one built on the spot.

Owns that choice. Promises to write nothing in the data folder, and to work on the journal alone, with or without a
running house.
"""

import asyncio
import sqlite3
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click
from sqlalchemy import Engine

from services.journal.sqlite import SqliteJournal
from services.surveillance.facts import FactReader
from services.surveillance.projection import Projection
from services.surveillance.rederiving import build_again, differences
from services.surveillance.store import open_existing, open_memory, open_store

PROGRESS_EVERY = 20_000
BATCH = 2_000

DATA = click.option(
    "--data", type=click.Path(path_type=Path), default=Path(".data"), show_default=True, help="The data folder."
)
JOURNAL = click.option(
    "--journal", type=click.Path(path_type=Path), help="A journal file; by default journal.db in the data folder."
)


@asynccontextmanager
async def opened_journal(data: Path, journal: Path | None) -> AsyncIterator[SqliteJournal]:
    """The journal, for reading only; raises the journal's errors, which say what is wrong with the path."""
    source = SqliteJournal.open_read_only(journal or data / "journal.db")
    try:
        yield source
    finally:
        await source.close()


@asynccontextmanager
async def read_model(data: Path, journal: Path | None) -> AsyncIterator[Engine]:
    """A read model that has everything the journal holds now."""
    async with opened_journal(data, journal) as source:
        end = dict(await source.end())
        engine = None if journal is not None else await asyncio.to_thread(open_existing, data / "projection.db")
        if engine is not None and not _has(engine, end):
            engine.dispose()
            engine = None
        engine = engine or await _built(source, end)
        try:
            yield engine
        finally:
            engine.dispose()


def _has(engine: Engine, end: dict[int, int]) -> bool:
    known = Projection(engine).positions
    return all(known.get(partition, 0) >= last for partition, last in end.items())


async def _built(source: SqliteJournal, end: dict[int, int]) -> Engine:
    """Built in memory from the whole journal, with progress on stderr."""
    engine = open_memory()
    projection, reader = Projection(engine), FactReader()
    left = {partition for partition, last in end.items() if last}
    if not left:
        return engine
    batch: list[Any] = []
    read = 0
    subscription = source.subscribe({})
    async for recorded in subscription:
        batch.append(reader.read(recorded))
        read += 1
        if read % PROGRESS_EVERY == 0:
            click.echo(f"{read} of {sum(end.values())} events …", err=True)
        if recorded.position.offset >= end[recorded.position.partition]:
            left.discard(recorded.position.partition)
        if len(batch) >= BATCH or not left:
            projection.project(batch)
            batch = []
        if not left:
            break
    return engine


async def derived_again(data: Path) -> list[str] | None:
    """How the data folder's read model differs from what its journal gives (G05), None when there is no read model.

    Looks at a copy of one moment, so that the house may play on.
    """
    path = data / "projection.db"
    if open_existing(path) is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "kept.db"
        await asyncio.to_thread(_copy, path, copy)
        kept, again = open_store(copy), open_store(Path(folder) / "again.db")
        try:
            async with opened_journal(data, None) as source:
                await build_again(source.subscribe({}), dict(Projection(kept).positions), again)
            return differences(kept, again)
        finally:
            kept.dispose()
            again.dispose()


def _copy(source: Path, target: Path) -> None:
    with (
        closing(sqlite3.connect(f"file:{quote(str(source.resolve()))}?mode=ro", uri=True)) as original,
        closing(sqlite3.connect(target)) as copy,
    ):
        original.backup(copy)

"""Where the command line reads rounds from: the data folder's read model when it is up to date, else one built on the spot.

Owns that choice. Promises to write nothing in the data folder, to work on the journal alone, with or without a running
house, and never to answer from rows of another journal, such as those left behind by one that was deleted.
"""

import asyncio
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import click
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from services.cli.journal_place import Place, in_order, opened_journal
from services.journal.port import Journal
from services.surveillance.facts import FactReader
from services.surveillance.projection import Projection
from services.surveillance.read_model import is_of
from services.surveillance.rederiving import build_again, differences
from services.surveillance.store import open_existing, open_memory, open_store

T = TypeVar("T")

PROGRESS_EVERY = 20_000
BATCH = 2_000
NEARLY = 5_000
PATIENCE_STEPS = 20
PATIENCE_STEP_SECONDS = 0.1

DATA = click.option(
    "--data", type=click.Path(path_type=Path), default=Path(".data"), show_default=True, help="The data folder."
)


async def answered(data: Path, journal: Place, question: Callable[[Connection], T]) -> T:
    """The answer of a read model that has everything the journal holds now."""
    async with opened_journal(data, journal) as source:
        end = dict(await source.end())
        kept = None if isinstance(journal, Path) else await _kept(source, data / "projection.db", end)
        if kept is not None:
            try:
                with kept.connect() as connection:
                    return question(connection)
            except DBAPIError:
                _say_damaged()
            finally:
                kept.dispose()
        built = await _built(source, end)
        try:
            with built.connect() as connection:
                return question(connection)
        finally:
            built.dispose()


async def _kept(source: Journal, path: Path, end: dict[int, int]) -> Engine | None:
    """The house's own read model, once it has everything up to `end`; None when it has not soon or is not to be trusted."""
    engine = await asyncio.to_thread(open_existing, path)
    if engine is None:
        return None
    try:
        for _ in range(PATIENCE_STEPS):
            projection = await asyncio.to_thread(Projection, engine, looking=True)
            behind = sum(max(0, last - projection.positions.get(partition, 0)) for partition, last in end.items())
            if not behind:
                if await is_of(source, projection.heads):
                    return engine
                break
            if behind > NEARLY:
                break
            # A house at play is a moment behind itself: waiting for that moment is faster than reading everything again.
            await asyncio.sleep(PATIENCE_STEP_SECONDS)
    except DBAPIError:
        _say_damaged()
    engine.dispose()
    return None


def _say_damaged() -> None:
    click.echo("the read model is damaged; reading the journal instead …", err=True)


async def _built(source: Journal, end: dict[int, int]) -> Engine:
    """Built in memory from the whole journal, with progress on stderr."""
    engine = open_memory()
    projection, reader = Projection(engine), FactReader()
    left = {partition for partition, last in end.items() if last}
    if not left:
        return engine
    batch: list[Any] = []
    read = 0
    async for recorded in in_order(source, end):
        batch.append(reader.read(recorded))
        read += 1
        if read % PROGRESS_EVERY == 0:
            click.echo(f"{read:,} events …", err=True)
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
                await build_again(source.subscribe({}), dict(Projection(kept, looking=True).positions), again)
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

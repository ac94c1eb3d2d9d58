"""`holecard replay`: one round in the terminal, card by card and chip by chip."""

import asyncio
import json
from pathlib import Path

import click
from rich.console import Console
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from services.cli.felt_text import draw
from services.cli.journal_place import Place, journal_options, opened_journal
from services.cli.read_model import DATA
from services.journal.port import Journal
from services.runtime.failures import NotFound
from services.surveillance import schema
from services.surveillance.facts import FactReader, plain
from services.surveillance.queries import round_row, whereabouts
from services.surveillance.read_model import is_of
from services.surveillance.records import RoundRecord
from services.surveillance.replaying import Whereabouts, read_round
from services.surveillance.store import open_existing


@click.command()
@click.argument("round_id", metavar="ROUND")
@click.option("--step", type=click.IntRange(1), help="The felt after this step; by default after the last.")
@click.option("--ledger", is_flag=True, help="The movements of money too.")
@click.option("--shoe", is_flag=True, help="The shoe's events too.")
@click.option("--rules", is_flag=True, help="The rule set that it was dealt under, whole.")
@DATA
@journal_options
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object: the whole record, or with --step that step."
)
def replay(
    round_id: str,
    step: int | None,
    ledger: bool,
    shoe: bool,
    rules: bool,
    data: Path,
    journal: Place,
    as_json: bool,
) -> None:
    """Draw the round ROUND, "black-hawk/BJ-07#12": the felt after a step, and every step with its time, actor and event.

    Reads the journal alone, of a running house or of one that is stopped. A round in progress is shown as far as it is.
    """
    record = asyncio.run(_read(data, journal, round_id))
    if record is None:
        raise NotFound(f"there is no round {round_id!r} in this journal; `holecard rounds` lists those there are")
    if step is not None and step > len(record.steps):
        raise click.BadParameter(f"the round has {len(record.steps)} steps so far", param_hint="--step")
    if as_json:
        click.echo(json.dumps(plain(record.steps[step - 1] if step else record), ensure_ascii=False))
        return
    draw(Console(highlight=False), record, step or len(record.steps), ledger=ledger, shoe=shoe, rules=rules)


async def _read(data: Path, journal: Place, round_id: str) -> RoundRecord | None:
    async with opened_journal(data, journal) as source:
        where = None if isinstance(journal, Path) else await _known(source, data / "projection.db", round_id)
        return await read_round(source, FactReader(), round_id, where)


async def _known(source: Journal, path: Path, round_id: str) -> Whereabouts | None:
    """Where the read model says that the round's events stand; None when it does not know, or is of another journal."""
    engine = await asyncio.to_thread(open_existing, path)
    if engine is None:
        return None

    def look() -> tuple[Whereabouts, dict[str, tuple[int, str]]] | None:
        with engine.connect() as connection:
            row = round_row(connection, round_id)
            if row is None or not row["complete"]:
                return None
            where = whereabouts(connection, row)
            streams = schema.streams.c
            heads = connection.execute(
                select(streams.stream, streams.sequence, streams.hash).where(streams.stream.in_(where.ranges))
            )
            return where, {head.stream: (head.sequence, head.hash) for head in heads}

    try:
        found = await asyncio.to_thread(look)
        return found[0] if found is not None and await is_of(source, found[1]) else None
    except DBAPIError:
        return None
    finally:
        engine.dispose()

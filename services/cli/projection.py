"""`holecard projection`: surveillance's read model built again from the journal, and compared with what it should be."""

import asyncio
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import click
from sqlalchemy.exc import DBAPIError

from services.cli.journal_place import Place as JournalPlace
from services.cli.journal_place import journal_options, opened_journal
from services.cli.read_model import PROGRESS_EVERY
from services.cli.surveillance import DATA, JSON, PROJECTION, read_model_place
from services.runtime.failures import ServiceUnavailable
from services.surveillance.checking import compare
from services.surveillance.places import FilePlace
from services.surveillance.rebuilding import Rebuilt, rebuild


@click.group()
def projection() -> None:
    """Build surveillance's read model and meters again from the journal, or compare them with it."""


class Offset(click.ParamType):
    """PARTITION=OFFSET, or OFFSET alone for partition 0."""

    name = "position"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Read it."""
        partition, equals, offset = str(value).rpartition("=")
        if not offset.isdecimal() or (equals and not partition.isdecimal()):
            self.fail(f"{str(value)[:80]!r} is no position such as 1200 or 1000=1200", param, ctx)
        return int(partition or 0), int(offset)


@projection.command("rebuild")
@DATA
@PROJECTION
@journal_options
@click.option(
    "--to",
    type=Offset(),
    multiple=True,
    metavar="[PARTITION=]OFFSET",
    help="Build up to this position; given once for each partition that the journal has, others stay empty.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Build into this new file, and leave the one in use alone."
)
@JSON
def rebuild_command(
    data: Path, journal: JournalPlace, projection: str, to: tuple[tuple[int, int], ...], out: Path | None, *,
    as_json: bool,
) -> None:  # fmt: skip
    """Build everything again beside the read model in use, then swap it in within one transaction.

    The services may run meanwhile: they answer from the old rows, then from the new ones, and whoever projects goes on from
    there to the journal's end. Findings stay. With --to and --out the read model of any moment can be looked at.
    """
    if out is not None and out.exists():
        raise click.BadParameter(f"{out} is there already: name a new file", param_hint="--out")
    place = FilePlace(out) if out is not None else read_model_place(data, projection)

    async def run() -> Rebuilt:
        async with opened_journal(data, journal) as source:
            return await rebuild(source, place, to=dict(to) if to else None, told=_progress())

    try:
        built = asyncio.run(run())
    except DBAPIError as error:
        raise ServiceUnavailable(place.lost(error.orig)) from error
    if as_json:
        click.echo(json.dumps({"events": built.events, "positions": dict(built.positions)}))
    else:
        click.echo(f"Built from {built.events:,} events{'' if out is None else f' in {out}'}.")


@projection.command()
@DATA
@PROJECTION
@journal_options
@JSON
@click.pass_context
def check(context: click.Context, /, data: Path, journal: JournalPlace, projection: str, *, as_json: bool) -> None:
    """Derive read model and meters again, up to where they stand, and compare row by row; exit status 1 if not equal."""
    place = read_model_place(data, projection)
    if isinstance(place, FilePlace) and not place.path.is_file():
        raise click.BadParameter(f"there is no read model at {place.path}", param_hint="--data")

    async def run() -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            async with opened_journal(data, journal) as source:
                return await compare(source, place, Path(folder))

    try:
        found = asyncio.run(run())
    except DBAPIError as error:
        raise ServiceUnavailable(place.lost(error.orig)) from error
    if as_json:
        click.echo(json.dumps({"equal": not found, "differences": found}))
    else:
        click.echo("\n".join(found) or "The read model and the meters are what the journal gives.")
    context.exit(1 if found else 0)


def _progress() -> Callable[[int], None]:
    told = 0

    def tell(events: int) -> None:
        nonlocal told
        if events - told >= PROGRESS_EVERY:
            told = events
            click.echo(f"{events:,} events …", err=True)

    return tell

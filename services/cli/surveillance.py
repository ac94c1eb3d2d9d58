"""`holecard surveillance`: the database of surveillance's read model, brought to this build's shape, and how it stands."""

import json
from pathlib import Path

import click
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from services.runtime.failures import ServiceUnavailable
from services.surveillance import postgres, schema
from services.surveillance.migrating import Standing, missing_after, revision_of, standing_of
from services.surveillance.places import FilePlace, Place, PostgresPlace, place_of
from services.surveillance.store import unchecked

PROJECTION = click.option(
    "--projection",
    envvar="HOLECARD_PROJECTION",
    default="",
    metavar="ADDRESS",
    help="A PostgreSQL database, as postgresql://user@host/database; without it, projection.db in the data folder.",
)
DATA = click.option(
    "--data", type=click.Path(path_type=Path), default=Path(".data"), show_default=True, help="The data folder."
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def read_model_place(data: Path, projection: str) -> Place:
    """The place that the options name; raises SettingsRefused."""
    return place_of(projection or data / "projection.db")


@click.group()
def surveillance() -> None:
    """Look after the database of surveillance's read model: a file, or PostgreSQL."""


@surveillance.command("migrate")
@DATA
@PROJECTION
@JSON
def migrate_command(data: Path, projection: str, *, as_json: bool) -> None:
    """Run the migrations that the database lacks. The services that use it may run meanwhile; they wait for it.

    An empty database gets a read model; one of a newer build is refused and left as it is. Running it twice does nothing.
    """
    place = read_model_place(data, projection)
    try:
        done = _migrated(place)
    except DBAPIError as error:
        raise ServiceUnavailable(place.lost(error.orig)) from error
    if as_json:
        click.echo(json.dumps({"migrated": list(done), "revision": schema.REVISION}))
    else:
        click.echo(f"Migrated: {', '.join(done)}." if done else f"Nothing to do: it has migration {schema.REVISION}.")


@surveillance.command()
@DATA
@PROJECTION
@JSON
@click.pass_context
def status(context: click.Context, data: Path, projection: str, *, as_json: bool) -> None:
    """Show which migrations the database has had and how far it is projected; exit status 1 unless this build can use it."""
    place = read_model_place(data, projection)
    if isinstance(place, FilePlace) and not place.path.is_file():
        raise click.BadParameter(f"there is no read model at {place.path}", param_hint="--data")
    engine = postgres.connected(place.url) if isinstance(place, PostgresPlace) else unchecked(data / "projection.db")
    try:
        with engine.connect() as connection:
            standing, revision = standing_of(connection), revision_of(connection)
            rows = [] if standing is not Standing.CURRENT else connection.execute(select(schema.positions)).all()
    except DBAPIError as error:
        raise ServiceUnavailable(place.lost(error.orig)) from error
    finally:
        engine.dispose()
    missing = () if standing is Standing.NEWER else missing_after(revision)
    positions = {row.partition: row.offset for row in rows}
    if as_json:
        found = {"standing": standing.value, "revision": revision, "missing": list(missing), "positions": positions}
        click.echo(json.dumps(found))
    else:
        click.echo(f"The read model is {standing.value}; its last migration is {revision or 'none'}.")
        if missing:
            click.echo(f"It lacks {', '.join(missing)}: run `holecard surveillance migrate`.")
        for partition, offset in sorted(positions.items()):
            click.echo(f"partition {partition}: projected up to {offset}")
    context.exit(0 if standing is Standing.CURRENT else 1)


def _migrated(place: Place) -> tuple[str, ...]:
    if isinstance(place, PostgresPlace):
        return postgres.migrated(place.url)
    if not isinstance(place, FilePlace) or not place.path.is_file():
        before = ""
    else:
        engine = unchecked(place.path)
        with engine.connect() as connection:
            before = revision_of(connection)
        engine.dispose()
    # Opening a file migrates it, and makes it anew when it cannot be trusted.
    place.open().dispose()
    return missing_after(before)


__all__ = ["DATA", "JSON", "PROJECTION", "read_model_place", "surveillance"]

"""Where a command that only looks takes its journal from: a file of the embedded journal, or a cluster."""

import asyncio
import tomllib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from services.cli.read_model import opened_journal
from services.journal.port import Journal

F = TypeVar("F", bound=Callable[..., Any])


def reading_options(command: F) -> F:
    """The options that say which cluster; without `--kafka` the journal is a file."""
    options = [
        click.option("--kafka", envvar="HOLECARD_KAFKA", default="", metavar="HOST:PORT,…",
                     help="A cluster's first addresses, when the journal is there."),
        click.option("--partitions", envvar="HOLECARD_PARTITIONS", type=click.IntRange(1, 1000), default=12,
                     show_default=True, help="How many each topic of that journal has."),
        click.option("--prefix", envvar="HOLECARD_PREFIX", default="", help="What stands before each topic's name."),
        click.option("--security", envvar="HOLECARD_SECURITY", type=click.Path(path_type=Path, exists=True, dir_okay=False),
                     help="TOML file of Kafka's security settings."),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@asynccontextmanager
async def opened_for_reading(
    data: Path, journal: Path | None, *, kafka: str, partitions: int, prefix: str, security: Path | None
) -> AsyncIterator[Journal]:
    """The journal that the options name; raises the journal's errors, which say what is wrong."""
    if not kafka:
        async with opened_journal(data, journal) as embedded:
            yield embedded
        return
    from services.journal.kafka_cluster import Cluster
    from services.journal.kafka_journal import KafkaJournal
    from services.journal.kafka_layout import Layout

    settings = tomllib.loads(await asyncio.to_thread(security.read_text, encoding="utf-8")) if security else {}
    cluster = Cluster(tuple(kafka.split(",")), settings)
    source = await KafkaJournal.open_read_only(cluster, Layout.standard(partitions, prefix))
    try:
        yield source
    finally:
        await source.close()

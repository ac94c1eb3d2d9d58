"""Which journal a looking command is about: the data folder's, a file, or a cluster's topics. Opens it for reading only."""

import functools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from services.cli.kafka_options import CLUSTER_OPTIONS
from services.journal.port import Journal
from services.journal.sqlite import SqliteJournal

if TYPE_CHECKING:
    from services.runtime.kafka_settings import KafkaSettings

F = TypeVar("F", bound=Callable[..., Any])

IN_KAFKA = "kafka"


@dataclass(frozen=True, slots=True)
class KafkaPlace:
    """A cluster's journal."""

    settings: "KafkaSettings" = field(repr=False)

    def __str__(self) -> str:
        return f"Kafka at {','.join(self.settings.bootstrap)}"


Place = Path | KafkaPlace | None
"""A journal file, a cluster's journal, or None for the data folder's."""


def journal_options(command: F) -> F:
    """Give the command the parameter `journal`, a Place, and the options that say which."""

    @functools.wraps(command)
    def with_place(*arguments: Any, journal: str | None, **options: Any) -> Any:
        kafka = {name: options.pop(name) for name in ("kafka", "partitions", "prefix", "security")}
        return command(*arguments, journal=_place(journal, kafka), **options)

    wrapped: Any = with_place
    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped  # type: ignore[no-any-return]  # click's decorators keep the function they are given


_OPTIONS = [
    click.option("--journal", metavar="FILE|kafka",
                 help="A journal file, or `kafka` for a cluster's; by default journal.db in the data folder."),
    *CLUSTER_OPTIONS,
]  # fmt: skip


def _place(journal: str | None, kafka: dict[str, Any]) -> Place:
    if journal != IN_KAFKA:
        return None if journal is None else Path(journal)
    from services.runtime.kafka_settings import KafkaSettings, read_security

    addresses = tuple(kafka["kafka"].split(","))
    return KafkaPlace(KafkaSettings(addresses, kafka["partitions"], kafka["prefix"], read_security(kafka["security"])))


@asynccontextmanager
async def opened_journal(data: Path, place: Place) -> AsyncIterator[Journal]:
    """The journal, for reading only; raises the journal's errors, which say what is wrong with the place."""
    source: Journal
    if isinstance(place, KafkaPlace):
        from services.journal.kafka_journal import KafkaJournal

        source = await KafkaJournal.open_read_only(place.settings.cluster, place.settings.layout)
    else:
        source = SqliteJournal.open_read_only(place or data / "journal.db")
    try:
        yield source
    finally:
        await source.close()


def in_order(source: Journal, end: dict[int, int]) -> AsyncIterator[Any]:
    """Every event up to `end`, each after what led to it: the log's order, or of several partitions the causal one."""
    if isinstance(source, SqliteJournal):
        return source.subscribe({})
    from services.journal.kafka_fsck import until
    from services.journal.kafka_journal import KafkaJournal

    return until(source, end) if isinstance(source, KafkaJournal) else source.subscribe({})

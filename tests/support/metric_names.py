"""Which metrics expressions ask for, and which a house has: an alert or a panel about a name nobody counts says nothing."""

import re
from collections.abc import Iterator
from pathlib import Path

from prometheus_client import CollectorRegistry

from services.house import House
from services.journal.kafka_journal import PartitionStatus
from services.journal.kafka_partition import Counts
from services.runtime.journal_metrics import PartitionCollector
from services.runtime.settings import SERVICES, Settings

_NAME = re.compile(r"\b(?:(?:holecard|process|python)_\w+|up|\w+:\w+:\w+)\b")
_IN_QUOTES = re.compile(r'"[^"]*"')
_LABELS = re.compile(r"\b(?:by|on|without|ignoring|group_left|group_right) *\([^)]*\)")


def names_in(expression: str) -> set[str]:
    """The metrics that an expression asks for."""
    return set(_NAME.findall(_LABELS.sub("", _IN_QUOTES.sub("", expression))))


async def names_of_a_house(folder: Path) -> set[str]:
    """The names of all series that a house may show, on either journal."""
    settings = Settings(folder, "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0")
    async with House(settings, SERVICES) as house:
        registry = house.telemetry.registry
        a_partition = PartitionStatus(
            0, "topic", 0, 1, None, Counts(), 0, "", owned=True, events_read=0, snapshot_age_seconds=1.0
        )
        registry.register(PartitionCollector(lambda: [a_partition]))
        return set(_names(registry))


def _names(registry: CollectorRegistry) -> Iterator[str]:
    for family in registry.collect():
        match family.type:
            case "counter":
                yield f"{family.name}_total"
            case "histogram":
                yield from (f"{family.name}{suffix}" for suffix in ("_bucket", "_sum", "_count"))
            case "info":
                yield f"{family.name}_info"
            case _:
                yield family.name

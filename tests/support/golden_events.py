"""Stored bytes of every event in every version, kept for ever: journals in the field hold such bytes (DESIGN §3).

`python -m tests.support.golden_events` adds bytes for event classes that have none yet. It never touches what is there:
bytes that were published once must stay readable, whatever the code becomes.
"""

import json
import types
import typing
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from services.game.cards import Card, standard_deck
from services.game.record import field_names, is_record, is_record_class
from services.shoe.service import EVENT_TYPES
from services.table.deciding import decider
from services.wager.service import wager_events
from services.wire.registry import EventTypes

FILE = Path(__file__).resolve().parents[1] / "golden" / "events.json"
AREAS: tuple[EventTypes[Any], ...] = (EVENT_TYPES, decider().events, wager_events())

Golden = dict[str, dict[str, Any]]


def read() -> Golden:
    """Every golden entry by "<type name>/<schema version>/<full or bare>"."""
    golden: Golden = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    return golden


def says(value: Any) -> Any:
    """A value in plain JSON, by names and texts only, so that it can be compared with what was true long ago."""
    if is_record(value):
        return {name: says(getattr(value, name)) for name in field_names(value)}
    if isinstance(value, tuple):
        return [says(item) for item in value]
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, StrEnum):
        return value.name
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)


def full(cls: type) -> Any:
    """An event whose every field says something that no other field says."""
    return _sample(cls, _Counter())


def bare(cls: type) -> Any:
    """An event that says as little as it can: nothing optional, no entries, zeros."""
    return _sample(cls, None)


class _Counter:
    """Counts up, so that two fields never hold the same by chance."""

    def __init__(self) -> None:
        self.value = 0

    def next(self) -> int:
        self.value += 1
        return self.value


def _sample(kind: Any, counter: _Counter | None) -> Any:
    hints = get_type_hints(kind)
    return kind(**{name: _value(hints[name], name, counter) for name in field_names(kind)})


def _value(hint: Any, name: str, counter: _Counter | None) -> Any:
    if get_origin(hint) in {typing.Union, types.UnionType}:
        inner = next(part for part in get_args(hint) if part is not type(None))
        return None if counter is None else _value(inner, name, counter)
    if get_origin(hint) is tuple:
        inner = get_args(hint)[0]
        return () if counter is None else (_value(inner, name, counter), _value(inner, name, counter))
    if is_record_class(hint):
        return _sample(hint, counter)
    number = counter.next() if counter is not None else 0
    return _plain(hint, name, number)


def _plain(hint: Any, name: str, number: int) -> Any:
    if hint is bool:
        return number > 0
    if hint is int:
        return 1_000 + number if number else 0
    if hint is str:
        return f"{name}-{number}" if number else ""
    if hint is bytes:
        return bytes([number]) * 32 if number else b""
    if hint is Card:
        return standard_deck()[number % 52]
    if hint is Fraction:
        return Fraction(2 * number + 1, 2)
    members = list(hint)
    return members[number % len(members)]


def current() -> Golden:
    """What today's classes write."""
    found: Golden = {}
    for area in AREAS:
        for cls in area.classes:
            for form, event in (("full", full(cls)), ("bare", bare(cls))):
                name, version, payload = area.encode(event)
                found[f"{name}/{version}/{form}"] = {"payload": payload.hex(), "says": says(event)}
    return found


def main() -> None:
    """Add what is missing."""
    golden = read()
    missing = {key: entry for key, entry in current().items() if key not in golden}
    FILE.write_text(json.dumps(golden | missing, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{len(missing)} entries added, {len(golden)} left as they were")


if __name__ == "__main__":
    main()

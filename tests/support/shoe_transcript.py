"""Replies of the shoe as plain JSON values, the form in which an outsider gets them."""

from dataclasses import is_dataclass
from typing import Any

from services.game.cards import Card


def as_json(value: Any) -> Any:
    """Dataclasses as objects, tuples as lists, bytes as hex, cards as text."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: as_json(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, tuple):
        return [as_json(entry) for entry in value]
    if isinstance(value, bytes):
        return value.hex()
    return str(value) if isinstance(value, Card) else value

"""Replies of the shoe as plain JSON values, the form in which an outsider gets them."""

from typing import Any

from services.game.cards import Card
from services.game.record import field_names, is_record


def as_json(value: Any) -> Any:
    """Records as objects, tuples as lists, bytes as hex, cards as text."""
    if is_record(value):
        return {name: as_json(getattr(value, name)) for name in field_names(value)}
    if isinstance(value, tuple):
        return [as_json(entry) for entry in value]
    if isinstance(value, bytes):
        return value.hex()
    return str(value) if isinstance(value, Card) else value

"""From a stored event to what surveillance reads in it.

Owns the reading: the envelope as it is, and our own view of the payload (shoe_facts, round_facts, table_facts,
wager_facts). Promises never to raise for what a log may contain: a payload that cannot be read is a fact too, with the
reason. Does not share a line with the services that wrote the events.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any

from services.game.rejections import Rejection
from services.journal.port import Position, Recorded
from services.surveillance import round_facts, shoe_facts, table_facts, wager_facts
from services.wire.envelope import Envelope
from services.wire.messages import message_class
from services.wire.registry import EventReader

AREAS = ("shoe", "table", "wager")
PACKAGES = {
    "holecard.shoe.v1": shoe_facts.VIEWS,
    "holecard.table.v1": (*round_facts.VIEWS, *table_facts.VIEWS),
    "holecard.wager.v1": wager_facts.VIEWS,
}
SCHEMA_VERSIONS = frozenset({1})
"""The payload versions that the views were written for."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One event: its envelope, its hash, and our view of its payload.

    `area` is "shoe", "table" or "wager" (or another word of a later stream), `key` the table's "<floor>/<table>".
    `event` is None where no view was declared or the payload cannot be read; then `unreadable` says why, else it is
    empty.
    """

    envelope: Envelope
    hash: bytes
    area: str
    key: str
    event: Any
    unreadable: str
    position: Position

    @property
    def stream(self) -> str:
        """The stream's name."""
        return self.envelope.stream

    @property
    def sequence(self) -> int:
        """The place in the stream, from 1."""
        return self.envelope.sequence

    @property
    def name(self) -> str:
        """The event's short name, "CardDealt"."""
        return self.envelope.type.rpartition(".")[2]


class FactReader:
    """Reads recorded events as facts; keeps no state."""

    def __init__(self) -> None:
        self._views = {f"{package}.{view.__name__}": view for package, views in PACKAGES.items() for view in views}
        self._reader: EventReader[Any] = EventReader(self._views)
        self._known: dict[str, str] = {}

    def read(self, recorded: Recorded) -> Fact:
        """The fact of one recorded event."""
        envelope = recorded.envelope
        area, _, key = envelope.stream.partition(":")
        event, unreadable = None, ""
        if envelope.type in self._views and envelope.schema_version not in SCHEMA_VERSIONS:
            unreadable = f"{envelope.type} has the unknown schema version {envelope.schema_version}"
        else:
            try:
                event = self._reader.read(envelope.type, envelope.payload)
            except Rejection as error:
                unreadable = error.message
        if event is None and not unreadable and area in AREAS:
            unreadable = self._strangeness(envelope.type)
        return Fact(envelope, recorded.hash, area, key, event, unreadable, recorded.position)

    def _strangeness(self, type_name: str) -> str:
        """Why a type without a view is unreadable; empty when the house knows it and we do not need it."""
        known = self._known.get(type_name)
        if known is None:
            known = ""
            try:
                message_class(type_name)
            except KeyError:
                known = f"{type_name} is not an event that this build knows"
            self._known[type_name] = known
        return known


def texts_of(event: Any) -> dict[str, Any]:
    """A view as plain JSON values: cards and ratios as text, bytes as hex."""
    return {} if event is None else {f.name: plain(getattr(event, f.name)) for f in dataclasses.fields(event)}


def plain(value: Any) -> Any:
    """One value as JSON can carry it."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return texts_of(value)
    return str(value)

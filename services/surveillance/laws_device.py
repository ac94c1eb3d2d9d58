"""L2, before the first card: an enrolled device that passed that day, whole decks in it, found in order (30-805, 30-815).

Owns the fold of what was done to a table's device and decks. Memory is one device per table.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from services.surveillance import shoe_facts as s
from services.surveillance import shoe_opening as opening
from services.surveillance.facts import Fact
from services.surveillance.findings import Finding, found
from services.surveillance.scene import TableScene


@dataclass(slots=True)
class _Device:
    """A table's device: its id, the gaming day on which it last passed, the decks in it, how many were found in order."""

    name: str = ""
    passed_day: str = ""
    loaded: int = 0
    inspected: int = 0


class DeviceReady:
    """Folded over the shoe streams of all tables."""

    def __init__(self) -> None:
        self._devices: dict[str, _Device] = {}

    def observe(self, fact: Fact, _scene: TableScene) -> Iterator[Finding]:
        """Fold one event of a shoe stream in."""
        if fact.area == "shoe" and fact.event is not None:
            device = self._devices.setdefault(fact.key, _Device())
            for reason in _reasons(device, fact, fact.event):
                yield found("L2", fact, reason)

    def finish(self) -> Iterator[Finding]:
        """Nothing is left open at the end."""
        return iter(())


def _reasons(device: _Device, fact: Fact, event: Any) -> Iterator[str]:
    match event:
        case s.DeviceRegistered():
            device.name, device.passed_day = event.device_id, ""
        case s.DeviceInspected():
            yield from _is_it(device, event.device_id)
            if event.gaming_day != fact.envelope.gaming_day:
                yield f"the inspection is entered for {event.gaming_day}, it was made on {fact.envelope.gaming_day}"
            device.passed_day = event.gaming_day if event.passed else ""
        case s.DecksLoaded():
            yield from _is_it(device, event.device_id)
            yield from _whole(event.decks, event.composition)
            if len(event.deck_set_ids) != event.decks:
                yield f"{len(event.deck_set_ids)} sets of cards are named for {event.decks} decks"
            device.loaded, device.inspected = event.decks, 0
        case s.CardsInspected():
            yield from _whole(event.decks, event.composition)
            device.inspected = event.decks
        case s.DecksUnloaded():
            device.loaded = device.inspected = 0
        case s.CardsShuffled():
            yield from _is_it(device, event.device_id)
            if device.passed_day != fact.envelope.gaming_day:
                yield f"cards are shuffled in {event.device_id}, which did not pass on {fact.envelope.gaming_day} (30-805)"
            if not event.decks == device.loaded == device.inspected:
                found_in = f"{device.loaded} loaded and {device.inspected} inspected"
                yield f"a shoe of {event.decks} decks is made of {found_in} (30-815)"
        case _:
            pass


def _is_it(device: _Device, name: str) -> Iterator[str]:
    if name != device.name:
        yield f"{name} is used, enrolled at this table is {device.name or 'no device'} (30-805)"


def _whole(decks: int, composition: bytes) -> Iterator[str]:
    if not 1 <= decks <= opening.MOST_DECKS or composition != opening.composition_of(decks):
        yield f"the digest of the cards is not that of {decks} whole decks (30-815)"

"""In whose name, under which id and at what time the table itself acts.

Owns the contexts of the conductor's records and of its calls. Ids follow from where the table stands, so that asking again
after a crash is the same request.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from services.game.authority import Actor, CommandContext, EventId, Role
from services.runtime.aggregate import Turn
from services.runtime.clock import Clock, GamingCalendar
from services.runtime.table_key import floor_of

TABLE = Actor(Role.SYSTEM, "table")


class Contexts:
    """Makes contexts from a clock and the floors' calendars."""

    def __init__(self, clock: Clock, calendars: Mapping[str, GamingCalendar] | None = None) -> None:
        self._clock = clock
        self._calendars = dict(calendars or {})
        self._default = GamingCalendar()

    def now_us(self) -> int:
        """The table's time, µs since 1970."""
        return self._clock.now_us()

    def gaming_day(self, key: str, now_us: int) -> str:
        """The gaming day of an instant on the table's floor."""
        return self._calendars.get(floor_of(key), self._default).gaming_day(now_us)

    def own(self, turn: Turn[Any, Any, Any]) -> CommandContext:
        """For events that the table records by itself; the id is the place of the first of them in the stream."""
        at = turn.last_event
        return self._context(turn.key, f"{turn.stream}@{at.sequence + 1 if at else 1}", None)

    def call(self, turn: Turn[Any, Any, Any], request_id: str) -> CommandContext:
        """For a call to another service, caused by the table's last event."""
        return self._context(turn.key, request_id, turn.last_event)

    def _context(self, key: str, request_id: str, cause: EventId | None) -> CommandContext:
        now_us = self._clock.now_us()
        day = self.gaming_day(key, now_us)
        digest = hashlib.sha256(request_id.encode()).digest()
        return CommandContext(request_id, TABLE, now_us, day, cause, digest)

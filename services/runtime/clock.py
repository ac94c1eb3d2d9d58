"""The clock port and the gaming day. Nothing else in the house reads the time.

A gaming day runs from the floor's hour to the same hour of the next calendar day by the floor's own zone, so that the days
on which clocks change have 23 or 25 hours and every instant still falls in exactly one gaming day.
"""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

MICROSECONDS = 1_000_000


class Clock(Protocol):
    """Where the time comes from."""

    def now_us(self) -> int:
        """Microseconds since 1970-01-01T00:00Z."""
        ...


class SystemClock:
    """The machine's wall clock."""

    def now_us(self) -> int:
        """Microseconds since 1970-01-01T00:00Z."""
        return time.time_ns() // 1_000


class ManualClock:
    """A clock that stands still until it is moved, for tests and simulations."""

    def __init__(self, now_us: int = 1_796_000_000 * MICROSECONDS) -> None:
        self._now_us = now_us

    def now_us(self) -> int:
        """Microseconds since 1970-01-01T00:00Z."""
        return self._now_us

    def advance(self, seconds: float) -> None:
        """Move the clock on by `seconds`; negative steps it back."""
        self._now_us += round(seconds * MICROSECONDS)


@dataclass(frozen=True, slots=True)
class GamingCalendar:
    """A floor's time zone (IANA name) and the hour, 0 to 23, at which its gaming day begins."""

    zone: str = "America/Denver"
    starts_at_hour: int = 6

    def __post_init__(self) -> None:
        if not 0 <= self.starts_at_hour <= 23:
            raise ValueError(f"a gaming day starts at an hour from 0 to 23, not {self.starts_at_hour}")
        try:
            ZoneInfo(self.zone)
        except (ZoneInfoNotFoundError, ValueError) as error:
            raise ValueError(f"{self.zone!r} is not an IANA time zone such as America/Denver") from error

    def gaming_day(self, now_us: int) -> str:
        """The gaming day of an instant, "2026-11-30"."""
        return _gaming_day(self.zone, self.starts_at_hour, now_us // MICROSECONDS)


@lru_cache(1_024)
def _gaming_day(zone: str, starts_at_hour: int, second: int) -> str:
    """The gaming day of a second since 1970: asked for every command, and the same for all of one second."""
    # The wall clock decides, not elapsed hours: on a 23- or 25-hour day the cut stays at the posted hour.
    local = datetime.fromtimestamp(second, UTC).astimezone(ZoneInfo(zone))
    day = local.date()
    return (day if local.hour >= starts_at_hour else day - timedelta(days=1)).isoformat()

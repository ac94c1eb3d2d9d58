"""Rounds that do not go on: which phase may last how long, and which open rounds have been still for longer.

Owns those limits. The time is given by the caller, from his clock; nothing here waits or remembers. Pure.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

SECOND_US = 1_000_000
SUSPENDED = "SUSPENDED"

LIMITS_US: Mapping[str, int] = MappingProxyType(
    {
        "BETTING": 900 * SECOND_US,
        "DEALING": 60 * SECOND_US,
        "INSURANCE": 300 * SECOND_US,
        "PEEK": 60 * SECOND_US,
        "PLAYERS": 300 * SECOND_US,
        "DEALER": 60 * SECOND_US,
        "SETTLING": 60 * SECOND_US,
        "PICKUP": 120 * SECOND_US,
        SUSPENDED: 1_800 * SECOND_US,
    }
)
"""How long a round may be still in each phase: where people are asked longer than where the house works by itself."""


@dataclass(frozen=True, slots=True)
class OpenRound:
    """A round in play: where it stands, since when it has not gone on, and whether anybody may wager in it."""

    round_id: str
    table: str
    phase: str
    moved_time_us: int
    seated: int


@dataclass(frozen=True, slots=True)
class StuckRound:
    """A round that has been still for `still_us`, longer than the `limit_us` of its phase."""

    round_id: str
    table: str
    phase: str
    still_us: int
    limit_us: int


def stuck_rounds(
    rounds: Iterable[OpenRound], now_us: int, limits_us: Mapping[str, int] = LIMITS_US
) -> tuple[StuckRound, ...]:
    """Those that are stuck now, the longest first; a betting phase in which nobody may wager waits for a patron."""
    found = []
    for one in rounds:
        limit_us = limits_us.get(one.phase)
        still_us = now_us - one.moved_time_us
        waits = one.phase == "BETTING" and not one.seated
        if limit_us is not None and still_us > limit_us and not waits:
            found.append(StuckRound(one.round_id, one.table, one.phase, still_us, limit_us))
    return tuple(sorted(found, key=lambda one: (-one.still_us, one.round_id)))

"""Who acts, under which id and when: the arguments that every decision takes instead of a clock or a login.

The ladder of authority follows Rule 8: players choose, dealers follow procedure, only a pit supervisor decides
irregularities (30-828), the licensee posts options (30-803, 30-804).
"""

from dataclasses import dataclass
from enum import StrEnum

NO_DIGEST = bytes(32)


class Role(StrEnum):
    """A rung of the ladder of authority; an act of a higher rung by a lower one is refused."""

    PLAYER = "player"
    DEVICE = "device"
    DEALER = "dealer"
    SUPERVISOR = "supervisor"
    LICENSEE = "licensee"
    REGULATOR = "regulator"
    SURVEILLANCE = "surveillance"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Actor:
    """One person, device or program: its role and its badge, device or patron number (never empty)."""

    role: Role
    id: str


@dataclass(frozen=True, slots=True)
class EventId:
    """The identity of an event: its stream's name and its sequence there, from 1 without gaps (DESIGN §3)."""

    stream: str
    sequence: int


@dataclass(frozen=True, slots=True)
class CommandContext:
    """What a command carries besides its content.

    `request_id` is mandatory (1 to 128 characters). `occurred_time_us` is the sender's clock in µs since 1970,
    kept and never used for order. `gaming_day` is the floor's day, "2026-11-30", worked out by the receiving service.
    `cause` is the event that led to the command, None when a person or device acted by itself. `request_digest` is the
    SHA-256 of what was asked, by which a repeated request is told from a reused id;
    32 zero bytes for what the system decides by itself.
    """

    request_id: str
    actor: Actor
    occurred_time_us: int
    gaming_day: str
    cause: EventId | None = None
    request_digest: bytes = NO_DIGEST

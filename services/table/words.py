"""The words and small records that a table's events, commands and answers are made of; decides nothing.

Enum member names are the names on the wire, so they never change. Money is integer cents.
"""

from dataclasses import dataclass
from enum import StrEnum


class SeatPhase(StrEnum):
    """How far a seat session is.

    ARRIVING: the wager service has not opened the rack yet. SEATED: may play. LEAVING: goes as soon as no stake of the
    patron is in play and the rack is closed.
    """

    ARRIVING = "arriving"
    SEATED = "seated"
    LEAVING = "leaving"


class RackChange(StrEnum):
    """Why a rack changed between rounds."""

    BUY_IN = "buy-in"
    CASH_OUT = "cash-out"
    TIP = "tip"


class TablePhase(StrEnum):
    """What a table does: CLOSED, IDLE between rounds, CLOSING while the tray is taken away, else the round's phase."""

    CLOSED = "closed"
    CLOSING = "closing"
    IDLE = "idle"
    BETTING = "betting"
    DEALING = "dealing"
    INSURANCE = "insurance"
    PEEK = "peek"
    PLAYERS = "players"
    DEALER = "dealer"
    SETTLING = "settling"
    PICKUP = "pickup"


class WaitingFor(StrEnum):
    """Whom a table is waiting for before it can go on by itself."""

    NOBODY = "nobody"
    SHOE = "shoe"
    WAGER = "wager"
    JOURNAL = "journal"
    SUPERVISOR = "supervisor"


@dataclass(frozen=True, slots=True)
class ChipCount:
    """`quantity` chips or notes of one denomination, both at least 1."""

    denomination_cents: int
    quantity: int


@dataclass(frozen=True, slots=True)
class SeatWager:
    """One wager of a session on a seat's betting area: its own seat, or a free one where the house allows two (30-827).

    `spoken`: called out and heard by the dealer, the chips still in the rack; only where that is accepted (30-809).
    """

    session: str
    seat: int
    kind: str
    amount_cents: int
    spoken: bool = False

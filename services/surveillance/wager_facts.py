"""Surveillance's own view of the wager service's events: the fields that the second opinion needs.

Owns dataclasses only. Amounts are integer cents; `due` and `residual` are exact. The words of an enum must be the
wire's.
"""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from services.game.rule_options import Rounding


class Currency(StrEnum):
    """Kinds of money, which never mix."""

    CHIPS = "chips"
    CASH = "cash"


class Reason(StrEnum):
    """Why money moved."""

    OPENING = "opening"
    CARRIED_IN = "carried-in"
    CASH_DROPPED = "cash-dropped"
    CHIPS_SOLD = "chips-sold"
    STAKE_HELD = "stake-held"
    STAKE_VOIDED = "stake-voided"
    STAKE_RETURNED = "stake-returned"
    STAKE_LOST = "stake-lost"
    PAID = "paid"
    BREAKAGE = "breakage"
    TIP = "tip"
    CASHED_OUT = "cashed-out"
    FILL = "fill"
    CREDIT = "credit"
    CORRECTION = "correction"
    CLOSING = "closing"


class Direction(StrEnum):
    """Whether a correction pays the patron or collects from him."""

    PAY = "pay"
    COLLECT = "collect"


@dataclass(frozen=True, slots=True)
class Movement:
    """Money from one account to another."""

    source: str
    target: str
    currency: Currency
    amount_cents: int
    reason: Reason
    reference: str


@dataclass(frozen=True, slots=True)
class Count:
    """Notes or chips of one denomination."""

    denomination_cents: int
    quantity: int


@dataclass(frozen=True, slots=True)
class LedgerOpened:
    """The tray was counted in."""

    opening: str
    inventory: tuple[Count, ...]
    opener_cents: int
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True)
class LedgerClosed:
    """Tray, drop box and tips left the table."""

    closing: str
    closer_cents: int
    drop_cents: int
    tips_cents: int
    win_cents: int
    handle_cents: int
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True)
class SeatSessionOpened:
    """A patron sat down."""

    session: str
    patron: str
    seat: int
    chips_cents: int
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True)
class ChipsBought:
    """Cash for chips (30-831)."""

    buy_in: str
    session: str
    cash: tuple[Count, ...]
    chips_cents: int
    rack_cents: int
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True)
class ChipsBrought:
    """A patron's own chips, seen at an observed table."""

    sighting: str
    session: str
    amount_cents: int
    rack_cents: int
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True)
class HeldStake:
    """One stake in escrow."""

    hold: str
    session: str
    kind: str
    amount_cents: int
    rack_cents: int


@dataclass(frozen=True, slots=True)
class StakesHeld:
    """Stakes went into the round's escrow."""

    round_id: str
    holds: tuple[HeldStake, ...]
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True)
class VoidedHold:
    """One stake given back undecided."""

    hold: str
    session: str
    amount_cents: int
    rack_cents: int


@dataclass(frozen=True, slots=True)
class HoldsVoided:
    """Stakes went back, undecided."""

    round_id: str
    holds: tuple[VoidedHold, ...]
    reason: str
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True)
class SettledLine:
    """One wager of one hand, decided and paid."""

    session: str
    seat: int
    hand: int
    kind: str
    holds: tuple[str, ...]
    outcome: str
    cause: str
    stake_cents: int
    due: Fraction
    returned_cents: int
    breakage_cents: int
    residual: Fraction
    for_dealers: bool = False


@dataclass(frozen=True, slots=True)
class RackBalance:
    """What a session's rack held after the event."""

    session: str
    rack_cents: int


@dataclass(frozen=True, slots=True)
class RoundSettled:
    """Stakes of the round were decided and paid; the `final` settlement left none in play."""

    settlement: str
    round_id: str
    revision: int
    final: bool
    rounding: Rounding
    chip_cents: int
    lines: tuple[SettledLine, ...]
    racks: tuple[RackBalance, ...]
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True)
class TipGiven:
    """Chips for the dealers."""

    tip: str
    session: str
    amount_cents: int
    rack_cents: int
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True)
class ChipsCashedOut:
    """A patron took chips away."""

    cash_out: str
    session: str
    amount_cents: int
    rack_cents: int
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True)
class SeatSessionClosed:
    """A patron left with his rack."""

    session: str
    chips_cents: int
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True)
class TrayFilled:
    """Chips came from the cage."""

    slip: str
    amount_cents: int
    tray_cents: int
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True)
class TrayCredited:
    """Chips went to the cage."""

    slip: str
    amount_cents: int
    tray_cents: int
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True)
class PaymentCorrected:
    """A supervisor mended a payment (30-828(1))."""

    correction: str
    settlement: str
    round_id: str
    hold: str
    session: str
    direction: Direction
    amount_cents: int
    reason: str
    authorised_by: str
    rack_cents: int
    movements: tuple[Movement, ...]


VIEWS: tuple[type, ...] = (
    LedgerOpened,
    LedgerClosed,
    SeatSessionOpened,
    ChipsBought,
    ChipsBrought,
    StakesHeld,
    HoldsVoided,
    RoundSettled,
    TipGiven,
    ChipsCashedOut,
    SeatSessionClosed,
    TrayFilled,
    TrayCredited,
    PaymentCorrected,
)

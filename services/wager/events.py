"""What happened to the money of one table, on stream `wager:<floor>/<table>`.

Every event carries the movements it stands for, so the balances of all accounts at any point are a fold of `movements` and
of nothing else. Amounts are integer cents. The other fields say what the movements mean.
"""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from services.game.money import Rounding
from services.wager.accounts import Count, Movement


@dataclass(frozen=True, slots=True)
class LedgerOpened:
    """The tray was counted in: a period (shift) of the table began."""

    opening: str
    inventory: tuple[Count, ...]
    opener_cents: int
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True)
class LedgerClosed:
    """Tray, drop box and tips left the table: the period ended. `closer_cents` is the tray's content."""

    closing: str
    closer_cents: int
    drop_cents: int
    tips_cents: int
    win_cents: int
    handle_cents: int
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True)
class SeatSessionOpened:
    """A patron sat down with `chips_cents` that he brought along."""

    session: str
    patron: str
    seat: int
    chips_cents: int
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True)
class ChipsBought:
    """Cash went into the drop box and the same sum in chips to the rack (30-831)."""

    buy_in: str
    session: str
    cash: tuple[Count, ...]
    chips_cents: int
    rack_cents: int
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True)
class ChipsBrought:
    """Chips of a patron's own were seen at an observed table beyond what the ledger knew of: they are in his rack now."""

    sighting: str
    session: str
    amount_cents: int
    rack_cents: int
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True)
class HeldStake:
    """One stake in escrow; `rack_cents` is what its session's rack held after it."""

    hold: str
    session: str
    kind: str
    amount_cents: int
    rack_cents: int


@dataclass(frozen=True, slots=True)
class StakesHeld:
    """Stakes went from racks to the round's escrow."""

    round_id: str
    holds: tuple[HeldStake, ...]
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True)
class VoidedHold:
    """One stake given back undecided; `rack_cents` is what its session's rack held after it."""

    hold: str
    session: str
    amount_cents: int
    rack_cents: int


@dataclass(frozen=True, slots=True)
class HoldsVoided:
    """Stakes went from the round's escrow back to racks, undecided."""

    round_id: str
    holds: tuple[VoidedHold, ...]
    reason: str
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True)
class SettledLine:
    """One wager of one hand, decided and paid; its holds are posted.

    due = returned_cents + breakage_cents + residual: whole cents of breakage are on the account `breakage`, `residual` (less
    than a cent either way) is too small to book and is kept here. `for_dealers`: what came back went to the tips.
    """

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
    """Stakes of the round were decided: lost ones went to the tray, the others back to racks with their pay.

    `revision` counts the round's settlements from 1. The `final` one left no stake in play; those before it decide what is
    decided early, as insurance is.
    """

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
    """Chips went from a rack to the dealers."""

    tip: str
    session: str
    amount_cents: int
    rack_cents: int
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True)
class ChipsCashedOut:
    """A patron took free chips away from the table."""

    cash_out: str
    session: str
    amount_cents: int
    rack_cents: int
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True)
class SeatSessionClosed:
    """A patron left with `chips_cents`, his whole rack."""

    session: str
    chips_cents: int
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True)
class TrayFilled:
    """Chips came from the cage; `tray_cents` is the tray's content after it."""

    slip: str
    inventory: tuple[Count, ...]
    amount_cents: int
    tray_cents: int
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True)
class TrayCredited:
    """Chips went to the cage; `tray_cents` is the tray's content after it."""

    slip: str
    inventory: tuple[Count, ...]
    amount_cents: int
    tray_cents: int
    movements: tuple[Movement, ...]


class Direction(StrEnum):
    """Whether a correction gives to the patron or takes from him."""

    PAY = "pay"
    COLLECT = "collect"


@dataclass(frozen=True, slots=True)
class PaymentCorrected:
    """A supervisor mended a payment of `settlement` (30-828(1)); `hold` names the line, `authorised_by` the supervisor."""

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


EVENTS: tuple[type, ...] = (
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

WagerEvent = (
    LedgerOpened
    | LedgerClosed
    | SeatSessionOpened
    | ChipsBought
    | ChipsBrought
    | StakesHeld
    | HoldsVoided
    | RoundSettled
    | TipGiven
    | ChipsCashedOut
    | SeatSessionClosed
    | TrayFilled
    | TrayCredited
    | PaymentCorrected
)

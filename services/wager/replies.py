"""What the ledger answers, in integer cents.

Each reply to a command is a function of the command and of recorded events, so that a repeated command gets the same answer.
"""

from dataclasses import dataclass
from fractions import Fraction

from services.wager.accounts import Currency
from services.wager.books import HoldStatus
from services.wager.events import Direction, HeldStake, RackBalance, SettledLine, VoidedHold


@dataclass(frozen=True, slots=True)
class OpeningReceipt:
    """The period that began, with `opener_cents` in the tray."""

    opening: str
    opener_cents: int


@dataclass(frozen=True, slots=True)
class ClosingReceipt:
    """The period that ended: tray, drop box and tips as they left, win and handle of the period."""

    closing: str
    closer_cents: int
    drop_cents: int
    tips_cents: int
    win_cents: int
    handle_cents: int


@dataclass(frozen=True, slots=True)
class SessionReceipt:
    """The seat session that began, with `rack_cents` brought along."""

    session: str
    patron: str
    seat: int
    rack_cents: int


@dataclass(frozen=True, slots=True)
class BuyInReceipt:
    """Cash dropped and chips handed out (equal), and the rack after it."""

    buy_in: str
    session: str
    cash_cents: int
    chips_cents: int
    rack_cents: int


@dataclass(frozen=True, slots=True)
class SightingReceipt:
    """Chips that were seen with a patron, and the rack after it."""

    sighting: str
    session: str
    amount_cents: int
    rack_cents: int


@dataclass(frozen=True, slots=True)
class HoldsReceipt:
    """Every stake that was asked for, as it was held, in the order asked."""

    round_id: str
    holds: tuple[HeldStake, ...]


@dataclass(frozen=True, slots=True)
class VoidsReceipt:
    """Every hold that was named, as it was given back, in the order named."""

    round_id: str
    holds: tuple[VoidedHold, ...]


@dataclass(frozen=True, slots=True)
class SettlementReceipt:
    """The recorded settlement: each line, and the racks concerned after it."""

    settlement: str
    round_id: str
    revision: int
    final: bool
    lines: tuple[SettledLine, ...]
    racks: tuple[RackBalance, ...]


@dataclass(frozen=True, slots=True)
class TipReceipt:
    """Chips given to the dealers, and the rack after it."""

    tip: str
    session: str
    amount_cents: int
    rack_cents: int


@dataclass(frozen=True, slots=True)
class CashOutReceipt:
    """Chips taken away, and the rack after it."""

    cash_out: str
    session: str
    amount_cents: int
    rack_cents: int


@dataclass(frozen=True, slots=True)
class DepartureReceipt:
    """The seat session that ended, and what its patron took along."""

    session: str
    chips_cents: int


@dataclass(frozen=True, slots=True)
class SlipReceipt:
    """A fill or a credit, and the tray after it."""

    slip: str
    amount_cents: int
    tray_cents: int


@dataclass(frozen=True, slots=True)
class CorrectionReceipt:
    """A corrected payment, who authorised it, and the rack after it."""

    correction: str
    settlement: str
    hold: str
    session: str
    direction: Direction
    amount_cents: int
    authorised_by: str
    rack_cents: int


@dataclass(frozen=True, slots=True)
class AccountBalance:
    """What one account holds; negative for `outside`, and for `breakage` where rounding gave away."""

    account: str
    currency: Currency
    balance_cents: int


@dataclass(frozen=True, slots=True)
class Balances:
    """Every account that is not at zero, by currency and name; each currency sums to zero."""

    accounts: tuple[AccountBalance, ...]


@dataclass(frozen=True, slots=True)
class TableMoney:
    """A table's money in its period so far.

    `tray_cents` is what a count of the tray finds (breakage included), `racks_cents` the patrons' free chips, `escrow_cents`
    the stakes in play (`open_holds` of them). `win_cents` = tray + drop + credits - opener - fills. `hold` is win / drop and
    `win_per_handle` win / handle, None while there is no drop or handle.
    """

    open: bool
    opening: str
    tray_cents: int
    breakage_cents: int
    opener_cents: int
    fills_cents: int
    credits_cents: int
    drop_cents: int
    tips_cents: int
    racks_cents: int
    seated: int
    escrow_cents: int
    open_holds: int
    rounds_settled: int
    handle_cents: int
    win_cents: int
    hold: Fraction | None
    win_per_handle: Fraction | None


@dataclass(frozen=True, slots=True)
class StatementLine:
    """One settled wager. `pay_cents` is what came on top of the stake, `net_cents` = returned - stake (B08: kept apart)."""

    round_id: str
    seat: int
    hand: int
    kind: str
    outcome: str
    cause: str
    stake_cents: int
    pay_cents: int
    returned_cents: int
    net_cents: int


@dataclass(frozen=True, slots=True)
class Statement:
    """One patron's stay. The totals cover all of it; `lines` are the last ones, after `earlier_lines` that are not shown.

    rack = brought + bought + returned + corrected - staked - in play - tipped - cashed out, always. `net_cents` = returned -
    staked + corrected. `open` is false after the patron left (his chips then count as cashed out).
    """

    session: str
    patron: str
    seat: int
    open: bool
    rack_cents: int
    in_play_cents: int
    brought_cents: int
    bought_cents: int
    staked_cents: int
    pay_cents: int
    returned_cents: int
    corrected_cents: int
    net_cents: int
    tipped_cents: int
    cashed_out_cents: int
    earlier_lines: int
    lines: tuple[StatementLine, ...]


@dataclass(frozen=True, slots=True)
class HoldState:
    """One stake of a round and how it stands."""

    hold: str
    session: str
    kind: str
    amount_cents: int
    status: HoldStatus


@dataclass(frozen=True, slots=True)
class RoundMoney:
    """The stakes of one round in the order they were held, and its settlements; `settled` after the final one."""

    round_id: str
    settled: bool
    holds: tuple[HoldState, ...]
    settlements: tuple[SettlementReceipt, ...]

"""The ledger's state: what is remembered of one table's money, as immutable records.

Owns the shape and the size of the memory. Promises that it stays small and that nothing is done twice for want of it: the
last rounds (older ones are refused with RoundIsPast); the patrons at the table and the last ones who left, each with his
receipts (others of this period and the one before are refused with SeatSessionEnded); the house's receipts of the same two
periods. Does not decide anything (see `ledger`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum

from services.game.quick import replace
from services.wager import commands, events
from services.wager.accounts import BREAKAGE, OUTSIDE, TRAY, Balances, Currency, balance, rack
from services.wager.rejections import SeatSessionEnded, UnknownSeatSession

# Wide enough that whoever retries after a restart, or corrects a payment at the table, still finds the first answer.
ROUNDS_REMEMBERED = 64
DEPARTED_REMEMBERED = 64
LINES_REMEMBERED = 256


Receipt = (
    events.LedgerOpened
    | events.LedgerClosed
    | events.SeatSessionOpened
    | events.ChipsBought
    | events.ChipsBrought
    | events.TipGiven
    | events.ChipsCashedOut
    | events.SeatSessionClosed
    | events.TrayFilled
    | events.TrayCredited
    | events.PaymentCorrected
)


class HoldStatus(StrEnum):
    """A stake is held, then posted (settled) or voided (given back): every hold ends (L9)."""

    HELD = "held"
    POSTED = "posted"
    VOIDED = "voided"


@dataclass(frozen=True, slots=True)
class Hold:
    """One stake and how it stands; `voided` is set when it was given back."""

    stake: events.HeldStake
    status: HoldStatus
    voided: events.VoidedHold | None = None


@dataclass(frozen=True, slots=True)
class RoundBook:
    """The stakes of one round in the order they were held, its settlements, and net corrections by a line's first hold."""

    round_id: str
    holds: Mapping[str, Hold]
    settlements: tuple[events.RoundSettled, ...] = ()
    corrected: Mapping[str, int] = field(default_factory=dict)

    @property
    def settled(self) -> bool:
        """Whether the final settlement is recorded: no further stake can join."""
        return bool(self.settlements) and self.settlements[-1].final

    @property
    def open_holds(self) -> tuple[events.HeldStake, ...]:
        """The stakes still in play."""
        return tuple(hold.stake for hold in self.holds.values() if hold.status is HoldStatus.HELD)


@dataclass(frozen=True, slots=True)
class SeatSession:
    """One patron's stay at a seat. His free chips are the account `rack/<session>`.

    The totals cover the whole stay. `lines` are his last settled lines with their rounds, after `earlier_lines` others.
    `staked_cents` and `returned_cents` are of settled lines; `in_play_cents` is held now; `corrected_cents` is net.
    `receipts` are the answers to his commands by the business id of their effect.
    """

    session: str
    patron: str
    seat: int
    brought_cents: int
    bought_cents: int = 0
    in_play_cents: int = 0
    staked_cents: int = 0
    returned_cents: int = 0
    pay_cents: int = 0
    tipped_cents: int = 0
    cashed_out_cents: int = 0
    corrected_cents: int = 0
    earlier_lines: int = 0
    lines: tuple[tuple[str, events.SettledLine], ...] = ()
    receipts: Mapping[str, Receipt] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PeriodTotals:
    """What a period (opening to closing) came to so far. `win_cents` is the house's, corrections included."""

    opener_cents: int = 0
    fills_cents: int = 0
    credits_cents: int = 0
    handle_cents: int = 0
    win_cents: int = 0
    rounds_settled: int = 0


# Which field of a command, and of the event that answers it, is the business id of the effect.
RECEIPT_FIELDS: Mapping[type, tuple[str, str]] = {
    commands.OpenLedger: ("opening", "opening"),
    events.LedgerOpened: ("opening", "opening"),
    commands.CloseLedger: ("closing", "closing"),
    events.LedgerClosed: ("closing", "closing"),
    commands.OpenSeatSession: ("session", "session"),
    events.SeatSessionOpened: ("session", "session"),
    commands.CloseSeatSession: ("left", "session"),
    events.SeatSessionClosed: ("left", "session"),
    commands.BuyIn: ("buy_in", "buy_in"),
    events.ChipsBought: ("buy_in", "buy_in"),
    commands.BringChips: ("sighting", "sighting"),
    events.ChipsBrought: ("sighting", "sighting"),
    commands.GiveTip: ("tip", "tip"),
    events.TipGiven: ("tip", "tip"),
    commands.CashOut: ("cash_out", "cash_out"),
    events.ChipsCashedOut: ("cash_out", "cash_out"),
    commands.FillTray: ("slip", "slip"),
    events.TrayFilled: ("slip", "slip"),
    commands.CreditTray: ("slip", "slip"),
    events.TrayCredited: ("slip", "slip"),
    commands.CorrectPayment: ("correction", "correction"),
    events.PaymentCorrected: ("correction", "correction"),
}
_RECEIPT_OF: Mapping[type, type] = {
    commands.OpenLedger: events.LedgerOpened,
    commands.CloseLedger: events.LedgerClosed,
    commands.OpenSeatSession: events.SeatSessionOpened,
    commands.CloseSeatSession: events.SeatSessionClosed,
    commands.BuyIn: events.ChipsBought,
    commands.BringChips: events.ChipsBrought,
    commands.GiveTip: events.TipGiven,
    commands.CashOut: events.ChipsCashedOut,
    commands.FillTray: events.TrayFilled,
    commands.CreditTray: events.TrayCredited,
    commands.CorrectPayment: events.PaymentCorrected,
}


@dataclass(frozen=True, slots=True)
class PeriodMemory:
    """What one period leaves behind: the house's receipts, and the ids of seat sessions whose records were let go."""

    receipts: Mapping[str, Receipt] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Ledger:
    """All money of one table after some event of its stream.

    `opened` is the period's opening, None while the ledger is closed. `rounds` are in the order of their numbers,
    `latest_round` is the greatest number seen. `memory` is of this period, `earlier` of the one before.
    """

    table: str
    opened: events.LedgerOpened | None
    balances: Balances
    seated: Mapping[str, SeatSession]
    departed: Mapping[str, SeatSession]
    rounds: Mapping[str, RoundBook]
    latest_round: int
    totals: PeriodTotals
    memory: PeriodMemory = PeriodMemory()
    earlier: PeriodMemory = PeriodMemory()

    @classmethod
    def of(cls, table: str) -> "Ledger":
        """The ledger of `table` ("<floor>/<table>") before its first event."""
        return cls(table, None, {}, {}, {}, {}, 0, PeriodTotals())

    @property
    def tray_cents(self) -> int:
        """What a count of the tray finds: the house's chips, those that rounding kept included."""
        return balance(self.balances, TRAY) + balance(self.balances, BREAKAGE)

    @property
    def escrow_cents(self) -> int:
        """All stakes in play."""
        return sum(session.in_play_cents for session in self.seated.values())

    def rack_cents(self, session: str) -> int:
        """The free chips of a seat session, 0 when it is not known."""
        return balance(self.balances, rack(session))

    def holdings_cents(self, currency: Currency) -> int:
        """All money of the currency at the table."""
        return -balance(self.balances, OUTSIDE, currency)

    def at_seat(self, session: str) -> SeatSession:
        """The open seat session; raises UnknownSeatSession or SeatSessionEnded."""
        known = self.seated.get(session)
        if known is not None:
            return known
        if self.has_left(session):
            raise SeatSessionEnded(f"seat session {session!r} has ended", session=session)
        raise UnknownSeatSession(
            f"there is no seat session {session!r:.220} at {self.table}", session=str(session)[:200]
        )

    def has_left(self, session: str) -> bool:
        """Whether the seat session ended, in this period or the one before."""
        return session in self.departed or session in self.memory.gone or session in self.earlier.gone

    def receipt(self, key: str) -> Receipt | None:
        """The answer kept under a `receipt_key`, whoever keeps it."""
        found = self.memory.receipts.get(key) or self.earlier.receipts.get(key)
        if found is not None:
            return found
        for sessions in (self.seated, self.departed):
            for session in sessions.values():
                if key in session.receipts:
                    return session.receipts[key]
        return None


def receipt_key(subject: object) -> str | None:
    """Where the receipt of a command or of its event is kept; None for those of a round, which the round book keeps."""
    where = RECEIPT_FIELDS.get(type(subject))
    return None if where is None else f"{where[0]}:{getattr(subject, where[1])}"


def answers(receipt: Receipt, command: commands.Command) -> bool:
    """Whether `receipt` is what this very command led to: every field of the command stands in it unchanged."""
    return type(receipt) is _RECEIPT_OF.get(type(command)) and all(
        getattr(command, each.name) == getattr(receipt, each.name) for each in fields(command)
    )


def with_receipt(ledger: Ledger, key: str, receipt: Receipt) -> Ledger:
    """The ledger with an answer kept: by the patron it concerns, else by the period."""
    if isinstance(
        receipt,
        events.LedgerOpened | events.LedgerClosed | events.TrayFilled | events.TrayCredited | events.PaymentCorrected,
    ):
        memory = replace(ledger.memory, receipts={**ledger.memory.receipts, key: receipt})
        return replace(ledger, memory=memory)
    known = ledger.seated.get(receipt.session)
    if known is not None:
        kept = replace(known, receipts={**known.receipts, key: receipt})
        return replace(ledger, seated={**ledger.seated, receipt.session: kept})
    known = ledger.departed[receipt.session]
    kept = replace(known, receipts={**known.receipts, key: receipt})
    return replace(ledger, departed={**ledger.departed, receipt.session: kept})

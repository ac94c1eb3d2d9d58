"""How others ask the wager service, over gRPC or in their own process: its procedures, their contents and answers.

Owns nothing. Every other room imports this file and no other of `services.wager`.
"""

from dataclasses import dataclass
from typing import Any

from services.game.authority import CommandContext
from services.game.money import Rounding
from services.runtime.caller import Caller
from services.wager.accounts import Count, Currency, Movement, Reason
from services.wager.books import HoldStatus
from services.wager.commands import (
    BringChips,
    BuyIn,
    CashOut,
    CloseLedger,
    CloseSeatSession,
    CorrectPayment,
    CreditTray,
    FillTray,
    GiveTip,
    HoldStakes,
    OpenLedger,
    OpenSeatSession,
    SettlementLine,
    SettleRound,
    Stake,
    VoidHolds,
)
from services.wager.events import Direction, HeldStake, RackBalance, SettledLine, VoidedHold
from services.wager.replies import (
    AccountBalance,
    Balances,
    BuyInReceipt,
    CashOutReceipt,
    ClosingReceipt,
    CorrectionReceipt,
    DepartureReceipt,
    HoldsReceipt,
    HoldState,
    OpeningReceipt,
    RoundMoney,
    SessionReceipt,
    SettlementReceipt,
    SightingReceipt,
    SlipReceipt,
    Statement,
    StatementLine,
    TableMoney,
    TipReceipt,
    VoidsReceipt,
)
from services.wire.rpc import Kind, Rpc

SERVICE = "holecard.wager.v1.WagerService"


@dataclass(frozen=True, slots=True)
class ReadBalances:
    """Ask for every account of the table."""


@dataclass(frozen=True, slots=True)
class ReadTableMoney:
    """Ask for tray, drop, win, handle and stakes in play of the table."""


@dataclass(frozen=True, slots=True)
class ReadStatement:
    """Ask for one patron's stay."""

    session: str


@dataclass(frozen=True, slots=True)
class ReadRound:
    """Ask for the stakes of one recent round."""

    round_id: str


OPEN_LEDGER = Rpc(SERVICE, "OpenLedger", OpenLedger, OpeningReceipt)
CLOSE_LEDGER = Rpc(SERVICE, "CloseLedger", CloseLedger, ClosingReceipt)
OPEN_SEAT_SESSION = Rpc(SERVICE, "OpenSeatSession", OpenSeatSession, SessionReceipt)
BUY_IN = Rpc(SERVICE, "BuyIn", BuyIn, BuyInReceipt)
BRING_CHIPS = Rpc(SERVICE, "BringChips", BringChips, SightingReceipt)
HOLD_STAKES = Rpc(SERVICE, "HoldStakes", HoldStakes, HoldsReceipt)
VOID_HOLDS = Rpc(SERVICE, "VoidHolds", VoidHolds, VoidsReceipt)
SETTLE_ROUND = Rpc(SERVICE, "SettleRound", SettleRound, SettlementReceipt)
GIVE_TIP = Rpc(SERVICE, "GiveTip", GiveTip, TipReceipt)
CASH_OUT = Rpc(SERVICE, "CashOut", CashOut, CashOutReceipt)
CLOSE_SEAT_SESSION = Rpc(SERVICE, "CloseSeatSession", CloseSeatSession, DepartureReceipt)
FILL_TRAY = Rpc(SERVICE, "FillTray", FillTray, SlipReceipt)
CREDIT_TRAY = Rpc(SERVICE, "CreditTray", CreditTray, SlipReceipt)
CORRECT_PAYMENT = Rpc(SERVICE, "CorrectPayment", CorrectPayment, CorrectionReceipt)
READ_BALANCES = Rpc(SERVICE, "ReadBalances", ReadBalances, Balances, Kind.QUERY)
READ_TABLE_MONEY = Rpc(SERVICE, "ReadTableMoney", ReadTableMoney, TableMoney, Kind.QUERY)
READ_STATEMENT = Rpc(SERVICE, "ReadStatement", ReadStatement, Statement, Kind.QUERY)
READ_ROUND = Rpc(SERVICE, "ReadRound", ReadRound, RoundMoney, Kind.QUERY)

RPCS: tuple[Rpc[Any, Any], ...] = (
    OPEN_LEDGER,
    CLOSE_LEDGER,
    OPEN_SEAT_SESSION,
    BUY_IN,
    BRING_CHIPS,
    HOLD_STAKES,
    VOID_HOLDS,
    SETTLE_ROUND,
    GIVE_TIP,
    CASH_OUT,
    CLOSE_SEAT_SESSION,
    FILL_TRAY,
    CREDIT_TRAY,
    CORRECT_PAYMENT,
    READ_BALANCES,
    READ_TABLE_MONEY,
    READ_STATEMENT,
    READ_ROUND,
)


class WagerClient:
    """The wager service behind `caller`.

    Each method raises Refused when a rule forbids it (nothing changed), ServiceUnavailable or CallFailed otherwise. After an
    unknown outcome, ask again with the same request id, or with the same business id in the command: it happens once.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def open_ledger(self, table: str, context: CommandContext, command: OpenLedger) -> OpeningReceipt:
        """Count the tray in."""
        return await self._caller.call(OPEN_LEDGER, table, context, command)

    async def close_ledger(self, table: str, context: CommandContext, command: CloseLedger) -> ClosingReceipt:
        """Send tray, drop box and tips away."""
        return await self._caller.call(CLOSE_LEDGER, table, context, command)

    async def open_seat_session(self, table: str, context: CommandContext, command: OpenSeatSession) -> SessionReceipt:
        """A patron sits down."""
        return await self._caller.call(OPEN_SEAT_SESSION, table, context, command)

    async def buy_in(self, table: str, context: CommandContext, command: BuyIn) -> BuyInReceipt:
        """Cash for chips (30-831)."""
        return await self._caller.call(BUY_IN, table, context, command)

    async def bring_chips(self, table: str, context: CommandContext, command: BringChips) -> SightingReceipt:
        """Take into a rack what a device saw of a patron's own chips."""
        return await self._caller.call(BRING_CHIPS, table, context, command)

    async def hold_stakes(self, table: str, context: CommandContext, command: HoldStakes) -> HoldsReceipt:
        """Stakes into escrow, all or none."""
        return await self._caller.call(HOLD_STAKES, table, context, command)

    async def void_holds(self, table: str, context: CommandContext, command: VoidHolds) -> VoidsReceipt:
        """Stakes back undecided."""
        return await self._caller.call(VOID_HOLDS, table, context, command)

    async def settle_round(self, table: str, context: CommandContext, command: SettleRound) -> SettlementReceipt:
        """Stakes decided and paid."""
        return await self._caller.call(SETTLE_ROUND, table, context, command)

    async def give_tip(self, table: str, context: CommandContext, command: GiveTip) -> TipReceipt:
        """Chips to the dealers."""
        return await self._caller.call(GIVE_TIP, table, context, command)

    async def cash_out(self, table: str, context: CommandContext, command: CashOut) -> CashOutReceipt:
        """Free chips away from the table."""
        return await self._caller.call(CASH_OUT, table, context, command)

    async def close_seat_session(
        self, table: str, context: CommandContext, command: CloseSeatSession
    ) -> DepartureReceipt:
        """A patron leaves with his rack."""
        return await self._caller.call(CLOSE_SEAT_SESSION, table, context, command)

    async def fill_tray(self, table: str, context: CommandContext, command: FillTray) -> SlipReceipt:
        """Chips from the cage."""
        return await self._caller.call(FILL_TRAY, table, context, command)

    async def credit_tray(self, table: str, context: CommandContext, command: CreditTray) -> SlipReceipt:
        """Chips to the cage."""
        return await self._caller.call(CREDIT_TRAY, table, context, command)

    async def correct_payment(self, table: str, context: CommandContext, command: CorrectPayment) -> CorrectionReceipt:
        """A supervisor mends a payment (30-828(1))."""
        return await self._caller.call(CORRECT_PAYMENT, table, context, command)

    async def read_balances(self, table: str) -> Balances:
        """Every account that is not at zero."""
        return await self._caller.call(READ_BALANCES, table, None, ReadBalances())

    async def read_table_money(self, table: str) -> TableMoney:
        """Tray, drop, win, handle, stakes in play."""
        return await self._caller.call(READ_TABLE_MONEY, table, None, ReadTableMoney())

    async def read_statement(self, table: str, session: str) -> Statement:
        """One patron's stay; refused with UnknownSeatSession."""
        return await self._caller.call(READ_STATEMENT, table, None, ReadStatement(session))

    async def read_round(self, table: str, round_id: str) -> RoundMoney:
        """The stakes of one recent round; refused with UnknownRound or RoundIsPast."""
        return await self._caller.call(READ_ROUND, table, None, ReadRound(round_id))


__all__ = [
    "RPCS",
    "SERVICE",
    "AccountBalance",
    "Balances",
    "BringChips",
    "BuyIn",
    "BuyInReceipt",
    "CashOut",
    "CashOutReceipt",
    "CloseLedger",
    "CloseSeatSession",
    "ClosingReceipt",
    "CorrectPayment",
    "CorrectionReceipt",
    "Count",
    "CreditTray",
    "Currency",
    "DepartureReceipt",
    "Direction",
    "FillTray",
    "GiveTip",
    "HeldStake",
    "HoldStakes",
    "HoldState",
    "HoldStatus",
    "HoldsReceipt",
    "Movement",
    "OpenLedger",
    "OpenSeatSession",
    "OpeningReceipt",
    "RackBalance",
    "ReadBalances",
    "ReadRound",
    "ReadStatement",
    "ReadTableMoney",
    "Reason",
    "RoundMoney",
    "Rounding",
    "SessionReceipt",
    "SettleRound",
    "SettledLine",
    "SettlementLine",
    "SettlementReceipt",
    "SightingReceipt",
    "SlipReceipt",
    "Stake",
    "Statement",
    "StatementLine",
    "TableMoney",
    "TipReceipt",
    "VoidHolds",
    "VoidedHold",
    "VoidsReceipt",
    "WagerClient",
]

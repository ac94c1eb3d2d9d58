"""How others ask a table, over gRPC or in their own process: its procedures, their contents and answers.

Owns nothing. Every other room imports this file and no other of `services.table`.

A table's day, in calls: open_table, seat_player, buy_in; then for each round open_betting, place_wagers, close_betting, and
act for each question in the table's view; leave_seat, close_table. The table deals, settles and pays by itself.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from services.game.authority import CommandContext
from services.game.round_words import Action, HandStatus, SettlementLine, Stake
from services.game.rule_options import Limits
from services.runtime.caller import Caller
from services.table.commands import (
    Act,
    BuyIn,
    CashOut,
    ChangeLimits,
    CloseBetting,
    CloseInsurance,
    CloseTable,
    DeclineInsurance,
    GiveTip,
    LeaveSeat,
    OpenBetting,
    OpenTable,
    PlaceWagers,
    PlayCash,
    PostRules,
    RecordObservations,
    Resume,
    SeatPlayer,
    SetDealer,
    Suspend,
    TakeEvenMoney,
    TakeInsurance,
    VoidHand,
    VoidRound,
)
from services.table.readings import (
    MOST_IN_ONE_CALL,
    RULINGS,
    ClockAlarm,
    IrregularityKind,
    MalformedReading,
    Observation,
    Reading,
    ReadingKind,
    check_device,
    check_reading,
)
from services.table.replies import (
    Accepted,
    BettingOpen,
    DealerView,
    DeviceList,
    DeviceStanding,
    DeviceView,
    HandView,
    ObservationsRecorded,
    Question,
    RackReply,
    RoundView,
    Seated,
    SeatView,
    TableList,
    TableSummary,
    TableView,
)
from services.table.words import ChipCount, RackChange, SeatPhase, SeatWager, TablePhase, WaitingFor
from services.wire.rpc import Kind, Rpc

SERVICE = "holecard.table.v1.TableService"


@dataclass(frozen=True, slots=True)
class GetTable:
    """Ask for a table as it stands."""


@dataclass(frozen=True, slots=True)
class WatchTable:
    """Ask for a table and its changes; `after_sequence` is the last one the reader has, 0 for none."""

    after_sequence: int = 0


@dataclass(frozen=True, slots=True)
class ListTables:
    """Ask for the tables of a floor."""

    floor: str


@dataclass(frozen=True, slots=True)
class GetDevices:
    """Ask for the devices that reported about a table."""


POST_RULES = Rpc(SERVICE, "PostRules", PostRules, Accepted)
OPEN_TABLE = Rpc(SERVICE, "OpenTable", OpenTable, Accepted)
CLOSE_TABLE = Rpc(SERVICE, "CloseTable", CloseTable, Accepted)
CHANGE_LIMITS = Rpc(SERVICE, "ChangeLimits", ChangeLimits, Accepted)
SET_DEALER = Rpc(SERVICE, "SetDealer", SetDealer, Accepted)
SEAT_PLAYER = Rpc(SERVICE, "SeatPlayer", SeatPlayer, Seated)
LEAVE_SEAT = Rpc(SERVICE, "LeaveSeat", LeaveSeat, Accepted)
BUY_IN = Rpc(SERVICE, "BuyIn", BuyIn, RackReply)
GIVE_TIP = Rpc(SERVICE, "GiveTip", GiveTip, RackReply)
PLAY_CASH = Rpc(SERVICE, "PlayCash", PlayCash, Accepted)
CASH_OUT = Rpc(SERVICE, "CashOut", CashOut, RackReply)
OPEN_BETTING = Rpc(SERVICE, "OpenBetting", OpenBetting, BettingOpen)
PLACE_WAGERS = Rpc(SERVICE, "PlaceWagers", PlaceWagers, Accepted)
CLOSE_BETTING = Rpc(SERVICE, "CloseBetting", CloseBetting, Accepted)
TAKE_INSURANCE = Rpc(SERVICE, "TakeInsurance", TakeInsurance, Accepted)
DECLINE_INSURANCE = Rpc(SERVICE, "DeclineInsurance", DeclineInsurance, Accepted)
TAKE_EVEN_MONEY = Rpc(SERVICE, "TakeEvenMoney", TakeEvenMoney, Accepted)
CLOSE_INSURANCE = Rpc(SERVICE, "CloseInsurance", CloseInsurance, Accepted)
ACT = Rpc(SERVICE, "Act", Act, Accepted)
SUSPEND = Rpc(SERVICE, "Suspend", Suspend, Accepted)
RESUME = Rpc(SERVICE, "Resume", Resume, Accepted)
VOID_HAND = Rpc(SERVICE, "VoidHand", VoidHand, Accepted)
VOID_ROUND = Rpc(SERVICE, "VoidRound", VoidRound, Accepted)
GET_TABLE = Rpc(SERVICE, "GetTable", GetTable, TableView, Kind.QUERY)
WATCH_TABLE = Rpc(SERVICE, "WatchTable", WatchTable, TableView, Kind.STREAM)
LIST_TABLES = Rpc(SERVICE, "ListTables", ListTables, TableList, Kind.QUERY)
RECORD_OBSERVATIONS = Rpc(SERVICE, "RecordObservations", RecordObservations, ObservationsRecorded)
GET_DEVICES = Rpc(SERVICE, "GetDevices", GetDevices, DeviceList, Kind.QUERY)

RPCS: tuple[Rpc[Any, Any], ...] = (
    POST_RULES,
    OPEN_TABLE,
    CLOSE_TABLE,
    CHANGE_LIMITS,
    SET_DEALER,
    SEAT_PLAYER,
    LEAVE_SEAT,
    BUY_IN,
    CASH_OUT,
    GIVE_TIP,
    OPEN_BETTING,
    PLACE_WAGERS,
    PLAY_CASH,
    CLOSE_BETTING,
    TAKE_INSURANCE,
    DECLINE_INSURANCE,
    TAKE_EVEN_MONEY,
    CLOSE_INSURANCE,
    ACT,
    SUSPEND,
    RESUME,
    VOID_HAND,
    VOID_ROUND,
    GET_TABLE,
    WATCH_TABLE,
    LIST_TABLES,
    RECORD_OBSERVATIONS,
    GET_DEVICES,
)


class TableClient:
    """The table service behind `caller`; `table` is "<floor>/<table>".

    Each method raises Refused when a rule forbids it (nothing changed), ServiceUnavailable (unknown: ask again with the same
    request id) or CallFailed.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def post_rules(self, table: str, context: CommandContext, command: PostRules) -> Accepted:
        """Put a rule set on display (30-803(3))."""
        return await self._caller.call(POST_RULES, table, context, command)

    async def open_table(self, table: str, context: CommandContext, command: OpenTable) -> Accepted:
        """Open for play."""
        return await self._caller.call(OPEN_TABLE, table, context, command)

    async def close_table(self, table: str, context: CommandContext, command: CloseTable) -> Accepted:
        """End the period."""
        return await self._caller.call(CLOSE_TABLE, table, context, command)

    async def change_limits(self, table: str, context: CommandContext, command: ChangeLimits) -> Accepted:
        """Announce other limits (30-809)."""
        return await self._caller.call(CHANGE_LIMITS, table, context, command)

    async def set_dealer(self, table: str, context: CommandContext, command: SetDealer) -> Accepted:
        """Change the dealer (30-819)."""
        return await self._caller.call(SET_DEALER, table, context, command)

    async def seat_player(self, table: str, context: CommandContext, command: SeatPlayer) -> Seated:
        """Seat a patron; the answer's session names his stay."""
        return await self._caller.call(SEAT_PLAYER, table, context, command)

    async def leave_seat(self, table: str, context: CommandContext, command: LeaveSeat) -> Accepted:
        """Let a patron go, after his stakes are settled."""
        return await self._caller.call(LEAVE_SEAT, table, context, command)

    async def buy_in(self, table: str, context: CommandContext, command: BuyIn) -> RackReply:
        """Cash for chips between rounds (30-831)."""
        return await self._caller.call(BUY_IN, table, context, command)

    async def cash_out(self, table: str, context: CommandContext, command: CashOut) -> RackReply:
        """Chips away between rounds."""
        return await self._caller.call(CASH_OUT, table, context, command)

    async def give_tip(self, table: str, context: CommandContext, command: GiveTip) -> RackReply:
        """Chips to the dealers, where tips are accepted (30-803(3)(i))."""
        return await self._caller.call(GIVE_TIP, table, context, command)

    async def play_cash(self, table: str, context: CommandContext, command: PlayCash) -> Accepted:
        """A wager in cash, where cash plays are accepted (30-809)."""
        return await self._caller.call(PLAY_CASH, table, context, command)

    async def open_betting(self, table: str, context: CommandContext) -> BettingOpen:
        """Begin the next round."""
        return await self._caller.call(OPEN_BETTING, table, context, OpenBetting())

    async def place_wagers(self, table: str, context: CommandContext, command: PlaceWagers) -> Accepted:
        """Put down wagers of one or many seats, all or none."""
        return await self._caller.call(PLACE_WAGERS, table, context, command)

    async def close_betting(self, table: str, context: CommandContext, round_id: str) -> Accepted:
        """No more wagers; the table deals."""
        return await self._caller.call(CLOSE_BETTING, table, context, CloseBetting(round_id))

    async def take_insurance(self, table: str, context: CommandContext, command: TakeInsurance) -> Accepted:
        """Insure a hand (30-812)."""
        return await self._caller.call(TAKE_INSURANCE, table, context, command)

    async def decline_insurance(self, table: str, context: CommandContext, command: DeclineInsurance) -> Accepted:
        """Do without."""
        return await self._caller.call(DECLINE_INSURANCE, table, context, command)

    async def take_even_money(self, table: str, context: CommandContext, command: TakeEvenMoney) -> Accepted:
        """1 to 1 now for a blackjack (30-812)."""
        return await self._caller.call(TAKE_EVEN_MONEY, table, context, command)

    async def close_insurance(self, table: str, context: CommandContext, round_id: str) -> Accepted:
        """The dealer ends the offer."""
        return await self._caller.call(CLOSE_INSURANCE, table, context, CloseInsurance(round_id))

    async def act(self, table: str, context: CommandContext, command: Act) -> Accepted:
        """Answer a question: hit, stand, double, split, surrender, insure and so on."""
        return await self._caller.call(ACT, table, context, command)

    async def suspend(self, table: str, context: CommandContext, reason: str) -> Accepted:
        """Stop play (30-828)."""
        return await self._caller.call(SUSPEND, table, context, Suspend(reason))

    async def resume(self, table: str, context: CommandContext, command: Resume) -> Accepted:
        """Let play go on: a pit supervisor only (30-828(1))."""
        return await self._caller.call(RESUME, table, context, command)

    async def void_hand(self, table: str, context: CommandContext, command: VoidHand) -> Accepted:
        """Call one hand a push: a pit supervisor only (30-828(1))."""
        return await self._caller.call(VOID_HAND, table, context, command)

    async def void_round(self, table: str, context: CommandContext, command: VoidRound) -> Accepted:
        """Call every hand a push: a pit supervisor only (30-828(1))."""
        return await self._caller.call(VOID_ROUND, table, context, command)

    async def get_table(self, table: str) -> TableView:
        """The table as it stands; raises NotFound for one that was never opened."""
        return await self._caller.call(GET_TABLE, table, None, GetTable())

    def watch_table(self, table: str, after_sequence: int = 0) -> AsyncIterator[TableView]:
        """The table now and after every change; a slow reader skips to the newest."""
        return self._caller.stream(WATCH_TABLE, table, WatchTable(after_sequence))

    async def list_tables(self, floor: str) -> TableList:
        """The tables of a floor."""
        return await self._caller.call(LIST_TABLES, "", None, ListTables(floor))

    async def record_observations(
        self, table: str, context: CommandContext, command: RecordObservations
    ) -> ObservationsRecorded:
        """Put on record what devices saw."""
        return await self._caller.call(RECORD_OBSERVATIONS, table, context, command)

    async def get_devices(self, table: str) -> DeviceList:
        """The devices that reported about the table."""
        return await self._caller.call(GET_DEVICES, table, None, GetDevices())


__all__ = [
    "MOST_IN_ONE_CALL",
    "RPCS",
    "RULINGS",
    "SERVICE",
    "Accepted",
    "Act",
    "Action",
    "BettingOpen",
    "BuyIn",
    "CashOut",
    "ChangeLimits",
    "ChipCount",
    "ClockAlarm",
    "CloseBetting",
    "CloseInsurance",
    "CloseTable",
    "DealerView",
    "DeclineInsurance",
    "DeviceList",
    "DeviceStanding",
    "DeviceView",
    "GetDevices",
    "GetTable",
    "GiveTip",
    "HandStatus",
    "HandView",
    "IrregularityKind",
    "LeaveSeat",
    "Limits",
    "ListTables",
    "MalformedReading",
    "Observation",
    "ObservationsRecorded",
    "OpenBetting",
    "OpenTable",
    "PlaceWagers",
    "PlayCash",
    "PostRules",
    "Question",
    "RackChange",
    "RackReply",
    "Reading",
    "ReadingKind",
    "RecordObservations",
    "Resume",
    "RoundView",
    "SeatPhase",
    "SeatPlayer",
    "SeatView",
    "SeatWager",
    "Seated",
    "SetDealer",
    "SettlementLine",
    "Stake",
    "Suspend",
    "TableClient",
    "TableList",
    "TablePhase",
    "TableSummary",
    "TableView",
    "TakeEvenMoney",
    "TakeInsurance",
    "VoidHand",
    "VoidRound",
    "WaitingFor",
    "WatchTable",
    "check_device",
    "check_reading",
]

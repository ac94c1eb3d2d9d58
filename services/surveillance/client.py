"""How others ask surveillance, over gRPC or in their own process: its procedures, their contents and answers.

Owns nothing. Every other room imports this file and no other of `services.surveillance`.
"""

from collections.abc import AsyncIterator
from typing import Any

from services.runtime.caller import Caller
from services.surveillance.records import (
    CardView,
    DealerView,
    EventLine,
    HandView,
    LedgerLine,
    RoundRecord,
    SeatView,
    ShoeLine,
    StakeView,
    Step,
)
from services.surveillance.replies import (
    FindingList,
    FindingView,
    FloorChange,
    GetLag,
    GetMeters,
    GetRound,
    HandSummary,
    Lag,
    ListFindings,
    ListRounds,
    ListTables,
    MeterBoard,
    MeterRow,
    PartitionLag,
    PartitionOwner,
    RoundFound,
    RoundList,
    RoundSummary,
    SeatOverview,
    StuckRoundView,
    TableList,
    TableOverview,
    WatchFloor,
)
from services.wire.rpc import Kind, Rpc

SERVICE = "holecard.surveillance.v1.SurveillanceService"

LIST_ROUNDS = Rpc(SERVICE, "ListRounds", ListRounds, RoundList, Kind.QUERY)
GET_ROUND = Rpc(SERVICE, "GetRound", GetRound, RoundFound, Kind.QUERY)
LIST_TABLES = Rpc(SERVICE, "ListTables", ListTables, TableList, Kind.QUERY)
WATCH_FLOOR = Rpc(SERVICE, "WatchFloor", WatchFloor, FloorChange, Kind.STREAM)
LIST_FINDINGS = Rpc(SERVICE, "ListFindings", ListFindings, FindingList, Kind.QUERY)
GET_LAG = Rpc(SERVICE, "GetLag", GetLag, Lag, Kind.QUERY)
GET_METERS = Rpc(SERVICE, "GetMeters", GetMeters, MeterBoard, Kind.QUERY)

RPCS: tuple[Rpc[Any, Any], ...] = (
    LIST_ROUNDS,
    GET_ROUND,
    LIST_TABLES,
    WATCH_FLOOR,
    LIST_FINDINGS,
    GET_LAG,
    GET_METERS,
)


class SurveillanceClient:
    """Surveillance behind `caller`; methods raise ServiceUnavailable, CallFailed, or NotFound for what is not there."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def list_rounds(self, query: ListRounds, table: str = "") -> RoundList:
        """Rounds that fit, newest first; `table` narrows them to one table."""
        return await self._caller.call(LIST_ROUNDS, table, None, query)

    async def get_round(self, round_id: str) -> RoundFound:
        """One round, ready to be replayed; raises NotFound."""
        return await self._caller.call(GET_ROUND, "", None, GetRound(round_id))

    async def list_tables(self, floor: str = "", table: str = "") -> TableList:
        """The tables of a floor, of all floors, or one table."""
        return await self._caller.call(LIST_TABLES, table, None, ListTables(floor))

    def watch_floor(self, floor: str = "", table: str = "") -> AsyncIterator[FloorChange]:
        """All tables once, then every change; a slow reader skips to the newest state."""
        return self._caller.stream(WATCH_FLOOR, table, WatchFloor(floor))

    async def list_findings(self, query: ListFindings, table: str = "") -> FindingList:
        """Broken laws, newest first."""
        return await self._caller.call(LIST_FINDINGS, table, None, query)

    async def get_lag(self) -> Lag:
        """How far surveillance is behind the journal."""
        return await self._caller.call(GET_LAG, "", None, GetLag())

    async def get_meters(self, floor: str = "", table: str = "") -> MeterBoard:
        """What was wagered, won and dealt on the newest gaming day, and which rounds are stuck."""
        return await self._caller.call(GET_METERS, table, None, GetMeters(floor))


__all__ = [
    "RPCS",
    "SERVICE",
    "CardView",
    "DealerView",
    "EventLine",
    "FindingList",
    "FindingView",
    "FloorChange",
    "GetLag",
    "GetMeters",
    "GetRound",
    "HandSummary",
    "HandView",
    "Lag",
    "LedgerLine",
    "ListFindings",
    "ListRounds",
    "ListTables",
    "MeterBoard",
    "MeterRow",
    "PartitionLag",
    "PartitionOwner",
    "RoundFound",
    "RoundList",
    "RoundRecord",
    "RoundSummary",
    "SeatOverview",
    "SeatView",
    "ShoeLine",
    "StakeView",
    "Step",
    "StuckRoundView",
    "SurveillanceClient",
    "TableList",
    "TableOverview",
    "WatchFloor",
]

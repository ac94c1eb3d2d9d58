"""How devices ask a gateway: its procedures, their contents and answers, as protos/holecard/floor/v1/gateway.proto says.

Owns nothing. What this module does, a vendor's client can do from the .proto files alone.
"""

from dataclasses import dataclass
from typing import Any

from services.runtime.caller import Caller
from services.table.client import Reading
from services.wire.rpc import Kind, Rpc

SERVICE = "holecard.floor.v1.GatewayService"


@dataclass(frozen=True, slots=True)
class Report:
    """Keep these readings of a device; `device_time_us` is its clock when it sends, 0 when it has none."""

    device: str
    device_time_us: int
    readings: tuple[Reading, ...]


@dataclass(frozen=True, slots=True)
class ReportRuling:
    """Keep a supervisor's rulings from his terminal; every reading names him."""

    device: str
    device_time_us: int
    readings: tuple[Reading, ...]
    supervisor: str


@dataclass(frozen=True, slots=True)
class Reported:
    """Every reading up to `kept_through` is durable."""

    kept_through: int
    repeated_readings: int
    gateway_time_us: int
    clock_offset_us: int | None


@dataclass(frozen=True, slots=True)
class GetDevice:
    """Ask for a device's standing."""

    device: str


@dataclass(frozen=True, slots=True)
class DeviceAnswer:
    """What the gateway expects next from the device, and what the house has of it."""

    next_sequence: int
    forwarded_through: int
    gateway_time_us: int


@dataclass(frozen=True, slots=True)
class GetLine:
    """Ask how the line to the house stands."""


@dataclass(frozen=True, slots=True)
class BlockedTable:
    """A table of which the house refuses observations, and why."""

    table: str
    reason: str


@dataclass(frozen=True, slots=True)
class LineState:
    """The line to the house and what waits for it."""

    floor: str
    up: bool
    since_us: int
    reason: str
    queued: int
    oldest_queued_us: int
    forwarded: int
    blocked: tuple[BlockedTable, ...]


# None of them is a command with a request id: a reading carries its own identity, (table, device, device sequence).
REPORT = Rpc(SERVICE, "Report", Report, Reported, Kind.QUERY)
REPORT_RULING = Rpc(SERVICE, "ReportRuling", ReportRuling, Reported, Kind.QUERY)
GET_DEVICE = Rpc(SERVICE, "GetDevice", GetDevice, DeviceAnswer, Kind.QUERY)
GET_LINE = Rpc(SERVICE, "GetLine", GetLine, LineState, Kind.QUERY)
RPCS: tuple[Rpc[Any, Any], ...] = (REPORT, REPORT_RULING, GET_DEVICE, GET_LINE)


class GatewayClient:
    """A gateway behind `caller`; raises Refused, ServiceUnavailable or CallFailed."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def report(self, table: str, request: Report) -> Reported:
        """Keep readings."""
        return await self._caller.call(REPORT, table, None, request)

    async def report_ruling(self, table: str, request: ReportRuling) -> Reported:
        """Keep a supervisor's rulings."""
        return await self._caller.call(REPORT_RULING, table, None, request)

    async def get_device(self, table: str, device: str) -> DeviceAnswer:
        """Where a device goes on."""
        return await self._caller.call(GET_DEVICE, table, None, GetDevice(device))

    async def get_line(self) -> LineState:
        """How the line stands."""
        return await self._caller.call(GET_LINE, "", None, GetLine())

"""The gateway of one casino: keeps what its devices see, forwards it, and passes their commands through.

Owns the gateway's use cases. Promises: a report is answered after it is on disk; a command is passed on at once or refused
clearly, and never kept for later, because a command that acts an hour after it was given is worse than none. Serves the
tables of its own floor only.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from services.floor import gateway_client as g
from services.floor.clock_watch import ClockWatch
from services.floor.forwarding import Forwarder
from services.floor.gateway_log import GATEWAY, GatewayLog, Report
from services.floor.gateway_rejections import DeviceNameReserved, RulingNeedsSupervisor, TableOfAnotherFloor
from services.game.authority import CommandContext
from services.game.rejections import Rejection
from services.runtime.caller import Caller
from services.runtime.clock import Clock
from services.runtime.dispatch import Dispatcher
from services.runtime.failures import ServiceUnavailable
from services.runtime.table_key import check_table_key, floor_of
from services.runtime.telemetry import Telemetry
from services.shoe import client as shoe
from services.table import client as table
from services.table.client import (
    MOST_IN_ONE_CALL,
    RULINGS,
    ListTables,
    MalformedReading,
    Reading,
    check_device,
    check_reading,
)
from services.wager import client as wager
from services.wire.rpc import Kind, Rpc

PASSED_ON: tuple[tuple[Rpc[Any, Any], ...], ...] = (
    # Observations go through the gateway's own log, never past it.
    tuple(rpc for rpc in table.RPCS if rpc is not table.RECORD_OBSERVATIONS),
    tuple(value for value in vars(shoe).values() if isinstance(value, Rpc)),
    wager.RPCS,
)
"""What a casino's people and electronic tables may ask of the house; whether they may is the house's to say."""


class LineDown(ServiceUnavailable):
    """The house cannot be reached: nothing was sent, nothing happened."""


class Gateway:
    """One floor's gateway over its log. `house` tries a call once: no device's command is retried behind its back."""

    def __init__(self, kept: GatewayLog, house: Caller, *, clock: Clock, telemetry: Telemetry, name: str) -> None:
        self.log = kept
        self.forwarder = Forwarder(kept, house, clock=clock, gateway=name)
        self._house = house
        self._clock = clock
        self._telemetry = telemetry
        self._clocks = ClockWatch()
        telemetry.registry.register(_Figures(self, clock))

    def dispatchers(self) -> list[Dispatcher]:
        """What to serve: the gateway's own procedures, and those of the house that are passed on."""
        own: dict[Rpc[Any, Any], Callable[..., Any]] = {
            g.REPORT: self.report,
            g.REPORT_RULING: self.report_ruling,
            g.GET_DEVICE: self.get_device,
            g.GET_LINE: self.get_line,
        }
        served = [own, *({rpc: self._passing(rpc) for rpc in rpcs} for rpcs in PASSED_ON)]
        return [Dispatcher(use_cases, clock=self._clock, telemetry=self._telemetry) for use_cases in served]

    # The device protocol --------------------------------------------------------------------------------------------

    async def report(self, key: str, request: g.Report) -> g.Reported:
        """Keep readings; durable when answered."""
        self._own(key)
        ruling = next((one for one in request.readings if one.kind in RULINGS), None)
        if ruling is not None:
            raise RulingNeedsSupervisor(f"{ruling.kind.value} is a supervisor's to decide", device=request.device)
        return await self._keep(key, request.device, request.device_time_us, request.readings)

    async def report_ruling(self, key: str, request: g.ReportRuling) -> g.Reported:
        """Keep a supervisor's rulings; durable when answered."""
        self._own(key)
        for one in request.readings:
            if one.kind not in RULINGS or one.person != request.supervisor:
                raise RulingNeedsSupervisor(
                    f"{one.kind.value} by {one.person or 'nobody'} is no ruling of {request.supervisor[:64]!r}",
                    device=request.device,
                )
        return await self._keep(key, request.device, request.device_time_us, request.readings)

    async def _keep(self, key: str, device: str, device_time_us: int, readings: tuple[Reading, ...]) -> g.Reported:
        check_device(device)
        if device == GATEWAY:
            raise DeviceNameReserved(f"{GATEWAY} is this gateway itself", device=device)
        if not 1 <= len(readings) <= MOST_IN_ONE_CALL:
            raise MalformedReading(
                f"one report takes 1 to {MOST_IN_ONE_CALL} readings, not {len(readings)}", field="readings"
            )
        for at, reading in enumerate(readings):
            try:
                check_reading(reading)
            except Rejection as rejection:
                rejection.facts["at"] = at
                raise
        now_us = self._clock.now_us()
        offset_us = self._clocks.offset_us(key, device, max(device_time_us, 0), now_us)
        kept = await self.log.keep(Report(key, device, readings, now_us, offset_us))
        self.forwarder.look_at(key)
        return g.Reported(kept.kept_through, kept.repeated_readings, now_us, offset_us)

    async def get_device(self, key: str, request: g.GetDevice) -> g.DeviceAnswer:
        """Where a device goes on."""
        self._own(key)
        last, forwarded = await self.log.standing(key, check_device(request.device))
        return g.DeviceAnswer(last + 1, forwarded, self._clock.now_us())

    async def get_line(self, _key: str, _request: g.GetLine) -> g.LineState:
        """How the line stands."""
        line, progress = self.forwarder.line, self.log.progress
        blocked = tuple(g.BlockedTable(key, reason) for key, reason in sorted(self.forwarder.blocked.items()))
        return g.LineState(
            self.log.floor,
            line.up,
            line.since_us,
            line.reason,
            progress.queued,
            progress.oldest_queued_us if progress.queued else 0,
            progress.forwarded,
            blocked,
        )

    # Commands of devices --------------------------------------------------------------------------------------------

    def _passing(self, rpc: Rpc[Any, Any]) -> Callable[..., Any]:
        if rpc.kind is Kind.STREAM:

            async def watch(key: str, request: Any) -> AsyncIterator[Any]:
                self._own(key)
                self._check_line()
                async for answer in self._house.stream(rpc, key, request):
                    yield answer

            return watch
        if rpc.kind is Kind.QUERY:

            async def ask(key: str, request: Any) -> Any:
                self._check_floor(key, request)
                return await self._sent(lambda: self._house.call(rpc, key, None, request))

            return ask

        async def command(key: str, context: CommandContext, request: Any) -> Any:
            self._own(key)
            return await self._sent(lambda: self._house.call(rpc, key, context, request))

        return command

    async def _sent(self, call: Callable[[], Awaitable[Any]]) -> Any:
        self._check_line()
        try:
            answer = await call()
        except LineDown:
            raise
        except ServiceUnavailable as failure:
            # It may have arrived: only the same request id can find out.
            raise ServiceUnavailable(
                f"the house did not answer ({failure}); whether it was done is not known: ask again with the same request id"
            ) from failure
        self.forwarder.line.answered()
        return answer

    def _check_line(self) -> None:
        line = self.forwarder.line
        if not line.up:
            raise LineDown(f"LineDown: the house cannot be reached ({line.reason}); nothing was sent, nothing happened")

    def _check_floor(self, key: str, request: Any) -> None:
        floor = request.floor if isinstance(request, ListTables) else ""
        if floor and floor != self.log.floor:
            raise TableOfAnotherFloor(
                f"this is the gateway of {self.log.floor}", floor=self.log.floor, asked=floor[:80]
            )
        if key or not floor:
            self._own(key)

    def _own(self, key: str) -> str:
        if floor_of(check_table_key(key)) != self.log.floor:
            raise TableOfAnotherFloor(f"{key} is not a table of {self.log.floor}", floor=self.log.floor, table=key)
        return key


class _Figures(Collector):
    """The gateway's numbers for Prometheus, read when they are asked for."""

    def __init__(self, gateway: Gateway, clock: Clock) -> None:
        self._gateway = gateway
        self._clock = clock

    def collect(self) -> list[Metric]:
        """See Collector."""
        progress, line = self._gateway.log.progress, self._gateway.forwarder.line
        oldest = (self._clock.now_us() - progress.oldest_queued_us) / 1e6 if progress.queued else 0.0
        kept = CounterMetricFamily("holecard_gateway_readings_kept", "Readings kept on the gateway's disk.")
        kept.add_metric((), progress.kept)
        forwarded = CounterMetricFamily("holecard_gateway_readings_forwarded", "Readings that the house has.")
        forwarded.add_metric((), progress.forwarded)
        return [
            kept,
            forwarded,
            _gauge("holecard_gateway_queued_readings", "Readings kept and not yet with the house.", progress.queued),
            _gauge("holecard_gateway_oldest_queued_seconds", "Age of the oldest reading that waits.", max(oldest, 0.0)),
            _gauge("holecard_gateway_line_up", "Whether the house answered last time.", float(line.up)),
            _gauge(
                "holecard_gateway_blocked_tables",
                "Tables of which the house refuses observations.",
                len(self._gateway.forwarder.blocked),
            ),
        ]


def _gauge(name: str, help_: str, value: float) -> GaugeMetricFamily:
    gauge = GaugeMetricFamily(name, help_)
    gauge.add_metric((), value)
    return gauge

"""A gateway in the test's own process, served over gRPC, with its house at an address."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from services.floor.gateway import Gateway
from services.floor.gateway_log import GatewayLog
from services.runtime.caller import GrpcCaller, open_channel
from services.runtime.clock import Clock, SystemClock
from services.runtime.server import GrpcServer
from services.runtime.settings import Settings
from services.runtime.telemetry import Telemetry


@dataclass
class GatewayHere:
    """A running gateway and where devices find it."""

    gateway: Gateway
    address: str
    telemetry: Telemetry

    def figure(self, name: str) -> float:
        """One of its metrics."""
        value = self.telemetry.registry.get_sample_value(name)
        assert value is not None, name
        return value


@asynccontextmanager
async def gateway_at(
    path: Path, house: str, floor: str = "black-hawk", *, limit_bytes: int = 0, clock: Clock | None = None
) -> AsyncIterator[GatewayHere]:
    """Run a gateway over the log at `path`; leaving drains it."""
    kept = GatewayLog.open(path, floor, limit_bytes=limit_bytes)
    channel = open_channel(house)
    telemetry = Telemetry()
    caller = GrpcCaller(channel, deadline_seconds=5.0, patience_seconds=0.0)
    gateway = Gateway(kept, caller, clock=clock or SystemClock(), telemetry=telemetry, name=f"gateway-{floor}")
    server = GrpcServer(gateway.dispatchers(), "127.0.0.1:0")
    gateway.forwarder.start()
    await server.start()
    try:
        yield GatewayHere(gateway, f"127.0.0.1:{server.port}", telemetry)
    finally:
        await server.stop(0)
        await gateway.forwarder.stop()
        await channel.close()
        await kept.close()


def house_settings(folder: Path, address: str = "127.0.0.1:0") -> Settings:
    """A house on free ports, unless told where."""
    return Settings(data_dir=folder, grpc_address=address, metrics_address="127.0.0.1:0", console_address="127.0.0.1:0")

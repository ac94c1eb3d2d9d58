"""A whole house in this process, on free ports, with a raw channel to it: for tests of what comes over the wire."""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import grpc

from services.floor.simulation import Callers, Plan, Simulation
from services.game.authority import CommandContext
from services.game.profiles import profile
from services.house import House
from services.runtime.caller import GrpcCaller, open_channel
from services.runtime.clock import SystemClock
from services.runtime.settings import Settings
from services.wire.rpc import Rpc

Q = TypeVar("Q")
A = TypeVar("A")

SERVICES = ("shoe", "table", "wager", "surveillance")
TABLE = "black-hawk/BJ-01"
"""The first table of a simulated floor."""


def settings_in(folder: Path) -> Settings:
    """Free ports and a data folder of its own."""
    return Settings(
        folder / "data",
        grpc_address="127.0.0.1:0",
        console_address="127.0.0.1:0",
        metrics_address="127.0.0.1:0",
    )


@dataclass
class Hosted:
    """The running house, a channel to it, and callers over that channel."""

    house: House
    channel: grpc.aio.Channel
    caller: GrpcCaller

    async def send(self, rpc: Rpc[Any, Any], data: bytes, *, seconds: float = 20.0) -> tuple[grpc.StatusCode, str]:
        """Send bytes as the request of a procedure, whatever they are; gives the status and its text."""
        return await self.send_to(rpc.path, data, seconds=seconds, stream=rpc.kind.value == "stream")

    async def send_to(
        self, path: str, data: bytes, *, seconds: float = 20.0, stream: bool = False
    ) -> tuple[grpc.StatusCode, str]:
        """The same for any path; of a stream only the first answer is waited for."""
        try:
            if stream:
                many: Any = self.channel.unary_stream(path)
                call: Any = many(data, timeout=seconds)
                await call.read()
                if not call.done():
                    call.cancel()
                    return grpc.StatusCode.OK, ""
                return await call.code(), await call.details()
            unary: Any = self.channel.unary_unary(path)
            await unary(data, timeout=seconds)
        except grpc.aio.AioRpcError as error:
            return error.code(), error.details() or ""
        return grpc.StatusCode.OK, ""


class Recording:
    """A caller that keeps the bytes of every request, by procedure: a corpus of valid ones."""

    def __init__(self, inner: GrpcCaller) -> None:
        self._inner = inner
        self.requests: dict[Rpc[Any, Any], list[bytes]] = {}

    async def call(self, rpc: Rpc[Q, A], table: str, context: CommandContext | None, request: Q) -> A:
        """See Caller."""
        self.requests.setdefault(rpc, []).append(rpc.encode_request(table, context, request))
        return await self._inner.call(rpc, table, context, request)

    def stream(self, rpc: Rpc[Q, A], table: str, request: Q) -> AsyncIterator[A]:
        """See Caller."""
        self.requests.setdefault(rpc, []).append(rpc.encode_request(table, None, request))
        return self._inner.stream(rpc, table, request)


@asynccontextmanager
async def hosted(folder: Path, services: Collection[str] = SERVICES) -> AsyncIterator[Hosted]:
    """Start a house in `folder`, and drain it afterwards."""
    async with House(settings_in(folder), services) as house:
        channel = open_channel(f"127.0.0.1:{house.grpc_port}")
        try:
            yield Hosted(house, channel, GrpcCaller(channel))
        finally:
            await channel.close()


async def play_rounds(
    house: Hosted, rounds: int, *, seed: int = 1, tables: int = 1, mischief: float = 0.2
) -> Recording:
    """Let simulated players play so many rounds over gRPC; gives every request they sent."""
    recording = Recording(house.caller)
    plan = Plan(tables=tables, seats=3, rounds=rounds, mischief=mischief, seed=seed)
    simulation = Simulation(plan, (profile("colorado"),), Callers(recording, recording, recording), SystemClock())
    figures = await simulation.run(lambda _figures, _seconds: None)
    assert not figures.accepted_mischief, figures.accepted_mischief
    return recording

"""Which rooms a process hosts, and how they find each other: in this process, or at an address over gRPC.

The one place where every room's wiring meets. Owns starting and ending a process; holds no rule and no state of the game.
"""

import asyncio
from collections.abc import Collection
from contextlib import AsyncExitStack

import structlog
from prometheus_client import start_http_server

from services.console.server import ConsoleServer
from services.journal.sqlite import SqliteJournal
from services.runtime.caller import Caller, GrpcCaller, LocalCaller, open_channel
from services.runtime.clock import Clock, SystemClock
from services.runtime.dispatch import Dispatcher
from services.runtime.entropy import Entropy, SystemEntropy
from services.runtime.sealing import AesGcmSealer, load_or_create_key
from services.runtime.server import GrpcServer, PortTaken
from services.runtime.settings import SERVICES, Settings, SettingsRefused
from services.runtime.telemetry import Telemetry
from services.shoe.client import ShoeClient
from services.shoe.server import shoe_dispatcher
from services.surveillance.client import SurveillanceClient
from services.surveillance.server import Surveillance
from services.table.client import TableClient
from services.table.server import Tables
from services.wager.client import WagerClient
from services.wager.server import wager_dispatcher

log = structlog.get_logger(__name__)

WRITERS = frozenset({"shoe", "table", "wager"})


class House:
    """A running process of the house. Use as `async with House(settings, {"shoe", "table"}) as house:`."""

    def __init__(
        self,
        settings: Settings,
        hosted: Collection[str],
        *,
        clock: Clock | None = None,
        entropy: Entropy | None = None,
    ) -> None:
        unknown = set(hosted) - set(SERVICES)
        if unknown or not hosted:
            raise SettingsRefused(f"services are {', '.join(SERVICES)}; not {', '.join(sorted(unknown)) or 'none at all'}")
        self.settings = settings
        self.hosted = frozenset(hosted)
        self.telemetry = Telemetry()
        self.dispatchers: dict[str, Dispatcher] = {}
        self.grpc_port = 0
        self.console_port = 0
        self._clock = clock or SystemClock()
        self._entropy = entropy or SystemEntropy()
        self._callers: dict[str, Caller] = {}
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> "House":
        try:
            await self._open()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    def caller(self, service: str) -> Caller:
        """The way to a service: in this process when it is hosted here, else over gRPC to its address."""
        if service in self.hosted:
            return LocalCaller(self.dispatchers)
        if service not in self._callers:
            address = self.settings.addresses.get(service)
            if address is None:
                raise SettingsRefused(f"{service} is not hosted here: give its address, --{service} HOST:PORT")
            channel = open_channel(address)
            self._stack.push_async_callback(channel.close)
            self._callers[service] = GrpcCaller(channel)
        return self._callers[service]

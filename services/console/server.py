"""What serves the console, and its wiring to the clients of the house.

Listens where it is told, on the own machine only unless told otherwise. Needs nothing from any other host.
"""

import asyncio
import contextlib
import socket
from collections.abc import Collection, Iterator, Mapping

import uvicorn
from prometheus_client import CollectorRegistry
from starlette.applications import Starlette

from services.console.application import web
from services.console.client_readings import ClientReadings
from services.console.security import KnownHosts
from services.console.visitors import ShownCertificate, Visitors
from services.runtime.clock import Clock, GamingCalendar
from services.runtime.server import PortTaken
from services.runtime.settings import read_address
from services.runtime.transport import Tls, require_loopback
from services.surveillance.client import SurveillanceClient
from services.table.client import TableClient

DEFAULT_ADDRESS = "127.0.0.1:8680"


def app(
    surveillance: SurveillanceClient,
    tables: TableClient,
    *,
    calendars: Mapping[str, GamingCalendar] | None = None,
    clock: Clock | None = None,
    registry: CollectorRegistry | None = None,
) -> Starlette:
    """The console over the house's clients. `calendars` gives each floor's zone, `registry` is what /metrics shows."""
    return web(ClientReadings(surveillance, tables, calendars), clock=clock, registry=registry)


class _Uvicorn(uvicorn.Server):
    """Leaves signals to the process that hosts the console, and says when it serves."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.serving = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to serve."""
        await super().startup(sockets)
        self.serving.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


class _Door:
    """The console's own certificate, and the lists of those whom it answers."""

    def __init__(self, tls: Tls) -> None:
        self.enrolment = tls.enrolment()
        self.context = tls.web_context()
        self._tls = tls
        self._shown = tls.stamp

    def renew(self) -> None:
        """Show a certificate that was replaced from the next connection on."""
        if self._tls.refresh() != self._shown:
            self._shown = self._tls.stamp
            self._tls.show(self.context)


class ConsoleServer:
    """Serves the console on "host:port"; port 0 takes a free one, see `port` after `start`.

    `names` are those under which browsers may ask for it, besides the address's own, localhost and any IP address. With
    `tls` it speaks HTTPS and answers who shows a good certificate; without, plain HTTP on a loopback address alone. Raises
    SettingsRefused for an address that is none or not this machine's alone, and ListUnusable without a list of the enrolled.
    """

    def __init__(
        self,
        application: Starlette,
        address: str = DEFAULT_ADDRESS,
        *,
        names: Collection[str] = (),
        tls: Tls | None = None,
        registry: CollectorRegistry | None = None,
    ) -> None:
        self.address = address if tls else require_loopback(address, "give --tls DIR")
        self.port = 0
        self._application = application
        door = None if tls is None else _Door(tls)
        asked = application if door is None else Visitors(application, door.enrolment, door.renew, registry)
        config = uvicorn.Config(
            KnownHosts(asked, {read_address(address)[0], *names}),
            http="auto" if door is None else ShownCertificate,
            ssl_context_factory=None if door is None else lambda _config, _default: door.context,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=2,
        )
        self._server = _Uvicorn(config)
        self._socket: socket.socket | None = None
        self._serving: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Listen; returns when pages are served. Raises PortTaken."""
        self._socket = _listen(self.address)
        self.port = self._socket.getsockname()[1]
        self._serving = asyncio.create_task(self._server.serve(sockets=[self._socket]))
        started = asyncio.create_task(self._server.serving.wait())
        await asyncio.wait({started, self._serving}, return_when=asyncio.FIRST_COMPLETED)
        if not started.done():
            started.cancel()
            await self._serving

    async def stop(self) -> None:
        """End the live streams, let pages in hand end, and close."""
        if self._serving is None:
            return
        self._application.state.closing.set()
        self._server.should_exit = True
        await self._serving
        if self._socket is not None:
            self._socket.close()

    async def wait(self) -> None:
        """Return when the server has ended."""
        if self._serving is not None:
            await self._serving


def _listen(address: str) -> socket.socket:
    host, port = read_address(address)
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise PortTaken(
            f"cannot listen on {address}: {error.strerror or error}; stop what has it or choose another address"
        ) from error
    listening.settimeout(0)
    return listening


async def serve(application: Starlette, address: str = DEFAULT_ADDRESS) -> None:
    """Serve until cancelled; raises PortTaken."""
    server = ConsoleServer(application, address)
    await server.start()
    try:
        await server.wait()
    finally:
        await asyncio.shield(server.stop())

"""The console as a web application, and what serves it.

Owns the wiring: pages, static files, failures as pages, health and metrics for machines. Listens where it is told, on the
own machine only unless told otherwise. Needs nothing from any other host.
"""

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import structlog
import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from services.console.pages import Pages
from services.console.readings import Readings
from services.console.rendering import Renderer
from services.console.security import HEADERS, SecurityHeaders
from services.runtime.clock import Clock, SystemClock
from services.runtime.failures import CallFailed, NotFound, ServiceUnavailable
from services.runtime.server import PortTaken
from services.wire.refusal import Refused

STATIC = Path(__file__).parent / "static"
DEFAULT_ADDRESS = "127.0.0.1:8680"
FRAMES_LEVEL = 5

log = structlog.get_logger(__name__)


def web(readings: Readings, *, clock: Clock | None = None, registry: CollectorRegistry | None = None) -> Starlette:
    """The application over any source of readings; `registry` is what /metrics shows."""
    renderer = Renderer((clock or SystemClock()).now_us)
    zone = readings.zone("")

    def failed(status: int, title: str, words: str, request: Request) -> Response:
        if request.url.path.endswith(("/stream", "/frames")):
            return JSONResponse({"error": words}, status_code=status)
        return renderer.page(
            "failed.html", zone=zone, status=status, title=title, words_said=words, again=request.url.path
        )

    async def missing(request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException) and error.status_code != 404:
            return failed(error.status_code, "That cannot be done here", error.detail, request)
        words = str(error) if isinstance(error, NotFound) else "There is no page at this address."
        return failed(404, "Not found", words, request)

    async def refused(request: Request, error: Exception) -> Response:
        words = f"{error.message} {error.remedy}" if isinstance(error, Refused) else str(error)
        return failed(400, "That cannot be asked", words, request)

    async def away(request: Request, error: Exception) -> Response:
        words = (
            f"Surveillance or a table does not answer ({error}). The game goes on without it; try again in a moment."
        )
        return failed(503, "Not available now", words, request)

    async def broken(request: Request, error: Exception) -> Response:
        log.error("page failed", path=request.url.path, exc_info=error)
        answer = failed(502, "A service failed", "The service that this page reads failed. Its log says why.", request)
        # Starlette answers for unforeseen errors from outside of all middleware.
        answer.headers.update(HEADERS)
        return answer

    async def healthz(_: Request) -> Response:
        health = await readings.health()
        return JSONResponse({"serving": health.available, "reason": health.reason}, 200 if health.available else 503)

    async def metrics(_: Request) -> Response:
        return Response(generate_latest(registry or CollectorRegistry()), media_type=CONTENT_TYPE_LATEST)

    return Starlette(
        routes=[
            *Pages(readings, renderer).routes(),
            Route("/healthz", healthz),
            Route("/metrics", metrics),
            Mount("/static", StaticFiles(directory=STATIC), name="static"),
        ],
        middleware=[
            Middleware(SecurityHeaders),
            Middleware(GZipMiddleware, minimum_size=1024, compresslevel=FRAMES_LEVEL),
        ],
        exception_handlers={
            HTTPException: missing,
            NotFound: missing,
            Refused: refused,
            ServiceUnavailable: away,
            CallFailed: broken,
            Exception: broken,
        },
    )


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


class ConsoleServer:
    """Serves the console on "host:port"; port 0 takes a free one, see `port` after `start`."""

    def __init__(self, application: Starlette, address: str = DEFAULT_ADDRESS) -> None:
        self.address = address
        self.port = 0
        # A live page never ends by itself, so the streams get two seconds to be closed.
        config = uvicorn.Config(
            application,
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
        """Listen; returns when pages are served. Raises PortTaken, or ValueError for an address that is none."""
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
        self._server.should_exit = True
        await self._serving
        if self._socket is not None:
            self._socket.close()

    async def wait(self) -> None:
        """Return when the server has ended."""
        if self._serving is not None:
            await self._serving


def _listen(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65_535:
        raise ValueError(f"{address!r} is not an address such as {DEFAULT_ADDRESS}")
    host = host.strip("[]")
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, int(port)))
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


__all__ = ["DEFAULT_ADDRESS", "ConsoleServer", "serve", "web"]

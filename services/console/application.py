"""The console as a web application over any source of readings.

Owns the wiring of pages, static files, health and metrics, and the page that each failure becomes: it says what to do next
and never the text of an unforeseen error. Listens nowhere.
"""

import asyncio
from pathlib import Path

import structlog
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
from services.console.reach import FloorNotVisible, PageNotYours, ReachableReadings
from services.console.readings import Readings
from services.console.rendering import Renderer
from services.console.security import HEADERS, SecurityHeaders
from services.game.rejections import Rejection
from services.runtime.clock import Clock, SystemClock
from services.runtime.failures import CallFailed, NotFound, ServiceUnavailable
from services.wire.refusal import Refused

STATIC = Path(__file__).parent / "static"
COMPRESSION_LEVEL = 5

log = structlog.get_logger(__name__)


def web(readings: Readings, *, clock: Clock | None = None, registry: CollectorRegistry | None = None) -> Starlette:
    """The application; `registry` is what /metrics shows. Setting `state.closing` ends its live streams."""
    closing = asyncio.Event()
    renderer = Renderer((clock or SystemClock()).now_us)
    failures = _Failures(renderer, readings.zone(""))

    async def healthz(_: Request) -> Response:
        health = await readings.health()
        return JSONResponse({"serving": health.available, "reason": health.reason}, 200 if health.available else 503)

    async def metrics(_: Request) -> Response:
        return Response(generate_latest(registry or CollectorRegistry()), media_type=CONTENT_TYPE_LATEST)

    application = Starlette(
        routes=[
            *Pages(ReachableReadings(readings), renderer, closing).routes(),
            Route("/healthz", healthz),
            Route("/metrics", metrics),
            Mount("/static", StaticFiles(directory=STATIC), name="static"),
        ],
        middleware=[
            Middleware(SecurityHeaders),
            Middleware(GZipMiddleware, minimum_size=1024, compresslevel=COMPRESSION_LEVEL),
        ],
        exception_handlers={
            HTTPException: failures.missing,
            NotFound: failures.missing,
            Refused: failures.refused,
            PageNotYours: failures.not_theirs,
            FloorNotVisible: failures.not_theirs,
            ServiceUnavailable: failures.away,
            CallFailed: failures.broken,
            Exception: failures.broken,
        },
    )
    application.state.closing = closing
    return application


class _Failures:
    """A page for each kind of failure, or JSON where a script asked."""

    def __init__(self, renderer: Renderer, zone: str) -> None:
        self._renderer = renderer
        self._zone = zone

    async def missing(self, request: Request, error: Exception) -> Response:
        """No such page, table or round; or a method that no page knows."""
        if isinstance(error, HTTPException) and error.status_code != 404:
            return self._failed(error.status_code, "That cannot be done here", error.detail, request)
        words = str(error) if isinstance(error, NotFound) else "There is no page at this address."
        return self._failed(404, "Not found", words, request)

    async def refused(self, request: Request, error: Exception) -> Response:
        """The service says that the question breaks a rule."""
        words = f"{error.message} {error.remedy}" if isinstance(error, Refused) else str(error)
        return self._failed(400, "That cannot be asked", words, request)

    async def not_theirs(self, request: Request, error: Exception) -> Response:
        """The visitor may not see that."""
        words = f"{error.message}. {error.remedy}" if isinstance(error, Rejection) else str(error)
        return self._failed(403, "That is not yours to see", words, request)

    async def away(self, request: Request, error: Exception) -> Response:
        """The service does not answer now."""
        words = (
            f"Surveillance or a table does not answer ({error}). The game goes on without it; try again in a moment."
        )
        return self._failed(503, "Not available now", words, request)

    async def broken(self, request: Request, error: Exception) -> Response:
        """The service or the console failed; the reason goes to the log only."""
        log.error("page failed", path=request.url.path, exc_info=error)
        words = "The service that this page reads failed. Its log says why."
        answer = self._failed(502, "A service failed", words, request)
        # Starlette answers for unforeseen errors from outside of all middleware.
        answer.headers.update(HEADERS)
        return answer

    def _failed(self, status: int, title: str, words: str, request: Request) -> Response:
        if request.url.path.endswith(("/stream", "/frames")):
            return JSONResponse({"error": words}, status_code=status)
        again = request.url.path
        return self._renderer.page(
            "failed.html", zone=self._zone, status=status, title=title, words_said=words, again=again
        )

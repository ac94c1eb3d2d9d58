"""The pages themselves: from a request, through the readings, to HTML, pictures or a live stream.

Owns which address shows what. Every page is complete without JavaScript; with it, pages follow the house live.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any
from zoneinfo import ZoneInfo

from sse_starlette import EventSourceResponse
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from services.console.felt import draw_felt
from services.console.formatting import clock_time, iso, utc
from services.console.hand_form import read_form
from services.console.health_view import HealthView
from services.console.live import fragments, until
from services.console.meter_views import MetersView
from services.console.readings import Readings
from services.console.rendering import Renderer, drawing, slug
from services.console.views import FloorView, HandPage, RoundPage, TablePage
from services.runtime.failures import NotFound

OUTCOMES = ("win", "blackjack", "even-money", "push", "lose", "bust", "surrender", "voided")
PING_SECONDS = 15
HEALTH_SECONDS = 1.0


class Pages:
    """The console's pages over one source of readings; live streams end when `closing` is set."""

    def __init__(self, readings: Readings, renderer: Renderer, closing: asyncio.Event) -> None:
        self._readings = readings
        self._renderer = renderer
        self._closing = closing

    def routes(self) -> list[Route]:
        """Every address."""
        table = "/{floor}/{table}"
        return [
            Route("/", self.floors),
            Route("/stream", self.floors_stream),
            Route("/floors/{floor}", self.floors),
            Route("/floors/{floor}/stream", self.floors_stream),
            Route(f"/tables{table}", self.table),
            Route(f"/tables{table}/stream", self.table_stream),
            Route("/hands", self.hands),
            Route(f"/rounds{table}" + "/{number:int}", self.replay),
            Route(f"/rounds{table}" + "/{number:int}/frames", self.frames),
            Route(f"/rounds{table}" + "/{number:int}/felt.svg", self.picture),
            Route("/findings", self.findings),
            Route("/meters", self.meters),
            Route("/meters/stream", self.meters_stream),
            Route("/health", self.health),
            Route("/health/stream", self.health_stream),
        ]

    async def floors(self, request: Request) -> Response:
        """Every floor, or one."""
        only = request.path_params.get("floor", "")
        floors = _chosen(await self._readings.floors(), only)
        stuck = [
            one for one in (await self._readings.meters()).stuck if one.table.startswith(f"{only}/" if only else "")
        ]
        if only and not floors:
            raise NotFound(f"There is no floor “{only}” in the log.")
        live = f"/floors/{only}/stream" if only else "/stream"
        zone = floors[0].zone if floors else self._readings.zone("")
        return self._renderer.page(
            "floors.html", zone=zone, here="floors", floors=floors, only=only, live=live, stuck=stuck
        )

    async def floors_stream(self, request: Request) -> Response:
        """The overview's rows and figures as they change."""
        only = request.path_params.get("floor", "")

        def render(floors: tuple[FloorView, ...]) -> Mapping[str, str]:
            parts: dict[str, str] = {}
            for floor in _chosen(floors, only):
                parts[f"figures-{floor.name}"] = self._renderer.part("parts/floor.html", "figures", floor)
                for row in floor.tables:
                    parts[f"row-{slug(row.key)}"] = self._renderer.part("parts/floor.html", "row", row, floor.zone)
            return parts

        return self._stream(self._readings.watch_floors, render)

    async def table(self, request: Request) -> Response:
        """One table, live."""
        page = await self._readings.table(_key(request))
        return self._renderer.page("table.html", zone=page.zone, here="floors", page=page, felt=drawing(page.felt))

    async def table_stream(self, request: Request) -> Response:
        """The table's picture and figures as they change."""
        key = _key(request)

        def render(page: TablePage) -> Mapping[str, str]:
            part = self._renderer.part
            return {
                "felt": f'<div id="felt">{drawing(page.felt)}</div>',
                "table-findings": part("parts/table.html", "findings", page),
                "table-status": part("parts/table.html", "status", page),
                "table-figures": part("parts/table.html", "figures", page),
                "table-money": part("parts/table.html", "money", page),
                "recent": part("parts/table.html", "rounds", page.recent, page.zone, "recent"),
            }

        return self._stream(lambda: self._readings.watch_table(key), render)

    async def hands(self, request: Request) -> Response:
        """The search and what it found."""
        table = request.query_params.get("table", "") or request.query_params.get("floor", "")
        zone = _known_zone(self._readings.zone(table))
        form = read_form(request.query_params, zone, OUTCOMES)
        found = await self._readings.search(form.query) if form.query else HandPage((), 1, more=False)
        floors = await self._readings.floors()
        return self._renderer.page(
            "hands.html",
            zone=zone,
            here="hands",
            status=200 if form.query else 400,
            form=form.typed,
            errors=form.errors,
            found=found,
            outcomes=OUTCOMES,
            tables=[row.key for floor in floors for row in floor.tables],
            zone_of=self._readings.zone,
            page_address=form.address,
        )

    async def replay(self, request: Request) -> Response:
        """One round, at a step."""
        page = await self._round(request)
        step = _step(request, page)
        felt = drawing(page.steps[step].felt)
        return self._renderer.page("replay.html", zone=page.zone, here="hands", round=page, step=step, felt=felt)

    async def frames(self, request: Request) -> Response:
        """Every picture of a round, for stepping without asking again."""
        page = await self._round(request)
        # Drawing a long round takes longer than a hand at a table of the same process should wait.
        return await asyncio.to_thread(_frames, page)

    async def picture(self, request: Request) -> Response:
        """One picture as a file."""
        page = await self._round(request)
        return Response(draw_felt(page.steps[_step(request, page)].felt), media_type="image/svg+xml")

    async def findings(self, request: Request) -> Response:
        """What the second opinion found, of every table or of one."""
        table = request.query_params.get("table", "")
        found = await self._readings.findings(table)
        return self._renderer.page(
            "findings.html",
            zone=self._readings.zone(table),
            here="findings",
            found=found,
            table=table,
            zone_of=self._readings.zone,
        )

    async def meters(self, _: Request) -> Response:
        """What was wagered, won and dealt, and what does not go on."""
        meters = await self._readings.meters()
        return self._renderer.page("meters.html", zone=self._readings.zone(""), here="meters", meters=meters)

    async def meters_stream(self, _: Request) -> Response:
        """The same, again and again."""

        async def watch() -> AsyncIterator[MetersView]:
            while True:
                yield await self._readings.meters()
                await asyncio.sleep(HEALTH_SECONDS)

        def render(meters: MetersView) -> Mapping[str, str]:
            names = ("figures", "stuck", "floors", "tables", "dealers")
            return {f"meters-{name}": self._renderer.part("parts/meters.html", name, meters) for name in names}

        return self._stream(watch, render)

    async def health(self, _: Request) -> Response:
        """How far these pages are behind the log."""
        health = await self._readings.health()
        return self._renderer.page("health.html", zone=self._readings.zone(""), here="health", health=health)

    async def health_stream(self, _: Request) -> Response:
        """The same, again and again."""

        async def watch() -> AsyncIterator[HealthView]:
            while True:
                yield await self._readings.health()
                await asyncio.sleep(HEALTH_SECONDS)

        def render(health: HealthView) -> Mapping[str, str]:
            names = ("figures", "positions", "facts")
            return {f"health-{name}": self._renderer.part("parts/health.html", name, health) for name in names}

        return self._stream(watch, render)

    def _stream(self, watch: Callable[[], AsyncIterator[Any]], render: Callable[[Any], Mapping[str, str]]) -> Response:
        # A browser never leaves by itself, so the server ends its streams when it ends.
        return EventSourceResponse(until(self._closing, fragments(watch, render)), ping=PING_SECONDS)

    async def _round(self, request: Request) -> RoundPage:
        page = await self._readings.round(f"{_key(request)}#{request.path_params['number']}")
        if not page.steps:
            raise NotFound(f"Round {page.id} has no event yet.")
        return page


def _frames(page: RoundPage) -> Response:
    return JSONResponse(
        [
            {
                "svg": draw_felt(step.felt),
                "sentence": step.sentence,
                "time": clock_time(step.at_us, page.zone, fraction=True),
                "utc": utc(step.at_us),
                "iso": iso(step.at_us),
                "ms": step.at_us // 1000,
            }
            for step in page.steps
        ]
    )


def _chosen(floors: tuple[FloorView, ...], only: str) -> tuple[FloorView, ...]:
    return tuple(floor for floor in floors if not only or floor.name == only)


def _key(request: Request) -> str:
    return f"{request.path_params['floor']}/{request.path_params['table']}"


def _step(request: Request, page: RoundPage) -> int:
    """The asked step; the first one where none or nonsense is asked, the last one beyond it."""
    text = request.query_params.get("step", "0")
    return min(int(text), len(page.steps) - 1) if text.isascii() and text.isdigit() and len(text) < 7 else 0


def _known_zone(name: str) -> str:
    return ZoneInfo(name).key

"""A real house that is looked at: the services of `watched_house`, surveillance over the same journal, and the console."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from starlette.applications import Starlette

from services.console.client_readings import ClientReadings
from services.console.server import app
from services.runtime.caller import LocalCaller
from services.runtime.clock import GamingCalendar
from services.runtime.telemetry import Telemetry
from services.surveillance.client import SurveillanceClient
from services.surveillance.server import Surveillance
from services.table.client import TableClient
from tests.support.watched_house import WatchedHouse, watched_house

CALENDARS = {"cripple-creek": GamingCalendar("America/New_York")}


@dataclass
class SeenHouse:
    """The house, surveillance's client, and the console's readings and application over it."""

    house: WatchedHouse
    surveillance: SurveillanceClient
    readings: ClientReadings
    application: Starlette

    async def caught_up(self) -> None:
        """Return when surveillance has read and audited everything that is in the journal."""
        while True:
            lag = await self.surveillance.get_lag()
            assert not lag.reason or lag.reason.endswith("not started"), lag.reason
            if lag.healthy and all(
                part.projected_offset >= part.end_offset <= part.audited_offset for part in lag.partitions
            ):
                return
            await asyncio.sleep(0.02)


@asynccontextmanager
async def seen_house(folder: Path, seed: str) -> AsyncIterator[SeenHouse]:
    """Open everything on a journal in `folder`."""
    async with watched_house(folder, seed) as house:
        watching = Surveillance(house.journal, folder / "projection.db", clock=house.clock, telemetry=Telemetry())
        await watching.start()
        try:
            client = SurveillanceClient(LocalCaller({watching.dispatcher.service: watching.dispatcher}))
            tables = TableClient(LocalCaller(house.dispatchers))
            readings = ClientReadings(client, tables, CALENDARS)
            application = app(client, tables, calendars=CALENDARS, clock=house.clock)
            yield SeenHouse(house, client, readings, application)
        finally:
            await watching.stop()

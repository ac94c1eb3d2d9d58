"""Surveillance on the wire: which procedure is answered by which use case, and what the service needs to run."""

from collections.abc import Mapping
from pathlib import Path

from services.journal.port import Journal
from services.runtime.clock import Clock, GamingCalendar
from services.runtime.dispatch import Dispatcher
from services.runtime.telemetry import Telemetry
from services.surveillance import client
from services.surveillance.metrics import Metrics
from services.surveillance.places import place_of
from services.surveillance.service import SurveillanceService


class Surveillance:
    """The second opinion with all it needs: host `dispatcher`, call `start`, and `stop` at the end.

    `projection` is where the read model lies: a file, which may be deleted at any time and is built again, or a PostgreSQL
    database's address. The journal may be one that is opened for reading only. `meters` says whether this process folds
    the meters too, where no workers do. Raises SettingsRefused for an address that is none.
    """

    def __init__(
        self,
        journal: Journal,
        projection: Path | str,
        *,
        clock: Clock,
        telemetry: Telemetry,
        calendars: Mapping[str, GamingCalendar] | None = None,
        meters: bool = True,
    ) -> None:
        service = SurveillanceService(
            journal, place_of(projection), clock=clock, metrics=Metrics(telemetry.registry), meters=meters
        )
        self._service = service
        self.dispatcher = Dispatcher(
            {
                client.LIST_ROUNDS: service.list_rounds,
                client.GET_ROUND: service.get_round,
                client.LIST_TABLES: service.list_tables,
                client.WATCH_FLOOR: service.watch_floor,
                client.LIST_FINDINGS: service.list_findings,
                client.GET_LAG: service.get_lag,
                client.GET_METERS: service.get_meters,
            },
            clock=clock,
            telemetry=telemetry,
            calendars=calendars,
        )

    async def start(self) -> None:
        """Open the read model and begin to read."""
        await self._service.start()

    async def stop(self) -> None:
        """End both readers."""
        await self.dispatcher.drain()
        await self._service.stop()

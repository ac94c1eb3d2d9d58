"""The port through which the pages read the house, in the console's own records.

One form of it exists outside tests: `client_readings`, over the clients of surveillance and the tables. Every method may
raise what a client may: NotFound, Refused, ServiceUnavailable, CallFailed. Changes nothing anywhere.
"""

from collections.abc import AsyncIterator
from typing import Protocol

from services.console.health_view import HealthView
from services.console.meter_views import MetersView
from services.console.views import FindingPage, FloorView, HandPage, HandQuery, RoundPage, TablePage


class Readings(Protocol):
    """What the pages ask."""

    def zone(self, key: str) -> str:
        """The IANA zone of a floor or of a table's floor."""
        ...

    async def floors(self) -> tuple[FloorView, ...]:
        """Every floor with its tables, by name."""
        ...

    def watch_floors(self) -> AsyncIterator[tuple[FloorView, ...]]:
        """Every floor now, and again whenever something changed."""
        ...

    async def table(self, key: str) -> TablePage:
        """One table as it is now."""
        ...

    def watch_table(self, key: str) -> AsyncIterator[TablePage]:
        """One table now, and again whenever something changed."""
        ...

    async def search(self, query: HandQuery) -> HandPage:
        """The rounds that fit, newest first."""
        ...

    async def round(self, round_id: str) -> RoundPage:
        """One round, ready to be replayed."""
        ...

    async def findings(self, table: str = "") -> FindingPage:
        """What the second opinion found at all tables or at one, newest first."""
        ...

    async def meters(self) -> MetersView:
        """What was wagered, won and dealt, and what does not go on; never raises for a service that is away, but says so."""
        ...

    async def health(self) -> HealthView:
        """How far surveillance is behind the journal; never raises for a service that is away, but says so."""
        ...

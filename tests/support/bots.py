"""Simulated players against a house in another process, whose every acknowledgement is kept for the audit."""

import asyncio
from types import TracebackType
from typing import Self

from services.floor.figures import Figures
from services.floor.simulation import Callers, Plan, Simulation
from services.game.profiles import profile
from services.runtime.clock import SystemClock
from services.runtime.routing import Lines, RoutedCaller
from services.shoe.client import ShoeClient
from services.table.client import TableClient, TableView
from services.wager.client import Balances, WagerClient
from tests.support.acknowledged import Acknowledged, Acknowledging


class Bots:
    """`async with Bots(address, plan) as bots:` plays until the block ends; the bots have to survive every outage alone.

    `address` may be several, by commas: processes that share one service, whose owners the bots find.
    """

    def __init__(self, address: str, plan: Plan, *, rules: tuple[str, ...] = ("colorado",)) -> None:
        self.acknowledged = Acknowledged()
        self._plan = plan
        self._rules = rules
        self._address = address
        self._playing: asyncio.Task[Figures] | None = None

    async def __aenter__(self) -> Self:
        self.lines = Lines()
        routed = RoutedCaller(self.lines, self._address.split(","), try_seconds=5, patience_seconds=180)
        self.caller = caller = Acknowledging(routed, self.acknowledged)
        self.shoe, self.table, self.wager = ShoeClient(caller), TableClient(caller), WagerClient(caller)
        sets = tuple(profile(name) for name in self._rules)
        self._simulation = Simulation(self._plan, sets, Callers(caller, caller, caller), SystemClock())
        self.figures = self._simulation.figures
        self._playing = asyncio.create_task(self._simulation.run(lambda _figures, _seconds: None))
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if self._playing is not None:
            self._playing.cancel()
            await asyncio.gather(self._playing, return_exceptions=True)
        await self.lines.close()

    async def finish(self) -> Figures:
        """Let every table end its round, then stop; raises what a table raised."""
        self._simulation.stop()
        if self._playing is None:
            raise RuntimeError("the bots never played")
        return await self._playing

    async def played(self, rounds: int) -> None:
        """Return once so many rounds were played in all; raises what a table raised."""
        while self.figures.rounds < rounds:
            if self._playing is not None and self._playing.done():
                self._playing.result()
                raise RuntimeError("the bots stopped by themselves")
            await asyncio.sleep(0.02)

    async def views(self) -> list[TableView]:
        """Every table as the house shows it."""
        tables = (await self.table.list_tables("black-hawk")).tables
        return [await self.table.get_table(summary.table) for summary in tables]

    async def balances(self) -> list[Balances]:
        """Every table's accounts."""
        tables = (await self.table.list_tables("black-hawk")).tables
        return [await self.wager.read_balances(summary.table) for summary in tables]

"""A simulated floor's view of one table, kept fresh by the table's own stream of changes."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from services.floor.desk import Desk
from services.runtime.failures import ServiceUnavailable
from services.table.client import TableView

PAUSE_SECONDS = 0.2


class Eyes:
    """Watches a table from `start` to `stop`; survives restarts of the house by watching again."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._changed = asyncio.Condition()
        self._view: TableView | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> TableView:
        """Begin to watch; the table as it is now."""
        self._task = asyncio.create_task(self._watch())
        return await self.until(lambda _: True)

    async def stop(self) -> None:
        """Stop watching."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def until(self, fits: Callable[[TableView], bool]) -> TableView:
        """The first view, the one at hand or a later one, that fits."""
        async with self._changed:
            while self._view is None or not fits(self._view):
                await self._changed.wait()
            return self._view

    async def beyond(self, sequence: int) -> TableView:
        """A view that shows at least the event `sequence`."""
        return await self.until(lambda view: view.sequence >= sequence)

    async def _watch(self) -> None:
        while True:
            with suppress(ServiceUnavailable):
                seen = 0 if self._view is None else self._view.sequence
                async for view in self._desk.clients.table.watch_table(self._desk.table, seen):
                    async with self._changed:
                        self._view = view
                        self._changed.notify_all()
            await asyncio.sleep(PAUSE_SECONDS)

"""A simulated floor's view of one table, kept fresh by the table's own stream of changes."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from services.floor.desk import Desk
from services.runtime.failures import NotFound, ServiceUnavailable
from services.table.client import TableView

PAUSE_SECONDS = 0.2


class Eyes:
    """Watches a table from `start` to `stop`; survives restarts of the house by watching again."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._changed = asyncio.Condition()
        self._view: TableView | None = None
        self._failure: Exception | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to watch."""
        self._task = asyncio.create_task(self._watch())

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
                if self._failure is not None:
                    raise self._failure
                await self._changed.wait()
            return self._view

    async def now(self) -> TableView:
        """The table as it was seen last, as soon as it was seen at all."""
        return await self.until(lambda _: True)

    async def beyond(self, sequence: int) -> TableView:
        """A view that shows at least the event `sequence`."""
        return await self.until(lambda view: view.sequence >= sequence)

    async def _watch(self) -> None:
        try:
            await self._follow()
        except Exception as error:  # noqa: BLE001 - handed to whoever waits, who would otherwise wait for ever
            async with self._changed:
                self._failure = error
                self._changed.notify_all()

    async def _follow(self) -> None:
        while True:
            # Not found: nobody opened the table yet.
            with suppress(ServiceUnavailable, NotFound):
                seen = 0 if self._view is None else self._view.sequence
                async for view in self._desk.clients.table.watch_table(self._desk.table, seen):
                    async with self._changed:
                        self._view = view
                        self._changed.notify_all()
            await asyncio.sleep(PAUSE_SECONDS)

"""A journal on a real broker, a database on a real PostgreSQL, and stream workers as processes over them."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine

from services.journal.kafka_layout import Layout
from services.surveillance import postgres
from services.surveillance.meter_store import read_meters
from services.surveillance.meters import Meters
from tests.support.kafka_broker import Broker
from tests.support.postgres_server import PostgresServer
from tests.support.table_feed import TableFeed
from tests.support.worker_process import WorkerProcess


class Scene:
    """A journal, a database, and workers over them."""

    def __init__(self, folder: Path, server: PostgresServer, broker: Broker, layout: Layout) -> None:
        self.address = server.migrated_database()
        self.engine: Engine = postgres.opened(postgres.read_url(self.address))
        self._folder = folder
        self._broker = broker
        self.layout = layout
        self.workers: list[WorkerProcess] = []

    def worker(self, *more: str) -> WorkerProcess:
        name = self._folder / f"worker-{len(self.workers) + 1}"
        worker = WorkerProcess(name, self._broker, self.layout, self.address, *more)
        self.workers.append(worker)
        worker.start()
        return worker

    def rows(self) -> dict[str, Meters]:
        with self.engine.connect() as connection:
            return read_meters(connection)

    async def until(self, happened: Callable[[], bool], seconds: float = 150) -> None:
        try:
            async with asyncio.timeout(seconds):
                while not await asyncio.to_thread(happened):  # noqa: ASYNC110 - it happens in other processes
                    await asyncio.sleep(0.1)
        except TimeoutError:
            pytest.fail("\n".join(worker.log[-2_000:] for worker in self.workers))

    async def equals_the_log(self, feed: TableFeed) -> dict[str, Meters]:
        """Wait until every event is folded, then compare everything to the cent; nothing may come later."""
        right = await feed.meters()
        heads = {stream: meters.stream.sequence for stream, meters in right.items()}
        await self.until(lambda: {s: m.stream.sequence for s, m in self.rows().items()} == heads)
        assert await asyncio.to_thread(self.rows) == right
        return right

    def end(self) -> None:
        """Kill every worker and let the database go."""
        for worker in self.workers:
            worker.kill()
        self.engine.dispose()

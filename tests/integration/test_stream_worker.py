"""Stream workers on a real broker and PostgreSQL: whatever happens to them, totals equal those folded from the log."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from services.journal.kafka_layout import Layout
from services.surveillance import postgres
from services.surveillance.meter_store import read_meters
from services.surveillance.meters import Figures, Meters
from services.surveillance.places import PostgresPlace
from services.surveillance.rebuilding import rebuild
from tests.support.kafka_broker import Broker, new_layout, shared_broker
from tests.support.postgres_server import PostgresServer, shared_server
from tests.support.table_feed import TableFeed
from tests.support.worker_process import WorkerProcess

pytestmark = pytest.mark.xdist_group("kafka")
KEYS = tuple(f"{floor}/BJ-{number:02}" for floor in ("black-hawk", "denver") for number in range(3))


class Scene:
    """A journal, a database, and workers over them."""

    def __init__(self, folder: Path, server: PostgresServer, broker: Broker, layout: Layout) -> None:
        self.address = server.migrated_database()
        self.engine: Engine = postgres.opened(postgres.read_url(self.address))
        self._folder = folder
        self._broker = broker
        self._layout = layout
        self.workers: list[WorkerProcess] = []

    def worker(self, *more: str) -> WorkerProcess:
        name = self._folder / f"worker-{len(self.workers) + 1}"
        worker = WorkerProcess(name, self._broker, self._layout, self.address, *more)
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


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    broker = shared_broker()
    scene = Scene(tmp_path, shared_server(), broker, new_layout(broker.cluster, partitions=4))
    yield scene
    for worker in scene.workers:
        worker.kill()
    scene.engine.dispose()


async def test_f04_f06_workers_come_die_and_lose_their_disks_and_the_totals_are_those_of_the_log(scene: Scene) -> None:
    """Scale 1 → 2 → 1 during play, one killed with -9, one without its folder: nothing is lost, nothing counts twice."""
    async with TableFeed(shared_broker(), scene._layout, KEYS) as feed:
        first = scene.worker()
        await feed.write(150)
        await scene.equals_the_log(feed)
        second = scene.worker()
        await feed.write(150)
        await scene.until(lambda: "partitions assigned" in second.log)
        await feed.write(150)
        first.kill()
        first.forget()
        await feed.write(150)
        await scene.equals_the_log(feed)
        second.kill()
        second.forget()
        await feed.write(150)
        second.start()
        right = await scene.equals_the_log(feed)
        totals = sum((f for meters in right.values() for f in meters.figures.values()), Figures())
        assert totals.handle_cents > 0
        assert totals.rounds > 50
        assert second.stop() == 0


async def test_rows_that_are_set_back_or_lost_under_a_worker_are_folded_again(scene: Scene) -> None:
    """A rebuilt read model is swapped in, and rows are deleted: the worker finds both by looking, without a new event."""
    async with TableFeed(shared_broker(), scene._layout, KEYS[:2]) as feed:
        scene.worker()
        await feed.write(200)
        await scene.equals_the_log(feed)
        place = PostgresPlace(postgres.read_url(scene.address))
        # An empty one: everything is behind.
        await rebuild(feed.journal, place, to={})
        await scene.equals_the_log(feed)
        with scene.engine.begin() as connection:
            connection.execute(text("DELETE FROM meter_streams WHERE table_key = :key"), {"key": KEYS[0]})
            connection.execute(text("DELETE FROM meters WHERE table_key = :key"), {"key": KEYS[0]})
        await scene.equals_the_log(feed)


async def test_a_worker_waits_for_a_database_that_is_away_and_goes_on(tmp_path: Path) -> None:
    server, broker = PostgresServer(), shared_broker()
    scene = Scene(tmp_path, server, broker, new_layout(broker.cluster, partitions=4))
    try:
        async with TableFeed(broker, scene._layout, KEYS[:2]) as feed:
            worker = scene.worker()
            await feed.write(100)
            await scene.equals_the_log(feed)
            await asyncio.to_thread(server.kill)
            await feed.write(100)
            await scene.until(lambda: "is waited for" in worker.log)
            await asyncio.to_thread(server.start)
            await scene.equals_the_log(feed)
            assert worker.status is None
    finally:
        for worker in scene.workers:
            worker.kill()
        scene.engine.dispose()
        server.remove()


def test_a_worker_that_cannot_work_says_why_and_ends(tmp_path: Path) -> None:
    broker = shared_broker()
    layout = new_layout(broker.cluster, partitions=2)
    wrong = Layout(3, layout.topics)
    worker = WorkerProcess(tmp_path / "w", broker, wrong, shared_server().migrated_database())
    worker.start()
    assert worker._process is not None
    assert worker._process.wait(timeout=60) == 1
    assert "partitions" in worker.log

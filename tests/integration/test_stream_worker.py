"""Stream workers on a real broker and PostgreSQL: whatever happens to them, totals equal those folded from the log."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import text

from services.journal.kafka_layout import Layout
from services.surveillance import postgres
from services.surveillance.meters import Figures
from services.surveillance.places import PostgresPlace
from services.surveillance.rebuilding import rebuild
from tests.support.kafka_broker import new_layout, shared_broker
from tests.support.postgres_server import PostgresServer, shared_server
from tests.support.table_feed import TableFeed
from tests.support.worker_process import WorkerProcess
from tests.support.worker_scene import Scene

pytestmark = pytest.mark.xdist_group("kafka")
KEYS = tuple(f"{floor}/BJ-{number:02}" for floor in ("black-hawk", "denver") for number in range(3))


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    broker = shared_broker()
    scene = Scene(tmp_path, shared_server(), broker, new_layout(broker.cluster, partitions=4))
    yield scene
    scene.end()


async def test_f04_f06_workers_come_die_and_lose_their_disks_and_the_totals_are_those_of_the_log(scene: Scene) -> None:
    """Scale 1 → 2 → 1 during play, one killed with -9, one without its folder: nothing is lost, nothing counts twice."""
    async with TableFeed(shared_broker(), scene.layout, KEYS) as feed:
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
    async with TableFeed(shared_broker(), scene.layout, KEYS[:2]) as feed:
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
        async with TableFeed(broker, scene.layout, KEYS[:2]) as feed:
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
        scene.end()
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

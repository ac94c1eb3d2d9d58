"""Stream workers scaled 1 → 2 → 3 → 1 during play, killed, paused and robbed of their folders (F04, F06); `make faults`."""

import asyncio
import signal
from pathlib import Path

import pytest

from services.surveillance.meters import Figures
from tests.support.kafka_broker import new_layout, shared_broker
from tests.support.postgres_server import shared_server
from tests.support.seeds import seeded
from tests.support.table_feed import TableFeed
from tests.support.worker_scene import Scene

pytestmark = [pytest.mark.faults, pytest.mark.timeout(1_200)]
KEYS = tuple(f"{floor}/BJ-{number:02}" for floor in ("black-hawk", "denver", "reno") for number in range(4))
PIECE = 60


async def test_f04_f06_the_totals_are_those_of_the_log_whatever_happens_to_the_workers(tmp_path: Path) -> None:
    chance = seeded("tests/faults/test_stream_workers.py -m faults")
    broker = shared_broker()
    scene = Scene(tmp_path, shared_server(), broker, new_layout(broker.cluster, partitions=4))
    counts = dict.fromkeys(("killed", "paused", "robbed", "stopped"), 0)
    try:
        async with TableFeed(broker, scene.layout, KEYS) as feed:
            for wanted in (1, 2, 3, 3, 3, 2, 1, 3, 1):
                await feed.write(PIECE)
                alive = [worker for worker in scene.workers if worker.status is None]
                for _ in range(wanted - len(alive)):
                    scene.worker()
                for worker in alive[wanted:]:
                    counts["stopped"] += worker.stop() == 0
                await feed.write(PIECE)
                await asyncio.sleep(chance.uniform(1, 8))
                alive = [worker for worker in scene.workers if worker.status is None]
                victim = chance.choice(alive)
                match chance.choice(("kill", "pause", "rob")):
                    case "kill":
                        victim.kill()
                        counts["killed"] += 1
                    case "pause":
                        victim.signal(signal.SIGSTOP)
                        await feed.write(PIECE)
                        # Longer than its session: the others take its partitions over, then it comes back.
                        await asyncio.sleep(10)
                        victim.signal(signal.SIGCONT)
                        counts["paused"] += 1
                    case _:
                        victim.kill()
                        victim.forget()
                        victim.start()
                        counts["robbed"] += 1
            if all(worker.status is not None for worker in scene.workers):
                scene.worker()
            right = await scene.equals_the_log(feed)
        totals = sum((f for meters in right.values() for f in meters.figures.values()), Figures())
        print(f"{counts}, {sum(m.stream.sequence for m in right.values()):,} events, {totals}")
        assert totals.handle_cents > 0
    finally:
        scene.end()

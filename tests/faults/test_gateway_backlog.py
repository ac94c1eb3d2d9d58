"""A day without a line: 100,000 readings wait at the gateway, are forwarded in bounded memory, and progress shows."""

import asyncio
import gc
import resource
from pathlib import Path

import pytest

from services.floor.gateway_log import GatewayLog, Report
from services.house import House
from tests.support.audit import wrong
from tests.support.devices import NOON_US, by_device, observations_at, readings
from tests.support.gateway_here import gateway_at, house_settings

WRITERS = ("shoe", "table", "wager")
TABLES = 20
MORE_MEMORY_KB = 150_000


@pytest.mark.timeout(600)
@pytest.mark.parametrize("waiting", [10_000, pytest.param(100_000, marks=pytest.mark.faults)])
async def test_a_backlog_is_forwarded_in_bounded_memory_with_progress_to_be_seen(tmp_path: Path, waiting: int) -> None:
    keys = [f"black-hawk/BJ-{number:02}" for number in range(TABLES)]
    each = waiting // TABLES
    kept = GatewayLog.open(tmp_path / "gateway.db", "black-hawk")
    for first in range(1, each + 1, 500):
        last = min(first + 499, each)
        await asyncio.gather(
            *(kept.keep(Report(key, "tray-7", readings(first, last), NOON_US + first, 0)) for key in keys)
        )
    await kept.close()
    gc.collect()
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seen: list[float] = []
    async with (
        House(house_settings(tmp_path / "house"), WRITERS) as house,
        gateway_at(tmp_path / "gateway.db", f"127.0.0.1:{house.grpc_port}") as here,
    ):
        assert here.figure("holecard_gateway_queued_readings") == waiting
        while (queued := here.figure("holecard_gateway_queued_readings")) > 0:
            seen.append(queued)
            assert here.figure("holecard_gateway_oldest_queued_seconds") > 0
            await asyncio.sleep(0.2)
        assert here.figure("holecard_gateway_readings_forwarded_total") == waiting
        assert here.gateway.forwarder.blocked == {}
    assert seen == sorted(seen, reverse=True)
    after_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after_kb - before_kb < MORE_MEMORY_KB, f"{before_kb} kB before, {after_kb} kB at most"
    journal = tmp_path / "house" / "journal.db"
    for key in keys[:3]:
        assert by_device(await observations_at(journal, key)) == {"tray-7": list(range(1, each + 1))}
    assert wrong(journal) == []

"""The disk is full under a real process: it says so, ends, loses nothing, and plays on once there is room."""

from pathlib import Path

import pytest

from services.floor.simulation import Plan
from tests.support.audit import facts_of, rounds_of, wrong
from tests.support.bots import Bots
from tests.support.house_process import HouseProcess

ROOM_BYTES = 400_000


@pytest.mark.timeout(300)
async def test_a_house_without_room_ends_loudly_and_plays_on_when_there_is_some(tmp_path: Path) -> None:
    async with (
        HouseProcess(tmp_path, largest_file_bytes=ROOM_BYTES) as house,
        Bots(house.address, Plan(tables=2, seats=4, seed=11)) as bots,
    ):
        assert await house.ended() == 1
        last = house.words().decode().splitlines()[-1]
        assert last.startswith(f"holecard: journal {house.journal}: the disk "), last
        assert wrong(house.journal, bots.acknowledged) == []
        house.largest_file_bytes = 0
        await house.start()
        await bots.played(bots.figures.rounds + 2)
        figures = await bots.finish()
        assert await house.stop() == 0
        assert figures.outages == 0
        assert wrong(house.journal, bots.acknowledged) == []
        opened, ended = rounds_of(facts_of(house.journal))
        assert opened == ended

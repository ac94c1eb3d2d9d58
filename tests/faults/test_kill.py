"""kill -9 during play, again and again: play goes on where it stopped, nothing is lost, nothing happens twice.

The short form runs with the other tests; `make faults` runs the long one. What is known of the outcome comes from the
clients (what they were told), from the journal's check, and from surveillance's laws.
"""

import asyncio
import os
import random
from pathlib import Path

import pytest

from services.floor.simulation import Plan
from services.journal.sqlite import SqliteJournal
from services.runtime.caller import Caller
from services.surveillance.client import SurveillanceClient
from services.surveillance.rederiving import build_again, differences
from services.surveillance.store import open_memory, open_store
from tests.support.audit import facts_of, rounds_of, wrong
from tests.support.bots import Bots
from tests.support.house_process import HouseProcess
from tests.support.seeds import seeded


async def play_through_kills(folder: Path, chance: random.Random, *, kills: int, plan: Plan, services: str) -> None:
    """Play, kill and start again `kills` times; then let the bots finish and look at everything."""
    async with HouseProcess(folder, services.split()) as house, Bots(house.address, plan) as bots:
        for kill in range(kills):
            # Some progress between two kills, then a moment that nobody chose.
            await bots.played(bots.figures.rounds + chance.randint(0, 3))
            await asyncio.sleep(chance.uniform(0, 0.6))
            await house.kill()
            if kill == 0 or chance.random() < 0.3:
                # A life that ends before it serves.
                await house.launch()
                await asyncio.sleep(chance.uniform(0, 2.5))
                await house.kill()
            assert wrong(house.journal, bots.acknowledged) == [], f"after kill {kill + 1}"
            await house.start()
        await bots.played(bots.figures.rounds + plan.tables)
        figures = await bots.finish()
        views, balances = await bots.views(), await bots.balances()
        assert await house.stop() == 0
        assert wrong(house.journal, bots.acknowledged) == []
        facts = facts_of(house.journal)
        opened, ended = rounds_of(facts)
        print(
            f"{kills} kills, {house.lives} lives, {len(facts)} events, {len(opened)} rounds,"
            f" {bots.acknowledged.commands} acknowledged commands, {sum(figures.refusals.values())} refusals,"
            f" surprises {dict(figures.surprises)}"
        )
        assert opened == ended
        assert figures.accepted_mischief == {}
        assert figures.outages == 0, "a bot gave up although the house came back within its patience"
        assert len(opened) >= figures.rounds > 0
        for table in balances:
            by_currency: dict[str, int] = {}
            for account in table.accounts:
                by_currency[account.currency] = by_currency.get(account.currency, 0) + account.balance_cents
            assert set(by_currency.values()) <= {0}
        # The next life shows the very tables that the last one showed (L6).
        await house.start()
        assert await bots.views() == views
        assert await bots.balances() == balances
        if "surveillance" in services:
            await caught_up(bots.caller)
        assert await house.stop() == 0
        if "surveillance" in services:
            assert await projected_wrong(house) == []


async def caught_up(caller: Caller) -> None:
    """Return when surveillance has read and audited everything that is in the journal."""
    surveillance = SurveillanceClient(caller)
    while True:
        lag = await surveillance.get_lag()
        if lag.healthy and all(p.projected_offset >= p.end_offset <= p.audited_offset for p in lag.partitions):
            return
        await asyncio.sleep(0.1)


async def projected_wrong(house: HouseProcess) -> list[str]:
    """What the read model, carried through every kill, has otherwise than one that is built from the journal at once."""
    kept, again = open_store(house.data / "projection.db"), open_memory()
    journal = SqliteJournal.open_read_only(house.journal)
    try:
        log = journal.subscribe({})
        await build_again(log, await journal.end(), again)
        await log.aclose()
        return differences(kept, again)
    finally:
        await journal.close()
        kept.dispose()
        again.dispose()


@pytest.mark.timeout(300)
async def test_g01_b18_three_kills_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    chance = seeded("tests/faults/test_kill.py")
    plan = Plan(tables=2, seats=4, mischief=0.05, seed=chance.randrange(10**6))
    await play_through_kills(tmp_path, chance, kills=3, plan=plan, services="shoe table wager")


@pytest.mark.faults
@pytest.mark.timeout(1_800)
async def test_g01_b18_many_kills_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    chance = seeded("tests/faults/test_kill.py -m faults")
    kills = int(os.environ.get("HOLECARD_KILLS", "20"))
    plan = Plan(tables=4, seats=5, mischief=0.05, seed=chance.randrange(10**6))
    await play_through_kills(tmp_path, chance, kills=kills, plan=plan, services="shoe table wager surveillance console")

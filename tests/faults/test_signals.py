"""Whatever else happens to processes than kill -9: frozen and thawed, told to end during play, bots that die, nobody there.

One house each, since starting one costs seconds.
"""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from services.floor.simulation import Plan
from services.runtime.caller import GrpcCaller, open_channel
from services.table.client import TableClient, TablePhase
from tests.support.audit import facts_of, rounds_of, wrong
from tests.support.bots import Bots
from tests.support.house_process import ROOT, HouseProcess
from tests.support.watched_house import rules_text


@pytest.mark.timeout(300)
async def test_frozen_for_seconds_then_drained_during_play_and_taken_up_again(tmp_path: Path) -> None:
    async with HouseProcess(tmp_path) as house, Bots(house.address, Plan(tables=2, seats=3, seed=5)) as bots:
        await bots.played(2)
        house.send(signal.SIGSTOP)
        # Longer than a call's deadline: the bots ask again with the same ids while the first calls still wait inside.
        await asyncio.sleep(6)
        house.send(signal.SIGCONT)
        await bots.played(bots.figures.rounds + 2)
        assert await house.stop() == 0
        assert wrong(house.journal, bots.acknowledged) == []
        await house.start()
        await bots.played(bots.figures.rounds + 2)
        figures = await bots.finish()
        assert await house.stop() == 0
        assert wrong(house.journal, bots.acknowledged) == []
        assert figures.accepted_mischief == {}
        assert figures.outages == 0
        opened, ended = rounds_of(facts_of(house.journal))
        assert opened == ended


async def simulate(address: str, *options: str) -> asyncio.subprocess.Process:
    """`holecard floor simulate` in a process of its own."""
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "services", "floor", "simulate", "--plain-text", "--house", address, "--json",
        *options,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL, cwd=ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"}, start_new_session=True,
    )  # fmt: skip


@pytest.mark.timeout(300)
async def test_d03_open_rounds_end_by_themselves_and_new_bots_pick_the_tables_up(tmp_path: Path) -> None:
    """The bots die in the middle of rounds and the house with them: it comes back alone, and time decides for everyone."""
    rules = tmp_path / "timed.toml"
    rules.write_text(rules_text(action_timeout_seconds="1"), encoding="utf-8")
    options = ("--tables", "2", "--seats", "4", "--pace", "0.1", "--rules", str(rules))
    async with HouseProcess(tmp_path) as house:
        channel = open_channel(house.address)
        table = TableClient(GrpcCaller(channel, patience_seconds=60))
        bots = await simulate(house.address, *options)
        try:
            await _somebody_is_asked(table)
            bots.kill()
            await bots.wait()
            await house.kill()
            assert wrong(house.journal) == []
            await house.start()
            await _all_over(table)
        finally:
            if bots.returncode is None:
                bots.kill()
                await bots.wait()
            await channel.close()
        opened, ended = rounds_of(facts_of(house.journal))
        timed_out = [fact for fact in facts_of(house.journal) if fact.name == "DecisionTimedOut"]
        assert timed_out, "nobody was there, so the system decided"
        assert all(fact.envelope.actor.role == "system" for fact in timed_out)
        bots = await simulate(house.address, *options, "--rounds", "3", "--seed", "2")
        said, _ = await bots.communicate()
        figures = json.loads(said)
        assert bots.returncode == 0, figures
        assert figures["rounds"] >= 3
        assert await house.stop() == 0
        assert wrong(house.journal) == []
        opened, ended = rounds_of(facts_of(house.journal))
        assert opened == ended


async def _somebody_is_asked(table: TableClient) -> None:
    while True:
        for summary in (await table.list_tables("black-hawk")).tables:
            view = await table.get_table(summary.table)
            if view.round is not None and view.round.questions:
                return
        await asyncio.sleep(0.02)


async def _all_over(table: TableClient) -> None:
    """No round is in play any more; one whose betting is still open waits for its dealer, as it must."""
    phases = {TablePhase.IDLE, TablePhase.BETTING}
    while {  # noqa: ASYNC110 - another process is asked
        summary.phase for summary in (await table.list_tables("black-hawk")).tables
    } - phases:
        await asyncio.sleep(0.05)

"""A simulated floor plays a whole house over gRPC: every rule set that comes with it, honest players and mischief."""

import asyncio
from pathlib import Path

import pytest

from services.floor.figures import Figures
from services.floor.simulation import Callers, Plan, Simulation
from services.game.profiles import profile, profile_names
from services.house import House
from services.journal.fsck import fsck
from services.runtime.caller import GrpcCaller, LocalCaller, open_channel
from services.runtime.clock import SystemClock
from services.runtime.settings import Settings
from services.surveillance import laws
from services.surveillance.verifying import LawsOfTheHouse
from services.table.client import LeaveSeat, SeatPlayer
from tests.support.seeds import seeded
from tests.support.watched_house import rules_text, watched_house


async def play(folder: Path, plan: Plan, rules: tuple[str, ...], hosted: tuple[str, ...]) -> tuple[Figures, int]:
    """Let a floor play, then verify; the figures, and how many events the journal holds."""
    settings = Settings(folder, "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0")
    async with House(settings, hosted) as house:
        channel = open_channel(f"127.0.0.1:{house.grpc_port}")
        caller = GrpcCaller(channel)
        sets = tuple(map(profile, rules))
        simulation = Simulation(plan, sets, Callers(caller, caller, caller, caller), SystemClock())
        figures = await simulation.run(lambda _figures, _seconds: None)
        await simulation.count_events()
        await channel.close()
    report = fsck(settings.journal_path, [LawsOfTheHouse()])
    assert report.is_sound, [str(finding) for finding in report.findings[:20]]
    return figures, report.events


async def test_every_profile_plays_cleanly_and_every_invalid_command_is_refused(tmp_path: Path) -> None:
    names = profile_names()
    seed = seeded("tests/simulation/test_floor.py").randrange(10**9)
    plan = Plan(tables=len(names), seats=7, rounds=8 * len(names), mischief=0.5, seed=seed)
    figures, events = await play(tmp_path, plan, tuple(names), ("shoe", "table", "wager", "surveillance"))
    assert figures.rounds >= plan.rounds
    assert figures.mischief > 0
    assert figures.refusals
    assert not figures.accepted_mischief
    assert not figures.surprises
    assert figures.events == events
    assert figures.as_json()["events"] == events


@pytest.mark.parametrize("entry", ["downtown-s17", "single-deck-6-5"])
async def test_newcomers_whom_the_shoe_keeps_out_wait_and_the_table_plays_on(tmp_path: Path, entry: str) -> None:
    plan = Plan(
        tables=1, seats=2, rounds=40, mischief=0, seed=seeded("tests/simulation/test_floor.py").randrange(10**9)
    )
    figures, _ = await play(tmp_path, plan, (entry,), ("shoe", "table", "wager"))
    assert figures.rounds >= 40
    assert not figures.surprises
    assert figures.events is None


async def test_a_table_where_only_newcomers_are_left_shuffles_and_plays_on(tmp_path: Path) -> None:
    key = "black-hawk/BJ-01"
    async with watched_house(tmp_path) as house:
        await house.open(key, rules=rules_text(mid_shoe_entry='"closed"'), seats=1)
        await house.play(2, key)
        (session,) = house.sessions[key].values()
        await house.tables.leave_seat(key, house.context(), LeaveSeat(session))
        # Betting was open already when the simulation found the table.
        await house.tables.seat_player(key, house.context(), SeatPlayer("basic-0001", 3))
        await house.tables.open_betting(key, house.context())
        caller = LocalCaller(house.dispatchers)
        plan = Plan(tables=1, seats=2, rounds=6, mischief=0)
        simulation = Simulation(plan, (profile("colorado"),), Callers(caller, caller, caller), house.clock)
        async with asyncio.timeout(120):
            figures = await simulation.run(lambda _figures, _seconds: None)
        assert figures.rounds >= 6
        assert figures.hands > 0
        assert not figures.surprises
        assert laws.check(tuple(await house.facts())) == []

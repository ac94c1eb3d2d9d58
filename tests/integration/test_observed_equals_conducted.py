"""The same cards, bets and signals give the same settlement, whether a table is conducted or observed."""

from pathlib import Path
from typing import Any

import pytest

from services.floor.simulation import Callers, Plan, Simulation
from services.game import round_events as re
from services.game.profiles import profile
from services.house import House
from services.runtime.clock import SystemClock
from tests.support.as_observed import retold
from tests.support.audit import facts_of, wrong
from tests.support.devices import events_at
from tests.support.gateway_here import house_settings
from tests.support.observed_table import ObservedTable
from tests.support.seeds import seeded

WRITERS = ("shoe", "table", "wager")
ROUNDS = 25


async def settled_at(journal: Path, table: str) -> list[tuple[Any, ...]]:
    """Every decided stake of a table but for the player's name, in order."""
    events = [event for _, event in await events_at(journal, table)]
    return [
        (line.seat, line.hand, line.kind, line.ordinal, line.outcome, line.cause, line.stake_cents, line.returned_cents)
        for event in events
        if isinstance(event, re.WagersSettled)
        for line in event.lines
    ]


@pytest.mark.parametrize("rules", ["colorado"])
async def test_an_observed_round_is_settled_as_the_conducted_one(tmp_path: Path, rules: str) -> None:
    seed = seeded("tests/integration/test_observed_equals_conducted.py").randrange(10**6)
    async with House(house_settings(tmp_path), WRITERS) as house:
        callers = Callers(*(house.caller(name) for name in WRITERS))
        plan = Plan(tables=1, seats=4, rounds=ROUNDS, mischief=0.0, seed=seed)
        await Simulation(plan, (profile(rules),), callers, SystemClock()).run(lambda *_: None)
        journal = tmp_path / "journal.db"
        conducted = [event for _, event in await events_at(journal, "black-hawk/BJ-01")]
        observed = ObservedTable(house, tmp_path, "black-hawk/OB-01")
        await observed.open()
        for said in retold(conducted, profile(rules).decks):
            await observed.see(*said)
        assert await observed.irregularities() == []
        expected = await settled_at(journal, "black-hawk/BJ-01")
        assert len(expected) >= ROUNDS
        assert await settled_at(journal, "black-hawk/OB-01") == expected
    assert wrong(journal) == []
    facts = facts_of(journal)
    won = {
        key: sum(
            line.stake_cents - line.returned_cents
            for fact in facts
            if fact.key == key and fact.name == "RoundSettled"
            for line in fact.event.lines
        )
        for key in ("black-hawk/BJ-01", "black-hawk/OB-01")
    }
    assert len(set(won.values())) == 1

"""Simulated casinos whose tables are observed: devices with wrong clocks and dealers who err, through real gateways."""

from pathlib import Path

import pytest

from services.floor.gateway_client import GatewayClient
from services.floor.observed_routine import Manner
from services.floor.observed_simulation import ObservedSimulation, floor_behind
from services.game.profiles import profile
from services.house import House
from services.runtime.caller import GrpcCaller, open_channel
from services.runtime.clock import SystemClock
from tests.support.audit import facts_of, rounds_of, wrong
from tests.support.gateway_here import gateway_at, house_settings
from tests.support.seeds import seeded

WRITERS = ("shoe", "table", "wager")


@pytest.mark.parametrize("mistakes", [0.0, 0.15])
async def test_what_devices_tell_becomes_the_rounds_that_were_played(tmp_path: Path, mistakes: float) -> None:
    seed = seeded("tests/simulation/test_observed_floor.py").randrange(10**6)
    wanted = 12
    async with (
        House(house_settings(tmp_path), WRITERS) as house,
        gateway_at(tmp_path / "gateway.db", f"127.0.0.1:{house.grpc_port}") as here,
    ):
        channel = open_channel(here.address)
        caller = GrpcCaller(channel)
        assert await floor_behind(caller) == "black-hawk"
        simulation = ObservedSimulation((profile("colorado"),), SystemClock(), seed, Manner(seats=3, mistakes=mistakes))
        simulation.add("black-hawk", caller, 2)
        figures = await simulation.run(lambda: simulation.figures.rounds >= wanted)
        assert figures.differences == []
        assert figures.rounds >= wanted
        assert bool(figures.mistakes) is bool(mistakes)
        assert (await GatewayClient(caller).get_line()).queued == 0
        await channel.close()
    assert wrong(tmp_path / "journal.db") == []
    facts = facts_of(tmp_path / "journal.db")
    opened, ended = rounds_of(facts)
    assert opened == ended
    assert len(ended) == figures.rounds
    irregular = sum(fact.name == "IrregularityFound" for fact in facts)
    assert irregular == figures.mistakes.total()

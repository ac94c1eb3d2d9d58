"""An observed floor plays on while the line is cut, the gateway killed and the house restarted at random: nothing is lost or
doubled, and what the house has is what was played, to the cent."""

import asyncio
import random
from pathlib import Path

import pytest

from services.floor.observed_routine import Manner, ObservedFigures
from services.floor.observed_simulation import ObservedSimulation
from services.game.profiles import profile
from services.house import House
from services.runtime.caller import GrpcCaller, open_channel
from services.runtime.clock import SystemClock
from tests.support.audit import facts_of, rounds_of, wrong
from tests.support.gateway_here import house_settings
from tests.support.gateway_process import GatewayProcess
from tests.support.house_process import free_port
from tests.support.relay import Relay
from tests.support.seeds import seeded

WRITERS = ("shoe", "table", "wager")


class Chaos:
    """The house, its line and the gateway, and what may happen to them."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder = folder
        self.chance = chance
        self.port = free_port()
        self.house: House | None = None
        self.done: list[str] = []

    async def start_house(self) -> None:
        """The house at its address, on the journal that it had."""
        self.house = House(house_settings(self.folder / "house", f"127.0.0.1:{self.port}"), WRITERS)
        await self.house.__aenter__()

    async def stop_house(self) -> None:
        """The house goes; nobody is told."""
        if self.house is not None:
            await self.house.__aexit__()
            self.house = None

    async def strike(self, line: Relay, gateway: GatewayProcess) -> None:
        """Do something bad, and mend it some time later."""
        what = self.chance.choice(("cut", "cut", "kill", "restart"))
        self.done.append(what)
        if what == "cut":
            line.cut()
            await asyncio.sleep(self.chance.uniform(0.05, 0.6))
            line.mend()
        elif what == "kill":
            await gateway.kill()
            await gateway.start()
        else:
            await self.stop_house()
            await asyncio.sleep(self.chance.uniform(0.0, 0.3))
            await self.start_house()
        await asyncio.sleep(self.chance.uniform(0.05, 0.5))


@pytest.mark.timeout(900)
@pytest.mark.parametrize("strikes", [5, pytest.param(40, marks=pytest.mark.faults)])
async def test_whatever_happens_on_the_way_the_house_has_what_was_played(tmp_path: Path, strikes: int) -> None:
    chance = seeded(f"tests/faults/test_gateway_chaos.py -m '' -k {strikes}")
    chaos = Chaos(tmp_path, chance)
    async with Relay(chaos.port) as line, GatewayProcess(tmp_path, line.address) as gateway:
        await chaos.start_house()
        channel = open_channel(gateway.address)
        caller = GrpcCaller(channel, deadline_seconds=5.0, patience_seconds=60.0)
        manner = Manner(seats=3, mistakes=0.1, pace_seconds=0.002)
        simulation = ObservedSimulation((profile("colorado"),), SystemClock(), chance.randrange(10**6), manner)
        simulation.add("black-hawk", caller, 2)
        over = asyncio.Event()
        playing: asyncio.Task[ObservedFigures] = asyncio.create_task(simulation.run(over.is_set))
        while simulation.figures.rounds < 2:
            assert not playing.done()
            await asyncio.sleep(0.02)
        for _ in range(strikes):
            await chaos.strike(line, gateway)
            assert not playing.done()
        over.set()
        figures = await playing
        await channel.close()
        await chaos.stop_house()
    print(f"{chaos.done}, {figures.as_json()}")
    assert figures.differences == []
    assert figures.rounds > 0
    journal = tmp_path / "house" / "journal.db"
    assert wrong(journal) == []
    facts = facts_of(journal)
    opened, ended = rounds_of(facts)
    assert opened == ended
    assert len(ended) == figures.rounds
    assert sum(fact.name == "IrregularityFound" for fact in facts) == figures.mistakes.total()

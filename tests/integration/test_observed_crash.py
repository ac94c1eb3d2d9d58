"""An observed table whose process dies at any call or append comes back to the same cards and cents, each observation once.

The gateway knows only what was answered: it sends everything again from there, cut into other calls than before.
"""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from services.floor.physical_table import PhysicalTable, Said
from services.game.rules import parse_rules
from services.runtime.failures import ServiceUnavailable
from services.table import client as tables
from services.table.client import Observation, Reading
from tests.support.devices import NOON_US
from tests.support.observed_table import GATEWAY
from tests.support.table_house import RULES, SUPERVISOR, TABLE, Fault, House, broken_laws
from tests.support.table_play import outcome_of

ROUNDS = 2
STREAMS = (f"table:{TABLE}", f"wager:{TABLE}", f"shoe:{TABLE}")


def seen() -> list[Observation]:
    """What devices saw of some rounds with doubles, splits and mistakes."""
    physical = PhysicalTable(parse_rules(RULES), random.Random(11), 3, mistakes=0.2)
    said: list[Said] = [one for _ in range(ROUNDS) for one in physical.play().said]
    numbers: dict[str, int] = {}
    observations = []
    for at, one in enumerate(said, start=1):
        numbers[one.device] = numbers.get(one.device, 0) + 1
        reading = Reading(numbers[one.device], NOON_US + at, one.kind, **one.fields)
        observations.append(Observation(f"{one.device}-7", NOON_US + at, 0, reading))
    return observations


async def forward(house: House, observations: Sequence[Observation], a_call: int) -> None:
    """Send all of it, as a gateway that waits for each answer; raises ServiceUnavailable when the house is gone."""
    at = 0
    while at < len(observations):
        call = tables.RecordObservations(tuple(observations[at : at + a_call]))
        answer = await house.table.record_observations(TABLE, house.context(GATEWAY), call)
        through = {standing.device: standing.recorded_through for standing in answer.devices}
        done = 0
        for one in call.observations:
            if one.reading.device_sequence > through[one.device]:
                break
            done += 1
        if not done:
            raise ServiceUnavailable("nothing was recorded")
        at += done


async def open_table(house: House) -> None:
    command = tables.OpenTable(RULES, (tables.ChipCount(500, 4_000),), "D-17", observed=True)
    await house.table.open_table(TABLE, house.context(SUPERVISOR), command)


async def happened(house: House) -> dict[str, list[tuple[str, bytes]]]:
    return {stream: outcome_of(await house.log(stream)) for stream in STREAMS}


async def undisturbed(
    path: Path, observations: Sequence[Observation], fault: Fault
) -> dict[str, list[tuple[str, bytes]]]:
    async with House(path, fault=fault) as house:
        await open_table(house)
        fault.count, fault.names = 0, []
        await forward(house, observations, 40)
        assert await broken_laws(house) == []
        return await happened(house)


async def test_a_death_at_any_call_or_append_changes_no_card_no_cent_and_no_observation(tmp_path: Path) -> None:
    observations, counting = seen(), Fault()
    expected = await undisturbed(tmp_path / "undisturbed.db", observations, counting)
    names = set(counting.names)
    assert {"StartObservedShoe", "ObserveCards", "OpenSeatSession", "BringChips", "HoldStakes", "SettleRound"} <= names
    for point, name in enumerate(counting.names, start=1):
        # Before an append is after the call, or the append, that stands before it in the list.
        for before in (False,) if name == "append" else (True, False):
            path = tmp_path / f"killed-{point}-{before}.db"
            fault = Fault()
            async with House(path, fault=fault) as first_life:
                await open_table(first_life)
                fault.count, fault.at, fault.before = 0, point, before
                with pytest.raises(ServiceUnavailable):
                    await forward(first_life, observations, 40)
            async with House(path) as second_life:
                await forward(second_life, observations, 17)
                assert await broken_laws(second_life) == [], f"killed at point {point}, before={before}"
                assert await happened(second_life) == expected, f"killed at point {point}, before={before}"

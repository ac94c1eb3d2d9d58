"""The laws take any log: whatever is lost, doubled, swapped or garbled in it, they answer and never fall over."""

import random
from enum import StrEnum
from fractions import Fraction
from typing import Any

import pytest

from services.game.cards import Card, standard_deck
from services.game.quick import replace
from services.game.record import field_names, is_record
from services.surveillance import laws
from services.surveillance.facts import Fact
from services.surveillance.hand_history import history
from tests.support.law_logs import log
from tests.support.seeds import seeded

LOGS = 60
"""How many garbled logs a run tries."""


def garbled(value: Any, chance: random.Random) -> Any:
    """Another value of the same type, often an absurd one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, StrEnum):
        return chance.choice(list(type(value)))
    if isinstance(value, int):
        return chance.choice([0, -1, 1, value + 1, -value, 2**62, -(2**62), 7])
    if isinstance(value, Card) or value is None:
        return chance.choice([None, *standard_deck()])
    if isinstance(value, Fraction):
        return chance.choice([Fraction(0), -value, Fraction(1, 3), Fraction(10**15)])
    if isinstance(value, str):
        return chance.choice(["", "x", value + "#", "#", "a/b#c/d/e", value[:3]])
    if isinstance(value, bytes):
        return chance.choice([b"", bytes(32), value[:-1]])
    if isinstance(value, tuple):
        return chance.choice([(), value * 2, value[1:], tuple(garbled(item, chance) for item in value)])
    return garbled_record(value, chance) if is_record(value) else value


def garbled_record(record: Any, chance: random.Random) -> Any:
    field = chance.choice(field_names(record) or ("",))
    return replace(record, **{field: garbled(getattr(record, field), chance)}) if field else record


def damaged(facts: list[Fact], chance: random.Random) -> list[Fact]:
    """The log with a handful of things wrong in it."""
    facts = list(facts)
    for _ in range(chance.randrange(1, 12)):
        index = chance.randrange(len(facts))
        match chance.randrange(6):
            case 0:
                del facts[index]
            case 1:
                facts.insert(chance.randrange(len(facts)), facts[index])
            case 2:
                other = chance.randrange(len(facts))
                facts[index], facts[other] = facts[other], facts[index]
            case 3:
                facts[index] = replace(facts[index], event=None, unreadable="garbage")
            case 4:
                facts[index] = replace(facts[index], envelope=garbled_record(facts[index].envelope, chance))
            case _:
                if facts[index].event is not None:
                    facts[index] = replace(facts[index], event=garbled_record(facts[index].event, chance))
    return facts


@pytest.mark.parametrize("game", ["shoe", "machine", "short1"])
def test_no_log_makes_the_laws_fall_over(game: str) -> None:
    chance = seeded(f"tests/fuzz/test_laws_fuzz.py::test_no_log_makes_the_laws_fall_over[{game}]")
    options: dict[str, dict[str, Any]] = {
        "shoe": {},
        "machine": {"continuous": True},
        "short1": {"decks": 1, "seats": 7},
    }
    clean = log(game, 10, **options[game])
    facts = list(clean[:450])
    for _ in range(LOGS // 3):
        broken = damaged(facts, chance)
        laws.check(broken)
        history(broken, "black-hawk/BJ-07#3")


def test_a_lost_event_is_always_noticed() -> None:
    chance = seeded("tests/fuzz/test_laws_fuzz.py::test_a_lost_event_is_always_noticed")
    last = {fact.stream: fact.sequence for fact in log()}
    for _ in range(25):
        index = chance.randrange(len(log()))
        gone = log()[index]
        if gone.sequence == last[gone.stream]:
            continue  # nothing in the log says that there was more: that is what checkpoints are for (G11)
        auditor = laws.Auditor()
        facts = [*log()[:index], *log()[index + 1 :]]
        assert any(auditor.observe(fact) for fact in facts), f"{gone.stream} {gone.sequence} {gone.name}"

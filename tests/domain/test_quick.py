"""Records made quickly are the records themselves."""

import pickle
from dataclasses import FrozenInstanceError, dataclass, replace

import pytest

from services.game.quick import quick
from services.game.round_commands import DoubleDown
from services.game.round_events import HandStood
from services.game.round_words import DecidedBy


def test_a_record_made_quickly_is_equal_frozen_and_of_its_own_class() -> None:
    made = quick(HandStood)(3, 1, DecidedBy.PLAYER)
    usual = HandStood(3, 1, DecidedBy.PLAYER)
    assert type(made) is HandStood
    assert (made, hash(made), repr(made)) == (usual, hash(usual), repr(usual))
    assert pickle.loads(pickle.dumps(made)) == usual  # noqa: S301 - its own bytes
    assert replace(made, seat=4).seat == 4
    with pytest.raises(FrozenInstanceError):
        made.seat = 5  # type: ignore[misc]  # that it is frozen is the point


def test_defaults_and_names_are_those_of_the_class() -> None:
    make = quick(DoubleDown)
    assert make(1, 0) == DoubleDown(1, 0)
    assert make(1, 0, amount_cents=50) == DoubleDown(1, 0, amount_cents=50)


def test_a_class_that_is_not_such_a_record_is_refused() -> None:
    @dataclass
    class Loose:
        seat: int

    @dataclass(frozen=True)
    class Unslotted:
        seat: int

    @dataclass(frozen=True, slots=True)
    class Checked:
        seat: int

        def __post_init__(self) -> None:
            raise ValueError

    @dataclass(frozen=True, slots=True)
    class Longer(HandStood):
        extra: int

    for cls in (Loose, Unslotted, Checked, Longer):
        with pytest.raises(TypeError):
            quick(cls)

"""Records made quickly are the records themselves."""

import dataclasses
import pickle
from dataclasses import FrozenInstanceError, dataclass

import pytest

from services.game.quick import quick, replace
from services.game.round_commands import DoubleDown, Stand


def test_a_record_made_quickly_is_equal_frozen_and_of_its_own_class() -> None:
    made = quick(Stand)(3, 1, "P-1")
    usual = Stand(3, 1, "P-1")
    assert type(made) is Stand
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
    class Longer(Stand):
        extra: int = 0

    for cls in (Loose, Unslotted, Checked, Longer):
        with pytest.raises(TypeError):
            quick(cls)


def test_a_copy_with_changes_is_what_dataclasses_make_of_it() -> None:
    stood = Stand(3, 1, "P-1")
    changed = replace(stood, hand=2, player="P-2")
    assert type(changed) is Stand
    assert changed == dataclasses.replace(stood, hand=2, player="P-2")
    assert stood == Stand(3, 1, "P-1")
    assert replace(stood) == stood
    with pytest.raises(FrozenInstanceError):
        changed.seat = 5  # type: ignore[misc]  # that it is frozen is the point
    with pytest.raises((AttributeError, TypeError)):
        replace(stood, nothing=1)  # type: ignore[call-arg]  # an unknown field is the point


def test_a_class_with_checks_is_copied_through_its_checks() -> None:
    @dataclass(frozen=True, slots=True)
    class Positive:
        cents: int

        def __post_init__(self) -> None:
            if self.cents <= 0:
                raise ValueError(self.cents)

    assert replace(Positive(1), cents=2) == Positive(2)
    with pytest.raises(ValueError, match="-2"):
        replace(Positive(1), cents=-2)

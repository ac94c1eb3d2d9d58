"""Records of either form can be looked into alike, and one made by C code is as immutable as the other."""

import copy
import pickle
import types
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from inspect import getmembers, isclass
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest

from services.game import round_events, round_words
from services.game.authority import Actor, EventId
from services.game.cards import Card
from services.game.record import Record, changed, field_names, is_record, is_record_class
from services.game.round_events import HandStood, HandSurrendered
from services.game.round_words import DecidedBy
from services.journal import port
from services.wire import envelope

STOOD = HandStood(3, 1, DecidedBy.PLAYER)
RECORDS = sorted(
    {
        kind
        for module in (round_events, round_words, port, envelope)
        for _, kind in getmembers(module, isclass)
        if issubclass(kind, Record) and kind is not Record
    },
    key=lambda kind: kind.__name__,
)


IMMUTABLE = {int, str, bool, bytes, type(None), Fraction, Card, Actor, EventId, port.Position}


@dataclass(frozen=True, slots=True)
class Place:
    seat: int
    hand: int


def parts_of(hint: Any) -> Iterator[Any]:
    """The plain types in a type: of a tuple what it holds, of a union its alternatives."""
    if get_origin(hint) in {tuple, Union, types.UnionType}:
        for part in get_args(hint):
            if part is not ...:
                yield from parts_of(part)
    else:
        yield hint


def test_a_record_never_changes() -> None:
    with pytest.raises(AttributeError):
        STOOD.seat = 5  # type: ignore[misc]  # that it is frozen is the point
    with pytest.raises(AttributeError):
        del STOOD.seat
    with pytest.raises(AttributeError):
        STOOD.more = 1  # type: ignore[attr-defined]  # that it has no room for more is the point
    with pytest.raises(TypeError):
        object.__setattr__(STOOD, "seat", 5)
    assert HandStood(3, 1, DecidedBy.PLAYER) == STOOD


def test_records_are_equal_by_class_and_fields() -> None:
    again = HandStood(3, 1, by=DecidedBy.PLAYER)
    assert (again, hash(again), repr(again)) == (STOOD, hash(STOOD), repr(STOOD))
    assert HandStood(3, 2, DecidedBy.PLAYER) != STOOD
    same_fields: object = HandSurrendered(3, 1, DecidedBy.PLAYER)
    assert same_fields != STOOD
    assert pickle.loads(pickle.dumps(STOOD)) == STOOD  # noqa: S301 - its own bytes
    assert copy.deepcopy(STOOD) == STOOD
    with pytest.raises(TypeError):
        HandStood(3, 1)  # type: ignore[call-arg]  # a field is missing, which is the point


def test_a_copy_differs_in_what_was_named_alone() -> None:
    assert changed(STOOD, seat=4) == HandStood(4, 1, DecidedBy.PLAYER)
    assert STOOD.seat == 3
    with pytest.raises(TypeError):
        changed(STOOD, nothing=1)


def test_both_forms_are_looked_into_alike() -> None:
    assert field_names(STOOD) == field_names(HandStood) == ("seat", "hand", "by")
    assert field_names(Place(1, 2)) == field_names(Place) == ("seat", "hand")
    assert is_record(STOOD)
    assert is_record(Place(1, 2))
    assert is_record_class(HandStood)
    assert is_record_class(Place)
    for other in (3, "seat", None, HandStood, int):
        assert not is_record(other)
    assert not is_record_class(STOOD)
    for other in (3, int):
        with pytest.raises(TypeError):
            field_names(other)


@pytest.mark.parametrize("kind", RECORDS)
def test_every_record_is_frozen_and_holds_immutable_things_only(kind: type[Record]) -> None:
    """What the collector does not look at must not be able to close a circle."""
    assert kind.__struct_config__.frozen
    hints = get_type_hints(kind)
    for name in field_names(kind):
        for part in parts_of(hints[name]):
            assert part in IMMUTABLE or issubclass(part, StrEnum | Record), f"{kind.__name__}.{name} may hold {part}"

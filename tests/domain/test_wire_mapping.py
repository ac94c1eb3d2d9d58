"""The mapper between dataclasses and messages: what goes in comes out, and two shapes that differ are found at once."""

from dataclasses import dataclass
from enum import StrEnum

import pytest

from services.game.authority import Actor, EventId, Role
from services.wire.mapping import MalformedMessage, Mapper, MappingMismatch, mapper
from services.wire.messages import message_class
from services.wire.rpc import CommandHeader

HEADER = "holecard.common.v1.CommandHeader"


@pytest.mark.parametrize("cause", [None, EventId("table:black-hawk/BJ-07", 3)])
def test_what_is_encoded_is_decoded_again(cause: EventId | None) -> None:
    header = CommandHeader("r-1", Actor(Role.DEALER, "D-9"), 1_796_000_000_000_000, cause)
    codec = mapper(CommandHeader, HEADER)
    assert codec.decode(codec.encode(header)) == header


def test_garbage_is_refused_and_named() -> None:
    with pytest.raises(MalformedMessage, match=r"9 bytes are not a holecard.common.v1.CommandHeader"):
        mapper(CommandHeader, HEADER).decode(b"\xff\xff\xff\x01garba")


def test_a_missing_part_is_named() -> None:
    message = message_class(HEADER)(request_id="r-1")
    with pytest.raises(MalformedMessage, match=r"CommandHeader\.actor cannot be read: it is missing"):
        mapper(CommandHeader, HEADER).from_message(message)


def test_an_unspecified_or_unknown_role_is_refused() -> None:
    for role in (0, 99):
        message = message_class("holecard.common.v1.Actor")(role=role, id="x")
        with pytest.raises(MalformedMessage, match=rf"{role} is not a Role"):
            mapper(Actor, "holecard.common.v1.Actor").from_message(message)


def test_a_field_that_only_one_side_has_is_found_when_the_mapper_is_built() -> None:
    @dataclass(frozen=True)
    class EventPlace:
        stream: str
        number: int

    with pytest.raises(
        MappingMismatch, match=r"only in the dataclass \['number'\].*only in the message \['sequence'\]"
    ):
        Mapper(EventPlace, message_class("holecard.common.v1.EventId"))


def test_a_field_of_another_type_is_found_when_the_mapper_is_built() -> None:
    @dataclass(frozen=True)
    class EventPlace:
        stream: str
        sequence: str

    with pytest.raises(MappingMismatch, match="sequence is not of a type for str"):
        Mapper(EventPlace, message_class("holecard.common.v1.EventId"))


def test_an_enum_with_other_members_is_found_when_the_mapper_is_built() -> None:
    class Rung(StrEnum):
        PLAYER = "player"

    @dataclass(frozen=True)
    class Person:
        role: Rung
        id: str

    Person.__annotations__["role"] = Rung
    with pytest.raises(MappingMismatch, match="differ in"):
        Mapper(Person, message_class("holecard.common.v1.Actor"))


def test_a_subset_reader_takes_only_what_it_declares() -> None:
    @dataclass(frozen=True)
    class WhoseId:
        id: str

    whole = mapper(Actor, "holecard.common.v1.Actor").encode(Actor(Role.PLAYER, "P-1"))
    assert Mapper(WhoseId, message_class("holecard.common.v1.Actor"), subset=True).decode(whole) == WhoseId("P-1")

"""Every event of a round has its message, field by field, and survives the wire."""

from services.game import round_events
from services.game.hand_record import read_record
from services.game.hand_record_play import played_events
from services.game.profiles import profile
from services.wire.registry import EventTypes
from tests.support.round_records import PEER_HANDS

TYPES: EventTypes[round_events.RoundEvent] = EventTypes("holecard.table.v1", round_events.EVENTS)


def test_every_event_class_has_a_message_with_equal_fields() -> None:
    assert set(TYPES.classes) == set(round_events.EVENTS)
    names = {name for name, thing in vars(round_events).items() if isinstance(thing, type)}
    assert {cls.__name__ for cls in round_events.EVENTS} <= names


def test_the_events_of_played_rounds_come_back_equal_from_their_bytes() -> None:
    house = profile("colorado")
    seen: set[type] = set()
    with PEER_HANDS.open(encoding="utf-8") as lines:
        for _, line in zip(range(200), lines, strict=False):
            for event in played_events(read_record(line, house)):
                assert TYPES.decode(*TYPES.encode(event)) == event
                seen.add(type(event))
    assert {round_events.CardDealt, round_events.WagersSettled, round_events.HandSplit} <= seen

"""L4, L5, L7 (one effect per request) and L11 catch a log that is not whole."""

from dataclasses import replace

from services.game.authority import Actor, EventId, Role
from services.surveillance.laws import missing_acknowledged
from tests.support.law_logs import broken, caught, log, repeated, with_envelope, with_fact, without


def test_l4_a_missing_event_is_found_where_the_stream_goes_on() -> None:
    index = 120
    gone = log()[index]
    following = next(fact for fact in log()[index + 1 :] if fact.stream == gone.stream)
    caught(without(log(), index), "L4", following, "a gap")


def test_l4_g09_gap_repetition_and_edit_are_told_apart() -> None:
    index = 120
    fact = log()[index]
    caught(repeated(log(), index, index), "L4", fact, "a repetition or a fork")
    edited = with_fact(log(), index, replace(fact, hash=bytes(32)))
    following = next(later for later in log()[index + 1 :] if later.stream == fact.stream)
    caught(edited, "L4", following, "does not carry the hash of event")
    assert not broken(edited, "L1")


def test_l4_an_event_that_cannot_be_read_is_found() -> None:
    index = 60
    unreadable = replace(
        log()[index], event=None, unreadable="holecard.table.v1.Unheard is not an event that this build knows"
    )
    caught(with_fact(log(), index, unreadable), "L4", log()[index], "cannot be read")


def test_l5_what_was_acknowledged_and_is_gone_is_named() -> None:
    acknowledged = [EventId(fact.stream, fact.sequence) for fact in log()]
    assert missing_acknowledged(log(), acknowledged) == []
    gone = log()[-1]
    found = missing_acknowledged(log()[:-1], acknowledged)
    assert [(one.law, one.stream, one.sequence) for one in found] == [("L5", gone.stream, gone.sequence)]


def test_l7_a_request_with_two_effects_is_found() -> None:
    first = log()[100]
    stream = [fact for fact in log() if fact.stream == first.stream]
    index = log().index(stream[-1])
    mutated = with_envelope(log(), index, request_id=stream[5].envelope.request_id)
    caught(mutated, "L7", stream[-1], "had its effect before")


def test_l7_a_request_that_goes_on_as_somebody_else_is_found() -> None:
    for index, fact in enumerate(log()):
        before = log()[index - 1]
        if index and before.stream == fact.stream and before.envelope.request_id == fact.envelope.request_id:
            mutated = with_envelope(log(), index, actor=Actor(Role.PLAYER, "somebody"))
            caught(mutated, "L7", fact, "goes on with another content or actor")
            return
    raise AssertionError("no request of two events in the log")


def test_l11_an_event_without_a_cause_is_found() -> None:
    index = 150
    caught(with_envelope(log(), index, cause=None), "L11", log()[index], "names no cause")


def test_l11_a_cause_that_is_not_earlier_is_found() -> None:
    index = 150
    fact = log()[index]
    other = next(one.stream for one in log() if one.stream != fact.stream and one.key == fact.key)
    for cause in (
        EventId(fact.stream, fact.sequence),
        EventId(fact.stream, fact.sequence + 3),
        EventId(other, 10**6),
        EventId(fact.stream, 0),
    ):
        caught(with_envelope(log(), index, cause=cause), "L11", fact, "cause" if cause.sequence < 1 else "not earlier")


def test_l11_a_cause_at_another_table_may_come_later_in_the_log_but_must_come() -> None:
    fact = log()[150]
    nowhere = with_envelope(log(), 150, cause=EventId("table:denver/BJ-01", 7))
    caught(nowhere, "L11", fact, "nowhere in the log")

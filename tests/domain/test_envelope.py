"""The stored record: what goes in comes out, what is not an envelope is refused, and no range is left unwatched."""

from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.game.authority import Actor, EventId, Role
from services.game.quick import quick
from services.game.record import changed, field_names
from services.wire.envelope import (
    HASH_BYTES,
    MAX_COUNT,
    MAX_ID_CHARACTERS,
    MAX_NAME_CHARACTERS,
    MAX_TIME_US,
    NO_HASH,
    Decoder,
    Encoder,
    Envelope,
    EnvelopeInvalid,
    decode,
    encode,
)
from services.wire.gen.holecard.common.v1 import common_pb2
from services.wire.gen.holecard.journal.v1 import envelope_pb2

ENVELOPE = Envelope(
    stream="table:black-hawk/BJ-07",
    sequence=7,
    type="holecard.table.v1.CardDealt",
    payload=b"\x08\x05",
    schema_version=1,
    occurred_time_us=1_796_000_000_000_000,
    recorded_time_us=1_796_000_000_000_100,
    actor=Actor(Role.DEALER, "D-17"),
    request_id="request-7",
    request_digest=b"\x01" * HASH_BYTES,
    cause=EventId("table:black-hawk/BJ-07", 6),
    round_id="black-hawk/BJ-07#12",
    gaming_day="2026-11-30",
    writer_epoch=3,
    previous_hash=b"\x02" * HASH_BYTES,
)


def texts(low: int, high: int) -> st.SearchStrategy[str]:
    return st.text(st.characters(exclude_categories=["Cs"]), min_size=low, max_size=high)


ids = texts(1, MAX_ID_CHARACTERS)
names = texts(1, MAX_NAME_CHARACTERS)
counts = st.integers(1, MAX_COUNT)
times = st.integers(0, MAX_TIME_US)
digests = st.binary(min_size=HASH_BYTES, max_size=HASH_BYTES)
envelopes = st.builds(
    Envelope,
    stream=names,
    sequence=st.integers(2, MAX_COUNT),
    type=names,
    payload=st.binary(max_size=300),
    schema_version=st.integers(1, 2**31 - 1),
    occurred_time_us=times,
    recorded_time_us=times,
    actor=st.builds(Actor, st.sampled_from(Role), ids),
    request_id=ids,
    request_digest=digests,
    cause=st.none() | st.builds(EventId, names.map(lambda name: f"{name}'"[-MAX_NAME_CHARACTERS:]), counts),
    round_id=texts(0, MAX_ID_CHARACTERS),
    gaming_day=st.dates().map(str) | st.just(""),
    writer_epoch=counts,
    previous_hash=digests.filter(lambda value: value != NO_HASH),
).filter(lambda e: e.cause is None or e.cause.stream != e.stream)


@given(envelopes)
def test_what_is_encoded_decodes_to_the_same(envelope: Envelope) -> None:
    assert decode(encode(envelope)) == envelope


@given(st.lists(envelopes, min_size=2, max_size=4))
def test_an_encoder_carries_nothing_over_to_the_next_envelope(row: list[Envelope]) -> None:
    encoder = Encoder()
    assert [encoder.encode(envelope) for envelope in row] == [encode(envelope) for envelope in row]


@pytest.mark.parametrize("field", [name for name in field_names(Envelope) if name not in {"sequence", "previous_hash"}])
def test_an_encoder_sees_a_change_of_each_field(field: str) -> None:
    other: dict[str, Any] = {
        "stream": "shoe:black-hawk/BJ-07", "type": "x", "payload": b"", "schema_version": 2, "occurred_time_us": 0,
        "recorded_time_us": 0, "actor": Actor(Role.SYSTEM, "clock"), "request_id": "r",
        "request_digest": b"\x09" * HASH_BYTES,
        "cause": None, "round_id": "", "gaming_day": "", "writer_epoch": 4,
    }  # fmt: skip
    one_other = changed(ENVELOPE, **{field: other[field]})
    encoder = Encoder()
    assert [decode(encoder.encode(envelope)) for envelope in (ENVELOPE, one_other, ENVELOPE)] == [
        ENVELOPE,
        one_other,
        ENVELOPE,
    ]


def told_by(decode_: Callable[[bytes], Envelope], stored: bytes) -> Envelope | str:
    """The envelope, or why there is none."""
    try:
        return decode_(stored)
    except EnvelopeInvalid as error:
        return str(error)


def of_one_command(first: Envelope, count: int) -> list[Envelope]:
    """Events that share what a command's events share."""
    return [
        changed(
            first, sequence=first.sequence + more, payload=bytes([more]) * more, previous_hash=bytes([more + 1]) * 32
        )
        for more in range(count)
    ]


@given(st.lists(envelopes.filter(lambda e: e.sequence < MAX_COUNT - 9), min_size=1, max_size=3), st.data())
def test_a_decoder_tells_of_each_event_what_decode_tells(row: list[Envelope], data: st.DataObject) -> None:
    stored = [encode(envelope) for first in row for envelope in of_one_command(first, data.draw(st.integers(1, 5)))]
    decoder = Decoder()
    for event in stored:
        assert decoder.decode(event) == decode(event)
        garbled = bytearray(event)
        at = data.draw(st.integers(0, len(garbled) - 1))
        garbled[at] ^= data.draw(st.integers(1, 255))
        cut = event[: data.draw(st.integers(0, len(event)))] + event[data.draw(st.integers(0, len(event))) :]
        for other in (bytes(garbled), cut, b"\x0a\x01x" + event, event[:1] + event, event + b"\xa2\x06\x01x"):
            assert told_by(decoder.decode, other) == told_by(decode, other)


def test_what_a_head_says_of_the_shared_fields_counts_for_nothing_new() -> None:
    """A field that stands twice, before the shared bytes and in them, reads as in the whole; an unknown one is refused."""
    first, second, third = map(encode, of_one_command(ENVELOPE, 3))
    for extra in (b"\x4a\x01x", b"\x12\x01", b"\xa2\x06\x01x", b"\x10\x01", b"\x0a\x01s"):
        decoder = Decoder()
        assert [decoder.decode(first), decoder.decode(second)] == [decode(first), decode(second)]
        assert told_by(decoder.decode, extra + third) == told_by(decode, extra + third)
        assert decoder.decode(third) == decode(third)


@given(envelopes)
def test_the_generated_code_reads_and_writes_the_same_bytes(envelope: Envelope) -> None:
    stored = encode(envelope)
    message = envelope_pb2.Envelope.FromString(stored)
    assert message.SerializeToString() == stored
    assert (message.stream, message.sequence, message.payload) == (envelope.stream, envelope.sequence, envelope.payload)
    assert (message.actor.id, message.HasField("cause")) == (envelope.actor.id, envelope.cause is not None)
    assert message.actor.role == common_pb2.Role.Value(f"ROLE_{envelope.actor.role.name}")


@given(st.binary(max_size=200))
def test_garbage_is_refused_or_is_an_envelope(data: bytes) -> None:
    try:
        envelope = decode(data)
    except EnvelopeInvalid:
        return
    assert decode(encode(envelope)) == envelope


@given(st.data())
def test_a_cut_envelope_is_refused(data: st.DataObject) -> None:
    stored = encode(ENVELOPE)
    with pytest.raises(EnvelopeInvalid):
        decode(stored[: data.draw(st.integers(0, len(stored) - 1))])


def test_fields_of_a_newer_version_are_refused_wherever_they_stand() -> None:
    unknown = b"\xa2\x06\x01x"  # field 100, one byte
    message = envelope_pb2.Envelope.FromString(encode(ENVELOPE))
    with pytest.raises(EnvelopeInvalid, match="does not know"):
        decode(message.SerializeToString() + unknown)
    for inner in (message.actor, message.cause):
        altered = envelope_pb2.Envelope.FromString(encode(ENVELOPE))
        target = altered.actor if inner is message.actor else altered.cause
        target.MergeFromString(unknown)
        with pytest.raises(EnvelopeInvalid, match="does not know"):
            decode(altered.SerializeToString())


def test_a_role_that_this_version_does_not_know_is_refused() -> None:
    message = envelope_pb2.Envelope.FromString(encode(ENVELOPE))
    for role in (0, 99):
        message.actor.role = role  # type: ignore[assignment]  # the number of a role that is to come
        with pytest.raises(EnvelopeInvalid, match="is not a role"):
            decode(message.SerializeToString())


BROKEN: list[tuple[str, list[Any]]] = [
    ("stream", ["", "s" * (MAX_NAME_CHARACTERS + 1), "\ud800"]),
    ("sequence", [0, -1, MAX_COUNT + 1]),
    ("type", ["", "t" * (MAX_NAME_CHARACTERS + 1)]),
    ("schema_version", [0, -1, 2**31]),
    ("occurred_time_us", [-1, MAX_TIME_US + 1]),
    ("recorded_time_us", [-1, MAX_TIME_US + 1]),
    ("payload", [None, "text"]),
    (
        "actor",
        [None, Actor(Role.DEALER, ""), Actor(Role.DEALER, "d" * (MAX_ID_CHARACTERS + 1))],
    ),
    ("request_id", ["", "r" * (MAX_ID_CHARACTERS + 1), "\udfff"]),
    ("request_digest", [b"", b"x" * 31, b"x" * 33]),
    ("cause", [EventId("", 1), EventId("s", 0), EventId(ENVELOPE.stream, 7), EventId(ENVELOPE.stream, 8)]),
    ("round_id", ["r" * (MAX_ID_CHARACTERS + 1)]),
    ("gaming_day", ["2026-13-01", "2026-1-01", "20261130", "today", "2026-11-32", "٢٠٢٦-11-30", "2026-11-30 "]),
    ("writer_epoch", [0, -1]),
    ("previous_hash", [NO_HASH, b"", b"x" * 31]),
]


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, values in BROKEN for value in values])
def test_what_is_out_of_range_is_never_stored(field: str, value: Any) -> None:
    with pytest.raises(EnvelopeInvalid, match=rf"{field} .* is out of range|cannot be encoded"):
        encode(changed(ENVELOPE, **{field: value}))


def test_the_first_event_carries_no_hash_and_every_other_one_does() -> None:
    first = changed(ENVELOPE, sequence=1, previous_hash=NO_HASH, cause=None)
    assert decode(encode(first)) == first
    with pytest.raises(EnvelopeInvalid, match="previous_hash"):
        encode(changed(first, previous_hash=b"\x01" * HASH_BYTES))


def test_bytes_out_of_range_are_refused_when_they_are_read() -> None:
    message = envelope_pb2.Envelope.FromString(encode(ENVELOPE))
    message.sequence = 0
    with pytest.raises(EnvelopeInvalid, match="sequence 0 is out of range"):
        decode(message.SerializeToString())


# --- quick records ----------------------------------------------------------------------------------------------------


def test_a_quick_record_is_the_record_itself() -> None:
    made = quick(EventId)("table:x", sequence=3)
    assert type(made) is EventId
    assert made == EventId("table:x", 3)
    assert hash(made) == hash(EventId("table:x", 3))
    assert repr(made) == repr(EventId("table:x", 3))
    with pytest.raises(FrozenInstanceError):
        made.sequence = 4  # type: ignore[misc]  # that it is frozen is what is tested
    with pytest.raises(TypeError):
        quick(EventId)("table:x")  # type: ignore[call-arg]  # that the signature is kept is what is tested


def test_a_class_with_checks_of_its_own_has_no_quick_way() -> None:
    @dataclass(frozen=True, slots=True)
    class Checked:
        value: int

        def __post_init__(self) -> None:
            assert self.value > 0

    @dataclass(frozen=True)
    class Roomy:
        value: int

    for kind in (Checked, Roomy, int):
        with pytest.raises(TypeError):
            quick(kind)

"""The stored record of one event: the `Envelope` and its two directions, to bytes and back.

Owns: the shape and the ranges of `holecard.journal.v1.Envelope` on the Python side. Promises: what `encode` accepts,
`decode` gives back equal; bytes that are not an envelope of a known shape are refused, never guessed at. Does not:
hash, store, or look into the payload; nothing here ever encodes a second time what was stored once (DESIGN §3).
"""

from collections.abc import Callable
from dataclasses import dataclass

from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from services.game.authority import Actor, EventId, Role
from services.wire.gen.holecard.common.v1 import common_pb2
from services.wire.gen.holecard.journal.v1 import envelope_pb2

HASH_BYTES = 32
MAX_NAME_CHARACTERS = 256
"""The longest stream name and the longest type name."""
MAX_ID_CHARACTERS = 128
"""The longest request id, actor id and round id (common.proto, CommandHeader)."""
MAX_TIME_US = 253_402_300_799_999_999
"""The last microsecond of the year 9999; times run from 0, which is 1970."""
MAX_COUNT = 2**63 - 1

_ROLE_NUMBERS = {role: common_pb2.Role.Value(f"ROLE_{role.name}") for role in Role}
_ROLES = {number: role for role, number in _ROLE_NUMBERS.items()}


class EnvelopeInvalid(ValueError):
    """The envelope breaks a range, or the bytes are no envelope this version knows; the message says which field."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """One event as it is stored; the fields and their meaning are those of `envelope.proto`.

    Times are µs since 1970, 0 to the year 9999. Hashes are 32 bytes; `previous_hash` is zero for sequence 1 alone.
    `request_id` has 1 to 128 characters. `round_id` is empty outside rounds, `gaming_day` ("2026-11-30") outside
    floors.
    """

    stream: str
    sequence: int
    type: str
    payload: bytes
    schema_version: int
    occurred_time_us: int
    recorded_time_us: int
    actor: Actor
    request_id: str
    request_digest: bytes
    cause: EventId | None
    round_id: str
    gaming_day: str
    writer_epoch: int
    previous_hash: bytes


def encode(envelope: Envelope) -> bytes:
    """Return the bytes to store.

    Raises EnvelopeInvalid when a field is out of range or has no UTF-8 form.
    """
    check(envelope)
    e, cause = envelope, envelope.cause
    try:
        message = envelope_pb2.Envelope(
            stream=e.stream,
            sequence=e.sequence,
            type=e.type,
            payload=e.payload,
            schema_version=e.schema_version,
            occurred_time_us=e.occurred_time_us,
            recorded_time_us=e.recorded_time_us,
            request_id=e.request_id,
            request_digest=e.request_digest,
            round_id=e.round_id,
            gaming_day=e.gaming_day,
            writer_epoch=e.writer_epoch,
            previous_hash=e.previous_hash,
        )
        message.actor.role = _ROLE_NUMBERS[e.actor.role]
        message.actor.id = e.actor.id
        if cause is not None:
            message.cause.stream = cause.stream
            message.cause.sequence = cause.sequence
        return message.SerializeToString()
    except (TypeError, ValueError) as error:
        raise EnvelopeInvalid(f"event {e.stream!r} {e.sequence} cannot be encoded: {error}") from error


def decode(stored: bytes) -> Envelope:
    """Return the envelope of stored bytes.

    Raises EnvelopeInvalid when the bytes are not protobuf, carry a field this version does not know, or break a range.
    """
    try:
        m = envelope_pb2.Envelope.FromString(stored)
    except (DecodeError, ValueError) as error:
        raise EnvelopeInvalid(f"{len(stored)} bytes are not an envelope: {error}") from error
    actor, cause = m.actor, m.cause if m.HasField("cause") else None
    unknown = len(UnknownFieldSet(m)) + len(UnknownFieldSet(actor))
    if cause is not None:
        unknown += len(UnknownFieldSet(cause))
    if unknown:
        raise EnvelopeInvalid(
            f"the envelope has {unknown} fields this version does not know: a newer writer, or not ours"
        )
    role = _ROLES.get(actor.role)
    if role is None:
        raise EnvelopeInvalid(f"actor.role {actor.role} is not a role")
    envelope = Envelope(
        m.stream,
        m.sequence,
        m.type,
        m.payload,
        m.schema_version,
        m.occurred_time_us,
        m.recorded_time_us,
        Actor(role, actor.id),
        m.request_id,
        m.request_digest,
        EventId(cause.stream, cause.sequence) if cause is not None else None,
        m.round_id,
        m.gaming_day,
        m.writer_epoch,
        m.previous_hash,
    )
    check(envelope)
    return envelope


def check(envelope: Envelope) -> None:
    """Raise EnvelopeInvalid, naming the field, when a range of `Envelope` is broken."""
    for holds, field in _RANGES:
        if not holds(envelope):
            value = getattr(envelope, field)
            raise EnvelopeInvalid(
                f"{field} {_shown(value)} is out of range in event {envelope.stream!r} {envelope.sequence}"
            )


def _shown(value: object) -> str:
    text = value.hex() if isinstance(value, bytes) else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def is_gaming_day(text: str) -> bool:
    """Whether the text is empty or has the form 2026-11-30 with a month and a day that can be."""
    if not text:
        return True
    year, month, day = text[:4], text[5:7], text[8:]
    shaped = len(text) == 10 and text.isascii() and text[4] == text[7] == "-" and (year + month + day).isdigit()
    return shaped and 1 <= int(month) <= 12 and 1 <= int(day) <= 31


def _cause_holds(e: Envelope) -> bool:
    return e.cause is None or (
        1 <= e.cause.sequence <= MAX_COUNT
        and 0 < len(e.cause.stream) <= MAX_NAME_CHARACTERS
        and e.cause != EventId(e.stream, e.sequence)
    )


_RANGES: tuple[tuple[Callable[[Envelope], bool], str], ...] = (
    (lambda e: 0 < len(e.stream) <= MAX_NAME_CHARACTERS, "stream"),
    (lambda e: 1 <= e.sequence <= MAX_COUNT, "sequence"),
    (lambda e: 0 < len(e.type) <= MAX_NAME_CHARACTERS, "type"),
    (lambda e: 1 <= e.schema_version < 2**31, "schema_version"),
    (lambda e: 0 <= e.occurred_time_us <= MAX_TIME_US, "occurred_time_us"),
    (lambda e: 0 <= e.recorded_time_us <= MAX_TIME_US, "recorded_time_us"),
    (lambda e: 0 < len(e.actor.id) <= MAX_ID_CHARACTERS, "actor"),
    (lambda e: 0 < len(e.request_id) <= MAX_ID_CHARACTERS, "request_id"),
    (lambda e: len(e.request_digest) == HASH_BYTES, "request_digest"),
    (_cause_holds, "cause"),
    (lambda e: len(e.round_id) <= MAX_ID_CHARACTERS, "round_id"),
    (lambda e: is_gaming_day(e.gaming_day), "gaming_day"),
    (lambda e: 1 <= e.writer_epoch <= MAX_COUNT, "writer_epoch"),
    (lambda e: len(e.previous_hash) == HASH_BYTES and (e.sequence > 1) == any(e.previous_hash), "previous_hash"),
)

"""The stored record of one event: the `Envelope` and its two directions, to bytes and back.

Owns: the shape and the ranges of `holecard.journal.v1.Envelope` on the Python side. Promises: what is encoded decodes to an
equal envelope; bytes that are not an envelope of a known shape are refused, never guessed at. Does not: hash, store, or
look into the payload; nothing here ever encodes a second time what was stored once (DESIGN §3).
"""

from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter

from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from services.game.authority import Actor, EventId, Role
from services.wire.gen.holecard.common.v1 import common_pb2
from services.wire.gen.holecard.journal.v1 import envelope_pb2
from services.wire.quick_records import quick

HASH_BYTES = 32
NO_HASH = bytes(HASH_BYTES)
"""What the first event of a stream carries as its previous hash."""
MAX_NAME_CHARACTERS = 256
"""The longest stream name and the longest type name."""
MAX_ID_CHARACTERS = 128
"""The longest request id, actor id and round id (common.proto, CommandHeader)."""
MAX_TIME_US = 253_402_300_799_999_999
"""The last microsecond of the year 9999; times run from 0, which is 1970."""
MAX_COUNT = 2**63 - 1

_ROLE_NUMBERS = {role: common_pb2.Role.Value(f"ROLE_{role.name}") for role in Role}
_ROLES: dict[int, Role] = {number: role for role, number in _ROLE_NUMBERS.items()}
_PLAIN_FIELDS = attrgetter(
    "stream",
    "sequence",
    "type",
    "payload",
    "schema_version",
    "occurred_time_us",
    "recorded_time_us",
    "request_id",
    "request_digest",
    "round_id",
    "gaming_day",
    "writer_epoch",
    "previous_hash",
)


class EnvelopeInvalid(ValueError):
    """The envelope breaks a range, or the bytes are no envelope this version knows; the message says which field."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """One event as it is stored; the fields and their meaning are those of `envelope.proto`.

    Times are µs since 1970, 0 to the year 9999. Hashes are 32 bytes; `previous_hash` is zero for sequence 1 alone.
    `request_id` has 1 to 128 characters. `round_id` is empty outside rounds, `gaming_day` ("2026-11-30") outside floors.
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


quick_envelope = quick(Envelope)
"""Makes an Envelope where many are made."""

# A house has few actors, and the events of one command share their cause: these records are made once and used again.
_actor = lru_cache(4096)(Actor)
_event_id = lru_cache(4096)(EventId)


def encode(envelope: Envelope) -> bytes:
    """Return the bytes to store; raises EnvelopeInvalid when a field is out of range or has no UTF-8 form."""
    return Encoder().encode(envelope)


class Encoder:
    """Encodes the events of one append, which share most of their fields: only what differs is set anew.

    Make a new one for each append: the message's memory is given back only as a whole. After an error it is spent.
    """

    def __init__(self) -> None:
        self._message = envelope_pb2.Envelope()
        self._last: Envelope | None = None

    def encode(self, envelope: Envelope) -> bytes:
        """Return the bytes to store; raises EnvelopeInvalid when a field is out of range or has no UTF-8 form."""
        e, last, m = envelope, self._last, self._message
        try:
            if (
                last is None
                or last.request_id is not e.request_id
                or last.stream is not e.stream
                or last.actor is not e.actor
                or last.cause is not e.cause
                or last.request_digest is not e.request_digest
                or last.round_id is not e.round_id
                or last.gaming_day is not e.gaming_day
                or last.recorded_time_us is not e.recorded_time_us
                or last.writer_epoch is not e.writer_epoch
            ):
                self._set_command(e)
            m.sequence = e.sequence
            m.type = e.type
            m.payload = e.payload
            m.schema_version = e.schema_version
            m.occurred_time_us = e.occurred_time_us
            m.previous_hash = e.previous_hash
        except (TypeError, ValueError) as error:
            raise EnvelopeInvalid(f"event {e.stream!r} {e.sequence} cannot be encoded: {error}") from error
        if not _event_holds(e):
            raise _out_of_range(e)
        self._last = e
        return m.SerializeToString()

    def _set_command(self, envelope: Envelope) -> None:
        """Check and set what the events of one command have in common."""
        if not _command_holds(envelope):
            raise _out_of_range(envelope)
        m, cause = self._message, envelope.cause
        m.stream = envelope.stream
        m.recorded_time_us = envelope.recorded_time_us
        m.actor.role = _ROLE_NUMBERS[envelope.actor.role]
        m.actor.id = envelope.actor.id
        m.request_id = envelope.request_id
        m.request_digest = envelope.request_digest
        m.round_id = envelope.round_id
        m.gaming_day = envelope.gaming_day
        m.writer_epoch = envelope.writer_epoch
        if cause is None:
            m.ClearField("cause")
        else:
            m.cause.stream = cause.stream
            m.cause.sequence = cause.sequence


def decode(stored: bytes) -> Envelope:
    """Return the envelope of stored bytes.

    Raises EnvelopeInvalid when the bytes are not protobuf, carry a field this version does not know, or break a range.
    """
    try:
        m = envelope_pb2.Envelope.FromString(stored)
    except (DecodeError, ValueError) as error:
        raise EnvelopeInvalid(f"{len(stored)} bytes are not an envelope: {error}") from error
    acting, naming = m.actor, m.cause
    if len(UnknownFieldSet(m)) or len(UnknownFieldSet(acting)) or len(UnknownFieldSet(naming)):
        raise EnvelopeInvalid("the envelope has fields this version does not know: a newer writer, or not ours")
    role = _ROLES.get(acting.role)
    if role is None:
        raise EnvelopeInvalid(f"actor.role {acting.role} is not a role")
    stream, sequence, kind, payload, version, occurred, recorded, request, digest, round_id, day, epoch, previous = (
        _PLAIN_FIELDS(m)
    )
    cause = None
    if naming.sequence or m.HasField("cause"):
        cause = _event_id(naming.stream, naming.sequence)
    envelope = quick_envelope(
        stream, sequence, kind, payload, version, occurred, recorded, _actor(role, acting.id), request, digest, cause, round_id,
        day, epoch, previous,
    )  # fmt: skip
    if not (_command_holds(envelope) and _event_holds(envelope)):
        raise _out_of_range(envelope)
    return envelope


def _command_holds(e: Envelope) -> bool:
    """Whether the fields that a command's events share are in range."""
    return (
        0 < len(e.stream) <= MAX_NAME_CHARACTERS
        and 0 <= e.recorded_time_us <= MAX_TIME_US
        and 0 < len(e.actor.id) <= MAX_ID_CHARACTERS
        and 0 < len(e.request_id) <= MAX_ID_CHARACTERS
        and len(e.request_digest) == HASH_BYTES
        and len(e.round_id) <= MAX_ID_CHARACTERS
        and 1 <= e.writer_epoch <= MAX_COUNT
        and _is_gaming_day(e.gaming_day)
        and (e.cause is None or _cause_holds(e, e.cause))
    )


def _event_holds(e: Envelope) -> bool:
    """Whether the fields of the event alone are in range."""
    return (
        1 <= e.sequence <= MAX_COUNT
        and 0 < len(e.type) <= MAX_NAME_CHARACTERS
        and 1 <= e.schema_version < 2**31
        and 0 <= e.occurred_time_us <= MAX_TIME_US
        and len(e.previous_hash) == HASH_BYTES
        and (e.sequence == 1) == (e.previous_hash == NO_HASH)
    )


def _cause_holds(e: Envelope, cause: EventId) -> bool:
    known = 0 < len(cause.stream) <= MAX_NAME_CHARACTERS and 1 <= cause.sequence <= MAX_COUNT
    # An event that is its own cause, or that of an earlier one of its stream, would close a circle (DESIGN §8, L11).
    return known and (cause.sequence < e.sequence or cause.stream != e.stream)


@lru_cache(1024)
def _is_gaming_day(text: str) -> bool:
    """Whether the text is empty or has the form 2026-11-30 with a month and a day that can be."""
    if not text:
        return True
    year, month, day = text[:4], text[5:7], text[8:]
    shaped = len(text) == 10 and text.isascii() and text[4] == text[7] == "-" and (year + month + day).isdigit()
    return shaped and 1 <= int(month) <= 12 and 1 <= int(day) <= 31


def _out_of_range(e: Envelope) -> EnvelopeInvalid:
    """The error for the first field whose range is broken; shows the value."""
    holds = {
        "stream": 0 < len(e.stream) <= MAX_NAME_CHARACTERS,
        "sequence": 1 <= e.sequence <= MAX_COUNT,
        "type": 0 < len(e.type) <= MAX_NAME_CHARACTERS,
        "schema_version": 1 <= e.schema_version < 2**31,
        "occurred_time_us": 0 <= e.occurred_time_us <= MAX_TIME_US,
        "recorded_time_us": 0 <= e.recorded_time_us <= MAX_TIME_US,
        "actor": 0 < len(e.actor.id) <= MAX_ID_CHARACTERS,
        "request_id": 0 < len(e.request_id) <= MAX_ID_CHARACTERS,
        "request_digest": len(e.request_digest) == HASH_BYTES,
        "cause": e.cause is None or _cause_holds(e, e.cause),
        "round_id": len(e.round_id) <= MAX_ID_CHARACTERS,
        "gaming_day": _is_gaming_day(e.gaming_day),
        "writer_epoch": 1 <= e.writer_epoch <= MAX_COUNT,
    }
    field = next((name for name, held in holds.items() if not held), "previous_hash")
    value = getattr(e, field)
    text = value.hex() if isinstance(value, bytes) else repr(value)
    text = text if len(text) <= 80 else f"{text[:77]}..."
    return EnvelopeInvalid(f"event {e.stream!r} {e.sequence}: {field} {text} is out of range")

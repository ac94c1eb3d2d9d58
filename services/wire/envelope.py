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

    Make a new one for each append: the message's memory is given back only as a whole.
    """

    def __init__(self) -> None:
        self._message = envelope_pb2.Envelope()
        self._last: Envelope | None = None

    def encode(self, envelope: Envelope) -> bytes:
        """Return the bytes to store; raises EnvelopeInvalid when a field is out of range or has no UTF-8 form."""
        check(envelope)
        e, last, m = envelope, self._last, self._message
        try:
            if (
                last is None
                or last.request_id is not e.request_id
                or last.cause is not e.cause
                or last.actor is not e.actor
            ):
                self._set_command(e)
            m.stream = e.stream
            m.sequence = e.sequence
            m.type = e.type
            m.payload = e.payload
            m.schema_version = e.schema_version
            m.occurred_time_us = e.occurred_time_us
            m.recorded_time_us = e.recorded_time_us
            m.request_digest = e.request_digest
            m.round_id = e.round_id
            m.gaming_day = e.gaming_day
            m.writer_epoch = e.writer_epoch
            m.previous_hash = e.previous_hash
            self._last = e
            return m.SerializeToString()
        except (TypeError, ValueError) as error:
            raise EnvelopeInvalid(f"event {e.stream!r} {e.sequence} cannot be encoded: {error}") from error

    def _set_command(self, envelope: Envelope) -> None:
        message, cause = self._message, envelope.cause
        message.request_id = envelope.request_id
        message.actor.role = _ROLE_NUMBERS[envelope.actor.role]
        message.actor.id = envelope.actor.id
        if cause is None:
            message.ClearField("cause")
        else:
            message.cause.stream = cause.stream
            message.cause.sequence = cause.sequence


def decode(stored: bytes) -> Envelope:
    """Return the envelope of stored bytes.

    Raises EnvelopeInvalid when the bytes are not protobuf, carry a field this version does not know, or break a range.
    """
    try:
        m = envelope_pb2.Envelope.FromString(stored)
    except (DecodeError, ValueError) as error:
        raise EnvelopeInvalid(f"{len(stored)} bytes are not an envelope: {error}") from error
    cause, unknown = None, len(UnknownFieldSet(m))
    if m.HasField("cause"):
        named = m.cause
        unknown += len(UnknownFieldSet(named))
        cause = _event_id(named.stream, named.sequence)
    acting = m.actor
    if unknown or len(UnknownFieldSet(acting)):
        raise EnvelopeInvalid("the envelope has fields this version does not know: a newer writer, or not ours")
    role = _ROLES.get(acting.role)
    if role is None:
        raise EnvelopeInvalid(f"actor.role {acting.role} is not a role")
    stream, sequence, kind, payload, version, occurred, recorded, request, digest, round_id, day, epoch, previous = (
        _PLAIN_FIELDS(m)
    )
    envelope = quick_envelope(
        stream, sequence, kind, payload, version, occurred, recorded, _actor(role, acting.id), request, digest, cause, round_id,
        day, epoch, previous,
    )  # fmt: skip
    check(envelope)
    return envelope


def check(envelope: Envelope) -> None:
    """Raise EnvelopeInvalid, naming the field, when a range of `Envelope` is broken."""
    e = envelope
    if not (
        1 <= e.sequence <= MAX_COUNT
        and 0 < len(e.stream) <= MAX_NAME_CHARACTERS
        and 0 < len(e.type) <= MAX_NAME_CHARACTERS
        and 1 <= e.schema_version < 2**31
        and 0 <= e.occurred_time_us <= MAX_TIME_US
        and 0 <= e.recorded_time_us <= MAX_TIME_US
        and 0 < len(e.actor.id) <= MAX_ID_CHARACTERS
        and 0 < len(e.request_id) <= MAX_ID_CHARACTERS
        and len(e.request_digest) == HASH_BYTES
        and len(e.round_id) <= MAX_ID_CHARACTERS
        and 1 <= e.writer_epoch <= MAX_COUNT
        and len(e.previous_hash) == HASH_BYTES
        and (e.sequence == 1) == (e.previous_hash == NO_HASH)
        and _is_gaming_day(e.gaming_day)
        and (e.cause is None or _cause_holds(e, e.cause))
    ):
        raise EnvelopeInvalid(f"event {e.stream!r} {e.sequence}: {_broken_field(e)} is out of range")


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


def _broken_field(e: Envelope) -> str:
    """Name the first field whose range is broken, and show it."""
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
    return f"{field} {text if len(text) <= 80 else text[:77] + '...'}"

"""The stored record of one event: the `Envelope` and its two directions, to bytes and back.

Owns: the shape and the ranges of `holecard.journal.v1.Envelope` on the Python side. Promises: what is encoded decodes to an
equal envelope; bytes that are not an envelope of a known shape are refused, never guessed at. Does not: hash, store, or
look into the payload; nothing here ever encodes a second time what was stored once (DESIGN §3).
"""

from functools import lru_cache
from operator import attrgetter

from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from services.game.authority import Actor, EventId
from services.game.record import Record, field_names
from services.wire.envelope_frame import (
    HASH_TAG,
    EnvelopeFrame,
    EnvelopeHead,
    EnvelopeTail,
    actor_bytes,
    actor_of,
    event_id_bytes,
    event_id_of,
)

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


class EnvelopeInvalid(ValueError):
    """The envelope breaks a range, or the bytes are no envelope this version knows; the message says which field."""


class Envelope(Record, frozen=True):
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


_FIELDS = attrgetter(*field_names(Envelope))
_HEAD_FIELDS = attrgetter("stream", "sequence", "type", "payload", "schema_version", "occurred_time_us")


def encode(envelope: Envelope) -> bytes:
    """Return the bytes to store; raises EnvelopeInvalid when a field is out of range or has no UTF-8 form."""
    return Encoder().encode(envelope)


class Encoder:
    """Encodes the events of one append, which share most of their fields: these are checked and encoded once.

    Make a new one for each append: the message's memory is given back only as a whole. After an error it is spent.
    """

    def __init__(self) -> None:
        self._head = EnvelopeHead()
        self._tail = b""
        self._last: Envelope | None = None

    def encode(self, envelope: Envelope) -> bytes:
        """Return the bytes to store; raises EnvelopeInvalid when a field is out of range or has no UTF-8 form."""
        e, last, head = envelope, self._last, self._head
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
                self._tail = _tail_of(e)
                head.stream = e.stream
            if (
                last is None
                or last.type is not e.type
                or last.schema_version is not e.schema_version
                or last.occurred_time_us is not e.occurred_time_us
            ):
                head.type = e.type
                head.schema_version = e.schema_version
                head.occurred_time_us = e.occurred_time_us
                kind_holds = _kind_holds(e.type, e.schema_version, e.occurred_time_us)
            else:
                kind_holds = True
            head.sequence = sequence = e.sequence
            head.payload = e.payload
            previous = e.previous_hash
            stored: bytes = head.SerializeToString() + self._tail + previous
        except (TypeError, ValueError, AttributeError) as error:
            raise EnvelopeInvalid(f"event {e.stream!r} {e.sequence} cannot be encoded: {error}") from error
        if not (kind_holds and _place_holds(sequence, previous) and _cause_holds(e.stream, sequence, e.cause)):
            raise _out_of_range(e)
        self._last = e
        return stored


def _tail_of(envelope: Envelope) -> bytes:
    """Check what the events of one command have in common; its bytes, up to where the previous hash begins."""
    e = envelope
    if not _command_holds(
        e.stream, e.recorded_time_us, e.actor, e.request_id, e.request_digest, e.round_id, e.gaming_day, e.writer_epoch
    ):
        raise _out_of_range(e)
    tail = EnvelopeTail(
        recorded_time_us=e.recorded_time_us,
        actor=actor_bytes(e.actor),
        request_id=e.request_id,
        request_digest=e.request_digest,
        round_id=e.round_id,
        gaming_day=e.gaming_day,
        writer_epoch=e.writer_epoch,
    )
    if e.cause is not None:
        tail.cause = event_id_bytes(e.cause)
    shared: bytes = tail.SerializeToString()
    return shared + HASH_TAG


def decode(stored: bytes) -> Envelope:
    """Return the envelope of stored bytes.

    Raises EnvelopeInvalid when the bytes are not protobuf, carry a field this version does not know, or break a range.
    """
    try:
        frame = EnvelopeFrame.FromString(stored)
        # In the order of the fields of Envelope, as local names: this is a hot place of a replay.
        (stream, sequence, kind, payload, version, occurred, recorded, actor_data, request_id, digest, cause_data, round_id,
         day, epoch, previous) = _FIELDS(frame)  # fmt: skip
        actor = actor_of(actor_data)
        cause = event_id_of(cause_data) if cause_data else None
    except (DecodeError, ValueError) as error:
        raise EnvelopeInvalid(f"{len(stored)} bytes are not an envelope: {error}") from error
    if len(UnknownFieldSet(frame)):
        raise EnvelopeInvalid("the envelope has fields this version does not know: a newer writer, or not ours")
    envelope = Envelope(
        stream, sequence, kind, payload, version, occurred, recorded, actor, request_id, digest, cause, round_id, day, epoch,
        previous,
    )  # fmt: skip
    if not (
        _place_holds(sequence, previous)
        and _kind_holds(kind, version, occurred)
        and _command_holds(stream, recorded, actor, request_id, digest, round_id, day, epoch)
        and _cause_holds(stream, sequence, cause)
    ):
        raise _out_of_range(envelope)
    return envelope


@lru_cache(1024)
def beginning_of(stream: str) -> bytes:
    """The bytes with which this version begins each stored event of the stream: its first field, the name."""
    beginning: bytes = EnvelopeFrame(stream=stream).SerializeToString()
    return beginning


class Decoder:
    """Decodes events in a row, as `decode` does each: what an event shares with the one before it is decoded once.

    For the events of one command, which end in the same bytes but for the previous hash. Where they do, the rest of the
    event is read as a message of its own: written one behind the other, the two are the whole.
    """

    __slots__ = ("_last", "_tail")

    def __init__(self) -> None:
        self._last: Envelope | None = None
        self._tail = b""

    def decode(self, stored: bytes) -> Envelope:
        """Return the envelope of stored bytes; raises EnvelopeInvalid as `decode` does."""
        last, tail = self._last, self._tail
        if last is not None and tail:
            cut = len(stored) - HASH_BYTES - len(tail)
            if cut > 0 and stored.startswith(tail, cut):
                envelope = _after(last, stored, cut)
                if envelope is not None:
                    return envelope
        envelope = decode(stored)
        # A command's second event shows that there may be more of them; most commands have one alone.
        together = last is not None and last.request_id == envelope.request_id
        self._tail = _tail_of(envelope) if together else b""
        self._last = envelope
        return envelope


def _after(last: Envelope, stored: bytes, cut: int) -> Envelope | None:
    """The envelope whose bytes go on from `cut` as those of `last`; None where only `decode` can tell what it is."""
    try:
        head = EnvelopeHead.FromString(stored[:cut])
    except DecodeError:
        return None
    stream, sequence, kind, payload, version, occurred = _HEAD_FIELDS(head)
    previous, cause = stored[-HASH_BYTES:], last.cause
    if (
        stream != last.stream
        or sequence <= 1
        or previous == NO_HASH
        or (cause is not None and cause.sequence >= sequence and cause.stream == stream)
        or not _kind_holds(kind, version, occurred)
        or len(UnknownFieldSet(head))
    ):
        return None
    return Envelope(
        last.stream, sequence, kind, payload, version, occurred, last.recorded_time_us, last.actor, last.request_id,
        last.request_digest, cause, last.round_id, last.gaming_day, last.writer_epoch, previous,
    )  # fmt: skip


def _command_holds(
    stream: str,
    recorded_time_us: int,
    actor: Actor,
    request_id: str,
    digest: bytes,
    round_id: str,
    day: str,
    epoch: int,
) -> bool:
    """Whether the fields that a command's events share are in range."""
    return (
        0 < len(stream) <= MAX_NAME_CHARACTERS
        and 0 <= recorded_time_us <= MAX_TIME_US
        and 0 < len(actor.id) <= MAX_ID_CHARACTERS
        and 0 < len(request_id) <= MAX_ID_CHARACTERS
        and len(digest) == HASH_BYTES
        and len(round_id) <= MAX_ID_CHARACTERS
        and 1 <= epoch <= MAX_COUNT
        and _is_gaming_day(day)
    )


def _place_holds(sequence: int, previous_hash: bytes) -> bool:
    """Whether the event can stand there: only the first of a stream follows no other."""
    return (
        1 <= sequence <= MAX_COUNT
        and len(previous_hash) == HASH_BYTES
        and (sequence == 1) == (previous_hash == NO_HASH)
    )


def _kind_holds(kind: str, schema_version: int, occurred_time_us: int) -> bool:
    """Whether the other fields of the event alone are in range."""
    return 0 < len(kind) <= MAX_NAME_CHARACTERS and 1 <= schema_version < 2**31 and 0 <= occurred_time_us <= MAX_TIME_US


def _cause_holds(stream: str, sequence: int, cause: EventId | None) -> bool:
    """Whether the cause can be one: an event that is its own cause, or an earlier one's, closes a circle (§8, L11)."""
    return cause is None or (
        1 <= cause.sequence <= MAX_COUNT
        and 0 < len(cause.stream) <= MAX_NAME_CHARACTERS
        and (cause.sequence < sequence or cause.stream != stream)
    )


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
        "cause": _cause_holds(e.stream, e.sequence, e.cause),
        "round_id": len(e.round_id) <= MAX_ID_CHARACTERS,
        "gaming_day": _is_gaming_day(e.gaming_day),
        "writer_epoch": 1 <= e.writer_epoch <= MAX_COUNT,
    }
    field = next((name for name, held in holds.items() if not held), "previous_hash")
    value = getattr(e, field)
    text = value.hex() if isinstance(value, bytes) else repr(value)
    text = text if len(text) <= 80 else f"{text[:77]}..."
    return EnvelopeInvalid(f"event {e.stream!r} {e.sequence}: {field} {text} is out of range")

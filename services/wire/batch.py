"""The records of an event topic: batches of stored envelopes and claims, to bytes and back.

Owns: the shape of `holecard.journal.v1.EventBatch` and `Claim` on the Python side. Promises: a record of another shape, of a
newer version, or with fields this version does not know is refused, never guessed at. Does not look into the events.
"""

from dataclasses import dataclass

from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from services.wire.gen.holecard.journal.v1 import batch_pb2

VERSION = 1
"""The newest shape of either record that this version knows."""


class RecordInvalid(ValueError):
    """The bytes are no record this version knows; the message says why."""


@dataclass(frozen=True, slots=True)
class EventBatch:
    """One group commit: the offset of its claim (0 or more), and its events' stored bytes in log order, at least one."""

    claim: int
    events: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """Who takes a partition over: process, "host:port" for callers, build, and its clock in µs since 1970."""

    owner: str
    address: str
    build: str
    claimed_time_us: int


def encode_batch(batch: EventBatch) -> bytes:
    """Return the bytes of a batch."""
    message = batch_pb2.EventBatch(version=VERSION, claim=batch.claim, events=batch.events)
    return message.SerializeToString()


def encode_claim(claim: Claim) -> bytes:
    """Return the bytes of a claim; raises ValueError for a text without UTF-8 form."""
    message = batch_pb2.Claim(
        version=VERSION,
        owner=claim.owner,
        address=claim.address,
        build=claim.build,
        claimed_time_us=claim.claimed_time_us,
    )
    return message.SerializeToString()


def decode_batch(data: bytes) -> EventBatch:
    """Return the batch in a record's bytes; raises RecordInvalid."""
    try:
        message = batch_pb2.EventBatch.FromString(data)
    except DecodeError as error:
        raise RecordInvalid(f"{len(data)} bytes are not a batch: {error}") from error
    _check(message, "batch", message.version)
    if not message.events:
        raise RecordInvalid("a batch without events: not ours")
    return EventBatch(message.claim, tuple(message.events))


def decode_claim(data: bytes) -> Claim:
    """Return the claim in a record's bytes; raises RecordInvalid."""
    try:
        message = batch_pb2.Claim.FromString(data)
    except DecodeError as error:
        raise RecordInvalid(f"{len(data)} bytes are not a claim: {error}") from error
    _check(message, "claim", message.version)
    if not message.owner:
        raise RecordInvalid("a claim without an owner: not ours")
    return Claim(message.owner, message.address, message.build, message.claimed_time_us)


def _check(message: batch_pb2.EventBatch | batch_pb2.Claim, kind: str, version: int) -> None:
    if version > VERSION:
        raise RecordInvalid(f"a {kind} of version {version}, this Holecard knows up to {VERSION}: install a newer one")
    if version < 1 or len(UnknownFieldSet(message)):
        raise RecordInvalid(f"not a {kind} as Holecard writes them: version {version}, or fields it does not know")

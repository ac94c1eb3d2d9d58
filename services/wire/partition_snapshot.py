"""What a process knew of a partition, to bytes and back: the shape of `holecard.journal.v1.PartitionSnapshot`.

Promises: bytes that do not hold together, or of another version, are refused. Whether they are true only the log can say
(`services.journal.kafka_partition`).
"""

import sys
from array import array
from dataclasses import dataclass

from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from services.wire.batch import Claim
from services.wire.envelope import HASH_BYTES
from services.wire.gen.holecard.journal.v1 import batch_pb2, snapshot_pb2

VERSION = 1
"""The only shape that this version reads: an older snapshot is cut anew, not converted."""
PREFIX_BYTES = 8
"""How much of each event's hash an index keeps."""
_NUMBER_BYTES = 8


class SnapshotInvalid(ValueError):
    """The bytes are no snapshot that this version reads; the message says why."""


@dataclass(frozen=True, slots=True)
class StreamPart:
    """Where a stream's events lie; the fields are those of the message, numbers as arrays."""

    name: str
    sequence: int
    hash: bytes
    firsts: "array[int]"
    records: "array[int]"
    prefixes: bytes


@dataclass(frozen=True, slots=True)
class Origin:
    """What a snapshot is of: the code that read, the cluster, the topic by name and Kafka's id, Kafka's partition."""

    code: bytes
    cluster_id: str
    topic: str
    topic_id: str
    partition: int


@dataclass(frozen=True, slots=True)
class PartitionSnapshot:
    """A partition up to the record before `next_record`; the fields are those of the message."""

    origin: Origin
    next_record: int
    last_value_hash: bytes
    end: int
    claim_offset: int
    claim: Claim | None
    events: int
    claims: int
    void: int
    duplicate: int
    batches: "array[int]"
    streams: tuple[StreamPart, ...]


def encode_snapshot(snapshot: PartitionSnapshot) -> bytes:
    """Return the bytes of a snapshot."""
    origin, claim = snapshot.origin, snapshot.claim
    message = snapshot_pb2.PartitionSnapshot(
        version=VERSION,
        code=origin.code,
        cluster_id=origin.cluster_id,
        topic=origin.topic,
        topic_id=origin.topic_id,
        partition=origin.partition,
        next_record=snapshot.next_record,
        last_value_hash=snapshot.last_value_hash,
        end=snapshot.end,
        claim_offset=snapshot.claim_offset,
        events=snapshot.events,
        claims=snapshot.claims,
        void=snapshot.void,
        duplicate=snapshot.duplicate,
        batches=_packed(snapshot.batches),
    )
    if claim is not None:
        message.claim.CopyFrom(
            batch_pb2.Claim(
                version=1,
                owner=claim.owner,
                address=claim.address,
                build=claim.build,
                claimed_time_us=claim.claimed_time_us,
            )
        )
    for part in snapshot.streams:
        message.streams.add(
            name=part.name,
            sequence=part.sequence,
            hash=part.hash,
            firsts=_packed(part.firsts),
            records=_packed(part.records),
            prefixes=part.prefixes,
        )
    return message.SerializeToString()


def decode_snapshot(data: bytes) -> PartitionSnapshot:
    """Return the snapshot in the bytes; raises SnapshotInvalid."""
    try:
        message = snapshot_pb2.PartitionSnapshot.FromString(data)
    except DecodeError as error:
        raise SnapshotInvalid(f"{len(data)} bytes are not a snapshot: {error}") from error
    if message.version != VERSION:
        raise SnapshotInvalid(f"it has version {message.version}, this Holecard reads {VERSION}")
    if len(UnknownFieldSet(message)):
        raise SnapshotInvalid("it has fields that this Holecard does not know")
    claim = message.claim if message.HasField("claim") else None
    snapshot = PartitionSnapshot(
        Origin(message.code, message.cluster_id, message.topic, message.topic_id, message.partition),
        message.next_record,
        message.last_value_hash,
        message.end,
        message.claim_offset,
        None if claim is None else Claim(claim.owner, claim.address, claim.build, claim.claimed_time_us),
        message.events,
        message.claims,
        message.void,
        message.duplicate,
        _unpacked(message.batches),
        tuple(_part(stream) for stream in message.streams),
    )
    _check(snapshot)
    return snapshot


def _part(message: snapshot_pb2.StreamSnapshot) -> StreamPart:
    part = StreamPart(
        message.name,
        message.sequence,
        message.hash,
        _unpacked(message.firsts),
        _unpacked(message.records),
        message.prefixes,
    )
    whole = (
        part.sequence >= 1
        and len(part.hash) == HASH_BYTES
        and len(part.prefixes) == part.sequence * PREFIX_BYTES
        and part.prefixes[-PREFIX_BYTES:] == part.hash[:PREFIX_BYTES]
        and len(part.firsts) == len(part.records) >= 1
        and part.firsts[0] == 1
        and part.firsts[-1] <= part.sequence
    )
    if not whole:
        raise SnapshotInvalid(f"what it says of stream {part.name[:80]!r} does not hold together")
    return part


def _check(snapshot: PartitionSnapshot) -> None:
    if not (
        len(snapshot.last_value_hash) == HASH_BYTES
        and snapshot.claim_offset < snapshot.next_record
        and (snapshot.claim_offset >= 0) == (snapshot.claim is not None)
        and sum(part.sequence for part in snapshot.streams) == snapshot.events
        and (not snapshot.batches or snapshot.batches[-1] < snapshot.next_record)
    ):
        raise SnapshotInvalid("its numbers do not hold together")


def _packed(numbers: "array[int]") -> bytes:
    if sys.byteorder == "big":
        numbers = array("q", numbers)
        numbers.byteswap()
    return numbers.tobytes()


def _unpacked(data: bytes) -> "array[int]":
    if len(data) % _NUMBER_BYTES:
        raise SnapshotInvalid(f"{len(data)} bytes are no row of numbers")
    numbers = array("q", data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers

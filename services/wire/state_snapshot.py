"""A folded state with its place in the log, to bytes and back: the shape of `holecard.journal.v1.StateSnapshot`.

Promises: bytes of another version or shape are refused. The state itself is bytes here (`services.runtime.state_codec`).
"""

from dataclasses import dataclass
from typing import NamedTuple

from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from services.wire.envelope import HASH_BYTES
from services.wire.gen.holecard.journal.v1 import snapshot_pb2
from services.wire.partition_snapshot import SnapshotInvalid

VERSION = 1
"""The only shape that this version reads."""


class RequestPart(NamedTuple):
    """Where the events of a request stand, and the digest of what it asked, 32 bytes."""

    id: str
    digest: bytes
    first_sequence: int
    last_sequence: int


@dataclass(frozen=True, slots=True)
class StateSnapshot:
    """A stream's state after its event `sequence`, at least 1; the fields are those of the message."""

    code: bytes
    stream: str
    sequence: int
    hash: bytes
    requests: tuple[RequestPart, ...]
    state: bytes


def encode_state(snapshot: StateSnapshot) -> bytes:
    """Return the bytes of a snapshot."""
    message = snapshot_pb2.StateSnapshot(
        version=VERSION,
        code=snapshot.code,
        stream=snapshot.stream,
        sequence=snapshot.sequence,
        hash=snapshot.hash,
        requests=[one.id for one in snapshot.requests],
        digests=b"".join(one.digest for one in snapshot.requests),
        first_sequences=[one.first_sequence for one in snapshot.requests],
        last_sequences=[one.last_sequence for one in snapshot.requests],
        state=snapshot.state,
    )
    return message.SerializeToString()


def decode_state(data: bytes) -> StateSnapshot:
    """Return the snapshot in the bytes; raises SnapshotInvalid."""
    try:
        message = snapshot_pb2.StateSnapshot.FromString(data)
    except DecodeError as error:
        raise SnapshotInvalid(f"{len(data)} bytes are not a snapshot: {error}") from error
    if message.version != VERSION:
        raise SnapshotInvalid(f"it has version {message.version}, this Holecard reads {VERSION}")
    if len(UnknownFieldSet(message)) or message.sequence < 1 or len(message.hash) != HASH_BYTES:
        raise SnapshotInvalid("what it says does not hold together")
    ids, digests = list(message.requests), message.digests
    firsts, lasts = list(message.first_sequences), list(message.last_sequences)
    if not len(ids) * HASH_BYTES == len(digests) == len(firsts) * HASH_BYTES == len(lasts) * HASH_BYTES:
        raise SnapshotInvalid("its requests do not hold together")
    each = [digests[at : at + HASH_BYTES] for at in range(0, len(digests), HASH_BYTES)]
    return StateSnapshot(
        message.code,
        message.stream,
        message.sequence,
        message.hash,
        tuple(map(RequestPart, ids, each, firsts, lasts)),
        message.state,
    )

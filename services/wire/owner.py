"""Who owns a partition, as the topic of owners says it: the shape of `holecard.journal.v1.Owner`, to bytes and back."""

from dataclasses import dataclass

from google.protobuf.message import DecodeError

from services.wire.batch import Claim, RecordInvalid
from services.wire.gen.holecard.journal.v1 import batch_pb2, owner_pb2

VERSION = 1


@dataclass(frozen=True, slots=True)
class Owner:
    """The latest claim of a partition and its epoch, as far as its owner has told."""

    epoch: int
    claim: Claim


def encode_owner(owner: Owner) -> bytes:
    """Return the bytes."""
    claim = batch_pb2.Claim(
        version=1,
        owner=owner.claim.owner,
        address=owner.claim.address,
        build=owner.claim.build,
        claimed_time_us=owner.claim.claimed_time_us,
    )
    message = owner_pb2.Owner(version=VERSION, epoch=owner.epoch, claim=claim)
    return message.SerializeToString()


def decode_owner(data: bytes) -> Owner:
    """Return the owner; raises RecordInvalid for anything else."""
    try:
        message = owner_pb2.Owner.FromString(data)
    except DecodeError as error:
        raise RecordInvalid(f"{len(data)} bytes name no owner: {error}") from error
    if message.version != VERSION or not message.claim.owner or message.epoch < 0:
        raise RecordInvalid(f"an owner of version {message.version} that this Holecard does not know")
    claim = message.claim
    return Owner(message.epoch, Claim(claim.owner, claim.address, claim.build, claim.claimed_time_us))

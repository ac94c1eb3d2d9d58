"""The way to the owner of a table's partition on the wire: google.rpc.Status with our typed Redirect as its detail.

Owns its bytes alone; who owns what, and who follows, is decided elsewhere.
"""

from dataclasses import dataclass
from typing import Any, cast

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import DecodeError
from google.rpc import code_pb2
from google.rpc.status_pb2 import Status

from services.wire.messages import message_class

_REDIRECT = message_class("holecard.common.v1.Redirect")


@dataclass(frozen=True, slots=True)
class Redirect:
    """Who owns the partition (the journal's number), and the "host:port" at which it listens."""

    partition: int
    owner: str
    address: str


def encode_redirect(redirect: Redirect, text: str) -> bytes:
    """The bytes of the status with its detail; `text` is for people."""
    detail = AnyMessage()
    detail.Pack(_REDIRECT(partition=redirect.partition, owner=redirect.owner, address=redirect.address))
    data: bytes = Status(code=code_pb2.FAILED_PRECONDITION, message=text, details=[detail]).SerializeToString()
    return data


def decode_redirect(data: bytes) -> Redirect | None:
    """The redirect in a status detail, or None where there is none."""
    try:
        status = Status.FromString(data)
    except DecodeError:
        return None
    for detail in status.details:
        if detail.Is(_REDIRECT.DESCRIPTOR):
            message = cast("Any", _REDIRECT())
            detail.Unpack(message)
            return Redirect(message.partition, message.owner, message.address)
    return None

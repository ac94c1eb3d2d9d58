"""The envelope's bytes with its two inner messages left as bytes, those two by themselves, and the envelope in two halves.

An envelope's actor and cause are mostly ones that were met a moment ago: the events of a command share them. So they
are kept by their bytes, and met again they cost a look-up instead of a decoding. `EnvelopeFrame` reads and writes the
very same bytes as the generated `Envelope`, from whose description it is made here: the two cannot drift apart.

`EnvelopeHead` has the fields that each event has for itself, the first six; `EnvelopeTail` those that a command's events
share, the seventh to the last but one. The last is the previous hash, behind `HASH_TAG`. Messages that are written one
behind the other read as one message with the fields of all (protobuf's rule of merging), so head, tail and hash side by
side are the envelope.
"""

from functools import lru_cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from services.game.authority import Actor, EventId, Role
from services.wire.gen.holecard.common.v1 import common_pb2
from services.wire.gen.holecard.journal.v1 import envelope_pb2

_REMEMBERED = 4096
_ROLE_NUMBERS = {role: common_pb2.Role.Value(f"ROLE_{role.name}") for role in Role}
_ROLES: dict[int, Role] = {number: role for role, number in _ROLE_NUMBERS.items()}


HASH_TAG = b"\x7a\x20"
"""What stands before the 32 bytes of the previous hash: field 15, 32 bytes long."""
_HEAD = range(1, 7)
_TAIL = range(7, 15)
_WHOLE = range(1, 16)


def _frame_class(numbers: range) -> Any:
    """A message class like Envelope with these of its fields, messages declared as bytes, which is the same on the wire."""
    file = descriptor_pb2.FileDescriptorProto()
    envelope_pb2.DESCRIPTOR.CopyToProto(file)
    file.ClearField("dependency")
    (message,) = file.message_type
    chosen = [field for field in message.field if field.number in numbers]
    del message.field[:]
    message.field.extend(chosen)
    for field in message.field:
        if field.type == descriptor_pb2.FieldDescriptorProto.TYPE_MESSAGE:
            field.type = descriptor_pb2.FieldDescriptorProto.TYPE_BYTES
            field.ClearField("type_name")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(envelope_pb2.Envelope.DESCRIPTOR.full_name))


EnvelopeFrame = _frame_class(_WHOLE)
EnvelopeHead = _frame_class(_HEAD)
EnvelopeTail = _frame_class(_TAIL)


@lru_cache(_REMEMBERED)
def actor_bytes(actor: Actor) -> bytes:
    """The message of an actor; raises TypeError or ValueError for an id that has no UTF-8 form."""
    return common_pb2.Actor(role=_ROLE_NUMBERS[actor.role], id=actor.id).SerializeToString()


@lru_cache(_REMEMBERED)
def actor_of(data: bytes) -> Actor:
    """The actor in a message; raises DecodeError, or ValueError for an unknown role or field."""
    message = common_pb2.Actor.FromString(data)
    _refuse_unknown(message)
    role = _ROLES.get(message.role)
    if role is None:
        raise ValueError(f"actor.role {message.role} is not a role")
    return Actor(role, message.id)


@lru_cache(_REMEMBERED)
def event_id_bytes(event_id: EventId) -> bytes:
    """The message of an event's identity; raises TypeError or ValueError for what has no message."""
    return common_pb2.EventId(stream=event_id.stream, sequence=event_id.sequence).SerializeToString()


@lru_cache(_REMEMBERED)
def event_id_of(data: bytes) -> EventId:
    """The event's identity in a message; raises DecodeError, or ValueError for an unknown field."""
    message = common_pb2.EventId.FromString(data)
    _refuse_unknown(message)
    return EventId(message.stream, message.sequence)


def _refuse_unknown(message: Message) -> None:
    if len(UnknownFieldSet(message)):
        raise ValueError(f"{message.DESCRIPTOR.name} has fields this version does not know")

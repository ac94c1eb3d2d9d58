"""Requests with one field at an extreme, made from the messages' own descriptions: no field of no procedure is forgotten."""

import copy
import itertools
from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from services.wire.messages import message_class
from services.wire.rpc import Rpc
from tests.support.hosted import TABLE

INT64 = (0, -1, 1, 2**63 - 1, -(2**63), 10**15, 253_402_300_800_000_000)
INT32 = (0, -1, 1, 2**31 - 1, -(2**31))
UINT32 = (0, 1, 2**32 - 1)
TEXTS = (
    "",
    " ",
    "x" * 129,
    "x" * 5_000,
    "a\x00b",
    "../../etc/passwd",
    "black-hawk/BJ-01\n",
    "\uff22\uff2a-01",  # full-width letters, which some systems fold into ASCII
    "p\u0430ul",  # a Cyrillic a
    "\u202eabc",  # right-to-left override
    "e\u0301",  # not in normal form
    "\U0001f0a1",
    "'; DROP TABLE event; --",
    "{{7*7}}<script>",
    "%s%n",
)
MANY = 5_000

_fresh = itertools.count(1)


def request_message(rpc: Rpc[Any, Any]) -> type[Message]:
    """The class of a procedure's request message."""
    return message_class(f"{rpc.service.rpartition('.')[0]}.{rpc.name}Request")


def plausible(kind: type[Message], role: int = 4) -> Any:
    """A message with every field set to something small and well-formed; `role` by its number, a supervisor unless given."""
    message: Any = kind()
    for field in kind.DESCRIPTOR.fields:
        if field.name == "table" and field.type == FieldDescriptor.TYPE_STRING:
            message.table = TABLE
        elif field.message_type is not None and field.message_type.name == "CommandHeader":
            message.header.request_id = fresh_id()
            message.header.actor.role = role
            message.header.actor.id = "S-black-hawk"
            message.header.occurred_time_us = 1_796_000_000_000_000
            message.header.cause.stream = f"table:{TABLE}"
            message.header.cause.sequence = 1
        elif field.message_type is not None and field.message_type.GetOptions().map_entry:
            continue
        elif field.message_type is not None:
            inner = plausible(message_class(field.message_type.full_name))
            if field.is_repeated:
                getattr(message, field.name).append(inner)
            else:
                getattr(message, field.name).CopyFrom(inner)
        else:
            value = _small(field)
            if field.is_repeated:
                getattr(message, field.name).append(value)
            else:
                setattr(message, field.name, value)
    return message


def fresh_id() -> str:
    """A request id that was not used before."""
    return f"extreme-{next(_fresh)}"


def extremes(base: Any) -> Iterator[tuple[str, bytes]]:
    """The message with one field at a time, at any depth, set to each extreme; a name for each, and its bytes."""
    for path, field in _paths(base):
        for value in _values(field):
            message = copy.deepcopy(base)
            if "header" in message.DESCRIPTOR.fields_by_name:
                message.header.request_id = fresh_id()
            _set(message, path, field, value)
            shown = repr(value) if len(repr(value)) < 40 else f"{repr(value)[:40]}…"
            yield f"{'.'.join(map(str, path))}.{field.name} = {shown}", message.SerializeToString()


def _small(field: Any) -> Any:
    if field.type == FieldDescriptor.TYPE_STRING:
        return "As" if field.name in {"card", "cards"} else "x-1"
    if field.type == FieldDescriptor.TYPE_BYTES:
        return b"\x01" * 32
    return field.type == FieldDescriptor.TYPE_BOOL or 1


def _values(field: FieldDescriptor) -> tuple[Any, ...]:
    match field.type:
        case FieldDescriptor.TYPE_STRING:
            return (*TEXTS, _Absent, _Many) if field.is_repeated else TEXTS
        case FieldDescriptor.TYPE_BYTES:
            return (b"", b"\x00", b"\xff" * 10_000)
        case FieldDescriptor.TYPE_INT64:
            return INT64
        case FieldDescriptor.TYPE_INT32:
            return INT32
        case FieldDescriptor.TYPE_ENUM:
            return (0, 99)
        case FieldDescriptor.TYPE_MESSAGE:
            return (_Absent, _Many) if field.is_repeated else (_Absent,)
        case FieldDescriptor.TYPE_BOOL:
            return (_Absent, _Many) if field.is_repeated else (False, True)
        case _:
            return UINT32


class _Absent:
    """Leave the field out."""


class _Many:
    """Say the first entry thousands of times."""


def _paths(message: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], FieldDescriptor]]:
    for field in message.DESCRIPTOR.fields:
        yield path, field
        if field.message_type is None:
            continue
        content = getattr(message, field.name)
        if field.is_repeated and content:
            yield from _paths(content[0], (*path, field.name, 0))
        elif not field.is_repeated and message.HasField(field.name):
            yield from _paths(content, (*path, field.name))


def _set(message: Any, path: tuple[Any, ...], field: FieldDescriptor, value: Any) -> None:
    for step in path:
        message = message[step] if isinstance(step, int) else getattr(message, step)
    if value is _Absent:
        message.ClearField(field.name)
    elif value is _Many:
        content = getattr(message, field.name)
        if content:
            content.extend([content[0]] * MANY)
    elif field.is_repeated:
        content = getattr(message, field.name)
        del content[:]
        content.append(value)
    else:
        setattr(message, field.name, value)

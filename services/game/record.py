"""The form of the records that are made by the thousand: the events of a round, what a journal takes and gives.

A `Record` is a `msgspec.Struct`: like a frozen dataclass with slots, it never changes, is equal by class and fields, and
has a hash, but it is made by C code in a tenth of the time, and a round makes dozens. Owns that form and how to look into
records of either form, and is the only module that knows msgspec. Encodes nothing: that is `services.wire`.
"""

from dataclasses import fields, is_dataclass
from typing import Any, TypeGuard, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

__all__ = ["Record", "changed", "field_names", "is_record", "is_record_class"]

R = TypeVar("R", bound="Record")


class Record(Struct, frozen=True, gc=False):
    """What such a record inherits from; each says `frozen=True` again, for its reader and the type checker.

    The garbage collector does not look at records: what never changes can only refer to what was there before it, so
    it closes no circle. Hence every field must be of an immutable type.
    """


def changed(record: R, **values: Any) -> R:
    """Give a copy of a record with other values in the named fields; TypeError for a name that it does not have."""
    return replace(record, **values)


def is_record_class(kind: object) -> TypeGuard[type]:
    """Whether this is the class of a record in either form: a `Record` or a dataclass."""
    return isinstance(kind, type) and (issubclass(kind, Record) or is_dataclass(kind))


def is_record(value: object) -> bool:
    """Whether this is a record in either form."""
    return is_record_class(type(value))


def field_names(kind: object) -> tuple[str, ...]:
    """The names of a record's or its class's fields, in order, in either form; TypeError for anything else."""
    cls: Any = kind if isinstance(kind, type) else type(kind)
    if issubclass(cls, Record):
        return cast("tuple[str, ...]", cls.__struct_fields__)
    return tuple(field.name for field in fields(cls))

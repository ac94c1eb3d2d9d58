"""Between immutable records and protobuf messages of the same shape, by equal field names.

A mapper is built once and compares both sides while it is built: a field that only one of them has is an error then, not a
value lost later. Promises: decode(encode(x)) == x. Does not choose names or versions (see `registry`), and holds no rule
of the game.
"""

import types
from collections.abc import Callable, Sequence
from enum import StrEnum
from fractions import Fraction
from functools import cache
from operator import attrgetter
from typing import Any, Generic, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor
from google.protobuf.message import DecodeError, Message

from services.game.cards import Card
from services.game.quick import assigner, quick
from services.game.record import field_names, is_record_class
from services.game.rejections import Breach, Rejection
from services.wire.messages import message_class

T = TypeVar("T")
Convert = Callable[[Any], Any]
# Takes the message and the field's value in it.
ReadField = Callable[[Any, Any], Any]

_INTEGERS = {
    FieldDescriptor.TYPE_INT32,
    FieldDescriptor.TYPE_INT64,
    FieldDescriptor.TYPE_UINT32,
    FieldDescriptor.TYPE_UINT64,
}
_SCALARS: dict[type, set[int]] = {
    int: _INTEGERS,
    bool: {FieldDescriptor.TYPE_BOOL},
    str: {FieldDescriptor.TYPE_STRING},
    bytes: {FieldDescriptor.TYPE_BYTES},
}


class MappingMismatch(TypeError):
    """A dataclass and its message differ in a field or a type: mend one of them."""


class MalformedMessage(Rejection):
    """Bytes that are not such a message, or a message with a value that the field cannot have."""

    rule = "wire"
    remedy = "Send the message as its .proto file describes it."
    breach = Breach.FORM


class Mapper(Generic[T]):
    """Encodes and decodes one dataclass as one message.

    `besides` names message fields that the dataclass does not have and the caller fills himself; with `subset` the message
    may have any further fields, for readers that want a part of it only. Raises MappingMismatch when the two differ.
    """

    def __init__(
        self, cls: type[T], message: type[Message], *, besides: tuple[str, ...] = (), subset: bool = False
    ) -> None:
        hints = get_type_hints(cls)
        theirs = message.DESCRIPTOR.fields_by_name
        ours = field_names(cls)
        missing = [name for name in ours if name not in theirs]
        unmapped = [] if subset else [name for name in theirs if name not in ours and name not in besides]
        if missing or unmapped:
            raise MappingMismatch(
                f"{cls.__name__} and {message.DESCRIPTOR.full_name}: only in the dataclass {missing}, only in the "
                f"message {unmapped}"
            )
        self.cls = cls
        self._make = _maker(cls)
        self.message = message
        self._from_bytes = message.FromString
        self._names = ours
        self._read = _reader_of(ours)
        converters = [_field_converters(hints[name], cast("FieldDescriptor", theirs[name])) for name in ours]
        self._intos = [(at, into) for at, (into, _) in enumerate(converters) if into is not None]
        self._outs = [(at, out) for at, (_, out) in enumerate(converters) if out is not None]
        # Single numbers and words only: setting one by one takes half the time of the constructor, which can do all else.
        self._assign = assigner(ours)
        self._is_plain = not self._intos and not self._outs

    def to_message(self, value: T) -> Message:
        """The message that says the same."""
        if self._is_plain:
            message = self.message()
            self._assign(message, value)
            return message
        return self.message(**self.to_contents(value))

    def to_contents(self, value: T) -> dict[str, Any]:
        """What the message's constructor takes: inner messages as dicts too, so that each is made once and in place."""
        contents = list(self._read(value))
        for at, out in self._outs:
            # The constructor takes None for a field that is not set.
            if contents[at] is not None:
                contents[at] = out(contents[at])
        return dict(zip(self._names, contents, strict=True))

    def from_message(self, message: Message) -> T:
        """The value that says the same; raises MalformedMessage naming the field that cannot be read."""
        if self._is_plain:
            return self._make(*self._read(message))
        contents = list(self._read(message))
        for at, into in self._intos:
            try:
                contents[at] = into(message, contents[at])
            except (ValueError, KeyError, ZeroDivisionError, Rejection) as error:
                name = self._names[at]
                raise MalformedMessage(
                    f"{message.DESCRIPTOR.full_name}.{name} cannot be read: {error}", field=name
                ) from error
        return self._make(*contents)

    def encode(self, value: T) -> bytes:
        """The message's bytes."""
        if self._is_plain:
            message = self.message()
            self._assign(message, value)
            return message.SerializeToString()
        return self.to_message(value).SerializeToString()

    def parse(self, data: bytes) -> Message:
        """The message in `data`; raises MalformedMessage when the bytes are not one."""
        try:
            return self._from_bytes(data)
        except DecodeError as error:
            name = self.message.DESCRIPTOR.full_name
            raise MalformedMessage(f"these {len(data)} bytes are not a {name}") from error

    def decode(self, data: bytes) -> T:
        """The value in `data`; raises MalformedMessage."""
        message = self.parse(data)
        return self._make(*self._read(message)) if self._is_plain else self.from_message(message)


def _reader_of(names: Sequence[str]) -> Callable[[Any], Sequence[Any]]:
    """Reads all these fields at once, of a value or a message."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda of: [getattr(of, name) for name in names]


def _maker(cls: type[T]) -> Callable[..., T]:
    """How to make one: the quick way where a dataclass has no checks of its own to run; a `Record` is quick by itself."""
    try:
        return quick(cls)
    except TypeError:
        return cls


@cache
def mapper(cls: type[T], full_name: str) -> Mapper[T]:
    """The mapper between `cls` and the message of that full name, built once."""
    return Mapper(cls, message_class(full_name))


def _field_converters(hint: Any, field: FieldDescriptor) -> tuple[ReadField | None, Convert | None]:
    """How to take the field out of a message, and how to turn our value into what the message takes (None: as it is)."""
    optional = _optional_part(hint)
    if optional is not None:
        return _optional_converters(optional, field)
    if get_origin(hint) is tuple:
        return _repeated_converters(get_args(hint)[0], field)
    name = field.name
    into, out = _value_converters(hint, field)
    if field.is_repeated:
        raise MappingMismatch(f"{field.full_name} is repeated, the dataclass's field is not a tuple")
    if into is None:
        return None, None
    if field.message_type is None:
        return lambda _, value: into(value), out

    def read_required(message: Any, value: Any) -> Any:
        if not message.HasField(name):
            raise ValueError("it is missing")
        return into(value)

    return read_required, out


def _optional_converters(kind: Any, field: FieldDescriptor) -> tuple[ReadField, Convert | None]:
    name = field.name
    if not field.has_presence:
        raise MappingMismatch(f"{field.full_name} must be `optional`: the dataclass allows None")
    into, out = _value_converters(kind, field)

    def read_present(message: Any, value: Any) -> Any:
        if not message.HasField(name):
            return None
        return value if into is None else into(value)

    return read_present, out


def _repeated_converters(kind: Any, field: FieldDescriptor) -> tuple[ReadField, Convert | None]:
    if not field.is_repeated:
        raise MappingMismatch(f"{field.full_name} must be `repeated`")
    into, out = _value_converters(kind, field)
    if into is None:
        return lambda _, values: tuple(values), None
    return (
        lambda _, values: tuple(map(into, values)),
        None if out is None else lambda values: list(map(out, values)),
    )


def _optional_part(hint: Any) -> Any:
    """X of `X | None`, else None."""
    if get_origin(hint) in {Union, types.UnionType}:
        parts = [part for part in get_args(hint) if part is not type(None)]
        if len(parts) == 1:
            return parts[0]
        raise MappingMismatch(f"{hint}: a union of several types has no field")
    return None


def _value_converters(kind: Any, field: FieldDescriptor) -> tuple[Convert | None, Convert | None]:
    """Converters message value → ours and ours → message value for one value of type `kind`; None means unchanged."""
    if kind in _SCALARS:
        if field.type not in _SCALARS[kind]:
            raise MappingMismatch(f"{field.full_name} is not of a type for {kind.__name__}")
        return None, None
    if kind is Card and field.type == FieldDescriptor.TYPE_STRING:
        return Card.parse, str
    if kind is Fraction and field.message_type is not None:
        return (
            _ratio,
            lambda f: {"numerator": f.numerator, "denominator": f.denominator},
        )
    if isinstance(kind, type) and issubclass(kind, StrEnum) and field.enum_type is not None:
        return _enum_converters(kind, field.enum_type)
    if is_record_class(kind) and field.message_type is not None:
        nested = mapper(kind, field.message_type.full_name)
        return nested.from_message, nested.to_contents
    raise MappingMismatch(f"{field.full_name} cannot hold {kind}")


def _ratio(message: Any) -> Fraction:
    """The quotient in a Ratio; with a denominator below 1 it would not fit into a Ratio again."""
    if message.denominator < 1:
        raise ValueError(f"the denominator {message.denominator} is below 1")
    return Fraction(message.numerator, message.denominator)


def _enum_converters(kind: type[StrEnum], descriptor: EnumDescriptor) -> tuple[Convert, Convert]:
    """By name: member WIN of Outcome is OUTCOME_WIN; 0 is …_UNSPECIFIED and never valid."""
    prefix = "".join("_" + c if c.isupper() else c.upper() for c in descriptor.name).lstrip("_").upper() + "_"
    numbers = {value.name.removeprefix(prefix): value.number for value in descriptor.values if value.number}
    names = {member.name for member in kind}
    if set(numbers) != names:
        raise MappingMismatch(
            f"{kind.__name__} and {descriptor.full_name} differ in {sorted(set(numbers) ^ names)} (prefix {prefix})"
        )
    members = {numbers[member.name]: member for member in kind}

    def into(number: int) -> StrEnum:
        try:
            return members[number]
        except KeyError:
            raise ValueError(f"{number} is not a {descriptor.name}") from None

    # By the member itself: `.name` of an enum is a property in Python, and this runs for every field of every event.
    return into, {member: number for number, member in members.items()}.__getitem__

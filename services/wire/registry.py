"""The events of one area by their stable type names, in every version that was ever published.

A published event never changes: a new shape gets a new version, and the old one stays decodable for ever through its
upcaster (DESIGN §3). Does not read or write journals.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from services.game.rejections import Rejection
from services.wire.mapping import Mapper
from services.wire.messages import message_class

E = TypeVar("E")


class UnknownEventType(Rejection):
    """A type name or version that this build does not know: written by a newer build, or not ours."""

    rule = "DESIGN §3"
    remedy = "Read this journal with the build that wrote it, or a newer one."


@dataclass(frozen=True, slots=True)
class Past(Generic[E]):
    """An earlier shape of an event: its dataclass and message, and how to make today's event of it."""

    cls: type
    message: str
    upcast: Callable[[Any], E]

    def reader(self) -> Callable[[bytes], E]:
        """Decodes the old shape and gives today's event."""
        old: Mapper[Any] = Mapper(self.cls, message_class(self.message))
        return lambda data: self.upcast(old.decode(data))


class EventTypes(Generic[E]):
    """Encodes and decodes the events of one protobuf package, e.g. "holecard.shoe.v1".

    `versions` gives today's schema version of a class where it is not 1; `past` the earlier shapes by (class name, version).
    """

    def __init__(
        self,
        package: str,
        classes: Iterable[type[E]],
        *,
        versions: Mapping[str, int] | None = None,
        past: Mapping[tuple[str, int], Past[E]] | None = None,
    ) -> None:
        versions = versions or {}
        self.package = package
        self._by_class: dict[type, tuple[str, int, Mapper[E]]] = {}
        self._readers: dict[tuple[str, int], Callable[[bytes], E]] = {}
        for cls in classes:
            name = f"{package}.{cls.__name__}"
            codec = Mapper(cls, message_class(name))
            version = versions.get(cls.__name__, 1)
            self._by_class[cls] = (name, version, codec)
            self._readers[name, version] = codec.decode
        for (class_name, version), shape in (past or {}).items():
            self._readers[f"{package}.{class_name}", version] = shape.reader()

    @property
    def classes(self) -> tuple[type, ...]:
        """Every event class, in the order it was declared."""
        return tuple(self._by_class)

    def encode(self, event: E) -> tuple[str, int, bytes]:
        """Type name, schema version and payload of an event; raises KeyError for a class that was not declared."""
        name, version, codec = self._by_class[type(event)]
        return name, version, codec.encode(event)

    def decode(self, type_name: str, schema_version: int, payload: bytes) -> E:
        """The event, in today's shape; raises UnknownEventType or MalformedMessage."""
        try:
            reader = self._readers[type_name, schema_version]
        except KeyError:
            raise UnknownEventType(
                f"{type_name} version {schema_version} is not known to this build",
                type=type_name,
                schema_version=schema_version,
            ) from None
        return reader(payload)


class EventReader(Generic[E]):
    """A reader's own view of other areas' events: it takes from each message only the fields it declares.

    `views` maps a full type name to the dataclass that reads it; what is not named is not of interest and reads as None.
    """

    def __init__(self, views: Mapping[str, type[E]]) -> None:
        self._readers = {name: Mapper(cls, message_class(name), subset=True).decode for name, cls in views.items()}

    def read(self, type_name: str, payload: bytes) -> E | None:
        """The view of the event, or None when nobody declared one; raises MalformedMessage."""
        reader = self._readers.get(type_name)
        return None if reader is None else reader(payload)

"""Making immutable records cheaply.

A frozen dataclass sets each field through `object.__setattr__`, three to four times the cost of a plain one; a round
makes hundreds of records. `quick` gives a function that fills a plain twin of the class and turns it into the frozen
class at the end. Promises: the result is an instance of the class itself, equal to one made the usual way and as
immutable. Does not run `__post_init__`, so it refuses classes that have one. `replace` is `dataclasses.replace` done
the same way: it copies the slots, so that folding an event costs by what changes and not by how wide the state is.
A `Record` is quick by itself: it needs no maker, and `replace` takes it too.
"""

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields
from functools import cache
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from services.game.record import Record, changed

__all__ = ["assigner", "quick", "replace"]

P = ParamSpec("P")
T = TypeVar("T")


def quick(cls: Callable[P, T]) -> Callable[P, T]:
    """Give a maker of the frozen, slotted dataclass `cls`, with the same parameters and defaults.

    Raises `TypeError` for a class that is not such a dataclass, that inherits fields, or that has a `__post_init__`.
    """
    frozen = cast("Any", cls)
    names, twin = _twin_of(frozen)
    # A function is entered without leaving the interpreter, which calling a class with an `__init__` would cost.
    lines = [f"    made.{name} = {name}" for name in names]
    source = "\n".join(
        [
            f"def {frozen.__name__}({', '.join(names)}):",
            "    made = twin()",
            *lines,
            "    made.__class__ = frozen",
            "    return made",
        ]
    )
    scope: dict[str, Any] = {"frozen": frozen, "twin": twin}
    exec(source, scope)  # noqa: S102 - the names are the class's own fields, as in dataclasses itself
    maker: Any = scope[frozen.__name__]
    maker.__defaults__ = tuple(field.default for field in fields(frozen) if field.default is not MISSING)
    return cast("Callable[P, T]", maker)


def assigner(names: Iterable[str]) -> Callable[[Any, Any], None]:
    """Give what sets these attributes of its first argument to those of its second, as if written out by hand."""
    lines = [f"    made.{name} = record.{name}" for name in names]
    scope: dict[str, Any] = {}
    exec("\n".join(["def assign(made, record):", *lines, "    return"]), scope)  # noqa: S102 - as above
    return cast("Callable[[Any, Any], None]", scope["assign"])


if TYPE_CHECKING:
    from dataclasses import replace  # the type checker knows its keywords
else:

    def replace(record, /, **changes):
        """Give a copy of `record` with other values in the named fields, as `dataclasses.replace` does."""
        copy = _copier(type(record))
        if copy is None:
            otherwise = changed if isinstance(record, Record) else dataclasses.replace
            return otherwise(record, **changes)
        return copy(record, changes)


@cache
def _copier(cls: type) -> Callable[[Any, dict[str, Any]], Any] | None:
    """What copies records of the class with changes; None for a class that cannot be made the quick way."""
    try:
        names, twin = _twin_of(cls)
    except TypeError:
        return None
    source = "\n".join(
        [
            "def copy(record, changes):",
            "    made = twin()",
            *(f"    made.{name} = record.{name}" for name in names),
            "    for name, value in changes.items():",
            "        put(made, name, value)",
            "    made.__class__ = frozen",
            "    return made",
        ]
    )
    scope: dict[str, Any] = {"frozen": cls, "twin": twin, "put": setattr}
    exec(source, scope)  # noqa: S102 - as above
    return cast("Callable[[Any, dict[str, Any]], Any]", scope["copy"])


def _twin_of(frozen: Any) -> tuple[list[str], type]:
    """The fields of a class, and a plain class with the same slots; raises TypeError for one that cannot have it."""
    names = [field.name for field in fields(frozen)]
    if not frozen.__dataclass_params__.frozen or hasattr(frozen, "__post_init__"):
        raise TypeError(f"{frozen.__name__} must be a frozen dataclass without __post_init__")
    if tuple(frozen.__dict__.get("__slots__", ())) != tuple(names) or not names:
        raise TypeError(f"{frozen.__name__} must have slots, and all its fields must be its own")
    return names, type(frozen.__name__, (), {"__slots__": tuple(names)})

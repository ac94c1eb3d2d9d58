"""Making immutable records cheaply.

A frozen dataclass sets each field through `object.__setattr__`, three to four times the cost of a plain one; a round
makes hundreds of records. `quick` gives a function that fills a plain twin of the class and turns it into the frozen
class at the end. Promises: the result is an instance of the class itself, equal to one made the usual way and as
immutable. Does not run `__post_init__`, so it refuses classes that have one.
"""

from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")


def quick(cls: Callable[P, T]) -> Callable[P, T]:
    """Give a maker of the frozen, slotted dataclass `cls`, with the same parameters and defaults.

    Raises `TypeError` for a class that is not such a dataclass, that inherits fields, or that has a `__post_init__`.
    """
    frozen = cast("Any", cls)
    names = [field.name for field in fields(frozen)]
    if not frozen.__dataclass_params__.frozen or hasattr(frozen, "__post_init__"):
        raise TypeError(f"{frozen.__name__} must be a frozen dataclass without __post_init__")
    if tuple(frozen.__dict__.get("__slots__", ())) != tuple(names) or not names:
        raise TypeError(f"{frozen.__name__} must have slots, and all its fields must be its own")
    twin = type(frozen.__name__, (), {"__slots__": tuple(names)})
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

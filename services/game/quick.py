"""Making immutable records cheaply.

A frozen dataclass sets each field through `object.__setattr__`, three to four times the cost of a plain one; a round makes
hundreds of records. `quick` gives a constructor that fills a plain twin of the class and turns it into the frozen class at the
end. Promises: the result is an instance of the class itself, equal to one made the usual way and as immutable. Does not run
`__post_init__`, so it refuses classes that have one.
"""

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")


def quick(cls: Callable[P, T]) -> Callable[P, T]:
    """Give a constructor of the frozen, slotted dataclass `cls`, with the same parameters and defaults.

    Raises `TypeError` for a class that is not such a dataclass or that has a `__post_init__`.
    """
    frozen = cast("Any", cls)
    if not frozen.__dataclass_params__.frozen or "__slots__" not in frozen.__dict__ or hasattr(frozen, "__post_init__"):
        raise TypeError(f"{frozen.__name__} must be a frozen dataclass with slots and without __post_init__")
    names = [field.name for field in fields(frozen)]
    defaults = {field.name: field.default for field in fields(frozen) if field.default is not MISSING}
    twin: Any = dataclass(slots=True, eq=False)(
        type(frozen.__name__, (), {"__annotations__": dict.fromkeys(names, object), **defaults, "__module__": __name__})
    )
    twin.__init__ = _becoming(twin.__init__, frozen, names)
    return cast("Callable[P, T]", twin)


def _becoming(plain: Callable[..., None], frozen: Any, names: list[str]) -> Callable[..., None]:
    """Write an `__init__` that sets the fields and then becomes `frozen`: one call, since each call costs as much as a field."""
    lines = [f"    self.{name} = {name}" for name in names]
    source = "\n".join([f"def __init__(self, {', '.join(names)}):", *lines, "    self.__class__ = frozen"])
    scope: dict[str, Any] = {"frozen": frozen}
    exec(source, scope)  # noqa: S102 - the names are the class's own fields, as in dataclasses itself
    made: Any = scope["__init__"]
    made.__defaults__ = cast("Any", plain).__defaults__
    return cast("Callable[..., None]", made)

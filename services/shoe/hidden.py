"""A wrapper that keeps a secret out of every text.

Owns `Hidden`. Promises that a seed, an order or a face-down card does not appear in a repr, a log line, an error, a
format string or a pickle by accident. It guards against slips, not against code that asks with `open()`.
"""

from typing import Final, Generic, NoReturn, TypeVar

Secret_co = TypeVar("Secret_co", covariant=True)

SHOWN: Final = "<hidden>"


class Hidden(Generic[Secret_co]):
    """A value that shows as `<hidden>` everywhere; `open()` gives it to the one who needs it (DESIGN §6)."""

    __slots__ = ("__value",)

    def __init__(self, value: Secret_co, /) -> None:
        self.__value = value

    def open(self) -> Secret_co:
        """Give the value. Call it only where the value is used, never where something is written or sent."""
        return self.__value

    def __repr__(self) -> str:
        return SHOWN

    def __format__(self, format_spec: str, /) -> str:
        return SHOWN

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hidden) and bool(self.__value == other.open())

    def __hash__(self) -> NoReturn:
        raise TypeError("a hidden value has no hash: a hash would be a fingerprint of it")

    def __reduce__(self) -> NoReturn:
        raise TypeError("a hidden value is never pickled")

"""The state of an aggregate to bytes and back, for this machine and this build only.

Uses pickle's format because states are deep, share parts and are cut while commands run; but it reads with a closed list:
only the records, enumerations and cards of the game and of the area itself, nothing that could act. Promises: bytes that ask
for anything else are refused before it is made. Whoever uses it compares digest, build and log around it (`snapshots`).
"""

import io
import pickle
import sys
from collections.abc import Mapping
from dataclasses import is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from typing import Any

from services.game import cards
from services.game.quick import quick
from services.game.record import field_names, is_record_class
from services.game.round_pay import pay_table

_CARD = cards._card_from_text  # noqa: SLF001 - what a card's own __reduce__ names
_MAKERS: Mapping[tuple[str, str], Any] = {(one.__module__, one.__name__): one for one in (Fraction, _CARD, pay_table)}
"""What is not a record and is made by a call: each takes words and numbers, or rules, and does nothing else."""


class StateUnreadable(ValueError):
    """The bytes are no state of this build."""


def encode_state(state: object) -> bytes:
    """Return the bytes of a state; raises pickle's errors for one that has none, such as a secret that refuses."""
    file = io.BytesIO()
    _Writer(file, protocol=5).dump(state)
    return file.getvalue()


def decode_state(data: bytes, area: str) -> Any:
    """The state of an aggregate of that area; raises StateUnreadable."""
    try:
        return _Reader(io.BytesIO(data), area).load()
    except StateUnreadable:
        raise
    except Exception as error:  # damaged pickles raise nearly anything
        raise StateUnreadable(f"{len(data)} bytes are not a state ({type(error).__name__}: {error})") from error


@cache
def _quick(kind: type) -> Any:
    """What makes records of the class from all their fields in order; None for one that cannot be made so."""
    try:
        return quick(kind)
    except TypeError:
        return None


class _Writer(pickle.Pickler):
    def reducer_override(self, obj: object) -> Any:
        """Write a dataclass as its class and the values of its fields, which is read back many times faster."""
        kind = type(obj)
        if is_dataclass(kind) and _quick(kind) is not None:
            return kind, tuple(getattr(obj, name) for name in field_names(kind))
        return NotImplemented


class _Reader(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, area: str) -> None:
        super().__init__(file)
        self._packages = ("services.game.", f"services.{area}.")

    def find_class(self, module: str, name: str) -> Any:
        """Give the class of that name if it is on the list."""
        maker = _MAKERS.get((module, name))
        if maker is not None:
            return maker
        if module.startswith(self._packages) and module in sys.modules:
            found = getattr(sys.modules[module], name, None)
            if is_record_class(found):
                return _quick(found) or found
            if isinstance(found, type) and issubclass(found, Enum):
                return found
        raise StateUnreadable(f"a state holds no {module}.{name}")

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
from typing import Any

from services.game import cards
from services.game.round_pay import pay_table

_CARD = cards._card_from_text  # noqa: SLF001 - what a card's own __reduce__ names
_MAKERS: Mapping[tuple[str, str], Any] = {(one.__module__, one.__name__): one for one in (Fraction, _CARD, pay_table)}
"""What is not a record and is made by a call: each takes words and numbers, or rules, and does nothing else."""


class StateUnreadable(ValueError):
    """The bytes are no state of this build."""


def encode_state(state: object) -> bytes:
    """Return the bytes of a state; raises pickle's errors for one that has none, such as a secret that refuses."""
    return pickle.dumps(state, protocol=5)


def decode_state(data: bytes, area: str) -> Any:
    """The state of an aggregate of that area; raises StateUnreadable."""
    try:
        return _Reader(io.BytesIO(data), area).load()
    except StateUnreadable:
        raise
    except Exception as error:  # damaged pickles raise nearly anything
        raise StateUnreadable(f"{len(data)} bytes are not a state ({type(error).__name__}: {error})") from error


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
            if isinstance(found, type) and (is_dataclass(found) or issubclass(found, Enum)):
                return found
        raise StateUnreadable(f"a state holds no {module}.{name}")

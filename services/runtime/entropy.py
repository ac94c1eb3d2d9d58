"""The entropy port: where shuffles get their seed. Nothing else in the house draws a random number that matters."""

import hashlib
import secrets
from typing import Protocol


class Entropy(Protocol):
    """A source of unpredictable bytes."""

    def draw(self, count: int) -> bytes:
        """`count` bytes, 1 or more."""
        ...


class SystemEntropy:
    """The operating system's generator; fit for money."""

    def draw(self, count: int) -> bytes:
        """`count` bytes from the operating system."""
        return secrets.token_bytes(count)


class ReplayableEntropy:
    """SHA-256 over a seed and a counter: the same bytes in every run. For tests and simulations only."""

    def __init__(self, seed: str) -> None:
        self._seed = seed.encode()
        self._counter = 0

    def draw(self, count: int) -> bytes:
        """`count` bytes that follow from the seed and from how often was drawn before."""
        out = b""
        while len(out) < count:
            out += hashlib.sha256(self._seed + self._counter.to_bytes(8, "big")).digest()
            self._counter += 1
        return out[:count]

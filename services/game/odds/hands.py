"""Every hand a player can hold without being over 21, in one table, so that all of them are worked on at once.

Owns the enumeration: 3,082 sets of card values from the empty hand up. A hand's number leads to what one more card makes
of it. Does not know a shoe.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.game.odds.counts import NO_CARDS, POINTS, Counts, best_total

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

OVER: Final = -1
"""The number of no hand: one more card is too many."""


@dataclass(frozen=True, slots=True, eq=False)
class HandTable:
    """`cards[h]` the counts of hand h, `child[h, v]` the hand that value v makes of it (or `OVER`); totals, sizes, softness.

    `by_hard` has the hands of each hard sum, so that working from high to low meets every child before its parent.
    """

    number: dict[Counts, int]
    cards: Ints
    child: Ints
    total: Ints
    size: Ints
    soft: Flags
    by_hard: tuple[Ints, ...]


@lru_cache(1)
def hand_table() -> HandTable:
    """The one table."""
    found: list[Counts] = []
    _grow(NO_CARDS, 0, 0, found)
    number = {counts: index for index, counts in enumerate(found)}
    hard = [sum(point * count for point, count in zip(POINTS, counts, strict=True)) for counts in found]
    child = np.full((len(found), 10), OVER, dtype=np.int64)
    for counts, index in number.items():
        for value in range(10):
            child[index, value] = number.get((*counts[:value], counts[value] + 1, *counts[value + 1 :]), OVER)
    totals = [best_total(counts) for counts in found]
    hards = np.array(hard)
    return HandTable(
        number,
        np.array(found, dtype=np.int64),
        child,
        np.array([total for total, _ in totals]),
        np.array([sum(counts) for counts in found]),
        np.array([soft for _, soft in totals]),
        tuple(np.flatnonzero(hards == value) for value in range(22)),
    )


def _grow(counts: Counts, least: int, hard: int, found: list[Counts]) -> None:
    """Add this hand, and those that further cards of at least this value make of it."""
    found.append(counts)
    for value in range(least, 10):
        if hard + POINTS[value] <= 21:
            _grow(
                (*counts[:value], counts[value] + 1, *counts[value + 1 :]),
                value,
                hard + POINTS[value],
                found,
            )

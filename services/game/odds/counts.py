"""Cards as the odds see them: ten values, and how many of each are left.

Owns the order of the values and the text forms. Suits and the names of the ten-valued cards do not matter to a total; side
wagers, where they do, are counted elsewhere.
"""

from collections.abc import Sequence
from typing import Final

ACE: Final = 0
TEN: Final = 9
RANKS: Final = "A23456789T"
"""The ten values by index; T stands for ten, jack, queen and king."""
POINTS: Final = tuple(range(1, 11))
"""What each value counts with an ace as one (30-806)."""

Counts = tuple[int, ...]
"""How many cards of each of the ten values."""

NO_CARDS: Final[Counts] = (0,) * 10
MOST_DECKS: Final = 8
INFINITE_DECKS: Final = 10_000_000
"""Stands for an infinite shoe: removing a dozen cards changes no probability in its first seven digits."""


class UnknownOddsCard(ValueError):
    """Text that names no card, or more cards of a value than the shoe has; the message says which."""


def shoe_counts(decks: int, *, tens_a_deck: int = 16) -> Counts:
    """The cards of full decks: four of each value and `tens_a_deck` tens (12 in a Spanish deck, which has no pip tens)."""
    return (*(4 * decks for _ in range(9)), tens_a_deck * decks)


def rank_index(text: str) -> int:
    """The index of a card's value: A, 2 to 9, or T, 10, J, Q, K; raises UnknownOddsCard."""
    name = text.strip().upper()
    if name in {"10", "J", "Q", "K"}:
        return TEN
    if len(name) != 1 or name not in RANKS:
        raise UnknownOddsCard(f"{text!r} is no card value: write A, 2 to 9, or T (10, J, Q, K)")
    return RANKS.index(name)


def hand_counts(text: str) -> Counts:
    """The counts of cards written together or apart, "T6" or "10 6"; raises UnknownOddsCard."""
    words = text.replace(",", " ").replace("10", "T").split()
    return counts_of([rank_index(letter) for word in words for letter in word])


def counts_of(indices: Sequence[int]) -> Counts:
    """The counts of cards given by index."""
    counts = [0] * 10
    for index in indices:
        counts[index] += 1
    return tuple(counts)


def without(counts: Counts, *indices: int) -> Counts:
    """The counts after these cards are gone; raises UnknownOddsCard when there are not so many."""
    left = list(counts)
    for index in indices:
        left[index] -= 1
        if left[index] < 0:
            raise UnknownOddsCard(f"the shoe has only {counts[index]} cards of value {RANKS[index]}")
    return tuple(left)


def best_total(counts: Counts) -> tuple[int, bool]:
    """The hand's total and whether it is soft (30-806)."""
    hard = sum(point * count for point, count in zip(POINTS, counts, strict=True))
    soft = counts[ACE] > 0 and hard <= 11
    return (hard + 10 if soft else hard), soft

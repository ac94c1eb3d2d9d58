"""How surveillance counts a hand: written again from 30-806, not shared with the game that it checks.

Owns totals, naturals and pairs over cards as they are seen; a card that nobody has seen is left out by the caller.
"""

from collections.abc import Iterable, Sequence

from services.game.cards import Card

_PIPS = {"T": 10, "J": 10, "Q": 10, "K": 10, "A": 1} | {str(n): n for n in range(2, 10)}


def count(cards: Iterable[Card]) -> tuple[int, bool]:
    """The total and whether it is soft: one ace counts 11 as long as that stays within 21 (30-802, 30-806(1)(c))."""
    pips = [_PIPS[card.rank] for card in cards]
    hard = sum(pips)
    soft = 1 in pips and hard + 10 <= 21
    return (hard + 10, True) if soft else (hard, False)


def is_natural(cards: Sequence[Card], *, from_split: bool) -> bool:
    """An ace and a ten-value card as the first two cards dealt; never after a split (30-802(1), 30-814)."""
    return not from_split and len(cards) == 2 and sorted(_PIPS[card.rank] for card in cards) == [1, 10]


def same_value(first: Card, second: Card) -> bool:
    """Equal in value: king and queen are, ace and ten are not (30-814)."""
    return _PIPS[first.rank] == _PIPS[second.rank]


def is_ten_value(card: Card) -> bool:
    """A ten, jack, queen or king."""
    return _PIPS[card.rank] == 10


def total_text(cards: Sequence[Card]) -> str:
    """A total as a dealer says it: "soft 17", "12", "" without cards."""
    if not cards:
        return ""
    total, soft = count(cards)
    return f"soft {total}" if soft else str(total)

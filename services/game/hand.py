"""What a set of cards is worth: totals, bust, blackjack (30-802, 30-806, 30-825).

Owns the arithmetic of a hand and nothing of its stake or turn. Every total exists once, so that the round can ask at
each card. A hand is any iterable of cards; order never matters.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from services.game.cards import Card


@dataclass(frozen=True, slots=True)
class Total:
    """A point count. `value` is 0 upwards, over 21 is bust; `soft` says that one ace counts as 11 (30-802(6), (11))."""

    value: int
    soft: bool

    @property
    def is_bust(self) -> bool:
        """Over 21, which loses at once (30-807)."""
        return self.value > 21

    def plus(self, card: Card) -> "Total":
        """Give the total after one more card: cheaper than counting the hand again, and never different."""
        points = self.value - 10 if self.soft else self.value
        points += card.points
        if points >= _KNOWN_SUMS:
            return Total(points, soft=False)
        # A hard total may hold aces, but then one more at 11 would bust: it is as good as a hand without one.
        return _WITH_ACE[points] if self.soft or card.is_ace else _WITHOUT_ACE[points]

    def __str__(self) -> str:
        return f"soft {self.value}" if self.soft else str(self.value)


# By the sum with every ace as 1, without and with an ace. An ace is 11 unless that makes more than 21 (30-806(1)(c)).
_KNOWN_SUMS: Final = 64
_WITHOUT_ACE: Final = tuple(Total(points, soft=False) for points in range(_KNOWN_SUMS))
_WITH_ACE: Final = tuple(
    Total(points + 10, soft=True) if points <= 11 else _WITHOUT_ACE[points] for points in range(_KNOWN_SUMS)
)


def total(cards: Iterable[Card]) -> Total:
    """Count a hand: each ace as 1, and one of them as 11 when that stays within 21 (30-806(1)(c)).

    No cards count 0. The same total is the same object, up to 63 points.
    """
    points = 0
    ace = False
    for card in cards:
        points += card.points
        if card.is_ace:
            ace = True
    if points >= _KNOWN_SUMS:
        return Total(points, soft=False)
    return _WITH_ACE[points] if ace else _WITHOUT_ACE[points]


def is_bust(cards: Iterable[Card]) -> bool:
    """Tell whether every way of counting gives more than 21."""
    return sum(card.points for card in cards) > 21


def is_blackjack(cards: Collection[Card], *, from_split: bool) -> bool:
    """Tell whether this is an ace and a ten-value card as the initial two cards (30-802(1)).

    A hand that came from a split never is, whatever it holds: its cards are not the initial two (30-814).
    """
    if from_split or len(cards) != 2:
        return False
    first, second = cards
    return (first.is_ace and second.is_ten) or (first.is_ten and second.is_ace)

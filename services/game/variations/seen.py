"""The cards that a side wager looks at, and small words about them.

Owns `Seen`, the whole input of every evaluator. Suits, ranks and colours are those of 30-806.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from services.game.cards import Card

RED: Final = frozenset("dh")
RANK_ORDER: Final = "A23456789TJQK"
"""From the lowest, the ace low; where an ace is high the evaluator says so."""
FACES: Final = frozenset("JQK")


class Looks(Enum):
    """What of the deal an evaluator looks at, from the least to the most."""

    FIRST_TWO = "the player's first two cards"
    WITH_UP_CARD = "the player's first two cards and the dealer's up card"
    WITH_BLACKJACK = "the player's first two cards, and whether the dealer has a blackjack"


@dataclass(frozen=True, slots=True)
class Seen:
    """The deal as far as the wager looks at it; what it does not look at is None."""

    first: Card
    second: Card
    up: Card | None = None
    dealer_blackjack: bool = False


Award = str
Evaluate = Callable[[Seen], Sequence[Award]]
"""The awards that the cards win, none when the wager loses; where several are given their pays add up."""


@dataclass(frozen=True, slots=True)
class Evaluator:
    """One side wager's eye: what it looks at, every award it knows, the best first, and the function that names them.

    `in_order` says that the player's first card is not just any of the two.
    """

    name: str
    looks: Looks
    awards: tuple[Award, ...]
    evaluate: Evaluate
    in_order: bool = False


def is_red(card: Card) -> bool:
    """Whether the card is a diamond or a heart."""
    return card.suit in RED


def same_suit(*cards: Card) -> bool:
    """Whether all are of one suit."""
    return len({card.suit for card in cards}) == 1


def same_rank(*cards: Card) -> bool:
    """Whether all are of one rank; a king and a queen are not."""
    return len({card.rank for card in cards}) == 1


def low(card: Card) -> int:
    """The rank's place with the ace low, 0 to 12."""
    return RANK_ORDER.index(card.rank)


def high(card: Card) -> int:
    """The rank's place with the ace high, 1 to 13."""
    return low(card) or 13


def is_two_card_21(first: Card, second: Card) -> bool:
    """Whether the two are an ace and a ten-valued card."""
    return (first.is_ace and second.is_ten) or (second.is_ace and first.is_ten)


def two_card_total(first: Card, second: Card) -> int:
    """The total of two cards, an ace as eleven while that is no bust (30-806)."""
    return 12 if first.is_ace and second.is_ace else first.value + second.value


def is_straight(cards: Sequence[Card]) -> bool:
    """Whether three cards are of neighbouring ranks, the ace low or high."""
    for place in (low, high):
        places = sorted(place(card) for card in cards)
        if places[0] + 2 == places[1] + 1 == places[2]:
            return True
    return False

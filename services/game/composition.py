"""How many of each card a stack holds (30-806(2)): what was loaded, what is left, what must come back.

Owns counting. Promises that no count falls below zero. Says nothing about order.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from services.game.cards import Card, standard_deck
from services.game.rule_rejections import CompositionExceeded


@dataclass(frozen=True, slots=True)
class Composition:
    """A multiset of cards: `counts[card.order]` says how many there are, 0 upwards, for the 52 cards in deck order."""

    counts: tuple[int, ...] = (0,) * 52

    @classmethod
    def of(cls, cards: Iterable[Card]) -> Self:
        """Count these cards."""
        counted = Counter(cards)
        return cls(tuple(counted[card] for card in standard_deck()))

    @classmethod
    def of_decks(cls, decks: int) -> Self:
        """Count `decks` standard decks (0 upwards)."""
        if decks < 0:
            raise ValueError(f"decks are counted from 0: {decks}")
        return cls((decks,) * 52)

    def __post_init__(self) -> None:
        if len(self.counts) != 52 or min(self.counts) < 0:
            raise ValueError("a composition has 52 counts of 0 upwards")

    def __len__(self) -> int:
        return sum(self.counts)

    def __getitem__(self, card: Card) -> int:
        return self.counts[card.order]

    def __iter__(self) -> Iterator[tuple[Card, int]]:
        return iter(zip(standard_deck(), self.counts, strict=True))

    def add(self, cards: Iterable[Card]) -> Self:
        """Give the composition with these cards put in."""
        counts = list(self.counts)
        for card in cards:
            counts[card.order] += 1
        return type(self)(tuple(counts))

    def remove(self, cards: Iterable[Card]) -> Self:
        """Give the composition with these cards taken out; raise `CompositionExceeded` for a card that is not there."""
        counts = list(self.counts)
        for card in cards:
            if counts[card.order] == 0:
                raise CompositionExceeded(f"no {card} is left to take out", card=str(card))
            counts[card.order] -= 1
        return type(self)(tuple(counts))

    def is_decks(self, decks: int) -> bool:
        """Tell whether these are exactly so many standard decks."""
        return self.counts == (decks,) * 52

    def differences(self, expected: "Composition") -> tuple[tuple[Card, int], ...]:
        """List each card whose count is not the expected one, with how many too many (+) or too few (-)."""
        return tuple(
            (card, have - want)
            for card, have, want in zip(standard_deck(), self.counts, expected.counts, strict=True)
            if have != want
        )

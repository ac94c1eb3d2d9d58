"""The chance of every card and every dealer's total, for all hands of the table at once.

Owns what one state of the shoe says: the cards without those that are known. Where the dealer has looked and has no
blackjack, his hidden card is known not to complete one, which makes ten-valued cards (or aces) a little likelier for
everybody else.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import numpy as np

from services.game.odds.counts import Counts
from services.game.odds.dealer import BLACKJACK, BUST, completing_card, endings
from services.game.odds.hands import Flags, Floats, Ints, hand_table
from services.game.rule_options import Soft17

COLUMNS: Final = (17, 18, 19, 20, 21, BLACKJACK, BUST)
"""The dealer's finals by column; bust is what is left over, so it need not be counted."""


class ShoeView:
    """The shoe as each hand of the table sees it; `shoe` lacks the up card and whatever else is known to be out.

    `peeked` says that the dealer is known to have no blackjack. `possible` marks the hands that this shoe can deal.
    """

    def __init__(self, shoe: Counts, up: int, *, peeked: bool) -> None:
        table = hand_table()
        left = np.array(shoe, dtype=np.int64) - table.cards
        self.possible: Flags = np.asarray((left >= 0).all(axis=1), dtype=np.bool_)
        self._left = np.where(left > 0, left, 0).astype(np.float64)
        self._cards = np.maximum(self._left.sum(axis=1), 1.0)
        self._up = up
        self._barred = completing_card(up) if peeked else None

    def draws(self) -> Floats:
        """For each hand the chance of each value as its next card."""
        left, cards, barred = self._left, self._cards, self._barred
        if barred is None:
            return np.asarray(left / cards[:, None])
        # The hidden card is none of the barred value: all of those are among the other cards.
        others = np.maximum(cards - 1, 1.0)
        free = np.maximum(cards - left[:, barred], 1.0)
        chance = left * ((free - 1) / (free * others))[:, None]
        chance[:, barred] = left[:, barred] / others
        return np.asarray(chance)

    def dealer(self, soft17: Soft17, wanted: Ints) -> Floats:
        """For each of the `wanted` hands the chance of each of `COLUMNS`."""
        left, cards = self._left[wanted], self._cards[wanted]
        falling = [_falling(left[:, value]) for value in range(10)]
        orders = [np.ones(len(wanted))]
        for drawn in range(_MOST_DRAWN):
            orders.append(orders[-1] / np.maximum(cards - drawn, 1.0))
        chances = np.zeros((len(wanted), len(COLUMNS)))
        for ending_groups in _tree(self._up, soft17):
            _add(ending_groups, falling, orders, chances)
        if self._barred is not None:
            blackjack = COLUMNS.index(BLACKJACK)
            none = 1 - chances[:, blackjack]
            chances[:, blackjack] = 0
            chances /= np.maximum(none, 1e-300)[:, None]
        chances[:, -1] = 1 - chances[:, :-1].sum(axis=1)
        return chances


_MOST_DRAWN: Final = 17
_Node = tuple[int, int, tuple["_Leaf", ...], tuple["_Node", ...]]
"""A value, how many of it, the hands that end there, and the longer ones."""
_Leaf = tuple[int, int, int]
"""Orders, number of cards drawn, column."""


def _falling(count: Floats) -> list[Floats]:
    """The count's falling powers: how many ways there are to draw one, two, … in order."""
    powers = [np.ones_like(count)]
    for taken in range(_MOST_DRAWN):
        powers.append(powers[-1] * np.maximum(count - taken, 0.0))
    return powers


@lru_cache(64)
def _tree(up: int, soft17: Soft17) -> tuple[_Node, ...]:
    """The dealer's hands that are not bust, sharing what they have in common."""
    hands = [
        (tuple((value, count) for value, count in enumerate(ending.drawn) if count), ending)
        for ending in endings(up, soft17)
        if ending.final != BUST
    ]
    rows = sorted((key, (e.orders, sum(e.drawn), COLUMNS.index(e.final))) for key, e in hands)
    return tuple(_nodes(rows, 0))


def _nodes(rows: list[tuple[tuple[tuple[int, int], ...], _Leaf]], depth: int) -> Iterator[_Node]:
    heads = sorted({key[depth] for key, _ in rows if len(key) > depth})
    for value, count in heads:
        under = [row for row in rows if len(row[0]) > depth and row[0][depth] == (value, count)]
        leaves = tuple(leaf for key, leaf in under if len(key) == depth + 1)
        yield value, count, leaves, tuple(_nodes(under, depth + 1))


def _add(
    node: _Node, falling: list[list[Floats]], orders: list[Floats], chances: Floats, ways: Floats | None = None
) -> None:
    value, count, leaves, longer = node
    here = falling[value][count] if ways is None else ways * falling[value][count]
    for number, drawn, column in leaves:
        chances[:, column] += number * here * orders[drawn]
    for child in longer:
        _add(child, falling, orders, chances, here)

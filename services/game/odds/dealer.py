"""How the dealer's hand ends: every set of cards it can draw, and the exact chance of each final total.

Owns the dealer's drawing rule as the odds use it (30-826): draw to 17, a soft 17 by the house's rule. The cards of a hand
are counted once, with the number of orders in which the dealer would draw them.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from services.game.odds.counts import ACE, NO_CARDS, POINTS, TEN, Counts, UnknownOddsCard
from services.game.rule_options import Soft17

BUST: Final = 22
BLACKJACK: Final = 23
FINALS: Final = (17, 18, 19, 20, 21, BUST, BLACKJACK)
"""How a dealer's hand can end: a total, `BUST`, or `BLACKJACK`, which is no 21 but above it."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Cards that complete a dealer's hand, the number of orders in which they can come, and the final total."""

    drawn: Counts
    orders: int
    final: int


@lru_cache(64)
def endings(up: int, soft17: Soft17) -> tuple[Ending, ...]:
    """Every way in which the hand with this up card (an index) can end, blackjacks among them."""
    found: Counter[tuple[Counts, int]] = Counter()
    _draw(POINTS[up], up == ACE, NO_CARDS, soft17, found)
    return tuple(Ending(drawn, orders, final) for (drawn, final), orders in sorted(found.items()))


def _draw(hard: int, has_ace: bool, drawn: Counts, soft17: Soft17, found: Counter[tuple[Counts, int]]) -> None:
    total = hard + 10 if has_ace and hard <= 11 else hard
    cards = sum(drawn)
    if total > 21:
        found[drawn, BUST] += 1
        return
    if cards == 1 and total == 21:
        found[drawn, BLACKJACK] += 1
        return
    if cards and total >= 17 and not (total == 17 and hard == 7 and soft17 is Soft17.HIT):
        found[drawn, total] += 1
        return
    for index, points in enumerate(POINTS):
        taken = (*drawn[:index], drawn[index] + 1, *drawn[index + 1 :])
        _draw(hard + points, has_ace or index == ACE, taken, soft17, found)


def dealer_odds(up: int, shoe: Counts, soft17: Soft17, *, peeked: bool = False) -> Mapping[int, Fraction]:
    """The exact chance of each of `FINALS`, the cards in `shoe` being what is left without the up card.

    `peeked` asks for the chances after the dealer has looked and has no blackjack. Raises UnknownOddsCard when the shoe
    cannot end every hand.
    """
    if sum(shoe) < 10:
        raise UnknownOddsCard(f"a dealer's hand can need ten more cards; {sum(shoe)} are left")
    chances = dict.fromkeys(FINALS, Fraction(0))
    for ending in endings(up, soft17):
        chances[ending.final] += ending.orders * _chance(ending.drawn, shoe)
    if peeked:
        none = 1 - chances[BLACKJACK]
        chances = {final: chance / none for final, chance in chances.items()}
        chances[BLACKJACK] = Fraction(0)
    return chances


def _chance(drawn: Counts, shoe: Counts) -> Fraction:
    """The chance that the next cards are these in one given order."""
    ways, cards, left = 1, 1, sum(shoe)
    for wanted, count in zip(drawn, shoe, strict=True):
        for taken in range(wanted):
            ways *= max(count - taken, 0)
            cards *= left
            left -= 1
    return Fraction(ways, cards)


def completing_card(up: int) -> int | None:
    """The index of the hole card that makes a blackjack with this up card; None when none does."""
    return {ACE: TEN, TEN: ACE}.get(up)

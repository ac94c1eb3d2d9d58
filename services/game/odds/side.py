"""Exact odds of a side wager: every deal that it can look at, counted.

Owns the counting. A deal is two cards of the player's (in any order), the up card where the wager looks at it, and the
chance of a dealer's blackjack where that matters; its weight is the number of ways in which the shoe gives it. All results
are fractions.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement

from services.game.cards import Card, standard_deck
from services.game.variations.seen import Evaluator, Looks, Seen

Deal = tuple[Seen, int]


@dataclass(frozen=True, slots=True)
class SideOdds:
    """The chances of each award, and what they make of a pay table.

    `chances` are by award, or awards joined by "+" where several pay together; `gain` is the expected gain for one staked
    (the house edge is its negative), `hit_rate` the chance to win anything, `variance` that of the gain.
    """

    deals: int
    chances: Mapping[str, Fraction]
    gain: Fraction
    hit_rate: Fraction
    variance: Fraction

    @property
    def house_edge(self) -> Fraction:
        """What the player loses of each stake on average."""
        return -self.gain


def side_odds(evaluator: Evaluator, pays: Mapping[str, Fraction], decks: int, *, spanish: bool = False) -> SideOdds:
    """Count every deal from `decks` full decks (1 to 8); `spanish` ones have no pip tens."""
    ways: Counter[tuple[str, ...]] = Counter()
    for seen, weight in _deals(evaluator, _cards(spanish=spanish), decks):
        ways[tuple(sorted(evaluator.evaluate(seen)))] += weight
    deals = sum(ways.values())
    gains = {awards: _gain(awards, pays) for awards in ways}
    chances = {awards: Fraction(count, deals) for awards, count in ways.items()}
    gain = sum((chances[awards] * gains[awards] for awards in ways), Fraction(0))
    square = sum((chances[awards] * gains[awards] ** 2 for awards in ways), Fraction(0))
    return SideOdds(
        deals,
        {"+".join(awards): chance for awards, chance in sorted(chances.items(), key=lambda row: row[1]) if awards},
        gain,
        sum((chances[awards] for awards in ways if gains[awards] > 0), Fraction(0)),
        square - gain**2,
    )


def _gain(awards: tuple[str, ...], pays: Mapping[str, Fraction]) -> Fraction:
    """What the awards pay together; the stake is lost when none of them is in the pay table."""
    paid = [pays[award] for award in awards if award in pays]
    return sum(paid, Fraction(0)) if paid else Fraction(-1)


def _cards(*, spanish: bool) -> list[Card]:
    return [card for card in standard_deck() if not (spanish and card.rank == "T")]


def _deals(evaluator: Evaluator, cards: list[Card], decks: int) -> Iterator[Deal]:
    left = dict.fromkeys(cards, decks)
    for first, second in combinations_with_replacement(cards, 2):
        ways = decks * (decks - 1) // 2 if first is second else decks * decks
        if not ways:
            continue
        left[first] -= 1
        left[second] -= 1
        for seen, weight in _with_dealer(evaluator.looks, first, second, left):
            yield seen, ways * weight
            if evaluator.in_order:
                yield Seen(seen.second, seen.first, seen.up, seen.dealer_blackjack), ways * weight
        left[first] += 1
        left[second] += 1


def _with_dealer(looks: Looks, first: Card, second: Card, left: dict[Card, int]) -> Iterator[Deal]:
    if looks is Looks.FIRST_TWO:
        yield Seen(first, second), 1
    elif looks is Looks.WITH_UP_CARD:
        yield from ((Seen(first, second, up), count) for up, count in left.items() if count)
    else:
        rest = sum(left.values())
        aces = sum(count for card, count in left.items() if card.is_ace)
        tens = sum(count for card, count in left.items() if card.is_ten)
        yield Seen(first, second, dealer_blackjack=True), 2 * aces * tens
        yield Seen(first, second), rest * (rest - 1) - 2 * aces * tens

"""The value of splitting a pair, exactly, with every further split that the rules allow.

The hands of a split share the shoe, so each one's chances depend on what the others drew. Two facts make that tractable.
What another hand draws beyond its second card tells nothing (cards in random order are exchangeable), so only the second
cards matter: which of them were further pair cards, which were not. And the chance that m of them are no pair cards
follows from the chances that some of them are, by inclusion and exclusion. So the sum over all ways to split needs the
value of one hand in a few states of the shoe only: with 0, 1, 2, … further pair cards gone. The method is that of
P. A. Griffin ("The Theory of Blackjack") and E. Farmer; each hand is played by one policy, the best one while nothing is
known of the other hand.
"""

from collections import Counter
from functools import lru_cache
from math import comb
from typing import NamedTuple

import numpy as np

from services.game.house_rules import HouseRules
from services.game.odds.chances import ShoeView
from services.game.odds.counts import ACE, Counts, counts_of, without
from services.game.odds.hands import Ints, hand_table
from services.game.odds.plays import Play, value_plays


class Shape(NamedTuple):
    """How a split can end.

    `resplits` further pair cards were split, `odd` hands got another card second, and `free` hands any card, since no
    further split was allowed.
    """

    resplits: int
    odd: int
    free: int


@lru_cache(8)
def shapes(most_hands: int) -> Counter[Shape]:
    """Every way in which the second cards can come, with the number of orders; `most_hands` is 2 to 4 (30-814)."""
    found: Counter[Shape] = Counter()
    _deal(2, 2, Shape(0, 0, 0), most_hands, found)
    return found


def _deal(hands: int, waiting: int, shape: Shape, most_hands: int, found: Counter[Shape]) -> None:
    if hands >= most_hands or not waiting:
        found[shape._replace(free=waiting)] += 1
        return
    _deal(hands + 1, waiting + 1, shape._replace(resplits=shape.resplits + 1), most_hands, found)
    _deal(hands, waiting - 1, shape._replace(odd=shape.odd + 1), most_hands, found)


def split_value(
    rules: HouseRules, up: int, shoe: Counts, pair: int, *, peeked: bool, policy: Ints | None = None
) -> float:
    """The expected gain of splitting two cards of value `pair`; `shoe` lacks the up card only.

    `policy` is followed in each hand where the rules allow its play after a split; without one the best is played.
    """
    most_hands = 2 if pair == ACE and not rules.resplit_aces else rules.max_hands
    ways = shapes(most_hands)
    deepest = max(shape.resplits + shape.odd for shape in ways)
    states = _states(rules, up, without(shoe, pair), pair, deepest, peeked=peeked, policy=policy)
    total = 0.0
    for shape, orders in ways.items():
        if shape.odd:
            total += orders * shape.odd * _joint(states, shape.resplits, shape.odd - 1, free=False)
        if shape.free:
            total += orders * shape.free * _joint(states, shape.resplits, shape.odd, free=True)
    return total


class _State(NamedTuple):
    """Some further pair cards are gone: the chance of that, and a hand's value if its second card is any, or no pair."""

    chance: float
    free: float
    odd: float


def _joint(states: list[_State], pairs: int, others: int, *, free: bool) -> float:
    """One hand's value times the chance that `pairs` second cards are pair cards and `others` are none."""
    total = 0.0
    for too_many in range(others + 1):
        state = states[pairs + too_many]
        total += (-1) ** too_many * comb(others, too_many) * state.chance * (state.free if free else state.odd)
    return total


def _states(
    rules: HouseRules, up: int, shoe: Counts, pair: int, deepest: int, *, peeked: bool, policy: Ints | None
) -> list[_State]:
    table = hand_table()
    one = table.number[counts_of([pair])]
    wanted = table.cards[:, pair] > 0
    aces_stand = pair == ACE and not rules.hit_split_aces
    may_double = pair != ACE or (rules.double_after_split_aces and rules.hit_split_aces)
    if policy is not None and not (may_double and rules.double_after_split):
        policy = np.where(policy == Play.DOUBLE, int(Play.HIT), policy)
    states: list[_State] = []
    chance = 1.0
    for gone in range(deepest + 1):
        if shoe[pair] < gone:
            # There are no more pair cards: the states beyond cannot happen.
            states.append(_State(0.0, 0.0, 0.0))
            continue
        view = ShoeView(without(shoe, *[pair] * gone), up, peeked=peeked)
        values = value_plays(rules, view, wanted=wanted, after_split=True, may_double=may_double, policy=policy)
        policy = values.policy if policy is None else policy
        worth = (values.stand if aces_stand else values.best)[table.child[one]]
        draws = view.draws()[one]
        free = float(draws @ worth)
        states.append(_State(chance, free, free - float(draws[pair] * worth[pair])))
        chance *= float(draws[pair])
    return states

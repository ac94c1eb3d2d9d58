"""The policy of a player who looks at his total only, as printed strategy cards do.

Owns the choice of one play for each total, hard or soft, against one up card: the best on average over the hands that lead
there. Published edges are often those of such a strategy; the best play for the very cards is worth a little more.
"""

from typing import Final

import numpy as np

from services.game.odds.counts import counts_of
from services.game.odds.hands import OVER, Floats, Ints, hand_table
from services.game.odds.plays import NEVER, Play, Values

_ROUNDS: Final = 3
"""Which hands of three cards and more occur depends on the policy; it stands still after this many rounds."""


def policy_by_total(values: Values, draws: Floats, shoe_chance: Floats) -> Ints:
    """The policy for every hand of the table; `shoe_chance` is the chance of each two-card hand, 0 for the others."""
    table = hand_table()
    policy = np.where(values.stand >= values.hit, int(Play.STAND), int(Play.HIT))
    groups = [
        np.flatnonzero((table.total == total) & (table.soft == soft)) for total in range(4, 22) for soft in (0, 1)
    ]
    for _ in range(_ROUNDS):
        reached = _reached(policy, draws, shoe_chance)
        for group in groups:
            weight = reached[group]
            if weight.sum() <= 0:
                continue
            stands = (weight * values.stand[group]).sum() >= (weight * values.hit[group]).sum()
            policy[group] = Play.STAND if stands else Play.HIT
    for group in groups:
        _double(policy, values, shoe_chance, group)
    return policy


def _double(policy: Ints, values: Values, shoe_chance: Floats, group: Ints) -> None:
    """Let the first two cards of a total be doubled where that is best on average, or given up."""
    two = group[hand_table().size[group] == 2]
    weight = shoe_chance[two]
    if weight.sum() <= 0:
        return
    plain = (weight * np.where(policy[two] == Play.STAND, values.stand[two], values.hit[two])).sum()
    if (values.double[two] > NEVER).all() and (weight * values.double[two]).sum() > plain:
        policy[two] = Play.DOUBLE


def _reached(policy: Ints, draws: Floats, shoe_chance: Floats) -> Floats:
    """How likely each hand is to be looked at, under the policy; doubled hands are not looked at again."""
    table = hand_table()
    reached = shoe_chance.copy()
    for level in table.by_hard:
        for hand in level[(policy[level] == Play.HIT) & (reached[level] > 0)]:
            for value in range(10):
                child = table.child[hand, value]
                if child != OVER:
                    reached[child] += reached[hand] * draws[hand, value]
    return reached


def two_card_chances(draws_of_first: Floats) -> Floats:
    """The chance of every two-card hand, from the draws of each hand of the table."""
    table = hand_table()
    chance = np.zeros(len(table.total))
    nothing = table.number[counts_of([])]
    for first in range(10):
        one = table.child[nothing, first]
        for second in range(10):
            chance[table.child[one, second]] += draws_of_first[nothing, first] * draws_of_first[one, second]
    return chance

"""The value of standing, drawing, doubling and giving up, for every hand against one up card.

Owns a player's plays after the split question is out of the way. Values are expected gains in units of the first stake;
where the dealer looks for a blackjack, they hold after he has looked and has none. Pays come from the rule set's table.
"""

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Final

import numpy as np

from services.game.house_rules import HouseRules
from services.game.odds.chances import COLUMNS, ShoeView
from services.game.odds.counts import ACE, TEN
from services.game.odds.dealer import BLACKJACK, BUST
from services.game.odds.hands import OVER, Flags, Floats, Ints, hand_table
from services.game.rule_options import DealerBlackjackTakes, DoubleOn, HoleCard, Surrender
from services.game.wager_kinds import FinishedHand, MainResult, net_of


class Play(IntEnum):
    """A player's choice; the order settles ties, the earlier one being played."""

    STAND = 0
    HIT = 1
    DOUBLE = 2
    SURRENDER = 3
    SPLIT = 4


GIVEN_UP: Final = -0.5
NEVER: Final = -9.0
"""The value of a play that the rules do not allow: below every real one."""


def looks_first(rules: HouseRules, up: int) -> bool:
    """Whether values are taken after the dealer is known to have no blackjack.

    True where he looks, and also where a late blackjack takes the original wager only: it costs one stake then whatever the
    player did, so it changes no choice.
    """
    if rules.dealer_blackjack_takes is DealerBlackjackTakes.ORIGINAL:
        return True
    if up == ACE:
        return rules.hole_card in {HoleCard.PEEK_ACE_TEN, HoleCard.PEEK_ACE}
    return up != TEN or rules.hole_card is HoleCard.PEEK_ACE_TEN


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """For every hand of the table the value of each play, and of the best one or of a given policy."""

    stand: Floats
    hit: Floats
    double: Floats
    best: Floats
    policy: Ints


def value_plays(
    rules: HouseRules,
    view: ShoeView,
    *,
    wanted: Flags | None = None,
    after_split: bool = False,
    may_double: bool = True,
    policy: Ints | None = None,
) -> Values:
    """The values against one state of the shoe; `policy` (a `Play` for each hand) is followed instead of the best play.

    `wanted` narrows the work to some hands and must hold every hand that they can become.
    """
    table = hand_table()
    chosen: Flags = view.possible if wanted is None else np.asarray(view.possible & wanted)
    rows = np.flatnonzero(chosen)
    once, twice = np.zeros(len(table.total)), np.zeros(len(table.total))
    dealer = view.dealer(rules.soft17, rows)
    once[rows] = (dealer * _pays(rules, doubled=False)[rows]).sum(axis=1)
    twice[rows] = (dealer * _pays(rules, doubled=True)[rows]).sum(axis=1)
    draws = view.draws()
    double = _doubled(rules, draws, twice, chosen, after_split=after_split, may_double=may_double)
    surrender = _given_up(rules, after_split=after_split)
    hit, best = np.full_like(once, NEVER), once.copy()
    plays = np.zeros(len(once), dtype=np.int64)
    for level in reversed(table.by_hard):
        level_rows = level[chosen[level]]
        if not len(level_rows):
            continue
        children = table.child[level_rows]
        worth = np.where(children == OVER, -1.0, best[children])
        hit[level_rows] = (draws[level_rows] * worth).sum(axis=1)
        options = np.stack([once[level_rows], hit[level_rows], double[level_rows], surrender[level_rows]])
        plays[level_rows] = options.argmax(axis=0) if policy is None else policy[level_rows]
        best[level_rows] = options[plays[level_rows], np.arange(len(level_rows))]
    return Values(once, hit, double, best, plays)


def _doubled(
    rules: HouseRules, draws: Floats, twice: Floats, chosen: Flags, *, after_split: bool, may_double: bool
) -> Floats:
    table = hand_table()
    allowed = chosen & (table.size == 2) & _doubles(rules)
    if not may_double or (after_split and not rules.double_after_split):
        allowed[:] = False
    double = np.full(len(twice), NEVER)
    rows = np.flatnonzero(allowed)
    children = table.child[rows]
    worth = np.where(children == OVER, -2.0, twice[children])
    double[rows] = (draws[rows] * worth).sum(axis=1)
    return double


def _doubles(rules: HouseRules) -> Flags:
    """The two-card hands that may be doubled (30-813); the ranges count hard and soft totals alike."""
    table = hand_table()
    match rules.double_on:
        case DoubleOn.NINE_TO_ELEVEN:
            return np.asarray((table.total >= 9) & (table.total <= 11))
        case DoubleOn.TEN_ELEVEN:
            return np.asarray((table.total >= 10) & (table.total <= 11))
        case DoubleOn.HARD_ONLY:
            return ~table.soft
        case _:
            return np.ones(len(table.total), dtype=np.bool_)


def _given_up(rules: HouseRules, *, after_split: bool) -> Floats:
    """What a late surrender brings to two cards; an early one is decided before any of this (30-829)."""
    table = hand_table()
    offered = rules.surrender is not Surrender.NONE and (rules.surrender_after_split or not after_split)
    return np.where(offered & (table.size == 2), GIVEN_UP, NEVER)


@lru_cache(32)
def _pays(rules: HouseRules, *, doubled: bool) -> Floats:
    """What each hand that stands brings against each of the dealer's finals; a rule set is compared by its options."""
    table = hand_table()
    stake = 2 if doubled else 1
    gains = np.zeros((len(table.total), len(COLUMNS)))
    kinds = sorted({(int(total), int(size)) for total, size in zip(table.total, table.size, strict=True)})
    for total, size in kinds:
        row = [_gain(rules, total, size, final, doubled=doubled) * stake for final in COLUMNS]
        gains[(table.total == total) & (table.size == size)] = row
    if doubled and rules.dealer_blackjack_takes is DealerBlackjackTakes.ORIGINAL:
        gains[:, COLUMNS.index(BLACKJACK)] = -1
    return gains


def _gain(rules: HouseRules, total: int, size: int, final: int, *, doubled: bool) -> float:
    """What a hand that stands brings for one staked against a dealer's final."""
    if final == BUST or (final != BLACKJACK and total > final):
        result = MainResult.WIN
    elif total == final:
        result = MainResult.TIE
    else:
        result = MainResult.LOSE
    hand = FinishedHand(result, total, size, doubled, None if final == BLACKJACK else final)
    return float(net_of(rules.main_pays, rules.blackjack_pays, hand))

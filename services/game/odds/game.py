"""The edge of a whole rule set, and the value of every play of a given hand.

Owns the sum over all deals. The figures are for the first round of a fresh shoe, one player, every choice the best for the
cards that he sees; insurance is never taken in them, since it is a wager of its own with its own edge.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from services.game.house_rules import HouseRules
from services.game.odds.by_total import policy_by_total, two_card_chances
from services.game.odds.chances import ShoeView
from services.game.odds.counts import ACE, RANKS, TEN, Counts, counts_of, shoe_counts, without
from services.game.odds.dealer import completing_card
from services.game.odds.hands import Ints, hand_table
from services.game.odds.plays import GIVEN_UP, NEVER, Play, Values, looks_first, value_plays
from services.game.odds.splits import split_value
from services.game.rule_options import DealerShows, Surrender
from services.game.wager_kinds import FinishedHand, MainResult, net_of

STEPS: Final = 10
"""How many steps `game_odds` reports: one for each up card."""


class Strategy(StrEnum):
    """What the player looks at: every card of his hand, or its total only, as printed strategy cards do."""

    COMPOSITION = "composition"
    TOTAL = "total"


class RulesNotSolved(ValueError):
    """The rule set has something that this solver does not know; the message says what."""


@dataclass(frozen=True, slots=True)
class HandOdds:
    """Two cards against an up card: the chance of the deal, the value of each play that is allowed, and the best.

    Values are expected gains for one staked, a dealer's blackjack included. `chance` is that of these two cards and this up
    card in a fresh shoe.
    """

    cards: str
    up: str
    chance: float
    plays: dict[str, float]
    best: str
    value: float


@dataclass(frozen=True, slots=True)
class GameOdds:
    """A rule set's figures: what the player loses of each stake on average, and every two-card hand behind it."""

    house_edge: float
    hands: tuple[HandOdds, ...]


def game_odds(
    rules: HouseRules,
    strategy: Strategy = Strategy.COMPOSITION,
    progress: Callable[[int], None] = lambda _: None,
) -> GameOdds:
    """Solve a rule set; `progress` is told the number of up cards done, of `STEPS`. Raises RulesNotSolved."""
    check_solved(rules)
    shoe = shoe_counts(rules.decks)
    hands: list[HandOdds] = []
    for up in range(10):
        hands.extend(UpCard(rules, shoe, up, strategy).all_hands())
        progress(up + 1)
    return GameOdds(-sum(hand.chance * hand.value for hand in hands), tuple(hands))


def check_solved(rules: HouseRules) -> None:
    """Raise RulesNotSolved for a game whose decisions are not those of the standard round."""
    if rules.dealer_shows is not DealerShows.UP_CARD:
        raise RulesNotSolved(f"{rules.name} shows both dealer cards: every play is made against a known hand")
    if rules.dealer_hands != 1:
        raise RulesNotSolved(f"{rules.name} is played against {rules.dealer_hands} dealer hands")


class UpCard:
    """One up card under one rule set, solved once; `shoe` is the whole shoe, the up card still in it."""

    def __init__(self, rules: HouseRules, shoe: Counts, up: int, strategy: Strategy = Strategy.COMPOSITION) -> None:
        self._rules = rules
        self._up = up
        self._whole = shoe
        self._shoe = without(shoe, up)
        self._peeked = looks_first(rules, up)
        view = ShoeView(self._shoe, up, peeked=self._peeked)
        self._values: Values = value_plays(rules, view)
        self._policy: Ints | None = None
        if strategy is Strategy.TOTAL:
            draws = view.draws()
            self._policy = policy_by_total(self._values, draws, two_card_chances(draws))
            self._values = value_plays(rules, view, policy=self._policy)

    def all_hands(self) -> Iterator[HandOdds]:
        """Every two-card hand that the shoe can deal."""
        for first in range(10):
            for second in range(first, 10):
                cards = counts_of([first, second])
                if all(left >= wanted for left, wanted in zip(self._shoe, cards, strict=True)):
                    yield self.hand(cards)

    def hand(self, cards: Counts) -> HandOdds:
        """The values of one hand, of two cards or more."""
        size = sum(cards)
        names = "".join(RANKS[value] * count for value, count in enumerate(cards))
        blackjack = self._blackjack_chance(cards)
        if size == 2 and cards[ACE] == cards[TEN] == 1:
            gain = self._natural(blackjack)
            return HandOdds(names, RANKS[self._up], self._chance(cards), {"stand": gain}, "stand", gain)
        plays = {
            play.name.lower(): self._with_blackjack(value, blackjack)
            for play, value in self._after_look(cards)
            if value > NEVER
        }
        if size == 2 and self._early:
            plays["surrender"] = GIVEN_UP
        best = (
            max(plays, key=lambda name: plays[name])
            if self._policy is None
            else self._by_policy(self._policy, cards, plays)
        )
        return HandOdds(names, RANKS[self._up], self._chance(cards), plays, best, plays[best])

    @staticmethod
    def _by_policy(policy: Ints, cards: Counts, plays: dict[str, float]) -> str:
        """The play that the total asks for; a pair is split, and a hand given up, where that is worth more."""
        asked = Play(int(policy[hand_table().number[cards]])).name.lower()
        return max((name for name in (asked, "split", "surrender") if name in plays), key=lambda name: plays[name])

    @property
    def _early(self) -> bool:
        surrender = self._rules.surrender
        return surrender is Surrender.EARLY or (surrender is Surrender.EARLY_VS_TEN and self._up == TEN)

    def _after_look(self, cards: Counts) -> Iterator[tuple[Play, float]]:
        number = hand_table().number[cards]
        values = self._values
        yield Play.STAND, float(values.stand[number])
        yield Play.HIT, float(values.hit[number])
        yield Play.DOUBLE, float(values.double[number])
        if sum(cards) != 2:
            return
        if self._rules.surrender is not Surrender.NONE:
            yield Play.SURRENDER, GIVEN_UP
        pair = next((value for value, count in enumerate(cards) if count == 2), None)
        if pair is not None:
            yield (
                Play.SPLIT,
                split_value(self._rules, self._up, self._shoe, pair, peeked=self._peeked, policy=self._policy),
            )

    def _with_blackjack(self, value: float, blackjack: float) -> float:
        """A value after the look, and the stake that a blackjack takes before it."""
        return value * (1 - blackjack) - blackjack if self._peeked else value

    def _natural(self, blackjack: float) -> float:
        pays, odds = self._rules.main_pays, self._rules.blackjack_pays
        won = float(net_of(pays, odds, FinishedHand(MainResult.NATURAL, 21, 2, doubled=False, dealer_total=None)))
        tied = float(net_of(pays, odds, FinishedHand(MainResult.NATURAL_TIE, 21, 2, doubled=False, dealer_total=21)))
        return won * (1 - blackjack) + tied * blackjack

    def _blackjack_chance(self, cards: Counts) -> float:
        """The chance that the hidden card completes a blackjack, the player's cards being known."""
        wanted = completing_card(self._up)
        if wanted is None:
            return 0.0
        return (self._shoe[wanted] - cards[wanted]) / (sum(self._shoe) - sum(cards))

    def _chance(self, cards: Counts) -> float:
        """The chance of this up card and these two cards in a fresh shoe; 0 for a longer hand, which is no deal."""
        if sum(cards) != 2:
            return 0.0
        chance = self._whole[self._up] / sum(self._whole)
        left, total = list(self._shoe), sum(self._shoe)
        drawn = [value for value, count in enumerate(cards) for _ in range(count)]
        for value in drawn:
            chance *= left[value] / total
            left[value] -= 1
            total -= 1
        return chance * (1 if drawn[0] == drawn[1] else 2)

"""Basic strategy: the choice with the least expected loss for a hand against an up card, without counting.

Owns the standard chart for four to eight decks, by soft-17 rule, doubling after splits, surrender and hole card.
Source: the published multi-deck charts; a test works the hitting, standing, doubling and splitting decisions out anew
from the rules and compares. For players that are simulated and for measures; the round never asks it. It never insures
and never takes even money.
"""

from collections.abc import Collection, Sequence
from typing import Final

from services.game.cards import Card
from services.game.hand import Total, total
from services.game.house_rules import HouseRules
from services.game.round_words import Action
from services.game.rule_options import DealerBlackjackTakes, HoleCard, Soft17, Surrender

Choices = tuple[Action, ...]
"""From the best down; the last is always legal in a hand's turn."""

_HIT: Final = (Action.HIT, Action.STAND)
_STAND: Final = (Action.STAND,)
_DOUBLE_HIT: Final = (Action.DOUBLE, *_HIT)
_DOUBLE_STAND: Final = (Action.DOUBLE, Action.STAND)
_ACE: Final = 11
_HIGHEST: Final = 31


class Strategy:
    """The chart of one rule set. Up cards and pairs go by value, 2 to 11 with the ace as 11."""

    __slots__ = ("_hard", "_pairs", "_soft")

    def __init__(self, rules: HouseRules) -> None:
        self._hard = [[_hard(rules, value, up) for up in range(12)] for value in range(_HIGHEST + 1)]
        self._soft = [[_soft(rules, value, up) for up in range(12)] for value in range(_HIGHEST + 1)]
        self._pairs = {
            (value, up): self._pair_choices(rules, value, up)
            for value in range(2, 12)
            for up in range(2, 12)
            if _splits(rules, value, up)
        }

    def _pair_choices(self, rules: HouseRules, value: int, up: int) -> Choices:
        plain = self._soft[12][up] if value == _ACE else self._hard[2 * value][up]
        if plain[0] is not Action.SURRENDER:
            return (Action.SPLIT, *plain)
        # Two eights are split rather than surrendered, but for an ace that hits soft 17.
        gives_up = value != 8 or (up == _ACE and _hits_soft_17(rules))
        return (*plain[: int(gives_up)], Action.SPLIT, *plain[1:])

    def choices(self, count: Total, pair: int, up: int) -> Choices:
        """Give the choices from the best down. `pair` is the value of each of two equal cards, 0 for any other hand."""
        if pair:
            found = self._pairs.get((pair, up))
            if found is not None:
                return found
        return (self._soft if count.soft else self._hard)[count.value][up]

    def choices_of_pair(self, pair: int, up: int) -> Choices:
        """Give the choices for two cards of this value where the pair itself matters; none where it plays as its total."""
        return self._pairs.get((pair, up), ())

    def choose(self, cards: Sequence[Card], up_card: Card, allowed: Collection[Action]) -> Action:
        """Give the best of the allowed choices. Insurance and even money are declined."""
        if Action.DECLINE_INSURANCE in allowed:
            return Action.DECLINE_INSURANCE
        if Action.DECLINE_SURRENDER in allowed:
            return Action.SURRENDER if gives_up_early(cards, up_card) else Action.DECLINE_SURRENDER
        pair = cards[0].value if len(cards) == 2 and cards[0].value == cards[1].value else 0
        for action in self.choices(total(cards), pair, up_card.value):
            if action in allowed:
                return action
        return Action.STAND


_CHARTS: Final[dict[str, Strategy]] = {}
_MOST_CHARTS: Final = 128


def basic_strategy(rules: HouseRules) -> Strategy:
    """Give the chart of a rule set, made once for each digest."""
    chart = _CHARTS.get(rules.digest)
    if chart is None:
        if len(_CHARTS) >= _MOST_CHARTS:
            _CHARTS.clear()
        chart = _CHARTS[rules.digest] = Strategy(rules)
    return chart


def gives_up_early(cards: Sequence[Card], up_card: Card) -> bool:
    """Whether early surrender beats playing on: against an ace hard 5 to 7 and 12 to 17, against a ten hard 14 to 16."""
    count = total(cards)
    if count.soft or len(cards) != 2:
        return False
    if up_card.is_ace:
        return count.value <= 7 or 12 <= count.value <= 17
    return up_card.is_ten and 14 <= count.value <= 16


def _hits_soft_17(rules: HouseRules) -> bool:
    return rules.soft17 is Soft17.HIT


def _all_at_risk(rules: HouseRules, up: int) -> bool:
    """A dealer's blackjack may still come and would take doubles and splits too."""
    takes_all = rules.dealer_blackjack_takes is DealerBlackjackTakes.ALL
    unchecked = rules.hole_card in (HoleCard.NO_PEEK, HoleCard.NO_HOLE_CARD)
    return takes_all and up >= 10 and (unchecked or (rules.hole_card is HoleCard.PEEK_ACE and up == 10))


def _hard(rules: HouseRules, value: int, up: int) -> Choices:
    if value >= 17:
        plain: Choices = _STAND
    elif value >= 13:
        plain = _STAND if up <= 6 else _HIT
    elif value == 12:
        plain = _STAND if 4 <= up <= 6 else _HIT
    else:
        doubles = (
            (value == 11 and (up <= 10 or _hits_soft_17(rules)))
            or (value == 10 and up <= 9)
            or (value == 9 and 3 <= up <= 6)
        )
        plain = _DOUBLE_HIT if doubles and not _all_at_risk(rules, up) else _HIT
    return (Action.SURRENDER, *plain) if _gives_up(rules, value, up) else plain


def _gives_up(rules: HouseRules, value: int, up: int) -> bool:
    """Late surrender: 16 against 9 to ace, 15 against ten; where soft 17 is hit also 15 and 17 against an ace (30-829)."""
    if rules.surrender is Surrender.NONE:
        return False
    if value == 16:
        return up >= 9
    if value == 15:
        return up == 10 or (up == _ACE and _hits_soft_17(rules))
    return value == 17 and up == _ACE and _hits_soft_17(rules)


def _soft(rules: HouseRules, value: int, up: int) -> Choices:
    if value >= 20:
        return _STAND
    if value == 19:
        return _DOUBLE_STAND if up == 6 and _hits_soft_17(rules) else _STAND
    if value == 18:
        if up > 8:
            return _HIT
        lowest = 2 if _hits_soft_17(rules) else 3
        return _DOUBLE_STAND if lowest <= up <= 6 else _STAND
    lowest = {17: 3, 16: 4, 15: 4, 14: 5, 13: 5}.get(value, 7)
    return _DOUBLE_HIT if lowest <= up <= 6 else _HIT


def _splits(rules: HouseRules, value: int, up: int) -> bool:
    """Whether a pair of this value is split."""
    if value == _ACE:
        return not (up == _ACE and _all_at_risk(rules, up))
    if value == 8:
        return not _all_at_risk(rules, up)
    again = rules.double_after_split
    spans = {
        9: (2, 9),
        7: (2, 7),
        6: (2 if again else 3, 6),
        4: (5, 6 if again else 0),
        3: (2 if again else 4, 7),
        2: (2 if again else 4, 7),
    }
    low, high = spans.get(value, (0, 0))
    return low <= up <= high and not (value == 9 and up == 7)

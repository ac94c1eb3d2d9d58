"""What everybody does at each count of the cards, worked out before the first card is dealt.

Owns tables of answers, no rule: each entry is asked once of the round's own rules (`round_legality`), the dealer's rule
and the chart of basic strategy. So a simulated hand walks from count to count by its cards and finds its next choice
there. Covers hands that were not split; what a split hand may do depends on its seat's other hands.
"""

from typing import Final

from services.game.cards import RANKS, Card, standard_deck
from services.game.hand import Total, total
from services.game.house_rules import HouseRules
from services.game.round import RoundPlay, open_round
from services.game.round_flow import must_draw
from services.game.round_legality import RULES
from services.game.round_marks import HIT, STAND
from services.game.round_state import HandState, RoundState
from services.game.round_words import Action
from services.game.strategy import Choices, Strategy, basic_strategy

_UP_CARDS: Final = tuple(Card(rank, "s") for rank in RANKS)
_BY_POINTS: Final = {card.points: card for card in standard_deck()}
_HIGHEST_UP: Final = 11


class Count:
    """A total on its way: `after` gives the next one by a card's points (0 is none), `draws` says what a dealer does.

    `hits` says by the up card's value whether a hand of three cards or more takes another; it stands else.
    """

    __slots__ = ("after", "draws", "hits", "total", "value")

    def __init__(self, count: Total, *, draws: bool, hits: tuple[bool, ...]) -> None:
        self.total = count
        self.value = count.value
        self.draws = draws
        self.hits = hits
        self.after: tuple[Count, ...] = ()


Opening = tuple[Count, Action]
"""The count of two cards, and what is done with them; standing is also said of 21, which is never asked."""


class Facing:
    """The game against one up card: its own `count`, and the `openings` by a hand's first and second card."""

    __slots__ = ("count", "openings", "up_card")

    def __init__(self, up_card: Card, count: Count, openings: dict[Card, dict[Card, Opening]]) -> None:
        self.up_card = up_card
        self.count = count
        self.openings = openings


class PlayoutChart:
    """The tables of one rule set: `facing` by the up card."""

    def __init__(self, rules: HouseRules) -> None:
        self._chart = basic_strategy(rules)
        # Legality is asked of a round; that it has no players matters to none of the rules asked here.
        self._draft = RoundPlay(open_round("", rules, ()), rules).state
        self._counts: dict[Total, Count] = {}
        start = self._count_of(total(()))
        by_value: dict[int, Facing] = {}
        for card in _UP_CARDS:
            if card.value not in by_value:
                openings = self._openings(card.value)
                by_value[card.value] = Facing(card, start.after[card.points], openings)
        self.facing = {card: by_value[card.value] for card in standard_deck()}

    def choices(self, hand: HandState, up: int) -> Choices:
        """The chart's choices for a hand against an up card's value, from the best down, legal or not."""
        return choices_of(self._chart, hand, up)

    def _openings(self, up: int) -> dict[Card, dict[Card, Opening]]:
        by_rank = {one.rank: {two.rank: self._opening(one, two, up) for two in _UP_CARDS} for one in _UP_CARDS}
        # Suits share their rows.
        rows = {rank: {card: row[card.rank] for card in standard_deck()} for rank, row in by_rank.items()}
        return {card: rows[card.rank] for card in standard_deck()}

    def _opening(self, one: Card, two: Card, up: int) -> Opening:
        count = self._count_of(total((one, two)))
        hand = HandState(1, 0, "", (), 0, (one, two), (0, 1), count.total)
        self._draft.hands = (hand,)
        return count, first_legal(self._draft, hand, self.choices(hand, up))

    def _count_of(self, reached: Total) -> Count:
        """The one entry of a total, with all that can follow from it."""
        known = self._counts.get(reached)
        if known is not None:
            return known
        more = HandState(1, 0, "", (), 0, _UP_CARDS[:3], (0, 1, 2), reached)
        hits = tuple(
            reached.value < 21 and first_legal(self._draft, more, self.choices(more, up)) is HIT
            for up in range(_HIGHEST_UP + 1)
        )
        count = Count(reached, draws=must_draw(reached, self._draft.rules), hits=hits)
        self._counts[reached] = count
        if reached.value <= 21:
            # Over 21 nobody takes a card any more.
            count.after = (count, *(self._count_of(reached.plus(_BY_POINTS[points])) for points in range(1, 11)))
        return count


def choices_of(chart: Strategy, hand: HandState, up: int) -> Choices:
    """What the chart says of a hand, by its pair where that matters."""
    cards = hand.cards
    if len(cards) == 2 and cards[0].value == cards[1].value:
        of_pair = chart.choices_of_pair(cards[0].value, up)
        if of_pair:
            return of_pair
    return chart.choices(hand.total, 0, up)


def first_legal(draft: RoundState, hand: HandState, choices: Choices) -> Action:
    """The best of the choices that breaks no rule."""
    for action in choices:
        breaks = RULES.get(action)
        if breaks is None or breaks(draft, hand) is None:
            return action
    return STAND

"""What everybody does at each count of the cards, worked out before the first card is dealt.

Owns tables of answers, no rule: each entry is asked once of the round's own rules (`round_legality`), of the dealer's
rule and of the chart of basic strategy. So a simulated hand walks from count to count by its cards and finds its next
choice there. Covers hands that were not split; what a split hand may do depends on its seat's other hands.
"""

from typing import Final

from services.game.cards import RANKS, Card, standard_deck
from services.game.hand import Total, total
from services.game.house_rules import HouseRules
from services.game.round import RoundPlay, open_round
from services.game.round_dealer import hole_question
from services.game.round_flow import must_draw, will_peek
from services.game.round_legality import RULES
from services.game.round_marks import HIT, STAND
from services.game.round_state import DealerHandState, HandState, RoundState
from services.game.round_words import Action
from services.game.strategy import Choices, Strategy, basic_strategy

_ONE_OF_EACH: Final = tuple(Card(rank, "s") for rank in RANKS)
_BY_POINTS: Final = {card.points: card for card in _ONE_OF_EACH}
_POINTS: Final = range(1, 11)
_UNLIKE_TENS: Final = (Card("Q", "s"), Card("K", "s"))
_UP_VALUES: Final = range(12)


class Count:
    """A total on its way: `after` gives the next one by a card's points, `draws` says whether a dealer takes a card.

    `hits` says by the up card's value whether a hand of three cards or more takes another; it stands else.
    """

    __slots__ = ("after", "draws", "hits", "total", "value")

    def __init__(self, count: Total, *, draws: bool, hits: tuple[bool, ...]) -> None:
        self.total = count
        self.value = count.value
        self.draws = draws
        self.hits = hits
        self.after: tuple[Count, ...] = ()


Opening = tuple[Count, Action | None]
"""The count of two cards and what is done with them; None with a blackjack, which is never asked."""


class Facing:
    """The game against one up card: the dealer's `count` by it, the `openings` by the points of a hand's two cards.

    `up` is its value; `peeks` says whether the hole card is checked under it, and `question` what for.
    """

    __slots__ = ("count", "openings", "peeks", "question", "up")

    def __init__(self, draft: RoundState, count: Count, openings: tuple[tuple[Opening, ...], ...]) -> None:
        self.up = draft.dealers[0].cards[0].value
        self.count = count
        self.openings = openings
        self.peeks = will_peek(draft)
        self.question = hole_question(draft)


class PlayoutChart:
    """The tables of one rule set: `facing` by the up card."""

    def __init__(self, rules: HouseRules) -> None:
        self._chart = basic_strategy(rules)
        # The rules are asked of a round with the one hand in question.
        self._draft = RoundPlay(open_round("", rules, ()), rules).state
        self._counts: dict[Total, Count] = {}
        self._known_openings: dict[Opening, Opening] = {}
        start = self._count_of(total(()))
        by_points = {points: self._facing(card, start.after[points]) for points, card in _BY_POINTS.items()}
        self.facing = {card: by_points[card.points] for card in standard_deck()}

    def choose(self, draft: RoundState, hand: HandState, up: int) -> Action:
        """The best choice that is legal for a hand against an up card's value."""
        for action in choices_of(self._chart, hand, up):
            breaks = RULES.get(action)
            if breaks is None or breaks(draft, hand) is None:
                return action
        return STAND

    def _facing(self, up_card: Card, count: Count) -> Facing:
        table = [[self._opening(one, two, up_card.value) for two in _POINTS] for one in _POINTS]
        # By points, which begin at 1: what stands at 0 is never looked up.
        openings = tuple((row[0], *row) for row in (table[0], *table))
        self._draft.dealers = (DealerHandState((up_card,), (0, 1), count.total, hole=1),)
        return Facing(self._draft, count, openings)

    def _opening(self, one: int, two: int, up: int) -> Opening:
        """By points: tens of unlike ranks, which some houses do not split, must be played like those of one rank."""
        alike = (_BY_POINTS[one], _BY_POINTS[two])
        action = self._first_choice(alike, up)
        if one == two == 10 and self._first_choice(_UNLIKE_TENS, up) is not action:
            raise LookupError("the chart plays two tens by their ranks: the tables go by points")
        count = self._count_of(total(alike))
        opening = (count, None if count.value == 21 else action)
        # Shared where equal: what is small stays in the processor's cache.
        return self._known_openings.setdefault(opening, opening)

    def _first_choice(self, cards: tuple[Card, Card], up: int) -> Action:
        hand = HandState(1, 0, "", (), 0, cards, (0, 1), total(cards))
        self._draft.hands = (hand,)
        return self.choose(self._draft, hand, up)

    def _count_of(self, reached: Total) -> Count:
        """The one entry of a total, with all that can follow from it."""
        known = self._counts.get(reached)
        if known is not None:
            return known
        more = HandState(1, 0, "", (), 0, _ONE_OF_EACH[:3], (0, 1, 2), reached)
        hits = tuple(reached.value < 21 and self.choose(self._draft, more, up) is HIT for up in _UP_VALUES)
        count = self._counts[reached] = Count(reached, draws=must_draw(reached, self._draft.rules), hits=hits)
        if reached.value <= 21:
            # Over 21 nobody takes a card any more.
            count.after = (count, *(self._count_of(reached.plus(_BY_POINTS[points])) for points in _POINTS))
        return count


def choices_of(chart: Strategy, hand: HandState, up: int) -> Choices:
    """What the chart says of a hand, by its pair where that matters, legal or not."""
    cards = hand.cards
    if len(cards) == 2 and cards[0].value == cards[1].value:
        of_pair = chart.choices_of_pair(cards[0].value, up)
        if of_pair:
            return of_pair
    return chart.choices(hand.total, 0, up)

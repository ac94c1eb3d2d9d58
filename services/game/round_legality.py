"""What a hand may do in its turn (30-813, 30-814, 30-826, 30-829).

Owns the rule behind each choice, once: a `breaks_…` function names the rule that a choice would break, None when it is
legal. So the same rule answers what is allowed (`allowed_for`) and why something is refused (`verify_choice`). Turns
are `round_players`.
"""

from typing import Final

from services.game.house_rules import HouseRules
from services.game.rejections import Rejection
from services.game.round_marks import DOUBLE_DOWN, HIT, SPLIT_PAIR, STAND, SURRENDER
from services.game.round_rejections import (
    DoubleAfterSplit,
    DoubleNotFirstTwo,
    DoubleTotalNotAllowed,
    HitSplitAces,
    NotAPair,
    ResplitAces,
    SplitLimit,
    SurrenderLateInHand,
    SurrenderNotOffered,
)
from services.game.round_state import HandState, RoundState
from services.game.round_words import Action
from services.game.rule_options import DoubleOn, SplitBy, Surrender

Broken = type[Rejection]

_ANY_TWO: Final = DoubleOn.ANY_TWO
_BY_VALUE: Final = SplitBy.VALUE
_NO_SURRENDER: Final = Surrender.NONE
_LOWEST: Final = {DoubleOn.NINE_TO_ELEVEN: 9, DoubleOn.TEN_ELEVEN: 10}


def breaks_hit(draft: RoundState, hand: HandState) -> Broken | None:
    """Split aces get one card each, unless the house lets them draw (30-814)."""
    return HitSplitAces if hand.split_aces and not draft.rules.hit_split_aces else None


def breaks_double(draft: RoundState, hand: HandState) -> Broken | None:
    """First two cards, of a total that the house doubles, after a split only where posted (30-813)."""
    if len(hand.cards) != 2:
        return DoubleNotFirstTwo
    rules = draft.rules
    if hand.from_split and not _doubles_after_split(rules, hand):
        return DoubleAfterSplit
    rule = rules.double_on
    if rule is _ANY_TWO:
        return None
    count = hand.total
    allowed = not count.soft if rule is DoubleOn.HARD_ONLY else _LOWEST[rule] <= count.value <= 11
    return None if allowed else DoubleTotalNotAllowed


def _doubles_after_split(rules: HouseRules, hand: HandState) -> bool:
    if hand.split_aces:
        return rules.double_after_split and rules.double_after_split_aces
    return rules.double_after_split


def breaks_split(draft: RoundState, hand: HandState) -> Broken | None:
    """A pair by value or rank, up to the house's number of hands; aces again only where posted (30-814)."""
    cards = hand.cards
    rules = draft.rules
    if len(cards) != 2 or not is_pair(rules, hand):
        return NotAPair
    if hand.split_aces and not rules.resplit_aces:
        return ResplitAces
    return SplitLimit if hands_of(draft, hand.seat) >= rules.max_hands else None


def is_pair(rules: HouseRules, hand: HandState) -> bool:
    """Whether two cards match by the house's measure."""
    first, second = hand.cards
    return first.value == second.value if rules.split_by is _BY_VALUE else first.rank == second.rank


def breaks_surrender(draft: RoundState, hand: HandState) -> Broken | None:
    """The first two cards before any other choice, where offered (30-829)."""
    rules = draft.rules
    if rules.surrender is _NO_SURRENDER or (hand.from_split and not rules.surrender_after_split):
        return SurrenderNotOffered
    return SurrenderLateInHand if hand.kept or len(hand.cards) != 2 else None


def hands_of(draft: RoundState, seat: int) -> int:
    """How many hands a seat has by now."""
    return sum([hand.seat == seat for hand in draft.hands])


def may_act_on_split_aces(draft: RoundState, hand: HandState) -> bool:
    """Whether a split ace with its second card has any choice beside standing."""
    return (
        breaks_hit(draft, hand) is None
        or breaks_double(draft, hand) is None
        or breaks_split(draft, hand) is None
        or breaks_surrender(draft, hand) is None
    )


RULES: Final = {
    HIT: breaks_hit,
    DOUBLE_DOWN: breaks_double,
    SPLIT_PAIR: breaks_split,
    SURRENDER: breaks_surrender,
}
"""The rule behind each choice in a hand's turn; standing is always allowed."""


def allowed_for(draft: RoundState, hand: HandState) -> frozenset[Action]:
    """Give the legal choices of the hand in turn."""
    return frozenset([STAND, *(action for action, breaks in RULES.items() if breaks(draft, hand) is None)])


def verify_choice(draft: RoundState, hand: HandState, action: Action) -> None:
    """Raise the refusal of the rule that this choice would break, with the facts of the hand."""
    broken = RULES[action](draft, hand)
    if broken is not None:
        raise broken(
            f"seat {hand.seat} hand {hand.number} holds {' '.join(map(str, hand.cards))}: {action.value} is not allowed",
            seat=hand.seat,
            hand=hand.number,
            cards=" ".join(map(str, hand.cards)),
            total=hand.total.value,
            action=action.value,
        )

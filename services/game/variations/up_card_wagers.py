"""Side wagers on the player's first two cards together with the dealer's up card.

30-899.18 Lucky Lucky, .19 IN BETween, .24 Match The Dealer, .17 War (its first comparison), and the common 21+3.
"""

from collections.abc import Sequence

from services.game.cards import Card
from services.game.hand import total
from services.game.variations.seen import (
    Award,
    Evaluator,
    Looks,
    Seen,
    high,
    is_straight,
    low,
    same_rank,
    same_suit,
)


def _three(seen: Seen) -> tuple[Card, Card, Card]:
    if seen.up is None:
        raise ValueError("this wager looks at the up card: it cannot be decided before")
    return seen.first, seen.second, seen.up


def _twenty_one_plus_three(seen: Seen) -> Sequence[Award]:
    cards = _three(seen)
    suited, straight = same_suit(*cards), is_straight(cards)
    if same_rank(*cards):
        return ("suited-three-of-a-kind",) if suited else ("three-of-a-kind",)
    if straight:
        return ("straight-flush",) if suited else ("straight",)
    return ("flush",) if suited else ()


def _lucky_lucky(seen: Seen) -> Sequence[Award]:
    cards = _three(seen)
    suited = "suited-" if same_suit(*cards) else ""
    ranks = sorted(card.rank for card in cards)
    if ranks == ["7", "7", "7"]:
        return (f"{suited}777",)
    if ranks == ["6", "7", "8"]:
        return (f"{suited}678",)
    value = total(cards).value
    if value == 21:
        return (f"{suited}21",)
    return (str(value),) if value in {19, 20} else ()


def _in_between(seen: Seen) -> Sequence[Award]:
    first, second, up = _three(seen)
    if same_rank(first, second, up):
        return ("three-of-a-kind",)
    lowest, highest = sorted((high(first), high(second)))
    if not lowest < high(up) < highest:
        return ()
    spread = highest - lowest - 1
    return (f"spread-{spread}" if spread <= 3 else "spread-wider",)


def _match_the_dealer(seen: Seen) -> Sequence[Award]:
    first, second, up = _three(seen)
    return tuple("suited-match" if same_suit(card, up) else "match" for card in (first, second) if same_rank(card, up))


def _war(seen: Seen) -> Sequence[Award]:
    first, _, up = _three(seen)
    return ("higher-card",) if low(first) > low(up) else ()


UP_CARD_EVALUATORS = (
    Evaluator(
        "21+3",
        Looks.WITH_UP_CARD,
        ("suited-three-of-a-kind", "straight-flush", "three-of-a-kind", "straight", "flush"),
        _twenty_one_plus_three,
    ),
    Evaluator(
        "lucky-lucky",
        Looks.WITH_UP_CARD,
        ("suited-777", "suited-678", "777", "678", "suited-21", "21", "20", "19"),
        _lucky_lucky,
    ),
    Evaluator(
        "in-between",
        Looks.WITH_UP_CARD,
        ("three-of-a-kind", "spread-1", "spread-2", "spread-3", "spread-wider"),
        _in_between,
    ),
    Evaluator("match-the-dealer", Looks.WITH_UP_CARD, ("suited-match", "match"), _match_the_dealer),
    Evaluator("war", Looks.WITH_UP_CARD, ("higher-card",), _war, in_order=True),
)
"""Those that also need the dealer's up card."""

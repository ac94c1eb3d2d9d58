"""Side wagers on the player's first two cards alone, or together with a dealer's blackjack.

30-899.11 Royal Match 21, .12 Lucky Ladies, .13 Bet the Set 21, .20 King's Bounty, .06 and .08 (a natural earns a spin or a
card), and the common Perfect Pairs and Royal 20's.
"""

from collections.abc import Sequence

from services.game.variations.seen import (
    FACES,
    Award,
    Evaluator,
    Looks,
    Seen,
    is_red,
    is_two_card_21,
    low,
    same_rank,
    same_suit,
    two_card_total,
)


def _perfect_pairs(seen: Seen) -> Sequence[Award]:
    if not same_rank(seen.first, seen.second):
        return ()
    if same_suit(seen.first, seen.second):
        return ("perfect-pair",)
    return ("coloured-pair",) if is_red(seen.first) is is_red(seen.second) else ("mixed-pair",)


def _set(seen: Seen) -> Sequence[Award]:
    if not same_rank(seen.first, seen.second):
        return ()
    return ("suited-pair",) if same_suit(seen.first, seen.second) else ("pair",)


def _royal_match(seen: Seen) -> Sequence[Award]:
    first, second = seen.first, seen.second
    if not same_suit(first, second):
        return ()
    if {first.rank, second.rank} == {"K", "Q"}:
        return ("royal-match",)
    if {first.rank, second.rank} == {"A", "K"}:
        # A blackjack and neighbours at once: pay tables differ in what they take it for.
        return ("suited-ace-king",)
    if is_two_card_21(first, second):
        return ("suited-blackjack",)
    if same_rank(first, second):
        return ("suited-pair",)
    return ("suited-neighbours",) if abs(low(first) - low(second)) == 1 else ("suited",)


def _lucky_ladies(seen: Seen) -> Sequence[Award]:
    first, second = seen.first, seen.second
    queens = [card for card in (first, second) if card.rank == "Q"]
    if len(queens) == 2:
        hearts = first.suit == second.suit == "h"
        name = "queens-of-hearts" if hearts else "matched-queens" if same_suit(first, second) else "queens"
        return (f"{name}-with-dealer-blackjack" if seen.dealer_blackjack else name,)
    if two_card_total(first, second) == 20:
        if same_rank(first, second):
            return ("matched-20",) if same_suit(first, second) else ("paired-20",)
        return ("suited-20",) if same_suit(first, second) else ("any-20",)
    if queens:
        return ("queen-of-hearts",) if queens[0].suit == "h" else ("one-queen",)
    return ()


def _kings_bounty(seen: Seen) -> Sequence[Award]:
    first, second = seen.first, seen.second
    if two_card_total(first, second) != 20:
        return ()
    suited = same_suit(first, second)
    if first.rank == second.rank == "K":
        if not suited:
            return ("kings",)
        if first.suit != "s":
            return ("suited-kings",)
        return ("kings-of-spades-with-dealer-blackjack",) if seen.dealer_blackjack else ("kings-of-spades",)
    if suited:
        return ("suited-pair-20",) if same_rank(first, second) and not first.is_ace else ("suited-20",)
    return ("any-20",)


def _royal_20s(seen: Seen) -> Sequence[Award]:
    first, second = seen.first, seen.second
    if two_card_total(first, second) != 20:
        return ()
    if not same_suit(first, second):
        return ("any-20",)
    return ("suited-faces",) if same_rank(first, second) and first.rank in FACES else ("suited-20",)


def _natural(seen: Seen) -> Sequence[Award]:
    return ("natural",) if is_two_card_21(seen.first, seen.second) else ()


PAIR_EVALUATORS = (
    Evaluator("perfect-pairs", Looks.FIRST_TWO, ("perfect-pair", "coloured-pair", "mixed-pair"), _perfect_pairs),
    Evaluator("bet-the-set", Looks.FIRST_TWO, ("suited-pair", "pair"), _set),
    Evaluator(
        "royal-match",
        Looks.FIRST_TWO,
        ("royal-match", "suited-ace-king", "suited-blackjack", "suited-pair", "suited-neighbours", "suited"),
        _royal_match,
    ),
    Evaluator(
        "lucky-ladies",
        Looks.WITH_BLACKJACK,
        (
            "queens-of-hearts-with-dealer-blackjack",
            "matched-queens-with-dealer-blackjack",
            "queens-with-dealer-blackjack",
            "queens-of-hearts",
            "matched-queens",
            "queens",
            "matched-20",
            "paired-20",
            "suited-20",
            "any-20",
            "queen-of-hearts",
            "one-queen",
        ),
        _lucky_ladies,
    ),
    Evaluator(
        "kings-bounty",
        Looks.WITH_BLACKJACK,
        (
            "kings-of-spades-with-dealer-blackjack",
            "kings-of-spades",
            "suited-kings",
            "suited-pair-20",
            "suited-20",
            "kings",
            "any-20",
        ),
        _kings_bounty,
    ),
    Evaluator("royal-20s", Looks.FIRST_TWO, ("suited-faces", "suited-20", "any-20"), _royal_20s),
    Evaluator("natural", Looks.FIRST_TWO, ("natural",), _natural),
)
"""Those that need no more than the player's two cards and a yes or no about the dealer's."""

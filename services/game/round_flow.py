"""What comes next in a round by the rules alone.

From the deal to insurance, the check, each hand's turn, the dealer, settlement. Owns the moves between phases. Works on a
draft that the caller owns; asks nothing, emits nothing, so folding the same events always leads the same way. Whose choice
is legal is `round_legality`.
"""

from functools import lru_cache
from typing import Final

from services.game.hand import Total
from services.game.house_rules import HouseRules
from services.game.round_marks import (
    AT_DEALER,
    AT_INSURANCE,
    AT_PEEK,
    AT_PICKUP,
    AT_PLAYERS,
    AT_SETTLING,
    NATURAL,
    PLAYING,
    STOOD,
    SURRENDERED,
    TO_DEALER,
    TO_PLAYER,
    VOIDED,
)
from services.game.round_state import DealerHandState, HandState, RoundState
from services.game.round_words import Target
from services.game.rule_options import DealerShows, Face, HoleCard, InsuranceRule, Soft17, Surrender
from services.game.wager_kinds import TIP

# Names of their own, as in `round_marks`.
_PEEK_ACE_TEN: Final = HoleCard.PEEK_ACE_TEN
_PEEK_ACE: Final = HoleCard.PEEK_ACE
_NO_HOLE_CARD: Final = HoleCard.NO_HOLE_CARD
_NO_INSURANCE: Final = InsuranceRule.OFF
_HIT_SOFT_17: Final = Soft17.HIT
_EARLY: Final = Surrender.EARLY
_EARLY_VS_TEN: Final = Surrender.EARLY_VS_TEN


@lru_cache(maxsize=4096)
def card_for_hand(seat: int, number: int, *, face_down: bool = False) -> Target:
    """The target of a card for a player's hand."""
    return Target(TO_PLAYER, seat, number, 0, face_down)


@lru_cache(maxsize=64)
def card_for_dealer(dealer_hand: int, *, face_down: bool = False) -> Target:
    """The target of a card for a dealer's hand."""
    return Target(TO_DEALER, 0, 0, dealer_hand, face_down)


_ONE_FOR_DEALER: Final = (card_for_dealer(0),)


@lru_cache(maxsize=1024)
def first_cards(seats: tuple[int, ...], hole_card: HoleCard, shows: DealerShows) -> tuple[Target, ...]:
    """The deal of 30-820, from the dealer's left: one card to each seat, the up card, a second to each, the hole card."""
    round_of_players = tuple(card_for_hand(seat, 0) for seat in seats)
    second = () if hole_card is _NO_HOLE_CARD else (card_for_dealer(0, face_down=shows is DealerShows.UP_CARD),)
    return (*round_of_players, card_for_dealer(0), *round_of_players, *second)


def dealer_has_blackjack(draft: RoundState) -> bool | None:
    """Whether the dealer has a blackjack (30-802, 30-823): None while that cannot be known."""
    dealer = draft.dealers[0]
    cards = dealer.cards
    if len(cards) > 1:
        return len(cards) == 2 and dealer.total.value == 21
    if draft.hole_checked is not None:
        return draft.hole_checked
    if cards[0].value < 10:
        return False
    return None


def half_of(rules: HouseRules, hand: HandState) -> int:
    """The most that insures a hand: half its wager, rounded down to what can be staked, in cents (30-812)."""
    return hand.wager_cents // 2 // rules.smallest_stake_cents * rules.smallest_stake_cents


def will_peek(draft: RoundState) -> bool:
    """Whether the hole card is checked under this up card (30-823)."""
    dealer = draft.dealers[0]
    if dealer.hole is None or draft.hole_checked is not None:
        return False
    rule = draft.rules.hole_card
    if rule is _PEEK_ACE_TEN:
        return dealer.cards[0].value >= 10
    return rule is _PEEK_ACE and dealer.cards[0].is_ace


def surrender_is_early(draft: RoundState) -> bool:
    """Whether surrender takes half whatever the dealer turns out to hold (30-829)."""
    rule = draft.rules.surrender
    return rule is _EARLY or (rule is _EARLY_VS_TEN and draft.dealers[0].cards[0].is_ten)


def asked_early(draft: RoundState) -> HandState | None:
    """The hand that is asked for early surrender before the check, None when no hand is left to ask (30-829)."""
    if draft.phase is not AT_PEEK or not surrender_is_early(draft):
        return None
    for hand in draft.hands:
        if hand.status is PLAYING and not hand.kept:
            return hand
    return None


def after_first_cards(draft: RoundState) -> bool:
    """Everyone has two cards: naturals are known, and an ace up opens insurance (30-812).

    Tells whether some stake may be decided by now.
    """
    natural = side = False
    for hand in draft.hands:
        if hand.total.value == 21 and hand.status is PLAYING:
            hand.status = NATURAL
            natural = True
        if hand.side:
            side = True
    if draft.dealers[0].cards[0].is_ace and dealer_has_blackjack(draft) is None:
        rules = draft.rules
        insurance = rules.insurance is not _NO_INSURANCE
        if insurance or (rules.even_money and natural):
            draft.phase = AT_INSURANCE
            for hand in draft.hands:
                hand.answered = not _is_offered(rules, hand)
            after_answer(draft)
            return side
    enter_peek(draft)
    return natural or side


def _is_offered(rules: HouseRules, hand: HandState) -> bool:
    """Whether a hand has anything to choose against an ace: insurance, or even money for a blackjack."""
    if hand.status is NATURAL and rules.even_money:
        return True
    return rules.insurance is not _NO_INSURANCE and hand.status in (PLAYING, NATURAL) and half_of(rules, hand) > 0


def after_answer(draft: RoundState) -> None:
    """Insurance ends by itself when every seat has answered."""
    for hand in draft.hands:
        if not hand.answered:
            return
    enter_peek(draft)


def enter_peek(draft: RoundState) -> None:
    """Ask for early surrender, then check the hole card, or go on to the players where there is nothing to check."""
    if will_peek(draft):
        draft.phase = AT_PEEK
        after_early_answer(draft)
    elif dealer_has_blackjack(draft):
        stand_all(draft)
    else:
        enter_players(draft)


def after_early_answer(draft: RoundState) -> None:
    """Skip the check when no hand is left that it could matter to."""
    if not any(_still_open(draft, hand) for hand in draft.hands):
        stand_all(draft)


def _still_open(draft: RoundState, hand: HandState) -> bool:
    return hand.status is PLAYING or waits_for_dealer(draft, hand)


def enter_players(draft: RoundState) -> None:
    """The first hand's turn (30-821)."""
    draft.phase = AT_PLAYERS
    draft.turn = 0
    seek_turn(draft)


def stand_all(draft: RoundState) -> None:
    """The dealer has a blackjack, or no hand is left to play: nobody acts any more."""
    for hand in draft.hands:
        if hand.status is PLAYING:
            hand.status = STOOD
    draft.turn = len(draft.hands)
    enter_dealer(draft)


def seek_turn(draft: RoundState) -> None:
    """Move the turn to the next hand that may act; a split hand gets its second card when its turn comes (30-814)."""
    hands = draft.hands
    turn = draft.turn
    while turn < len(hands):
        hand = hands[turn]
        if hand.status is PLAYING:
            draft.turn = turn
            if len(hand.cards) == 1:
                draft.pending = (card_for_hand(hand.seat, hand.number),)
            return
        turn += 1
    draft.turn = turn
    enter_dealer(draft)


def enter_dealer(draft: RoundState) -> None:
    """All players have all cards that they asked for (30-823)."""
    draft.phase = AT_DEALER
    continue_dealer(draft)


def continue_dealer(draft: RoundState) -> None:
    """Give the dealer a card while the rule wants one and some hand needs it; then settlement comes (30-826)."""
    dealer = draft.dealers[0]
    if dealer.hole is not None:
        return
    rules = draft.rules
    draft.pending = ()
    waiting = deciding = False
    for hand in draft.hands:
        if hand.status is STOOD and not hand.settled:
            waiting = deciding = True
            break
        if waits_for_dealer(draft, hand):
            waiting = True
    needs = waiting if len(dealer.cards) == 1 else deciding and must_draw(dealer.total, rules)
    if needs or (rules.dealer_draws_when_decided and must_draw(dealer.total, rules)):
        draft.pending = _ONE_FOR_DEALER
        return
    draft.phase = AT_SETTLING if waiting else AT_PICKUP


def must_draw(count: Total, rules: HouseRules) -> bool:
    """The dealer's rule: draw on 16 or less, and on a soft 17 where that is posted (30-803(3)(a), 30-826)."""
    if count.value == 17:
        return count.soft and rules.soft17 is _HIT_SOFT_17
    return count.value < 17


def waits_for_dealer(draft: RoundState, hand: HandState) -> bool:
    """Whether something staked on this hand is undecided until the dealer's cards are known."""
    status = hand.status
    if status is VOIDED:
        return False
    for stake in hand.side:
        # A tip bet rides on its hand and needs no card that the hand does not need.
        if stake.kind != TIP:
            return True
    if hand.settled:
        return False
    if status is STOOD:
        return True
    if status is NATURAL:
        return dealer_has_blackjack(draft) is not False
    if status is SURRENDERED:
        return not surrender_is_early(draft) and dealer_has_blackjack(draft) is not False
    return False


def face_of_double(rules: HouseRules) -> bool:
    """Whether a doubled hand's card is laid face down (30-813)."""
    return rules.double_card_face is Face.DOWN


def dealer_with_hole(draft: RoundState) -> DealerHandState | None:
    """The dealer's hand with a face-down card, None when all are open."""
    for dealer in draft.dealers:
        if dealer.hole is not None:
            return dealer
    return None

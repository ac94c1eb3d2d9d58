"""The dealer's side: the check of the hole card, turning over what lies face down, the pickup (30-822, 30-823, 30-826).

Owns the reveal and the end of a round. The hole card is asked about only by yes or no, and known here from its reveal
on.
"""

from collections.abc import Sequence
from typing import Protocol

from services.game.hand import is_blackjack
from services.game.round_commands import PickUpHands, RecordHoleCheck, RevealHole
from services.game.round_events import (
    CardsPickedUp,
    DoubleRevealed,
    HoleChecked,
    HoleRevealed,
    RoundCompleted,
    RoundEvent,
)
from services.game.round_flow import (
    asked_early,
    continue_dealer,
    dealer_with_hole,
    enter_players,
    stand_all,
)
from services.game.round_marks import AT_COMPLETE, AT_DEALER, AT_PEEK, AT_PICKUP, AT_SETTLING, BUST
from services.game.round_rejections import (
    HoleContradictsCheck,
    NoHoleCheckDue,
    NothingToReveal,
    PickupNotDue,
)
from services.game.round_settlement import settle_ripe
from services.game.round_state import HandState, RoundState
from services.game.round_words import HoleQuestion


def hole_question(draft: RoundState) -> HoleQuestion:
    """What would make a blackjack with the up card."""
    return HoleQuestion.IS_TEN_VALUE if draft.dealers[0].cards[0].is_ace else HoleQuestion.IS_ACE


def record_hole_check(draft: RoundState, command: RecordHoleCheck) -> tuple[RoundEvent, ...]:
    """Record the shoe's yes or no; without a blackjack lost insurance is collected and naturals are paid at once."""
    hole = draft.dealers[0].hole if draft.dealers else None
    if draft.phase is not AT_PEEK or hole is None or asked_early(draft) is not None:
        raise NoHoleCheckDue(f"no check is due in phase {draft.phase.value}", phase=draft.phase.value)
    event = HoleChecked(hole, hole_question(draft), command.makes_blackjack)
    apply_hole_checked(draft, event)
    return (event, *settle_ripe(draft))


def apply_hole_checked(draft: RoundState, event: HoleChecked) -> None:
    """Fold: play goes on, or ends at once with the dealer's blackjack."""
    draft.hole_checked = event.makes_blackjack
    if event.makes_blackjack:
        stand_all(draft)
    else:
        enter_players(draft)


def reveal_hole(draft: RoundState, command: RevealHole) -> tuple[RoundEvent, ...]:
    """Turn over the hole card after the players' last card, or a doubled hand's card before the settlement."""
    event: HoleRevealed | DoubleRevealed
    settled: tuple[RoundEvent, ...] = ()
    dealer = dealer_with_hole(draft)
    hidden = hidden_double(draft)
    if draft.phase is AT_DEALER and dealer is not None and dealer.hole == command.position:
        first, second = dealer.cards[0], command.card
        blackjack = is_blackjack((first, second), from_split=False)
        if draft.hole_checked is not None and draft.hole_checked is not blackjack:
            raise HoleContradictsCheck(
                f"the check answered {draft.hole_checked}, the card is {second}", position=command.position
            )
        event = HoleRevealed(command.position, second, draft.dealers.index(dealer))
        apply_hole_revealed(draft, event)
        if draft.hole_checked is None and first.value >= 10:
            # Only now is it known whether the dealer has a blackjack.
            settled = settle_ripe(draft)
    elif draft.phase is AT_SETTLING and hidden is not None and hidden.hidden == command.position:
        event = DoubleRevealed(command.position, command.card, hidden.seat, hidden.number)
        apply_double_revealed(draft, event)
    else:
        raise NothingToReveal(
            f"no card is to be turned over at position {command.position} now",
            position=command.position,
            phase=draft.phase.value,
        )
    return (event, *settled)


def apply_hole_revealed(draft: RoundState, event: HoleRevealed) -> None:
    """Fold: the dealer's second card is known."""
    dealer = draft.dealers[event.dealer_hand]
    dealer.hole = None
    dealer.cards += (event.card,)
    dealer.total = dealer.total.plus(event.card)
    continue_dealer(draft)


def apply_double_revealed(draft: RoundState, event: DoubleRevealed) -> None:
    """Fold: the doubled hand's last card is known; over 21 it is bust."""
    for hand in draft.hands:
        if hand.hidden == event.position:
            hand.hidden = None
            hand.cards += (event.card,)
            hand.total = hand.total.plus(event.card)
            if hand.total.value > 21:
                hand.status = BUST


def hidden_double(draft: RoundState) -> HandState | None:
    """The first open hand whose card lies face down, None when there is none."""
    for hand in draft.hands:
        if hand.hidden is not None and not hand.settled:
            return hand
    return None


def pick_up_hands(draft: RoundState, _command: PickUpHands) -> tuple[RoundEvent, ...]:
    """Collect from the dealer's right, each hand's cards in the order they came, the dealer's last (30-822)."""
    if draft.phase is not AT_PICKUP:
        raise PickupNotDue(f"the round is in phase {draft.phase.value}", phase=draft.phase.value)
    of_dealers = tuple([position for dealer in draft.dealers for position in dealer.positions])
    picked_up = CardsPickedUp(pickup_order(draft.rack, draft.hands, of_dealers))
    apply_cards_picked_up(draft, picked_up)
    completed = RoundCompleted(draft.staked_cents, draft.returned_cents)
    apply_round_completed(draft, completed)
    return (picked_up, completed)


class Laid(Protocol):
    """What lies on the layout: a hand's cards by their shoe positions."""

    positions: tuple[int, ...]


def pickup_order(rack: tuple[int, ...], hands: Sequence[Laid], dealers: tuple[int, ...]) -> tuple[int, ...]:
    """The order of the pickup (30-822), after what is in the rack: from the dealer's right, the dealer's cards last."""
    order = rack
    for hand in reversed(hands):
        order += tuple([one for one in hand.positions if one not in rack]) if rack else hand.positions
    return order + dealers


def apply_cards_picked_up(draft: RoundState, event: CardsPickedUp) -> None:
    """Fold: the layout is empty."""
    draft.rack = event.order


def apply_round_completed(draft: RoundState, _event: RoundCompleted) -> None:
    """Fold: nothing follows."""
    draft.phase = AT_COMPLETE

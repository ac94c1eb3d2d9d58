"""Voiding: a pit supervisor calls one hand, or every hand, a push (30-828(1)).

Owns the two remedies that Rule 8 names. Each records who decided and why; the table checks that it was a supervisor. A
hand that was already paid or collected is not voided but corrected by payment.
"""

from services.game.round_commands import VoidHand, VoidRound
from services.game.round_events import HandVoided, RoundEvent, RoundVoided
from services.game.round_flow import (
    after_answer,
    after_early_answer,
    after_first_cards,
    continue_dealer,
    seek_turn,
    waits_for_dealer,
)
from services.game.round_marks import (
    AT_BETTING,
    AT_COMPLETE,
    AT_DEALER,
    AT_DEALING,
    AT_INSURANCE,
    AT_PEEK,
    AT_PICKUP,
    AT_PLAYERS,
    AT_SETTLING,
    TO_PLAYER,
    VOIDED,
)
from services.game.round_rejections import HandAlreadySettled, RoundOver, SupervisorMissing, UnknownHand
from services.game.round_settlement import settle_voided
from services.game.round_state import HandState, RoundState, hand_at


def void_hand(draft: RoundState, command: VoidHand) -> tuple[RoundEvent, ...]:
    """Call one hand a push: its stakes and its insurance go back."""
    _check_supervisor(command)
    _check_not_over(draft)
    hand = hand_at(draft, command.seat, command.hand)
    if hand is None:
        raise UnknownHand(f"seat {command.seat} has no hand {command.hand}", seat=command.seat, hand=command.hand)
    if hand.settled:
        raise HandAlreadySettled("this hand is settled", seat=command.seat, hand=command.hand)
    event = HandVoided(command.seat, command.hand, command.supervisor, command.reason)
    apply_hand_voided(draft, event)
    return (event, *settle_voided(draft, (hand,)))


def apply_hand_voided(draft: RoundState, event: HandVoided) -> None:
    """Fold: the hand is out; play goes on with the next."""
    hand = hand_at(draft, event.seat, event.hand)
    if hand is None:
        raise LookupError(f"an event names no hand: seat {event.seat} hand {event.hand}")
    _take_out(hand)
    draft.pending = tuple(
        [
            target
            for target in draft.pending
            if (target.to, target.seat, target.hand) != (TO_PLAYER, event.seat, event.hand)
        ]
    )
    _GO_ON[draft.phase](draft)


def void_round(draft: RoundState, command: VoidRound) -> tuple[RoundEvent, ...]:
    """Call every open hand a push and go to the pickup."""
    _check_supervisor(command)
    _check_not_over(draft)
    event = RoundVoided(command.supervisor, command.reason)
    open_hands = tuple([hand for hand in draft.hands if not hand.settled or hand.side])
    apply_round_voided(draft, event)
    return (event, *settle_voided(draft, open_hands))


def apply_round_voided(draft: RoundState, _event: RoundVoided) -> None:
    """Fold: no more cards, no more turns."""
    for hand in draft.hands:
        if not hand.settled:
            _take_out(hand)
    draft.pending = ()
    draft.turn = len(draft.hands)
    draft.phase = AT_PICKUP


def _take_out(hand: HandState) -> None:
    hand.status = VOIDED
    hand.answered = True


def _check_supervisor(command: VoidHand | VoidRound) -> None:
    if not command.supervisor.strip() or not command.reason.strip():
        raise SupervisorMissing("voiding needs a supervisor and a reason")


def _check_not_over(draft: RoundState) -> None:
    if draft.phase in (AT_PICKUP, AT_COMPLETE):
        raise RoundOver("every wager is settled", phase=draft.phase.value)


def _after_missing_card(draft: RoundState) -> None:
    if not draft.pending:
        after_first_cards(draft)


def _after_open(draft: RoundState) -> None:
    if not any(waits_for_dealer(draft, hand) for hand in draft.hands):
        draft.phase = AT_PICKUP


def _nothing(_draft: RoundState) -> None:
    """In betting nothing is waiting for the hand."""


_GO_ON = {
    AT_BETTING: _nothing,
    AT_DEALING: _after_missing_card,
    AT_INSURANCE: after_answer,
    AT_PEEK: after_early_answer,
    AT_PLAYERS: seek_turn,
    AT_DEALER: continue_dealer,
    AT_SETTLING: _after_open,
}

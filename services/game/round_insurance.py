"""Insurance and even money: offered against an ace, before the check and before anyone plays (30-812).

Owns who may take what for how much. Each seat answers once for its hand; the dealer may close the offer for those who
do not.
"""

from services.game.round_betting import check_chips, check_whole
from services.game.round_commands import CloseInsurance, DeclineInsurance, TakeEvenMoney, TakeInsurance, decided_by
from services.game.round_events import (
    EvenMoneyTaken,
    InsuranceClosed,
    InsuranceDeclined,
    InsurancePlaced,
    RoundEvent,
)
from services.game.round_flow import after_answer, enter_peek, half_of
from services.game.round_marks import (
    AT_BETTING,
    AT_COMPLETE,
    AT_DEALING,
    AT_INSURANCE,
    BY_DEALER,
    BY_SYSTEM,
    NATURAL,
    TOOK_EVEN_MONEY,
)
from services.game.round_rejections import (
    BettingStillOpen,
    CardsDue,
    EvenMoneyNotOffered,
    InsuranceNotOffered,
    InsuranceOverHalf,
    NoAceUp,
    NotYourHand,
    RoundOver,
    StakeBelowMinimum,
    UnknownHand,
)
from services.game.round_rejections import InsuranceClosed as InsuranceIsClosed
from services.game.round_settlement import settle_ripe
from services.game.round_state import HandState, RoundState, hand_at
from services.game.round_words import Stake
from services.game.rule_options import InsuranceRule
from services.game.wager_kinds import INSURANCE


def take_insurance(draft: RoundState, command: TakeInsurance) -> tuple[RoundEvent, ...]:
    """Record an insurance wager of up to, or exactly, half."""
    hand = _hand_asked(draft, command.seat, command.player)
    if draft.rules.insurance is InsuranceRule.OFF:
        raise InsuranceNotOffered("the house offers no insurance", seat=command.seat)
    amount = _amount(draft, hand, command.amount_cents)
    event = InsurancePlaced(hand.seat, hand.number, INSURANCE, 1, amount, decided_by(command.player))
    apply_insurance_placed(draft, event)
    return (event,)


def _amount(draft: RoundState, hand: HandState, amount_cents: int) -> int:
    """Check an insurance amount; 0 stands for the half, rounded down to what can be staked."""
    check_whole(amount_cents)
    rules = draft.rules
    half, least = half_of(rules, hand), rules.smallest_stake_cents
    if amount_cents == 0 and half > 0:
        return half
    facts: dict[str, int | str] = {"seat": hand.seat, "stake_cents": amount_cents, "half_cents": half}
    if amount_cents <= 0:
        raise StakeBelowMinimum(f"insurance takes at least {least} cents", **facts, minimum_cents=least)
    if amount_cents > half:
        raise InsuranceOverHalf(f"{amount_cents} cents is more than half of {hand.wager_cents}", **facts)
    if rules.insurance is InsuranceRule.EXACTLY_HALF and amount_cents != half:
        raise InsuranceOverHalf(f"insurance is exactly {half} cents here", **facts)
    check_chips(rules, amount_cents, **facts)
    return amount_cents


def apply_insurance_placed(draft: RoundState, event: InsurancePlaced) -> None:
    """Fold: the stake is locked beside the hand's own."""
    hand = _hand(draft, event.seat, event.hand)
    hand.side = (*hand.side, Stake(event.kind, event.ordinal, event.amount_cents))
    draft.staked_cents += event.amount_cents
    hand.answered = True
    after_answer(draft)


def decline_insurance(draft: RoundState, command: DeclineInsurance) -> tuple[RoundEvent, ...]:
    """Record that the seat does without."""
    hand = _hand_asked(draft, command.seat, command.player)
    event = InsuranceDeclined(hand.seat, hand.number, decided_by(command.player))
    apply_insurance_declined(draft, event)
    return (event,)


def apply_insurance_declined(draft: RoundState, event: InsuranceDeclined) -> None:
    """Fold: the seat has answered."""
    _hand(draft, event.seat, event.hand).answered = True
    after_answer(draft)


def take_even_money(draft: RoundState, command: TakeEvenMoney) -> tuple[RoundEvent, ...]:
    """Pay a blackjack 1 to 1 now, whatever the dealer turns out to hold."""
    hand = _hand_asked(draft, command.seat, command.player)
    if not draft.rules.even_money or hand.status is not NATURAL:
        raise EvenMoneyNotOffered("even money is for a blackjack, where the house gives it", seat=command.seat)
    event = EvenMoneyTaken(hand.seat, hand.number, decided_by(command.player))
    apply_even_money_taken(draft, event)
    return (event, *settle_ripe(draft))


def apply_even_money_taken(draft: RoundState, event: EvenMoneyTaken) -> None:
    """Fold: the hand is decided."""
    hand = _hand(draft, event.seat, event.hand)
    hand.status = TOOK_EVEN_MONEY
    hand.answered = True
    after_answer(draft)


def close_insurance(draft: RoundState, command: CloseInsurance) -> tuple[RoundEvent, ...]:
    """End the offer; who has not answered declines."""
    if draft.phase is not AT_INSURANCE:
        raise InsuranceIsClosed("no insurance is open", phase=draft.phase.value)
    event = InsuranceClosed(BY_SYSTEM if command.by_timeout else BY_DEALER)
    apply_insurance_closed(draft, event)
    return (event,)


def apply_insurance_closed(draft: RoundState, _event: InsuranceClosed) -> None:
    """Fold: every seat has answered."""
    for hand in draft.hands:
        hand.answered = True
    enter_peek(draft)


def _hand(draft: RoundState, seat: int, number: int) -> HandState:
    hand = hand_at(draft, seat, number)
    if hand is None:
        raise LookupError(f"an event names no hand: seat {seat} hand {number}")
    return hand


def _hand_asked(draft: RoundState, seat: int, player: str) -> HandState:
    """Find the hand that may answer the offer now, or raise why it may not."""
    hand = hand_at(draft, seat, 0)
    if hand is None:
        raise UnknownHand(f"seat {seat} has no wager in this round", seat=seat)
    if player and player != hand.player:
        raise NotYourHand(f"seat {seat} is another player's", seat=seat, player=player)
    if draft.phase is not AT_INSURANCE:
        _refuse_moment(draft, seat)
    if hand.answered:
        raise InsuranceIsClosed(f"seat {seat} has answered or has nothing to insure", seat=seat)
    return hand


def _refuse_moment(draft: RoundState, seat: int) -> None:
    facts: dict[str, int | str] = {"seat": seat, "phase": draft.phase.value}
    if draft.phase is AT_BETTING:
        raise BettingStillOpen("no cards are out yet", **facts)
    if draft.phase is AT_DEALING:
        raise CardsDue("the first cards are not all out yet", **facts)
    if draft.phase is AT_COMPLETE:
        raise RoundOver("the round has ended", **facts)
    up_cards = draft.dealers[0].cards if draft.dealers else ()
    if not up_cards or not up_cards[0].is_ace:
        raise NoAceUp("the dealer shows no ace", **facts)
    if draft.rules.insurance is InsuranceRule.OFF:
        raise InsuranceNotOffered("the house offers no insurance", **facts)
    raise InsuranceIsClosed("insurance has been closed", **facts)

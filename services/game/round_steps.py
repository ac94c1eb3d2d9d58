"""What a round waits for: the next step, and the choices that are open.

Owns the question, not the answer: a conductor asks `next_step`, gets what it names (a wager, cards, a choice) and sends
it as a command. A round that is not complete always has a step that some command fulfils.
"""

from dataclasses import dataclass

from services.game.quick import quick
from services.game.round_dealer import hidden_double, hole_question
from services.game.round_flow import asked_early, dealer_with_hole, half_of
from services.game.round_legality import allowed_for
from services.game.round_marks import (
    AT_BETTING,
    AT_DEALER,
    AT_INSURANCE,
    AT_PEEK,
    AT_PICKUP,
    AT_PLAYERS,
    AT_SETTLING,
    NATURAL,
    SURRENDER,
)
from services.game.round_state import HandState, RoundState
from services.game.round_words import Action, HoleQuestion, Target
from services.game.rule_options import InsuranceRule


@dataclass(frozen=True, slots=True)
class AwaitWagers:
    """Betting is open: `PlaceWagers`, and `CloseBetting` when the dealer is ready."""


@dataclass(frozen=True, slots=True)
class DrawCards:
    """Draw as many cards as there are targets and send them as `DealCards`, in this order."""

    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class AwaitInsurance:
    """These seats have not answered: `TakeInsurance`, `DeclineInsurance`, `TakeEvenMoney`; or `CloseInsurance`."""

    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CheckHoleCard:
    """Ask the shoe this about the card at this position and send `RecordHoleCheck`."""

    position: int
    question: HoleQuestion


@dataclass(frozen=True, slots=True)
class AwaitDecision:
    """This hand is in turn and may do this."""

    seat: int
    hand: int
    allowed: frozenset[Action]


@dataclass(frozen=True, slots=True)
class RevealHoleCard:
    """Have the shoe reveal the card at this position and send `RevealHole`."""

    position: int


@dataclass(frozen=True, slots=True)
class SettleHands:
    """Every card is out: send `SettleWagers`."""


@dataclass(frozen=True, slots=True)
class PickUpCards:
    """Every wager is settled: send `PickUpHands`."""


@dataclass(frozen=True, slots=True)
class RoundComplete:
    """Nothing more."""


Step = (
    AwaitWagers
    | DrawCards
    | AwaitInsurance
    | CheckHoleCard
    | AwaitDecision
    | RevealHoleCard
    | SettleHands
    | PickUpCards
    | RoundComplete
)

_draw = quick(DrawCards)
_decision = quick(AwaitDecision)
_EARLY_CHOICES = frozenset({SURRENDER, Action.DECLINE_SURRENDER})


def next_step(round_: RoundState) -> Step:
    """Tell what the round waits for now."""
    if round_.pending:
        return _draw(round_.pending)
    phase = round_.phase
    if phase is AT_PLAYERS:
        hand = round_.hands[round_.turn]
        return _decision(hand.seat, hand.number, allowed_for(round_, hand))
    if phase is AT_DEALER or phase is AT_SETTLING:
        return _end_step(round_)
    if phase is AT_PEEK:
        return _peek_step(round_)
    if phase is AT_INSURANCE:
        return AwaitInsurance(tuple([hand.seat for hand in round_.hands if not hand.answered]))
    if phase is AT_BETTING:
        return AwaitWagers()
    return PickUpCards() if phase is AT_PICKUP else RoundComplete()


def _peek_step(round_: RoundState) -> Step:
    hand = asked_early(round_)
    if hand is not None:
        return _decision(hand.seat, hand.number, _EARLY_CHOICES)
    hole = round_.dealers[0].hole
    if hole is None:
        raise LookupError("a check without a hole card")
    return CheckHoleCard(hole, hole_question(round_))


def _end_step(round_: RoundState) -> Step:
    dealer = dealer_with_hole(round_)
    if dealer is not None and dealer.hole is not None:
        return RevealHoleCard(dealer.hole)
    hidden = hidden_double(round_)
    if hidden is not None and hidden.hidden is not None:
        return RevealHoleCard(hidden.hidden)
    return SettleHands()


def allowed_actions(round_: RoundState, seat: int | None = None) -> frozenset[Action]:
    """Give the choices that are open now, of everyone or of one seat: empty when the round waits for no player."""
    if round_.pending:
        return frozenset()
    if round_.phase is AT_INSURANCE:
        asked = [hand for hand in round_.hands if not hand.answered and seat in (None, hand.seat)]
        return frozenset().union(*(_insurance_choices(round_, hand) for hand in asked))
    if round_.phase is AT_PLAYERS:
        hand = round_.hands[round_.turn]
        return allowed_for(round_, hand) if seat in (None, hand.seat) else frozenset()
    early = asked_early(round_)
    return _EARLY_CHOICES if early is not None and seat in (None, early.seat) else frozenset()


def _insurance_choices(round_: RoundState, hand: HandState) -> frozenset[Action]:
    choices = {Action.DECLINE_INSURANCE}
    if round_.rules.insurance is not InsuranceRule.OFF and half_of(round_.rules, hand):
        choices.add(Action.INSURE)
    if round_.rules.even_money and hand.status is NATURAL:
        choices.add(Action.EVEN_MONEY)
    return frozenset(choices)

"""One round of blackjack as decide and evolve: 30-807 to 30-823, 30-825 to 30-827 and 30-829.

Owns the front door; the rules are in the `round_…` modules beside it. Promises: `decide` changes nothing and either
gives the events of the whole command or raises the `Rejection` named after the broken rule; folding those events with
`evolve` is all that ever changes a round. Draws no card, knows no clock and no chance; the hole card's value is unknown
here until it is revealed. A rule is asked three ways: `verify` raises the reason, `can` asks, `decide` acts.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from services.game import round_betting as betting
from services.game import round_commands as commands
from services.game import round_dealer as dealer
from services.game import round_dealing as dealing
from services.game import round_events as events
from services.game import round_insurance as insurance
from services.game import round_players as players
from services.game import round_settlement as settlement
from services.game import round_voiding as voiding
from services.game.house_rules import HouseRules
from services.game.rejections import Rejection
from services.game.round_commands import Command
from services.game.round_events import RoundEvent, RoundOpened
from services.game.round_pay import pay_table
from services.game.round_rejections import RulesMismatch, SeatLimit
from services.game.round_state import Round, RoundState, freeze, thaw
from services.game.round_steps import Step, allowed_actions, next_step
from services.game.round_words import SeatedPlayer

__all__ = [
    "Command",
    "Round",
    "RoundEvent",
    "RoundPlay",
    "Step",
    "allowed_actions",
    "begin",
    "can",
    "decide",
    "evolve",
    "evolve_all",
    "next_step",
    "open_round",
    "seat_freed",
    "shuffled_anew",
    "verify",
]


_DECIDE: Final[dict[type, Callable[[RoundState, Any], tuple[RoundEvent, ...]]]] = {
    commands.PlaceWagers: betting.place_wagers,
    commands.CloseBetting: betting.close_betting,
    commands.DealCards: dealing.deal_cards,
    commands.TakeInsurance: insurance.take_insurance,
    commands.DeclineInsurance: insurance.decline_insurance,
    commands.TakeEvenMoney: insurance.take_even_money,
    commands.CloseInsurance: insurance.close_insurance,
    commands.RecordHoleCheck: dealer.record_hole_check,
    commands.Hit: players.hit,
    commands.Stand: players.stand,
    commands.DoubleDown: players.double_down,
    commands.Split: players.split,
    commands.SurrenderHand: players.surrender_hand,
    commands.DeclineSurrender: players.decline_surrender,
    commands.StandByTimeout: players.stand_by_timeout,
    commands.RevealHole: dealer.reveal_hole,
    commands.VoidHand: voiding.void_hand,
    commands.VoidRound: voiding.void_round,
    commands.SettleWagers: settlement.settle_wagers,
    commands.PickUpHands: dealer.pick_up_hands,
}

_APPLY: Final[dict[type, Callable[[RoundState, Any], None]]] = {
    events.WagerPlaced: betting.apply_wager_placed,
    events.BettingClosed: betting.apply_betting_closed,
    events.CardDealt: dealing.apply_card_dealt,
    events.InsurancePlaced: insurance.apply_insurance_placed,
    events.InsuranceDeclined: insurance.apply_insurance_declined,
    events.EvenMoneyTaken: insurance.apply_even_money_taken,
    events.InsuranceClosed: insurance.apply_insurance_closed,
    events.HoleChecked: dealer.apply_hole_checked,
    events.SurrenderDeclined: players.apply_surrender_declined,
    events.HandHit: players.apply_hand_hit,
    events.HandStood: players.apply_hand_stood,
    events.HandDoubled: players.apply_hand_doubled,
    events.HandSplit: players.apply_hand_split,
    events.HandSurrendered: players.apply_hand_surrendered,
    events.HoleRevealed: dealer.apply_hole_revealed,
    events.DoubleRevealed: dealer.apply_double_revealed,
    events.HandVoided: voiding.apply_hand_voided,
    events.RoundVoided: voiding.apply_round_voided,
    events.WagersSettled: settlement.apply_wagers_settled,
    events.CardsPickedUp: dealer.apply_cards_picked_up,
    events.RoundCompleted: dealer.apply_round_completed,
}


def open_round(
    round_id: str, rules: HouseRules, seats: tuple[SeatedPlayer, ...] = (), *, first_of_shoe: bool = True
) -> RoundOpened:
    """Decide the event that opens a round for betting.

    `seats` names who holds which seat; a free seat may still be wagered on by a player who comes during betting.
    `first_of_shoe` says that the cards were shuffled just before, so that anyone may join (30-809). Raises `SeatLimit`
    for a seat that the table does not have or that is named twice.
    """
    numbers = [seated.seat for seated in seats]
    if numbers and (len(set(numbers)) != len(numbers) or min(numbers) < 1 or max(numbers) > rules.max_seats):
        raise SeatLimit(f"seats are 1 to {rules.max_seats}, each once", seats=" ".join(map(str, numbers)))
    return RoundOpened(round_id, rules.name, rules.version, rules.digest, seats, first_of_shoe)


def begin(opened: RoundOpened, rules: HouseRules) -> Round:
    """Fold the first event into a round.

    Raises `RulesMismatch` when `rules` are not those that it was opened under (30-804).
    """
    return freeze(_begin_draft(opened, rules))


def _begin_draft(opened: RoundOpened, rules: HouseRules) -> RoundState:
    if opened.rules_digest != rules.digest:
        raise RulesMismatch("the round was opened under other rules", recorded=opened.rules_digest, given=rules.digest)
    holders = {seated.seat: seated.player for seated in opened.seats}
    return RoundState(opened.round_id, rules, pay_table(rules), holders, opened.seats, opened.first_of_shoe)


def seat_freed(round_: Round, seat: int) -> Round:
    """Give the round with this seat free for whoever comes, once its holder has left before wagering (30-809).

    A seat with a wager stays its player's.
    """
    if any(hand.seat == seat for hand in round_.hands) or seat not in round_.holders:
        return round_
    draft = thaw(round_)
    draft.holders = {taken: player for taken, player in round_.holders.items() if taken != seat}
    return freeze(draft)


def shuffled_anew(round_: Round) -> Round:
    """Give the round as the first of a shoe: the cards were shuffled before its first wager, so anyone may join (30-809)."""
    draft = thaw(round_)
    draft.first_of_shoe = True
    return freeze(draft)


def decide(round_: RoundState, command: Command) -> tuple[RoundEvent, ...]:
    """Give the events of a command: none when its effect stands already. Raises the `Rejection` of the broken rule."""
    return _DECIDE[type(command)](thaw(round_), command)


def evolve(round_: RoundState, event: RoundEvent) -> Round:
    """Fold one event into a round, which stays as it is; a new one is given."""
    return evolve_all(round_, (event,))


def evolve_all(round_: RoundState, happened: Iterable[RoundEvent]) -> Round:
    """Fold events in order, at the price of one copy."""
    draft = thaw(round_)
    for event in happened:
        _APPLY[type(event)](draft, event)
    return freeze(draft)


def verify(round_: RoundState, command: Command) -> None:
    """Raise the `Rejection` that `decide` would raise; return when the command is legal."""
    decide(round_, command)


def can(round_: RoundState, command: Command) -> bool:
    """Tell whether `decide` would accept the command."""
    try:
        decide(round_, command)
    except Rejection:
        return False
    return True


class RoundPlay:
    """A round that one owner plays in memory, without a copy for each command: for simulations, records and measures.

    The rules and events are exactly those of `decide` and `evolve`. `state` may be read between commands and is never
    to be kept: it changes in place. After a `Rejection` it is unchanged.
    """

    __slots__ = ("opened", "state")

    def __init__(self, opened: RoundOpened, rules: HouseRules) -> None:
        self.opened = opened
        self.state = _begin_draft(opened, rules)

    def do(self, command: Command) -> tuple[RoundEvent, ...]:
        """Decide a command and fold its events at once; give the events."""
        return _DECIDE[type(command)](self.state, command)

    def next_step(self) -> Step:
        """Tell what the round waits for now."""
        return next_step(self.state)

    def as_round(self) -> Round:
        """Give the round as it stands now, as an immutable copy."""
        return freeze(thaw(self.state))

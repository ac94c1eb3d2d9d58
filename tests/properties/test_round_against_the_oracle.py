"""The real round against a second opinion that shares no code with it, under random rule sets and rich cards.

Every question of the round must be the oracle's question, with the same choices allowed; every stake must bring what the
oracle pays; the dealer must hold the oracle's cards. Illegal choices are tried in between and must change nothing.
"""

import random
from collections import Counter
from collections.abc import Callable

import pytest

from services.game import round_commands as ask
from services.game.cards import standard_deck
from services.game.round import RoundPlay, can, open_round
from services.game.round_events import RoundCompleted, RoundEvent, WagersSettled
from services.game.round_steps import (
    AwaitDecision,
    AwaitInsurance,
    AwaitWagers,
    CheckHoleCard,
    DrawCards,
    PickUpCards,
    RevealHoleCard,
    RoundComplete,
    SettleHands,
    allowed_actions,
)
from services.game.round_words import Action, DealtCard, Wager
from services.game.rule_options import InsuranceRule, Rounding
from tests.support import settlement_oracle as oracle
from tests.support.random_rules import random_rules
from tests.support.seeds import seeded

ROUNDS = 1_500
PARTS = 4
_FAVOURED = ("", "A", "AT", "8", "A8", "AKQJT", "9A2", "5T", "678", "7A")
_ORDERS: dict[Action, Callable[[int, int, int], ask.Command]] = {
    Action.HIT: lambda seat, hand, _: ask.Hit(seat, hand),
    Action.STAND: lambda seat, hand, _: ask.Stand(seat, hand),
    Action.DOUBLE: lambda seat, hand, cents: ask.DoubleDown(seat, hand, amount_cents=cents),
    Action.SPLIT: lambda seat, hand, cents: ask.Split(seat, hand, amount_cents=cents),
    Action.SURRENDER: lambda seat, hand, _: ask.SurrenderHand(seat, hand),
    Action.DECLINE_SURRENDER: lambda seat, hand, _: ask.DeclineSurrender(seat, hand),
    Action.INSURE: lambda seat, _, cents: ask.TakeInsurance(seat, amount_cents=cents),
    Action.DECLINE_INSURANCE: lambda seat, *_: ask.DeclineInsurance(seat),
    Action.EVEN_MONEY: lambda seat, *_: ask.TakeEvenMoney(seat),
}


class Table:
    """One round as it is really played, by random choices; what was chosen is kept for the oracle."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.rules = random_rules(chance)
        favoured = chance.choice(_FAVOURED)
        rich = [card for card in standard_deck() if card.rank in favoured]
        self.cards = [
            chance.choice(rich) if rich and chance.random() < 0.6 else chance.choice(standard_deck())
            for _ in range(400)
        ]
        step = self.rules.limits.increment_cents
        seats = chance.sample(range(1, 8), chance.randint(1, 4))
        self.wagers = {seat: step * chance.randint(1, 60) for seat in seats}
        self.play = RoundPlay(open_round("black-hawk/BJ-07#1", self.rules), self.rules)
        self.drawn = 0
        self.asked: list[tuple[int, int, frozenset[str], str, int]] = []
        self.events: list[RoundEvent] = []

    def run(self) -> None:
        wagers = [Wager(seat, f"patron-{seat}", "main", cents) for seat, cents in self.wagers.items()]
        self.do(ask.PlaceWagers(tuple(wagers)))
        while not isinstance(step := self.play.next_step(), RoundComplete):
            match step:
                case AwaitWagers():
                    self.do(ask.CloseBetting())
                case DrawCards(targets):
                    self.do(
                        ask.DealCards(
                            tuple(
                                DealtCard(at, None if target.face_down else self.cards[at])
                                for at, target in enumerate(targets, self.drawn)
                            )
                        )
                    )
                    self.drawn += len(targets)
                case AwaitInsurance(seats):
                    self.choose(seats[0], 0, allowed_actions(self.play.state, seats[0]))
                case AwaitDecision(seat, hand, allowed):
                    self.choose(seat, hand, allowed)
                case CheckHoleCard(position):
                    up, hole = self.play.state.dealers[0].cards[0], self.cards[position]
                    self.do(ask.RecordHoleCheck(oracle.count([up, hole])[0] == 21))
                case RevealHoleCard(position):
                    self.do(ask.RevealHole(position, self.cards[position]))
                case SettleHands():
                    self.do(ask.SettleWagers())
                case PickUpCards():
                    self.do(ask.PickUpHands())

    def choose(self, seat: int, hand: int, allowed: frozenset[Action]) -> None:
        action = self.chance.choice(sorted(allowed))
        # Standing is boring: a hand that may do more does more.
        if action in (Action.STAND, Action.DECLINE_INSURANCE, Action.DECLINE_SURRENDER) and self.chance.random() < 0.5:
            action = self.chance.choice(sorted(allowed))
        for other in set(Action) - allowed:
            assert not can(self.play.as_round(), _ORDERS[other](seat, hand, 0)), other
        amount = self.extra_stake(seat, hand, action)
        self.asked.append((seat, hand, frozenset(action.value for action in allowed), action.value, amount))
        self.do(_ORDERS[action](seat, hand, amount))

    def extra_stake(self, seat: int, hand: int, action: Action) -> int:
        whole = next(h.wager_cents for h in self.play.state.hands if (h.seat, h.number) == (seat, hand))
        chip = 1 if self.rules.rounding is Rounding.EXACT else self.rules.chip_cents
        if action is Action.INSURE:
            most = whole // 2 // chip
            return chip * (most if self.rules.insurance is InsuranceRule.EXACTLY_HALF else self.chance.randint(1, most))
        if action is Action.DOUBLE:
            return chip * self.chance.randint(1, whole // chip) if self.rules.double_for_less else whole
        return whole if action is Action.SPLIT else 0

    def do(self, command: ask.Command) -> None:
        self.events += self.play.do(command)


class Memory:
    """Answers the oracle's questions as the round's were answered, which must be the same questions."""

    def __init__(self, asked: list[tuple[int, int, frozenset[str], str, int]]) -> None:
        self.answers = iter(asked)

    def choose(self, seat: int, hand: int, allowed: frozenset[str]) -> tuple[str, int]:
        asked_seat, asked_hand, asked_allowed, action, amount = next(self.answers)
        assert (seat, hand, allowed) == (asked_seat, asked_hand, asked_allowed)
        return action, amount


@pytest.mark.parametrize("part", range(PARTS))
def test_rounds_are_played_and_paid_as_the_oracle_says(part: int) -> None:
    chance = seeded(f"tests/properties/test_round_against_the_oracle.py -k {part}")
    seen: Counter[str] = Counter()
    for _ in range(ROUNDS // PARTS):
        table = Table(chance)
        table.run()
        memory = Memory(table.asked)
        second = oracle.play(table.rules, iter(table.cards), table.wagers, memory.choose)
        assert next(memory.answers, None) is None
        lines = [line for event in table.events if isinstance(event, WagersSettled) for line in event.lines]
        paid = {(line.seat, line.hand, line.kind, line.ordinal): line.returned_cents for line in lines}
        assert paid == second.returned
        assert len(paid) == len(lines)
        assert list(table.play.state.dealers[0].cards) == second.dealer
        completed = table.events[-1]
        assert isinstance(completed, RoundCompleted)
        assert completed.returned_cents == sum(second.returned.values())
        seen.update(action for *_, action, _ in table.asked)
        seen.update(line.cause.value for line in lines)
    # Random play that misses half the game would show nothing.
    for often in ("hit", "split", "double", "insure", "surrender", "dealer-blackjack", "natural", "tie", "player-bust"):
        assert seen[often], often

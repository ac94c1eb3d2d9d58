"""A round for tests: cards in shoe order, wagers by seat, and commands; everything that is no choice happens by itself.

Goes through `decide` and `evolve` only, as a table does, and keeps every event.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, get_type_hints

import pytest

from services.game import round_commands as ask
from services.game.cards import Card
from services.game.house_rules import HouseRules
from services.game.profiles import profile
from services.game.rejections import Rejection
from services.game.round import Command, Round, RoundEvent, Step, begin, decide, evolve, next_step, open_round
from services.game.round_events import CardDealt, WagersSettled
from services.game.round_state import HandState
from services.game.round_steps import CheckHoleCard, DrawCards, PickUpCards, RevealHoleCard, SettleHands
from services.game.round_words import DealtCard, SeatedPlayer, SettlementLine, Wager
from services.game.rule_options import Limits

ANY_STAKE = Limits(minimum_cents=1, maximum_cents=100_000_00, increment_cents=1)


def house(**changes: Any) -> HouseRules:
    """The Colorado profile with changes; any whole number of cents may be wagered unless `limits` says else.

    An option may be given by its word, as in a rule file: `surrender="early"`.
    """
    hints = get_type_hints(HouseRules)
    chosen = {name: hints[name](value) if isinstance(value, str) else value for name, value in changes.items()}
    return replace(profile("colorado"), **{"limits": ANY_STAKE, **chosen})


def cards(text: str) -> list[Card]:
    return [Card.parse(word) for word in text.split()]


def player(seat: int) -> str:
    return f"player-{seat}"


class Game:
    """One round. `wagers` by seat in cents are placed at once and betting is closed, unless there are none."""

    def __init__(
        self,
        shoe: str = "",
        wagers: Mapping[int, int] | None = None,
        *,
        seats: tuple[SeatedPlayer, ...] = (),
        first_of_shoe: bool = True,
        **changes: Any,
    ) -> None:
        self.rules = house(**changes)
        self.shoe = cards(shoe)
        self.next_card = 0
        opened = open_round("black-hawk/BJ-07#1", self.rules, seats, first_of_shoe=first_of_shoe)
        self.round: Round = begin(opened, self.rules)
        self.events: list[RoundEvent] = [opened]
        if wagers:
            self.send(
                ask.PlaceWagers(tuple(Wager(seat, player(seat), "main", stake) for seat, stake in wagers.items()))
            )
            self.send(ask.CloseBetting())

    def send(self, *commands: Command) -> "Game":
        """Send commands one after the other, and between them whatever needs nobody's choice."""
        for command in commands:
            self._record(decide(self.round, command))
            while (answer := self._answer()) is not None:
                self._record(decide(self.round, answer))
        return self

    def hit(self, seat: int, hand: int = 0) -> "Game":
        return self.send(ask.Hit(seat, hand))

    def stand(self, seat: int, hand: int = 0) -> "Game":
        return self.send(ask.Stand(seat, hand))

    def double(self, seat: int, hand: int = 0, amount_cents: int = 0) -> "Game":
        return self.send(ask.DoubleDown(seat, hand, amount_cents=amount_cents))

    def split(self, seat: int, hand: int = 0) -> "Game":
        return self.send(ask.Split(seat, hand))

    def surrender(self, seat: int, hand: int = 0) -> "Game":
        return self.send(ask.SurrenderHand(seat, hand))

    def refused(self, command: Command, rejection: type[Rejection]) -> Rejection:
        """Send a command that must be refused by just this rule and change nothing."""
        before = self.round
        with pytest.raises(Rejection) as caught:
            decide(self.round, command)
        assert type(caught.value) is rejection, f"{type(caught.value).__name__}: {caught.value.message}"
        assert self.round is before
        assert caught.value.rule
        assert caught.value.remedy
        return caught.value

    def step(self) -> Step:
        return next_step(self.round)

    @property
    def lines(self) -> list[SettlementLine]:
        return [line for event in self.events if isinstance(event, WagersSettled) for line in event.lines]

    def line(self, seat: int, hand: int = 0, kind: str | None = None) -> SettlementLine:
        """The one settlement line of a hand, or of one kind of its stakes."""
        found = [line for line in self.lines if (line.seat, line.hand) == (seat, hand) and kind in (None, line.kind)]
        assert len(found) == 1, found
        return found[0]

    def net(self, seat: int) -> int:
        """What the seat won or lost in cents."""
        return sum(line.returned_cents - line.stake_cents for line in self.lines if line.seat == seat)

    def hand(self, seat: int, number: int = 0) -> HandState:
        return next(hand for hand in self.round.hands if (hand.seat, hand.number) == (seat, number))

    @property
    def dealer(self) -> str:
        return " ".join(str(card) for card in self.round.dealers[0].cards)

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    def dealt_to(self) -> list[tuple[int, int]]:
        """Seat and hand of every card dealt, (0, 0) for the dealer."""
        return [(event.seat, event.hand) for event in self.events if isinstance(event, CardDealt)]

    def _record(self, events: Iterable[RoundEvent]) -> None:
        for event in events:
            self.round = evolve(self.round, event)
            self.events.append(event)

    def _answer(self) -> Command | None:
        step = next_step(self.round)
        if isinstance(step, DrawCards) and self.next_card + len(step.targets) <= len(self.shoe):
            first = self.next_card
            self.next_card += len(step.targets)
            return ask.DealCards(
                tuple(
                    DealtCard(first + at, None if target.face_down else self.shoe[first + at])
                    for at, target in enumerate(step.targets)
                )
            )
        if isinstance(step, CheckHoleCard):
            up_card, hole = self.round.dealers[0].cards[0], self.shoe[step.position]
            return ask.RecordHoleCheck(hole.is_ten if up_card.is_ace else hole.is_ace)
        if isinstance(step, RevealHoleCard):
            return ask.RevealHole(step.position, self.shoe[step.position])
        if isinstance(step, SettleHands):
            return ask.SettleWagers()
        return ask.PickUpHands() if isinstance(step, PickUpCards) else None

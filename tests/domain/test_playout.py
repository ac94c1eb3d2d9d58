"""The fast lane gives the very events that the round gives by its commands, for the same cards and the same chart."""

import contextlib
import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.game import round_commands as ask
from services.game.cards import Card, standard_deck
from services.game.house_rules import HouseRules
from services.game.playout import Playout
from services.game.rejections import Rejection
from services.game.round import RoundPlay, begin, evolve_all, open_round
from services.game.round_events import RoundEvent, RoundOpened
from services.game.round_rejections import GameNotPlayable, StakeBelowMinimum
from services.game.round_steps import (
    AwaitDecision,
    AwaitInsurance,
    CheckHoleCard,
    DrawCards,
    PickUpCards,
    RevealHoleCard,
    RoundComplete,
    SettleHands,
)
from services.game.round_words import Action, DealtCard, Phase, SeatedPlayer, Wager
from services.game.rule_options import Face, HoleCard, Surrender
from services.game.strategy import basic_strategy
from services.game.wager_kinds import STANDARD_MAIN_PAYS, MainResult, PayRule
from tests.domain.test_round_properties import CARD, rule_sets
from tests.support.round_game import house, player

MAKES: dict[Action, Callable[[int, int, str], ask.Command]] = {
    Action.HIT: ask.Hit,
    Action.STAND: ask.Stand,
    Action.DOUBLE: ask.DoubleDown,
    Action.SPLIT: ask.Split,
}


class Shoe:
    """Gives listed cards in their order."""

    def __init__(self, cards: list[Card]) -> None:
        self.cards = cards
        self.next = 0

    def draw(self, count: int) -> tuple[int, list[Card]]:
        first = self.next
        self.next += count
        return first, self.cards[first : self.next]


def by_commands(
    rules: HouseRules, seats: tuple[SeatedPlayer, ...], wagers: ask.PlaceWagers, shoe: Shoe
) -> list[RoundEvent]:
    """The same round by steps and commands, players answering for themselves."""
    chart = basic_strategy(rules)
    opened = open_round("black-hawk/BJ-07#1", rules, seats)
    play = RoundPlay(opened, rules)
    events: list[RoundEvent] = [opened, *play.do(wagers), *play.do(ask.CloseBetting())]
    while not isinstance(step := play.next_step(), RoundComplete):
        if isinstance(step, DrawCards):
            first, cards = shoe.draw(len(step.targets))
            dealt = [
                DealtCard(first + at, None if target.face_down else cards[at]) for at, target in enumerate(step.targets)
            ]
            events += play.do(ask.DealCards(tuple(dealt)))
        elif isinstance(step, AwaitInsurance):
            events += play.do(ask.CloseInsurance())
        elif isinstance(step, CheckHoleCard):
            up_card, hole = play.state.dealers[0].cards[0], shoe.cards[step.position]
            events += play.do(ask.RecordHoleCheck(hole.is_ten if up_card.is_ace else hole.is_ace))
        elif isinstance(step, RevealHoleCard):
            events += play.do(ask.RevealHole(step.position, shoe.cards[step.position]))
        elif isinstance(step, AwaitDecision):
            hand = play.state.hands[play.state.turn]
            action = chart.choose(hand.cards, play.state.dealers[0].cards[0], step.allowed)
            make = MAKES.get(action, ask.SurrenderHand)
            events += play.do(make(step.seat, step.hand, hand.player))
        elif isinstance(step, SettleHands):
            events += play.do(ask.SettleWagers())
        elif isinstance(step, PickUpCards):
            events += play.do(ask.PickUpHands())
    return events


def wagers_of(stakes: dict[int, int]) -> ask.PlaceWagers:
    return ask.PlaceWagers(tuple(Wager(seat, player(seat), "main", stake) for seat, stake in stakes.items()))


def playable(rules: HouseRules) -> HouseRules:
    """The rule set without what cannot be played in one go."""
    early = rules.surrender in {Surrender.EARLY, Surrender.EARLY_VS_TEN}
    hidden = rules.hole_card is HoleCard.NO_HOLE_CARD
    return replace(
        rules,
        surrender=Surrender.LATE if early else rules.surrender,
        hole_card=HoleCard.NO_PEEK if hidden else rules.hole_card,
        double_card_face=Face.UP,
    )


def shuffled(seed: int) -> Shoe:
    """Ninety cards, rich in pairs, aces and tens so that the rare branches are common."""
    chance = random.Random(seed)
    return Shoe([CARD[chance.choice("AAATTTT88855569742JQ") + chance.choice("cdhs")] for _ in range(90)])


@settings(max_examples=100, deadline=None)
@given(rule_sets().map(playable), st.integers(0, 2**32), st.sets(st.integers(1, 7), min_size=1, max_size=5))
def test_the_fast_lane_and_the_commands_give_the_same_events(rules: HouseRules, seed: int, numbers: set[int]) -> None:
    stakes = {seat: 100 * seat for seat in sorted(numbers)}
    seats = tuple(SeatedPlayer(seat, player(seat)) for seat in stakes)
    table = Playout(rules, seats, wagers_of(stakes))
    for number in range(4):
        quick = table.round("black-hawk/BJ-07#1", shuffled(seed + number))
        assert quick == by_commands(rules, seats, wagers_of(stakes), shuffled(seed + number))
        opened, *happened = quick
        assert isinstance(opened, RoundOpened)
        assert evolve_all(begin(opened, rules), happened).phase is Phase.COMPLETE


@pytest.mark.parametrize(
    "rules",
    [
        house(),
        house(hole_card="no-peek", surrender="late", dealer_blackjack_takes="original"),
        house(hole_card="peek-ace", soft17="hit", double_after_split=False, max_hands=2),
        house(dealer_draws_when_decided=True, insurance="off", even_money=False, split_by="rank"),
        house(main_pays=(PayRule(MainResult.WIN, Fraction(3, 2), hand_total=21, least_cards=3), *STANDARD_MAIN_PAYS)),
    ],
)
def test_what_a_place_remembers_of_its_rounds_is_what_the_round_would_say_again(rules: HouseRules) -> None:
    """Enough rounds at one table for every ending to come again; cards as they fall in six decks."""
    stakes = {1: 1000, 2: 1500, 5: 2500, 7: 500}
    seats = tuple(SeatedPlayer(seat, player(seat)) for seat in stakes)
    table = Playout(rules, seats, wagers_of(stakes))
    for seed in range(300):
        chance = random.Random(seed)
        cards = chance.sample(list(standard_deck()) * 6, 90)
        quick = table.round("black-hawk/BJ-07#1", Shoe(cards))
        assert quick == by_commands(rules, seats, wagers_of(stakes), Shoe(cards)), f"seed {seed}"


def test_a_shoe_that_runs_out_in_a_round_leaves_the_next_round_as_it_should_be() -> None:
    stakes = {1: 1000, 2: 1000}
    seats = tuple(SeatedPlayer(seat, player(seat)) for seat in stakes)
    table = Playout(house(), seats, wagers_of(stakes))
    for short in range(4, 14):
        with contextlib.suppress(ValueError, IndexError):
            table.round("black-hawk/BJ-07#1", Shoe(shuffled(short).cards[:short]))
        again = table.round("black-hawk/BJ-07#1", shuffled(short + 1))
        assert again == by_commands(house(), seats, wagers_of(stakes), shuffled(short + 1))


@pytest.mark.parametrize(
    "rules",
    [
        house(hole_card="no-hole-card"),
        house(surrender="early"),
        house(surrender="early-vs-ten"),
        house(double_card_face="down"),
    ],
)
def test_rules_that_need_asking_between_the_cards_are_refused(rules: HouseRules) -> None:
    with pytest.raises(GameNotPlayable):
        Playout(rules, (), wagers_of({1: 1000}))


def test_wagers_that_the_round_refuses_are_refused() -> None:
    with pytest.raises(Rejection) as caught:
        Playout(house(), (), wagers_of({1: 0}))
    assert type(caught.value) is StakeBelowMinimum

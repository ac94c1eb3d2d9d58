"""Doubling down (30-813): which hands, how much, one card, and what a dealer's blackjack takes."""

from typing import Any

import pytest

from services.game import round_commands as ask
from services.game import round_rejections as no
from services.game.rejections import Rejection
from services.game.round import allowed_actions
from services.game.round_events import DoubleRevealed, HandDoubled
from services.game.round_steps import DrawCards
from services.game.round_words import Action, Cause, Outcome, Phase
from tests.support.round_game import Game


def test_30_813_a_double_gets_exactly_one_card_and_wins_twice() -> None:
    game = Game("5c 6d 6h Ts 9c Tc", {1: 1000}).double(1)
    assert [(line.kind, line.returned_cents) for line in game.lines] == [("main", 2000), ("double", 2000)]
    assert game.round.phase is Phase.COMPLETE


def test_30_813_hit_after_a_double_is_refused() -> None:
    game = Game("5c Tc 6d 6h Th Ts 2c", {1: 1000, 2: 1000}).double(1)
    game.refused(ask.Hit(1, 0), no.HitAfterDouble)
    waiting = Game("5c 6d 6h Ts", {1: 1000}).double(1)
    waiting.refused(ask.Hit(1, 0), no.HitAfterDouble)


def test_30_813_a_doubled_hand_that_busts_loses_both_stakes_at_once() -> None:
    game = Game("Tc Tc 6d 6h 9h Ts Tc", {1: 1000, 2: 1000}).double(1)
    assert [(line.kind, line.outcome) for line in game.lines] == [("main", Outcome.BUST), ("double", Outcome.BUST)]


@pytest.mark.parametrize(("rule", "allowed"), [(True, range(1, 1001)), (False, range(1000, 1001))])
def test_30_813_double_for_less_where_the_house_allows_it(*, rule: bool, allowed: range) -> None:
    for amount in (1, 500, 999, 1000):
        game = Game("5c 6d 6h Ts 9c Tc", {1: 1000}, double_for_less=rule)
        if amount in allowed:
            assert game.double(1, amount_cents=amount).line(1, kind="double").stake_cents == amount
        else:
            game.refused(ask.DoubleDown(1, 0, amount_cents=amount), no.DoubleOverOriginal)


@pytest.mark.parametrize(
    ("amount", "rejection"),
    [
        (1001, no.DoubleOverOriginal),
        (-1, no.DoubleOverOriginal),
        (10**25, no.DoubleOverOriginal),
        (1000.0, no.StakeNotWhole),
        (float("nan"), no.StakeNotWhole),
    ],
)
def test_30_813_amounts_that_are_no_double(amount: Any, rejection: type[Rejection]) -> None:
    Game("5c 6d 6h Ts", {1: 1000}).refused(ask.DoubleDown(1, 0, amount_cents=amount), rejection)


def test_30_813_not_on_three_cards() -> None:
    Game("2c 6d 3h Ts 4c", {1: 1000}).hit(1).refused(ask.DoubleDown(1, 0), no.DoubleNotFirstTwo)


TOTALS = {
    "hard 8": "3c 5h",
    "hard 9": "4c 5h",
    "hard 10": "4c 6h",
    "hard 11": "5c 6h",
    "hard 12": "Tc 2h",
    "soft 18": "Ac 7h",
}


@pytest.mark.parametrize(
    ("rule", "doubles"),
    [
        ("any-two", set(TOTALS)),
        ("nine-to-eleven", {"hard 9", "hard 10", "hard 11"}),
        ("ten-eleven", {"hard 10", "hard 11"}),
        ("hard-only", set(TOTALS) - {"soft 18"}),
    ],
)
def test_30_813_totals_that_the_house_doubles(rule: str, doubles: set[str]) -> None:
    for name, held in TOTALS.items():
        first, second = held.split()
        game = Game(f"{first} 6d {second} Ts", {1: 1000}, double_on=rule)
        assert (Action.DOUBLE in allowed_actions(game.round)) == (name in doubles)
        if name not in doubles:
            game.refused(ask.DoubleDown(1, 0), no.DoubleTotalNotAllowed)


def test_30_813_never_on_a_blackjack() -> None:
    game = Game("Ac Tc 6d Th 9h Ts", {1: 1000, 2: 1000})
    game.refused(ask.DoubleDown(1, 0), no.HandClosed)


def test_30_813_after_a_split_where_the_house_allows_it() -> None:
    game = Game("8c 6d 8h Ts 3c 2c 9h Tc", {1: 1000}).split(1).double(1).stand(1, 1)
    assert [line.kind for line in game.lines] == ["main", "double", "split"]
    strict = Game("8c 6d 8h Ts 3c", {1: 1000}, double_after_split=False).split(1)
    strict.refused(ask.DoubleDown(1, 0), no.DoubleAfterSplit)


@pytest.mark.parametrize("split_aces", [True, False])
def test_30_813_after_splitting_aces_where_the_house_allows_it(*, split_aces: bool) -> None:
    game = Game("Ac 6d Ah Ts 3c 2c 9h Tc", {1: 1000}, double_after_split_aces=split_aces).split(1)
    if split_aces:
        assert allowed_actions(game.round) == {Action.STAND, Action.DOUBLE}
        game.double(1).stand(1, 1)
    assert game.round.phase is Phase.COMPLETE
    assert len(game.of(HandDoubled)) == int(split_aces)


def test_b04_a_single_split_card_can_be_neither_doubled_nor_split_nor_hit() -> None:
    game = Game("8c 6d 8h Ts", {1: 1000}).split(1)
    assert isinstance(game.step(), DrawCards)
    game.refused(ask.DoubleDown(1, 0), no.DoubleNotFirstTwo)
    game.refused(ask.Split(1, 0), no.NotAPair)
    game.refused(ask.Hit(1, 0), no.CardsDue)
    game.refused(ask.DoubleDown(1, 1), no.NotYourTurn)


def test_30_813_every_double_of_a_seat_has_its_own_ordinal() -> None:
    game = Game("8c 6d 8h Ts 3c 2c 3d 2d 9h", {1: 1000}).split(1).double(1).double(1, 1)
    assert [(event.hand, event.ordinal) for event in game.of(HandDoubled)] == [(0, 1), (1, 2)]


@pytest.mark.parametrize(
    ("hole_card", "takes", "net"),
    [
        ("peek-ace-ten", "original", -1000),
        ("peek-ace-ten", "all", -1000),
        ("no-peek", "original", -1000),
        ("no-peek", "all", -4000),
        ("no-hole-card", "original", -1000),
        ("no-hole-card", "all", -4000),
    ],
)
def test_b16_ten_up_and_ace_under_with_a_split_and_a_double(hole_card: str, takes: str, net: int) -> None:
    """Peek: nobody acts. No peek: original only gives the double and split back, all takes everything."""
    shoe = "8c Kd 8h 3c 2c 3h 9h As" if hole_card == "no-hole-card" else "8c Kd 8h As 3c 2c 3h 9h"
    game = Game(shoe, {1: 1000}, hole_card=hole_card, dealer_blackjack_takes=takes)
    if hole_card != "peek-ace-ten":
        game.split(1).double(1).double(1, 1)
        given_back = [line.kind for line in game.lines if line.cause is Cause.ORIGINAL_ONLY]
        assert given_back == (["double", "split", "double"] if takes == "original" else [])
    assert game.round.phase is Phase.COMPLETE
    assert game.net(1) == net


def test_30_813_a_card_laid_face_down_is_unknown_until_the_settlement() -> None:
    game = Game("5c 6d 6h Ts Tc Tc", {1: 1000}, double_card_face="down")
    game.send(ask.DoubleDown(1, 0))
    revealed = game.of(DoubleRevealed)
    assert [(event.position, str(event.card)) for event in revealed] == [(4, "Tc")]
    assert game.hand(1).total.value == 21
    assert game.net(1) == 2000


def test_30_813_a_face_down_card_that_busts_loses_although_the_dealer_busts() -> None:
    game = Game("Tc 6d 6h Ts 9c Tc", {1: 1000}, double_card_face="down").double(1)
    assert [line.outcome for line in game.lines] == [Outcome.BUST, Outcome.BUST]


def test_30_813_settlement_waits_for_the_face_down_card() -> None:
    game = Game("5c 6d 6h Ts Tc", {1: 1000}, double_card_face="down")
    game.double(1)
    assert isinstance(game.step(), DrawCards)
    game.refused(ask.SettleWagers(), no.SettlementNotDue)
    game.refused(ask.RevealHole(4, game.shoe[4]), no.NothingToReveal)

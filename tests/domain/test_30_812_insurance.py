"""Insurance and even money (30-812): only against an ace, at most half, settled apart from the wager."""

from typing import Any

import pytest

from services.game import round_commands as ask
from services.game import round_rejections as no
from services.game.rejections import Rejection
from services.game.round import allowed_actions
from services.game.round_events import InsuranceClosed, InsurancePlaced
from services.game.round_steps import AwaitDecision, AwaitInsurance
from services.game.round_words import Action, Cause, DecidedBy, Outcome, Phase, Wager
from tests.support.round_game import Game, player


def test_b08_insurance_pays_two_to_one_and_returns_the_stake_so_the_player_is_even() -> None:
    game = Game("Tc Ad 9h Ks", {1: 2000}).send(ask.TakeInsurance(1, amount_cents=1000))
    insurance, main = game.line(1, kind="insurance"), game.line(1, kind="main")
    assert (insurance.stake_cents, insurance.returned_cents, insurance.outcome) == (1000, 3000, Outcome.WIN)
    assert (main.returned_cents, main.cause) == (0, Cause.DEALER_BLACKJACK)
    assert game.net(1) == 0


def test_b08_insurance_on_an_odd_wager_is_at_most_half() -> None:
    game = Game("Tc Ad 9h Ks", {1: 2500})
    game.refused(ask.TakeInsurance(1, amount_cents=1251), no.InsuranceOverHalf)
    game.send(ask.TakeInsurance(1, amount_cents=1250))
    assert game.line(1, kind="insurance").returned_cents == 3750


def test_30_812_insurance_is_collected_at_once_when_the_dealer_has_no_blackjack() -> None:
    game = Game("Tc Ad 9h 5s", {1: 2000}).send(ask.TakeInsurance(1))
    assert game.round.phase is Phase.PLAYERS
    line = game.line(1, kind="insurance")
    assert (line.outcome, line.returned_cents, line.cause) == (Outcome.LOSE, 0, Cause.NO_DEALER_BLACKJACK)


def test_30_812_insurance_waits_for_the_reveal_where_nobody_peeks() -> None:
    game = Game("Tc Ad 9h Ks", {1: 2000}, hole_card="no-peek").send(ask.TakeInsurance(1))
    assert game.lines == []
    game.stand(1)
    assert (game.line(1, kind="insurance").returned_cents, game.line(1, kind="main").returned_cents) == (3000, 0)


def test_30_812_insurance_wins_although_the_hand_was_surrendered_or_bust() -> None:
    bust = Game("Tc Ad 6h Ks Tc", {1: 2000}, hole_card="no-peek").send(ask.TakeInsurance(1)).hit(1)
    assert (bust.line(1, kind="main").outcome, bust.line(1, kind="insurance").returned_cents) == (Outcome.BUST, 3000)
    given_up = Game("Tc Ad 6h Ks", {1: 2000}, surrender="early").send(ask.TakeInsurance(1)).surrender(1)
    assert (given_up.line(1, kind="main").returned_cents, given_up.line(1, kind="insurance").returned_cents) == (
        1000,
        3000,
    )


@pytest.mark.parametrize("up", ["Td", "Kd", "9d"])
def test_30_812_insurance_without_an_ace(up: str) -> None:
    game = Game(f"Tc {up} 9h 5s", {1: 2000})
    game.refused(ask.TakeInsurance(1), no.NoAceUp)
    game.refused(ask.TakeEvenMoney(1), no.NoAceUp)


def test_30_812_house_without_insurance() -> None:
    game = Game("Tc Ad 9h 5s", {1: 2000}, insurance="off", even_money=False)
    assert game.round.phase is Phase.PLAYERS
    game.refused(ask.TakeInsurance(1), no.InsuranceNotOffered)


@pytest.mark.parametrize(
    ("amount", "rejection"),
    [
        (-1, no.StakeBelowMinimum),
        (1001, no.InsuranceOverHalf),
        (10**20, no.InsuranceOverHalf),
        (500.0, no.StakeNotWhole),
        (float("nan"), no.StakeNotWhole),
    ],
)
def test_30_812_amounts_that_are_no_insurance(amount: Any, rejection: type[Rejection]) -> None:
    Game("Tc Ad 9h 5s", {1: 2000}).refused(ask.TakeInsurance(1, amount_cents=amount), rejection)


def test_30_812_exactly_half() -> None:
    game = Game("Tc Ad 9h 5s", {1: 2000}, insurance="exactly-half")
    game.refused(ask.TakeInsurance(1, amount_cents=999), no.InsuranceOverHalf)
    game.send(ask.TakeInsurance(1, amount_cents=1000))
    assert game.of(InsurancePlaced)[0].amount_cents == 1000


def test_30_812_up_to_half_may_be_less_and_nothing_named_means_half() -> None:
    assert Game("Tc Ad 9h 5s", {1: 2001}).send(ask.TakeInsurance(1)).of(InsurancePlaced)[0].amount_cents == 1000
    assert Game("Tc Ad 9h 5s", {1: 2001}).send(ask.TakeInsurance(1, amount_cents=1)).round.staked_cents == 2002


def test_30_812_every_seat_answers_once_in_any_order_and_then_it_is_closed() -> None:
    game = Game("Tc Tc Ad 9h 9h 5s", {1: 2000, 4: 2000})
    assert game.step() == AwaitInsurance((1, 4))
    game.send(ask.DeclineInsurance(4, player(4)))
    game.refused(ask.TakeInsurance(4), no.InsuranceClosed)
    assert game.step() == AwaitInsurance((1,))
    game.send(ask.TakeInsurance(1))
    assert isinstance(game.step(), AwaitDecision)
    game.refused(ask.TakeInsurance(1), no.InsuranceClosed)
    game.refused(ask.CloseInsurance(), no.InsuranceClosed)


def test_30_812_dealer_or_clock_closes_the_offer_for_those_who_do_not_answer() -> None:
    for by_timeout, by in ((False, DecidedBy.DEALER), (True, DecidedBy.SYSTEM)):
        game = Game("Tc Tc Ad 9h 9h 5s", {1: 2000, 2: 2000}).send(ask.CloseInsurance(by_timeout=by_timeout))
        assert game.of(InsuranceClosed) == [InsuranceClosed(by)]
        assert game.round.phase is Phase.PLAYERS


def test_30_812_another_player_or_no_seat_cannot_insure() -> None:
    game = Game("Tc Ad 9h 5s", {1: 2000})
    game.refused(ask.TakeInsurance(1, "player-2"), no.NotYourHand)
    game.refused(ask.DeclineInsurance(1, "player-2"), no.NotYourHand)
    game.refused(ask.TakeInsurance(2), no.UnknownHand)


def test_30_812_too_early_and_too_late() -> None:
    before = Game(seats=()).send(ask.PlaceWagers((Wager(1, "ann", "main", 1000),)))
    before.refused(ask.TakeInsurance(1), no.BettingStillOpen)
    dealing = Game("", {1: 1000})
    dealing.refused(ask.TakeInsurance(1), no.CardsDue)
    ended = Game("Tc Ad 9h Ks", {1: 2000}).send(ask.CloseInsurance())
    ended.refused(ask.TakeInsurance(1), no.RoundOver)


@pytest.mark.parametrize(("hole", "alone"), [("Ks", Outcome.PUSH), ("5s", Outcome.BLACKJACK)])
def test_30_812_even_money_pays_one_to_one_now_whatever_the_dealer_holds(hole: str, alone: Outcome) -> None:
    taken = Game(f"Tc Ad Ah {hole}", {1: 2000})
    assert allowed_actions(taken.round) == {Action.INSURE, Action.DECLINE_INSURANCE, Action.EVEN_MONEY}
    taken.send(ask.TakeEvenMoney(1))
    assert (taken.line(1).outcome, taken.net(1)) == (Outcome.EVEN_MONEY, 2000)
    declined = Game(f"Tc Ad Ah {hole}", {1: 2000}).send(ask.DeclineInsurance(1))
    assert declined.line(1).outcome is alone


def test_30_812_even_money_needs_a_blackjack_and_a_house_that_gives_it() -> None:
    Game("Tc Ad 9h 5s", {1: 2000}).refused(ask.TakeEvenMoney(1), no.EvenMoneyNotOffered)
    strict = Game("Tc Ad Ah 5s", {1: 2000}, even_money=False)
    strict.refused(ask.TakeEvenMoney(1), no.EvenMoneyNotOffered)


def test_30_812_even_money_without_insurance_is_offered_to_blackjacks_only() -> None:
    game = Game("Tc Tc Ad Ah 9c 5s", {1: 2000, 2: 2000}, insurance="off")
    assert game.step() == AwaitInsurance((1,))
    game.refused(ask.TakeInsurance(1), no.InsuranceNotOffered)
    game.send(ask.TakeEvenMoney(1)).stand(2)
    assert game.net(1) == 2000


def test_30_812_a_split_hand_cannot_insure() -> None:
    game = Game("8c 6d 8h 5s 3c", {1: 1000}).split(1)
    game.refused(ask.TakeInsurance(1), no.NoAceUp)

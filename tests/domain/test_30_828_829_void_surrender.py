"""Voiding, surrender, and the decision that the system takes for a player (30-828(1), 30-829)."""

from dataclasses import replace

import pytest

from services.game import round_commands as ask
from services.game import round_rejections as no
from services.game.cards import Card
from services.game.round_events import (
    HandStood,
    HandVoided,
    HoleChecked,
    SurrenderDeclined,
)
from services.game.round_steps import AwaitDecision, DrawCards
from services.game.round_words import (
    Action,
    Cause,
    DealtCard,
    DecidedBy,
    Outcome,
    Phase,
    Recipient,
    Wager,
)
from tests.support.round_game import Game, cards, player

# Surrender (30-829)


def test_30_829_late_surrender_gives_half_back_at_once() -> None:
    game = Game("Tc 9c Td 6h 9h 8s", {1: 1000, 2: 1000}, surrender="late").surrender(1)
    assert (game.line(1).outcome, game.line(1).cause, game.line(1).returned_cents) == (
        Outcome.SURRENDER,
        Cause.SURRENDERED,
        500,
    )
    assert game.round.phase is Phase.PLAYERS


def test_30_829_with_a_peek_a_dealers_blackjack_comes_before_late_surrender() -> None:
    game = Game("Tc Td 6h As", {1: 1000}, surrender="late")
    game.refused(ask.SurrenderHand(1, 0), no.RoundOver)
    assert game.net(1) == -1000


def test_30_829_without_a_peek_a_dealers_blackjack_takes_all_of_a_late_surrender() -> None:
    lost = Game("Tc Td 6h As", {1: 1000}, surrender="late", hole_card="no-peek").surrender(1)
    assert (lost.line(1).outcome, lost.net(1)) == (Outcome.LOSE, -1000)
    kept = Game("Tc Td 6h 9s", {1: 1000}, surrender="late", hole_card="no-peek").surrender(1)
    assert (kept.line(1).outcome, kept.net(1)) == (Outcome.SURRENDER, -500)


def test_30_829_early_surrender_comes_before_the_check_and_beats_a_blackjack() -> None:
    game = Game("Tc 9c Td 6h 9h As", {1: 1000, 2: 1000}, surrender="early")
    assert game.step() == AwaitDecision(1, 0, frozenset({Action.SURRENDER, Action.DECLINE_SURRENDER}))
    game.refused(ask.SurrenderHand(2, 0), no.NotYourTurn)
    game.refused(ask.SurrenderHand(1, 0, player(2)), no.NotYourHand)
    game.refused(ask.DeclineSurrender(1, 0, player(2)), no.NotYourHand)
    game.refused(ask.DeclineSurrender(2, 0), no.NotYourTurn)
    game.refused(ask.RecordHoleCheck(makes_blackjack=True), no.NoHoleCheckDue)
    game.surrender(1).send(ask.DeclineSurrender(2, 0))
    assert (game.net(1), game.net(2)) == (-500, -1000)


def test_30_829_whoever_kept_the_hand_before_the_check_cannot_surrender_after_it() -> None:
    game = Game("Tc Td 6h 9s", {1: 1000}, surrender="early").send(ask.DeclineSurrender(1, 0))
    game.refused(ask.SurrenderHand(1, 0), no.SurrenderLateInHand)


def test_30_829_all_surrender_early_and_the_hole_card_is_not_checked_any_more() -> None:
    game = Game("Tc Td 6h As", {1: 1000}, surrender="early").surrender(1)
    assert game.of(HoleChecked) == []
    assert (game.round.phase, game.net(1)) == (Phase.COMPLETE, -500)


def test_30_829_early_against_ten_only_is_late_against_an_ace() -> None:
    ten = Game("Tc Td 6h As", {1: 1000}, surrender="early-vs-ten").surrender(1)
    assert ten.net(1) == -500
    ace = Game("Tc Ad 6h Ks", {1: 1000}, surrender="early-vs-ten").send(ask.CloseInsurance())
    assert ace.net(1) == -1000


def test_30_829_after_a_hit_or_where_it_is_not_offered() -> None:
    Game("2c 9d 6h 9s 3c", {1: 1000}, surrender="late").hit(1).refused(ask.SurrenderHand(1, 0), no.SurrenderLateInHand)
    Game("Tc 9d 6h 9s", {1: 1000}).refused(ask.SurrenderHand(1, 0), no.SurrenderNotOffered)


@pytest.mark.parametrize("rule", [True, False])
def test_30_829_after_a_split_by_house_rule(*, rule: bool) -> None:
    game = Game("8c 9d 8h 9s 7c 8s", {1: 1000}, surrender="late", surrender_after_split=rule).split(1)
    if rule:
        assert game.surrender(1).line(1, 0).returned_cents == 500
    else:
        game.refused(ask.SurrenderHand(1, 0), no.SurrenderNotOffered)


# The system's decision (D03)


def test_d03_a_player_who_does_not_act_stands_by_the_systems_decision_and_others_play_on() -> None:
    game = Game("Tc 9c 6d 2h 2c Ts 8c 5c", {1: 1000, 2: 1000}).send(ask.StandByTimeout(1, 0))
    assert game.of(HandStood) == [HandStood(1, 0, DecidedBy.SYSTEM)]
    game.refused(ask.StandByTimeout(1, 0), no.HandClosed)
    game.hit(2).stand(2)
    assert game.round.phase is Phase.COMPLETE


def test_d03_a_player_who_does_not_answer_early_surrender_keeps_the_hand() -> None:
    game = Game("Tc Td 6h 9s", {1: 1000}, surrender="early").send(ask.StandByTimeout(1, 0))
    assert game.of(SurrenderDeclined) == [SurrenderDeclined(1, 0, DecidedBy.SYSTEM)]
    assert game.round.phase is Phase.PLAYERS


# Voiding (30-828(1))

VOID = ask.VoidHand(1, 0, "super-7", "card exposed by accident")


def test_30_828_one_hand_is_called_a_push_and_the_others_play_on() -> None:
    game = Game("Tc 9c 6d 2h 2c Ts 8c 5c", {1: 1000, 2: 1000}).send(VOID)
    assert game.of(HandVoided) == [HandVoided(1, 0, "super-7", "card exposed by accident")]
    assert (game.line(1).outcome, game.line(1).cause, game.net(1)) == (Outcome.PUSH, Cause.VOIDED, 0)
    game.refused(ask.Hit(1, 0), no.HandClosed)
    game.refused(VOID, no.HandAlreadySettled)
    game.hit(2).stand(2)
    assert game.round.phase is Phase.COMPLETE


def test_30_828_every_open_hand_is_called_a_push_and_the_round_ends() -> None:
    game = Game("8c Tc Ad 8h 9h 5s 3c 2c", {1: 1000, 2: 1000}).send(ask.TakeInsurance(1), ask.CloseInsurance())
    game.split(1).double(1).send(ask.VoidRound("super-7", "power loss"))
    assert game.round.phase is Phase.COMPLETE
    assert {line.cause for line in game.lines if line.kind != "insurance"} == {Cause.VOIDED}
    assert (game.net(1), game.net(2)) == (-500, 0)


def test_30_828_an_open_insurance_goes_back_with_its_hand() -> None:
    game = Game("Tc Tc Ad 8h 9h 5s", {1: 1000, 2: 1000}).send(ask.TakeInsurance(1), VOID)
    assert [(line.kind, line.returned_cents) for line in game.lines] == [("main", 1000), ("insurance", 500)]
    game.send(ask.DeclineInsurance(2))
    assert game.round.phase is Phase.PLAYERS


@pytest.mark.parametrize("dealt", range(5))
def test_30_828_a_round_can_be_voided_at_every_card(dealt: int) -> None:
    game = Game("", {1: 1000, 2: 1000})
    given = cards("Tc 9c 6d 2h 2c")
    game.send(*(ask.DealCards((DealtCard(at, given[at]),)) for at in range(dealt)))
    game.send(ask.VoidRound("super-7", "cut card dealt"))
    assert (game.round.phase, game.net(1), game.net(2)) == (Phase.COMPLETE, 0, 0)


@pytest.mark.parametrize("dealt", range(6))
def test_30_828_10_a_hand_voided_during_the_deal_gets_no_further_card(dealt: int) -> None:
    game = Game("", {1: 1000, 2: 1000})
    given = [*cards("Tc 9c 6d 2h 2c"), None]
    game.send(*(ask.DealCards((DealtCard(at, given[at]),)) for at in range(dealt)))
    game.send(VOID)
    while isinstance(step := game.step(), DrawCards):
        target = step.targets[0]
        assert (target.to, target.seat) in {(Recipient.PLAYER, 2), (Recipient.DEALER, 0)}
        game.send(ask.DealCards((DealtCard(50, None if target.face_down else Card.parse("5c")),)))
    assert isinstance(step, AwaitDecision)
    assert (step.seat, step.hand) == (2, 0)


def test_30_828_before_the_cards_a_voided_wager_goes_back_and_is_not_dealt_to() -> None:
    game = Game("Tc 6d 9h Ts 5c")
    game.send(ask.PlaceWagers((Wager(1, "ann", "main", 1000), Wager(2, "bob", "main", 1000))))
    game.send(VOID)
    for cents in (1000, 2000):
        game.refused(ask.PlaceWagers((Wager(1, "ann", "main", cents),)), no.WagerLocked)
    game.send(ask.CloseBetting())
    assert game.dealt_to() == [(2, 0), (0, 0), (2, 0), (0, 0)]
    assert game.net(1) == 0


def test_30_828_voiding_needs_a_supervisor_a_reason_and_a_hand() -> None:
    game = Game("Tc 6d 9h Ts", {1: 1000})
    game.refused(replace(VOID, supervisor=" "), no.SupervisorMissing)
    game.refused(replace(VOID, reason=""), no.SupervisorMissing)
    game.refused(ask.VoidRound("", "why"), no.SupervisorMissing)
    game.refused(replace(VOID, seat=4), no.UnknownHand)

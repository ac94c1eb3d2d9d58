"""The round as a table runs it: wagers, choices, for which round and question they are meant (30-807 to 30-829)."""

import pytest

from services.game import round_commands as rc
from services.game import round_events as re
from services.game import round_rejections as rr
from services.game import round_steps as steps
from services.game.rejections import NotAuthorised
from services.game.round_words import Action, Cause, DecidedBy, HandStatus, Outcome
from services.game.rules import MidShoeEntry, Surrender
from services.table import commands as c
from services.table import events as e
from services.table import rejections as r
from services.table.words import SeatWager
from tests.support.table_desk import DEALER, DEVICE, NOW, ROUND, SUPERVISOR, SYSTEM, TABLE, Desk, player, rules_with


def test_a_round_opens_under_the_posted_rules_and_names_its_shoe() -> None:
    desk = Desk()
    desk.open()
    desk.seat("ann", 1)
    opened, shoe = desk.do(c.OpenRound(NOW, "shoe-1", 6, continuous=False))
    assert isinstance(opened, re.RoundOpened)
    assert desk.table.rules is not None
    assert (opened.round_id, opened.rules_digest) == (ROUND, desk.table.rules.digest)
    assert [seated.player for seated in opened.seats] == ["ann"]
    assert shoe == e.ShoeAssigned(ROUND, "shoe-1", 6, continuous=False)


def test_opening_what_is_open_changes_nothing() -> None:
    desk = Desk()
    desk.open()
    desk.betting()
    assert desk.do(c.OpenRound(NOW, "shoe-1", 6, continuous=False)) == (e.NothingChanged("OpenBetting"),)


def test_30_816_a_shoe_that_cannot_deal_opens_no_round() -> None:
    desk = Desk()
    desk.open()
    with pytest.raises(r.ShoeNotReady):
        desk.betting(refusal="the cutting card came")


def test_players_open_and_close_no_betting() -> None:
    desk = Desk()
    desk.open()
    with pytest.raises(NotAuthorised):
        desk.do(c.OpenRound(NOW, "shoe-1", 6, continuous=False), player("ann"))
    ann = desk.seat("ann", 1)
    desk.betting()
    desk.wager(ann, 1)
    with pytest.raises(NotAuthorised):
        desk.do(c.CloseBetting(ROUND), player("ann"))


def test_d01_no_wager_after_betting_closed_and_what_stands_is_dealt() -> None:
    desk = Desk()
    desk.open()
    ann, bob = desk.seat("ann", 1), desk.seat("bob", 2)
    desk.betting()
    desk.wager(ann, 1)
    desk.do(c.CloseBetting(ROUND))
    with pytest.raises(rr.BettingClosed):
        desk.wager(bob, 2)
    assert desk.wager(ann, 1) == ()
    assert desk.do(c.CloseBetting(ROUND)) == ()


def test_a_late_wager_is_never_taken_for_the_next_round() -> None:
    desk = Desk()
    (ann,) = desk.dealt("Ts 7d 9h ?", "ann")
    desk.do(c.VoidRound(ROUND, "test"), SUPERVISOR)
    desk.do(c.PlayOn(rc.PickUpHands()), SYSTEM)
    desk.betting()
    for amount in (1_000, 2_000):
        with pytest.raises(r.WrongRound):
            desk.do(c.PlaceWagers(ROUND, (SeatWager(ann, 1, "main", amount),)))


def test_a_wager_that_is_repeated_after_its_round_changes_nothing() -> None:
    desk = Desk()
    (ann,) = desk.dealt("Ts 7d 9h ?", "ann")
    desk.do(c.VoidRound(ROUND, "test"), SUPERVISOR)
    desk.do(c.PlayOn(rc.PickUpHands()), SYSTEM)
    assert desk.do(c.PlaceWagers(ROUND, (SeatWager(ann, 1, "main", 1_000),))) == ()
    with pytest.raises(r.NoRoundInProgress):
        desk.do(c.PlaceWagers(ROUND, (SeatWager(ann, 1, "main", 2_000),)))


def test_b18_the_same_wager_again_adds_nothing_and_another_amount_is_refused() -> None:
    desk = Desk()
    desk.open()
    ann = desk.seat("ann", 1)
    desk.betting()
    assert len(desk.wager(ann, 1)) == 1
    assert desk.wager(ann, 1) == ()
    with pytest.raises(rr.WagerLocked):
        desk.wager(ann, 1, 1_500)


def test_a09_one_seats_natural_keeps_nobody_from_playing_on() -> None:
    desk = Desk()
    _, bob = desk.dealt("As 9s 7d Ks 5h ?", "ann", "bob")
    step = desk.step()
    assert isinstance(step, steps.AwaitDecision)
    assert (step.seat, step.hand) == (2, 0)
    desk.act(bob, 2, Action.STAND)
    play = desk.table.play
    assert play is not None
    assert [(line.seat, line.outcome) for line in play.lines] == [(1, Outcome.BLACKJACK)]


def test_30_821_a_hand_acts_in_its_turn_and_only_its_own() -> None:
    desk = Desk()
    ann, bob = desk.dealt("Ts 9s 7d 8s 8h ?", "ann", "bob")
    with pytest.raises(rr.NotYourTurn):
        desk.act(bob, 2, Action.HIT, actor=player("bob"))
    with pytest.raises(r.NotYourSession):
        desk.act(bob, 1, Action.HIT, actor=player("bob"))
    with pytest.raises(r.NotYourSession):
        desk.act(ann, 1, Action.HIT, actor=player("bob"))
    assert desk.act(ann, 1, Action.STAND, actor=player("ann")) == (re.HandStood(1, 0, DecidedBy.PLAYER),)


def test_30_821_who_decided_is_on_record() -> None:
    desk = Desk()
    ann, bob, _ = desk.dealt("Ts 9s 9d 7d 8s 8h 5h ?", "ann", "bob", "cyd")
    assert desk.act(ann, 1, Action.STAND, actor=DEALER) == (re.HandStood(1, 0, DecidedBy.DEALER),)
    assert desk.act(bob, 2, Action.STAND, actor=DEVICE) == (re.HandStood(2, 0, DecidedBy.PLAYER),)
    # A dealer need not know who holds the seat whose signal he reads.
    assert desk.act("", 3, Action.STAND, actor=DEALER) == (re.HandStood(3, 0, DecidedBy.DEALER),)


def test_c08_an_answer_counts_once_for_its_question() -> None:
    desk = Desk()
    (ann,) = desk.dealt("5s 7d 4h ?", "ann")
    assert desk.act(ann, 1, Action.HIT, turn=1)
    assert desk.act(ann, 1, Action.HIT, turn=1) == ()
    with pytest.raises(r.AnswerOutOfTurn):
        desk.act(ann, 1, Action.STAND, turn=1)
    with pytest.raises(r.AnswerOutOfTurn):
        desk.act(ann, 1, Action.HIT, turn=3)
    desk.deal("2c")
    assert desk.act(ann, 1, Action.HIT, turn=2)


def test_30_812_insurance_is_asked_of_all_seats_and_each_answers_once() -> None:
    desk = Desk()
    ann, bob = desk.dealt("Ts 9s Ad 8s 8h ?", "ann", "bob")
    assert desk.step() == steps.AwaitInsurance((1, 2))
    insured = desk.do(c.TakeInsurance(ROUND, bob, 2), player("bob"))
    assert insured == (re.InsurancePlaced(2, 0, "insurance", 1, 500, DecidedBy.PLAYER),)
    assert desk.do(c.TakeInsurance(ROUND, bob, 2), player("bob")) == ()
    with pytest.raises(rr.InsuranceClosed):
        desk.do(c.DeclineInsurance(ROUND, bob, 2), player("bob"))
    with pytest.raises(rr.InsuranceOverHalf):
        desk.do(c.TakeInsurance(ROUND, ann, 1, 501), player("ann"))
    assert desk.act(ann, 1, Action.DECLINE_INSURANCE, actor=player("ann"))
    assert isinstance(desk.step(), steps.CheckHoleCard)
    assert desk.do(c.CloseInsurance(ROUND)) == ()


def test_30_812_the_dealer_closes_the_offer() -> None:
    desk = Desk()
    desk.dealt("Ts 9s Ad 8s 8h ?", "ann", "bob")
    with pytest.raises(NotAuthorised):
        desk.do(c.CloseInsurance(ROUND), player("ann"))
    assert desk.do(c.CloseInsurance(ROUND)) == (re.InsuranceClosed(DecidedBy.DEALER),)


def test_30_829_early_surrender_is_declined_by_a_choice_of_its_own() -> None:
    desk = Desk()
    (ann,) = desk.dealt("Ts Td 6h ?", "ann", rules=rules_with(surrender=Surrender.EARLY))
    assert desk.act(ann, 1, Action.DECLINE_SURRENDER, turn=1, actor=player("ann"))
    assert isinstance(desk.step(), steps.CheckHoleCard)


def test_30_809_who_sat_out_the_last_round_waits_for_the_shuffle_where_that_is_posted() -> None:
    desk = Desk()
    (ann,) = desk.dealt("Ts 7d 9h ?", "ann", rules=rules_with(mid_shoe_entry=MidShoeEntry.CLOSED))
    desk.do(c.VoidRound(ROUND, "test"), SUPERVISOR)
    desk.do(c.PlayOn(rc.PickUpHands()), SYSTEM)
    bob = desk.seat("bob", 2)
    desk.betting()
    assert desk.wager(ann, 1)
    with pytest.raises(rr.NoMidShoeEntry):
        desk.wager(bob, 2)
    desk.do(c.VoidRound(f"{TABLE}#2", "test"), SUPERVISOR)
    desk.do(c.PlayOn(rc.PickUpHands()), SYSTEM)
    desk.betting(shoe_id="shoe-2")
    assert desk.wager(bob, 2)


def test_d03_time_runs_out_and_the_hand_stands_by_the_systems_decision() -> None:
    desk = Desk()
    ann, _ = desk.dealt("Ts 9s 7d 8s 8h ?", "ann", "bob", rules=rules_with(action_timeout_seconds=30))
    desk.happened(e.DecisionTimerStarted(ROUND, 1, NOW))
    events = desk.do(c.ExpireDecision(ROUND, NOW, NOW), SYSTEM)
    assert events == (e.DecisionTimedOut(ROUND, 1, NOW), re.HandStood(1, 0, DecidedBy.SYSTEM))
    step = desk.step()
    assert isinstance(step, steps.AwaitDecision)
    assert step.seat == 2
    # He comes back too late: the question was answered for him.
    with pytest.raises(r.AnswerOutOfTurn):
        desk.act(ann, 1, Action.HIT, turn=1, actor=player("ann"))


def test_d03_time_runs_out_and_insurance_is_declined_by_the_system() -> None:
    desk = Desk()
    _, bob = desk.dealt("Ts 9s Ad 8s 8h ?", "ann", "bob", rules=rules_with(action_timeout_seconds=30))
    desk.happened(e.DecisionTimerStarted(ROUND, 1, NOW))
    desk.do(c.TakeInsurance(ROUND, bob, 2), player("bob"))
    events = desk.do(c.ExpireDecision(ROUND, NOW, NOW), SYSTEM)
    assert events == (e.DecisionTimedOut(ROUND, 1, NOW), re.InsuranceClosed(DecidedBy.SYSTEM))


def test_d03_an_answer_in_time_ends_the_deadline() -> None:
    desk = Desk()
    (ann,) = desk.dealt("Ts 7d 5h ?", "ann", rules=rules_with(action_timeout_seconds=30))
    desk.happened(e.DecisionTimerStarted(ROUND, 1, NOW))
    desk.act(ann, 1, Action.HIT, turn=1)
    assert desk.do(c.ExpireDecision(ROUND, NOW, NOW), SYSTEM) == ()


@pytest.mark.parametrize(("deadline", "now"), [(NOW, NOW - 1), (NOW + 5, NOW + 5)])
def test_d03_no_decision_before_the_deadline_or_for_another_one(deadline: int, now: int) -> None:
    desk = Desk()
    desk.dealt("Ts 7d 5h ?", "ann", rules=rules_with(action_timeout_seconds=30))
    desk.happened(e.DecisionTimerStarted(ROUND, 1, NOW))
    assert desk.do(c.ExpireDecision(ROUND, deadline, now), SYSTEM) == ()


def test_30_828_a_voided_hand_is_a_push_by_its_supervisor_and_the_others_play_on() -> None:
    desk = Desk()
    desk.dealt("Ts 9s 7d 8s 8h ?", "ann", "bob")
    voided, settled = desk.do(c.VoidHand(ROUND, 1, 0, "an extra card"), SUPERVISOR)
    assert voided == re.HandVoided(1, 0, SUPERVISOR.id, "an extra card")
    assert isinstance(settled, re.WagersSettled)
    (line,) = settled.lines
    assert (line.outcome, line.cause, line.returned_cents) == (Outcome.PUSH, Cause.VOIDED, 1_000)
    step = desk.step()
    assert isinstance(step, steps.AwaitDecision)
    assert step.seat == 2


def test_30_828_a_voided_round_gives_every_stake_back() -> None:
    desk = Desk()
    desk.dealt("Ts 9s 7d 8s 8h ?", "ann", "bob")
    desk.do(c.VoidRound(ROUND, "the shoe jammed"), SUPERVISOR)
    play = desk.table.play
    assert play is not None
    assert [(line.seat, line.returned_cents) for line in play.lines] == [(1, 1_000), (2, 1_000)]
    assert {hand.status for hand in play.round.hands} == {HandStatus.VOIDED}
    assert desk.step() == steps.PickUpCards()

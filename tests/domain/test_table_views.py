"""What a table shows: enough to play by, and no card that lies face down (30-823, L12; E02)."""

from services.game import round_commands as rc
from services.game.cards import Card
from services.game.round_words import Action
from services.table import commands as c
from services.table.replies import TableView
from services.table.views import summary_of, view_of
from services.table.words import TablePhase, WaitingFor
from tests.support.table_desk import ROUND, SUPERVISOR, SYSTEM, Desk


def shown(desk: Desk) -> TableView:
    return view_of(desk.table, len(desk.log), WaitingFor.NOBODY, "")


def test_phases_lead_from_closed_to_idle_again() -> None:
    desk = Desk()
    assert shown(desk).phase is TablePhase.CLOSED
    desk.open()
    assert shown(desk).phase is TablePhase.IDLE
    ann = desk.seat("ann", 1)
    desk.betting()
    assert shown(desk).phase is TablePhase.BETTING
    assert [seat.may_wager for seat in shown(desk).seats] == [True]
    desk.wager(ann, 1)
    assert [seat.may_wager for seat in shown(desk).seats] == [False]
    desk.do(c.CloseBetting(ROUND))
    assert shown(desk).phase is TablePhase.DEALING
    desk.deal("Ts 7d 9h ?")
    assert shown(desk).phase is TablePhase.PLAYERS
    desk.act(ann, 1, Action.STAND)
    assert shown(desk).phase is TablePhase.DEALER
    desk.do(c.PlayOn(rc.RevealHole(4, Card.parse("Ts"))), SYSTEM)
    desk.do(c.PlayOn(rc.SettleWagers()), SYSTEM)
    assert shown(desk).phase is TablePhase.PICKUP
    desk.do(c.PlayOn(rc.PickUpHands()), SYSTEM)
    view = shown(desk)
    assert view.phase is TablePhase.IDLE
    assert view.round is not None
    assert (view.round.complete, view.round.staked_cents, view.round.returned_cents) == (True, 1_000, 2_000)


def test_30_823_the_hole_card_is_a_count_until_it_is_turned_over() -> None:
    desk = Desk()
    desk.dealt("Ts 7d 9h ?", "ann")
    view = shown(desk)
    assert view.round is not None
    (dealer,) = view.round.dealer
    assert (dealer.cards, dealer.hidden, dealer.total) == ((Card.parse("7d"),), 1, 7)


def test_e02_a_patron_sees_how_many_decks_and_which_shoe() -> None:
    desk = Desk()
    desk.dealt("Ts 7d 9h ?", "ann")
    view = shown(desk)
    assert view.round is not None
    assert (view.round.decks, view.round.shoe_id) == (6, "shoe-1")


def test_whoever_is_asked_is_told_what_he_may_answer() -> None:
    desk = Desk()
    ann, _ = desk.dealt("8s 9s 7d 8h 8c ?", "ann", "bob")
    view = shown(desk)
    assert view.round is not None
    (question,) = view.round.questions
    assert (question.seat, question.hand, question.session, question.patron) == (1, 0, ann, "ann")
    assert set(question.actions) == {Action.HIT, Action.STAND, Action.DOUBLE, Action.SPLIT}
    assert view.round.turn == 1


def test_insurance_is_asked_of_everyone_at_once() -> None:
    desk = Desk()
    desk.dealt("As 9s Ad Ks 8c ?", "ann", "bob")
    view = shown(desk)
    assert view.round is not None
    asked = {question.seat: set(question.actions) for question in view.round.questions}
    assert asked == {
        1: {Action.EVEN_MONEY, Action.INSURE, Action.DECLINE_INSURANCE},
        2: {Action.INSURE, Action.DECLINE_INSURANCE},
    }


def test_a_suspended_table_asks_nobody_but_the_supervisor() -> None:
    desk = Desk()
    desk.dealt("Ts 7d 9h ?", "ann")
    desk.do(c.Suspend("a card fell"), SUPERVISOR)
    view = shown(desk)
    assert view.round is not None
    assert view.round.questions == ()
    assert (view.waiting_for, view.waiting_reason) == (WaitingFor.SUPERVISOR, "a card fell")
    assert summary_of(view).suspended


def test_amounts_are_shown_by_stake() -> None:
    desk = Desk()
    (ann,) = desk.dealt("8s 7d 8h ?", "ann")
    desk.act(ann, 1, Action.SPLIT)
    view = shown(desk)
    assert view.round is not None
    assert [(hand.hand, [(s.kind, s.ordinal, s.amount_cents) for s in hand.stakes]) for hand in view.round.hands] == [
        (0, [("main", 1, 1_000)]),
        (1, [("split", 1, 1_000)]),
    ]

"""Who sits at a table: sessions, seats, coming and going (30-803, 30-824, 30-827; D05, D07)."""

import pytest

from services.game import round_commands as rc
from services.game.rejections import NotAuthorised
from services.game.round_rejections import MultiSpot, NoMidShoeEntry, SpotNotAdjacent
from services.game.round_words import Action
from services.game.rules import MidShoeEntry
from services.table import commands as c
from services.table import events as e
from services.table import rejections as r
from services.table.words import SeatPhase, SeatWager
from tests.support.table_desk import (
    DEALER,
    DEVICE,
    LICENSEE,
    NOW,
    ROUND,
    SUPERVISOR,
    SYSTEM,
    TABLE,
    Desk,
    player,
    rules_with,
)


def test_a_patron_gets_a_session_that_names_his_stay() -> None:
    desk = Desk()
    desk.open()
    events = desk.do(c.SeatPlayer("ann", 3, 50_000), DEALER)
    assert events == (e.PlayerSeated(f"{TABLE}/session/1", "ann", 3, 50_000),)


def test_the_same_patron_on_the_same_seat_again_changes_nothing() -> None:
    desk = Desk()
    desk.open()
    desk.seat("ann", 3)
    assert desk.do(c.SeatPlayer("ann", 3)) == (e.NothingChanged("SeatPlayer"),)
    with pytest.raises(r.PatronAlreadySeated):
        desk.do(c.SeatPlayer("ann", 4))


def test_30_803_a_seat_is_one_of_the_tables_and_free() -> None:
    desk = Desk()
    desk.open()
    desk.seat("ann", 7)
    for seat in (0, 8, -1):
        with pytest.raises(r.NoSuchSeat):
            desk.do(c.SeatPlayer("bob", seat))
    with pytest.raises(r.SeatTaken):
        desk.do(c.SeatPlayer("bob", 7))


def test_a_player_seats_only_himself_and_staff_seats_anyone() -> None:
    desk = Desk()
    desk.open()
    with pytest.raises(r.NotYourSession):
        desk.do(c.SeatPlayer("ann", 1), player("bob"))
    with pytest.raises(NotAuthorised):
        desk.do(c.SeatPlayer("ann", 1), LICENSEE)
    assert desk.do(c.SeatPlayer("ann", 1), DEVICE)


@pytest.mark.parametrize("patron", ["", " ann", "a" * 65, "ann\n", "ann/../bob"])
def test_a_patron_has_a_usable_number(patron: str) -> None:
    desk = Desk()
    desk.open()
    with pytest.raises(r.IdMalformed):
        desk.do(c.SeatPlayer(patron, 1))


@pytest.mark.parametrize("chips_cents", [-1, 10**12 + 1])
def test_chips_that_a_patron_brings_are_within_bounds(chips_cents: int) -> None:
    desk = Desk()
    desk.open()
    with pytest.raises(r.AmountOutOfRange):
        desk.do(c.SeatPlayer("ann", 1, chips_cents))


def test_nobody_sits_down_at_a_closed_table() -> None:
    with pytest.raises(r.TableNotOpen):
        Desk().do(c.SeatPlayer("ann", 1))


def test_a_rack_that_is_not_open_yet_takes_no_wager() -> None:
    desk = Desk()
    desk.open()
    desk.do(c.SeatPlayer("ann", 1))
    desk.betting()
    with pytest.raises(r.RackNotOpen):
        desk.wager(f"{TABLE}/session/1", 1)


def test_d05_the_next_one_on_a_seat_is_not_the_one_before() -> None:
    desk = Desk()
    desk.open()
    ann = desk.seat("ann", 1)
    desk.do(c.LeaveSeat(ann))
    desk.happened(e.PlayerLeft(ann, "ann", 1, ""))
    bob = desk.seat("bob", 1)
    desk.betting()
    assert bob != ann
    with pytest.raises(r.SessionEnded):
        desk.wager(ann, 1, actor=player("ann"))
    with pytest.raises(r.NotYourSession):
        desk.wager(bob, 1, actor=player("ann"))
    assert desk.wager(bob, 1, actor=player("bob"))


def test_d05_a_returned_patron_has_a_new_session_and_the_old_one_is_dead() -> None:
    desk = Desk()
    desk.open()
    old = desk.seat("ann", 1)
    desk.do(c.LeaveSeat(old))
    desk.happened(e.PlayerLeft(old, "ann", 1, ""))
    new = desk.seat("ann", 1)
    desk.betting()
    assert new != old
    with pytest.raises(r.SessionEnded):
        desk.wager(old, 1, actor=player("ann"))


def test_d07_leaving_twice_is_leaving_once() -> None:
    desk = Desk()
    desk.open()
    session = desk.seat("ann", 1)
    assert desk.do(c.LeaveSeat(session), player("ann")) == (e.PlayerLeaving(session),)
    assert desk.do(c.LeaveSeat(session), player("ann")) == ()
    desk.happened(e.PlayerLeft(session, "ann", 1, ""))
    assert desk.do(c.LeaveSeat(session), player("ann")) == ()


@pytest.mark.parametrize("session", ["", "x", f"{TABLE}/session/2", f"{TABLE}/session/0", f"{TABLE}/session/x"])
def test_d07_leaving_a_seat_that_never_was_is_refused(session: str) -> None:
    desk = Desk()
    desk.open()
    desk.seat("ann", 1)
    with pytest.raises(r.UnknownSession):
        desk.do(c.LeaveSeat(session))


def test_d07_a_patron_with_a_stake_leaves_after_the_settlement() -> None:
    desk = Desk()
    ann, _ = desk.dealt("Ts 9s 7d 8s 8h ?", "ann", "bob")
    desk.do(c.LeaveSeat(ann), player("ann"))
    stay = desk.table.session(ann)
    assert stay is not None
    assert stay.phase is SeatPhase.LEAVING
    assert desk.table.has_stake("ann")
    # He goes on playing the hand that he has.
    assert desk.act(ann, 1, Action.STAND, actor=player("ann"))


def test_30_827_one_patron_may_play_two_neighbouring_seats_in_one_session() -> None:
    desk = Desk()
    desk.open()
    ann = desk.seat("ann", 3)
    desk.betting()
    two = (SeatWager(ann, 3, "main", 1_000), SeatWager(ann, 4, "main", 1_000))
    assert len(desk.do(c.PlaceWagers(ROUND, two), player("ann"))) == 2
    with pytest.raises(MultiSpot):
        desk.do(c.PlaceWagers(ROUND, (SeatWager(ann, 5, "main", 1_000),)))
    with pytest.raises(r.SeatTaken):
        desk.do(c.SeatPlayer("bob", 4))


def test_30_827_two_seats_that_do_not_touch_are_refused() -> None:
    desk = Desk()
    desk.open()
    ann = desk.seat("ann", 1)
    desk.betting()
    apart = (SeatWager(ann, 1, "main", 1_000), SeatWager(ann, 3, "main", 1_000))
    with pytest.raises(SpotNotAdjacent):
        desk.do(c.PlaceWagers(ROUND, apart))


def test_30_824_nobody_wagers_on_another_patrons_seat() -> None:
    desk = Desk()
    desk.open()
    ann = desk.seat("ann", 1)
    desk.seat("bob", 2)
    desk.betting()
    with pytest.raises(r.SeatTaken):
        desk.do(c.PlaceWagers(ROUND, (SeatWager(ann, 2, "main", 1_000),)), DEALER)


def test_30_809_a_seat_that_was_left_and_taken_again_wagers_in_the_same_betting_window() -> None:
    desk = Desk()
    desk.open()
    ann = desk.seat("ann", 3)
    desk.betting()
    desk.do(c.LeaveSeat(ann))
    desk.happened(e.PlayerLeft(ann, "ann", 3, ""))
    bob = desk.seat("bob", 3)
    (placed,) = desk.wager(bob, 3)
    assert (getattr(placed, "player", ""), desk.table.live and desk.table.live.players) == ("bob", {3: "bob"})


def test_30_809_who_left_wagers_no_more_and_a_wager_keeps_its_seat() -> None:
    desk = Desk()
    desk.open()
    ann, bob = desk.seat("ann", 1), desk.seat("bob", 2)
    desk.betting()
    desk.wager(ann, 1)
    desk.do(c.LeaveSeat(bob))
    desk.happened(e.PlayerLeft(bob, "bob", 2, ""))
    with pytest.raises(r.SessionEnded):
        desk.wager(bob, 2)
    with pytest.raises(r.SeatTaken):
        desk.do(c.SeatPlayer("cyd", 1))
    # The free seat is anybody's now: ann may play it as her second spot.
    assert desk.wager(ann, 2)


def test_30_809_who_takes_a_seat_again_joins_by_the_rule_of_mid_shoe_entry() -> None:
    desk = Desk()
    desk.open(rules_with(mid_shoe_entry=MidShoeEntry.CLOSED))
    desk.seat("ann", 1)
    bob = desk.seat("bob", 2)
    desk.betting()
    desk.wager(bob, 2)
    desk.do(c.VoidRound(ROUND, "test"), SUPERVISOR)
    desk.do(c.PlayOn(rc.PickUpHands()), SYSTEM)
    desk.betting()
    ann = desk.table.of_patron("ann")
    assert ann is not None
    desk.do(c.LeaveSeat(ann.session))
    desk.happened(e.PlayerLeft(ann.session, "ann", 1, ""))
    cyd = desk.seat("cyd", 1)
    with pytest.raises(NoMidShoeEntry):
        desk.wager(cyd, 1)


def test_30_809_cards_shuffled_anew_before_the_first_wager_let_anyone_join() -> None:
    desk = Desk()
    desk.open(rules_with(mid_shoe_entry=MidShoeEntry.CLOSED))
    bob = desk.seat("bob", 2)
    desk.betting()
    desk.wager(bob, 2)
    desk.do(c.VoidRound(ROUND, "test"), SUPERVISOR)
    desk.do(c.PlayOn(rc.PickUpHands()), SYSTEM)
    desk.betting()
    cyd = desk.seat("cyd", 1)
    with pytest.raises(NoMidShoeEntry):
        desk.wager(cyd, 1)
    assert desk.do(c.OpenRound(NOW, "shoe-2", 6, continuous=False)) == (
        e.ShoeAssigned(f"{TABLE}#2", "shoe-2", 6, continuous=False),
    )
    assert desk.wager(cyd, 1)
    # With a wager on it the round stays with its shoe.
    assert desk.do(c.OpenRound(NOW, "shoe-3", 6, continuous=False)) == (e.NothingChanged("OpenBetting"),)

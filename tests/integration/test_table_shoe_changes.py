"""Cards that are shuffled, burned, retired or lost beside a round (30-816 to 30-819, 30-822, 30-828, DESIGN §6)."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from services.shoe import client as shoe
from services.table import client as tables
from services.table.client import Action, TablePhase, TableView
from services.wire.refusal import Refused
from tests.support import table_house
from tests.support.table_house import DEALER, RULES, SUPERVISOR, TABLE, House, broken_laws, player

OTHER_KEY = bytes(range(32, 64))


def rules(**options: str) -> str:
    text = RULES
    for key, value in options.items():
        text, changed = re.subn(rf"(?m)^{key} = .*$", f"{key} = {value}", text)
        assert changed == 1, key
    return text


async def refusal(answer: object) -> Refused:
    with pytest.raises(Refused) as caught:
        await answer  # type: ignore[misc]  # any of the clients' coroutines
    return caught.value


async def opened(house: House) -> str:
    return (await house.table.open_betting(TABLE, house.context())).round_id


async def wager(house: House, round_id: str, session: str, seat: int = 1) -> None:
    wagers = (tables.SeatWager(session, seat, "main", 1_000),)
    await house.table.place_wagers(TABLE, house.context(), tables.PlaceWagers(round_id, wagers))


async def dealt(house: House, session: str) -> str:
    round_id = await opened(house)
    await wager(house, round_id, session)
    await house.table.close_betting(TABLE, house.context(), round_id)
    return round_id


async def stand_all(house: House) -> TableView:
    while True:
        view = await house.table.get_table(TABLE)
        if view.round is None or not view.round.questions:
            return view
        question = view.round.questions[0]
        action = Action.STAND if Action.STAND in question.actions else Action.DECLINE_INSURANCE
        act = tables.Act(view.round.round_id, question.session, question.seat, question.hand, action)
        await house.table.act(TABLE, house.context(), act)


async def until(house: House, wanted: Callable[[TableView], bool]) -> TableView:
    async for view in house.table.watch_table(TABLE):
        if wanted(view):
            return view
    raise AssertionError("the table is gone")


def retire(shoe_id: str) -> shoe.RetireShoe:
    return shoe.RetireShoe(shoe_id, shoe.RetireReason.HOUSE_CHOICE)


async def test_design_6_wagers_are_given_back_when_the_cards_are_shuffled_after_them(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db") as house:
        (ann,) = await house.ready("ann")
        round_id = await opened(house)
        await wager(house, round_id, ann)
        await house.prepare_shoe(shuffle="2")
        new = await house.shoe.get_shoe(TABLE)
        await house.table.close_betting(TABLE, house.context(), round_id)
        view = await house.table.get_table(TABLE)
        assert view.suspended
        assert "void the round" in view.suspension_reason
        # No card of the shoe that was committed to late has left it.
        assert (await house.shoe.get_shoe(TABLE)).drawn == 0
        # Going on without giving the wagers back stops again.
        going_on = tables.Resume("30-828(1)", "deal on")
        await house.table.resume(TABLE, house.context(SUPERVISOR), going_on)
        assert (await house.table.get_table(TABLE)).suspended
        void = tables.VoidRound(round_id, "the cards were shuffled after the wagers")
        await house.table.void_round(TABLE, house.context(SUPERVISOR), void)
        pushed = tables.Resume("30-828(1)", "the wagers went back")
        await house.table.resume(TABLE, house.context(SUPERVISOR), pushed)
        assert (await until(house, lambda view: view.phase is TablePhase.IDLE)).rounds == 1
        assert (await house.wager.read_statement(TABLE, ann)).rack_cents == 100_000
        await dealt(house, ann)
        assert (await house.shoe.get_shoe(TABLE)).shoe_id == new.shoe_id
        assert (await stand_all(house)).phase is TablePhase.IDLE
        assert await broken_laws(house) == []


async def test_design_6_before_the_first_wager_the_round_takes_the_new_shoe(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db") as house:
        (ann,) = await house.ready("ann")
        round_id = await opened(house)
        await house.prepare_shoe(shuffle="2")
        assert await opened(house) == round_id
        await wager(house, round_id, ann)
        await house.table.close_betting(TABLE, house.context(), round_id)
        assert (await stand_all(house)).phase is TablePhase.IDLE
        assert await broken_laws(house) == []


async def test_30_816_a_shoe_that_cannot_deal_the_hands_that_were_wagered_is_never_shuffled_under_them(
    tmp_path: Path,
) -> None:
    async with House(tmp_path / "journal.db") as house:
        (ann,) = await house.ready("ann", decks=1, behind=13)
        round_id = await opened(house)
        await wager(house, round_id, ann)
        status = await house.shoe.get_shoe(TABLE)
        burn = shoe.BurnCards("many", round_id, status.left - 2, shoe.BurnReason.SUPERVISOR_ORDER, face_up=False)
        await house.shoe.burn_cards(TABLE, house.context(SUPERVISOR), burn)
        await house.table.close_betting(TABLE, house.context(), round_id)
        view = await house.table.get_table(TABLE)
        assert view.suspended
        assert "void the round" in view.suspension_reason
        void = tables.VoidRound(round_id, "too few cards")
        await house.table.void_round(TABLE, house.context(SUPERVISOR), void)
        await house.table.resume(TABLE, house.context(SUPERVISOR), tables.Resume("30-828(1)", "pushed"))
        await until(house, lambda view: view.phase is TablePhase.IDLE)
        await house.prepare_shoe(shuffle="2", behind=13)
        await dealt(house, ann)
        assert (await stand_all(house)).phase is TablePhase.IDLE
        assert await broken_laws(house) == []


async def test_30_819_no_round_is_opened_before_the_burn_after_the_shuffle(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db") as house:
        (ann,) = await house.ready("ann", seed_rules=rules(burn_after_shuffle="2"))
        refused = await refusal(opened(house))
        assert (refused.name, "burn first (30-819)" in str(refused)) == ("ShoeNotReady", True)
        burn = shoe.BurnCards("b-1", "", 2, shoe.BurnReason.AFTER_SHUFFLE, face_up=False)
        await house.shoe.burn_cards(TABLE, house.context(DEALER), burn)
        await dealt(house, ann)
        assert (await stand_all(house)).phase is TablePhase.IDLE
        assert await broken_laws(house) == []


async def test_30_817_a_supervisor_has_the_cutting_card_placed_again(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db") as house:
        await house.prepare_shoe(behind=40)
        await house.open_table()
        assert "30-817" in str(await refusal(opened(house)))
        status = await house.shoe.get_shoe(TABLE)
        again = shoe.PlaceCutCard(status.shoe_id, 78)
        assert (
            await refusal(house.shoe.place_cut_card(TABLE, house.context(DEALER), again))
        ).name == "CutCardAlreadyPlaced"
        await house.shoe.place_cut_card(TABLE, house.context(SUPERVISOR), again)
        await opened(house)
        assert await broken_laws(house) == []


async def test_30_819_the_burn_of_a_new_dealer_waits_for_a_shoe_that_failed_its_inspection(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db") as house:
        (ann,) = await house.ready("ann")
        await dealt(house, ann)
        await stand_all(house)
        failed = shoe.InspectDevice("SH-1", passed=False, note="the lid is loose")
        await house.shoe.inspect_device(TABLE, house.context(SUPERVISOR), failed)
        burned = (await house.shoe.get_shoe(TABLE)).burned
        await house.table.set_dealer(TABLE, house.context(), tables.SetDealer("D-18"))
        assert (await house.table.get_table(TABLE)).waiting_for is tables.WaitingFor.SHOE
        passed = shoe.InspectDevice("SH-1", passed=True, note="mended")
        await house.shoe.inspect_device(TABLE, house.context(SUPERVISOR), passed)
        await until(house, lambda view: view.waiting_for is tables.WaitingFor.NOBODY)
        assert (await house.shoe.get_shoe(TABLE)).burned == burned + 1


async def test_30_809_a_seat_left_and_taken_again_in_one_betting_window_is_dealt_and_paid(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db") as house:
        ann, bob = await house.ready("ann", "bob")
        round_id = await opened(house)
        await wager(house, round_id, ann, 1)
        await house.table.leave_seat(TABLE, house.context(player("bob")), tables.LeaveSeat(bob))
        cyd = await house.seat("cyd", 2)
        await wager(house, round_id, cyd, 2)
        await house.table.close_betting(TABLE, house.context(), round_id)
        assert (await stand_all(house)).phase is TablePhase.IDLE
        assert (await house.wager.read_statement(TABLE, cyd)).staked_cents == 1_000
        assert await broken_laws(house) == []


async def test_design_6_a_shoe_whose_key_is_lost_is_abandoned_and_play_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.db"
    async with House(path) as house:
        (ann,) = await house.ready("ann")
        status = await house.shoe.get_shoe(TABLE)
        give_up = shoe.AbandonShoe(status.shoe_id, "the key file is lost")
        early = await refusal(house.shoe.abandon_shoe(TABLE, house.context(SUPERVISOR), give_up))
        assert early.name == "ShoeStillOpens"
        round_id = await dealt(house, ann)
    monkeypatch.setattr(table_house, "KEY", OTHER_KEY)
    async with House(path) as house:
        view = await stand_all(house)
        assert view.waiting_for is tables.WaitingFor.SHOE
        assert "put the key back" in view.waiting_reason
        locked = await refusal(house.shoe.retire_shoe(TABLE, house.context(), retire(status.shoe_id)))
        assert locked.name == "ShoeCannotBeOpened"
        assert "AbandonShoe" in locked.remedy
        for actor, asked, name in (
            (DEALER, give_up, "NotAuthorised"),
            (SUPERVISOR, shoe.AbandonShoe(status.shoe_id, " "), "ReasonMissing"),
        ):
            assert (await refusal(house.shoe.abandon_shoe(TABLE, house.context(actor), asked))).name == name
        for _ in range(2):
            await house.shoe.abandon_shoe(TABLE, house.context(SUPERVISOR), give_up)
        gone = await refusal(house.shoe.retire_shoe(TABLE, house.context(), retire(status.shoe_id)))
        assert gone.name == "ShoeGivenUp"
        void = tables.VoidRound(round_id, "the cards cannot be shown")
        await house.table.void_round(TABLE, house.context(SUPERVISOR), void)
        view = await house.table.get_table(TABLE)
        if view.suspended:
            await house.table.resume(TABLE, house.context(SUPERVISOR), tables.Resume("30-828(1)", "pushed"))
        await until(house, lambda view: view.phase is TablePhase.IDLE)
        assert (await house.wager.read_statement(TABLE, ann)).rack_cents == 100_000
        # What is left in the device is counted by hand before it is shuffled again (30-815).
        shuffle = shoe.ShuffleCards("2", 10, shoe.CutCardFirst.PLAY_ONE_MORE, shoe.ShuffleReason.SUPERVISOR_ORDER)
        uncounted = await refusal(house.shoe.shuffle_cards(TABLE, house.context(), shuffle))
        assert uncounted.name == "CardsNotInspected"
        counted = shoe.InspectCards(DEALER.id, SUPERVISOR.id, ())
        await house.shoe.inspect_cards(TABLE, house.context(SUPERVISOR), counted)
        new = (await house.shoe.shuffle_cards(TABLE, house.context(), shuffle)).shoe
        await house.shoe.cut_cards(TABLE, house.context(), shoe.CutCards(new.shoe_id, 26, "seat 1"))
        await house.shoe.place_cut_card(TABLE, house.context(), shoe.PlaceCutCard(new.shoe_id, 78))
        await dealt(house, ann)
        assert (await stand_all(house)).phase is TablePhase.IDLE
        findings = await broken_laws(house)
        assert [found.law for found in findings] == ["L2"]
        assert f"abandoned by {SUPERVISOR.id} ('the key file is lost')" in findings[0].reason


async def test_30_822_a_shuffling_shoe_without_a_hole_card_stays_shut_during_the_round_too(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db") as house:
        await house.prepare_machine()
        await house.open_table(rules=rules(shuffle='"continuous"', hole_card='"no-hole-card"'))
        ann = await house.seat("ann", 1)
        status = await house.shoe.get_shoe(TABLE)
        await dealt(house, ann)
        closed = await refusal(house.shoe.retire_shoe(TABLE, house.context(), retire(status.shoe_id)))
        assert closed.name == "CardsOnFelt"
        assert (await stand_all(house)).phase is TablePhase.IDLE
        await house.shoe.retire_shoe(TABLE, house.context(), retire(status.shoe_id))
        assert await broken_laws(house) == []


async def test_30_822_a_supervisor_clears_the_felt_when_the_table_cannot(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db") as house:
        (ann,) = await house.ready("ann", seed_rules=rules(hole_card='"no-hole-card"'))
        round_id = await dealt(house, ann)
        status = await house.shoe.get_shoe(TABLE)
        other = shoe.RackCards(status.shoe_id, f"{TABLE}#99")
        await house.shoe.rack_cards(TABLE, house.context(SUPERVISOR), other)
        closed = await refusal(house.shoe.retire_shoe(TABLE, house.context(), retire(status.shoe_id)))
        assert closed.name == "CardsOnFelt"
        await house.shoe.rack_cards(TABLE, house.context(SUPERVISOR), shoe.RackCards(status.shoe_id, round_id))
        assert (await house.shoe.retire_shoe(TABLE, house.context(), retire(status.shoe_id))).balanced

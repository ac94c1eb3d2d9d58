"""Every hold ends (L9), also one that was made for a wager which was then never recorded; refusals change nothing."""

import asyncio
from pathlib import Path

import pytest

from services.runtime.failures import ServiceUnavailable
from services.table import client as tables
from services.table.client import Action, TablePhase
from services.wager.client import HoldStatus
from services.wire.refusal import Refused
from tests.support.table_house import DEALER, SUPERVISOR, TABLE, Fault, House, broken_laws, player

FIRST = f"{TABLE}#1"


async def betting(house: House) -> str:
    return (await house.table.open_betting(TABLE, house.context())).round_id


def main(session: str, amount_cents: int, seat: int = 1, round_id: str = FIRST) -> tables.PlaceWagers:
    return tables.PlaceWagers(round_id, (tables.SeatWager(session, seat, "main", amount_cents),))


async def rack(house: House, session: str) -> int:
    return (await house.wager.read_statement(TABLE, session)).rack_cents


async def statuses(house: House) -> dict[str, HoldStatus]:
    money = await house.wager.read_round(TABLE, FIRST)
    return {hold.hold.removeprefix(FIRST): hold.status for hold in money.holds}


async def stand_all(house: House) -> None:
    """Answer every question in the cheapest way until the round is over."""
    while (view := await house.table.get_table(TABLE)).phase is not TablePhase.IDLE:
        assert view.round is not None
        question = view.round.questions[0]
        action = Action.STAND if Action.STAND in question.actions else Action.DECLINE_INSURANCE
        act = tables.Act(FIRST, "", question.seat, question.hand, action)
        await house.table.act(TABLE, house.context(), act)


async def orphan(path: Path, amount_cents: int, chips_cents: int = 100_000) -> str:
    """A first life that dies right after 1 wager's chips were held and before it was recorded; gives the session."""
    fault = Fault(fatal=True)
    async with House(path, seed="7", fault=fault) as house:
        await house.prepare_shoe()
        await house.open_table()
        session = await house.seat("ann", 1, chips_cents)
        await house.seat("bob", 2)
        await betting(house)
        fault.at, fault.before = fault.count + 1, False
        with pytest.raises(ServiceUnavailable):
            await house.table.place_wagers(TABLE, house.context(), main(session, amount_cents))
        assert fault.names[-1] == "HoldStakes"
    return session


async def test_the_same_wager_takes_up_the_hold_that_a_crash_left(tmp_path: Path) -> None:
    session = await orphan(tmp_path / "journal.db", 1_000)
    async with House(tmp_path / "journal.db") as house:
        assert await rack(house, session) == 99_000
        await house.table.place_wagers(TABLE, house.context(), main(session, 1_000))
        assert await rack(house, session) == 99_000
        assert await statuses(house) == {"/1/main/1": HoldStatus.HELD}


async def test_another_wager_takes_the_place_of_a_hold_that_a_crash_left(tmp_path: Path) -> None:
    session = await orphan(tmp_path / "journal.db", 1_000)
    async with House(tmp_path / "journal.db") as house:
        await house.table.place_wagers(TABLE, house.context(), main(session, 2_500))
        assert await rack(house, session) == 97_500
        assert await statuses(house) == {"/1/main/1": HoldStatus.VOIDED, "/1/main/1.2": HoldStatus.HELD}
        await house.table.close_betting(TABLE, house.context(), FIRST)
        await stand_all(house)
        assert await statuses(house) == {"/1/main/1": HoldStatus.VOIDED, "/1/main/1.2": HoldStatus.POSTED}
        assert await broken_laws(house) == []


async def test_a_hold_in_the_way_of_the_patrons_last_chips_is_given_back(tmp_path: Path) -> None:
    session = await orphan(tmp_path / "journal.db", 1_000, chips_cents=1_000)
    async with House(tmp_path / "journal.db") as house:
        assert await rack(house, session) == 0
        await house.table.place_wagers(TABLE, house.context(), main(session, 500))
        assert await rack(house, session) == 500


async def test_l9_a_hold_that_nobody_asked_for_again_ends_at_the_settlement(tmp_path: Path) -> None:
    await orphan(tmp_path / "journal.db", 1_000)
    async with House(tmp_path / "journal.db") as house:
        bob = (await house.table.get_table(TABLE)).seats[1].session
        await house.table.place_wagers(TABLE, house.context(), main(bob, 500, seat=2))
        await house.table.close_betting(TABLE, house.context(), FIRST)
        await stand_all(house)
        assert await statuses(house) == {"/1/main/1": HoldStatus.VOIDED, "/2/main/1": HoldStatus.POSTED}
        assert await broken_laws(house) == []


async def test_l9_a_hold_ends_with_a_round_that_had_no_wager(tmp_path: Path) -> None:
    session = await orphan(tmp_path / "journal.db", 1_000)
    async with House(tmp_path / "journal.db") as house:
        await house.table.void_round(TABLE, house.context(SUPERVISOR), tables.VoidRound(FIRST, "nobody plays"))
        assert (await house.table.get_table(TABLE)).phase is TablePhase.IDLE
        assert await rack(house, session) == 100_000
        assert await statuses(house) == {"/1/main/1": HoldStatus.VOIDED}


async def test_d07_a_patron_leaves_with_the_chips_of_a_hold_that_a_crash_left(tmp_path: Path) -> None:
    session = await orphan(tmp_path / "journal.db", 1_000)
    async with House(tmp_path / "journal.db") as house:
        await house.table.leave_seat(TABLE, house.context(player("ann")), tables.LeaveSeat(session))
        assert [seat.patron for seat in (await house.table.get_table(TABLE)).seats] == ["bob"]
        assert (await house.wager.read_statement(TABLE, session)).cashed_out_cents == 100_000


async def test_c12_a_double_without_chips_is_refused_and_the_hand_plays_on(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db", seed="7") as house:
        await house.prepare_shoe()
        await house.open_table()
        session = await house.seat("ann", 1, 1_500)
        await betting(house)
        await house.table.place_wagers(TABLE, house.context(), main(session, 1_000))
        await house.table.close_betting(TABLE, house.context(), FIRST)
        view = await house.table.get_table(TABLE)
        assert view.round is not None
        question = view.round.questions[0]
        assert Action.DOUBLE in question.actions
        double = tables.Act(FIRST, session, 1, 0, Action.DOUBLE, turn=view.round.turn)
        with pytest.raises(Refused) as refused:
            await house.table.act(TABLE, house.context(player("ann")), double)
        assert refused.value.name == "InsufficientChips"
        assert await house.table.get_table(TABLE) == view
        assert await rack(house, session) == 500
        for_less = tables.Act(FIRST, session, 1, 0, Action.DOUBLE, amount_cents=500, turn=view.round.turn)
        await house.table.act(TABLE, house.context(player("ann")), for_less)
        assert set((await statuses(house)).values()) == {HoldStatus.POSTED}


async def test_b06_wagers_of_two_seats_stand_together_or_not_at_all(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db", seed="7") as house:
        await house.prepare_shoe()
        await house.open_table()
        ann, bob = await house.seat("ann", 1, 1_000), await house.seat("bob", 2, 400)
        await betting(house)
        both = tables.PlaceWagers(
            FIRST, (tables.SeatWager(ann, 1, "main", 1_000), tables.SeatWager(bob, 2, "main", 500))
        )
        with pytest.raises(Refused) as refused:
            await house.table.place_wagers(TABLE, house.context(), both)
        assert refused.value.name == "InsufficientChips"
        assert (await rack(house, ann), await rack(house, bob)) == (1_000, 400)
        view = await house.table.get_table(TABLE)
        assert view.round is not None
        assert view.round.hands == ()


@pytest.mark.parametrize("same_id", [True, False])
async def test_b18_five_equal_wagers_at_once_are_one_wager(tmp_path: Path, *, same_id: bool) -> None:
    async with House(tmp_path / "journal.db") as house:
        (session,) = await house.ready("ann")
        await betting(house)
        request_id = "click" if same_id else ""
        answers = await asyncio.gather(
            *(
                house.table.place_wagers(TABLE, house.context(player("ann"), request_id), main(session, 1_000))
                for _ in range(5)
            )
        )
        assert await rack(house, session) == 99_000
        first = {answer.first_sequence for answer in answers}
        # The same id gets the same answer; another id for the same wager is told that nothing was added.
        assert len(first) == 1 if same_id else first - {0} == {max(first)}
        view = await house.table.get_table(TABLE)
        assert view.round is not None
        assert [hand.wager_cents for hand in view.round.hands] == [1_000]


async def test_c08_a_hit_that_is_sent_again_under_a_new_id_draws_one_card(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db", seed="7") as house:
        (session,) = await house.ready("ann")
        await betting(house)
        await house.table.place_wagers(TABLE, house.context(), main(session, 1_000))
        await house.table.close_betting(TABLE, house.context(), FIRST)
        view = await house.table.get_table(TABLE)
        assert view.round is not None
        hit = tables.Act(FIRST, session, 1, 0, Action.HIT, turn=view.round.turn)
        answers = await asyncio.gather(*(house.table.act(TABLE, house.context(player("ann")), hit) for _ in range(5)))
        assert sorted(answer.first_sequence > 0 for answer in answers) == [False] * 4 + [True]
        after = await house.table.get_table(TABLE)
        assert after.round is not None
        assert len(after.round.hands[0].cards) == 3


async def test_c08_buying_in_twice_under_one_receipt_is_one_buy_in(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db") as house:
        (session,) = await house.ready("ann")
        command = tables.BuyIn("slip-1", session, (tables.ChipCount(10_000, 2),), 20_000)
        first = await house.table.buy_in(TABLE, house.context(DEALER), command)
        again = await house.table.buy_in(TABLE, house.context(DEALER), command)
        assert first == again == tables.RackReply(session, "slip-1", 20_000, 120_000)
        assert await rack(house, session) == 120_000
        assert [entry.type for entry in await house.log()].count("holecard.table.v1.RackChanged") == 1


async def test_30_831_chips_are_bought_and_taken_away_between_hands_only(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db", seed="7") as house:
        ann, bob = await house.ready("ann", "bob")
        await betting(house)
        await house.table.place_wagers(TABLE, house.context(), main(ann, 1_000))
        buy_in = tables.BuyIn("slip-1", ann, (tables.ChipCount(10_000, 1),), 10_000)
        cash_out = tables.CashOut("out-1", ann, 500)
        for call in (
            house.table.buy_in(TABLE, house.context(DEALER), buy_in),
            house.table.cash_out(TABLE, house.context(player("ann")), cash_out),
        ):
            with pytest.raises(Refused) as refused:
                await call
            assert refused.value.name == "HandInPlay"
        # Bob has no stake in play, so his chips are free.
        out = await house.table.cash_out(TABLE, house.context(player("bob")), tables.CashOut("out-2", bob, 500))
        assert out.rack_cents == 99_500
        await house.table.close_betting(TABLE, house.context(), FIRST)
        await stand_all(house)
        before = await rack(house, ann)
        assert (await house.table.buy_in(TABLE, house.context(DEALER), buy_in)).rack_cents == before + 10_000


async def test_30_831_chips_that_differ_from_the_cash_are_refused(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db") as house:
        (session,) = await house.ready("ann")
        wrong = tables.BuyIn("slip-1", session, (tables.ChipCount(10_000, 2),), 30_000)
        with pytest.raises(Refused) as refused:
            await house.table.buy_in(TABLE, house.context(DEALER), wrong)
        assert refused.value.name == "BuyInUnbalanced"
        assert await rack(house, session) == 100_000

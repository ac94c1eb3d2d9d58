"""Tips, tip bets, cash plays, spoken wagers: taken where posted, refused where not (30-803(3)(i), 30-809, 30-831)."""

import re
from pathlib import Path

import pytest

from services.game.authority import Actor
from services.runtime.failures import ServiceUnavailable
from services.table import client as tables
from services.table.client import Action, TablePhase, TableView
from services.wager import client as wager
from services.wire.refusal import Refused
from tests.support.table_house import DEALER, RULES, SUPERVISOR, TABLE, Fault, House, broken_laws, player

ANN = player("ann")


def rules(**options: str) -> str:
    text = RULES
    for key, value in options.items():
        text, changed = re.subn(rf"(?m)^{key} = [^#\n]*", f"{key} = {value} ", text)
        assert changed == 1, key
    return text


async def refusal(answer: object) -> str:
    with pytest.raises(Refused) as caught:
        await answer  # type: ignore[misc]  # any of the clients' coroutines
    return caught.value.name


async def stand_all(house: House) -> TableView:
    while True:
        view = await house.table.get_table(TABLE)
        if view.round is None or not view.round.questions:
            return view
        question = view.round.questions[0]
        action = Action.STAND if Action.STAND in question.actions else Action.DECLINE_INSURANCE
        act = tables.Act(view.round.round_id, question.session, question.seat, question.hand, action)
        await house.table.act(TABLE, house.context(), act)


async def tips_of(house: House) -> int:
    return (await house.wager.read_table_money(TABLE)).tips_cents


async def test_30_803_tips_are_given_where_they_are_accepted_once_for_each_receipt(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db") as house:
        (ann,) = await house.ready("ann")
        tip = tables.GiveTip("t-1", ann, 500)
        for _ in range(3):
            reply = await house.table.give_tip(TABLE, house.context(ANN), tip)
            assert (reply.receipt, reply.amount_cents, reply.rack_cents) == ("t-1", 500, 99_500)
        again = house.context(ANN, "the same request")
        for _ in range(3):
            assert (await house.table.give_tip(TABLE, again, tip)).rack_cents == 99_500
        assert await tips_of(house) == 500
        other = tables.GiveTip("t-1", ann, 600)
        assert await refusal(house.table.give_tip(TABLE, house.context(ANN), other)) == "BusinessIdReused"
        assert await refusal(house.table.give_tip(TABLE, house.context(player("bob")), tip)) == "NotYourSession"
        too_much = tables.GiveTip("t-2", ann, 10**9)
        assert await refusal(house.table.give_tip(TABLE, house.context(ANN), too_much)) == "InsufficientChips"
        assert await broken_laws(house) == []


async def test_30_803_where_no_tips_are_posted_none_reaches_the_dealers_by_any_door(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db") as house:
        (ann,) = await house.ready("ann", seed_rules=rules(tips="false", tip_bets="false"))
        assert "Tips are not accepted." in str([row.payload for row in await house.log()])
        tip = tables.GiveTip("t-1", ann, 500)
        for actor in (ANN, DEALER, SUPERVISOR):
            assert await refusal(house.table.give_tip(TABLE, house.context(actor), tip)) == "TipsNotAccepted"
            direct = house.wager.give_tip(TABLE, house.context(actor), wager.GiveTip("t-1", ann, 500))
            assert await refusal(direct) == "NotAuthorised"
        round_id = (await house.table.open_betting(TABLE, house.context())).round_id
        wagers = (tables.SeatWager(ann, 1, "main", 1_000), tables.SeatWager(ann, 1, "tip", 500))
        placing = tables.PlaceWagers(round_id, wagers)
        assert await refusal(house.table.place_wagers(TABLE, house.context(), placing)) == "WagerKindNotOffered"
        assert await tips_of(house) == 0
        assert (await house.wager.read_statement(TABLE, ann)).rack_cents == 100_000


async def test_30_803_a_tip_is_given_in_the_middle_of_a_round_too(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db") as house:
        (ann,) = await house.ready("ann")
        round_id = (await house.table.open_betting(TABLE, house.context())).round_id
        wagers = (tables.SeatWager(ann, 1, "main", 1_000),)
        await house.table.place_wagers(TABLE, house.context(), tables.PlaceWagers(round_id, wagers))
        await house.table.close_betting(TABLE, house.context(), round_id)
        await house.table.give_tip(TABLE, house.context(ANN), tables.GiveTip("t-1", ann, 500))
        assert (await stand_all(house)).phase is TablePhase.IDLE
        assert await tips_of(house) == 500
        assert await broken_laws(house) == []


async def test_30_803_a_won_tip_bet_goes_to_the_dealers_with_its_pay_and_a_push_back(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db", seed="tips") as house:
        (ann,) = await house.ready("ann")
        seen: set[str] = set()
        expected, rack = 0, 100_000
        for _ in range(40):
            round_id = (await house.table.open_betting(TABLE, house.context())).round_id
            wagers = (tables.SeatWager(ann, 1, "main", 1_000), tables.SeatWager(ann, 1, "tip", 500))
            await house.table.place_wagers(TABLE, house.context(ANN), tables.PlaceWagers(round_id, wagers))
            await house.table.close_betting(TABLE, house.context(), round_id)
            assert (await stand_all(house)).phase is TablePhase.IDLE
            lines = {hold.kind: hold for hold in (await house.wager.read_round(TABLE, round_id)).holds}
            assert set(lines) == {"main", "tip"}
            (settlement,) = (await house.wager.read_round(TABLE, round_id)).settlements
            for line in settlement.lines:
                rack -= line.stake_cents
                rack += 0 if line.for_dealers else line.returned_cents
                expected += line.returned_cents if line.for_dealers else 0
                if line.kind == "tip":
                    seen.add(line.outcome)
            assert await tips_of(house) == expected
            assert (await house.wager.read_statement(TABLE, ann)).rack_cents == rack
            if {"win", "lose", "push"} <= seen:
                break
            if (await house.table.get_table(TABLE)).shuffle_due:
                await house.prepare_shoe(shuffle=f"again-{len(seen)}-{rack}")
        assert {"win", "lose", "push"} <= seen
        statement = await house.wager.read_statement(TABLE, ann)
        assert statement.tipped_cents == expected
        assert await broken_laws(house) == []


def cash_play(round_id: str, session: str, *notes: tuple[int, int], receipt: str = "c-1") -> tables.PlayCash:
    cash = tuple(tables.ChipCount(*note) for note in notes)
    return tables.PlayCash(round_id, session, 1, "main", receipt, cash)


async def test_30_809_a_cash_play_puts_the_cash_in_the_box_and_its_chips_at_stake(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db") as house:
        (ann,) = await house.ready("ann", seed_rules=rules(accept_cash_plays="true"))
        before = await house.wager.read_table_money(TABLE)
        round_id = (await house.table.open_betting(TABLE, house.context())).round_id
        play = cash_play(round_id, ann, (2_000, 2), (500, 1))
        first = await house.table.play_cash(TABLE, house.context(DEALER, "cash"), play)
        assert await house.table.play_cash(TABLE, house.context(DEALER, "cash"), play) == first
        await house.table.play_cash(TABLE, house.context(), play)
        money = await house.wager.read_table_money(TABLE)
        assert (money.drop_cents, money.escrow_cents) == (before.drop_cents + 4_500, 4_500)
        assert money.tray_cents == before.tray_cents - 4_500
        assert (await house.wager.read_statement(TABLE, ann)).rack_cents == 100_000
        await house.table.close_betting(TABLE, house.context(), round_id)
        assert (await stand_all(house)).phase is TablePhase.IDLE
        types = [row.type.rpartition(".")[2] for row in await house.log()]
        next_round = (await house.table.open_betting(TABLE, house.context())).round_id
        again = cash_play(next_round, ann, (2_000, 2), (500, 1))
        assert await refusal(house.table.play_cash(TABLE, house.context(), again)) == "ReceiptUsed"
        at = types.index("CashPlayed")
        assert types[at - 1 : at + 2] == ["RackChanged", "CashPlayed", "WagerPlaced"]
        assert await broken_laws(house) == []


@pytest.mark.parametrize(
    ("options", "actor", "notes", "name"),
    [
        ({}, DEALER, (2_000, 1), "CashPlayNotAccepted"),
        ({"accept_cash_plays": "true"}, ANN, (2_000, 1), "NotAuthorised"),
        ({"accept_cash_plays": "true"}, DEALER, (100, 1), "StakeBelowMinimum"),
        ({"accept_cash_plays": "true"}, DEALER, (10_000, 100), "StakeAboveMaximum"),
        ({"accept_cash_plays": "true"}, DEALER, (0, 1), "AmountOutOfRange"),
        ({"accept_cash_plays": "true"}, DEALER, (2_000, -1), "AmountOutOfRange"),
    ],
)
async def test_30_809_a_cash_play_that_is_not_taken_leaves_the_cash_with_the_patron(
    tmp_path: Path, options: dict[str, str], actor: Actor, notes: tuple[int, int], name: str
) -> None:
    async with House(tmp_path / "journal.db") as house:
        (ann,) = await house.ready("ann", seed_rules=rules(**options))
        round_id = (await house.table.open_betting(TABLE, house.context())).round_id
        play = cash_play(round_id, ann, notes)
        assert await refusal(house.table.play_cash(TABLE, house.context(actor), play)) == name
        assert (await house.wager.read_table_money(TABLE)).drop_cents == 0
        assert await broken_laws(house) == []


async def test_30_831_no_cash_is_taken_once_a_stake_of_the_patron_is_in_play(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db") as house:
        (ann,) = await house.ready("ann", seed_rules=rules(accept_cash_plays="true"))
        round_id = (await house.table.open_betting(TABLE, house.context())).round_id
        wagers = (tables.SeatWager(ann, 2, "main", 1_000),)
        await house.table.place_wagers(TABLE, house.context(), tables.PlaceWagers(round_id, wagers))
        play = cash_play(round_id, ann, (2_000, 1))
        assert await refusal(house.table.play_cash(TABLE, house.context(), play)) == "HandInPlay"
        assert (await house.wager.read_table_money(TABLE)).drop_cents == 0


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("point", [1, 2, 3])
async def test_a_cash_play_that_dies_on_the_way_heals_by_asking_again(
    tmp_path: Path, point: int, *, before: bool
) -> None:
    path = tmp_path / "journal.db"
    async with House(path) as house:
        (ann,) = await house.ready("ann", seed_rules=rules(accept_cash_plays="true"))
        round_id = (await house.table.open_betting(TABLE, house.context())).round_id
    play = cash_play(round_id, ann, (2_000, 1))
    fault = Fault(at=point, before=before)
    async with House(path, fault=fault) as house:
        with pytest.raises(ServiceUnavailable):
            await house.table.play_cash(TABLE, house.context(DEALER, "cash"), play)
    async with House(path) as house:
        await house.table.play_cash(TABLE, house.context(DEALER, "cash"), play)
        money = await house.wager.read_table_money(TABLE)
        assert (money.drop_cents, money.escrow_cents) == (2_000, 2_000)
        await house.table.close_betting(TABLE, house.context(), round_id)
        assert (await stand_all(house)).phase is TablePhase.IDLE
        assert await broken_laws(house) == []


async def test_30_809_a_spoken_wager_is_heard_by_the_dealer_where_it_is_accepted(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db") as house:
        ann, bob = await house.ready("ann", "bob", seed_rules=rules(accept_verbal="true"))
        round_id = (await house.table.open_betting(TABLE, house.context())).round_id
        spoken = tables.PlaceWagers(round_id, (tables.SeatWager(ann, 1, "main", 1_000, spoken=True),))
        assert await refusal(house.table.place_wagers(TABLE, house.context(ANN), spoken)) == "NotAuthorised"
        for _ in range(2):
            await house.table.place_wagers(TABLE, house.context(DEALER), spoken)
        laid = tables.PlaceWagers(round_id, (tables.SeatWager(bob, 2, "main", 1_000),))
        await house.table.place_wagers(TABLE, house.context(DEALER), laid)
        await house.table.close_betting(TABLE, house.context(), round_id)
        assert (await stand_all(house)).phase is TablePhase.IDLE
        types = [row.type.rpartition(".")[2] for row in await house.log()]
        assert types.count("WagerSpoken") == 1
        assert await broken_laws(house) == []


async def test_30_809_a_spoken_wager_is_refused_where_none_is_accepted(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db") as house:
        (ann,) = await house.ready("ann")
        round_id = (await house.table.open_betting(TABLE, house.context())).round_id
        spoken = tables.PlaceWagers(round_id, (tables.SeatWager(ann, 1, "main", 1_000, spoken=True),))
        assert await refusal(house.table.place_wagers(TABLE, house.context(DEALER), spoken)) == "VerbalWagerNotAccepted"
        assert (await house.wager.read_table_money(TABLE)).escrow_cents == 0

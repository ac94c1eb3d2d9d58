"""A service that is away, a journal that fails, a new process: the table waits visibly and goes on by itself."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from services.game.rules import DealStyle, canonical_text
from services.runtime.failures import NotFound, ServiceUnavailable
from services.shoe import client as shoe
from services.table import client as tables
from services.table.client import Action, SeatPhase, TablePhase, TableView, WaitingFor
from services.wager import client as wager
from services.wire.refusal import Refused
from tests.support.table_desk import rules_with
from tests.support.table_house import DEALER, RULES, SUPERVISOR, TABLE, Fault, House, player

FIRST = f"{TABLE}#1"
OTHER = "black-hawk/BJ-08"
TIMED = canonical_text(rules_with(action_timeout_seconds=30, deal_style=DealStyle.ELECTRONIC, burn_after_shuffle=0))


async def until(house: House, seen: Callable[[TableView], bool], table: str = TABLE) -> TableView:
    """The first view that is so."""
    async for view in house.table.watch_table(table):
        if seen(view):
            return view
    raise AssertionError("the watch ended")


async def started(house: House, *sessions: str, table: str = TABLE) -> tables.Accepted:
    """Betting opened, a wager for each session, betting closed."""
    round_id = (await house.table.open_betting(table, house.context())).round_id
    wagers = tuple(tables.SeatWager(session, seat, "main", 1_000) for seat, session in enumerate(sessions, start=1))
    await house.table.place_wagers(table, house.context(), tables.PlaceWagers(round_id, wagers))
    return await house.table.close_betting(table, house.context(), round_id)


async def stand(house: House, table: str = TABLE) -> None:
    """Stand on every question until nobody is asked."""
    while True:
        round_ = (await house.table.get_table(table)).round
        if round_ is None or not round_.questions:
            return
        question = round_.questions[0]
        action = Action.STAND if Action.STAND in question.actions else Action.DECLINE_INSURANCE
        act = tables.Act(round_.round_id, "", question.seat, question.hand, action)
        await house.table.act(table, house.context(), act)


async def test_a_command_stands_although_the_shoe_is_away_and_dealing_goes_on_when_it_is_back(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db", seed="7") as house:
        (session,) = await house.ready("ann")
        round_id = (await house.table.open_betting(TABLE, house.context())).round_id
        wagers = tables.PlaceWagers(round_id, (tables.SeatWager(session, 1, "main", 1_000),))
        await house.table.place_wagers(TABLE, house.context(), wagers)
        house.fault.away.add(shoe.SERVICE)
        closed = await house.table.close_betting(TABLE, house.context(), round_id)
        assert closed.first_sequence == closed.last_sequence > 0
        view = await house.table.get_table(TABLE)
        assert (view.phase, view.waiting_for) == (TablePhase.DEALING, WaitingFor.SHOE)
        waiting = house.telemetry.registry.get_sample_value
        assert waiting("holecard_tables_waiting", {"whom": "shoe"}) == 1
        assert "cannot be reached" in view.waiting_reason
        house.fault.away.clear()
        view = await until(house, lambda view: view.phase is TablePhase.PLAYERS)
        assert view.waiting_for is WaitingFor.NOBODY
        assert waiting("holecard_tables_waiting", {"whom": "shoe"}) == 0
        await stand(house)
        assert waiting("holecard_table_rounds_total") == 1


async def test_a_table_that_waits_holds_up_no_other(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db", seed="7") as house:
        (ann,) = await house.ready("ann")
        await house.prepare_shoe(OTHER, shuffle="other")
        await house.open_table(OTHER)
        bob = await house.seat("bob", 1, table=OTHER)
        await started(house, ann)
        # The money of the first table cannot move, the other one's moves later.
        house.fault.away.add(wager.SERVICE)
        await stand(house)
        assert (await house.table.get_table(TABLE)).waiting_for is WaitingFor.WAGER
        opened = await house.table.open_betting(OTHER, house.context())
        assert opened.round_id == f"{OTHER}#1"
        house.fault.away.clear()
        await until(house, lambda view: view.phase is TablePhase.IDLE)
        await house.table.place_wagers(
            OTHER, house.context(), tables.PlaceWagers(opened.round_id, (tables.SeatWager(bob, 1, "main", 500),))
        )
        await house.table.close_betting(OTHER, house.context(), opened.round_id)
        await stand(house, OTHER)
        assert (await house.table.get_table(OTHER)).rounds == 1


async def test_a_wager_is_not_taken_while_its_chips_cannot_be_held(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db") as house:
        (session,) = await house.ready("ann")
        round_id = (await house.table.open_betting(TABLE, house.context())).round_id
        house.fault.away.add(wager.SERVICE)
        wagers = tables.PlaceWagers(round_id, (tables.SeatWager(session, 1, "main", 1_000),))
        with pytest.raises(ServiceUnavailable):
            await house.table.place_wagers(TABLE, house.context(request_id="w"), wagers)
        house.fault.away.clear()
        answer = await house.table.place_wagers(TABLE, house.context(request_id="w"), wagers)
        assert answer.first_sequence > 0


async def test_a_tray_that_cannot_pay_keeps_the_table_waiting_until_it_is_filled(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db", seed="4") as house:
        await house.prepare_shoe()
        command = tables.OpenTable(RULES, (tables.ChipCount(1, 1),), DEALER.id)
        await house.table.open_table(TABLE, house.context(SUPERVISOR), command)
        await started(house, await house.seat("ann", 1))
        await stand(house)
        view = await house.table.get_table(TABLE)
        assert (view.phase, view.waiting_for) == (TablePhase.PICKUP, WaitingFor.WAGER)
        assert "TrayShort" in view.waiting_reason
        slip = wager.FillTray("slip-1", (wager.Count(10_000, 10),))
        await house.wager.fill_tray(TABLE, house.context(SUPERVISOR), slip)
        view = await until(house, lambda view: view.phase is TablePhase.IDLE)
        assert view.round is not None
        assert (view.round.staked_cents, view.round.returned_cents) == (1_000, 2_000)


@pytest.mark.parametrize("before", [True, False])
async def test_a_journal_that_fails_while_dealing_delays_the_cards_and_nothing_else(
    tmp_path: Path, *, before: bool
) -> None:
    fault = Fault(fatal=False, before=before)
    async with House(tmp_path / "journal.db", seed="7", fault=fault) as house:
        (session,) = await house.ready("ann")
        round_id = (await house.table.open_betting(TABLE, house.context())).round_id
        wagers = tables.PlaceWagers(round_id, (tables.SeatWager(session, 1, "main", 1_000),))
        await house.table.place_wagers(TABLE, house.context(), wagers)
        fault.at = fault.count + 3  # the command's append, the draw, and the append of its cards
        answer = await house.table.close_betting(TABLE, house.context(), round_id)
        assert answer.first_sequence > 0
        assert fault.names[-1] == "append"
        view = await until(house, lambda view: view.phase is TablePhase.PLAYERS)
        assert view.round is not None
        assert len(view.round.hands[0].cards) == 2
        drawn = [entry for entry in await house.log(f"shoe:{TABLE}") if entry.type.endswith("CardDrawn")]
        assert len(drawn) == 4


async def test_a_new_process_takes_up_open_rounds_before_anyone_asks(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    fault = Fault()
    async with House(path, seed="7", fault=fault) as house:
        (session,) = await house.ready("ann")
        fault.at, fault.before = fault.count + 5, True  # open, hold, wager, close; then the draw never leaves
        await started(house, session)
        assert fault.names[-1] == "DrawCards"
    async with House(path) as house:
        view = await until(house, lambda view: view.phase is TablePhase.PLAYERS)
        assert view.round is not None
        assert [len(hand.cards) for hand in view.round.hands] == [2]


async def test_d03_a_deadline_outlives_the_process_and_the_system_decides(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    async with House(path, seed="7") as house:
        ann, bob = await house.ready("ann", "bob", seed_rules=TIMED)
        await started(house, ann, bob)
        view = await house.table.get_table(TABLE)
        assert view.round is not None
        assert view.round.deadline_us == house.clock.now_us() + 30_000_000
        assert [question.seat for question in view.round.questions] == [1]
        later = house.clock
    later.advance(29)
    async with House(path, clock=later) as house:
        view = await house.table.get_table(TABLE)
        assert view.round is not None
        assert [question.seat for question in view.round.questions] == [1]
    later.advance(1)
    async with House(path, clock=later) as house:
        view = await until(house, lambda view: view.round is not None and [q.seat for q in view.round.questions] == [2])
        assert view.round is not None
        assert view.round.deadline_us == later.now_us() + 30_000_000
        types = [entry.type.rpartition(".")[2] for entry in await house.log()]
        assert types[-3:] == ["DecisionTimedOut", "HandStood", "DecisionTimerStarted"]
        stood = next(entry for entry in await house.log() if entry.type.endswith("HandStood"))
        assert stood.actor.role.value == "system"


async def test_d03_two_players_and_the_dealers_terminal_gone_at_once_end_the_round(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db", seed="7") as house:
        ann, bob = await house.ready("ann", "bob", seed_rules=TIMED)
        await started(house, ann, bob)
        for _ in range(2):
            house.clock.advance(30)
            await house.tables.service.expire(TABLE)
        assert (await house.table.get_table(TABLE)).phase is TablePhase.IDLE


async def test_c14_who_is_gone_at_the_settlement_is_paid_to_his_account(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db", seed="7") as house:
        (session,) = await house.ready("ann", seed_rules=TIMED)
        await started(house, session)
        await house.table.leave_seat(TABLE, house.context(player("ann")), tables.LeaveSeat(session))
        view = await house.table.get_table(TABLE)
        assert [seat.phase for seat in view.seats] == [SeatPhase.LEAVING]
        house.clock.advance(30)
        await house.tables.service.expire(TABLE)
        view = await house.table.get_table(TABLE)
        assert (view.phase, view.seats) == (TablePhase.IDLE, ())
        assert view.round is not None
        statement = await house.wager.read_statement(TABLE, session)
        assert not statement.open
        assert statement.returned_cents == view.round.returned_cents
        assert statement.cashed_out_cents == 100_000 - 1_000 + view.round.returned_cents


async def test_30_828_no_card_leaves_the_shoe_while_play_is_suspended(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db", seed="7") as house:
        (session,) = await house.ready("ann")
        await started(house, session)
        await house.table.suspend(TABLE, house.context(DEALER), "a card fell")
        drawn = (await house.shoe.get_shoe(TABLE)).drawn
        view = await house.table.get_table(TABLE)
        assert view.round is not None
        with pytest.raises(Refused) as refused:
            await house.table.act(TABLE, house.context(), tables.Act(FIRST, session, 1, 0, Action.HIT))
        assert refused.value.name == "PlaySuspended"
        with pytest.raises(Refused) as refused:
            await house.table.resume(TABLE, house.context(DEALER), tables.Resume("discretion", "none"))
        assert refused.value.name == "NotSupervisor"
        assert (await house.shoe.get_shoe(TABLE)).drawn == drawn
        await house.table.resume(TABLE, house.context(SUPERVISOR), tables.Resume("discretion", "the card was used"))
        await stand(house)
        assert (await house.table.get_table(TABLE)).phase is TablePhase.IDLE


async def test_30_828_a_voided_round_leaves_no_card_unseen_so_that_the_shoe_can_be_counted(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db", seed="7") as house:
        (session,) = await house.ready("ann")
        await started(house, session)
        await house.table.void_round(TABLE, house.context(SUPERVISOR), tables.VoidRound(FIRST, "the shoe jammed"))
        view = await house.table.get_table(TABLE)
        assert view.phase is TablePhase.IDLE
        assert (await house.wager.read_statement(TABLE, session)).rack_cents == 100_000
        status = await house.shoe.get_shoe(TABLE)
        assert status.face_down == ()
        retired = await house.shoe.retire_shoe(
            TABLE, house.context(), shoe.RetireShoe(status.shoe_id, shoe.RetireReason.HOUSE_CHOICE)
        )
        assert retired.balanced


async def test_30_816_after_the_cutting_card_no_round_before_the_shuffle(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db", seed="7") as house:
        (session,) = await house.ready("ann", decks=1, behind=26)
        for _ in range(12):
            await started(house, session)
            await stand(house)
            if (await house.table.get_table(TABLE)).shuffle_due:
                break
        assert (await house.table.get_table(TABLE)).shuffle_due
        with pytest.raises(Refused) as refused:
            await house.table.open_betting(TABLE, house.context())
        assert refused.value.name == "ShoeNotReady"
        await house.prepare_shoe(shuffle="2", behind=26)
        await started(house, session)
        view = await house.table.get_table(TABLE)
        assert not view.shuffle_due


async def test_e04_a_round_that_runs_out_of_cards_is_finished_from_the_discards(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db", seed="1") as house:
        sessions = await house.ready(*(f"p{seat}" for seat in range(1, 8)), decks=1, behind=2)
        while not (await house.table.get_table(TABLE)).shuffle_due:
            await started(house, *sessions)
            while (view := await house.table.get_table(TABLE)).round is not None and view.round.questions:
                question = view.round.questions[0]
                wanted = (Action.HIT, Action.STAND, Action.DECLINE_INSURANCE)
                action = next(action for action in wanted if action in question.actions)
                act = tables.Act(view.round.round_id, "", question.seat, question.hand, action)
                await house.table.act(TABLE, house.context(), act)
        types = [entry.type.rpartition(".")[2] for entry in await house.log()]
        assert "CardsRanShort" in types
        assert types.index("CardsRanShort") < len(types) - 1 - types[::-1].index("RoundCompleted")
        assert (await house.table.get_table(TABLE)).phase is TablePhase.IDLE


async def test_30_816_a_shoe_that_runs_out_before_the_deal_is_shuffled_first(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db", seed="9") as house:
        sessions = await house.ready(*(f"p{seat}" for seat in range(1, 8)), decks=1, behind=2)
        for _ in range(2):
            await started(house, *sessions)
            await stand(house)
        left = (await house.shoe.get_shoe(TABLE)).left
        assert left < 2 * 8
        with pytest.raises(Refused) as refused:
            await house.table.open_betting(TABLE, house.context())
        assert (refused.value.name, refused.value.rule) == ("ShoeNotReady", "30-816")
        await house.prepare_shoe(shuffle="2", behind=2)
        await started(house, *sessions)
        assert (await house.table.get_table(TABLE)).rounds == 3


async def test_30_819_another_dealer_burns_before_the_next_round(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db", seed="7") as house:
        (session,) = await house.ready("ann")
        await started(house, session)
        await stand(house)
        burned = (await house.shoe.get_shoe(TABLE)).burned
        await house.table.set_dealer(TABLE, house.context(), tables.SetDealer("D-18"))
        assert (await house.shoe.get_shoe(TABLE)).burned == burned + 1
        assert (await house.table.get_table(TABLE)).dealer == "D-18"


async def test_30_819_a_burn_that_the_shoe_could_not_make_comes_before_the_next_card(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db", seed="7") as house:
        (session,) = await house.ready("ann")
        await started(house, session)
        await stand(house)
        house.fault.away.add(shoe.SERVICE)
        await house.table.set_dealer(TABLE, house.context(), tables.SetDealer("D-18"))
        assert (await house.table.get_table(TABLE)).waiting_for is WaitingFor.SHOE
        house.fault.away.clear()
        await started(house, session)
        taken = [entry.type.rpartition(".")[2] for entry in await house.log(f"shoe:{TABLE}")]
        assert taken[-5:] == ["CardBurned", "CardDrawn", "CardDrawn", "CardDrawn", "CardDrawn"]


async def test_a_table_closes_and_opens_again_with_another_tray(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db") as house:
        (session,) = await house.ready("ann")
        await house.table.leave_seat(TABLE, house.context(), tables.LeaveSeat(session))
        await house.table.close_table(TABLE, house.context(SUPERVISOR), tables.CloseTable())
        assert (await house.table.get_table(TABLE)).phase is TablePhase.CLOSED
        assert not (await house.wager.read_table_money(TABLE)).open
        command = tables.OpenTable("", (tables.ChipCount(500, 10),), DEALER.id)
        await house.table.open_table(TABLE, house.context(SUPERVISOR), command)
        assert (await house.wager.read_table_money(TABLE)).opener_cents == 5_000


async def test_whoever_watches_sees_sequences_go_up_and_skips_what_he_was_too_slow_for(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db", seed="7") as house:
        (session,) = await house.ready("ann")
        watch = house.table.watch_table(TABLE)
        first = await anext(watch)
        await started(house, session)
        await stand(house)
        second = await anext(watch)
        assert second.sequence > first.sequence + 5
        assert second.phase is TablePhase.IDLE
        # Nothing happened since: the next view comes with the next change.
        waiting = asyncio.ensure_future(anext(watch))
        await asyncio.sleep(0)
        assert not waiting.done()
        await house.table.open_betting(TABLE, house.context())
        assert (await waiting).phase is TablePhase.BETTING


async def test_tables_are_listed_by_floor_and_unknown_ones_are_not_found(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db") as house:
        await house.open_table()
        await house.open_table(OTHER)
        await house.open_table("cripple-creek/BJ-01")
        listed = await house.table.list_tables("black-hawk")
        assert [summary.table for summary in listed.tables] == [TABLE, OTHER]
        assert (await house.table.list_tables("nowhere")).tables == ()
        with pytest.raises(NotFound):
            await house.table.get_table("black-hawk/BJ-99")

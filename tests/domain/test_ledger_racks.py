"""Patrons and their racks: sitting down, buying in (30-831), tipping, cashing out, leaving."""

from dataclasses import replace
from typing import Any, cast

import pytest

from services.game.authority import Role
from services.game.rejections import NotAuthorised
from services.wager.accounts import Count, Currency
from services.wager.commands import (
    BuyIn,
    CashOut,
    CloseLedger,
    CloseSeatSession,
    Command,
    FillTray,
    GiveTip,
    OpenLedger,
    OpenSeatSession,
)
from services.wager.events import ChipsBought, SeatSessionClosed
from services.wager.rejections import (
    AmountNotWholeCents,
    AmountOutOfRange,
    BusinessIdReused,
    BuyInUnbalanced,
    CountMalformed,
    HoldingsOverLimit,
    IdMalformed,
    InsufficientChips,
    SeatSessionEnded,
    StakeInPlay,
    TrayShort,
    UnknownSeatSession,
)
from services.wager.statements import statement
from tests.support.ledger import TABLE, LedgerAtWork, counts, line, settlement, stake

HUNDRED = (Count(20_00, 4), Count(10_00, 2))


def test_30_831_cash_goes_to_the_drop_box_and_equal_chips_to_the_rack() -> None:
    work = LedgerAtWork()
    work.sit("ann", cents=0)
    tray = work.balance("tray")
    (event,) = work.do(BuyIn("b-1", "ann", HUNDRED, 100_00), Role.DEALER)
    assert isinstance(event, ChipsBought)
    assert event.rack_cents == 100_00
    assert work.balance("drop", Currency.CASH) == 100_00
    assert work.balance("outside", Currency.CASH) == -100_00
    assert work.balance("tray") == tray - 100_00


@pytest.mark.parametrize("chips", [99_99, 100_01, 300_00])
def test_30_831_chips_that_differ_from_the_cash_are_refused(chips: int) -> None:
    work = LedgerAtWork()
    work.sit("ann", cents=0)
    with pytest.raises(BuyInUnbalanced) as refused:
        work.do(BuyIn("b-1", "ann", HUNDRED, chips), Role.DEALER)
    assert (refused.value.facts["cash_cents"], refused.value.facts["chips_cents"]) == (100_00, chips)


@pytest.mark.parametrize(
    ("cash", "rejection"),
    [
        ((Count(20_00, 2), Count(20_00, 3)), CountMalformed),
        (tuple(Count(n, 1) for n in range(1, 40)), CountMalformed),
        ((Count(0, 5),), AmountOutOfRange),
        ((Count(20_00, -5),), AmountOutOfRange),
        ((Count(10**12, 10**12),), AmountOutOfRange),
        ((Count(cast("Any", 20.0), 5),), AmountNotWholeCents),
    ],
)
def test_30_831_cash_that_cannot_be_counted_is_refused(cash: tuple[Count, ...], rejection: type[Exception]) -> None:
    work = LedgerAtWork()
    work.sit("ann", cents=0)
    with pytest.raises(rejection):
        work.do(BuyIn("b-1", "ann", cash, 100_00), Role.DEALER)


def test_a_buy_in_beyond_the_tray_is_refused_and_names_the_fill() -> None:
    work = LedgerAtWork(tray_cents=60_00)
    work.sit("ann", cents=0)
    with pytest.raises(TrayShort) as refused:
        work.do(BuyIn("b-1", "ann", HUNDRED, 100_00), Role.DEALER)
    assert refused.value.facts["shortfall_cents"] == 40_00


def test_c08_the_same_buy_in_twice_is_one_and_with_other_content_is_refused() -> None:
    work = LedgerAtWork()
    work.sit("ann", cents=0)
    work.sit("bob", 2, cents=0)
    first = BuyIn("b-1", "ann", HUNDRED, 100_00)
    work.do(first, Role.DEALER)
    assert work.do(first, Role.DEALER) == ()
    for other in (
        replace(first, session="bob"),
        replace(first, chips_cents=50_00),
        replace(first, cash=(Count(100_00, 1),)),
    ):
        with pytest.raises(BusinessIdReused):
            work.do(other, Role.DEALER)
    assert work.balance("rack/ann") == 100_00


def test_d05_the_next_patron_on_a_seat_has_a_rack_of_his_own() -> None:
    work = LedgerAtWork()
    work.sit("ann", 3, 100_00)
    work.sit("bob", 3, 40_00)
    with pytest.raises(InsufficientChips):
        work.do(CashOut("c-1", "bob", 40_01), Role.DEALER)
    work.do(CashOut("c-2", "ann", 100_00), Role.DEALER)
    assert work.balance("rack/bob") == 40_00


def test_d05_a_player_reaches_his_own_rack_only() -> None:
    work = LedgerAtWork()
    work.sit("ann", 1)
    commands: tuple[Command, ...] = (CashOut("c-1", "ann", 1_00), GiveTip("t-1", "ann", 1_00), CloseSeatSession("ann"))
    for command in commands:
        with pytest.raises(NotAuthorised):
            work.do(command, Role.PLAYER, "patron-bob")
    work.do(CashOut("c-1", "ann", 1_00), Role.PLAYER, "patron-ann")


@pytest.mark.parametrize("role", [Role.PLAYER, Role.DEALER, Role.DEVICE])
def test_d05_racks_begin_and_end_with_the_seat_and_never_behind_the_tables_back(role: Role) -> None:
    work = LedgerAtWork()
    work.sit("ann", 1)
    tip = GiveTip("t-1", "ann", 1_00)
    for command in (OpenSeatSession("bob", "patron-bob", 2), CloseSeatSession("ann"), tip):
        with pytest.raises(NotAuthorised):
            work.do(command, role, "patron-ann")


def test_30_831_chips_are_bought_between_hands_only() -> None:
    work = LedgerAtWork()
    work.sit("ann")
    bet = stake("ann", 10_00)
    work.hold(bet)
    with pytest.raises(StakeInPlay):
        work.do(BuyIn("b-2", "ann", HUNDRED, 100_00), Role.DEALER)
    work.settle(line(bet, due=0))
    work.do(BuyIn("b-2", "ann", HUNDRED, 100_00), Role.DEALER)


def test_d07_leaving_twice_is_leaving_once_and_only_after_the_settlement() -> None:
    work = LedgerAtWork()
    work.sit("ann")
    bet = stake("ann", 10_00)
    work.hold(bet)
    with pytest.raises(StakeInPlay):
        work.do(CloseSeatSession("ann"), Role.SYSTEM)
    work.settle(line(bet, due=20_00))
    (left,) = work.do(CloseSeatSession("ann"), Role.SYSTEM)
    assert isinstance(left, SeatSessionClosed)
    assert left.chips_cents == 110_00
    assert work.do(CloseSeatSession("ann"), Role.SYSTEM) == ()
    with pytest.raises(UnknownSeatSession):
        work.do(CloseSeatSession("nobody"), Role.SYSTEM)


def test_d07_an_ended_session_is_not_opened_again() -> None:
    work = LedgerAtWork()
    work.sit("ann", cents=0)
    assert work.do(OpenSeatSession("ann", "patron-ann", 1), Role.SYSTEM) == ()
    work.do(CloseSeatSession("ann"), Role.SYSTEM)
    for patron in ("patron-ann", "patron-bob"):
        with pytest.raises((SeatSessionEnded, BusinessIdReused)):
            work.do(OpenSeatSession("ann", patron, 1), Role.SYSTEM)
    with pytest.raises(SeatSessionEnded):
        work.do(BuyIn("b-9", "ann", HUNDRED, 100_00), Role.DEALER)


def test_chips_brought_along_come_from_outside() -> None:
    work = LedgerAtWork()
    outside = work.balance("outside")
    work.do(OpenSeatSession("ann", "patron-ann", 1, 75_00), Role.SYSTEM)
    assert (work.balance("rack/ann"), work.balance("outside")) == (75_00, outside - 75_00)


def test_tips_go_to_the_dealers_once() -> None:
    work = LedgerAtWork()
    work.sit("ann")
    for _ in range(3):
        work.do(GiveTip("t-1", "ann", 5_00), Role.SYSTEM)
    assert (work.balance("tips"), work.balance("rack/ann")) == (5_00, 95_00)
    with pytest.raises(InsufficientChips):
        work.do(GiveTip("t-2", "ann", 95_01), Role.SYSTEM)


def test_the_statement_of_a_stay_adds_up_to_the_rack() -> None:
    work = LedgerAtWork()
    work.do(OpenSeatSession("ann", "patron-ann", 1, 7_00), Role.SYSTEM)
    work.do(BuyIn("b-1", "ann", HUNDRED, 100_00), Role.DEALER)
    main, pairs = stake("ann", 20_00), stake("ann", 5_00, kind="pairs")
    work.hold(main, pairs)
    work.settle(line(pairs, due=0, outcome="lose"), final=False)
    work.do(GiveTip("t-1", "ann", 1_00), Role.SYSTEM)
    work.do(CashOut("c-1", "ann", 30_00), Role.DEALER)
    read = statement(work.state, "ann")
    assert read.in_play_cents == 20_00
    assert read.rack_cents == 7_00 + 100_00 - 5_00 - 20_00 - 1_00 - 30_00
    assert read.rack_cents == (
        read.brought_cents
        + read.bought_cents
        + read.returned_cents
        + read.corrected_cents
        - read.staked_cents
        - read.in_play_cents
        - read.tipped_cents
        - read.cashed_out_cents
    )


def test_the_statement_outlives_the_stay() -> None:
    work = LedgerAtWork()
    work.sit("ann")
    work.do(CloseSeatSession("ann"), Role.SYSTEM)
    read = statement(work.state, "ann")
    assert (read.open, read.rack_cents, read.cashed_out_cents) == (False, 0, 100_00)
    with pytest.raises(UnknownSeatSession):
        statement(work.state, "bob")


def test_departed_patrons_leave_the_memory_oldest_first() -> None:
    work = LedgerAtWork()
    for number in range(80):
        work.sit(f"p-{number}", cents=0)
        work.do(CloseSeatSession(f"p-{number}"), Role.SYSTEM)
    assert len(work.state.departed) == 64
    with pytest.raises(UnknownSeatSession):
        statement(work.state, "p-0")
    # Nor can anything of theirs happen again, in this period or the next.
    for period in (2, 3):
        with pytest.raises(SeatSessionEnded):
            work.do(OpenSeatSession("p-0", "patron-p-0", 1, 50_00), Role.SYSTEM)
        work.do(CloseLedger(f"close-{period}"), Role.SUPERVISOR)
        work.do(OpenLedger(f"open-{period}", ()), Role.SUPERVISOR)


def test_c08_a_slip_of_the_period_before_is_still_known() -> None:
    work = LedgerAtWork()
    fill = FillTray("slip-1", (Count(5_00, 10),))
    work.do(fill, Role.SUPERVISOR)
    work.do(CloseLedger("close-1"), Role.SUPERVISOR)
    work.do(OpenLedger("open-2", (Count(5_00, 1),)), Role.SUPERVISOR)
    assert work.do(fill, Role.SUPERVISOR) == ()
    assert work.state.tray_cents == 5_00


def test_a_long_stay_keeps_its_last_lines_and_all_its_totals() -> None:
    work = LedgerAtWork(tray_cents=1_000_00)
    work.sit("ann", cents=100_00)
    for number in range(1, 301):
        round_id = f"{TABLE}#{number}"
        bet = stake("ann", 1_00, round_id=round_id)
        work.hold(bet, round_id=round_id)
        work.do(settlement(line(bet, due=1_00, outcome="push"), round_id=round_id))
    read = statement(work.state, "ann")
    assert (len(read.lines), read.earlier_lines) == (256, 44)
    assert (read.staked_cents, read.lines[-1].round_id) == (300_00, f"{TABLE}#300")


def test_more_money_than_can_be_counted_safely_is_refused() -> None:
    work = LedgerAtWork()
    for number in range(999):
        work.do(OpenSeatSession(f"s-{number}", "patron", 1, 10**12), Role.SYSTEM)
    with pytest.raises(HoldingsOverLimit):
        work.do(OpenSeatSession("s-last", "patron", 1, 10**12), Role.SYSTEM)


@pytest.mark.parametrize("session", ["", " ann", "a" * 201, "a\nb", cast("Any", None)])
def test_ids_that_are_none_are_refused(session: str) -> None:
    work = LedgerAtWork()
    with pytest.raises(IdMalformed):
        work.do(OpenSeatSession(session, "patron-ann", 1), Role.SYSTEM)


@pytest.mark.parametrize("seat", [0, 8, -1])
def test_a_seat_that_no_table_has_is_refused(seat: int) -> None:
    work = LedgerAtWork()
    with pytest.raises(AmountOutOfRange):
        work.do(OpenSeatSession("ann", "patron-ann", seat), Role.SYSTEM)


@pytest.mark.parametrize("role", [Role.PLAYER, Role.LICENSEE, Role.REGULATOR, Role.SURVEILLANCE])
def test_only_the_house_sells_chips(role: Role) -> None:
    work = LedgerAtWork()
    work.sit("ann", cents=0)
    with pytest.raises(NotAuthorised):
        work.do(BuyIn("b-1", "ann", counts(100_00), 100_00), role, "patron-ann")

"""The house's own money: opening, fills, credits, corrections (30-828(1)), closing, and what the period came to."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest

from services.game.authority import Role
from services.game.rejections import NotAuthorised
from services.wager.accounts import Count, Currency, LedgerDamaged, Movement, Reason, apply_movements
from services.wager.commands import (
    CloseLedger,
    CloseSeatSession,
    Command,
    CorrectPayment,
    CreditTray,
    FillTray,
    GiveTip,
    OpenLedger,
    OpenSeatSession,
)
from services.wager.events import Direction, LedgerClosed, PaymentCorrected
from services.wager.ledger import evolve
from services.wager.rejections import (
    AmountOutOfRange,
    BusinessIdReused,
    CorrectionExceedsPayment,
    IdMalformed,
    InsufficientChips,
    LedgerAlreadyOpen,
    SeatSessionEnded,
    SessionsOpen,
    StakeInPlay,
    TrayShort,
    UnknownHold,
)
from services.wager.statements import balances, round_money, statement, table_money
from tests.support.ledger import ROUND, TABLE, LedgerAtWork, counts, line, settlement, stake


def test_the_tray_is_counted_in_once() -> None:
    work = LedgerAtWork(tray_cents=500_00)
    assert (work.state.tray_cents, work.balance("outside")) == (500_00, -500_00)
    assert work.do(OpenLedger("open-1", counts(500_00)), Role.SUPERVISOR) == ()
    with pytest.raises(BusinessIdReused):
        work.do(OpenLedger("open-1", counts(600_00)), Role.SUPERVISOR)
    with pytest.raises(LedgerAlreadyOpen):
        work.do(OpenLedger("open-2", counts(500_00)), Role.SUPERVISOR)


def test_fills_and_credits_move_chips_between_tray_and_cage() -> None:
    work = LedgerAtWork(tray_cents=500_00)
    work.do(FillTray("slip-1", (Count(25_00, 40),)), Role.SUPERVISOR)
    work.do(CreditTray("slip-2", (Count(5_00, 20),)), Role.SUPERVISOR)
    money = table_money(work.state)
    assert (money.tray_cents, money.fills_cents, money.credits_cents, money.win_cents) == (
        1_400_00,
        1_000_00,
        100_00,
        0,
    )
    with pytest.raises(TrayShort):
        work.do(CreditTray("slip-3", (Count(1_400_01, 1),)), Role.SUPERVISOR)
    with pytest.raises(BusinessIdReused):
        work.do(CreditTray("slip-1", (Count(25_00, 40),)), Role.SUPERVISOR)
    with pytest.raises(AmountOutOfRange):
        work.do(FillTray("slip-4", ()), Role.SUPERVISOR)


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.SUPERVISOR])
def test_fills_credits_and_corrections_are_a_supervisors(role: Role) -> None:
    work = LedgerAtWork()
    correction = CorrectPayment("k-1", "s", ROUND, "h", Direction.PAY, 1, "mistake")
    commands: tuple[Command, ...] = (FillTray("s-1", (Count(1, 1),)), CreditTray("s-1", (Count(1, 1),)), correction)
    for command in commands:
        with pytest.raises(NotAuthorised):
            work.do(command, role)


def wrongly_settled() -> tuple[LedgerAtWork, CorrectPayment]:
    """Ann's winning hand was taken as lost: 10.00 staked, 20.00 should have come back."""
    work = LedgerAtWork()
    work.sit("ann")
    bet = stake("ann", 10_00)
    work.hold(bet)
    work.settle(line(bet, due=0, outcome="lose"))
    return work, CorrectPayment(
        "k-1", f"{ROUND}/settle/1", ROUND, bet.hold, Direction.PAY, 20_00, "dealer took a winning hand"
    )


def test_30_828_a_supervisor_corrects_a_payment_by_an_event_that_names_it() -> None:
    work, correction = wrongly_settled()
    win = table_money(work.state).win_cents
    (event,) = work.do(correction, Role.SUPERVISOR, "badge-9")
    assert isinstance(event, PaymentCorrected)
    assert (event.settlement, event.hold, event.authorised_by) == (f"{ROUND}/settle/1", f"{ROUND}/1/main/1", "badge-9")
    assert work.balance("rack/ann") == 110_00
    assert table_money(work.state).win_cents == win - 20_00
    assert statement(work.state, "ann").corrected_cents == 20_00
    assert work.do(correction, Role.SUPERVISOR, "badge-9") == ()
    assert work.balance("rack/ann") == 110_00


def test_30_828_no_more_is_taken_back_than_the_line_paid() -> None:
    work, correction = wrongly_settled()
    work.do(correction, Role.SUPERVISOR)
    back = replace(correction, correction="k-2", direction=Direction.COLLECT, amount_cents=20_01)
    with pytest.raises(CorrectionExceedsPayment):
        work.do(back, Role.SUPERVISOR)
    work.do(replace(back, amount_cents=20_00), Role.SUPERVISOR)
    with pytest.raises(CorrectionExceedsPayment):
        work.do(replace(back, correction="k-3", amount_cents=1), Role.SUPERVISOR)
    assert work.balance("rack/ann") == 90_00


def test_30_828_a_correction_must_name_a_settled_line_and_a_reason() -> None:
    work, correction = wrongly_settled()
    for wrong in (replace(correction, settlement=f"{ROUND}/settle/2"), replace(correction, hold=f"{ROUND}/2/main/1")):
        with pytest.raises(UnknownHold):
            work.do(wrong, Role.SUPERVISOR)
    with pytest.raises(IdMalformed):
        work.do(replace(correction, reason=""), Role.SUPERVISOR)


def test_30_828_money_that_has_left_cannot_be_collected_at_the_table() -> None:
    work = LedgerAtWork()
    work.sit("ann", cents=10_00)
    bet = stake("ann", 10_00)
    work.hold(bet)
    work.settle(line(bet, due=20_00))
    second = stake("ann", 15_00, round_id=f"{TABLE}#2")
    work.hold(second, round_id=f"{TABLE}#2")
    collect = CorrectPayment("k-1", f"{ROUND}/settle/1", ROUND, bet.hold, Direction.COLLECT, 20_00, "overpaid")
    with pytest.raises(InsufficientChips):
        work.do(collect, Role.SUPERVISOR)
    work.do(settlement(line(second, due=15_00), round_id=f"{TABLE}#2"))
    work.do(CloseSeatSession("ann"), Role.SYSTEM)
    with pytest.raises(SeatSessionEnded):
        work.do(collect, Role.SUPERVISOR)


def test_30_828_a_patron_who_came_back_is_paid_at_his_new_session() -> None:
    work, correction = wrongly_settled()
    work.do(CloseSeatSession("ann"), Role.SYSTEM)
    with pytest.raises(SeatSessionEnded):
        work.do(correction, Role.SUPERVISOR)
    work.do(OpenSeatSession("ann-again", "patron-ann", 5), Role.SYSTEM)
    work.do(correction, Role.SUPERVISOR)
    assert work.balance("rack/ann-again") == 20_00
    assert statement(work.state, "ann-again").corrected_cents == 20_00


def test_closing_sends_everything_away_and_a_new_period_starts_from_nothing() -> None:
    work = LedgerAtWork(tray_cents=500_00)
    work.sit("ann", cents=100_00)
    bet = stake("ann", 10_00)
    work.hold(bet)
    with pytest.raises(StakeInPlay):
        work.do(CloseLedger("close-1"), Role.SUPERVISOR)
    work.settle(line(bet, due=0, outcome="lose"))
    work.do(GiveTip("t-1", "ann", 2_00), Role.SYSTEM)
    with pytest.raises(SessionsOpen):
        work.do(CloseLedger("close-1"), Role.SUPERVISOR)
    work.do(CloseSeatSession("ann"), Role.SYSTEM)
    (closed,) = work.do(CloseLedger("close-1"), Role.SUPERVISOR)
    assert isinstance(closed, LedgerClosed)
    assert (closed.closer_cents, closed.drop_cents, closed.tips_cents) == (410_00, 100_00, 2_00)
    assert (closed.win_cents, closed.handle_cents) == (10_00, 10_00)
    assert all(not accounts for accounts in work.state.balances.values())
    assert work.do(CloseLedger("close-1"), Role.SUPERVISOR) == ()
    work.do(OpenLedger("open-2", counts(410_00)), Role.SUPERVISOR)
    assert table_money(work.state).handle_cents == 0
    with pytest.raises(BusinessIdReused):
        work.do(OpenLedger("open-1", counts(500_00)), Role.SUPERVISOR)


def test_table_money_gives_win_by_two_ways_and_hold_as_a_ratio() -> None:
    work = LedgerAtWork(tray_cents=1_000_00)
    empty = table_money(work.state)
    assert (empty.hold, empty.win_per_handle) == (None, None)
    work.sit("ann", cents=200_00)
    bet, other = stake("ann", 30_00), stake("ann", 10_00, ordinal=2)
    work.hold(bet, other)
    money = table_money(work.state)
    assert (money.escrow_cents, money.open_holds, money.racks_cents) == (40_00, 2, 160_00)
    work.settle(line(bet, due=0, outcome="lose"), line(other, due=20_00))
    work.do(FillTray("f-1", counts(50_00)), Role.SUPERVISOR)
    money = table_money(work.state)
    assert (money.handle_cents, money.win_cents, money.drop_cents) == (40_00, 20_00, 200_00)
    assert money.win_cents == (
        money.tray_cents + money.drop_cents + money.credits_cents - money.opener_cents - money.fills_cents
    )
    assert (money.hold, money.win_per_handle) == (Fraction(1, 10), Fraction(1, 2))


def test_balances_list_every_account_and_sum_to_zero() -> None:
    work = LedgerAtWork()
    work.sit("ann")
    work.hold(stake("ann", 10_00))
    read = balances(work.state)
    assert {a.account for a in read.accounts} == {"tray", "outside", "drop", "rack/ann", f"escrow/{ROUND}"}
    for currency in Currency:
        assert sum(a.balance_cents for a in read.accounts if a.currency is currency) == 0
    assert all(a.account <= b.account for a, b in pairwise(read.accounts) if a.currency is b.currency)


def test_a_round_shows_how_each_stake_stands() -> None:
    work = LedgerAtWork()
    work.sit("ann")
    bet = stake("ann", 10_00)
    work.hold(bet)
    assert [h.status for h in round_money(work.state, ROUND).holds] == ["held"]
    work.settle(line(bet, due=10_00, outcome="push"))
    read = round_money(work.state, ROUND)
    assert [h.status for h in read.holds] == ["posted"]
    assert (read.settled, read.settlements[0].settlement) == (True, f"{ROUND}/settle/1")


@pytest.mark.parametrize(
    "movement",
    [
        Movement("rack/ann", "tray", Currency.CHIPS, 100_01, Reason.TIP, "x"),
        Movement("tray", "outside", Currency.CHIPS, 10**9, Reason.CREDIT, "x"),
        Movement("tray", "tray", Currency.CHIPS, 1, Reason.CREDIT, "x"),
        Movement("tray", "outside", Currency.CHIPS, -1, Reason.CREDIT, "x"),
        Movement("drop", "outside", Currency.CASH, 100_01, Reason.CLOSING, "x"),
    ],
)
def test_a_damaged_event_stops_the_fold(movement: Movement) -> None:
    work = LedgerAtWork()
    work.sit("ann")
    with pytest.raises(LedgerDamaged):
        evolve(work.state, replace(work.log[-1], movements=(movement,)))


def test_balances_that_do_not_sum_to_zero_are_noticed() -> None:
    with pytest.raises(LedgerDamaged):
        apply_movements(
            {Currency.CHIPS: {"tray": 5}}, [Movement("outside", "tray", Currency.CHIPS, 1, Reason.FILL, "x")]
        )

"""A round's stakes decided: who gets what, what rounding leaves, and that nothing is decided twice or forgotten."""

from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

import pytest

from services.game.authority import Role
from services.game.money import Rounding
from services.game.rejections import NotAuthorised
from services.wager.accounts import Reason
from services.wager.commands import CorrectPayment, FillTray, SettlementLine, VoidHolds
from services.wager.events import Direction, RoundSettled
from services.wager.rejections import (
    AmountNotWholeCents,
    AmountOutOfRange,
    CorrectionExceedsPayment,
    HoldAlreadyPosted,
    HoldAlreadyVoided,
    HoldNotSettled,
    HoldSettledTwice,
    LineMixesSessions,
    PaymentNotRounded,
    RoundAlreadySettled,
    SettlementIdReused,
    StakeMismatch,
    TrayShort,
    UnknownHold,
    UnknownRound,
)
from services.wager.statements import statement, table_money
from tests.support.ledger import ROUND, TABLE, LedgerAtWork, counts, line, settlement, stake


def test_winner_is_paid_loser_goes_to_the_tray() -> None:
    work = LedgerAtWork()
    work.sit("ann", 1)
    work.sit("bob", 2)
    tray = work.balance("tray")
    a, b = stake("ann", 20_00), stake("bob", 30_00, seat=2)
    work.hold(a, b)
    (event,) = work.settle(line(a, due=40_00), line(b, due=0, outcome="lose", seat=2))
    assert isinstance(event, RoundSettled)
    assert [(r.session, r.rack_cents) for r in event.racks] == [("ann", 120_00), ("bob", 70_00)]
    assert work.balance("tray") == tray - 20_00 + 30_00
    assert work.balance(f"escrow/{ROUND}") == 0
    assert [(m.reason, m.amount_cents) for m in event.movements] == [
        (Reason.STAKE_RETURNED, 20_00),
        (Reason.PAID, 20_00),
        (Reason.STAKE_LOST, 30_00),
    ]


def test_b08_insurance_win_returns_stake_and_pay_and_the_statement_keeps_them_apart() -> None:
    work = LedgerAtWork()
    work.sit("ann", 1, 100_00)
    main, insurance = stake("ann", 20_00), stake("ann", 10_00, kind="insurance")
    work.hold(main)
    work.hold(insurance)
    work.settle(line(main, due=0, outcome="lose"), line(insurance, due=30_00))
    read = statement(work.state, "ann")
    assert [(x.kind, x.stake_cents, x.pay_cents, x.returned_cents, x.net_cents) for x in read.lines] == [
        ("main", 20_00, 0, 0, -20_00),
        ("insurance", 10_00, 20_00, 30_00, 20_00),
    ]
    assert (read.staked_cents, read.pay_cents, read.returned_cents, read.net_cents) == (30_00, 20_00, 30_00, 0)
    assert read.rack_cents == 100_00


def test_b08_half_of_an_odd_bet_is_exact() -> None:
    work = LedgerAtWork()
    work.sit("ann", 1, 100_00)
    main, insurance = stake("ann", 25_00), stake("ann", 12_50, kind="insurance")
    work.hold(main, insurance)
    work.settle(line(main, due=0, outcome="lose"), line(insurance, due=37_50))
    assert work.balance("rack/ann") == 100_00


def test_b10_a_push_is_returned_exactly_once() -> None:
    work = LedgerAtWork()
    work.sit("ann")
    main, double, split = (stake("ann", 10_00, kind=kind) for kind in ("main", "double", "split"))
    work.hold(main)
    work.hold(double, split)
    lines = (
        line(main, double, due=20_00, outcome="push", cause="tie"),
        line(split, due=10_00, outcome="push", cause="bj-tie", hand=1),
    )
    (event,) = work.settle(*lines)
    assert isinstance(event, RoundSettled)
    assert [x.outcome for x in event.lines] == ["push", "push"]
    assert work.settle(*lines) == ()
    assert work.balance("rack/ann") == 100_00
    assert {m.reason for m in event.movements} == {Reason.STAKE_RETURNED}
    assert statement(work.state, "ann").net_cents == 0


@pytest.mark.parametrize("due", [0, 20_00, 40_00], ids=["lose", "push", "win"])
def test_c06_the_ledger_lines_of_a_doubled_hand_sum_to_its_stake_once(due: int) -> None:
    work = LedgerAtWork()
    work.sit("ann")
    main, double = stake("ann", 10_00), stake("ann", 10_00, kind="double")
    work.hold(main)
    work.hold(double)
    work.settle(line(main, double, due=due))
    moved = [
        m
        for event in work.log
        for m in event.movements
        if m.source.startswith("escrow/") or m.target.startswith("escrow/")
    ]
    taken = sum(m.amount_cents for m in moved if m.target.startswith("escrow/"))
    decided = sum(m.amount_cents for m in moved if m.source.startswith("escrow/"))
    assert (taken, decided) == (20_00, 20_00)
    assert work.balance("rack/ann") == 100_00 - 20_00 + due


@pytest.mark.parametrize(
    ("stake_cents", "pays", "rounding", "returned", "booked", "residual"),
    [
        (129, Fraction(3, 2), Rounding.EXACT, 129 + 193, 0, Fraction(1, 2)),
        (1, Fraction(6, 5), Rounding.EXACT, 2, 0, Fraction(1, 5)),
        (129_00, Fraction(3, 2), Rounding.EXACT, 129_00 + 193_50, 0, Fraction(0)),
        (5_00, Fraction(3, 2), Rounding.DOWN_TO_CHIP, 12_00, 50, Fraction(0)),
        (5_00, Fraction(3, 2), Rounding.UP_TO_CHIP, 13_00, -50, Fraction(0)),
        (7, Fraction(6, 5), Rounding.DOWN_TO_CHIP, 0, 15, Fraction(2, 5)),
        (7, Fraction(6, 5), Rounding.UP_TO_CHIP, 100, -84, Fraction(-3, 5)),
    ],
)
def test_b14_breakage_is_booked_in_cents_and_the_rest_recorded_exactly(
    stake_cents: int, pays: Fraction, rounding: Rounding, returned: int, booked: int, residual: Fraction
) -> None:
    work = LedgerAtWork(tray_cents=10_000_00)
    work.sit("ann", 1, 1_000_00)
    bet = stake("ann", stake_cents)
    work.hold(bet)
    tray = work.state.tray_cents
    due = stake_cents + stake_cents * pays
    (event,) = work.do(
        settlement(
            line(bet, due=due, outcome="blackjack", rounding=rounding, chip_cents=100),
            rounding=rounding,
            chip_cents=100,
        )
    )
    assert isinstance(event, RoundSettled)
    settled = event.lines[0]
    assert settled.returned_cents == returned
    assert settled.due == settled.returned_cents + settled.breakage_cents + settled.residual
    assert (settled.breakage_cents, settled.residual) == (booked, residual)
    assert work.balance("breakage") == booked
    # The chips that rounding kept still lie in the tray: a count of it finds what really moved.
    assert work.state.tray_cents == tray + stake_cents - returned


def test_b14_breakage_of_many_lines_sums_to_what_was_due() -> None:
    work = LedgerAtWork()
    work.sit("ann", 1, 500_00)
    bets = [stake("ann", cents, ordinal=n) for n, cents in enumerate((1, 5, 7, 129, 12_50, 25), 1)]
    work.hold(*bets)
    dues = [bet.amount_cents + bet.amount_cents * Fraction(6, 5) for bet in bets]
    (event,) = work.settle(*(line(bet, due=due, hand=n) for n, (bet, due) in enumerate(zip(bets, dues, strict=True))))
    assert isinstance(event, RoundSettled)
    assert sum(dues) == sum(x.returned_cents + x.breakage_cents + x.residual for x in event.lines)


def test_surrender_returns_half_and_the_tray_takes_half() -> None:
    work = LedgerAtWork()
    work.sit("ann")
    bet = stake("ann", 25_00)
    work.hold(bet)
    work.settle(line(bet, due=Fraction(25_00, 2), outcome="surrender"))
    assert work.balance("rack/ann") == 100_00 - 12_50


def test_l9_a_final_settlement_that_forgets_a_stake_is_refused() -> None:
    work = LedgerAtWork()
    work.sit("ann")
    main, double = stake("ann", 10_00), stake("ann", 10_00, kind="double")
    work.hold(main, double)
    with pytest.raises(HoldNotSettled) as refused:
        work.settle(line(main, due=20_00))
    assert refused.value.facts["hold"] == double.hold
    work.do(VoidHolds(ROUND, (double.hold,), "never played"))
    work.settle(line(main, due=20_00))


def test_insurance_settles_before_the_rest_of_the_round() -> None:
    work = LedgerAtWork()
    work.sit("ann")
    main, insurance = stake("ann", 20_00), stake("ann", 10_00, kind="insurance")
    work.hold(main, insurance)
    work.settle(line(insurance, due=0, outcome="lose"), final=False)
    double = stake("ann", 20_00, kind="double")
    work.hold(double)
    assert not work.state.rounds[ROUND].settled
    assert table_money(work.state).rounds_settled == 0
    with pytest.raises(HoldAlreadyPosted):
        work.settle(line(main, double, due=0), line(insurance, due=30_00), revision=2)
    with pytest.raises(RoundAlreadySettled):
        work.do(replace(settlement(line(main, double, due=0)), settlement=f"{ROUND}/settle/other"))
    work.settle(line(main, double, due=80_00), revision=2)
    assert work.state.rounds[ROUND].settled
    assert work.balance("rack/ann") == 100_00 - 10_00 + 40_00
    assert table_money(work.state).rounds_settled == 1


def test_l7_a_second_settlement_of_a_round_is_refused() -> None:
    work = LedgerAtWork()
    work.sit("ann")
    bet = stake("ann", 10_00)
    work.hold(bet)
    work.settle(line(bet, due=0, outcome="lose"))
    with pytest.raises(SettlementIdReused):
        work.settle(line(bet, due=20_00))
    with pytest.raises(RoundAlreadySettled):
        work.settle(line(bet, due=20_00), revision=2)


def test_l7_a_hold_in_two_lines_is_refused() -> None:
    work = LedgerAtWork()
    work.sit("ann")
    bet = stake("ann", 10_00)
    work.hold(bet)
    with pytest.raises(HoldSettledTwice):
        work.settle(line(bet, due=20_00), line(bet, due=20_00))


def test_a_stake_other_than_the_one_held_is_refused() -> None:
    work = LedgerAtWork()
    work.sit("ann")
    bet = stake("ann", 10_00)
    work.hold(bet)
    with pytest.raises(StakeMismatch):
        work.settle(replace(line(bet, due=0), stake_cents=20_00))


def test_a_line_of_two_patrons_is_refused() -> None:
    work = LedgerAtWork()
    work.sit("ann", 1)
    work.sit("bob", 2)
    a, b = stake("ann", 10_00), stake("bob", 10_00, seat=2)
    work.hold(a, b)
    with pytest.raises(LineMixesSessions):
        work.settle(line(a, b, due=40_00))


def test_unknown_voided_and_never_held_stakes_are_refused() -> None:
    work = LedgerAtWork()
    work.sit("ann")
    bet, other = stake("ann", 10_00), stake("ann", 10_00, ordinal=2)
    work.hold(bet)
    with pytest.raises(UnknownHold):
        work.settle(line(other, due=0))
    work.do(VoidHolds(ROUND, (bet.hold,), "no round"))
    with pytest.raises(HoldAlreadyVoided):
        work.settle(line(bet, due=0))
    with pytest.raises(UnknownRound):
        work.do(settlement(line(bet, due=0), round_id=f"{TABLE}#2"))


def test_a_round_whose_stakes_were_all_voided_settles_without_lines() -> None:
    work = LedgerAtWork()
    work.sit("ann")
    bet = stake("ann", 10_00)
    work.hold(bet)
    work.do(VoidHolds(ROUND, (bet.hold,), "no round"))
    work.settle()
    assert work.state.rounds[ROUND].settled


def test_a_short_tray_is_named_and_after_a_fill_the_same_settlement_goes_through() -> None:
    work = LedgerAtWork(tray_cents=110_00)
    work.sit("ann", 1, 100_00)
    bet = stake("ann", 100_00)
    work.hold(bet)
    won = line(bet, due=250_00, outcome="blackjack")
    with pytest.raises(TrayShort) as refused:
        work.settle(won)
    assert refused.value.facts["shortfall_cents"] == 140_00
    assert work.state.escrow_cents == 100_00
    work.do(FillTray("slip-1", counts(140_00)), Role.SUPERVISOR)
    work.settle(won)
    assert work.balance("rack/ann") == 250_00
    assert work.state.tray_cents == 0


def test_the_losers_of_a_round_pay_its_winners() -> None:
    work = LedgerAtWork(tray_cents=200_00)
    work.sit("ann", 1, 100_00)
    work.sit("bob", 2, 100_00)
    a, b = stake("ann", 100_00), stake("bob", 100_00, seat=2)
    work.hold(a, b)
    work.settle(line(a, due=200_00), line(b, due=0, seat=2, outcome="lose"))
    assert work.state.tray_cents == 0


def test_chips_that_rounding_kept_can_be_paid_out() -> None:
    work = LedgerAtWork(tray_cents=10_00)
    work.sit("ann", 1, 10_00)
    bet = stake("ann", 1_00)
    work.hold(bet)
    rounding = Rounding.DOWN_TO_CHIP
    work.do(settlement(line(bet, due=Fraction(99), rounding=rounding), rounding=rounding))
    assert (work.balance("tray"), work.balance("breakage"), work.state.tray_cents) == (1, 49, 50)
    second = f"{TABLE}#2"
    again = stake("ann", 50, round_id=second)
    work.hold(again, round_id=second)
    work.do(settlement(line(again, due=100), round_id=second))
    assert (work.state.tray_cents, work.balance("rack/ann")) == (0, 10_00)


@pytest.mark.parametrize(
    ("due", "returned", "rounding"),
    [
        (Fraction(25_00), 20_00, Rounding.EXACT),
        (Fraction(25_00), 25_01, Rounding.EXACT),
        (Fraction(25_10), 26_00, Rounding.DOWN_TO_CHIP),
        (Fraction(25_10), 24_00, Rounding.DOWN_TO_CHIP),
        (Fraction(25_10), 25_00, Rounding.UP_TO_CHIP),
        (Fraction(25_10), 26_50, Rounding.UP_TO_CHIP),
    ],
)
def test_a_payment_that_the_rounding_rule_cannot_have_made_is_refused(
    due: Fraction, returned: int, rounding: Rounding
) -> None:
    work = LedgerAtWork()
    work.sit("ann")
    bet = stake("ann", 10_00)
    work.hold(bet)
    wrong = replace(line(bet, due=due), returned_cents=returned, breakage=due - returned)
    with pytest.raises(PaymentNotRounded):
        work.do(settlement(wrong, rounding=rounding, chip_cents=100))


def test_breakage_that_is_not_the_difference_is_refused() -> None:
    work = LedgerAtWork()
    work.sit("ann")
    bet = stake("ann", 10_00)
    work.hold(bet)
    with pytest.raises(PaymentNotRounded):
        work.settle(replace(line(bet, due=20_00), breakage=Fraction(1, 3)))


@pytest.mark.parametrize("due", [Fraction(-1), Fraction(10**19), Fraction(1, 10**7)])
def test_c02_a_due_out_of_bounds_is_refused(due: Fraction) -> None:
    work = LedgerAtWork()
    work.sit("ann")
    bet = stake("ann", 10_00)
    work.hold(bet)
    with pytest.raises(AmountOutOfRange):
        work.settle(replace(line(bet, due=0), due=due))


@pytest.mark.parametrize("change", [{"due": 10.0}, {"breakage": 0.0}, {"returned_cents": 10.0}, {"stake_cents": 10.0}])
def test_c02_floats_in_a_settlement_are_refused(change: dict[str, float]) -> None:
    work = LedgerAtWork()
    work.sit("ann")
    bet = stake("ann", 10_00)
    work.hold(bet)
    wrong: SettlementLine = replace(line(bet, due=10_00), **cast("Any", change))
    with pytest.raises(AmountNotWholeCents):
        work.settle(wrong)


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.SYSTEM])
def test_only_the_table_settles(role: Role) -> None:
    work = LedgerAtWork()
    work.sit("ann")
    bet = stake("ann", 10_00)
    work.hold(bet)
    with pytest.raises(NotAuthorised):
        work.do(settlement(line(bet, due=20_00)), role)


def test_30_803_what_a_tip_bet_wins_is_the_dealers_and_is_never_taken_back_from_the_patron() -> None:
    work = LedgerAtWork()
    work.sit("ann", 1, 100_00)
    tray = work.balance("tray")
    main, tip = stake("ann", 20_00), stake("ann", 5_00, kind="tip")
    work.hold(main, tip)
    (event,) = work.settle(line(main, due=40_00), replace(line(tip, due=10_00), for_dealers=True))
    assert isinstance(event, RoundSettled)
    assert (work.balance("tips"), work.balance("tray")) == (10_00, tray - 25_00)
    assert [(rack.session, rack.rack_cents) for rack in event.racks] == [("ann", 115_00)]
    assert [(m.target, m.reason, m.amount_cents) for m in event.movements if m.reference == tip.hold] == [
        ("tips", Reason.TIP, 5_00),
        ("tips", Reason.TIP, 5_00),
    ]
    read = statement(work.state, "ann")
    assert (read.staked_cents, read.returned_cents, read.tipped_cents, read.rack_cents) == (25_00, 50_00, 10_00, 115_00)
    assert table_money(work.state).win_cents == -25_00
    collect = CorrectPayment("k-1", f"{ROUND}/settle/1", ROUND, tip.hold, Direction.COLLECT, 1_00, "overpaid")
    with pytest.raises(CorrectionExceedsPayment):
        work.do(collect, Role.SUPERVISOR)

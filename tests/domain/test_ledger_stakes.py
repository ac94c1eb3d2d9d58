"""Stakes into escrow and back: all or none, once, and only with money that is there."""

from typing import Any, cast

import pytest

from services.game.authority import Role
from services.game.rejections import NotAuthorised
from services.wager.commands import CashOut, CloseSeatSession, HoldStakes, Stake, VoidHolds
from services.wager.events import HoldsVoided, StakesHeld
from services.wager.rejections import (
    AmountNotWholeCents,
    AmountOutOfRange,
    CountMalformed,
    HoldAlreadyPosted,
    HoldAlreadyVoided,
    HoldIdReused,
    IdMalformed,
    InsufficientChips,
    LedgerNotOpen,
    RoundAlreadySettled,
    RoundIsPast,
    SeatSessionEnded,
    StakeInPlay,
    UnknownHold,
    UnknownRound,
    UnknownSeatSession,
    WrongTable,
)
from tests.support.ledger import ROUND, TABLE, LedgerAtWork, line, stake


def test_one_call_holds_the_stakes_of_all_seats() -> None:
    work = LedgerAtWork()
    work.sit("ann", 1, 100_00)
    work.sit("bob", 2, 50_00)
    (held,) = work.hold(stake("ann", 25_00), stake("bob", 10_00, seat=2), stake("ann", 5_00, kind="pairs"))
    assert isinstance(held, StakesHeld)
    assert [(h.session, h.amount_cents, h.rack_cents) for h in held.holds] == [
        ("ann", 25_00, 75_00),
        ("bob", 10_00, 40_00),
        ("ann", 5_00, 70_00),
    ]
    assert work.balance(f"escrow/{ROUND}") == 40_00
    assert work.state.escrow_cents == 40_00


def test_b06_one_unit_short_is_refused_whole() -> None:
    work = LedgerAtWork()
    work.sit("ann", 1, 100_00)
    work.sit("bob", 4, 49_99)
    with pytest.raises(InsufficientChips) as refused:
        work.hold(stake("ann", 25_00), stake("bob", 25_00, seat=4), stake("bob", 25_00, seat=4, kind="split"))
    assert refused.value.facts["seat"] == 4
    assert refused.value.facts["shortfall_cents"] == 1
    assert work.state.escrow_cents == 0
    assert work.balance("rack/ann") == 100_00


@pytest.mark.parametrize("kind", ["split", "double", "insurance"])
def test_b06_a_further_stake_never_takes_the_rack_below_zero(kind: str) -> None:
    work = LedgerAtWork()
    work.sit("ann", 1, 49_99)
    work.hold(stake("ann", 25_00))
    with pytest.raises(InsufficientChips):
        work.hold(stake("ann", 25_00, kind=kind))
    assert work.balance("rack/ann") == 24_99


def test_b18_the_same_bet_five_times_is_one_bet() -> None:
    work = LedgerAtWork()
    work.sit("ann")
    events = [work.hold(stake("ann", 10_00)) for _ in range(5)]
    assert [len(made) for made in events] == [1, 0, 0, 0, 0]
    assert work.balance(f"escrow/{ROUND}") == 10_00


def test_b18_a_known_hold_beside_a_new_one_is_not_held_again() -> None:
    work = LedgerAtWork()
    work.sit("ann")
    work.hold(stake("ann", 10_00))
    (held,) = work.hold(stake("ann", 10_00), stake("ann", 10_00, kind="double"))
    assert isinstance(held, StakesHeld)
    assert [h.kind for h in held.holds] == ["double"]
    assert work.balance(f"escrow/{ROUND}") == 20_00


@pytest.mark.parametrize(
    "other",
    [
        Stake(f"{ROUND}/1/main/1", "ann", "main", 10_01),
        Stake(f"{ROUND}/1/main/1", "bob", "main", 10_00),
        Stake(f"{ROUND}/1/main/1", "ann", "pairs", 10_00),
    ],
)
def test_a_hold_id_with_other_content_is_refused(other: Stake) -> None:
    work = LedgerAtWork()
    work.sit("ann")
    work.sit("bob", 2)
    work.hold(stake("ann", 10_00))
    with pytest.raises(HoldIdReused):
        work.hold(other)


def test_a_hold_id_twice_in_one_call_is_refused() -> None:
    work = LedgerAtWork()
    work.sit("ann")
    with pytest.raises(HoldIdReused):
        work.hold(stake("ann", 10_00), stake("ann", 10_00))


@pytest.mark.parametrize("amount", [0, -1, -(10**30), 10**12 + 1, 10**40])
def test_c02_amounts_out_of_bounds_are_refused(amount: int) -> None:
    work = LedgerAtWork()
    work.sit("ann")
    with pytest.raises(AmountOutOfRange):
        work.hold(stake("ann", amount))


@pytest.mark.parametrize("amount", [5.6e-14, 10.0, float("nan"), float("inf"), "1e3", True, None])
def test_c02_amounts_that_are_not_integers_are_refused(amount: object) -> None:
    work = LedgerAtWork()
    work.sit("ann")
    with pytest.raises(AmountNotWholeCents):
        work.hold(Stake(f"{ROUND}/1/main/1", "ann", "main", cast("Any", amount)))


def test_c16_a_balance_one_cent_below_the_bet_does_not_pay_for_it() -> None:
    work = LedgerAtWork()
    work.sit("ann", 1, 9_99)
    with pytest.raises(InsufficientChips) as refused:
        work.hold(stake("ann", 10_00))
    assert refused.value.facts["rack_cents"] == 9_99
    assert refused.value.facts["shortfall_cents"] == 1


def test_c04_the_stake_is_in_escrow_and_only_other_money_is_free() -> None:
    work = LedgerAtWork()
    work.sit("ann", 1, 100_00)
    work.hold(stake("ann", 60_00))
    with pytest.raises(InsufficientChips):
        work.do(CashOut("c-1", "ann", 40_01), Role.DEALER)
    work.do(CashOut("c-1", "ann", 40_00), Role.DEALER)
    with pytest.raises(StakeInPlay):
        work.do(CloseSeatSession("ann"), Role.SYSTEM)
    assert work.balance(f"escrow/{ROUND}") == 60_00


def test_voided_stakes_go_back_and_stay_back() -> None:
    work = LedgerAtWork()
    work.sit("ann")
    work.hold(stake("ann", 10_00), stake("ann", 5_00, kind="pairs"))
    hold = f"{ROUND}/1/main/1"
    (voided,) = work.do(VoidHolds(ROUND, (hold,), "the round did not take it"))
    assert isinstance(voided, HoldsVoided)
    assert (voided.holds[0].amount_cents, voided.holds[0].rack_cents) == (10_00, 95_00)
    assert work.do(VoidHolds(ROUND, (hold,), "again")) == ()
    with pytest.raises(HoldAlreadyVoided):
        work.hold(stake("ann", 10_00))
    assert work.balance(f"escrow/{ROUND}") == 5_00


def test_a_settled_stake_cannot_be_voided() -> None:
    work = LedgerAtWork()
    work.sit("ann")
    bet = stake("ann", 10_00)
    work.hold(bet)
    work.settle(line(bet, due=0, outcome="lose"))
    with pytest.raises(HoldAlreadyPosted):
        work.do(VoidHolds(ROUND, (bet.hold,), "too late"))


def test_void_of_what_was_never_held_is_refused() -> None:
    work = LedgerAtWork()
    work.sit("ann")
    work.hold(stake("ann", 10_00))
    with pytest.raises(UnknownHold):
        work.do(VoidHolds(ROUND, (f"{ROUND}/1/main/2",), "?"))
    with pytest.raises(UnknownRound):
        work.do(VoidHolds(f"{TABLE}#2", (f"{TABLE}#2/1/main/1",), "?"))
    with pytest.raises(CountMalformed):
        work.do(VoidHolds(ROUND, (), "?"))


def test_rounds_go_forward_only() -> None:
    work = LedgerAtWork()
    work.sit("ann")
    late = stake("ann", 10_00, round_id=f"{TABLE}#5")
    work.hold(late, round_id=f"{TABLE}#5")
    with pytest.raises(RoundIsPast):
        work.hold(stake("ann", 10_00, round_id=f"{TABLE}#4"), round_id=f"{TABLE}#4")


def test_no_stake_joins_a_settled_round_but_a_repeat_is_answered() -> None:
    work = LedgerAtWork()
    work.sit("ann")
    bet = stake("ann", 10_00)
    work.hold(bet)
    work.settle(line(bet, due=20_00))
    assert work.hold(bet) == ()
    with pytest.raises(RoundAlreadySettled):
        work.hold(stake("ann", 10_00, ordinal=2))


def test_past_rounds_leave_the_memory_but_not_those_in_play() -> None:
    work = LedgerAtWork()
    work.sit("ann", cents=5_000_00)
    work.hold(stake("ann", 1_00))
    for number in range(2, 200):
        round_id = f"{TABLE}#{number}"
        bet = stake("ann", 1_00, round_id=round_id)
        work.hold(bet, round_id=round_id)
        work.do(VoidHolds(round_id, (bet.hold,), "no round"))
    assert len(work.state.rounds) == 64
    assert ROUND in work.state.rounds
    with pytest.raises(RoundIsPast):
        work.do(VoidHolds(f"{TABLE}#2", (f"{TABLE}#2/1/main/1",), "long over"))
    work.settle(line(stake("ann", 1_00), due=0, outcome="lose"))


@pytest.mark.parametrize(
    ("round_id", "rejection"),
    [
        ("black-hawk/BJ-08#1", WrongTable),
        (TABLE, IdMalformed),
        (f"{TABLE}#0", IdMalformed),
        (f"{TABLE}#-1", IdMalformed),
        (f"{TABLE}#\uff11", IdMalformed),
        ("", IdMalformed),
    ],
)
def test_a_round_of_another_table_or_of_none_is_refused(round_id: str, rejection: type[Exception]) -> None:
    work = LedgerAtWork()
    work.sit("ann")
    with pytest.raises(rejection):
        work.hold(stake("ann", 10_00, round_id=round_id), round_id=round_id)


def test_a_hold_that_names_another_round_is_refused() -> None:
    work = LedgerAtWork()
    work.sit("ann")
    with pytest.raises(IdMalformed):
        work.hold(Stake(f"{TABLE}#2/1/main/1", "ann", "main", 10_00))


def test_stakes_of_strangers_and_of_the_departed_are_refused() -> None:
    work = LedgerAtWork()
    with pytest.raises(UnknownSeatSession):
        work.hold(stake("nobody", 10_00))
    work.sit("ann")
    work.do(CloseSeatSession("ann"), Role.SYSTEM)
    with pytest.raises(SeatSessionEnded):
        work.hold(stake("ann", 10_00))


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.SYSTEM])
def test_only_the_table_holds_stakes(role: Role) -> None:
    work = LedgerAtWork()
    work.sit("ann")
    with pytest.raises(NotAuthorised):
        work.do(HoldStakes(ROUND, (stake("ann", 10_00),)), role)


def test_nothing_moves_before_the_tray_is_counted_in() -> None:
    work = LedgerAtWork(tray_cents=None)
    with pytest.raises(LedgerNotOpen):
        work.hold(stake("ann", 10_00))


def test_a_call_without_stakes_or_with_too_many_is_refused() -> None:
    work = LedgerAtWork()
    work.sit("ann")
    with pytest.raises(CountMalformed):
        work.hold()
    with pytest.raises(CountMalformed):
        work.hold(*(stake("ann", 1, ordinal=n) for n in range(1, 514)))

"""Real rounds through the ledger: what five engines that are not ours say a patron won is what his rack shows.

The records of hands/ are played through the real round; each stake it locks is held, all its lines are settled in one call,
as the table does. `LedgerAtWork` counts every account after every event.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from services.game.hand_record import HandRecord, read_record
from services.game.hand_record_play import played_events
from services.game.house_rules import HouseRules
from services.game.money import Rounding, pay
from services.game.profiles import profile
from services.game.round_events import (
    HandDoubled,
    HandSplit,
    InsurancePlaced,
    RoundEvent,
    WagerPlaced,
    WagersSettled,
)
from services.wager.commands import SettlementLine, SettleRound, Stake
from services.wager.events import RoundSettled
from services.wager.statements import round_money, statement, table_money
from tests.support.ledger import TABLE, LedgerAtWork
from tests.support.round_records import PEER_HANDS

EVERY = 8
CHIP = 25


def records(house: HouseRules) -> Iterator[HandRecord]:
    """Every eighth record, from all five engines."""
    for number, text in enumerate(PEER_HANDS.read_text(encoding="utf-8").splitlines()):
        if number % EVERY == 0:
            yield read_record(text, house)


def hold_id(round_id: str, seat: int, kind: str, ordinal: int) -> str:
    return f"{round_id}/{seat}/{kind}/{ordinal}"


def stakes_of(events: tuple[RoundEvent, ...], round_id: str) -> Iterator[Stake]:
    for event in events:
        if isinstance(event, WagerPlaced | InsurancePlaced | HandDoubled | HandSplit):
            yield Stake(
                hold_id(round_id, event.seat, event.kind, event.ordinal),
                f"seat-{event.seat}",
                event.kind,
                event.amount_cents,
            )


def settlement_of(events: tuple[RoundEvent, ...], round_id: str, rules: HouseRules) -> SettleRound:
    lines = tuple(
        SettlementLine(
            seat=line.seat,
            hand=line.hand,
            kind=line.kind,
            holds=(hold_id(round_id, line.seat, line.kind, line.ordinal),),
            outcome=line.outcome.value,
            cause=line.cause.value,
            stake_cents=line.stake_cents,
            due=line.due,
            returned_cents=line.returned_cents,
            breakage=line.breakage,
        )
        for event in events
        if isinstance(event, WagersSettled)
        for line in event.lines
    )
    return SettleRound(f"{round_id}/settle/1", round_id, 1, rules.rounding, rules.chip_cents, lines)


def play(work: LedgerAtWork, record: HandRecord, number: int, rounding: Rounding = Rounding.EXACT) -> None:
    round_id = f"{TABLE}#{number}"
    events = played_events(record)
    for stake in stakes_of(events, round_id):
        work.hold(stake, round_id=round_id)
    command = settlement_of(events, round_id, record.rules)
    if rounding is not command.rounding:
        lines = tuple(rounded(line, rounding) for line in command.lines)
        command = replace(command, rounding=rounding, chip_cents=CHIP, lines=lines)
    work.do(command)


def rounded(line: SettlementLine, rounding: Rounding) -> SettlementLine:
    """The line as a house with that rule pays it: the stake whole, the gain by itself."""
    whole = line.stake_cents if line.due >= line.stake_cents else 0
    payment = pay(line.due - whole, rounding, CHIP)
    return replace(line, returned_cents=whole + payment.paid_cents, breakage=payment.breakage)


def a_full_table() -> LedgerAtWork:
    work = LedgerAtWork(tray_cents=10**9)
    for seat in range(1, 8):
        work.sit(f"seat-{seat}", seat, 10_000_000)
    return work


def test_racks_show_what_other_engines_say_was_won() -> None:
    work = a_full_table()
    number = 0
    for number, record in enumerate(records(profile("colorado")), 1):
        assert record.expect is not None
        before = {seat.seat: work.balance(f"rack/seat-{seat.seat}") for seat in record.seats}
        play(work, record, number)
        won = {seat: work.balance(f"rack/seat-{seat}") - cents for seat, cents in before.items()}
        assert won == {seat["seat"]: seat["net"] for seat in record.expect["seats"]}, record.source["id"]
        assert round_money(work.state, f"{TABLE}#{number}").settled
    assert number == 500
    money = table_money(work.state)
    assert (money.rounds_settled, money.escrow_cents, money.open_holds) == (500, 0, 0)
    assert money.win_cents == -sum(statement(work.state, f"seat-{seat}").net_cents for seat in range(1, 8))


@pytest.mark.parametrize(("rounding", "sign"), [(Rounding.DOWN_TO_CHIP, 1), (Rounding.UP_TO_CHIP, -1)])
def test_b14_what_rounding_to_chips_keeps_is_on_the_breakage_account(rounding: Rounding, sign: int) -> None:
    work = a_full_table()
    for number, record in enumerate(records(profile("colorado")), 1):
        play(work, record, number, rounding)
    lines = [line for event in work.log if isinstance(event, RoundSettled) for line in event.lines]
    broken = [line for line in lines if line.due != line.returned_cents]
    assert len(broken) > 10
    assert all(0 < sign * (line.due - line.returned_cents) < CHIP for line in broken)
    exact = sum(line.due for line in lines)
    assert exact == sum(line.returned_cents + line.residual for line in lines) + work.balance("breakage")
    money = table_money(work.state)
    assert money.win_cents == money.tray_cents + money.drop_cents - money.opener_cents

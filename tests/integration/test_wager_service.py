"""The wager service over a real journal, in-process and over gRPC: one effect per intent, and what was answered stays.

Each test runs in both forms.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from services.game.authority import Actor, CommandContext, Role
from services.game.money import Rounding
from services.journal.sqlite import SqliteJournal
from services.runtime.caller import GrpcCaller, LocalCaller, open_channel
from services.runtime.clock import ManualClock
from services.runtime.server import GrpcServer
from services.runtime.telemetry import Telemetry
from services.wager.client import (
    SERVICE,
    BuyIn,
    CloseSeatSession,
    Count,
    HoldStakes,
    OpenLedger,
    OpenSeatSession,
    SettlementLine,
    SettleRound,
    Stake,
    WagerClient,
)
from services.wager.server import wager_dispatcher
from services.wire.refusal import Refused

TABLE = "black-hawk/BJ-07"
ROUND = f"{TABLE}#1"
_ids = iter(range(10**9))


def by(role: Role, request_id: str | None = None, actor: str = "a-1") -> CommandContext:
    """A context under its own new request id unless one is given."""
    return CommandContext(request_id if request_id is not None else f"q-{next(_ids)}", Actor(role, actor), 1, "")


SYSTEM, DEALER, SUPERVISOR = Role.SYSTEM, Role.DEALER, Role.SUPERVISOR


class House:
    """One wager service over a journal file; `restart` ends it and starts another over the same file."""

    def __init__(self, path: Path, form: str) -> None:
        self.path = path
        self.form = form
        self.client: WagerClient

    async def start(self) -> None:
        self.journal = SqliteJournal.open(self.path)
        dispatcher = wager_dispatcher(self.journal, clock=ManualClock(), telemetry=Telemetry())
        if self.form == "local":
            self.client = WagerClient(LocalCaller({SERVICE: dispatcher}))
            return
        self.server = GrpcServer([dispatcher], "127.0.0.1:0")
        await self.server.start()
        self.channel = open_channel(f"127.0.0.1:{self.server.port}")
        self.client = WagerClient(GrpcCaller(self.channel))

    async def stop(self) -> None:
        if self.form == "grpc":
            await self.channel.close()
            await self.server.stop(0)
        await self.journal.close()

    async def restart(self) -> None:
        await self.stop()
        await self.start()

    async def open(self, *sessions: str, cents: int = 100_00) -> None:
        await self.client.open_ledger(TABLE, by(SUPERVISOR), OpenLedger("o-1", (Count(5_00, 1_000),)))
        for seat, session in enumerate(sessions, 1):
            await self.client.open_seat_session(TABLE, by(SYSTEM), OpenSeatSession(session, f"patron-{session}", seat))
            await self.client.buy_in(TABLE, by(DEALER), BuyIn(f"b-{session}", session, (Count(cents, 1),), cents))

    async def events(self) -> int:
        return len([recorded async for recorded in self.journal.read(f"wager:{TABLE}")])

    async def rack(self, session: str) -> int:
        return (await self.client.read_statement(TABLE, session)).rack_cents


@pytest.fixture(params=["local", "grpc"])
async def house(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[House]:
    house = House(tmp_path / "journal.db", request.param)
    await house.start()
    yield house
    await house.stop()


def bet(session: str, cents: int, ordinal: int = 1) -> HoldStakes:
    return HoldStakes(ROUND, (Stake(f"{ROUND}/1/main/{ordinal}", session, "main", cents),))


def settled(cents: int, due: Fraction, ordinal: int = 1) -> SettleRound:
    returned = int(due)
    line = SettlementLine(1, 0, "main", (f"{ROUND}/1/main/{ordinal}",), "win", "", cents, due, returned, due - returned)
    return SettleRound(f"{ROUND}/settle/1", ROUND, 1, Rounding.EXACT, 1, (line,))


async def test_a_round_of_money_from_buy_in_to_leaving(house: House) -> None:
    await house.open("ann")
    held = await house.client.hold_stakes(TABLE, by(SYSTEM), bet("ann", 1_29))
    assert held.holds[0].rack_cents == 98_71
    receipt = await house.client.settle_round(TABLE, by(SYSTEM), settled(1_29, Fraction(129 * 5, 2)))
    assert receipt.racks[0].rack_cents == 98_71 + 3_22
    assert receipt.lines[0].residual == Fraction(1, 2)
    left = await house.client.close_seat_session(TABLE, by(SYSTEM), CloseSeatSession("ann"))
    assert left.chips_cents == 101_93
    money = await house.client.read_table_money(TABLE)
    assert (money.win_cents, money.handle_cents, money.drop_cents, money.seated) == (-1_93, 1_29, 100_00, 0)
    assert money.hold == Fraction(-193, 100_00)
    balances = await house.client.read_balances(TABLE)
    assert sum(account.balance_cents for account in balances.accounts) == 0
    shown = await house.client.read_round(TABLE, ROUND)
    assert (shown.settled, shown.holds[0].status.name) == (True, "POSTED")


async def test_c12_of_a_hundred_bets_of_the_whole_balance_exactly_one_is_accepted(house: House) -> None:
    await house.open("ann", cents=10_00)
    calls = [house.client.hold_stakes(TABLE, by(SYSTEM), bet("ann", 10_00, n)) for n in range(1, 101)]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    refused = [answer for answer in answers if isinstance(answer, Refused)]
    assert len(refused) == 99
    assert {answer.name for answer in refused} == {"InsufficientChips"}
    assert await house.rack("ann") == 0


@pytest.mark.parametrize("same_id", [True, False], ids=["same request id", "new request ids"])
async def test_b18_c08_five_identical_bets_at_once_are_one(house: House, same_id: bool) -> None:
    await house.open("ann")
    before = await house.events()
    calls = [
        house.client.hold_stakes(TABLE, by(SYSTEM, "bet-1" if same_id else f"bet-{n}"), bet("ann", 10_00))
        for n in range(5)
    ]
    answers = await asyncio.gather(*calls)
    assert all(answer == answers[0] for answer in answers)
    assert await house.events() == before + 1
    assert await house.rack("ann") == 90_00


async def test_c10_a_command_without_an_id_is_refused(house: House) -> None:
    await house.open("ann")
    with pytest.raises(Refused) as refused:
        await house.client.hold_stakes(TABLE, by(SYSTEM, ""), bet("ann", 10_00))
    assert refused.value.name == "RequestIdMissing"
    assert await house.rack("ann") == 100_00


async def test_c10_a_retry_after_a_lost_reply_gets_the_first_answer_also_after_a_restart(house: House) -> None:
    await house.open("ann")
    context = by(SYSTEM, "settle-1")
    await house.client.hold_stakes(TABLE, by(SYSTEM), bet("ann", 10_00))
    first = await house.client.settle_round(TABLE, context, settled(10_00, Fraction(25_00)))
    await house.client.buy_in(TABLE, by(DEALER), BuyIn("b-2", "ann", (Count(50_00, 1),), 50_00))
    assert await house.client.settle_round(TABLE, context, settled(10_00, Fraction(25_00))) == first
    await house.restart()
    assert await house.client.settle_round(TABLE, context, settled(10_00, Fraction(25_00))) == first
    # The middleware made a new id: the settlement's own id still tells that it is done.
    assert await house.client.settle_round(TABLE, by(SYSTEM), settled(10_00, Fraction(25_00))) == first
    assert await house.rack("ann") == 90_00 + 25_00 + 50_00


async def test_a_request_id_used_for_something_else_is_refused(house: House) -> None:
    await house.open("ann")
    await house.client.hold_stakes(TABLE, by(SYSTEM, "x"), bet("ann", 10_00))
    with pytest.raises(Refused) as refused:
        await house.client.hold_stakes(TABLE, by(SYSTEM, "x"), bet("ann", 11_00))
    assert refused.value.name == "RequestIdReused"


async def test_c14_a_patron_whose_connection_is_gone_is_paid_into_his_account(house: House) -> None:
    await house.open("ann")
    await house.client.hold_stakes(TABLE, by(SYSTEM), bet("ann", 10_00))
    # The patron's connection and the whole service go away between bet and settlement.
    await house.restart()
    await house.client.settle_round(TABLE, by(SYSTEM), settled(10_00, Fraction(20_00)))
    await house.restart()
    assert await house.rack("ann") == 110_00


async def test_a_refusal_names_seat_and_shortfall_and_changes_nothing(house: House) -> None:
    await house.open("ann", "bob", cents=10_00)
    both = HoldStakes(
        ROUND,
        (
            Stake(f"{ROUND}/1/main/1", "ann", "main", 10_00),
            Stake(f"{ROUND}/2/main/1", "bob", "main", 10_01),
        ),
    )
    before = await house.events()
    with pytest.raises(Refused) as refused:
        await house.client.hold_stakes(TABLE, by(SYSTEM), both)
    assert refused.value.name == "InsufficientChips"
    assert (refused.value.facts["seat"], refused.value.facts["shortfall_cents"]) == ("2", "1")
    assert await house.events() == before
    await house.client.hold_stakes(TABLE, by(SYSTEM), replace(both, stakes=both.stakes[:1]))


async def test_tables_do_not_mix(house: House) -> None:
    await house.open("ann")
    other = "black-hawk/BJ-08"
    with pytest.raises(Refused) as refused:
        await house.client.hold_stakes(other, by(SYSTEM), bet("ann", 10_00))
    assert refused.value.name == "LedgerNotOpen"
    await house.client.open_ledger(other, by(SUPERVISOR), OpenLedger("o-1", (Count(5_00, 1),)))
    with pytest.raises(Refused) as refused:
        await house.client.hold_stakes(other, by(SYSTEM), bet("ann", 10_00))
    assert refused.value.name == "WrongTable"
    for key in ("BJ-07", "", "black-hawk/BJ-07/x"):
        with pytest.raises(Refused) as refused:
            await house.client.read_balances(key)
        assert refused.value.name == "MalformedTableKey"

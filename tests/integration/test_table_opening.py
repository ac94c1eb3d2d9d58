"""An opening that dies half-way is finished by opening again, with the same count or with a corrected one (DESIGN §5)."""

from pathlib import Path

import pytest

from services.runtime.failures import ServiceUnavailable
from services.table import client as tables
from services.wager import client as wager
from services.wire.refusal import Refused
from tests.support.table_house import DEALER, RULES, SUPERVISOR, TABLE, Fault, House, broken_laws

COUNTS = {"a": (tables.ChipCount(500, 4_000),), "b": (tables.ChipCount(500, 3_999),), "c": (tables.ChipCount(100, 10),)}


async def opened(house: House, count: str) -> None:
    command = tables.OpenTable(RULES, COUNTS[count], DEALER.id)
    await house.table.open_table(TABLE, house.context(SUPERVISOR), command)


def cents(count: str) -> int:
    return sum(chips.denomination_cents * chips.quantity for chips in COUNTS[count])


@pytest.mark.parametrize("second", ["a", "b"])
async def test_an_opening_that_died_after_the_count_heals_with_any_count(tmp_path: Path, second: str) -> None:
    path = tmp_path / "journal.db"
    async with House(path, fault=Fault(at=1, before=False)) as house:
        with pytest.raises(ServiceUnavailable):
            await opened(house, "a")
    async with House(path) as house:
        await opened(house, second)
        money = await house.wager.read_table_money(TABLE)
        assert (money.opener_cents, money.tray_cents) == (cents(second), cents(second))
        await house.seat("ann", 1)
        assert await broken_laws(house) == []


@pytest.mark.parametrize("third", ["a", "b", "c"])
@pytest.mark.parametrize("dies_after", ["CloseLedger", "OpenLedger"])
async def test_a_recount_that_dies_itself_heals_too(tmp_path: Path, dies_after: str, third: str) -> None:
    path = tmp_path / "journal.db"
    async with House(path, fault=Fault(at=1, before=False)) as house:
        with pytest.raises(ServiceUnavailable):
            await opened(house, "a")
    # The first call of a recount is refused, so it never takes effect: closing is the second, counting anew the third.
    fault = Fault(at={"CloseLedger": 2, "OpenLedger": 3}[dies_after], before=False)
    async with House(path, fault=fault) as house:
        with pytest.raises(ServiceUnavailable):
            await opened(house, "b")
        assert fault.names[-1] == dies_after
    async with House(path) as house:
        await opened(house, third)
        assert (await house.wager.read_table_money(TABLE)).tray_cents == cents(third)
        assert await broken_laws(house) == []


async def test_a_ledger_that_somebody_else_opened_is_left_alone_with_a_clear_answer(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db") as house:
        theirs = wager.OpenLedger("theirs", (wager.Count(500, 1),))
        await house.wager.open_ledger(TABLE, house.context(SUPERVISOR), theirs)
        with pytest.raises(Refused) as refused:
            await opened(house, "a")
        assert refused.value.name == "LedgerAlreadyOpen"
        assert "theirs" in refused.value.message
        assert (await house.wager.read_table_money(TABLE)).tray_cents == 500

"""What a gateway's log promises: on disk before it is answered, once, in order, for one floor, also on a full disk."""

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from services.floor.gateway_file import GatewayLogOfAnotherFloor, GatewayLogUnusable
from services.floor.gateway_log import GATEWAY, GatewayDiskFailed, GatewayLog, Report
from services.floor.gateway_rejections import ReadingContested, ReadingSequenceGap
from services.journal.errors import JournalLocked
from services.table.client import ReadingKind
from tests.support.devices import NOON_US, TABLE, reading, readings

FLOOR = "black-hawk"


@asynccontextmanager
async def log_at(folder: Path, limit_bytes: int = 0) -> AsyncIterator[GatewayLog]:
    kept = GatewayLog.open(folder / "gateway.db", FLOOR, limit_bytes=limit_bytes)
    try:
        yield kept
    finally:
        await kept.close()


def report(first: int, last: int, device: str = "tray-7", table: str = TABLE) -> Report:
    return Report(table, device, readings(first, last), NOON_US, 0)


async def on_disk(kept: GatewayLog, table: str = TABLE) -> list[tuple[str, int]]:
    return [
        (one.observation.device, one.observation.reading.device_sequence) for one in await kept.queued(table, 10_000)
    ]


async def test_what_was_answered_is_in_the_file_for_every_other_reader(tmp_path: Path) -> None:
    async with log_at(tmp_path) as kept:
        assert (await kept.keep(report(1, 3))).kept_through == 3
        with sqlite3.connect(tmp_path / "gateway.db") as other:
            assert other.execute("SELECT count(*) FROM reading").fetchone() == (3,)
            assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        other.close()


async def test_the_same_report_again_gets_the_same_answer_and_is_kept_once(tmp_path: Path) -> None:
    async with log_at(tmp_path) as kept:
        first = await kept.keep(report(1, 5))
        again = await kept.keep(report(1, 5))
        assert (first.kept_through, again.kept_through, again.repeated_readings) == (5, 5, 5)
        overlapping = await kept.keep(report(4, 7))
        assert (overlapping.kept_through, overlapping.repeated_readings) == (7, 2)
        assert await on_disk(kept) == [("tray-7", n) for n in range(1, 8)]


async def test_a_number_that_comes_again_with_other_content_is_refused_whole_and_reported(tmp_path: Path) -> None:
    async with log_at(tmp_path) as kept:
        await kept.keep(report(1, 3))
        forged = (replace(reading(3), amount_cents=5), reading(4))
        with pytest.raises(ReadingContested) as refused:
            await kept.keep(Report(TABLE, "tray-7", forged, NOON_US, 0))
        assert refused.value.facts["sequence"] == 3
        queued = await kept.queued(TABLE, 10)
        assert [one.observation.reading.device_sequence for one in queued[:3]] == [1, 2, 3]
        told = queued[3].observation
        assert (told.device, told.reading.kind) == (GATEWAY, ReadingKind.DEVICE_REPORT)
        assert "tray-7 sent 3 again" in told.reading.note


async def test_a_gap_is_refused_with_what_is_expected_and_a_device_may_say_that_its_history_is_lost(
    tmp_path: Path,
) -> None:
    async with log_at(tmp_path) as kept:
        with pytest.raises(ReadingSequenceGap) as refused:
            await kept.keep(report(2, 3))
        assert refused.value.facts["expected"] == 1
        await kept.keep(report(1, 2))
        with pytest.raises(ReadingSequenceGap) as refused:
            await kept.keep(report(4, 4))
        assert refused.value.facts["expected"] == 3
        lost = reading(40, ReadingKind.HISTORY_LOST, note="the battery was changed")
        await kept.keep(Report(TABLE, "tray-7", (lost, reading(41)), NOON_US, 0))
        assert await on_disk(kept) == [("tray-7", n) for n in (1, 2, 40, 41)]
        with pytest.raises(ReadingSequenceGap):
            await kept.keep(Report(TABLE, "tray-7", (reading(42), reading(44)), NOON_US, 0))
        assert (await kept.standing(TABLE, "tray-7")) == (41, 0)


async def test_refused_reports_do_not_hurt_those_that_are_committed_with_them(tmp_path: Path) -> None:
    async with log_at(tmp_path) as kept:
        wanted = [kept.keep(report(1, 2, f"tray-{n}")) for n in range(50)]
        gaps = [kept.keep(report(7, 8, f"tray-{n}")) for n in range(50, 60)]
        outcomes = await asyncio.gather(*wanted, *gaps, return_exceptions=True)
        assert [type(one).__name__ for one in outcomes[50:]] == ["ReadingSequenceGap"] * 10
        assert len(await on_disk(kept)) == 100


async def test_the_order_of_a_tables_devices_is_the_order_in_which_they_were_kept(tmp_path: Path) -> None:
    async with log_at(tmp_path) as kept:
        await kept.keep(report(1, 1, "shoe-7"))
        await kept.keep(report(1, 1, "console-7"))
        await kept.keep(report(2, 2, "shoe-7"))
        await kept.keep(report(1, 1, "tray-9", "black-hawk/BJ-09"))
        assert await on_disk(kept) == [("shoe-7", 1), ("console-7", 1), ("shoe-7", 2)]
        assert kept.tables() == [TABLE, "black-hawk/BJ-09"]


async def test_a_new_life_goes_on_where_the_disk_is(tmp_path: Path) -> None:
    async with log_at(tmp_path) as kept:
        await kept.keep(report(1, 10))
        third = (await kept.queued(TABLE, 3))[-1]
        await kept.forwarded(TABLE, third.position, 3)
    async with log_at(tmp_path) as kept:
        assert (kept.progress.queued, kept.progress.oldest_queued_us) == (7, NOON_US)
        assert await on_disk(kept) == [("tray-7", n) for n in range(4, 11)]
        assert await kept.standing(TABLE, "tray-7") == (10, 3)
        with pytest.raises(ReadingSequenceGap):
            await kept.keep(report(12, 12))


async def test_the_house_may_ask_again_for_what_it_had(tmp_path: Path) -> None:
    async with log_at(tmp_path) as kept:
        await kept.keep(report(1, 10))
        last = (await kept.queued(TABLE, 10))[-1]
        await kept.forwarded(TABLE, last.position, 10)
        assert kept.progress.queued == 0
        assert await kept.rewind(TABLE, "tray-7", 6)
        assert await on_disk(kept) == [("tray-7", n) for n in range(6, 11)]
        assert kept.progress.queued == 5
        assert not await kept.rewind(TABLE, "tray-7", 11)


async def test_only_what_the_house_has_may_be_forgotten_and_numbers_go_on_after_it(tmp_path: Path) -> None:
    async with log_at(tmp_path) as kept:
        await kept.keep(report(1, 4))
        second = (await kept.queued(TABLE, 2))[-1]
        await kept.forwarded(TABLE, second.position, 2)
        assert await kept.forget(NOON_US + 1) == 2
        assert await on_disk(kept) == [("tray-7", 3), ("tray-7", 4)]
        assert (await kept.keep(report(1, 5))).kept_through == 5


async def test_a_full_disk_keeps_nothing_of_a_report_says_so_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    async with log_at(tmp_path, limit_bytes=120_000) as kept:
        last = 0
        with contextlib.suppress(GatewayDiskFailed):
            while (await kept.keep(report(last + 1, last + 100))).kept_through > last:
                last += 100
        with pytest.raises(GatewayDiskFailed, match=r"disk is full.*nothing of the report was kept"):
            await kept.keep(report(last + 1, last + 100))
        assert last > 0
        assert (await kept.standing(TABLE, "tray-7"))[0] == last
        for _ in range(3):
            with pytest.raises(GatewayDiskFailed):
                await kept.keep(report(last + 1, last + 100))
    async with log_at(tmp_path) as kept:
        assert await on_disk(kept) == [("tray-7", n) for n in range(1, last + 1)]
        assert (await kept.keep(report(last + 1, last + 100))).kept_through == last + 100


async def test_the_log_of_another_floor_a_second_gateway_and_a_strange_file_are_refused_at_start(
    tmp_path: Path,
) -> None:
    async with log_at(tmp_path) as kept:
        await kept.keep(report(1, 1))
        with pytest.raises(JournalLocked):
            GatewayLog.open(tmp_path / "gateway.db", FLOOR)
    with pytest.raises(GatewayLogOfAnotherFloor, match="of floor 'black-hawk', not of 'cripple-creek'"):
        GatewayLog.open(tmp_path / "gateway.db", "cripple-creek")
    (tmp_path / "text.db").write_text("not a database, but long enough to be looked at as one" * 40)
    with pytest.raises(GatewayLogUnusable, match="not a database"):
        GatewayLog.open(tmp_path / "text.db", FLOOR)
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE somebody (else_)")
    other.close()
    with pytest.raises(GatewayLogUnusable, match="not a gateway's log"):
        GatewayLog.open(tmp_path / "other.db", FLOOR)
    newer = sqlite3.connect(tmp_path / "gateway.db")
    newer.execute("PRAGMA user_version = 9")
    newer.close()
    with pytest.raises(GatewayLogUnusable, match="format 9"):
        GatewayLog.open(tmp_path / "gateway.db", FLOOR)

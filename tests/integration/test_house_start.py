"""What can be wrong when a house starts: each ends in one clear line and status 1, and leaves what was there as it was."""

import asyncio
import contextlib
import os
import shutil
import socket
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import structlog

from services.cli import main
from services.house import House
from services.journal.errors import JournalFileDamaged, JournalLocked, JournalUnavailable
from services.journal.fsck import fsck
from services.runtime.failures import ServiceUnavailable
from services.runtime.sealing import KeyUnusable
from services.runtime.server import PortTaken
from services.runtime.settings import Settings, SettingsRefused
from services.runtime.telemetry import configure_logging
from services.surveillance.client import SurveillanceClient
from services.surveillance.store import digests, open_store
from services.table.client import TableClient
from services.wager.client import WagerClient
from tests.support.hosted import SERVICES, TABLE, hosted, play_rounds, settings_in

ALL = (*SERVICES, "console")


@pytest.fixture
def taken_port() -> Iterator[str]:
    """An address that somebody listens on."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield f"127.0.0.1:{listening.getsockname()[1]}"


async def starts(settings: Settings, services: tuple[str, ...] = ALL) -> None:
    async with House(settings, services):
        pass


def _listening(settings: Settings, which: str, address: str) -> Settings:
    """The settings with one of the three addresses changed."""
    match which:
        case "grpc_address":
            return replace(settings, grpc_address=address)
        case "console_address":
            return replace(settings, console_address=address)
        case _:
            return replace(settings, metrics_address=address)


@pytest.mark.parametrize("which", ["grpc_address", "console_address", "metrics_address"])
async def test_a_port_that_is_taken_is_named_and_nothing_stays_open(
    tmp_path: Path, taken_port: str, which: str
) -> None:
    settings = settings_in(tmp_path)
    with pytest.raises(PortTaken, match=taken_port):
        await starts(_listening(settings, which, taken_port))
    # Everything that was opened before is closed again, the journal's lock with it.
    await starts(settings)


@pytest.mark.parametrize("address", ["nonsense", "127.0.0.1", ":8600", "127.0.0.1:99999", "127.0.0.1:x", ""])
def test_an_address_that_is_none_is_refused(tmp_path: Path, address: str) -> None:
    for which in ("grpc_address", "console_address", "metrics_address"):
        with pytest.raises(SettingsRefused, match="is not an address"):
            _listening(settings_in(tmp_path), which, address)


async def test_a_data_folder_that_is_a_file_or_lies_below_one(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine", encoding="utf-8")
    for folder in (file, file / "data"):
        with pytest.raises(SettingsRefused, match="cannot be a data folder"):
            await starts(replace(settings_in(tmp_path), data_dir=folder))
    assert file.read_text(encoding="utf-8") == "mine"


async def test_files_that_are_folders(tmp_path: Path) -> None:
    for number, name in enumerate(("journal.db", "projection.db", "keys/shoe.key")):
        settings = settings_in(tmp_path / str(number))
        (settings.data_dir / name).mkdir(parents=True)
        with pytest.raises((JournalUnavailable, SettingsRefused, KeyUnusable), match=name):
            await starts(settings)


async def test_a_folder_that_nobody_can_write_to(tmp_path: Path) -> None:
    """Rights do not bind root; /proc takes files from nobody."""
    with pytest.raises(JournalUnavailable, match=r"cannot write /proc/journal\.db"):
        await starts(replace(settings_in(tmp_path), data_dir=Path("/proc")))


async def test_g09_a_second_house_on_the_same_data_is_refused_and_the_first_one_plays_on(tmp_path: Path) -> None:
    beside = replace(settings_in(tmp_path), addresses={"table": "127.0.0.1:1"})
    async with hosted(tmp_path) as first:
        with pytest.raises(JournalLocked, match=f"journal .* by process {os.getpid()}"):
            await starts(settings_in(tmp_path))
        with pytest.raises(JournalLocked, match=f"projection .* by process {os.getpid()}"):
            await starts(beside, ("surveillance", "console"))
        await play_rounds(first, 1)
    # Surveillance and console only read the journal, so they may run beside its writer.
    async with (
        hosted(tmp_path, ("shoe", "table", "wager")) as first,
        House(beside, ("surveillance", "console")) as second,
    ):
        await play_rounds(first, 1, seed=2)
        await _caught_up(second)
    assert fsck(settings_in(tmp_path).journal_path).is_sound


async def _played(folder: Path, rounds: int = 2) -> Settings:
    async with hosted(folder) as house:
        await play_rounds(house, rounds)
        await _caught_up(house.house)
    return settings_in(folder)


async def test_a_file_that_is_damaged_where_the_database_keeps_its_order(tmp_path: Path) -> None:
    settings = await _played(tmp_path)
    with settings.journal_path.open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 60)
    before = settings.journal_path.read_bytes()
    with pytest.raises(JournalFileDamaged, match="holecard verify"):
        await starts(settings)
    assert settings.journal_path.read_bytes()[200:] == before[200:]


async def test_an_event_that_was_edited_stops_its_table_and_no_other(tmp_path: Path) -> None:
    async with hosted(tmp_path) as house:
        await play_rounds(house, 4, tables=2)
    settings = settings_in(tmp_path)
    with closing(sqlite3.connect(settings.journal_path)) as connection:
        number = connection.execute("SELECT id FROM stream WHERE name = ?", (f"wager:{TABLE}",)).fetchone()[0]
        find = "SELECT stored FROM event WHERE stream = ? AND sequence = 3"
        (stored,) = connection.execute(find, (number,)).fetchone()
        connection.execute(
            "UPDATE event SET stored = ? WHERE stream = ? AND sequence = 3",
            (stored[:-1] + bytes([stored[-1] ^ 1]), number),
        )
        connection.commit()
    # With its snapshot the ledger is as it was before the edit, which surveillance and `verify` find.
    shutil.rmtree(settings.snapshots_path)
    async with hosted(tmp_path) as house:
        caller = house.house.caller("wager")
        with pytest.raises(ServiceUnavailable, match=f"wager:{TABLE}' sequence 3"):
            await WagerClient(caller).read_balances(TABLE)
        other = TABLE.replace("BJ-01", "BJ-02")
        assert (await WagerClient(caller).read_balances(other)).accounts
        assert (await TableClient(caller).get_table(other)).table == other
    report = fsck(settings.journal_path)
    assert [(finding.kind, finding.stream, finding.sequence) for finding in report.findings] == [
        ("edited", f"wager:{TABLE}", 3)
    ]


async def test_g07_a_projection_of_another_version_is_never_used(tmp_path: Path) -> None:
    """Rows that an older reducer wrote are thrown away, however good they look; the journal is read again."""
    settings = await _played(tmp_path)
    engine = open_store(settings.projection_path)
    right = digests(engine)
    engine.dispose()
    with closing(sqlite3.connect(settings.projection_path)) as connection:
        connection.execute("UPDATE meta SET value = '0' WHERE name = 'schema_version'")
        connection.execute("UPDATE tables SET tray_cents = 1, day_win_cents = 999999")
        connection.commit()
    async with hosted(tmp_path) as house:
        await _caught_up(house.house)
    engine = open_store(settings.projection_path)
    assert digests(engine) == right
    engine.dispose()


async def test_g05_a_projection_that_is_gone_is_built_again(tmp_path: Path) -> None:
    settings = await _played(tmp_path)
    engine = open_store(settings.projection_path)
    right = digests(engine)
    engine.dispose()
    for path in settings.data_dir.glob("projection.db*"):
        path.unlink()
    async with hosted(tmp_path) as house:
        await _caught_up(house.house)
    engine = open_store(settings.projection_path)
    assert digests(engine) == right
    engine.dispose()


async def _caught_up(house: House) -> None:
    client = SurveillanceClient(house.caller("surveillance"))
    while True:
        lag = await client.get_lag()
        if lag.healthy and all(p.projected_offset >= p.end_offset <= p.audited_offset for p in lag.partitions):
            return
        await asyncio.sleep(0.02)


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., list[str]]]:
    def run(*arguments: str | Path) -> list[str]:
        monkeypatch.setattr(sys, "argv", ["holecard", "serve", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 1
        return capsys.readouterr().err.splitlines()

    yield run
    # The command pointed the log to this test's stderr.
    structlog.reset_defaults()


def test_the_command_says_it_in_one_line(tmp_path: Path, taken_port: str, serve: Callable[..., list[str]]) -> None:
    file = tmp_path / "file"
    file.touch()
    free = ("--plain-text", "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0")
    for arguments, says in (
        (("--data", file, *free), "cannot be a data folder"),
        (("--plain-text", "--data", tmp_path / "a", *free[1:3], "--metrics", taken_port), "cannot serve metrics on"),
    ):
        (line,) = serve("shoe", "table", "wager", *arguments)
        assert line.startswith("holecard: ")
        assert says in line


def test_a_log_that_nobody_reads_any_more_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    stderr = os.fdopen(writer, "w")
    monkeypatch.setattr(sys, "stderr", stderr)
    configure_logging()
    try:
        os.close(reader)
        structlog.get_logger().error("the pipe is broken")
    finally:
        structlog.reset_defaults()
        monkeypatch.undo()
        with contextlib.suppress(BrokenPipeError):
            stderr.close()

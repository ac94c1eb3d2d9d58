"""`holecard verify` as people and scripts see it: one sentence, an exit status, the same as JSON."""

import json
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from services.cli import main
from services.cli import verify as command
from services.journal.findings import Finding
from services.journal.port import Recorded
from services.journal.sqlite import SqliteJournal
from tests.support.journal_events import OTHER_STREAM, STREAM, fill, write_journal


@dataclass(frozen=True)
class Run:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def verify(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    # These journals hold no lawful play, only events: the laws have tests of their own.
    monkeypatch.setattr(command, "OBSERVERS", ())

    def run(*arguments: str | Path) -> Run:
        monkeypatch.setattr(sys, "argv", ["holecard", "verify", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return Run(int(ended.value.code or 0), said.out, said.err)

    return run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "journal.db"
    write_journal(path, (STREAM, 5), (OTHER_STREAM, 2))
    return path


def test_a_sound_journal(path: Path, verify: Callable[..., Run]) -> None:
    run = verify("--data", path.parent)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == f"Sound: 7 events in 2 streams of {path}.\n"
    assert json.loads(verify("--journal", path, "--json").stdout) == {
        "journal": str(path), "sound": True, "events": 7, "streams": 2, "findings": [],
    }  # fmt: skip


def test_damage_is_named_and_fails(path: Path, verify: Callable[..., Run]) -> None:
    with closing(sqlite3.connect(path)) as connection:
        stored = connection.execute("SELECT stored FROM event WHERE position = 5").fetchone()[0]
        connection.execute("UPDATE event SET stored = ? WHERE position = 5", (stored.replace(b"card 3", b"card 4"),))
        connection.execute("DELETE FROM event WHERE position = 3")
        connection.commit()
    run = verify("--journal", path)
    assert run.returncode == 1
    lines = run.stdout.splitlines()
    assert lines[0].startswith(f"missing: {STREAM} 2: ")
    assert lines[1].startswith(f"edited: {STREAM} 3 (offset 5): ")
    assert lines[2] == f"NOT SOUND: 2 findings in 6 events in 2 streams of {path}."
    as_json = verify("--journal", path, "--json")
    assert as_json.returncode == 1
    found = json.loads(as_json.stdout)["findings"]
    assert [(f["kind"], f["stream"], f["sequence"]) for f in found] == [("missing", STREAM, 2), ("edited", STREAM, 3)]


async def test_a_journal_that_is_being_written_is_checked_beside_its_writer(
    path: Path, verify: Callable[..., Run]
) -> None:
    journal = SqliteJournal.open(path)
    await fill(journal, STREAM, 3, after=5)
    run = verify("--journal", path)
    assert (run.returncode, run.stdout) == (0, f"Sound: 10 events in 2 streams of {path}.\n")
    await journal.close()


def test_paths_that_are_no_journal_end_in_one_clear_line(tmp_path: Path, verify: Callable[..., Run]) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("nothing here\n" * 100)
    for path, says in (
        (tmp_path / "absent.db", "there is no journal at"),
        (tmp_path, "is not a file"),
        (text, "is not a database"),
    ):
        run = verify("--journal", path)
        assert run.returncode == 1
        assert run.stdout == ""
        (line,) = run.stderr.splitlines()
        assert line.startswith("holecard: ")
        assert says in line


def test_the_laws_of_the_house_ride_along(
    path: Path, verify: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Suspicious:
        def __init__(self) -> None:
            self.seen = 0

        def see(self, recorded: Recorded) -> None:
            self.seen += len(recorded.stored) > 0

        def findings(self) -> list[Finding]:
            return [Finding("L3", STREAM, self.seen, "a card in two hands")]

    monkeypatch.setattr(command, "OBSERVERS", (Suspicious,))
    run = verify("--journal", path)
    assert run.returncode == 1
    assert run.stdout.splitlines()[0] == f"L3: {STREAM} 7: a card in two hands"

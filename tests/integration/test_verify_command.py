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
from services.runtime.clock import ManualClock
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


async def test_a_journal_copied_early_without_its_log_is_told_apart_from_another_programs(
    path: Path, tmp_path: Path, verify: Callable[..., Run]
) -> None:
    journal = SqliteJournal.open(tmp_path / "young.db")
    await fill(journal, STREAM, 3)
    copy = tmp_path / "copy.db"
    copy.write_bytes((tmp_path / "young.db").read_bytes())
    run = verify("--journal", copy)
    assert run.returncode == 1
    assert "was copied without the file copy.db-wal beside it" in run.stderr
    (tmp_path / "copy.db-wal").write_bytes((tmp_path / "young.db-wal").read_bytes())
    assert verify("--journal", copy).stdout == f"Sound: 3 events in 1 streams of {copy}.\n"
    await journal.close()
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE theirs (id INTEGER)")
        other.commit()
    assert "another program's database" in verify("--journal", tmp_path / "other.db").stderr


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


def _cut(path: Path, stream: str, keep: int) -> None:
    """Cut a stream's tail off together with everything in the file that knows of it, as an insider would."""
    with closing(sqlite3.connect(path)) as connection:
        number = connection.execute("SELECT id FROM stream WHERE name = ?", (stream,)).fetchone()[0]
        connection.execute("DELETE FROM event WHERE stream = ? AND sequence > ?", (number, keep))
        last = connection.execute("SELECT hash FROM event WHERE stream = ? AND sequence = ?", (number, keep)).fetchone()
        connection.execute("UPDATE stream SET sequence = ?, hash = ? WHERE id = ?", (keep, last[0], number))
        rows = [row[0] for row in connection.execute("SELECT position FROM event ORDER BY position")]
        for new, old in enumerate(rows, start=1):
            connection.execute("UPDATE event SET position = ? WHERE position = ?", (new, old))
        connection.commit()


def test_g11_a_tail_cut_off_with_the_heads_in_the_file_is_caught_by_heads_kept_outside(
    path: Path, tmp_path: Path, verify: Callable[..., Run]
) -> None:
    heads = tmp_path / "elsewhere.json"
    assert verify("--journal", path, "--write-heads", heads).returncode == 0
    assert verify("--journal", path, "--heads", heads).returncode == 0
    _cut(path, STREAM, 3)
    assert verify("--journal", path).returncode == 0, "the chain alone cannot know"
    run = verify("--journal", path, "--heads", heads)
    assert run.returncode == 1
    assert run.stdout.splitlines()[0].startswith(f"truncated: {STREAM} 4: ")
    # A journal that is not sound leaves the record of better days alone.
    before = heads.read_text(encoding="utf-8")
    assert verify("--journal", path, "--heads", heads, "--write-heads", heads).returncode == 1
    assert heads.read_text(encoding="utf-8") == before


async def test_g11_a_tail_written_anew_is_caught_and_a_journal_that_grew_is_not(
    path: Path, tmp_path: Path, verify: Callable[..., Run]
) -> None:
    heads = tmp_path / "elsewhere.json"
    assert verify("--journal", path, "--write-heads", heads).returncode == 0
    journal = SqliteJournal.open(path)
    await fill(journal, STREAM, 3, after=5)
    await journal.close()
    assert verify("--journal", path, "--heads", heads).returncode == 0
    _cut(path, STREAM, 3)
    journal = SqliteJournal.open(path, clock=ManualClock(5))
    await fill(journal, STREAM, 9, after=3)
    await journal.close()
    assert verify("--journal", path).returncode == 0
    run = verify("--journal", path, "--heads", heads)
    assert run.returncode == 1
    assert run.stdout.splitlines()[0].startswith(f"forked: {STREAM} 5 ")


@pytest.mark.parametrize(
    "content", ["", "{}", "[]", '{"format": "holecard-heads/2", "streams": []}',
                '{"format": "holecard-heads/1", "streams": [{"stream": "x", "sequence": 0, "hash": ""}]}'],
)  # fmt: skip
def test_a_file_that_holds_no_heads_is_refused(
    path: Path, tmp_path: Path, verify: Callable[..., Run], content: str
) -> None:
    heads = tmp_path / "heads.json"
    heads.write_text(content, encoding="utf-8")
    run = verify("--journal", path, "--heads", heads)
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.startswith(f"holecard: {heads} holds")

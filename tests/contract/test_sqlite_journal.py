"""The SQLite journal keeps the contract of every journal, and what it promises of its own: one writer, many readers, clear
errors, no memory ahead of the disk."""

import asyncio
import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from services.journal import sqlite_reader, sqlite_writer
from services.journal.errors import (
    EventRefused,
    JournalClosed,
    JournalDamaged,
    JournalLocked,
    JournalOverloaded,
    JournalUnavailable,
    JournalVersionUnsupported,
    NotAJournal,
    SequenceConflict,
)
from services.journal.fsck import fsck
from services.journal.port import MAX_EVENT_BYTES, Journal, Recorded
from services.journal.sqlite import SqliteJournal
from tests.contract.journal_suite import JournalSuite, OpenJournal, events_of, numbers, take
from tests.support.journal_events import OTHER_STREAM, STREAM, fill, new_event, new_events, write_journal

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest.fixture
def checked(path: Path) -> Iterator[Path]:
    """The path of a journal that must be sound when the test is over."""
    yield path
    if path.exists():
        assert fsck(path).findings == ()


@pytest.fixture
async def open_journal(checked: Path) -> AsyncIterator[OpenJournal]:
    opened: list[SqliteJournal] = []

    async def open_it() -> Journal:
        journal = SqliteJournal.open(checked)
        opened.append(journal)
        return journal

    yield open_it
    for journal in opened:
        await journal.close()


@pytest.fixture
def spoilt(path: Path, open_journal: OpenJournal) -> Iterator[OpenJournal]:
    """As `open_journal`, for a test that damages its journal: the file goes before it is checked."""
    yield open_journal
    path.unlink()


@pytest.fixture
async def journal(open_journal: OpenJournal) -> Journal:
    return await open_journal()


class TestSqliteJournal(JournalSuite):
    """The contract of every journal."""

    @pytest.fixture
    def place(self, path: Path) -> tuple[str, str]:
        return "sqlite", str(path)


# --- one writer -------------------------------------------------------------------------------------------------------


async def test_g09_a_second_writer_is_refused_and_told_who_writes(journal: Journal, path: Path) -> None:
    await fill(journal, STREAM, 2)
    with pytest.raises(JournalLocked, match=f"process {os.getpid()}") as refused:
        SqliteJournal.open(path)
    assert refused.value.pid == os.getpid()
    await fill(journal, STREAM, 1, after=2)


def test_g09_of_processes_that_open_at_once_one_writes(path: Path) -> None:
    script = (
        "import sys; from services.journal.sqlite import SqliteJournal; from services.journal.errors import JournalLocked\n"
        "try: journal = SqliteJournal.open(sys.argv[1])\n"
        "except JournalLocked as error: print('locked', error.pid, flush=True); sys.exit()\n"
        "print('writes', flush=True); sys.stdin.read()"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for _ in range(3)
    ]
    said = [process.stdout.readline().split() for process in processes if process.stdout]
    writers = [process for process, line in zip(processes, said, strict=True) if line == [b"writes"]]
    assert len(writers) == 1
    assert sorted(said) == sorted([[b"writes"]] + [[b"locked", str(writers[0].pid).encode()]] * 2)
    for process in processes:
        process.communicate()
    assert [process.returncode for process in processes] == [0, 0, 0]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM opening").fetchone() == (1,)


async def test_each_opening_has_the_next_epoch(open_journal: OpenJournal) -> None:
    for epoch in (1, 2, 3):
        journal = await open_journal()
        (recorded,) = await journal.append(STREAM, epoch - 1, new_events([epoch]))
        assert recorded.envelope.writer_epoch == epoch
        await journal.close()


async def test_the_lock_is_free_again_after_a_failed_opening(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    path.write_bytes(b"not a database, certainly" * 100)
    with pytest.raises(NotAJournal):
        SqliteJournal.open(path)
    os.truncate(path, 0)
    await SqliteJournal.open(path).close()


# --- readers ----------------------------------------------------------------------------------------------------------


async def test_a_reading_process_follows_the_writer(journal: Journal, path: Path) -> None:
    await fill(journal, STREAM, 3)
    reading = SqliteJournal.open_read_only(path)
    following = asyncio.create_task(take(reading, {0: 1}, 6))
    for sequence in range(3, 7):
        await fill(journal, STREAM, 1, after=sequence)
        await asyncio.sleep(0.01)
    assert numbers(await following) == [2, 3, 4, 5, 6, 7]
    assert await reading.end() == {0: 7}
    assert await events_of(reading, STREAM) == await events_of(journal, STREAM)
    with pytest.raises(JournalClosed, match="read-only"):
        await reading.append(STREAM, 7, new_events([8]))
    await reading.close()


async def test_closing_ends_the_subscriptions(open_journal: OpenJournal, path: Path) -> None:
    journal = await open_journal()
    await fill(journal, STREAM, 1)
    reading = SqliteJournal.open_read_only(path)
    following = [asyncio.create_task(take(each, {}, 2)) for each in (journal, reading)]
    await asyncio.sleep(0.1)
    await journal.close()
    await reading.close()
    for outcome in await asyncio.gather(*following, return_exceptions=True):
        assert isinstance(outcome, JournalClosed)


async def test_an_open_reading_does_not_hold_up_the_writer(journal: Journal, path: Path) -> None:
    await fill(journal, STREAM, 600)
    reading = journal.read(STREAM)
    first = await anext(aiter(reading))
    await fill(journal, STREAM, 600, after=600)
    # The log beside the file can be taken over whole, which a reader that held a snapshot would prevent.
    with closing(sqlite3.connect(path)) as connection:
        blocked, in_log, taken_over = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    assert (blocked, in_log) == (0, taken_over)
    rest = [recorded async for recorded in reading]
    assert numbers([first, *rest]) == list(range(1, 1_201))


async def test_a_chunk_of_a_backlog_is_bounded_in_events_and_bytes(journal: Journal, path: Path) -> None:
    await fill(journal, STREAM, 1_000)
    big = [new_event(n, payload=bytes(2_000_000)) for n in range(6)]
    await journal.append(OTHER_STREAM, 0, big)
    chunks: list[list[Recorded]] = []
    with closing(sqlite3.connect(path)) as connection:
        reading = sqlite_reader.LogReading(0)
        while chunk := reading.next_chunk(connection):
            chunks.append(chunk)
    assert sum(map(len, chunks)) == 1_006
    assert max(map(len, chunks)) <= sqlite_reader.CHUNK_EVENTS
    assert max(sum(len(r.stored) for r in chunk) for chunk in chunks) < sqlite_reader.CHUNK_BYTES + 2_100_000


async def test_readers_stop_at_a_changed_event(spoilt: OpenJournal, path: Path) -> None:
    journal = await spoilt()
    await fill(journal, STREAM, 9)
    with closing(sqlite3.connect(path)) as connection:
        stored = connection.execute("SELECT stored FROM event WHERE position = 5").fetchone()[0]
        connection.execute("UPDATE event SET stored = ? WHERE position = 5", (stored.replace(b"card 5", b"card 6"),))
        connection.commit()
    for read in (events_of(journal, STREAM), take(journal, {}, 9), events_of(journal, STREAM, 4)):
        with pytest.raises(JournalDamaged, match="hash") as told:
            await read
        assert (told.value.stream, told.value.sequence) == (STREAM, 5)
    await journal.close()


async def test_g05_readers_stop_at_a_missing_event(spoilt: OpenJournal, path: Path) -> None:
    journal = await spoilt()
    await fill(journal, STREAM, 9)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM event WHERE position = 5")
        connection.commit()
    for read in (events_of(journal, STREAM), take(journal, {}, 8), take(journal, {0: 4}, 4)):
        with pytest.raises(JournalDamaged):
            await read
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM event WHERE position > 4")
        connection.commit()
    with pytest.raises(JournalDamaged, match="missing"):
        await events_of(journal, STREAM)
    await journal.close()
    with pytest.raises(JournalDamaged, match="heads"):
        SqliteJournal.open(path)


# --- limits and failures ----------------------------------------------------------------------------------------------


async def test_an_event_over_the_limit_is_refused(journal: Journal) -> None:
    with pytest.raises(EventRefused, match="limit"):
        await journal.append(STREAM, 0, [new_event(1, payload=bytes(MAX_EVENT_BYTES))])
    await journal.append(STREAM, 0, [new_event(1, payload=bytes(MAX_EVENT_BYTES - 1_024))])


async def test_a_full_queue_refuses_at_once_and_takes_more_when_it_has_drained(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_writer, "MAX_QUEUED_EVENTS", 30)
    answers = await asyncio.gather(
        *(journal.append(f"case:{n}", 0, new_events(range(10))) for n in range(40)), return_exceptions=True
    )
    refused = [answer for answer in answers if isinstance(answer, BaseException)]
    assert {type(answer) for answer in refused} == {JournalOverloaded}
    assert 0 < len(refused) < 40
    assert len(await journal.streams()) == 40 - len(refused)
    await journal.append(STREAM, 0, new_events(range(10)))


async def test_an_append_larger_than_the_queue_passes_when_it_is_alone(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_writer, "MAX_QUEUED_EVENTS", 30)
    assert len(await journal.append(STREAM, 0, new_events(range(50)))) == 50


async def test_a_full_disk_stops_the_writer_and_loses_nothing_acknowledged(
    open_journal: OpenJournal, path: Path
) -> None:
    journal = await open_journal()
    assert isinstance(journal, SqliteJournal)
    await fill(journal, STREAM, 3)
    # SQLite answers at its page limit with the very error of a full disk.
    writer = journal._writer
    assert writer is not None
    pages = writer._connection.execute("PRAGMA page_count").fetchone()[0]
    writer._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(JournalUnavailable, match="disk is full: free some space"):
        await journal.append(STREAM, 3, [new_event(4, payload=bytes(500_000))])
    for sequence in (3, 4):
        with pytest.raises(JournalUnavailable, match="must be opened again"):
            await journal.append(STREAM, sequence, new_events([4]))
    assert numbers(await events_of(journal, STREAM)) == [1, 2, 3]
    await journal.close()
    journal = await open_journal()
    await fill(journal, STREAM, 1, after=3)
    assert numbers(await events_of(journal, STREAM)) == [1, 2, 3, 4]


def test_a_disk_that_refuses_writes_ends_in_a_clear_error_and_an_intact_journal(path: Path) -> None:
    script = (
        "import asyncio, resource, signal, sys\n"
        "from services.journal.sqlite import SqliteJournal; from services.journal.errors import JournalUnavailable\n"
        "from tests.support.journal_events import STREAM, fill\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "async def main():\n"
        "    journal = SqliteJournal.open(sys.argv[1])\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))\n"
        "    done = 0\n"
        "    try:\n"
        "        while True: await fill(journal, STREAM, 50, after=done); done += 50\n"
        "    except JournalUnavailable as error: print(done, error)\n"
        "    try: await fill(journal, STREAM, 50, after=done)\n"
        "    except JournalUnavailable as error: print(error)\n"
        "    await journal.close()\n"
        "asyncio.run(main())"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, str(path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    first, second = run.stdout.splitlines()
    acknowledged = int(first.split()[0])
    assert "check the disk" in first
    assert "must be opened again" in second
    assert acknowledged > 0
    report = fsck(path)
    assert report.is_sound
    assert report.events >= acknowledged


async def test_another_programs_lock_is_named_instead_of_waited_for_endlessly(
    open_journal: OpenJournal, path: Path
) -> None:
    journal = await open_journal()
    assert isinstance(journal, SqliteJournal)
    assert journal._writer is not None
    journal._writer._connection.execute("PRAGMA busy_timeout = 50")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(JournalUnavailable, match="another program holds a lock"):
            await fill(journal, STREAM, 1)
        other.execute("ROLLBACK")


async def test_the_event_loop_goes_on_while_the_disk_is_slow(open_journal: OpenJournal, path: Path) -> None:
    journal = await open_journal()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        append = asyncio.create_task(fill(journal, STREAM, 1))
        for _ in range(200):
            await asyncio.sleep(0)
            assert await events_of(journal, STREAM) == []
        assert not append.done()
        other.execute("ROLLBACK")
    await append
    assert numbers(await events_of(journal, STREAM)) == [1]


async def test_whatever_fails_in_the_writer_nobody_waits_for_ever(
    open_journal: OpenJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = await open_journal()
    await fill(journal, STREAM, 1)

    def fail(*_: object) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr(sqlite_writer.SqliteWriter, "_write", fail)
    answers = await asyncio.gather(
        *(journal.append(f"case:{number}", 0, new_events([number])) for number in range(5)), return_exceptions=True
    )
    assert {type(answer) for answer in answers} == {JournalUnavailable}
    assert "no room" in str(answers[0])
    with pytest.raises(JournalUnavailable, match="must be opened again"):
        await fill(journal, STREAM, 1, after=1)
    assert numbers(await events_of(journal, STREAM)) == [1]


async def test_a_conflict_is_told_when_what_it_lost_against_can_be_read(journal: Journal) -> None:
    first = asyncio.create_task(fill(journal, STREAM, 3))
    await asyncio.sleep(0)
    with pytest.raises(SequenceConflict):
        await fill(journal, STREAM, 1)
    assert numbers(await events_of(journal, STREAM)) == [1, 2, 3]
    await first


async def test_what_another_program_wrote_stops_the_writer(spoilt: OpenJournal, path: Path) -> None:
    journal = await spoilt()
    await fill(journal, STREAM, 1)
    with closing(sqlite3.connect(path)) as other:
        other.execute("INSERT INTO event VALUES (2, 1, 2, x'00', x'00')")
        other.commit()
    with pytest.raises(JournalUnavailable, match="another program wrote into it"):
        await fill(journal, STREAM, 1, after=1)
    await journal.close()


# --- what is not a journal --------------------------------------------------------------------------------------------


def test_no_directory_no_file_and_a_directory(tmp_path: Path) -> None:
    with pytest.raises(NotAJournal, match="no directory"):
        SqliteJournal.open(tmp_path / "absent" / "journal.db")
    with pytest.raises(NotAJournal, match="no journal at"):
        SqliteJournal.open_read_only(tmp_path / "absent.db")
    with pytest.raises(NotAJournal, match="not a file"):
        SqliteJournal.open_read_only(tmp_path)
    with pytest.raises(JournalUnavailable):
        SqliteJournal.open(tmp_path)


@pytest.mark.parametrize("content", [b"hello " * 500, b"SQLite format 3\x00" + bytes(4_000)], ids=["text", "torn"])
def test_a_file_that_is_not_a_database(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    for opening in (SqliteJournal.open, SqliteJournal.open_read_only):
        with pytest.raises(JournalUnavailable):
            opening(path)
    assert path.read_bytes() == content, "somebody's file was changed"


def test_another_programs_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE song (title TEXT)")
    content = path.read_bytes()
    for opening in (SqliteJournal.open, SqliteJournal.open_read_only):
        with pytest.raises(NotAJournal, match="another program"):
            opening(path)
    assert path.read_bytes() == content, "somebody's database was changed"


def test_an_empty_file_is_a_journal_to_be_and_nothing_to_read(path: Path) -> None:
    path.touch()
    with pytest.raises(NotAJournal, match="empty"):
        SqliteJournal.open_read_only(path)
    asyncio.run(SqliteJournal.open(path).close())
    assert fsck(path).events == 0


def test_a_journal_of_a_future_format(path: Path) -> None:
    write_journal(path, (STREAM, 1))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 2")
    for opening in (SqliteJournal.open, SqliteJournal.open_read_only):
        with pytest.raises(JournalVersionUnsupported, match=r"format 2.*newer Holecard"):
            opening(path)


def test_an_unwritable_directory(tmp_path: Path) -> None:
    # /proc takes no new files from anybody, root included.
    with pytest.raises(JournalUnavailable, match=r"cannot write .*give this process a directory"):
        SqliteJournal.open("/proc/journal.db")
    assert list(tmp_path.iterdir()) == []


def test_a_closed_journal_on_a_read_only_disk_can_be_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_journal(path, (STREAM, 3))
    # Root may write anywhere, so the answer to "may I write here" is given by hand.
    monkeypatch.setattr(os, "access", lambda *_: False)
    before = sorted(path.parent.iterdir())

    async def read() -> list[int]:
        reading = SqliteJournal.open_read_only(path)
        events = await events_of(reading, STREAM)
        assert sorted(path.parent.iterdir()) == before, "reading left files beside the journal"
        await reading.close()
        return numbers(events)

    assert asyncio.run(read()) == [1, 2, 3]
    assert fsck(path).events == 3


# --- the log file -----------------------------------------------------------------------------------------------------


async def test_the_log_file_is_taken_over_and_used_again(journal: Journal, path: Path) -> None:
    log = Path(f"{path}-wal")
    payload = bytes(60_000)
    for sequence in range(400):
        await journal.append(STREAM, sequence, [new_event(sequence + 1, payload=payload)])
    await journal.append(STREAM, 400, new_events([401]))
    # 24 MB went through it.
    size = await asyncio.to_thread(lambda: log.stat().st_size)
    assert size < 3 * sqlite_writer.LOG_BYTES
    assert len(await events_of(journal, STREAM)) == 401


async def test_closing_leaves_one_file_and_the_lock(open_journal: OpenJournal, path: Path) -> None:
    journal = await open_journal()
    await fill(journal, STREAM, 10)
    await asyncio.gather(journal.close(), journal.close())
    left = await asyncio.to_thread(lambda: sorted(file.name for file in path.parent.iterdir()))
    assert left == ["journal.db", "journal.db.lock"]

"""Whatever is done to a stored event, the check finds it and names the event and what was done (DESIGN §4; issue 3, §3)."""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from services.game.record import field_names
from services.journal.chain import hash_of
from services.journal.errors import JournalUnavailable
from services.journal.findings import Damage, Finding
from services.journal.fsck import FsckReport, fsck
from services.journal.log_walk import LogRow, LogWalk, Note
from services.journal.port import Recorded, StreamHead
from services.wire.envelope import NO_HASH, Envelope, decode, encode
from tests.support.journal_events import OTHER_STREAM, STREAM, write_journal
from tests.support.seeds import seeded

Rows = list[LogRow]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "journal.db"
    write_journal(path, (STREAM, 9), (OTHER_STREAM, 5))
    return path


@pytest.fixture
def rows(path: Path) -> Rows:
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute(
            "SELECT position, stored, name, event.sequence, event.hash FROM event JOIN stream ON stream.id = event.stream"
            " ORDER BY position"
        )
        return [LogRow(0, offset, stored, Note(*note)) for offset, stored, *note in found]


@pytest.fixture
def heads(rows: Rows) -> list[StreamHead]:
    last: dict[str, StreamHead] = {}
    for row in rows:
        envelope = decode(row.stored)
        last[envelope.stream] = StreamHead(envelope.stream, envelope.sequence, hash_of(row.stored))
    return list(last.values())


@pytest.fixture
def change(path: Path) -> Callable[..., None]:
    """Run SQL on the journal file as somebody with an editor would."""

    def run(statement: str, arguments: tuple[object, ...] = ()) -> None:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(statement, arguments)
            connection.commit()

    return run


def walk(rows: Sequence[LogRow], heads: Sequence[StreamHead]) -> tuple[Finding, ...]:
    walk = LogWalk()
    for row in rows:
        walk.take(row)
    return walk.finish(heads)


def said(found: tuple[Finding, ...] | FsckReport) -> list[tuple[str, str, int]]:
    findings = found.findings if isinstance(found, FsckReport) else found
    assert all(finding.reason for finding in findings)
    return [(finding.kind, finding.stream, finding.sequence) for finding in findings]


def bare(rows: Sequence[LogRow]) -> Rows:
    """The same log as an adapter without notes has it."""
    return [LogRow(row.partition, row.offset, row.stored, None) for row in rows]


def index_of(rows: Sequence[LogRow], stream: str, sequence: int) -> int:
    return next(
        at for at, row in enumerate(rows) if row.note and (row.note.stream, row.note.sequence) == (stream, sequence)
    )


def rebuilt(row: LogRow, **changes: object) -> LogRow:
    """The row with fields of its envelope changed and every note made to fit: the work of somebody who knows the format."""
    old = decode(row.stored)
    fields = {name: getattr(old, name) for name in field_names(Envelope)} | changes
    new = Envelope(**fields)
    stored = encode(new)
    return LogRow(row.partition, row.offset, stored, Note(new.stream, new.sequence, hash_of(stored)))


# --- every byte -------------------------------------------------------------------------------------------------------


def test_an_untouched_journal_is_sound(path: Path, rows: Rows, heads: list[StreamHead]) -> None:
    report = fsck(path)
    assert (report.is_sound, report.events, report.streams) == (True, 14, 2)
    assert walk(rows, heads) == walk(bare(rows), heads) == ()


@pytest.mark.parametrize("flip", [0x01, 0x80, 0xFF], ids=hex)
def test_every_flipped_byte_of_every_event_is_found_and_named(rows: Rows, heads: list[StreamHead], flip: int) -> None:
    flipped = 0
    for at, row in enumerate(rows):
        assert row.note is not None
        for place in range(len(row.stored)):
            stored = bytearray(row.stored)
            stored[place] ^= flip
            changed = [*rows[:at], LogRow(0, row.offset, bytes(stored), row.note), *rows[at + 1 :]]
            assert said(walk(changed, heads)) == [(Damage.EDITED, row.note.stream, row.note.sequence)], (at, place)
            flipped += 1
    assert flipped == sum(len(row.stored) for row in rows)
    assert flipped > 2_500


def test_every_flipped_byte_is_found_by_the_chain_alone(rows: Rows, heads: list[StreamHead]) -> None:
    for at, row in enumerate(rows):
        for place in range(len(row.stored)):
            stored = bytearray(row.stored)
            stored[place] ^= 0x01
            changed = bare([*rows[:at], LogRow(0, row.offset, bytes(stored), None), *rows[at + 1 :]])
            assert walk(changed, heads), (at, place)


def test_every_flipped_byte_of_the_events_in_the_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "small.db"
    write_journal(path, (STREAM, 4), (OTHER_STREAM, 1))
    content = bytearray(path.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        blobs = connection.execute(
            "SELECT stored, name, event.sequence FROM event JOIN stream ON stream.id = stream"
        ).fetchall()
    flipped = 0
    with path.open("r+b", buffering=0) as file:
        for stored, stream, sequence in blobs:
            start = content.find(stored)
            assert start > 0
            assert content.find(stored, start + 1) < 0
            for place in range(start, start + len(stored)):
                file.seek(place)
                file.write(bytes([content[place] ^ 0xFF]))
                assert said(fsck(path)) == [(Damage.EDITED, stream, sequence)], place
                file.seek(place)
                file.write(content[place : place + 1])
                flipped += 1
    assert flipped > 1_000
    assert fsck(path).is_sound


# --- edited -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sequence", [1, 2, 5, 8, 9])
def test_an_edit_that_makes_every_note_fit_is_still_found(rows: Rows, heads: list[StreamHead], sequence: int) -> None:
    at = index_of(rows, STREAM, sequence)
    rows[at] = rebuilt(rows[at], payload=b"card 11")
    assert said(walk(rows, heads)) == [(Damage.EDITED, STREAM, sequence)]
    assert said(walk(bare(rows), heads)) == [(Damage.EDITED, STREAM, sequence)]


def test_a_forged_link_is_blamed_on_the_event_that_carries_it(rows: Rows, heads: list[StreamHead]) -> None:
    for sequence in (3, 9):
        changed = list(rows)
        at = index_of(rows, STREAM, sequence)
        changed[at] = rebuilt(rows[at], previous_hash=b"\x07" * 32)
        assert said(walk(changed, heads)) == [(Damage.EDITED, STREAM, sequence)]


def test_several_edits_are_each_named(rows: Rows, heads: list[StreamHead]) -> None:
    for stream, sequence in ((STREAM, 2), (STREAM, 3), (STREAM, 7), (OTHER_STREAM, 5)):
        at = index_of(rows, stream, sequence)
        row = rows[at]
        rows[at] = LogRow(0, row.offset, row.stored[:-1] + b"!", row.note)
    assert said(walk(rows, heads)) == [
        (Damage.EDITED, OTHER_STREAM, 5),
        (Damage.EDITED, STREAM, 2),
        (Damage.EDITED, STREAM, 3),
        (Damage.EDITED, STREAM, 7),
    ]


def test_bytes_that_were_stored_as_garbage_are_unreadable_not_edited(rows: Rows, heads: list[StreamHead]) -> None:
    at = index_of(rows, OTHER_STREAM, 5)
    garbage = b"\xff garbage"
    rows[at] = LogRow(0, rows[at].offset, garbage, Note(OTHER_STREAM, 5, hash_of(garbage)))
    heads = [head if head.stream == STREAM else StreamHead(OTHER_STREAM, 5, hash_of(garbage)) for head in heads]
    assert said(walk(rows, heads)) == [(Damage.UNREADABLE, OTHER_STREAM, 5)]


# --- missing, truncated -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sequence", [1, 2, 8])
def test_a_missing_event_is_named(path: Path, change: Callable[..., None], sequence: int) -> None:
    change(
        "DELETE FROM event WHERE sequence = ? AND stream = (SELECT id FROM stream WHERE name = ?)", (sequence, STREAM)
    )
    assert said(fsck(path)) == [(Damage.MISSING, STREAM, sequence)]


def test_a_run_of_missing_events_is_one_finding(path: Path, change: Callable[..., None]) -> None:
    change(
        "DELETE FROM event WHERE sequence BETWEEN 3 AND 6 AND stream = (SELECT id FROM stream WHERE name = ?)",
        (STREAM,),
    )
    (finding,) = fsck(path).findings
    assert (finding.kind, finding.sequence) == (Damage.MISSING, 3)
    assert "to 6 are missing" in finding.reason


def test_missing_events_are_found_even_when_rows_are_closed_up(rows: Rows, heads: list[StreamHead]) -> None:
    del rows[index_of(rows, STREAM, 4)]
    closed_up = [LogRow(0, offset, row.stored, row.note) for offset, row in enumerate(rows, 1)]
    assert said(walk(closed_up, heads)) == [(Damage.MISSING, STREAM, 4)]


def test_g11_a_dropped_tail_is_caught_by_the_recorded_heads(path: Path, change: Callable[..., None]) -> None:
    change("DELETE FROM event WHERE position > 4")
    assert said(fsck(path)) == [(Damage.TRUNCATED, OTHER_STREAM, 3), (Damage.TRUNCATED, STREAM, 3)]


def test_g11_a_stream_dropped_with_its_head_leaves_a_hole_in_the_log(path: Path, change: Callable[..., None]) -> None:
    change("DELETE FROM event WHERE stream = (SELECT id FROM stream WHERE name = ?)", (OTHER_STREAM,))
    assert said(fsck(path)) == [(Damage.TRUNCATED, OTHER_STREAM, 1)]
    change("DELETE FROM stream WHERE name = ?", (OTHER_STREAM,))
    (finding,) = fsck(path).findings
    assert (finding.kind, finding.stream) == (Damage.MISSING, "")
    assert "offset 2, offset 4, offset 6" in finding.reason


# --- swapped ----------------------------------------------------------------------------------------------------------


def test_two_events_swapped_in_the_log_are_named(path: Path, change: Callable[..., None], rows: Rows) -> None:
    first, second = rows[index_of(rows, STREAM, 3)].offset, rows[index_of(rows, STREAM, 7)].offset
    for before, after in ((first, 99), (second, first), (99, second)):
        change("UPDATE event SET position = ? WHERE position = ?", (after, before))
    assert said(fsck(path)) == [(Damage.SWAPPED, STREAM, 3), (Damage.SWAPPED, STREAM, 7)]


@pytest.mark.parametrize(
    ("a", "b"), [((STREAM, 3), (STREAM, 4)), ((STREAM, 1), (STREAM, 9)), ((STREAM, 2), (OTHER_STREAM, 2))]
)
@pytest.mark.parametrize("with_hash", [False, True])
def test_bytes_swapped_between_two_rows_are_named(
    path: Path, rows: Rows, change: Callable[..., None], a: tuple[str, int], b: tuple[str, int], with_hash: bool
) -> None:
    row_a, row_b = rows[index_of(rows, *a)], rows[index_of(rows, *b)]
    for target, source in ((row_a, row_b), (row_b, row_a)):
        change("UPDATE event SET stored = ? WHERE position = ?", (source.stored, target.offset))
        if with_hash:
            change("UPDATE event SET hash = ? WHERE position = ?", (hash_of(source.stored), target.offset))
    assert said(fsck(path)) == sorted([(Damage.SWAPPED, *a), (Damage.SWAPPED, *b)], key=lambda one: one[1:])


# --- duplicated, forked -----------------------------------------------------------------------------------------------


def test_an_event_that_is_there_twice_is_named(path: Path, rows: Rows, change: Callable[..., None]) -> None:
    change("DROP INDEX event_of_stream")
    row = rows[index_of(rows, STREAM, 4)]
    change("INSERT INTO event SELECT 15, stream, sequence, hash, stored FROM event WHERE position = ?", (row.offset,))
    assert said(fsck(path)) == [(Damage.DUPLICATED, STREAM, 4)]


def test_an_event_filed_again_as_the_next_one_is_a_duplicate(
    path: Path, rows: Rows, change: Callable[..., None]
) -> None:
    row = rows[index_of(rows, STREAM, 4)]
    change("INSERT INTO event SELECT 15, stream, 10, hash, stored FROM event WHERE position = ?", (row.offset,))
    assert said(fsck(path)) == [(Damage.DUPLICATED, STREAM, 4)]


def test_bytes_copied_over_another_event_are_a_duplicate_in_its_place(
    path: Path, rows: Rows, change: Callable[..., None]
) -> None:
    source, target = rows[index_of(rows, STREAM, 4)], rows[index_of(rows, STREAM, 6)]
    change("UPDATE event SET stored = ? WHERE position = ?", (source.stored, target.offset))
    assert said(fsck(path)) == [(Damage.DUPLICATED, STREAM, 6)]


@pytest.mark.parametrize("sequence", [1, 4, 9])
@pytest.mark.parametrize("first", [False, True], ids=["after", "before"])
def test_g09_two_events_with_one_sequence_are_a_fork(
    rows: Rows, heads: list[StreamHead], sequence: int, first: bool
) -> None:
    at = index_of(rows, STREAM, sequence)
    fork = rebuilt(rows[at], payload=b"what the second writer saw")
    rows.insert(at if first else at + 1, fork)
    rows = [LogRow(0, offset, row.stored, row.note) for offset, row in enumerate(rows, 1)]
    assert said(walk(rows, heads)) == [(Damage.FORKED, STREAM, sequence)]
    assert said(walk(bare(rows), heads)) == [(Damage.FORKED, STREAM, sequence)]


def test_g09_a_second_history_is_a_fork_event_by_event(rows: Rows, heads: list[StreamHead]) -> None:
    previous = hash_of(rows[index_of(rows, STREAM, 6)].stored)
    for sequence in (7, 8, 9):
        row = rows[index_of(rows, STREAM, sequence)]
        fork = rebuilt(row, payload=b"the other history", previous_hash=previous)
        previous = hash_of(fork.stored)
        rows.append(LogRow(0, len(rows) + 1, fork.stored, fork.note))
    assert said(walk(rows, heads)) == [
        (Damage.FORKED, STREAM, 7),
        (Damage.FORKED, STREAM, 8),
        (Damage.FORKED, STREAM, 9),
    ]


def test_g09_same_microsecond_is_no_fork(path: Path) -> None:
    # ManualClock stands still: all events of this journal were recorded in the same microsecond.
    assert fsck(path).is_sound


# --- notes, heads, file -----------------------------------------------------------------------------------------------


def test_wrong_notes_beside_a_whole_event_are_told_from_an_edit(
    path: Path, change: Callable[..., None], rows: Rows
) -> None:
    middle, last = rows[index_of(rows, STREAM, 4)].offset, rows[index_of(rows, STREAM, 9)].offset
    change("UPDATE event SET hash = zeroblob(32) WHERE position IN (?, ?)", (middle, last))
    assert said(fsck(path)) == [(Damage.INDEX, STREAM, 4), (Damage.INDEX, STREAM, 9)]


def test_an_event_filed_under_another_stream_is_named(path: Path, change: Callable[..., None], rows: Rows) -> None:
    offset = rows[index_of(rows, STREAM, 9)].offset
    change(
        "UPDATE event SET stream = (SELECT id FROM stream WHERE name = ?) WHERE position = ?", (OTHER_STREAM, offset)
    )
    (finding,) = fsck(path).findings
    assert (finding.kind, finding.stream, finding.sequence) == (Damage.INDEX, STREAM, 9)
    assert f"filed as {OTHER_STREAM} 9" in finding.reason


def test_wrong_heads_are_named(path: Path, change: Callable[..., None]) -> None:
    change("UPDATE stream SET sequence = 8 WHERE name = ?", (STREAM,))
    assert said(fsck(path)) == [(Damage.INDEX, STREAM, 9)]
    change("UPDATE stream SET sequence = 9, hash = zeroblob(32) WHERE name = ?", (STREAM,))
    assert said(fsck(path)) == [(Damage.EDITED, STREAM, 9)]


def test_an_index_that_hides_an_event_is_named(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'event_of_stream'").fetchone()[0]
        size = connection.execute("PRAGMA page_size").fetchone()[0]
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        page = bytearray(file.read(size))
        page[3:5] = (int.from_bytes(page[3:5], "big") - 1).to_bytes(2, "big")
        file.seek((root - 1) * size)
        file.write(page)
    findings = fsck(path).findings
    assert findings
    assert {finding.kind for finding in findings} == {Damage.FILE}


@pytest.mark.parametrize("keep", [1, 2, 3, 5, -1], ids=lambda pages: f"{pages} pages")
def test_a_torn_file_is_reported_not_raised(path: Path, keep: int) -> None:
    pages = path.stat().st_size // 4096
    with path.open("r+b") as file:
        file.truncate((keep if keep > 0 else pages + keep) * 4096)
    assert Damage.FILE in {finding.kind for finding in fsck(path).findings}


def test_bytes_written_over_anywhere_in_the_file_never_pass_nor_crash_the_check(path: Path) -> None:
    rng = seeded("tests/integration/test_journal_fsck.py -k written_over")
    content = path.read_bytes()
    with closing(sqlite3.connect(path)) as connection:
        truth = connection.execute(_EVERYTHING).fetchall()
    for _ in range(300):
        at, junk = rng.randrange(100, len(content)), rng.randbytes(rng.choice([1, 8, 64]))
        path.write_bytes((content[:at] + junk + content[at + len(junk) :])[: len(content)])
        try:
            sound = fsck(path).is_sound
        except JournalUnavailable:
            continue
        if sound:
            # Unused bytes of a page may hold anything: then every row must read as it was written.
            with closing(sqlite3.connect(path)) as connection:
                assert connection.execute(_EVERYTHING).fetchall() == truth, at


_EVERYTHING = (
    "SELECT position, stored, event.hash, event.sequence, name, stream.sequence, stream.hash"
    " FROM event JOIN stream ON stream.id = stream ORDER BY position"
)


# --- random damage, and riders ----------------------------------------------------------------------------------------


def test_random_damage_is_always_found(rows: Rows, heads: list[StreamHead]) -> None:
    rng = seeded("tests/integration/test_journal_fsck.py -k random_damage")
    for _ in range(400):
        changed = list(rows)
        for _ in range(rng.randint(1, 3)):
            a, b = rng.randrange(len(changed)), rng.randrange(len(changed))
            match rng.choice(["delete", "swap", "repeat", "edit", "cut"]):
                case "delete" if len(changed) > 1:
                    del changed[a]
                case "swap":
                    changed[a], changed[b] = changed[b], changed[a]
                case "repeat":
                    changed.insert(b, changed[a])
                case "edit":
                    changed[a] = LogRow(0, 0, changed[a].stored[:-1] + rng.randbytes(1), changed[a].note)
                case "cut":
                    changed = changed[: max(1, b)]
        for strip in (list, bare):
            log = [LogRow(0, offset, row.stored, row.note) for offset, row in enumerate(strip(changed), 1)]
            by_stream = [[r.stored for r in log if decode_stream(r) == stream] for stream in (STREAM, OTHER_STREAM)]
            as_written = [[r.stored for r in rows if decode_stream(r) == stream] for stream in (STREAM, OTHER_STREAM)]
            assert bool(walk(log, heads)) == (by_stream != as_written)


def decode_stream(row: LogRow) -> str:
    return STREAM if STREAM.encode() in row.stored[:40] else OTHER_STREAM


def test_observers_see_every_event_once_and_speak_only_for_a_sound_journal(
    path: Path, change: Callable[..., None]
) -> None:
    class Counting:
        def __init__(self) -> None:
            self.seen: list[tuple[int, str]] = []

        def see(self, recorded: Recorded) -> None:
            self.seen.append((recorded.position.offset, recorded.envelope.stream))

        def findings(self) -> list[Finding]:
            return [Finding("L3", STREAM, 4, "a card in two hands")]

    observer = Counting()
    report = fsck(path, [observer])
    assert [offset for offset, _ in observer.seen] == list(range(1, 15))
    assert said(report) == [("L3", STREAM, 4)]
    change("DELETE FROM event WHERE position = 2")
    assert said(fsck(path, [Counting()])) == [(Damage.MISSING, OTHER_STREAM, 1)]


def test_the_first_event_must_carry_no_hash(rows: Rows) -> None:
    assert decode(rows[0].stored).previous_hash == NO_HASH

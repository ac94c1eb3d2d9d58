"""A state resumed from its snapshot is what folding every event gives, in every room; a wrong one costs only time."""

import dataclasses
import os
import pickle
from collections.abc import AsyncIterator, Callable
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from services.game.cards import Card
from services.journal.port import Recorded
from services.journal.snapshot_file import read_snapshot, write_snapshot
from services.journal.sqlite import SqliteJournal
from services.runtime.aggregate import AggregateHost, Outcome
from services.runtime.entropy import SystemEntropy
from services.runtime.folding import Folded, Folding
from services.runtime.sealing import AesGcmSealer
from services.runtime.snapshots import StateSnapshots, is_due
from services.runtime.state_codec import StateUnreadable
from services.runtime.state_codec import decode_state as decode
from services.runtime.state_codec import encode_state as encode
from services.shoe.service import ShoeService
from services.table.service import TableService
from services.wager.service import WagerService
from services.wire.state_snapshot import RequestPart, StateSnapshot, decode_state, encode_state
from tests.integration.test_aggregate_host import DECIDER, KEY, context, note
from tests.support.hosted import hosted, play_rounds
from tests.support.seeds import seeded

HERE = "tests/integration/test_state_snapshots.py"


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[SqliteJournal]:
    opened = SqliteJournal.open(tmp_path / "journal.db")
    yield opened
    await opened.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "snapshots"


def sequences(outcome: Outcome[Any, Any]) -> tuple[int, int, int]:
    return outcome.first_sequence, outcome.last_sequence, len(outcome.state)


async def lived(journal: SqliteJournal, folder: Path, count: int = 30) -> list[tuple[int, int, int]]:
    """One life of the smallest host, with its snapshots cut at the end."""
    snapshots = StateSnapshots(folder)
    host = AggregateHost(journal, DECIDER, snapshots)
    answers = [await host.execute(KEY, note(n), context(f"r{n}"), sequences) for n in range(count)]
    await snapshots.close()
    return answers


def the_file(folder: Path) -> Path:
    (path,) = folder.rglob("*.snapshot")
    return path


def test_a_state_is_cut_now_and_then_and_after_many_events_at_once() -> None:
    assert [is_due(*since) for since in ((249, 1e9), (250, 29.0), (250, 30.0), (999, 0.0), (1_000, 0.0))] == [
        False, False, True, False, True,
    ]  # fmt: skip


async def test_a_restart_reads_on_from_the_snapshot_and_answers_as_before(
    journal: SqliteJournal, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = await lived(journal, folder)
    folded: list[Recorded] = []
    take = Folding.take

    def counted(folding: Folding[Any], recorded: Recorded) -> bool:
        folded.append(recorded)
        return take(folding, recorded)

    monkeypatch.setattr(Folding, "take", counted)
    snapshots = StateSnapshots(folder)
    host = AggregateHost(journal, DECIDER, snapshots)
    assert await host.state(KEY) == note(*range(30))
    assert len(folded) == 1, "only the snapshot's own last event is read"
    assert [await host.execute(KEY, note(n), context(f"r{n}"), sequences) for n in range(30)] == answers
    assert await host.execute(KEY, note(30), context("r30"), sequences) == (31, 31, 31)
    await snapshots.close()


async def test_states_are_cut_by_volume_while_commands_run(
    journal: SqliteJournal, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.runtime.snapshots.CUT_EVENTS_MOST", 10)
    snapshots = StateSnapshots(folder)
    host = AggregateHost(journal, DECIDER, snapshots)
    for number in range(25):
        await host.execute(KEY, note(number), context(f"r{number}"), sequences)
    assert host._entries[KEY].cut_sequence == 20
    # An outcome after the snapshot is folded from it, one before it from the beginning.
    host._entries[KEY].outcomes.clear()
    assert await host.execute(KEY, note(22), context("r22"), sequences) == (23, 23, 23)
    assert await host.execute(KEY, note(3), context("r3"), sequences) == (4, 4, 4)
    snapshots._thread.shutdown()
    assert decode_state(read_snapshot(the_file(folder))).sequence == 20


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def _changed(path: Path, **changes: Any) -> None:
    kept = decode_state(read_snapshot(path))
    write_snapshot(path, encode_state(dataclasses.replace(kept, **changes)))


PASSED = "a state's snapshot is passed over, the log is folded instead"
DOUBTED = "a state's snapshot is not of this log, which is folded from its beginning"
SPOILT: dict[str, tuple[Callable[[Path], object], str]] = {
    "deleted": (lambda path: path.unlink(), ""),
    "damaged": (_flip, PASSED),
    "newer": (lambda path: write_snapshot(path, b"\x08\x02" + read_snapshot(path)[2:]), PASSED),
    "another build's": (lambda path: _changed(path, code=bytes(32)), PASSED),
    "another stream's": (lambda path: _changed(path, stream="table:else/where"), PASSED),
    "no state": (lambda path: _changed(path, state=b"garbage"), PASSED),
    "another kind of state": (lambda path: _changed(path, state=encode({})), PASSED),
    "of another log": (lambda path: _changed(path, hash=sha256(b"other").digest()), DOUBTED),
    "beyond the log": (lambda path: _changed(path, sequence=31), DOUBTED),
    "of an earlier event": (lambda path: _changed(path, sequence=29), DOUBTED),
}


@pytest.mark.parametrize("how", SPOILT)
async def test_a_snapshot_that_cannot_be_used_costs_time_and_says_so(
    journal: SqliteJournal, folder: Path, how: str
) -> None:
    answers = await lived(journal, folder)
    spoil, said = SPOILT[how]
    spoil(the_file(folder))
    snapshots = StateSnapshots(folder)
    host = AggregateHost(journal, DECIDER, snapshots)
    with capture_logs() as lines:
        assert await host.state(KEY) == note(*range(30))
    assert [line["event"] for line in lines] == ([said] if said else [])
    assert [await host.execute(KEY, note(n), context(f"r{n}"), sequences) for n in range(30)] == answers
    await snapshots.close()


async def test_a_snapshot_whose_journal_was_put_back_to_an_older_copy_is_not_used(tmp_path: Path, folder: Path) -> None:
    for name, count in (("longer.db", 20), ("shorter.db", 5)):
        journal = SqliteJournal.open(tmp_path / name)
        if name == "longer.db":
            await lived(journal, folder, count)
        else:
            await AggregateHost(journal, DECIDER).execute(KEY, note(7), context("other"), sequences)
            host = AggregateHost(journal, DECIDER, StateSnapshots(folder))
            with capture_logs() as lines:
                assert await host.state(KEY) == note(7)
            assert [line["event"] for line in lines] == [DOUBTED]
        await journal.close()


async def test_a_folder_that_cannot_be_used_only_costs_time(journal: SqliteJournal, tmp_path: Path) -> None:
    with capture_logs() as lines:
        await lived(journal, tmp_path / "journal.db", 3)
    assert [line["event"] for line in lines] == [PASSED, "a state's snapshot cannot be cut"]


# --- every room ----------------------------------------------------------------------------------------------------------


def hosts_of(journal: SqliteJournal, snapshots: StateSnapshots | None) -> dict[str, AggregateHost[Any, Any, Any]]:
    """The rooms' own hosts by area, with nobody around them."""
    nobody: Any = None
    sealer = AesGcmSealer(bytes(32), SystemEntropy())
    return {
        "shoe": ShoeService(journal, sealer, SystemEntropy(), snapshots=snapshots)._host,
        "table": TableService(journal, nobody, nobody, clock=nobody, snapshots=snapshots)._host,
        "wager": WagerService(journal, snapshots=snapshots)._host,
    }


async def memory_of(host: AggregateHost[Any, Any, Any], key: str) -> tuple[object, ...]:
    await host.state(key)
    entry = host._entries[key]
    return entry.state, entry.sequence, entry.requests


async def test_every_rooms_state_is_the_same_from_any_snapshot_as_from_the_whole_log(tmp_path: Path) -> None:
    random_ = seeded(f"{HERE}::test_every_rooms_state_is_the_same_from_any_snapshot_as_from_the_whole_log")
    async with hosted(tmp_path) as house:
        await play_rounds(house, 12, tables=2, seed=random_.randrange(10**6))
    data = tmp_path / "data"
    assert len(list((data / "snapshots").rglob("*.snapshot"))) == 6
    journal = SqliteJournal.open(data / "journal.db")
    snapshots = StateSnapshots(data / "snapshots")
    whole, kept = hosts_of(journal, None), hosts_of(journal, snapshots)
    for head in await journal.streams():
        area, _, key = head.stream.partition(":")
        expected = await memory_of(whole[area], key)
        with capture_logs() as lines:
            assert await memory_of(kept[area], key) == expected
        assert not lines
        assert kept[area]._entries[key].cut_sequence == head.sequence
        for at in random_.sample(range(1, head.sequence + 1), 5):
            cut = await _cut_at(whole[area], key, at)
            folding = await whole[area]._folded(head.stream, whole[area]._folding(key, cut))
            assert (folding.state, folding.sequence, folding.requests) == expected
    await snapshots.close()
    await journal.close()


async def _cut_at(host: AggregateHost[Any, Any, Any], key: str, sequence: int) -> Any:
    """A snapshot of the state at that sequence, through its bytes."""
    folding = host._folding(key, None)
    async for recorded in host.journal.read(f"{host.decider.area}:{key}"):
        folding.take(recorded)
        if recorded.envelope.sequence == sequence:
            break
    assert folding.last is not None
    state = decode(encode(folding.state), host.decider.area)
    assert state == folding.state
    requests = tuple(
        RequestPart(name, one.digest, one.first_sequence, one.last_sequence) for name, one in folding.requests.items()
    )
    bare = StateSnapshot(bytes(32), f"{host.decider.area}:{key}", sequence, folding.last.hash, requests, b"")
    assert decode_state(encode_state(bare)) == bare
    return Folded(bare.stream, sequence, bare.hash, state, bare.requests)


@pytest.mark.parametrize("with_snapshots", [True, False])
async def test_streams_taken_up_together_are_as_those_that_are_loaded_one_by_one(
    tmp_path: Path, with_snapshots: bool
) -> None:
    async with hosted(tmp_path) as house:
        await play_rounds(house, 6, tables=3)
    data = tmp_path / "data"
    journal = SqliteJournal.open(data / "journal.db")
    snapshots = StateSnapshots(data / "snapshots") if with_snapshots else None
    alone, together = hosts_of(journal, None), hosts_of(journal, snapshots)
    heads = await journal.streams()
    if snapshots is not None:
        # Two tables' snapshots are of an earlier event, one's says what is not so; a third has everything.
        for at, path in enumerate(sorted((data / "snapshots" / "table").iterdir())):
            key = decode_state(read_snapshot(path)).stream.removeprefix("table:")
            cut = await _cut_at(alone["table"], key, 5 + at)
            if at < 2:
                _changed(
                    path, sequence=cut.sequence, hash=cut.hash if at else bytes(range(32)), state=encode(cut.state)
                )
                _with_requests(path, cut)
    async with together["table"].turn(heads[-1].stream.partition(":")[2]):
        for host in together.values():
            await host.take_up(heads)
    loaded = {area: sum(entry.state is not None for entry in host._entries.values()) for area, host in together.items()}
    assert loaded == ({"shoe": 0, "table": 2, "wager": 0} if with_snapshots else {"shoe": 3, "table": 3, "wager": 3})
    for head in heads:
        area, _, key = head.stream.partition(":")
        assert await memory_of(together[area], key) == await memory_of(alone[area], key)
        assert not together[area]._entries[key].lock.locked()
    await journal.close()


def _with_requests(path: Path, cut: Folded[Any]) -> None:
    _changed(path, requests=cut.requests)


async def test_a_house_started_again_plays_on_from_its_snapshots(tmp_path: Path) -> None:
    async with hosted(tmp_path) as house:
        await play_rounds(house, 4)
    with capture_logs() as lines:
        async with hosted(tmp_path) as house:
            await play_rounds(house, 4, seed=2)
            read = house.house.telemetry.registry.get_sample_value(
                "holecard_journal_replayed_events_total", {"area": "wager"}
            )
    assert not [line for line in lines if "snapshot" in line["event"]]
    assert read is not None
    assert read < 10, "hardly more than the one event that the snapshot ends with"


# --- the codec -----------------------------------------------------------------------------------------------------------


class _Acts:
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.system, ("true",)


@pytest.mark.parametrize(
    "data",
    [
        pickle.dumps(_Acts()),
        pickle.dumps(print),
        pickle.dumps(Path("/")),
        b"cservices.wager.service\nWagerService\n.",
        b"cservices.game.cards\nstandard_deck\n.",
        b"cservices.cli.serve\nserve\n.",
        b"cservices.game.quick\nreplace\n.",
        b"",
        b"\x80\x05.",
    ],
)
def test_a_state_that_asks_for_anything_but_records_is_refused_before_it_is_made(data: bytes) -> None:
    with pytest.raises(StateUnreadable):
        decode(data, "wager")


def test_cards_and_fractions_come_back_as_themselves() -> None:
    state = (Card.parse("As"), Fraction(3, 2), {"a": frozenset({1})})
    again = decode(encode(state), "table")
    assert again == state
    assert again[0] is Card.parse("As")

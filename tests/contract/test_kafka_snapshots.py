"""A Kafka journal with a data folder: its snapshots save reading and nothing else; its cluster is told apart from others."""

import dataclasses
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from services.journal.errors import JournalUnavailable
from services.journal.kafka_identity import WrongCluster
from services.journal.kafka_journal import Claimant, KafkaJournal, PartitionStatus
from services.journal.kafka_layout import Layout
from services.journal.kafka_topics import create
from services.journal.snapshot_file import read_snapshot, write_snapshot
from services.wire.partition_snapshot import PartitionSnapshot, decode_snapshot, encode_snapshot
from tests.contract.journal_suite import events_of
from tests.support.journal_events import OTHER_STREAM, STREAM, fill
from tests.support.kafka_broker import Broker, new_layout, shared_broker

pytestmark = pytest.mark.xdist_group("kafka")

Open = Callable[[], Awaitable[KafkaJournal]]


@pytest.fixture
def broker() -> Broker:
    return shared_broker()


@pytest.fixture
def layout(broker: Broker) -> Layout:
    return new_layout(broker.cluster, one_topic=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kafka"


@pytest.fixture
async def open_it(broker: Broker, layout: Layout, folder: Path) -> AsyncIterator[Open]:
    opened: list[KafkaJournal] = []

    async def open_one() -> KafkaJournal:
        journal = await KafkaJournal.open(broker.cluster, layout, Claimant("one"), folder=folder)
        opened.append(journal)
        return journal

    yield open_one
    for journal in opened:
        await journal.close()


def status(journal: KafkaJournal) -> PartitionStatus:
    (partition,) = journal.partitions()
    return partition


def the_file(folder: Path) -> Path:
    (path,) = (folder / "partitions").iterdir()
    return path


async def played(open_it: Open, events: int = 30) -> None:
    journal = await open_it()
    for sequence in range(0, events, 3):
        await fill(journal, STREAM, 3, after=sequence)
    await fill(journal, OTHER_STREAM, 2)
    await journal.close()


async def test_a_start_reads_only_what_came_after_the_snapshot(open_it: Open, folder: Path) -> None:
    await played(open_it)
    journal = await open_it()
    assert status(journal).events_read == 0
    assert status(journal).counts.events == 32
    age = status(journal).snapshot_age_seconds
    assert age is not None
    assert age >= 0
    assert [event.envelope.sequence for event in await events_of(journal, STREAM)] == list(range(1, 31))
    await fill(journal, STREAM, 4, after=30)
    older = the_file(folder).read_bytes()
    await journal.close()
    the_file(folder).write_bytes(older)
    again = await open_it()
    assert status(again).events_read == 4
    assert len(await events_of(again, STREAM)) == 34


async def test_without_a_folder_or_a_snapshot_everything_is_read(open_it: Open, broker: Broker, layout: Layout) -> None:
    await played(open_it)
    reader = await KafkaJournal.open_read_only(broker.cluster, layout)
    assert len(await events_of(reader, STREAM)) == 30
    assert status(reader).events_read == 32
    assert status(reader).snapshot_age_seconds is None
    await reader.close()


def _changed(path: Path, change: Callable[[PartitionSnapshot], PartitionSnapshot]) -> None:
    write_snapshot(path, encode_snapshot(change(decode_snapshot(read_snapshot(path)))))


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def _newer(path: Path) -> None:
    content = read_snapshot(path)
    assert content[:2] == b"\x08\x01"
    write_snapshot(path, b"\x08\x02" + content[2:])


def _of(path: Path, **origin: object) -> None:
    _changed(path, lambda s: dataclasses.replace(s, origin=dataclasses.replace(s.origin, **origin)))  # type: ignore[arg-type]


SPOILT: dict[str, tuple[Callable[[Path], object], str]] = {
    "deleted": (lambda path: path.unlink(), ""),
    "damaged": (_flip, "it is damaged: its digest is another"),
    "empty": (lambda path: path.write_bytes(b""), "it is no snapshot, or one of another Holecard"),
    "cut short": (lambda path: path.write_bytes(path.read_bytes()[:-7]), "it is damaged"),
    "newer": (_newer, "it has version 2, this Holecard reads 1"),
    "another build's": (lambda path: _of(path, code=bytes(32)), "another build cut it"),
    "another cluster's": (lambda path: _of(path, cluster_id="other"), "it is of cluster other"),
    "another partition's": (lambda path: _of(path, partition=3), "it is of"),
    "another topic's": (lambda path: _of(path, topic_id="other"), "was made anew since it was cut"),
}


@pytest.mark.parametrize("how", SPOILT)
async def test_a_snapshot_that_cannot_be_used_costs_time_and_says_so(open_it: Open, folder: Path, how: str) -> None:
    await played(open_it)
    spoil, reason = SPOILT[how]
    spoil(the_file(folder))
    with capture_logs() as lines:
        journal = await open_it()
    said = [line for line in lines if line["event"] == "a snapshot is passed over, the log is read instead"]
    assert [reason in line["reason"] for line in said] == ([True] if reason else [])
    assert status(journal).events_read == 32
    assert len(await events_of(journal, STREAM)) == 30
    await journal.close()
    assert status(await open_it()).events_read == 0


def _with_head(snapshot: PartitionSnapshot, forged: bytes) -> PartitionSnapshot:
    streams = [
        dataclasses.replace(part, hash=forged, prefixes=part.prefixes[:-8] + forged[:8])
        if part.name == STREAM
        else part
        for part in snapshot.streams
    ]
    return dataclasses.replace(snapshot, streams=tuple(streams))


async def test_a_forged_snapshot_is_found_out_by_the_log_before_anything_is_written_on_it(
    open_it: Open, folder: Path
) -> None:
    await played(open_it)
    path = the_file(folder)
    _changed(path, lambda snapshot: _with_head(snapshot, bytes(range(32))))
    journal = await open_it()
    with (
        capture_logs() as lines,
        pytest.raises(JournalUnavailable, match="is read anew, because its snapshot was wrong"),
    ):
        await events_of(journal, STREAM)
    assert [line["event"] for line in lines] == ["a snapshot is not of this log, which is read from its beginning"]
    assert not path.exists()
    assert len(await events_of(journal, STREAM)) == 30
    # The partition was this process's and is so again: what it writes now stands on the log.
    await fill(journal, STREAM, 2, after=30)
    assert len(await events_of(journal, STREAM)) == 32
    assert not status(journal).stopped
    await journal.close()
    assert len(await events_of(await open_it(), STREAM)) == 32


async def test_a_snapshot_that_ends_in_another_record_is_found_out_at_once(open_it: Open, folder: Path) -> None:
    await played(open_it)
    _changed(the_file(folder), lambda snapshot: dataclasses.replace(snapshot, last_value_hash=bytes(range(32))))
    with capture_logs() as lines:
        journal = await open_it()
    assert "is not the one it ends with" in lines[0]["reason"]
    assert len(await events_of(journal, STREAM)) == 30


async def test_another_cluster_at_the_same_address_is_refused(
    open_it: Open, broker: Broker, layout: Layout, folder: Path
) -> None:
    await played(open_it)
    known = folder / "cluster.json"
    before = known.read_text()
    known.write_text(before.replace('"cluster_id": "', '"cluster_id": "other-'))
    with pytest.raises(WrongCluster, match=r"belongs to the Kafka cluster other-\S+, and the one at this address is"):
        await open_it()
    with pytest.raises(WrongCluster):
        await KafkaJournal.open_read_only(broker.cluster, layout, folder=folder)
    known.write_text("{}")
    with pytest.raises(JournalUnavailable, match="does not say which Kafka cluster this data folder belongs to"):
        await open_it()
    known.write_text(before)
    assert status(await open_it()).events_read == 0


async def test_a_topic_made_anew_is_told_apart_from_the_one_that_was_there(
    open_it: Open, broker: Broker, layout: Layout, folder: Path
) -> None:
    await played(open_it)
    admin = broker.cluster.admin()
    admin.delete_topics(list(layout.topics))
    admin.close()
    create(broker.cluster, layout, 1)
    with pytest.raises(WrongCluster, match="was deleted and made anew since"):
        await open_it()
    (folder / "cluster.json").unlink()
    with capture_logs() as lines:
        journal = await open_it()
    assert "was made anew since it was cut" in lines[0]["reason"]
    assert await events_of(journal, STREAM) == []


async def test_partitions_added_later_are_refused(open_it: Open, broker: Broker, layout: Layout, folder: Path) -> None:
    await played(open_it)
    admin = broker.cluster.admin()
    admin.create_partitions({layout.topics[0]: 2})
    admin.close()
    with pytest.raises(
        JournalUnavailable, match="has 2 partitions, not 1: tables would be looked for in the wrong ones"
    ):
        await open_it()
    wider = Layout(2, layout.topics, layout.areas)
    with pytest.raises(WrongCluster, match=r"had 1 partitions when .* first saw it, and has 2 now"):
        await KafkaJournal.open(broker.cluster, wider, Claimant("one"), folder=folder)


async def test_a_folder_that_cannot_be_written_is_named(broker: Broker, layout: Layout, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(JournalUnavailable, match=r"cluster\.json"):
        await KafkaJournal.open(broker.cluster, layout, Claimant("one"), folder=tmp_path / "file")


async def test_a_folder_whose_snapshots_cannot_be_written_only_costs_time(open_it: Open, folder: Path) -> None:
    journal = await open_it()
    (folder / "partitions").write_text("in the way")
    with capture_logs() as lines:
        await fill(journal, STREAM, 3)
        await journal.close()
    assert [line["event"] for line in lines] == ["a snapshot cannot be written, the next start takes longer"]
    (folder / "partitions").unlink()
    assert len(await events_of(await open_it(), STREAM)) == 3
    shutil.rmtree(folder)

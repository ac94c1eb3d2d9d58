"""A partition resumed from a snapshot knows what one that read every record knows; a wrong one only costs the reading."""

import dataclasses
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from services.journal.kafka_partition import PartitionLog
from services.journal.kafka_records import RawRecord, batch_record
from services.journal.port import Recorded
from services.journal.snapshot_file import SnapshotUnusable, read_snapshot, write_snapshot
from services.wire.envelope import beginning_of
from services.wire.partition_snapshot import (
    Origin,
    PartitionSnapshot,
    SnapshotInvalid,
    decode_snapshot,
    encode_snapshot,
)
from tests.support.journal_events import new_event
from tests.support.kafka_records import forged
from tests.support.partition_records import LAYOUT, STREAMS, knowledge, random_records
from tests.support.seeds import seeded

HERE = "tests/properties/test_partition_snapshots.py"
ORIGIN = Origin(b"code", "cluster", LAYOUT.topics[0], "topic-id", 0)


def fed(records: Sequence[RawRecord], log: PartitionLog | None = None) -> PartitionLog:
    """Feed a log as the follower does, from where it wants, again from the beginning when it asks for that."""
    log = log or PartitionLog(LAYOUT, 0)
    for record in records[log.first_to_read :]:
        log.take(record)
    if log.needs_rewind:
        log.rewound()
        return fed(records, log)
    return log


def cut(records: Sequence[RawRecord]) -> PartitionSnapshot:
    snapshot = fed(records).cut(ORIGIN)
    assert snapshot is not None
    return snapshot


def resumed(snapshot: PartitionSnapshot, doubts: list[str]) -> PartitionLog:
    log = PartitionLog(LAYOUT, 0)
    log.resume(snapshot, doubts.append)
    return log


@pytest.mark.parametrize("run", range(12))
def test_a_snapshot_and_the_rest_of_the_log_are_the_whole_log(run: int, tmp_path: Path) -> None:
    random_ = seeded(f"'{HERE}::test_a_snapshot_and_the_rest_of_the_log_are_the_whole_log[{run}]'")
    records = list(random_records(random_, random_.randrange(20, 120)))
    whole = fed(records)
    assert not whole.failure
    for at in sorted(random_.sample(range(1, len(records) + 1), 8)):
        write_snapshot(tmp_path / "cut", encode_snapshot(cut(records[:at])))
        doubts: list[str] = []
        log = resumed(decode_snapshot(read_snapshot(tmp_path / "cut")), doubts)
        proved = [log.is_proved, fed(records, log).is_proved]
        assert proved == [False, True]
        assert not doubts
        assert knowledge(log) == knowledge(whole)
        assert all(log.checked(record) == whole.checked(record) for record in records)
        assert log.events_read == whole.events_read - fed(records[:at]).events_read
        assert log.cut(ORIGIN) == whole.cut(ORIGIN)


def test_a_record_read_for_one_stream_gives_its_events_alone_however_their_fields_are_ordered() -> None:
    random_ = seeded(
        f"{HERE}::test_a_record_read_for_one_stream_gives_its_events_alone_however_their_fields_are_ordered"
    )
    records = list(random_records(random_, 60))
    log = fed(records)
    claim, offset = log.claim_offset, len(records)
    name = STREAMS[0]
    head = next(head for head in log.heads() if head.stream == name)
    event = forged(name, head.sequence + 1, claim, new_event(1), previous_hash=head.hash)
    beginning = beginning_of(name)
    assert event.stored.startswith(beginning)
    # Another writer may put the stream's name last: the same event, other bytes, another hash.
    turned = Recorded(event.position, event.envelope, event.stored[len(beginning) :] + beginning)
    other = forged(STREAMS[1], log.head(STREAMS[1])[0] + 1, claim, new_event(2), previous_hash=log.head(STREAMS[1])[1])
    value, headers = batch_record(claim, [other, turned])
    records.append(RawRecord(offset, headers, value))
    log.take(records[-1])
    assert log.failure is None
    for counting in log.records_from(0, offset + 1):
        everything = log.checked(records[counting])
        assert everything is not None
        for stream in STREAMS:
            alone = log.checked(records[counting], stream)
            assert alone is not None
            # Without the beginning to go by all events are given, and the reader picks.
            picked = [one for one in alone if one.envelope.stream == stream]
            assert picked == [one for one in everything if one.envelope.stream == stream]


def test_cutting_while_it_grows_gives_what_was_known_then() -> None:
    random_ = seeded(f"{HERE}::test_cutting_while_it_grows_gives_what_was_known_then")
    records = list(random_records(random_, 80))
    log = fed(records[:50])
    before = log.cut(ORIGIN)
    marks = dataclasses.replace(before) if before else None
    fed(records, log)
    assert before == marks == cut(records[:50])


def _wrong_head(snapshot: PartitionSnapshot, random_: random.Random) -> PartitionSnapshot:
    at = random_.randrange(len(snapshot.streams))
    forged = random_.randbytes(32)
    part = snapshot.streams[at]
    part = dataclasses.replace(part, hash=forged, prefixes=part.prefixes[:-8] + forged[:8])
    return dataclasses.replace(snapshot, streams=(*snapshot.streams[:at], part, *snapshot.streams[at + 1 :]))


def _missing_stream(snapshot: PartitionSnapshot, _: random.Random) -> PartitionSnapshot:
    dropped = snapshot.streams[0]
    return dataclasses.replace(snapshot, streams=snapshot.streams[1:], events=snapshot.events - dropped.sequence)


def _another_last_record(snapshot: PartitionSnapshot, random_: random.Random) -> PartitionSnapshot:
    return dataclasses.replace(snapshot, last_value_hash=random_.randbytes(32))


@pytest.mark.parametrize("wrong", [_wrong_head, _missing_stream, _another_last_record])
@pytest.mark.parametrize("run", range(3))
def test_a_snapshot_that_the_log_contradicts_is_forgotten_and_all_is_read(
    run: int, wrong: Callable[[PartitionSnapshot, random.Random], PartitionSnapshot]
) -> None:
    random_ = seeded(f"'{HERE}' -k {wrong.__name__.strip('_')}-{run}")
    records = list(random_records(random_, 200))
    doubts: list[str] = []
    log = resumed(decode_snapshot(encode_snapshot(wrong(cut(records[:100]), random_))), doubts)
    fed(records, log)
    assert len(doubts) == 1
    assert log.generation == 1
    assert log.is_proved
    assert knowledge(log) == knowledge(fed(records))


def test_a_log_that_is_really_wrong_stops_with_a_snapshot_as_without() -> None:
    random_ = seeded(f"{HERE}::test_a_log_that_is_really_wrong_stops_with_a_snapshot_as_without")
    records = list(random_records(random_, 60))
    poison = RawRecord(60, [], b"not ours")
    doubts: list[str] = []
    log = fed([*records, poison], resumed(cut(records), doubts))
    whole = fed([*records, poison])
    assert whole.failure is not None
    assert knowledge(log) == knowledge(whole)
    assert len(doubts) == 1
    assert log.cut(ORIGIN) is None


def test_a_cut_off_log_is_read_anew_before_it_is_believed() -> None:
    random_ = seeded(f"{HERE}::test_a_cut_off_log_is_read_anew_before_it_is_believed")
    records = list(random_records(random_, 60))
    doubts: list[str] = []
    log = resumed(cut(records), doubts)
    log.take(dataclasses.replace(records[0], offset=60))
    assert doubts == ["record 59 of the log is not the one it ends with"]
    assert knowledge(fed(records, _rewound(log))) == knowledge(fed(records))


def _rewound(log: PartitionLog) -> PartitionLog:
    assert log.needs_rewind
    log.rewound()
    return log


def test_every_changed_byte_and_every_shorter_file_is_refused(tmp_path: Path) -> None:
    random_ = seeded(f"{HERE}::test_every_changed_byte_and_every_shorter_file_is_refused")
    path = tmp_path / "cut"
    write_snapshot(path, encode_snapshot(cut(list(random_records(random_, 30)))))
    whole = path.read_bytes()
    for at in [*range(60), *random_.sample(range(60, len(whole)), 60)]:
        changed = bytearray(whole)
        changed[at] ^= 1 << random_.randrange(8)
        path.write_bytes(changed)
        with pytest.raises(SnapshotUnusable):
            read_snapshot(path)
    for length in (0, 1, 19, 20, 51, 52, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(SnapshotUnusable):
            read_snapshot(path)
    path.unlink()
    with pytest.raises(SnapshotUnusable) as refused:
        read_snapshot(path)
    assert refused.value.missing


def test_what_does_not_hold_together_is_refused_though_its_digest_is_right() -> None:
    random_ = seeded(f"{HERE}::test_what_does_not_hold_together_is_refused_though_its_digest_is_right")
    whole = cut(list(random_records(random_, 60)))
    part = whole.streams[0]
    wrong = [
        dataclasses.replace(whole, events=whole.events + 1),
        dataclasses.replace(whole, claim=None),
        dataclasses.replace(whole, next_record=whole.batches[-1]),
        dataclasses.replace(whole, last_value_hash=b""),
        *(
            dataclasses.replace(whole, streams=(changed, *whole.streams[1:]))
            for changed in (
                dataclasses.replace(part, hash=bytes(32)),
                dataclasses.replace(part, prefixes=part.prefixes[8:]),
                dataclasses.replace(part, records=part.records[1:]),
            )
        ),
    ]
    for one in wrong:
        with pytest.raises(SnapshotInvalid):
            decode_snapshot(encode_snapshot(one))
    data = encode_snapshot(whole)
    for bad in (b"", b"\x08\x02" + data[2:], data + b"\xa0\x06\x01", data[:-1]):
        with pytest.raises(SnapshotInvalid):
            decode_snapshot(bad)
    assert decode_snapshot(data) == whole

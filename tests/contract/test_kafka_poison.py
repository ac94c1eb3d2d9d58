"""A record that must not be in the log stops its partition's readers, on every machine alike, and is named."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from services.journal.findings import Damage
from services.journal.kafka_errors import OutcomeUnknown, PartitionStopped
from services.journal.kafka_journal import Claimant, KafkaJournal
from services.journal.kafka_layout import Layout
from services.journal.kafka_records import Headers, batch_record, claim_record
from services.wire.batch import Claim
from tests.contract.journal_suite import events_of, numbers, take
from tests.support.journal_events import OTHER_STREAM, STREAM, fill, new_event
from tests.support.kafka_broker import Broker, new_layout, shared_broker
from tests.support.kafka_records import forged, put

pytestmark = pytest.mark.xdist_group("kafka")

SHOE, TABLE = 0, 1000


@pytest.fixture
def broker() -> Broker:
    return shared_broker()


@pytest.fixture
def layout(broker: Broker) -> Layout:
    return new_layout(broker.cluster)


@pytest.fixture
async def writer(broker: Broker, layout: Layout) -> AsyncIterator[KafkaJournal]:
    journal = await KafkaJournal.open(broker.cluster, layout, Claimant("writer"))
    await fill(journal, STREAM, 3)
    await fill(journal, OTHER_STREAM, 3)
    yield journal
    await journal.close()


def _garbage(kind: str, claim: int, head: bytes) -> tuple[bytes | None, Headers]:
    """The record of a kind of poison, for a table partition whose stream ends at 3 with the hash `head`."""
    good = forged(STREAM, 4, claim, new_event(4), previous_hash=head)
    value, headers = batch_record(claim, [good])
    match kind:
        case "garbage":
            return b"\xff\x00 not protobuf", headers
        case "foreign":
            return value, [("other", b"product")]
        case "tombstone":
            return None, headers
        case "newer-batch":
            # Field 1, the version, once more: the last one counts.
            return value + b"\x08\x02", headers
        case "newer-claim":
            return claim_record(Claim("future", "", "", 0))[0] + b"\x08\x63", claim_record(Claim("f", "", "", 0))[1]
        case "unknown-field":
            return value + b"\x78\x01", headers
        case "wrong-hash":
            return batch_record(claim, [forged(STREAM, 4, claim, new_event(4), previous_hash=b"\x01" * 32)])
        case "wrong-epoch":
            return batch_record(claim, [forged(STREAM, 4, claim + 1, new_event(4), previous_hash=head)])
        case "gap":
            return batch_record(claim, [forged(STREAM, 6, claim, new_event(6), previous_hash=head)])
        case "fork":
            return batch_record(claim, [forged(STREAM, 3, claim, new_event(77), previous_hash=head)])
        case "other-partition":
            return batch_record(claim, [forged("shoe:black-hawk/BJ-09", 1, claim, new_event(1))])
        case _:
            raise AssertionError(kind)


@pytest.mark.parametrize(
    ("kind", "damage", "says"),
    [
        ("garbage", Damage.UNREADABLE, "not a batch"),
        ("foreign", Damage.UNREADABLE, "foreign producer"),
        ("tombstone", Damage.UNREADABLE, "foreign producer"),
        ("newer-batch", Damage.UNREADABLE, "batch of version 2.*install a newer"),
        ("newer-claim", Damage.UNREADABLE, "claim of version 99.*install a newer"),
        ("unknown-field", Damage.UNREADABLE, "fields it does not know"),
        ("wrong-hash", Damage.EDITED, "hash of the event before"),
        ("wrong-epoch", Damage.EDITED, "under claim"),
        ("gap", Damage.MISSING, "6 follows 3: there is a gap"),
        ("fork", Damage.FORKED, "two writers, or a second history"),
        ("other-partition", Damage.UNREADABLE, "does not belong into this partition"),
    ],
)
async def test_a_poison_record_stops_its_partition_and_is_named(
    writer: KafkaJournal, broker: Broker, layout: Layout, kind: str, damage: Damage, says: str
) -> None:
    last = (await events_of(writer, STREAM))[-1]
    claim = next(partition.epoch for partition in writer.partitions() if partition.number == TABLE)
    poison = _garbage(kind, claim, last.hash)
    offset = await asyncio.to_thread(put, broker.cluster, layout, TABLE, *poison)
    reader = await KafkaJournal.open_read_only(broker.cluster, layout)
    try:
        with pytest.raises(PartitionStopped, match=says) as stopped:
            await take(reader, {}, 100)
        error = stopped.value
        assert (error.topic, error.kafka_partition, error.offset, error.kind) == (layout.topics[1], 0, offset, damage)
        assert f"{layout.topics[1]} partition 0 offset {offset}" in str(error)
        # What lies before it is given, other partitions go on, and the writer writes no further.
        reading = reader.read(STREAM)
        assert [(await anext(reading)).envelope.sequence for _ in range(3)] == [1, 2, 3]
        with pytest.raises(PartitionStopped, match=says):
            await anext(reading)
        assert numbers(await events_of(reader, OTHER_STREAM)) == [1, 2, 3]
        await fill(writer, OTHER_STREAM, 1, after=3)
        assert numbers(await events_of(reader, OTHER_STREAM)) == [1, 2, 3, 4]
        assert len(await _of_partition(reader, SHOE, 4)) == 4
    finally:
        await reader.close()


async def test_an_owner_whose_partition_is_poisoned_acknowledges_nothing_more(
    writer: KafkaJournal, broker: Broker, layout: Layout
) -> None:
    offset = await asyncio.to_thread(put, broker.cluster, layout, TABLE, b"x", [])
    # Until its reader has come to the record, the owner learns by the offset that it is not alone, and says "unknown".
    with contextlib.suppress(OutcomeUnknown, PartitionStopped):
        await fill(writer, STREAM, 1, after=3)
        pytest.fail("an append after a poison record was acknowledged")
    with pytest.raises(PartitionStopped, match=f"offset {offset}"):
        await fill(writer, STREAM, 1, after=3)


async def test_f10_a_foreign_transaction_leaves_a_hole_that_is_named_instead_of_waited_for(
    writer: KafkaJournal, broker: Broker, layout: Layout
) -> None:
    last = (await events_of(writer, STREAM))[-1]
    claim = next(partition.epoch for partition in writer.partitions() if partition.number == TABLE)
    good = batch_record(claim, [forged(STREAM, 4, claim, new_event(4), previous_hash=last.hash)])
    await asyncio.to_thread(_put_in_transaction, broker, layout, good)
    reader = await KafkaJournal.open_read_only(broker.cluster, layout)
    try:
        with pytest.raises(PartitionStopped, match="no record here: a foreign producer's transaction"):
            await take(reader, {}, 100)
    finally:
        await reader.close()


async def test_f08_a_log_whose_beginning_was_deleted_is_not_read_as_if_it_were_whole(
    writer: KafkaJournal, broker: Broker, layout: Layout
) -> None:
    await asyncio.to_thread(_delete_before, broker, layout, 3)
    reader = await KafkaJournal.open_read_only(broker.cluster, layout)
    try:
        with pytest.raises(PartitionStopped, match="deleted from the front") as stopped:
            await take(reader, {}, 100)
        assert (stopped.value.topic, stopped.value.offset) == (layout.topics[1], 0)
        assert stopped.value.kind is Damage.TRUNCATED
        assert numbers(await events_of(reader, OTHER_STREAM)) == [1, 2, 3]
    finally:
        await reader.close()
    # Who had read it before still has the newest records in memory.
    assert numbers(await events_of(writer, STREAM)) == [1, 2, 3]


def _delete_before(broker: Broker, layout: Layout, offset: int) -> None:
    admin = broker.cluster.admin()
    admin.delete_records({layout.kafka_partition(TABLE): offset})
    admin.close()


def _put_in_transaction(broker: Broker, layout: Layout, record: tuple[bytes, Headers]) -> None:
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=list(broker.cluster.bootstrap), transactional_id="foreign")
    try:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(layout.topics[1], record[0], headers=record[1], partition=0).get(10)
        producer.commit_transaction()
    finally:
        producer.close(timeout=5)


async def _of_partition(journal: KafkaJournal, number: int, count: int) -> list[object]:
    taken: list[object] = []
    subscription = journal.subscribe({}, partitions=[number])
    try:
        async with asyncio.timeout(20):
            async for recorded in subscription:
                taken.append(recorded)
                if len(taken) == count:
                    break
    finally:
        await subscription.aclose()
    return taken

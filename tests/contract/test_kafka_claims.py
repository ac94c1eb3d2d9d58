"""Who may write a partition (DESIGN §4): the latest claim, and nobody by mistake; what others write is void."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from services.journal import kafka_writer
from services.journal.errors import JournalUnavailable, SequenceConflict
from services.journal.kafka_errors import OutcomeUnknown, PartitionNotOwned
from services.journal.kafka_journal import Claimant, KafkaJournal, PartitionStatus
from services.journal.kafka_layout import Layout
from services.journal.kafka_records import claim_record
from services.journal.kafka_writer import SURE_FOR_SECONDS
from services.journal.port import Recorded
from services.runtime.clock import ManualClock, SystemClock
from services.wire.batch import Claim
from tests.contract.journal_suite import events_of, numbers, take
from tests.support.journal_events import STREAM, fill, new_event, new_events
from tests.support.kafka_broker import Broker, new_layout, shared_broker
from tests.support.kafka_records import forged, put_batch

pytestmark = pytest.mark.xdist_group("kafka")

OpenAs = Callable[[str], Awaitable[KafkaJournal]]


@pytest.fixture
def broker() -> Broker:
    return shared_broker()


@pytest.fixture
def layout(broker: Broker) -> Layout:
    return new_layout(broker.cluster, one_topic=True)


@pytest.fixture
async def open_as(broker: Broker, layout: Layout) -> AsyncIterator[OpenAs]:
    opened: list[KafkaJournal] = []

    async def open_it(owner: str) -> KafkaJournal:
        journal = await KafkaJournal.open(broker.cluster, layout, Claimant(owner, f"{owner}:7000", "test"))
        opened.append(journal)
        return journal

    yield open_it
    for journal in opened:
        await journal.close()


def status(journal: KafkaJournal) -> PartitionStatus:
    (partition,) = journal.partitions()
    return partition


async def test_the_latest_claim_writes_and_its_offset_is_the_epoch(open_as: OpenAs) -> None:
    first = await open_as("first")
    await fill(first, STREAM, 2)
    second = await open_as("second")
    await fill(second, STREAM, 1, after=2)
    epochs = [recorded.envelope.writer_epoch for recorded in await events_of(second, STREAM)]
    assert epochs[0] == epochs[1] >= 1
    assert epochs[2] == status(second).epoch > epochs[1]
    claim = status(second).claim
    assert claim is not None
    assert (claim.owner, claim.address, claim.build) == ("second", "second:7000", "test")


async def test_an_owner_that_was_superseded_is_told_who_owns_and_writes_nothing(open_as: OpenAs) -> None:
    first = await open_as("first")
    await fill(first, STREAM, 2)
    second = await open_as("second")
    # The first one may learn of it by its reader or by where the broker puts its batch: both times nothing of it counts.
    with pytest.raises((PartitionNotOwned, OutcomeUnknown)):
        await fill(first, STREAM, 1, after=2)
    with pytest.raises(PartitionNotOwned, match="second at second:7000") as refused:
        await fill(first, STREAM, 1, after=2)
    assert (refused.value.owner, refused.value.address) == ("second", "second:7000")
    await fill(second, STREAM, 3, after=2)
    for journal in (first, second):
        events = await events_of(journal, STREAM)
        assert numbers(events) == [1, 2, 3, 4, 5]
        assert {event.envelope.writer_epoch for event in events[2:]} == {status(second).epoch}


@pytest.mark.parametrize("hours", [-1, 1, -24 * 365, 24 * 365])
async def test_g13_a_writer_whose_clock_is_hours_off_claims_writes_and_is_read(
    broker: Broker, layout: Layout, open_as: OpenAs, hours: int
) -> None:
    first = await open_as("first")
    await fill(first, STREAM, 2)
    now_us = SystemClock().now_us() + hours * 3_600_000_000
    off = await KafkaJournal.open(broker.cluster, layout, Claimant("off"), clock=ManualClock(now_us))
    await fill(off, STREAM, 1, after=2)
    await off.close()
    # The client library stamps records by the machine's clock: the broker puts its own time there, so none is refused.
    place = layout.kafka_partition(0)
    value, headers = claim_record(Claim("off as well", "", "", now_us))
    producer = broker.cluster.producer()
    sent = producer.send(place.topic, value, headers=headers, partition=place.partition, timestamp_ms=now_us // 1000)
    stamped_ms = sent.get(10).timestamp
    producer.close()
    assert abs(stamped_ms - time.time() * 1000) < 600_000
    last = await open_as("last")
    await fill(last, STREAM, 1, after=3)
    events = await events_of(last, STREAM)
    assert numbers(events) == [1, 2, 3, 4]
    assert events[2].envelope.recorded_time_us == now_us
    assert status(last).counts.claims == 5


async def test_a_partition_can_be_claimed_back(open_as: OpenAs) -> None:
    first, second = await open_as("first"), await open_as("second")
    await fill(second, STREAM, 2)
    await first.claim([0])
    await fill(first, STREAM, 1, after=2)
    with pytest.raises((PartitionNotOwned, OutcomeUnknown)):
        await fill(second, STREAM, 1, after=3)
    assert numbers(await events_of(second, STREAM)) == [1, 2, 3]


async def test_what_a_cut_off_owner_still_writes_is_void_for_everybody(
    open_as: OpenAs, broker: Broker, layout: Layout
) -> None:
    first = await open_as("first")
    await fill(first, STREAM, 1)
    (head,) = await events_of(first, STREAM)
    old_claim = status(first).epoch
    second = await open_as("second")
    late = forged(STREAM, 2, old_claim, new_event(99), previous_hash=head.hash)
    await asyncio.to_thread(put_batch, broker.cluster, layout, 0, old_claim, [late])
    # The owner did not write that record. It knows of it already, or learns by the offset of its own that it was not
    # alone: then it does not say "done", though its batch counts, and the caller asks again.
    try:
        await fill(second, STREAM, 1, after=1)
    except OutcomeUnknown:
        with pytest.raises(SequenceConflict):
            await fill(second, STREAM, 1, after=1)
    reader = await KafkaJournal.open_read_only(broker.cluster, layout)
    for journal in (reader, second):
        events = await events_of(journal, STREAM)
        assert [event.envelope.payload for event in events] == [b"card 1", b"card 2"]
    assert status(reader).counts.void == 1
    await reader.close()


async def test_two_that_contend_without_end_lose_and_fork_nothing(
    open_as: OpenAs, broker: Broker, layout: Layout
) -> None:
    acknowledged: dict[int, bytes] = {}
    outcomes: set[type[BaseException]] = set()

    async def contend(owner: str) -> None:
        journal = await open_as(owner)
        for turn in range(40):
            try:
                await journal.claim([0])
                for _ in range(3):
                    at = sum(head.sequence for head in await journal.streams())
                    event = new_event(at, payload=f"{owner} {turn}".encode())
                    (recorded,) = await journal.append(STREAM, at, [event])
                    assert acknowledged.setdefault(recorded.envelope.sequence, recorded.stored) == recorded.stored
            except (JournalUnavailable, SequenceConflict) as error:
                outcomes.add(type(error))

    await asyncio.gather(*map(contend, ("left", "right", "third")))
    reader = await KafkaJournal.open_read_only(broker.cluster, layout)
    events = await events_of(reader, STREAM)
    assert numbers(events) == list(range(1, len(events) + 1))
    assert {sequence: events[sequence - 1].stored for sequence in acknowledged} == acknowledged
    assert not status(reader).stopped
    assert status(reader).counts.claims >= 100
    assert outcomes <= {PartitionNotOwned, OutcomeUnknown, JournalUnavailable, SequenceConflict}
    await reader.close()


async def test_a_record_that_comes_twice_is_counted_once(open_as: OpenAs, broker: Broker, layout: Layout) -> None:
    journal = await open_as("first")
    await fill(journal, STREAM, 3)
    events = await events_of(journal, STREAM)
    await asyncio.to_thread(put_batch, broker.cluster, layout, 0, status(journal).epoch, events)
    reader = await KafkaJournal.open_read_only(broker.cluster, layout)
    await reader.streams()
    assert (status(reader).counts.duplicate, status(reader).counts.void) == (1, 0)
    assert numbers(await events_of(reader, STREAM)) == [1, 2, 3]
    assert [r.stored for r in await take(reader, {}, 3)] == [r.stored for r in events]
    await reader.close()


async def test_a_reader_without_claims_cannot_write(open_as: OpenAs, broker: Broker, layout: Layout) -> None:
    await fill(await open_as("first"), STREAM, 1)
    journal = await KafkaJournal.open(broker.cluster, layout, Claimant("idle"), partitions=())
    await journal.streams()
    with pytest.raises(PartitionNotOwned, match="first"):
        await journal.append(STREAM, 1, new_events([2]))
    await journal.close()


async def test_readers_of_several_processes_see_the_same(open_as: OpenAs, broker: Broker, layout: Layout) -> None:
    writer = await open_as("first")
    reader = await KafkaJournal.open_read_only(broker.cluster, layout)
    followed = asyncio.create_task(take(reader, {}, 200))
    for sequence in range(0, 200, 4):
        await fill(writer, STREAM, 4, after=sequence)
        # What is acknowledged is visible to every reader, not only to its writer.
        assert len(await events_of(reader, STREAM, sequence)) == 4

    def seen(events: list[Recorded]) -> list[tuple[object, bytes]]:
        return [(event.position, event.stored) for event in events]

    assert seen(await followed) == seen(await events_of(writer, STREAM))
    await reader.close()


async def test_a_tenure_ends_with_the_next_claim_and_says_whose_it_is(open_as: OpenAs) -> None:
    first = await open_as("first")
    tenure = await first.tenure(STREAM)
    assert tenure == status(first).epoch
    second = await open_as("second")
    # Asked within the second in which a look at the log counts, the first may not have read the claim yet: so it is made to.
    await first.end()
    await asyncio.sleep(SURE_FOR_SECONDS)
    with pytest.raises(PartitionNotOwned) as raised:
        await first.tenure(STREAM)
    assert (raised.value.owner, raised.value.address) == ("second", "second:7000")
    await first.claim([0])
    assert await first.tenure(STREAM) > status(second).epoch - 1
    assert await first.tenure(STREAM) != tenure


async def test_who_was_paused_looks_before_it_answers(open_as: OpenAs, monkeypatch: pytest.MonkeyPatch) -> None:
    first = await open_as("first")
    await first.tenure(STREAM)
    # As a paused process: its reader has not heard of the claim, and time has passed.
    monkeypatch.setattr(kafka_writer, "SURE_FOR_SECONDS", 0.0)
    await open_as("second")
    with pytest.raises(PartitionNotOwned):
        await first.tenure(STREAM)


async def test_a_released_partition_is_nobodys_until_it_is_claimed_again(open_as: OpenAs) -> None:
    first = await open_as("first")
    await fill(first, STREAM, 1)
    first.release([0])
    with pytest.raises(PartitionNotOwned) as raised:
        await first.append(STREAM, 1, new_events([2]))
    assert (raised.value.owner, raised.value.address) == ("", "")
    with pytest.raises(PartitionNotOwned):
        await first.tenure(STREAM)
    assert first.owned() == {}
    await first.claim([0])
    await fill(first, STREAM, 1, after=1)
    assert first.owned() == {0: status(first).epoch}

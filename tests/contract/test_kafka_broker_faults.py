"""The broker is killed with -9, and stands still, while writers append: nothing acknowledged is lost, forked or doubled."""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator

import pytest

from services.journal.errors import JournalUnavailable, SequenceConflict
from services.journal.kafka_errors import OutcomeUnknown
from services.journal.kafka_journal import Claimant, KafkaJournal
from services.journal.kafka_layout import Layout
from tests.contract.journal_suite import events_of, numbers
from tests.support.journal_events import STREAM, fill, new_event
from tests.support.kafka_broker import Broker, new_layout
from tests.support.seeds import seeded

pytestmark = [
    pytest.mark.xdist_group("kafka"),
    pytest.mark.timeout(240),
]

WRITERS = 3
KILLS = 2


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    """A broker of this module's own: it is killed."""
    broker = Broker()
    yield broker
    broker.remove()


@pytest.fixture
def layout(broker: Broker) -> Layout:
    return new_layout(broker.cluster, partitions=2)


@pytest.fixture
async def journal(broker: Broker, layout: Layout) -> AsyncIterator[KafkaJournal]:
    journal = await KafkaJournal.open(broker.cluster, layout, Claimant("only"))
    yield journal
    await journal.close()


class Patron:
    """Appends to a stream of its own as a service does: after "unknown" it looks what is there, then goes on."""

    def __init__(self, journal: KafkaJournal, number: int) -> None:
        self.stream = f"table:black-hawk/BJ-{number}"
        self.acknowledged: dict[int, bytes] = {}
        self.troubles = 0
        self._journal = journal
        self._grown = asyncio.Condition()

    async def append_until(self, done: asyncio.Event) -> None:
        sequence = 0
        while not done.is_set():
            try:
                event = new_event(sequence + 1, request_id=f"{self.stream} {self.troubles} {sequence}")
                (recorded,) = await self._journal.append(self.stream, sequence, [event])
            except SequenceConflict as conflict:
                sequence = conflict.actual_sequence
            except JournalUnavailable:
                self.troubles += 1
                await asyncio.sleep(0.1)
            else:
                sequence = recorded.envelope.sequence
                assert sequence not in self.acknowledged
                async with self._grown:
                    self.acknowledged[sequence] = recorded.stored
                    self._grown.notify_all()

    async def wait_for(self, more: int) -> None:
        """Wait until so many further appends are acknowledged."""
        goal = len(self.acknowledged) + more
        async with asyncio.timeout(90), self._grown:
            await self._grown.wait_for(lambda: len(self.acknowledged) >= goal)


async def test_g01_a_broker_killed_again_and_again_loses_nothing_acknowledged(
    broker: Broker, layout: Layout, journal: KafkaJournal
) -> None:
    rng = seeded("tests/contract/test_kafka_broker_faults.py -k g01")
    done = asyncio.Event()
    patrons = [Patron(journal, number) for number in range(WRITERS)]
    playing = [asyncio.create_task(patron.append_until(done)) for patron in patrons]
    for _ in range(KILLS):
        await asyncio.gather(*(patron.wait_for(rng.randint(5, 60)) for patron in patrons))
        broker.kill()
        await asyncio.sleep(rng.random())
        await asyncio.to_thread(broker.start)
    await asyncio.gather(*(patron.wait_for(5) for patron in patrons))
    done.set()
    await asyncio.gather(*playing)
    reader = await KafkaJournal.open_read_only(broker.cluster, layout)
    for patron in patrons:
        events = await events_of(reader, patron.stream)
        assert numbers(events) == list(range(1, len(events) + 1))
        assert {sequence: events[sequence - 1].stored for sequence in patron.acknowledged} == patron.acknowledged
        requests = [event.envelope.request_id for event in events]
        assert len(requests) == len(set(requests)), "a request had two effects"
    assert [partition.stopped for partition in reader.partitions()] == [""] * 8
    await reader.close()


async def test_a_broker_that_stands_still_leaves_unknown_appends_and_a_writer_that_goes_on(
    broker: Broker, layout: Layout, journal: KafkaJournal
) -> None:
    await fill(journal, STREAM, 2)
    broker.signal(signal.SIGSTOP)
    try:
        with pytest.raises(OutcomeUnknown, match="ask again with the same request id"):
            await fill(journal, STREAM, 1, after=2)
    finally:
        broker.signal(signal.SIGCONT)
    patron = Patron(journal, 7)
    patron.stream = STREAM
    done = asyncio.Event()
    playing = asyncio.create_task(patron.append_until(done))
    await patron.wait_for(3)
    done.set()
    await playing
    events = await events_of(journal, STREAM)
    assert numbers(events) == list(range(1, len(events) + 1))
    assert {sequence: events[sequence - 1].stored for sequence in patron.acknowledged} == patron.acknowledged
    assert not any(partition.stopped for partition in journal.partitions())

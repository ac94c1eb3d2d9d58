"""The Kafka journal keeps the contract of every journal, on a real broker that the tests start themselves."""

from collections.abc import AsyncIterator

import pytest

from services.journal.kafka_journal import Claimant, KafkaJournal
from services.journal.kafka_layout import Layout
from services.journal.port import Journal
from tests.contract.journal_suite import JournalSuite, OpenJournal
from tests.support.kafka_broker import Broker, new_layout, place_of, shared_broker

pytestmark = pytest.mark.xdist_group("kafka")


@pytest.fixture
def broker() -> Broker:
    return shared_broker()


@pytest.fixture(params=[True, False], ids=["one-partition", "four-topics"])
def layout(broker: Broker, request: pytest.FixtureRequest) -> Layout:
    return new_layout(broker.cluster, partitions=1 if request.param else 3, one_topic=request.param)


@pytest.fixture
async def open_journal(broker: Broker, layout: Layout) -> AsyncIterator[OpenJournal]:
    opened: list[KafkaJournal] = []

    async def open_it() -> Journal:
        journal = await KafkaJournal.open(broker.cluster, layout, Claimant(f"suite-{len(opened)}"))
        opened.append(journal)
        return journal

    yield open_it
    for journal in opened:
        for partition in journal.partitions():
            assert not partition.stopped
        await journal.close()


class TestKafkaJournal(JournalSuite):
    """The contract of every journal."""

    @pytest.fixture
    def place(self, broker: Broker, layout: Layout) -> tuple[str, str]:
        return "kafka", place_of(broker.cluster, layout)

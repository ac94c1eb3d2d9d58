"""A journal refuses topics that could lose an acknowledged event, and says which setting and which command mends it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import pytest

from services.journal.errors import JournalUnavailable
from services.journal.kafka_cluster import Cluster
from services.journal.kafka_errors import TopicsRefused
from services.journal.kafka_journal import Claimant, KafkaJournal
from services.journal.kafka_layout import Layout
from services.journal.kafka_topics import audit, change_settings, create
from tests.support.kafka_broker import Broker, new_layout, shared_broker

pytestmark = pytest.mark.xdist_group("kafka")


@pytest.fixture
def broker() -> Broker:
    return shared_broker()


def _alter(broker: Broker, topic: str, settings: Mapping[str, str]) -> None:
    admin = broker.cluster.admin()
    change_settings(admin, topic, settings)
    admin.close()


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("retention.ms", "604800000"),
        ("retention.bytes", "1000000"),
        ("cleanup.policy", "compact"),
        ("cleanup.policy", "compact,delete"),
        ("unclean.leader.election.enable", "true"),
        ("message.timestamp.type", "CreateTime"),
        ("max.message.bytes", "1000000"),
    ],
)
async def test_f08_an_unsafe_setting_is_refused_named_and_mended(broker: Broker, setting: str, value: str) -> None:
    layout = new_layout(broker.cluster)
    _alter(broker, layout.topics[2], {setting: value})
    openings: list[Callable[[], Awaitable[KafkaJournal]]] = [
        lambda: KafkaJournal.open(broker.cluster, layout, Claimant("any")),
        lambda: KafkaJournal.open_read_only(broker.cluster, layout),
    ]
    for opening in openings:
        with pytest.raises(TopicsRefused, match=r"run `holecard journal create-topics --mend`") as refused:
            await opening()
        (complaint,) = refused.value.complaints
        assert complaint.startswith(f"{layout.topics[2]} has {setting}={value}: ")
    (done,) = create(broker.cluster, layout, 1, mend=True)
    assert done.startswith(f"set {setting}=")
    audit(broker.cluster, layout)


@pytest.mark.parametrize("setting", ["cleanup.policy", "message.timestamp.type"])
def test_the_topic_of_owners_must_be_compacted_as_the_others_must_not(broker: Broker, setting: str) -> None:
    layout = new_layout(broker.cluster)
    value = {"cleanup.policy": "delete", "message.timestamp.type": "CreateTime"}[setting]
    _alter(broker, layout.owners, {setting: value})
    with pytest.raises(TopicsRefused, match=r"run `holecard journal create-topics --mend`") as refused:
        audit(broker.cluster, layout)
    assert [complaint.partition(": ")[0] for complaint in refused.value.complaints] == [
        f"{layout.owners} has {setting}={value}"
    ]
    assert create(broker.cluster, layout, 1, mend=True)
    audit(broker.cluster, layout)


def test_missing_topics_are_named(broker: Broker) -> None:
    layout = Layout(2, ("never.made.v1", "nor.this.v1"), {"table": 0})
    with pytest.raises(
        TopicsRefused, match=r"never\.made\.v1 is not there: run `holecard journal create-topics`"
    ) as refused:
        audit(broker.cluster, layout)
    assert len(refused.value.complaints) == 2


@pytest.mark.parametrize("partitions", [2, 4])
def test_another_number_of_partitions_is_refused_because_tables_would_move(broker: Broker, partitions: int) -> None:
    layout = new_layout(broker.cluster, partitions=3)
    with pytest.raises(TopicsRefused, match=f"has 3 partitions, not {partitions}: tables would be looked for"):
        audit(broker.cluster, Layout(partitions, layout.topics))


def test_making_topics_that_are_there_changes_nothing(broker: Broker) -> None:
    layout = new_layout(broker.cluster)
    assert create(broker.cluster, layout, 1) == ()
    assert create(broker.cluster, layout, 1, mend=True) == ()


def test_no_broker_at_the_address_is_said_at_once() -> None:
    cluster = Cluster(("127.0.0.1:1",), request_timeout_ms=600)
    with pytest.raises(JournalUnavailable, match="no broker answers: start it, or check the address"):
        asyncio.run(KafkaJournal.open(cluster, Layout(1), Claimant("any")))

"""The topics of a journal on Kafka: made with the settings that keep every event, and audited before anybody relies on them.

Promises: `audit` names each setting by which an acknowledged event could be lost or refused, and the command that mends it.
Changes nothing unless asked to by `create`.
"""

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import TopicAuthorizationFailedError

from services.journal.errors import JournalUnavailable
from services.journal.kafka_cluster import MAX_RECORD_BYTES, Cluster
from services.journal.kafka_errors import TopicsRefused
from services.journal.kafka_identity import ClusterFacts, TopicFacts
from services.journal.kafka_layout import Layout

_PATIENCE_SECONDS = 20.0
MESSAGE_BYTES = MAX_RECORD_BYTES + 64 * 1024

EXACT: Mapping[str, str] = MappingProxyType(
    {
        # By time or by size, what is deleted was acknowledged. F08: by event time a late upload would go at once.
        "retention.ms": "-1",
        "retention.bytes": "-1",
        "cleanup.policy": "delete",
        "unclean.leader.election.enable": "false",
        # The broker refuses records whose own time is an hour off its clock, unless it stamps them itself.
        "message.timestamp.type": "LogAppendTime",
    }
)
"""Settings that must have this very value."""
OWNERS_EXACT: Mapping[str, str] = MappingProxyType(
    {"cleanup.policy": "compact", "message.timestamp.type": "LogAppendTime"}
)
"""The same for the topic of owners, which keeps the latest record of each partition; losing it costs only finding them."""
_WHY_OWNERS = {
    "cleanup.policy": "of each partition only the latest owner is to be kept, and for ever",
    "message.timestamp.type": "an owner whose clock is an hour off would be refused",
}
_WHY = {
    "retention.ms": "old events would be deleted",
    "retention.bytes": "old events would be deleted",
    "cleanup.policy": "events would be compacted away",
    "unclean.leader.election.enable": "a replica without the last acknowledged events could become leader",
    "message.timestamp.type": "a writer whose clock is an hour off would be refused",
    "max.message.bytes": "large appends would be refused",
    "min.insync.replicas": "an acknowledged event could be on one disk only",
}


@dataclass(frozen=True, slots=True)
class _Topic:
    """A topic as the cluster describes it."""

    name: str
    id: str
    partitions: int
    replicas: int
    settings: Mapping[str, str]


def create(cluster: Cluster, layout: Layout, replication: int, *, mend: bool = False) -> tuple[str, ...]:
    """Make the topics that are not there; with `mend` also set the settings of those that are. Return what was done.

    `replication` is the number of copies, 1 to the number of brokers. Raises JournalUnavailable; TopicsRefused when
    the topics are not as they must be afterwards.
    """
    with _administering(cluster) as admin:
        there = {topic.name: topic for topic in _described(admin, layout)}
        missing = {name: partitions for name, partitions in _partitions(layout).items() if name not in there}
        done = []
        if missing:
            admin.create_topics(
                {
                    name: {
                        "num_partitions": partitions,
                        "replication_factor": replication,
                        "configs": _wanted(layout, name, replication),
                    }
                    for name, partitions in missing.items()
                },
                wait_for_metadata=True,
            )
            done += [f"created {name} with {count} partitions, {replication} copies" for name, count in missing.items()]
        for topic in there.values() if mend else ():
            wanted = _wanted(layout, topic.name, topic.replicas)
            wrong = {name: wanted[name] for name, _ in _wrong_settings(layout, topic)}
            if wrong:
                change_settings(admin, topic.name, wrong)
                done.append(f"set {', '.join(f'{name}={value}' for name, value in wrong.items())} of {topic.name}")
    audit(cluster, layout)
    return tuple(done)


def change_settings(admin: KafkaAdminClient, topic: str, settings: Mapping[str, str]) -> None:
    """Set settings of a topic and wait until the brokers go by them; raises JournalUnavailable when they do not."""
    admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, configs=dict(settings))])
    deadline = time.monotonic() + _PATIENCE_SECONDS
    # The controller has them at once; the broker that is asked follows a moment later.
    while not settings.items() <= _settings(admin, [topic])[topic].items():
        if time.monotonic() > deadline:
            raise JournalUnavailable(f"{topic} does not take its new settings {dict(settings)}: try again")
        time.sleep(0.05)


def audit(cluster: Cluster, layout: Layout) -> ClusterFacts:
    """Raise TopicsRefused unless every topic is there and safe; JournalUnavailable when the cluster cannot be asked.

    Return which cluster and topics these are.
    """
    with _administering(cluster) as admin:
        cluster_id = str(admin.describe_cluster()["cluster_id"])
        there = {topic.name: topic for topic in _described(admin, layout)}
    complaints: list[str] = []
    for name, partitions in _partitions(layout).items():
        topic = there.get(name)
        if topic is None:
            complaints.append(f"{name} is not there: run `holecard journal create-topics`")
            continue
        complaints += [
            f"{name} has {setting}={value}: {_why(layout, name, setting)}; run `holecard journal create-topics --mend`"
            for setting, value in _wrong_settings(layout, topic)
        ]
        if topic.partitions != partitions:
            complaints.append(
                f"{name} has {topic.partitions} partitions, not {partitions}: tables would be looked for in the wrong"
                f" ones; start with --partitions {topic.partitions} if it always had so many, else restore the topic"
            )
    if complaints:
        raise TopicsRefused(tuple(complaints))
    return ClusterFacts(
        cluster_id, {name: TopicFacts(there[name].id, there[name].partitions) for name in layout.topics}
    )


def _partitions(layout: Layout) -> dict[str, int]:
    """Every topic of the journal and how many partitions it has."""
    owners = {layout.owners: 1} if layout.owners else {}
    return dict.fromkeys(layout.topics, layout.partitions) | owners


def _why(layout: Layout, name: str, setting: str) -> str:
    return _WHY_OWNERS[setting] if name == layout.owners else _WHY[setting]


def _wanted(layout: Layout, name: str, replicas: int) -> dict[str, str]:
    if name == layout.owners:
        return dict(OWNERS_EXACT)
    return {**EXACT, "max.message.bytes": str(MESSAGE_BYTES), "min.insync.replicas": str(_least_in_sync(replicas))}


def _least_in_sync(replicas: int) -> int:
    """How many copies must have an event before it is acknowledged: a majority."""
    return replicas // 2 + 1


def _wrong_settings(layout: Layout, topic: _Topic) -> list[tuple[str, str]]:
    """The settings that are not as they must be, with their present values."""
    exact = OWNERS_EXACT if topic.name == layout.owners else EXACT
    wrong = [(name, topic.settings[name]) for name, value in exact.items() if topic.settings[name] != value]
    if topic.name != layout.owners:
        least = {"max.message.bytes": MESSAGE_BYTES, "min.insync.replicas": _least_in_sync(topic.replicas)}
        wrong += [(name, topic.settings[name]) for name, value in least.items() if int(topic.settings[name]) < value]
    return wrong


def _described(admin: KafkaAdminClient, layout: Layout) -> list[_Topic]:
    answers = admin.describe_topics(list(_partitions(layout)))
    closed = [topic["name"] for topic in answers if topic["error_code"] == TopicAuthorizationFailedError.errno]
    if closed:
        raise TopicAuthorizationFailedError(", ".join(closed))
    described = [topic for topic in answers if topic["error_code"] == 0]
    if not described:
        return []
    settings = _settings(admin, [topic["name"] for topic in described])
    return [
        _Topic(
            topic["name"],
            str(topic["topic_id"]),
            len(topic["partitions"]),
            min((len(partition["replica_nodes"]) for partition in topic["partitions"]), default=0),
            settings[topic["name"]],
        )
        for topic in described
    ]


def _settings(admin: KafkaAdminClient, topics: Sequence[str]) -> dict[str, dict[str, str]]:
    """Every setting of each topic."""
    resources = [ConfigResource(ConfigResourceType.TOPIC, topic) for topic in topics]
    found: Mapping[str, Mapping[str, Any]] = admin.describe_configs(resources, config_filter="all")["topic"]
    return {topic: {name: str(one["value"]) for name, one in settings.items()} for topic, settings in found.items()}


@contextlib.contextmanager
def _administering(cluster: Cluster) -> Iterator[KafkaAdminClient]:
    with cluster.translated(), contextlib.closing(cluster.admin()) as admin:
        yield admin

"""Which topic and partition a stream lies in, and how the port's partitions and offsets are made of Kafka's.

A port partition is `1000 × the topic's number in the layout + Kafka's partition`: with the standard layout 0 to 999
are shoe, 1000 to 1999 table, 2000 to 2999 wager, 3000 to 3999 surveillance. A port offset is `1,000,000 × Kafka's
offset + the event's number in its record, from 1`, so that every event has an offset of its own, they count up in log
order, and both parts can be read off in decimal; 0 lies before everything. Kafka's own partition is its default hash
(murmur2) of the stream's key, so that every client agrees, and all streams of one table have the same number in every
topic.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Self

from kafka import TopicPartition
from kafka.partitioner.default import murmur2

from services.journal.errors import EventRefused

PARTITIONS_A_TOPIC = 1_000
EVENTS_A_RECORD = 1_000_000
"""One more than the largest number of events in a record."""

TOPICS = ("holecard.shoe.v1", "holecard.table.v1", "holecard.wager.v1", "holecard.surveillance.v1")
OWNERS = "holecard.owners.v1"
AREAS: Mapping[str, int] = MappingProxyType(
    {"shoe": 0, "table": 1, "wager": 2, "wallet": 2, "meter": 2, "cage": 2, "case": 3}
)
"""The number of the topic of each area, an area being what stands before the colon of a stream's name (DESIGN §3)."""


@dataclass(frozen=True)
class Layout:
    """The topics of one journal, each with the same number of partitions (1 to 1000).

    `areas` gives each area's topic by number. `owners` is the compacted topic of owners, "" for a journal without one. Two
    journals on one cluster need topics of different names.
    """

    partitions: int
    topics: tuple[str, ...] = TOPICS
    areas: Mapping[str, int] = field(default_factory=lambda: AREAS, hash=False)
    owners: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.partitions <= PARTITIONS_A_TOPIC:
            raise ValueError(f"a topic has 1 to {PARTITIONS_A_TOPIC} partitions, not {self.partitions}")
        if not self.topics or len(set(self.topics)) != len(self.topics):
            raise ValueError(f"a journal needs topics of different names, not {self.topics}")

    @classmethod
    def standard(cls, partitions: int, prefix: str = "") -> Self:
        """The four topics of a house and that of its owners, their names after `prefix`."""
        return cls(partitions, tuple(prefix + topic for topic in TOPICS), owners=prefix + OWNERS)

    @property
    def numbers(self) -> tuple[int, ...]:
        """Every port partition."""
        return tuple(
            topic * PARTITIONS_A_TOPIC + partition
            for topic in range(len(self.topics))
            for partition in range(self.partitions)
        )

    def numbers_of(self, areas: Iterable[str]) -> tuple[int, ...]:
        """The port partitions in which streams of these areas lie; raises EventRefused for an area of another journal."""
        topics = set()
        for area in areas:
            if area not in self.areas:
                raise EventRefused(f"{area!r} is no area of this journal: {', '.join(sorted(self.areas))}")
            topics.add(self.areas[area])
        return tuple(number for number in self.numbers if number // PARTITIONS_A_TOPIC in topics)

    def partition_of(self, stream: str) -> int:
        """The port partition of a stream; raises EventRefused for a name without a known area and a key."""
        area, colon, key = stream.partition(":")
        topic = self.areas.get(area)
        if topic is None or not colon or not key:
            raise EventRefused(f"stream {stream[:80]!r} has no area of this journal: {', '.join(sorted(self.areas))}")
        return topic * PARTITIONS_A_TOPIC + _hash_of(key) % self.partitions

    def kafka_partition(self, number: int) -> TopicPartition:
        """Kafka's name of a port partition; raises ValueError for one that this journal has not."""
        topic, partition = divmod(number, PARTITIONS_A_TOPIC)
        if not (0 <= topic < len(self.topics) and partition < self.partitions):
            raise ValueError(f"partition {number} is none of this journal")
        return TopicPartition(self.topics[topic], partition)


@lru_cache(16_384)
def _hash_of(key: str) -> int:
    try:
        return int(murmur2(key.encode())) & 0x7FFFFFFF
    except UnicodeEncodeError as error:
        raise EventRefused(f"a stream's key has no UTF-8 form: {error}") from error


def offset_of(record: int, number: int) -> int:
    """The port offset of the event with that number (from 1) in the record at Kafka's offset `record`."""
    return record * EVENTS_A_RECORD + number


def record_of(offset: int) -> tuple[int, int]:
    """Kafka's offset and the event's number in the record for a port offset."""
    return divmod(offset, EVENTS_A_RECORD)

"""The compacted topic of owners: who claimed each partition last, for whoever does not read the partitions.

An owner notes its claim there once it has read it as the latest. Promises: a note is never waited for, and never counts for
anything but finding somebody: who owns a partition only its own log decides. Notes that cannot be written are told and left
out.
"""

import contextlib
import queue
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import structlog
from kafka import TopicPartition
from kafka.errors import KafkaError

from services.journal.errors import JournalUnavailable
from services.journal.kafka_cluster import Cluster
from services.journal.kafka_layout import Layout
from services.wire.batch import Claim, RecordInvalid
from services.wire.owner import Owner, decode_owner, encode_owner

log = structlog.get_logger(__name__)

_PATIENCE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Note:
    """Who owns a partition, as noted; `number` is the journal's own number of it."""

    number: int
    owner: Owner


class OwnerNotes:
    """Writes notes in a thread of its own; `note` may be called from any thread."""

    def __init__(self, cluster: Cluster, topic: str) -> None:
        self._cluster = cluster
        self._topic = topic
        self._waiting: queue.SimpleQueue[tuple[TopicPartition, Owner]] = queue.SimpleQueue()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal-owners")

    def note(self, place: TopicPartition, epoch: int, claim: Claim) -> None:
        """Note a claim soon."""
        self._waiting.put((place, Owner(epoch, claim)))
        with contextlib.suppress(RuntimeError):  # closed: who ends need not be found any more
            self._thread.submit(self._write)

    def close(self) -> None:
        """End the thread. Blocks until what waits is written, or given up."""
        self._thread.shutdown()

    def _write(self) -> None:
        """Write all that waits; a producer is kept no longer than that, since claims are rare."""
        notes = []
        with contextlib.suppress(queue.Empty):
            while True:
                notes.append(self._waiting.get_nowait())
        if not notes:
            return
        try:
            with contextlib.closing(self._cluster.producer()) as producer:
                sent = [
                    producer.send(self._topic, encode_owner(owner), key=_key(place), partition=0)
                    for place, owner in notes
                ]
                for one in sent:
                    one.get(_PATIENCE_SECONDS)
        except (KafkaError, JournalUnavailable, OSError) as error:
            log.warning("owners could not be noted; callers find them by asking", count=len(notes), reason=str(error))


def read_owners(cluster: Cluster, layout: Layout) -> tuple[Note, ...]:
    """The latest note of each partition of the layout that has one, by number; raises JournalUnavailable."""
    numbers = {_key(layout.kafka_partition(number)): number for number in layout.numbers}
    latest: dict[int, Owner] = {}
    place = TopicPartition(layout.owners, 0)
    with cluster.translated(), contextlib.closing(cluster.consumer()) as consumer:
        consumer.assign([place])
        consumer.seek_to_beginning(place)
        end = consumer.end_offsets([place])[place]
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while consumer.position(place) < end:
            if time.monotonic() > deadline:
                raise JournalUnavailable(f"Kafka does not give {place} on from {consumer.position(place)}: try again")
            for record in consumer.poll(timeout_ms=500).get(place, ()):
                number = numbers.get(record.key)
                if number is None or record.value is None:
                    continue
                with contextlib.suppress(RecordInvalid):
                    owner = decode_owner(record.value)
                    # A note that was late must not hide a later claim.
                    if number not in latest or latest[number].epoch <= owner.epoch:
                        latest[number] = owner
    return tuple(Note(number, latest[number]) for number in sorted(latest))


def _key(place: TopicPartition) -> bytes:
    return f"{place.topic}/{place.partition}".encode()

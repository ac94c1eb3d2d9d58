"""Writing records into a journal's topic from outside, as a foreign producer or a cut-off owner would."""

from collections.abc import Sequence

from services.journal.chain import hash_of
from services.journal.kafka_cluster import Cluster
from services.journal.kafka_layout import Layout
from services.journal.kafka_records import Headers, batch_record
from services.journal.port import NewEvent, Position, Recorded
from services.wire.envelope import NO_HASH, Envelope, encode


def put(cluster: Cluster, layout: Layout, number: int, value: bytes | None, headers: Headers) -> int:
    """Write one record and return Kafka's offset of it."""
    place = layout.kafka_partition(number)
    producer = cluster.producer()
    try:
        # A record needs a key or a value; ours have no key.
        key = b"deleted" if value is None else None
        sent = producer.send(place.topic, value, key=key, headers=headers, partition=place.partition)
        return int(sent.get(10).offset)
    finally:
        producer.close(timeout=5)


def put_batch(cluster: Cluster, layout: Layout, number: int, claim: int, events: Sequence[Recorded]) -> int:
    """Write a batch under a claim, whoever's it is."""
    return put(cluster, layout, number, *batch_record(claim, events))


def forged(
    stream: str,
    sequence: int,
    claim: int,
    event: NewEvent,
    *,
    previous_hash: bytes = NO_HASH,
    schema_version: int = 1,
) -> Recorded:
    """An event as a writer under that claim would have stored it."""
    envelope = Envelope(
        stream,
        sequence,
        event.type,
        event.payload,
        schema_version,
        event.occurred_time_us,
        event.occurred_time_us,
        event.actor,
        event.request_id,
        event.request_digest,
        event.cause,
        event.round_id,
        event.gaming_day,
        claim,
        previous_hash,
    )
    stored = encode(envelope)
    assert hash_of(stored)
    return Recorded(Position(0, 0), envelope, stored)

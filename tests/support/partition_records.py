"""A partition's records as a random life of owners would leave them: claims, batches, void ones, some twice, in order."""

import random
from collections.abc import Iterator

from services.journal.kafka_layout import AREAS, Layout
from services.journal.kafka_partition import PartitionLog
from services.journal.kafka_records import RawRecord, batch_record, claim_record
from services.journal.port import Recorded
from services.wire.batch import Claim
from services.wire.envelope import NO_HASH
from tests.support.journal_events import new_event
from tests.support.kafka_records import forged

LAYOUT = Layout(1, ("holecard.v1",), dict.fromkeys(AREAS, 0))
STREAMS = tuple(f"{area}:black-hawk/BJ-0{number}" for area in ("shoe", "table", "wager") for number in (1, 2))


def random_records(random_: random.Random, count: int) -> Iterator[RawRecord]:
    """That many records, of which nothing stops a reader."""
    heads: dict[str, tuple[int, bytes]] = {}
    claims: list[int] = []
    last: tuple[bytes, list[tuple[str, bytes]]] | None = None
    for offset in range(count):
        roll = random_.random()
        if len(claims) < 2 or roll < 0.06:
            claims.append(offset)
            value, headers = claim_record(Claim(f"owner-{offset}", f"host:{offset}", "test", offset))
            last = None
        elif roll < 0.12 and last is not None:
            value, headers = last
        else:
            void = roll < 0.2
            claim = random_.choice(claims[:-1]) if void else claims[-1]
            batch = _batch(random_, heads if not void else dict(heads), max(claim, 1))
            value, headers = batch_record(claim, batch)
            last = last if void else (value, headers)
        yield RawRecord(offset, headers, value)


def _batch(random_: random.Random, heads: dict[str, tuple[int, bytes]], claim: int) -> list[Recorded]:
    events = []
    for _ in range(random_.randrange(1, 9)):
        stream = random_.choice(STREAMS)
        sequence, previous = heads.get(stream, (0, NO_HASH))
        event = new_event(random_.randrange(10**6), payload=random_.randbytes(20))
        recorded = forged(stream, sequence + 1, claim, event, previous_hash=previous)
        heads[stream] = sequence + 1, recorded.hash
        events.append(recorded)
    return events


def knowledge(log: PartitionLog) -> dict[str, object]:
    """All that can be asked of a partition, to compare two of them."""
    return {
        "counts": log.counts,
        "places": (log.next_record, log.end, log.claim_offset, log.claim),
        "heads": sorted(log.heads(), key=lambda head: head.stream),
        "batches": log.records_from(0, 10**6),
        "records": {
            (stream, after): log.records_of(stream, after, 10**6) for stream in STREAMS for after in (0, 1, 5, 17)
        },
        "failure": str(log.failure or ""),
    }

"""Who a process is to the others, and what it tells of each partition."""

from dataclasses import dataclass
from typing import Self

from services.journal.kafka_partition import Counts, PartitionLog
from services.wire.batch import Claim


@dataclass(frozen=True, slots=True)
class Claimant:
    """Who claims: the process's name, where callers reach it ("host:port", may be empty), and its build."""

    owner: str
    address: str = ""
    build: str = ""


@dataclass(frozen=True, slots=True)
class PartitionStatus:
    """A partition as this process knows it: the latest claim and its epoch, what was counted, why it stopped (or empty).

    `owned` says whether this process writes it. `events_read` were read out of the log by this process, its own writes not
    counted. `snapshot_age_seconds` is None when it has no snapshot of the partition.
    """

    number: int
    topic: str
    kafka_partition: int
    epoch: int
    claim: Claim | None
    counts: Counts
    next_record: int
    stopped: str
    owned: bool
    events_read: int
    snapshot_age_seconds: float | None

    @classmethod
    def of(cls, log: PartitionLog, *, owned: bool, snapshot_age_seconds: float | None) -> Self:
        """The status that its log gives."""
        return cls(
            log.number,
            log.place.topic,
            log.place.partition,
            log.claim_offset,
            log.claim,
            log.counts,
            log.next_record,
            str(log.failure or ""),
            owned=owned,
            events_read=log.events_read,
            snapshot_age_seconds=snapshot_age_seconds,
        )

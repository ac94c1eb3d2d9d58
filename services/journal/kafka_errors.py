"""What can go wrong with a journal on Kafka besides what every journal knows, each error by the act it asks for."""

from services.journal.errors import JournalDamaged, JournalUnavailable
from services.journal.findings import Damage


class OutcomeUnknown(JournalUnavailable):
    """The append was on its way when its writer lost the broker or the partition; it may be written or not.

    Ask again with the same request id: what was written is found then.
    """


class PartitionNotOwned(JournalUnavailable):
    """This process does not write the partition; nothing of the append was written.

    `partition` is the port's number; `owner` and `address` are those of the latest claim, empty when nobody claimed it.
    """

    def __init__(self, partition: int, place: str, owner: str, address: str) -> None:
        held = f"{owner} at {address or 'no address'} owns it" if owner else "nobody has claimed it"
        super().__init__(f"{place} is not written by this process: {held}; send the command there")
        self.partition = partition
        self.owner = owner
        self.address = address


class TopicsRefused(JournalUnavailable):
    """The topics are not as the journal needs them; `complaints` name each setting and the command that mends it."""

    def __init__(self, complaints: tuple[str, ...]) -> None:
        super().__init__("the journal's topics are not safe to use:\n  " + "\n  ".join(complaints))
        self.complaints = complaints


class PartitionStopped(JournalDamaged):
    """A record that must not be there: every reader of its partition stops before it, on every machine alike.

    `topic`, `kafka_partition` and `offset` (Kafka's own) name the record, `kind` says what is wrong: `UNREADABLE`
    (garbage, not ours, a newer version), `EDITED` (wrong hash), `MISSING` (a gap), `FORKED`, or `TRUNCATED` (the log
    begins later or ends before); `reason` is for people.
    """

    def __init__(self, topic: str, kafka_partition: int, offset: int, kind: Damage, reason: str) -> None:
        Exception.__init__(
            self,
            f"{topic} partition {kafka_partition} offset {offset}: {kind}: {reason}; this partition is not read on"
            f" (`holecard journal inspect {topic} {kafka_partition} {offset}` shows the record)",
        )
        self.stream = ""
        self.sequence = 0
        self.reason = reason
        self.topic = topic
        self.kafka_partition = kafka_partition
        self.offset = offset
        self.kind = kind

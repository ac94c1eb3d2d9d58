"""The thread with which a process takes part in the group of owners: it reports, and hears which partitions it should own.

Promises: no callback waits for anything; a broker that is away is waited for; offsets are neither committed nor fetched.
What it hears is a wish: correctness rests on claims alone (DESIGN §4). Does not claim, and reads no record.
"""

import contextlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import structlog
from kafka import ConsumerRebalanceListener, KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from services.journal.errors import JournalUnavailable
from services.journal.kafka_cells import Assignment, CellAssignor, Place
from services.journal.kafka_cluster import Cluster
from services.journal.kafka_layout import Layout

log = structlog.get_logger(__name__)

_POLL_MS = 100
_PAUSE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """The group's `name`; the `topics` whose partitions this process takes; and when a silent member is given up."""

    name: str
    topics: tuple[str, ...]
    session_ms: int
    heartbeat_ms: int


class OwnerGroup:
    """One member of a group that shares out the partitions of `layout`.

    `held` says what this process owns, with the claims' epochs; `assigned` is called in the thread with every new share.
    """

    def __init__(
        self,
        cluster: Cluster,
        layout: Layout,
        plan: GroupPlan,
        held: Callable[[], Mapping[Place, int]],
        assigned: Callable[[Assignment], None],
    ) -> None:
        """Start the thread."""
        self.is_member = False
        self._cluster = cluster
        self._plan = plan
        self._assignor = CellAssignor(layout.topics, layout.partitions, held)
        self._assigned = assigned
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="journal-owners", daemon=True)
        self._thread.start()

    def leave(self) -> None:
        """Leave the group, so that the others share out anew at once, and end the thread. Blocks for a moment."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                with self._cluster.translated():
                    self._take_part()
            except JournalUnavailable as error:
                log.warning("not in the group of owners", reason=str(error))
            except Exception as error:  # the thread must outlive whatever the client library does
                log.exception("the group of owners failed", reason=repr(error))
            self.is_member = False
            self._stop.wait(_PAUSE_SECONDS)

    def _take_part(self) -> None:
        plan = self._plan
        consumer = self._cluster.group_member(
            plan.name, self._assignor, session_ms=plan.session_ms, heartbeat_ms=plan.heartbeat_ms
        )
        try:
            consumer.subscribe(list(plan.topics), listener=_Listener(self, consumer))
            while not self._stop.is_set():
                consumer.poll(timeout_ms=_POLL_MS)
        finally:
            self.is_member = False
            with contextlib.suppress(KafkaError, OSError):
                consumer.close(autocommit=False, timeout_ms=1_000)

    def told(self) -> None:
        """Hear in the thread that there is a new share."""
        self.is_member = True
        self._assigned(self._assignor.assignment)

    def asked_anew(self) -> None:
        """Hear in the thread that a new share is being worked out; until then the old one is served on."""
        self.is_member = False


class _Listener(ConsumerRebalanceListener):  # type: ignore[misc]  # kafka-python ships no types
    """Passes rebalances on, and keeps the consumer from reading what it is assigned."""

    def __init__(self, group: OwnerGroup, consumer: KafkaConsumer) -> None:
        self._group = group
        self._consumer = consumer

    def on_partitions_revoked(self, revoked: object) -> None:
        """Nothing is given up: what stays ours is served on without a break."""
        self._group.asked_anew()

    def on_partitions_assigned(self, assigned: Sequence[TopicPartition]) -> None:
        """Note the share. Positions are set by hand, lest the client asks the group's offsets, and never used."""
        for place in assigned:
            self._consumer.seek(place, 0)
        if assigned:
            self._consumer.pause(*assigned)
        self._group.told()

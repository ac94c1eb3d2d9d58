"""A process's part in a cluster: it opens the Kafka journal, joins the group of owners, claims what it is given, lets go.

Owns the way from a share to claims and back. Promises: the event loop never waits for the group; a partition that is kept is
served without a break through every rebalance; who leaves serves until others have claimed, so that a caller is redirected
and not refused. Correctness rests on the claims in the log alone. Knows partitions and streams, not what they mean.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path

import structlog

from services.journal.errors import JournalError
from services.journal.kafka_cells import Assignment, Place
from services.journal.kafka_group import GroupPlan, OwnerGroup
from services.journal.kafka_journal import Claimant, KafkaJournal
from services.journal.kafka_layout import PARTITIONS_A_TOPIC
from services.runtime.clock import Clock
from services.runtime.kafka_settings import KafkaSettings, owner_name

log = structlog.get_logger(__name__)

GROUP = "holecard-owners"
LOOK_SECONDS = 0.1
"""How often the process compares what it should own with what it does."""
PATIENCE_SECONDS = 2.0
"""How long somebody else may hold what is ours, or we what is somebody else's, before something is done about it. Also the
pause between two claims of one partition, lest two processes that each believe in their share take it from each other."""
LEAVE_SECONDS = 5.0
"""How long one who leaves waits for others to claim, before it ends anyway."""

Told = Callable[[frozenset[int]], Awaitable[None]]


class Membership:
    """`open`, then `start` once this process can serve, `leave` before it ends. `journal` is closed by whoever opened it."""

    def __init__(self, journal: KafkaJournal, settings: KafkaSettings, areas: Collection[str]) -> None:
        """`areas` are those whose streams this process may own."""
        self.journal = journal
        self._settings = settings
        self._numbers = frozenset(journal.layout.numbers_of(areas))
        self._told: list[tuple[Told, Told]] = []
        self._group: OwnerGroup | None = None
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()
        self._assignment = Assignment(frozenset(), {})
        self._assigned_s = 0.0
        self._claimed_s: dict[int, float] = {}
        self._claiming: set[asyncio.Task[None]] = set()
        self._serving: dict[int, int] = {}
        self._task: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls,
        settings: KafkaSettings,
        areas: Collection[str],
        *,
        following: Collection[str],
        folder: Path,
        clock: Clock,
        build: str,
    ) -> "Membership":
        """Open the journal, reading the partitions of the areas in `following`; snapshots lie in `folder`. Claims nothing.

        Raises TopicsRefused, WrongCluster, JournalUnavailable.
        """
        journal = await KafkaJournal.open(
            settings.cluster,
            settings.layout,
            Claimant(owner_name(), settings.advertise, build),
            partitions=(),
            following=settings.layout.numbers_of(following),
            clock=clock,
            folder=folder,
        )
        return cls(journal, settings, areas)

    def listen(self, gained: Told, lost: Told) -> None:
        """Have `gained` called with partitions that this process begins to serve, and `lost` with those it no longer does.

        One that comes back with another epoch is lost and gained again.
        """
        self._told.append((gained, lost))

    @property
    def serving(self) -> Mapping[int, int]:
        """The partitions that are served now, with their epochs."""
        return self._serving

    @property
    def is_settled(self) -> bool:
        """Whether this process has a share and serves exactly that."""
        group = self._group
        return group is not None and group.is_member and self._wanted() == set(self._serving)

    def described(self) -> dict[str, object]:
        """For people and scripts: this process's address, what it owns, and whether that is what it was given."""
        places = {number: self.journal.layout.kafka_partition(number) for number in self._serving}
        return {
            "address": self._settings.advertise,
            "settled": self.is_settled,
            "owned": [
                {"partition": n, "topic": places[n].topic, "kafka_partition": places[n].partition, "epoch": epoch}
                for n, epoch in sorted(self._serving.items())
            ],
        }

    async def start(self) -> None:
        """Join the group; what it gives is claimed in the background."""
        layout = self.journal.layout
        settings = self._settings
        topics = tuple(sorted({layout.kafka_partition(number).topic for number in self._numbers}))
        plan = GroupPlan(f"{settings.prefix}{GROUP}", topics, settings.session_ms, settings.heartbeat_ms)
        self._group = OwnerGroup(settings.cluster, layout, plan, self._held, self._heard)
        self._task = asyncio.create_task(self._keep())

    async def leave(self) -> None:
        """Leave the group, and serve on until others have claimed everything or there is nobody who could."""
        if self._group is None or self._task is None:
            return
        await asyncio.to_thread(self._group.leave)
        self._group = None
        left_s = self._loop.time()
        while self._others_will_claim() and self._loop.time() - left_s < LEAVE_SECONDS:
            await asyncio.sleep(LOOK_SECONDS / 2)
            await self._tell()
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        for claiming in self._claiming:
            claiming.cancel()
        log.info("left the group of owners", still_owned=len(self.journal.owned()))

    def _others_will_claim(self) -> bool:
        layout = self.journal.layout
        return any(
            self._assignment.takers.get(layout.kafka_partition(number).topic, 0) > 1 for number in self.journal.owned()
        )

    # --- in the group's thread --------------------------------------------------------------------------------------

    def _held(self) -> dict[Place, int]:
        places = {number: self.journal.layout.kafka_partition(number) for number in self._numbers}
        return {
            (places[number].topic, places[number].partition): epoch
            for number, epoch in self.journal.owned().items()
            if number in places
        }

    def _heard(self, assignment: Assignment) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended: nobody is left to hear
            self._loop.call_soon_threadsafe(self._take, assignment)

    # --- in the event loop ------------------------------------------------------------------------------------------

    def _take(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self._assigned_s = self._loop.time()
        self._claimed_s.clear()
        self._wake.set()

    def _wanted(self) -> set[int]:
        topics = {topic: number for number, topic in enumerate(self.journal.layout.topics)}
        return {topics[topic] * PARTITIONS_A_TOPIC + number for topic, number in self._assignment.places}

    async def _keep(self) -> None:
        while True:
            try:
                self._reconcile()
                await self._tell()
            except Exception as error:  # whatever a listener meets, the others' partitions go on
                log.exception("owning failed", reason=repr(error))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._wake.wait()
            self._wake.clear()

    def _reconcile(self) -> None:
        """Claim what is ours and not owned, release what has been another's for a while."""
        if self._group is None:
            return
        owned, wanted, now_s = self.journal.owned(), self._wanted(), self._loop.time()
        if self._group.is_member:
            due = {n for n in wanted - owned.keys() if now_s - self._claimed_s.get(n, float("-inf")) > PATIENCE_SECONDS}
            for number in due:
                self._claimed_s[number] = now_s
                task = asyncio.create_task(self._claim(number))
                self._claiming.add(task)
                task.add_done_callback(self._claiming.discard)
            # Until the new owner has claimed, the old one serves on; one that never comes leaves it to the next share.
            if now_s - self._assigned_s > PATIENCE_SECONDS and (over := owned.keys() - wanted):
                self.journal.release(over)

    async def _claim(self, number: int) -> None:
        try:
            await self.journal.claim([number])
        except JournalError as error:
            log.warning("a partition could not be claimed", partition=number, reason=str(error))
        self._wake.set()

    async def _tell(self) -> None:
        """Tell the listeners what has changed since they were last told."""
        now = self.journal.owned()
        before, self._serving = self._serving, now
        lost = frozenset(number for number, epoch in before.items() if now.get(number) != epoch)
        gained = frozenset(number for number, epoch in now.items() if before.get(number) != epoch)
        if not lost and not gained:
            return
        log.info("partitions changed hands", gained=sorted(gained), lost=sorted(lost), serving=len(now))
        for hear_gained, hear_lost in self._told:
            if lost:
                await hear_lost(lost)
            if gained:
                await hear_gained(gained)

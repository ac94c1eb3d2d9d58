"""The cluster's journal: the port over Kafka topics, one record being one group commit of one partition (DESIGN §4).

Promises what `port.Journal` says, for any number of processes: of those that claim a partition the latest writes, and
everybody reads the same. Partition numbers and offsets are those of `kafka_layout`. Every process replays the
partitions when it opens, from their beginning or from its own snapshot of them; memory is an index of the streams (some 10
bytes an event), not the events. Does not decide who should own what.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

from services.journal.commit_bell import CommitBell
from services.journal.commits import CommitObserver
from services.journal.errors import EventRefused, JournalClosed, JournalUnavailable, PositionBeyondEnd
from services.journal.kafka_cluster import Cluster
from services.journal.kafka_errors import PartitionStopped
from services.journal.kafka_follower import LogFollower
from services.journal.kafka_history import CHUNK_RECORDS, History
from services.journal.kafka_identity import recognise
from services.journal.kafka_layout import Layout, record_of
from services.journal.kafka_owners import OwnerNotes
from services.journal.kafka_partition import PartitionLog
from services.journal.kafka_snapshots import PartitionSnapshots
from services.journal.kafka_status import Claimant, PartitionStatus
from services.journal.kafka_topics import audit
from services.journal.kafka_writer import KafkaWriter
from services.journal.port import NewEvent, Recorded, StreamHead
from services.runtime.clock import Clock, SystemClock
from services.wire.batch import Claim

__all__ = ["Claimant", "KafkaJournal", "PartitionStatus"]

_PATIENCE_SECONDS = 60.0
"""How long a reader waits to come up to the log's end before it says that it cannot."""


class KafkaJournal:
    """A journal in Kafka topics. Made by `open` (claims partitions) or `open_read_only`."""

    def __init__(
        self,
        cluster: Cluster,
        layout: Layout,
        claimant: Claimant | None,
        clock: Clock,
        folder: Path | None,
        following: Iterable[int] | None = None,
    ) -> None:
        """Connect; blocks. Use `open` or `open_read_only`."""
        facts = audit(cluster, layout)
        if folder is not None:
            recognise(folder, facts)
        self._layout = layout
        numbers = layout.numbers if following is None else tuple(following)
        self._logs = {number: PartitionLog(layout, number) for number in numbers}
        self._snapshots = (
            None if folder is None else PartitionSnapshots(folder / "partitions", facts, self._logs.values())
        )
        if self._snapshots is not None:
            self._snapshots.restore()
        self._owner = "" if claimant is None else claimant.owner
        self._notes = OwnerNotes(cluster, layout.owners) if layout.owners and claimant is not None else None
        self._noted: dict[int, int] = {}
        self._bell = CommitBell(0)
        self._history = History(cluster)
        self._writer: KafkaWriter | None = None
        self._closing: asyncio.Task[None] | None = None
        if claimant is not None:

            def make_claim() -> Claim:
                return Claim(claimant.owner, claimant.address, claimant.build, clock.now_us())

            self._writer = KafkaWriter(cluster, self._logs, make_claim, clock, self._ring)
        try:
            self._follower = LogFollower(cluster, list(self._logs.values()), self._progressed)
        except JournalUnavailable:
            if self._writer is not None:
                self._writer.close()
            self._history.close()
            raise
        if self._snapshots is not None:
            self._snapshots.start()

    @classmethod
    async def open(
        cls,
        cluster: Cluster,
        layout: Layout,
        claimant: Claimant,
        *,
        partitions: Iterable[int] | None = None,
        following: Iterable[int] | None = None,
        clock: Clock | None = None,
        folder: Path | None = None,
    ) -> Self:
        """Open for writing and reading; claims the given partitions, all when None, and waits until they are replayed.

        `following` are the partitions that this journal reads and may ever claim, all when None; the others are as if they
        were not there. Whoever owned them before is fenced off. `folder` keeps this process's snapshots and remembers which
        cluster it is; without one everything is replayed. Raises TopicsRefused, WrongCluster, PartitionStopped,
        JournalUnavailable.
        """
        followed = None if following is None else tuple(following)
        clock = clock or SystemClock()
        journal = await asyncio.to_thread(cls, cluster, layout, claimant, clock, folder, followed)
        try:
            await journal.claim((followed or layout.numbers) if partitions is None else partitions)
        except BaseException:
            await journal.close()
            raise
        return journal

    @classmethod
    async def open_read_only(cls, cluster: Cluster, layout: Layout, *, folder: Path | None = None) -> Self:
        """Open for reading beside whoever writes; `folder` as for `open`.

        Raises TopicsRefused, WrongCluster, JournalUnavailable.
        """
        return await asyncio.to_thread(cls, cluster, layout, None, SystemClock(), folder)

    async def claim(self, partitions: Iterable[int]) -> None:
        """Make partitions this process's own, and wait until they are replayed; the owner before is fenced off.

        Raises PartitionStopped, JournalUnavailable.
        """
        await self._for_writing().claim(partitions)

    def release(self, partitions: Iterable[int]) -> None:
        """Write these partitions no longer, until they are claimed again; streams in them are answered PartitionNotOwned."""
        self._for_writing().release(partitions)

    def owned(self) -> dict[int, int]:
        """The partitions that this process writes now, as far as it has read them, each with its claim's epoch."""
        writer = self._writer
        return {} if writer is None else {n: epoch for n in self._logs if (epoch := writer.owned(n)) is not None}

    @property
    def layout(self) -> Layout:
        """Which stream lies where."""
        return self._layout

    @property
    def failure(self) -> JournalUnavailable | None:
        """What ended this journal for good: open it again; None while all is well, or will be by itself."""
        ended = self._follower.ended
        return None if ended is None else JournalUnavailable(f"the journal's reader has ended: {ended}")

    def partitions(self) -> tuple[PartitionStatus, ...]:
        """Every partition as this process knows it now."""
        return tuple(
            PartitionStatus.of(
                log,
                owned=self._writer is not None and self._writer.owned(log.number) is not None,
                snapshot_age_seconds=None if self._snapshots is None else self._snapshots.age_seconds(log.number),
            )
            for log in self._logs.values()
        )

    def stops(self) -> list[PartitionStopped]:
        """Why partitions are stopped, those that are."""
        return [log.failure for log in self._logs.values() if log.failure is not None]

    def observe_commits(self, observer: CommitObserver) -> None:
        """Tell `observer` of every commit of this process from now on; a reader has none."""
        if self._writer is not None:
            self._writer.observe = observer

    # --- the port ---------------------------------------------------------------------------------------------------

    async def append(self, stream: str, expected_sequence: int, events: Sequence[NewEvent]) -> tuple[Recorded, ...]:
        """See `port.Journal.append`; also raises PartitionNotOwned, OutcomeUnknown, PartitionStopped."""
        writer, number = self._for_writing(), self._layout.partition_of(stream)
        if number not in self._logs:
            raise JournalUnavailable(f"this process does not follow the partition of {stream}; nothing was written")
        return await writer.submit(number, stream, expected_sequence, events)

    async def read(self, stream: str, after_sequence: int = 0) -> AsyncGenerator[Recorded]:
        """See `port.Journal.read`; a stopped partition is read up to the record that stopped it."""
        try:
            log = self._logs[self._layout.partition_of(stream)]
        except (EventRefused, KeyError):
            return
        await self._come_up([log])
        while records := log.records_of(stream, after_sequence, CHUNK_RECORDS):
            for _, events in await self._chunk(log, records, stream):
                for recorded in events:
                    if recorded.envelope.sequence > after_sequence and recorded.envelope.stream == stream:
                        after_sequence = recorded.envelope.sequence
                        yield recorded
        if log.failure is not None:
            raise log.failure

    async def replay(self, after: Mapping[str, int]) -> AsyncGenerator[Recorded]:
        """See `port.Journal.replay`; each partition in log order. Streams of partitions not followed here give nothing."""
        wanted: defaultdict[int, dict[str, int]] = defaultdict(dict)
        for stream, sequence in after.items():
            number = self._layout.partition_of(stream)
            if number in self._logs:
                wanted[number][stream] = sequence
        await self._come_up([self._logs[number] for number in wanted])
        for number, its_streams in wanted.items():
            log = self._logs[number]
            records = log.records_with(its_streams)
            at = 0
            while at < len(records):
                for _, events in await self._chunk(log, records[at : at + CHUNK_RECORDS]):
                    at += 1
                    for recorded in events:
                        sequence = its_streams.get(recorded.envelope.stream, recorded.envelope.sequence)
                        if recorded.envelope.sequence > sequence:
                            yield recorded
            if log.failure is not None:
                raise log.failure

    async def subscribe(
        self, after: Mapping[int, int], *, partitions: Iterable[int] | None = None
    ) -> AsyncGenerator[Recorded]:
        """See `port.Journal.subscribe`; `partitions` narrows it to those.

        A stopped partition ends the subscription with PartitionStopped once all before it is given; who wants the others to
        go on subscribes to each by itself.
        """
        logs = {number: self._logs[number] for number in (self._logs if partitions is None else partitions)}
        places = await self._places(logs, after)
        while True:
            heard = self._bell.offset
            quiet = True
            for number, log in logs.items():
                record, done = places[number]
                records = log.records_from(record, CHUNK_RECORDS)
                if not records and log.failure is not None:
                    raise log.failure
                for at, events in await self._chunk(log, records):
                    quiet = False
                    for recorded in events[done:] if at == record else events:
                        yield recorded
                    places[number] = at + 1, 0
            if quiet:
                await self._wait(heard)

    def in_causal_order(self, given: Mapping[str, int]) -> AsyncIterator[Recorded]:
        """See `causal_reading`."""
        from services.journal.causal_reading import read_in_causal_order

        return read_in_causal_order(self, given)

    async def before_what_follows(self, given: Mapping[str, int]) -> dict[int, int]:
        """For each partition an offset after which all events lie that follow these sequences of their streams."""
        await self._come_up(list(self._logs.values()))
        return {number: log.before_what_follows(given) for number, log in self._logs.items()}

    async def end(self) -> Mapping[int, int]:
        """See `port.Journal.end`; 0 for an empty partition."""
        await self._come_up(list(self._logs.values()))
        return {number: log.end for number, log in self._logs.items()}

    async def streams(self, partitions: Iterable[int] | None = None) -> Sequence[StreamHead]:
        """See `port.Journal.streams`; those of a stopped partition as they stood before it. `partitions` narrows it."""
        logs = [self._logs[number] for number in (self._logs if partitions is None else partitions)]
        await self._come_up(logs)
        return sorted((head for log in logs for head in log.heads()), key=lambda head: head.stream)

    def heads(self, partitions: Iterable[int]) -> list[StreamHead]:
        """The streams of these partitions as far as they are read now."""
        return [head for number in partitions for head in self._logs[number].heads()]

    async def tenure(self, stream: str) -> int:
        """See `port.Journal.tenure`; the claim's epoch. Raises PartitionNotOwned, PartitionStopped."""
        writer, number = self._for_writing(), self._layout.partition_of(stream)
        if self._closing is not None:
            raise JournalClosed("the journal is closed")
        if number not in self._logs:
            raise JournalUnavailable(f"this process does not follow the partition of {stream}")
        if not writer.is_sure(number):
            await self._come_up([self._logs[number]])
            if (failure := self._logs[number].failure) is not None:
                raise failure
        return writer.epoch(number)

    async def close(self) -> None:
        """See `port.Journal.close`."""
        if self._closing is None:
            self._history.refuse_more()
            self._bell.stop()
            self._closing = asyncio.create_task(asyncio.to_thread(self._close))
        # Shielded: a caller that is cancelled must not leave threads behind, and a second caller waits for the first.
        await asyncio.shield(self._closing)

    # --- inside -----------------------------------------------------------------------------------------------------

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._follower.stop()
        self._history.close()
        if self._notes is not None:
            self._notes.close()
        if self._snapshots is not None:
            self._snapshots.close()

    def _for_writing(self) -> KafkaWriter:
        if self._writer is None:
            raise JournalClosed("the journal is open read-only: open it as a writer")
        return self._writer

    async def _places(self, logs: Mapping[int, PartitionLog], after: Mapping[int, int]) -> dict[int, tuple[int, int]]:
        """For each partition the record to begin with, and how many of its events are done; raises PositionBeyondEnd."""
        if after.keys() - logs.keys():
            raise PositionBeyondEnd(f"there are no partitions {sorted(after.keys() - logs.keys())} to go on in")
        await self._come_up(list(logs.values()))
        for number, offset in after.items():
            if not 0 <= offset <= logs[number].end:
                raise PositionBeyondEnd(
                    f"asked to go on after offset {offset} of partition {number}, which ends at {logs[number].end}:"
                    " it is another journal or an older copy; rebuild the reader"
                )
        return {number: record_of(after.get(number, 0)) for number in logs}

    async def _chunk(
        self, log: PartitionLog, records: Sequence[int], stream: str = ""
    ) -> list[tuple[int, tuple[Recorded, ...]]]:
        """The events of the first of these records, from memory when they are there; else of that stream alone, if named."""
        if not records:
            return []
        # What is in memory costs no waiting: without this a busy reader would not let the event loop do anything else.
        await asyncio.sleep(0)
        chunk = []
        for record in records:
            events = log.recent(record)
            if events is None:
                break
            chunk.append((record, events))
        return chunk or await self._history.fetch(log, records, stream)

    async def _come_up(self, logs: Sequence[PartitionLog]) -> None:
        """Wait until everything that is in these partitions now has been taken; at once for those surely owned here."""
        if self._closing is not None:
            raise JournalClosed("the journal is closed")
        await asyncio.sleep(0)
        others = [
            log for log in logs if log.failure is None and not (self._writer and self._writer.is_sure(log.number))
        ]
        if not others:
            return
        began = time.monotonic()
        reached = await self._history.reached(others)
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            heard = self._bell.offset
            behind = [
                log
                for log in others
                if log.failure is None and (log.next_record < reached[log.number] or not log.is_proved)
            ]
            if not behind:
                if self._writer is not None:
                    self._writer.seen([log.number for log in others], began)
                return
            if time.monotonic() > deadline or self._follower.is_refused:
                log = behind[0]
                trouble = self._follower.trouble or "it is still reading"
                raise JournalUnavailable(f"{log.place} is read up to {log.next_record} only: {trouble}; try again")
            try:
                async with asyncio.timeout(1):
                    await self._wait(heard)
            except TimeoutError:
                continue

    async def _wait(self, heard: int) -> None:
        """Wait for something new after `heard`; raises JournalClosed."""
        if not await self._bell.wait_beyond(heard):
            raise JournalClosed("the journal is closed")

    def _progressed(self, logs: Sequence[PartitionLog]) -> None:
        """Called in the follower's thread."""
        if self._writer is not None:
            self._writer.progressed(logs)
        if self._notes is not None:
            self._note_claims(self._notes, logs)
        self._ring()
        if any(log.failure is not None for log in logs):
            self._bell.disturb()

    def _note_claims(self, notes: OwnerNotes, logs: Sequence[PartitionLog]) -> None:
        for log in logs:
            epoch, claim = log.claim_offset, log.claim
            if claim is not None and claim.owner == self._owner and self._noted.get(log.number) != epoch:
                self._noted[log.number] = epoch
                notes.note(log.place, epoch, claim)

    def _ring(self) -> None:
        self._bell.ring(sum(log.next_record for log in self._logs.values()))

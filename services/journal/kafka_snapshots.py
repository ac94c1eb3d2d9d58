"""Snapshots of what a process knows of its partitions: read when it starts, cut in the background while it runs.

One file a partition. Promises: a snapshot only ever saves time. One that is missing, damaged, of another build, cluster,
topic or partition is passed over with a line in the log, and one that the log contradicts is deleted and the log read from
its beginning. Cutting holds nobody up for longer than it takes to note the streams' heads. Knows no aggregates.
"""

import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import structlog

from services.journal.code_version import code_digest
from services.journal.kafka_identity import ClusterFacts
from services.journal.kafka_partition import PartitionLog
from services.journal.snapshot_file import SnapshotUnusable, read_snapshot, remove_snapshot, write_snapshot
from services.wire.partition_snapshot import Origin, SnapshotInvalid, decode_snapshot, encode_snapshot

log = structlog.get_logger(__name__)

CUT_EVENTS = 50_000
"""A snapshot is cut anew after so many events, …"""
CUT_SHARE = 10
"""… or a tenth of all, whichever is more, so that a long log is not written again and again, …"""
CUT_EVENTS_MOST = 200_000
"""… but always after so many: what is read after the snapshot takes a few seconds at most."""
CUT_SECONDS = 300.0
"""A snapshot that is older is cut anew when anything has happened since."""
_LOOK_SECONDS = 2.0
_CODE = (
    "services.journal.kafka_partition",
    "services.journal.kafka_stream_index",
    "services.journal.kafka_records",
    "services.journal.kafka_layout",
    "services.journal.chain",
    "services.wire.batch",
    "services.wire.envelope",
    "services.wire.envelope_frame",
    "services.wire.partition_snapshot",
)
"""What decides how records are read; a change of any of it makes every snapshot an unknown one."""


class PartitionSnapshots:
    """The snapshots of these partitions in `folder`; `restore` before they are read, then `start`, `close` at the end."""

    def __init__(self, folder: Path, facts: ClusterFacts, logs: Iterable[PartitionLog]) -> None:
        self._folder = folder
        self._logs: Mapping[int, PartitionLog] = {one.number: one for one in logs}
        code = code_digest(*_CODE)
        self._origins = {
            number: Origin(
                code, facts.cluster_id, one.place.topic, facts.topics[one.place.topic].id, one.place.partition
            )
            for number, one in self._logs.items()
        }
        self._cut_at_s: dict[int, float] = {}
        self._cut_records: dict[int, int] = {}
        self._cut_events: dict[int, int] = {}
        self._began_s = time.time()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="journal-snapshots", daemon=True)

    def restore(self) -> None:
        """Let every partition begin where its snapshot ends; blocks for reading the files."""
        for number, partition in self._logs.items():
            path = self._path(number)
            try:
                snapshot = decode_snapshot(read_snapshot(path))
                _check_origin(snapshot.origin, self._origins[number])
                cut_at_s = path.stat().st_mtime
            except (SnapshotUnusable, SnapshotInvalid, OSError) as error:
                if not getattr(error, "missing", False):
                    log.warning("a snapshot is passed over, the log is read instead", file=str(path), reason=str(error))
                continue
            partition.resume(snapshot, lambda reason, number=number: self._doubted(number, reason))  # type: ignore[misc]
            self._note(number, cut_at_s, snapshot.next_record, snapshot.events)

    def start(self) -> None:
        """Begin to cut."""
        self._thread.start()

    def close(self) -> None:
        """Cut what has changed and end. Blocks; call it off the event loop, when nothing is taken any more."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self.cut_all()

    def cut_all(self) -> None:
        """Cut every partition that has changed since its snapshot. Blocks."""
        for number, partition in self._logs.items():
            if partition.next_record != self._cut_records.get(number, 0):
                self._cut(number)

    def age_seconds(self, number: int) -> float | None:
        """How long ago the partition's snapshot was cut; None when there is none."""
        cut_at_s = self._cut_at_s.get(number)
        return None if cut_at_s is None else max(0.0, time.time() - cut_at_s)

    def _run(self) -> None:
        while not self._stop.wait(_LOOK_SECONDS):
            for number in self._logs:
                if self._is_due(number):
                    self._cut(number)

    def _is_due(self, number: int) -> bool:
        partition = self._logs[number]
        if partition.next_record == self._cut_records.get(number, 0):
            return False
        events = partition.counts.events
        behind = events - self._cut_events.get(number, 0)
        if behind >= min(max(CUT_EVENTS, events // CUT_SHARE), CUT_EVENTS_MOST):
            return True
        return time.time() - self._cut_at_s.get(number, self._began_s) >= CUT_SECONDS

    def _cut(self, number: int) -> None:
        snapshot = self._logs[number].cut(self._origins[number])
        if snapshot is None:
            return
        path = self._path(number)
        try:
            write_snapshot(path, encode_snapshot(snapshot))
        except OSError as error:
            log.warning("a snapshot cannot be written, the next start takes longer", file=str(path), reason=str(error))
        # Noted also after a failure: a full disk is not tried again every two seconds.
        self._note(number, time.time(), snapshot.next_record, snapshot.events)

    def _note(self, number: int, cut_at_s: float, next_record: int, events: int) -> None:
        self._cut_at_s[number] = cut_at_s
        self._cut_records[number] = next_record
        self._cut_events[number] = events

    def _doubted(self, number: int, reason: str) -> None:
        path = self._path(number)
        log.warning("a snapshot is not of this log, which is read from its beginning", file=str(path), reason=reason)
        remove_snapshot(path)
        self._cut_at_s.pop(number, None)
        self._cut_records.pop(number, None)
        self._cut_events.pop(number, None)

    def _path(self, number: int) -> Path:
        place = self._logs[number].place
        return self._folder / f"{place.topic}-{place.partition}.snapshot"


def _check_origin(found: Origin, ours: Origin) -> None:
    if found.cluster_id != ours.cluster_id:
        raise SnapshotUnusable(f"it is of cluster {found.cluster_id}, this is {ours.cluster_id}")
    if (found.topic, found.partition) != (ours.topic, ours.partition):
        raise SnapshotUnusable(f"it is of {found.topic} {found.partition}, not of {ours.topic} {ours.partition}")
    if found.topic_id != ours.topic_id:
        raise SnapshotUnusable(f"topic {ours.topic} was made anew since it was cut")
    if found.code != ours.code:
        raise SnapshotUnusable("another build cut it")

"""Snapshots of folded states in a folder: a restart reads on from them instead of folding every stream from its beginning.

One file a stream. Promises: cutting and reading are done in a thread of their own, so that no command waits for a disk; a
snapshot that is missing, damaged, of another build or another stream is passed over with a line in the log, and so is one
whose last event is not in the log. Does not decide when states change.
"""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Generic, TypeVar

import structlog

from services.journal.code_version import code_digest
from services.journal.snapshot_file import SnapshotUnusable, read_snapshot, remove_snapshot, write_snapshot
from services.runtime.folding import Folded
from services.runtime.state_codec import StateUnreadable, decode_state, encode_state
from services.wire import state_snapshot
from services.wire.partition_snapshot import SnapshotInvalid

S = TypeVar("S")

log = structlog.get_logger(__name__)

CUT_EVENTS = 250
"""A stream's state is cut anew after so many events, which are folded in some ten milliseconds, …"""
CUT_PAUSE_SECONDS = 30.0
"""… but not again so soon, since a cut costs some milliseconds of the interpreter, …"""
CUT_EVENTS_MOST = 1_000
"""… unless so many events have come."""
CUT_SECONDS = 300.0
"""How often states that have changed at all are cut."""
_CODE = ("services.game", "services.wire", "services.runtime.folding", "services.runtime.state_codec")


def is_due(events: int, since_s: float) -> bool:
    """Whether a state shall be cut so many events and seconds after it was cut last."""
    return events >= CUT_EVENTS_MOST or (events >= CUT_EVENTS and since_s >= CUT_PAUSE_SECONDS)


class StateSnapshots:
    """The snapshots of one process in `folder`. Call `start` inside its event loop, and `close` at the end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="state-snapshots")
        self._hosts: list[Callable[[], Awaitable[None]]] = []
        self._timer: asyncio.Task[None] | None = None

    def of(self, area: str, kind: type[S], cut_all: Callable[[], Awaitable[None]]) -> "AreaSnapshots[S]":
        """Those of one area, whose states are of that class; `cut_all` shall cut all its states that have changed."""
        self._hosts.append(cut_all)
        return AreaSnapshots(self._folder, self._thread, area, kind)

    def start(self) -> None:
        """Cut by time from now on."""
        self._timer = asyncio.create_task(self._cut_by_time())

    async def cut_all(self) -> None:
        """Cut every state that has changed since it was cut last."""
        for cut in self._hosts:
            await cut()

    async def close(self) -> None:
        """Cut what has changed, and wait until it is written."""
        if self._timer is not None:
            self._timer.cancel()
        await self.cut_all()
        await asyncio.to_thread(self._thread.shutdown)

    async def _cut_by_time(self) -> None:
        while True:
            await asyncio.sleep(CUT_SECONDS)
            await self.cut_all()


class AreaSnapshots(Generic[S]):
    """The snapshots of one area's streams. Made by `StateSnapshots.of`."""

    def __init__(self, folder: Path, thread: ThreadPoolExecutor, area: str, kind: type[S]) -> None:
        self._folder = folder / area
        self._thread = thread
        self._area = area
        self._kind = kind
        self._code = code_digest(*_CODE, f"services.{area}")

    async def load(self, stream: str) -> Folded[S] | None:
        """The stream's snapshot if there is one that this build can read; the log has the last word on it."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._load, stream)

    def cut(self, folded: Folded[S]) -> None:
        """Write a snapshot in the background."""
        self._thread.submit(self._cut, folded)

    def doubt(self, stream: str) -> None:
        """Hear that the stream's log does not have the event with which its snapshot ends."""
        path = self._path(stream)
        log.warning("a state's snapshot is not of this log, which is folded from its beginning", file=str(path))
        self._thread.submit(remove_snapshot, path)

    def _load(self, stream: str) -> Folded[S] | None:
        path = self._path(stream)
        try:
            kept = state_snapshot.decode_state(read_snapshot(path))
            self._check(kept, stream)
            state = self._state(kept.state)
        except (SnapshotUnusable, SnapshotInvalid, StateUnreadable) as error:
            if not getattr(error, "missing", False):
                log.warning(
                    "a state's snapshot is passed over, the log is folded instead", file=str(path), reason=str(error)
                )
            return None
        return Folded(stream, kept.sequence, kept.hash, state, kept.requests)

    def _check(self, kept: state_snapshot.StateSnapshot, stream: str) -> None:
        if kept.stream != stream:
            raise SnapshotUnusable(f"it is of {kept.stream[:80]!r}, not of {stream!r}")
        if kept.code != self._code:
            raise SnapshotUnusable("another build cut it")

    def _state(self, data: bytes) -> S:
        state = decode_state(data, self._area)
        if not isinstance(state, self._kind):
            raise StateUnreadable(f"it holds a {type(state).__name__}, not a {self._kind.__name__}")
        return state

    def _cut(self, folded: Folded[S]) -> None:
        path = self._path(folded.stream)
        try:
            state = encode_state(folded.state)
            kept = state_snapshot.StateSnapshot(
                self._code, folded.stream, folded.sequence, folded.hash, folded.requests, state
            )
            write_snapshot(path, state_snapshot.encode_state(kept))
        except Exception as error:  # noqa: BLE001 - whatever hinders a snapshot may cost time and nothing else
            log.warning("a state's snapshot cannot be cut", file=str(path), reason=f"{type(error).__name__}: {error}")

    def _path(self, stream: str) -> Path:
        # Streams' names hold what file names must not.
        return self._folder / f"{sha256(stream.encode()).hexdigest()[:32]}.snapshot"

"""The one thread that writes a gateway's log: whatever waits shares one transaction, and so one wait for the disk.

Promises: an answer leaves only after its transaction is on disk; a job that is refused has written nothing and hurts no
other; when the transaction fails, every job in it fails and nothing of it is kept. A full disk may have room again later;
any other failure is for good (crash-only), since nobody can say what a failing disk holds.
"""

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from services.floor.gateway_file import GatewayLogUnusable, what_to_do
from services.game.rejections import Rejection
from services.runtime.failures import ServiceUnavailable

T = TypeVar("T")

MOST_WAITING: Final = 5_000
"""Jobs that may wait for the disk; one more is turned away before memory grows."""


class GatewayDiskFailed(ServiceUnavailable):
    """Nothing of the report was kept: the device keeps it and sends it again."""


@dataclass(slots=True)
class _Job:
    work: Callable[[], Any]
    answer: "asyncio.Future[Any]"


class GroupWriter:
    """Owns the connection. `remember` is called before each transaction and gives what takes memory back to there."""

    def __init__(self, connection: sqlite3.Connection, path: Path, remember: Callable[[], Callable[[], None]]) -> None:
        self.failure: GatewayLogUnusable | None = None
        self._connection = connection
        self._path = path
        self._remember = remember
        self._after: list[Callable[[], None]] = []
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._waiting = 0
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="gateway-log", daemon=True)
        self._thread.start()

    async def do(self, work: Callable[[], T]) -> T:
        """Have `work` done in the thread and its transaction committed; raises its Rejection, or GatewayDiskFailed."""
        if self._closed:
            raise GatewayDiskFailed("the gateway is ending: send it again")
        if self.failure is not None:
            raise GatewayDiskFailed(str(self.failure))
        if self._waiting >= MOST_WAITING:
            raise GatewayDiskFailed(f"{self._waiting} reports wait for the disk: send it again in a moment")
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting += 1
        self._jobs.put(_Job(work, answer))
        try:
            # A caller that gives up must not take its report out of a group that is being committed.
            return await asyncio.shield(answer)
        finally:
            self._waiting -= 1

    def after_commit(self, apply: Callable[[], None]) -> None:
        """Called by work: do this once its transaction is on disk."""
        self._after.append(apply)

    async def close(self) -> None:
        """Write what waits and close the connection."""
        if not self._closed:
            self._closed = True
            self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        open_for_more = True
        while open_for_more:
            group: list[_Job] = []
            job = self._jobs.get()
            try:
                while job is not None:
                    group.append(job)
                    job = self._jobs.get_nowait()
                open_for_more = False
            except queue.Empty:
                pass
            if group:
                self._commit(group)
        self._connection.close()

    def _commit(self, group: list[_Job]) -> None:
        answers: list[tuple[_Job, Any]] = []
        forget = self._remember()
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for job in group:
                outcome = _outcome(job)
                answers.append((job, outcome))
            self._connection.execute("COMMIT")
            for apply in self._after:
                apply()
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody may be left waiting for an answer
            forget()
            failure = self._failed(error)
            answers = [(job, failure) for job in group]
        self._after.clear()
        for job, outcome in answers:
            _deliver(job, outcome)

    def _failed(self, error: Exception) -> GatewayDiskFailed:
        """Take the transaction back."""
        text = f"gateway log {self._path}: {what_to_do(error)}; nothing of the report was kept"
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except sqlite3.Error:
            self.failure = GatewayLogUnusable(text)
        if not getattr(error, "sqlite_errorname", "").startswith("SQLITE_FULL"):
            self.failure = GatewayLogUnusable(text)
        return GatewayDiskFailed(text)


def _outcome(job: _Job) -> Any:
    try:
        return job.work()
    except Rejection as refusal:
        return refusal


def _deliver(job: _Job, outcome: Any) -> None:
    def answer() -> None:
        if job.answer.done():
            return
        if isinstance(outcome, Exception):
            job.answer.set_exception(outcome)
            # The caller may have gone: then nobody takes the answer, and that is no fault.
            job.answer.exception()
        else:
            job.answer.set_result(outcome)

    try:
        job.answer.get_loop().call_soon_threadsafe(answer)
    except RuntimeError:
        # The loop is closed: nobody is left who could hear the answer.
        return

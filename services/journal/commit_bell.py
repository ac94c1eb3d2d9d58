"""Wakes the tasks that wait for the next commit, on whatever event loop they run.

Promises: no wake-up is lost: who asks for an offset that is already reached is not made to wait. Does not poll.
"""

import asyncio
import threading
from collections import defaultdict


class CommitBell:
    """Rung by the writer thread after each commit; heard by subscriptions."""

    def __init__(self, offset: int) -> None:
        self._offset = offset
        self._lock = threading.Lock()
        self._waiting: defaultdict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = defaultdict(list)
        self._stopped = False
        self._disturbances = 0

    @property
    def offset(self) -> int:
        """The last committed offset that was rung."""
        return self._offset

    def ring(self, offset: int) -> None:
        """Tell every waiting task that the log now reaches `offset`. Called from any thread."""
        self._wake(offset)

    def disturb(self) -> None:
        """Wake every waiting task once, as if something had been committed: it shall look for itself."""
        with self._lock:
            self._disturbances += 1
        self._wake(self._offset)

    def stop(self) -> None:
        """Wake every waiting task for good: the journal is closed."""
        self._stopped = True
        self._wake(self._offset)

    async def wait_beyond(self, offset: int) -> bool:
        """Return True once the log reaches further than `offset`, or is said to by `disturb`; False once it is closed."""
        before = self._disturbances
        while True:
            with self._lock:
                if self._stopped or self._offset > offset or self._disturbances > before:
                    return not self._stopped
                loop = asyncio.get_running_loop()
                heard: asyncio.Future[None] = loop.create_future()
                self._waiting[loop].append(heard)
            await heard

    def _wake(self, offset: int) -> None:
        with self._lock:
            self._offset = max(self._offset, offset)
            if not self._waiting:
                return
            waiting = dict(self._waiting)
            self._waiting.clear()
        for loop, futures in waiting.items():
            try:
                loop.call_soon_threadsafe(_release, futures)
            except RuntimeError:
                # That loop is closed, and with it every task that could have waited.
                continue


def _release(futures: list[asyncio.Future[None]]) -> None:
    for heard in futures:
        if not heard.done():
            heard.set_result(None)

"""What a table does without being asked: trying again after a failure, and answering for those who let their time pass.

Owns background tasks, one of each kind for a table. Promises that failures of one table hold up no other, that pauses
grow and are jittered, and that nothing is remembered here that the log does not hold: a restart begins again from it.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable

import structlog

FIRST_PAUSE_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 5.0
AT_ONCE = 8

log = structlog.get_logger(__name__)


class Pacer:
    """Calls `resume(key)` until it says that the table needs no more, and `expire(key)` when a deadline passes."""

    def __init__(
        self,
        now_us: Callable[[], int],
        resume: Callable[[str], Awaitable[bool]],
        expire: Callable[[str], Awaitable[None]],
    ) -> None:
        self._now_us = now_us
        self._resume = resume
        self._expire = expire
        self._retries: dict[str, asyncio.Task[None]] = {}
        self._alarms: dict[str, tuple[int, asyncio.Task[None]]] = {}
        # Many tables that come back at once must not starve the commands of those that play.
        self._room = asyncio.Semaphore(AT_ONCE)
        self._stopped = False

    def try_again(self, key: str, *, at_once: bool = False) -> None:
        """See to it that the table goes on, in the background."""
        if self._stopped or key in self._retries:
            return
        task = asyncio.get_running_loop().create_task(self._keep_trying(key, at_once=at_once))
        self._retries[key] = task
        task.add_done_callback(lambda done: self._ended(key, done))

    def is_trying(self, key: str) -> bool:
        """Whether the table is being tried again."""
        return key in self._retries

    def alarm(self, key: str, deadline_us: int) -> None:
        """Ring for the table at `deadline_us`, 0 for not at all; a new deadline replaces the one before."""
        armed = self._alarms.get(key)
        if armed is not None:
            if armed[0] == deadline_us:
                return
            del self._alarms[key]
            if armed[1] is not asyncio.current_task():
                armed[1].cancel()
        if deadline_us and not self._stopped:
            task = asyncio.get_running_loop().create_task(self._ring(key, deadline_us))
            self._alarms[key] = (deadline_us, task)

    def drop(self, key: str) -> None:
        """End what runs for the table: another process sees to it from now on."""
        retry = self._retries.pop(key, None)
        if retry is not None:
            retry.cancel()
        self.alarm(key, 0)

    async def stop(self) -> None:
        """End every background task."""
        self._stopped = True
        tasks = [*self._retries.values(), *(task for _, task in self._alarms.values())]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._alarms.clear()

    def _ended(self, key: str, task: "asyncio.Task[None]") -> None:
        if self._retries.get(key) is task:
            del self._retries[key]

    async def _keep_trying(self, key: str, *, at_once: bool) -> None:
        pause = 0.0 if at_once else FIRST_PAUSE_SECONDS
        while True:
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - not a secret
            async with self._room:
                if await self._resume(key):
                    return
            pause = min(max(pause, FIRST_PAUSE_SECONDS / 2) * 2, LONGEST_PAUSE_SECONDS)

    async def _ring(self, key: str, deadline_us: int) -> None:
        # The clock is a port: it may have been moved meanwhile, so it is asked again after each sleep.
        while (left_us := deadline_us - self._now_us()) > 0:  # noqa: ASYNC110 - no event marks a moment in time
            await asyncio.sleep(left_us / 1_000_000)
        try:
            await self._expire(key)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - the end of a background task: the retry takes over
            log.warning("a deadline could not be kept", table=key, reason=str(error))
            self.try_again(key)
        finally:
            armed = self._alarms.get(key)
            if armed is not None and armed[1] is asyncio.current_task():
                del self._alarms[key]

"""Reading the journal live in batches, and going on after whatever happened.

Owns the two loops of surveillance: one that projects, one that audits. Each reads for itself, so that laws that work
through a long log never hold up the floor overview. Promises that an error costs time only: the loop says why it
stands, waits, and goes on from what is written. Never in the way of a hand.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress

import structlog

from services.journal.port import Recorded
from services.runtime.failures import ServiceUnavailable

BATCH = 500
QUEUED = 2_000
REST_SECONDS = 0.1
"""Between two batches that are not full: a transaction for each commit of the house costs more than playing does, and takes
the interpreter from the tables. So a reader that keeps up is behind by about this much."""
FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 10.0

log = structlog.get_logger(__name__)

Subscribe = Callable[[], Awaitable[AsyncIterator[Recorded]]]
Handle = Callable[[Sequence[Recorded]], Awaitable[None]]


async def batches(subscription: AsyncIterator[Recorded], handle: Handle, share: float, enough: asyncio.Event) -> None:
    """Give `handle` what has come since it was last called, at most BATCH at once; ends by an error, or by `enough`.

    While a backlog is worked through, at most `share` of the time is spent on it: the house plays in the same process.
    """
    loop = asyncio.get_running_loop()
    came: deque[Recorded] = deque()
    something = asyncio.Event()
    awake = asyncio.Event()
    awake.set()

    async def read() -> None:
        async for recorded in subscription:
            came.append(recorded)
            something.set()
            if len(came) >= QUEUED:
                awake.clear()
            # Not asked for more during a rest, the journal reads what has come since in one go.
            if not awake.is_set():
                await awake.wait()

    reader = asyncio.ensure_future(read())
    telling = asyncio.ensure_future(enough.wait())
    try:
        while True:
            if not came:
                something.clear()
                waiting = asyncio.ensure_future(something.wait())
                await asyncio.wait({waiting, reader, telling}, return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
            if enough.is_set():
                return
            if not came:
                await reader
                raise EOFError("the journal's subscription ended")
            batch = [came.popleft() for _ in range(min(BATCH, len(came)))]
            started = loop.time()
            if len(batch) == BATCH:
                awake.set()
                await handle(batch)
                await asyncio.sleep((loop.time() - started) * (1 / share - 1))
                continue
            awake.clear()
            await handle(batch)
            await asyncio.sleep(REST_SECONDS)
            awake.set()
            # The reader first takes in all that came during the rest.
            await asyncio.sleep(0)
    finally:
        telling.cancel()
        reader.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await reader


class Follower:
    """One loop over the journal. `trouble` is empty while it runs, else why it stands."""

    def __init__(self, name: str, subscribe: Subscribe, handle: Handle, *, share: float) -> None:
        self.name = name
        self._share = share
        self.trouble = "not started"
        self._subscribe = subscribe
        self._handle = handle
        self._task: asyncio.Task[None] | None = None
        self._enough = asyncio.Event()

    def start(self) -> None:
        """Begin reading in the background."""
        self._task = asyncio.ensure_future(self._run())

    def again(self) -> None:
        """Subscribe again after the batch in hand, since what was handled is not there any more."""
        self._enough.set()

    async def stop(self) -> None:
        """End; what was handled is written."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        self.trouble = "stopped"

    async def _run(self) -> None:
        pause = FIRST_PAUSE_SECONDS
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            self._enough.clear()
            try:
                subscription = await self._subscribe()
                self.trouble = ""
                await batches(subscription, self._handle, self._share, self._enough)
                continue
            except asyncio.CancelledError:
                raise
            except ServiceUnavailable as error:
                # What it waits for says itself what it is: where in our code that showed is of no use to anybody.
                self.trouble = str(error)
                log.warning("surveillance waits", reader=self.name, reason=self.trouble)
            except Exception as error:
                self.trouble = f"{type(error).__name__}: {error}"
                log.exception("surveillance stands", reader=self.name)
            # Troubles that lie far apart are not one that goes on.
            pause = FIRST_PAUSE_SECONDS if loop.time() - began > LONGEST_PAUSE_SECONDS else pause
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

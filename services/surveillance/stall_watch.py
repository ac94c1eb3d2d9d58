"""Ending a process that does not go on: a thread that looks whether something counts up, and does no more than that.

A stream worker can stand still with status ready, and what stands in a process cannot be asked to mend itself. So the
process is ended, and whoever keeps it alive (supervisor, Kubernetes) starts another.
"""

import os
import threading
from collections.abc import Callable

import structlog

EXIT_STATUS = 75
"""EX_TEMPFAIL: nothing is wrong with the call, another try may do."""

log = structlog.get_logger(__name__)


class StallWatch:
    """Calls `end` once `progress` has not changed for `seconds`."""

    def __init__(
        self, progress: Callable[[], int], seconds: float, end: Callable[[], None] = lambda: os._exit(EXIT_STATUS)
    ) -> None:
        self._progress = progress
        self._seconds = seconds
        self._end = end
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="stall-watch", daemon=True)

    def start(self) -> None:
        """Watch from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Watch no more."""
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        seen = self._progress()
        while not self._over.wait(self._seconds):
            now = self._progress()
            if now == seen:
                log.error("the worker stands still; this process ends, to be started again", seconds=self._seconds)
                self._end()
                return
            seen = now

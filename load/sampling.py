"""Where a process spends its time, by room of the house: a sampler on the standard library alone.

Every few milliseconds of processor time the main thread interrupts itself (SIGPROF) and looks what it is doing; another
thread looks at the rest. Each look is charged with the processor time that the thread has used since the last one, by
its own clock, so that waiting costs nothing and the shares are shares of the processor. Threads that never run Python
(gRPC's own) are what the process used beyond that. Looking costs a few per cent and is in the figures.
"""

import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any

PERIOD_SECONDS = 0.003

NATIVE = "grpc and event loop (native)"
COMMIT = "sqlite commit (fsync)"

# The first that fits, from the innermost frame outwards; what fits none is charged to whoever called it.
_ROOMS: tuple[tuple[str, str], ...] = (
    ("services/game/", "game"),
    ("services/table/", "table"),
    ("services/shoe/", "shoe"),
    ("services/wager/", "wager"),
    ("services/journal/", "journal"),
    ("services/wire/", "wire"),
    ("services/runtime/", "runtime"),
    ("services/surveillance/", "surveillance"),
    ("services/console/", "console"),
    ("/sqlalchemy/", "surveillance (sqlalchemy)"),
    ("/google/protobuf/", "wire"),
    ("/grpc/", NATIVE),
    ("/structlog/", "logging"),
    ("/prometheus_client/", "metrics"),
)


class Sampler:
    """Samples this process from `start` to `stop`."""

    def __init__(self) -> None:
        self.rooms: Counter[str] = Counter()
        self.functions: Counter[str] = Counter()
        self.threads: Counter[str] = Counter()
        self.samples = 0
        self.committing = 0
        self._clocks: dict[int, float] = {}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)
        self._main = threading.main_thread()
        self._began = self._began_cpu = 0.0

    def start(self) -> None:
        """Begin; to be called from the main thread."""
        self._began, self._began_cpu = time.perf_counter(), time.process_time()
        self._main = threading.main_thread()
        # From another thread the main one is mostly seen where it lets go of the interpreter, so it looks at itself.
        signal.signal(signal.SIGPROF, lambda _, frame: self._look(self._main.ident or 0, self._main.name, frame))
        signal.siginterrupt(signal.SIGPROF, False)
        signal.setitimer(signal.ITIMER_PROF, PERIOD_SECONDS, PERIOD_SECONDS)
        self._thread.start()

    def stop(self) -> dict[str, Any]:
        """End; gives seconds of processor time by room and by function (self time, the most first)."""
        signal.setitimer(signal.ITIMER_PROF, 0)
        self._stopped.set()
        self._thread.join()
        wall, cpu = time.perf_counter() - self._began, time.process_time() - self._began_cpu
        self.rooms[NATIVE] += max(0.0, cpu - sum(self.rooms.values()))  # type: ignore[assignment]  # seconds, not counts
        return {
            "wall_seconds": round(wall, 2),
            "cpu_seconds": round(cpu, 2),
            "samples": self.samples,
            "cpu_by_room": {name: round(seconds, 3) for name, seconds in self.rooms.most_common() if seconds > 0},
            "cpu_by_thread": {name: round(seconds, 3) for name, seconds in self.threads.most_common() if seconds > 0},
            "hottest_functions": {name: round(seconds, 3) for name, seconds in self.functions.most_common(60)},
            "share_of_time_committing": round(self.committing / max(1, self.samples), 3),
        }

    def _run(self) -> None:
        mine = threading.get_ident()
        while not self._stopped.wait(PERIOD_SECONDS):
            names = {thread.ident: thread.name for thread in threading.enumerate()}
            self.samples += 1
            for ident, frame in sys._current_frames().items():  # noqa: SLF001 - the documented way to see other threads
                if ident not in {mine, self._main.ident} and ident in names:
                    self.committing += self._look(ident, names[ident], frame) == COMMIT

    def _look(self, ident: int, thread: str, frame: FrameType | None) -> str:
        """Charge the thread's time since the last look; gives the room that it is in."""
        room, function = charged_to(_outwards(frame))
        try:
            clock = time.clock_gettime(time.pthread_getcpuclockid(ident))
        except (OSError, ProcessLookupError):
            return room
        used = clock - self._clocks.get(ident, clock)
        self._clocks[ident] = clock
        self.rooms[room] += used  # type: ignore[assignment]  # seconds, not counts
        self.functions[function] += used  # type: ignore[assignment]  # as above
        self.threads[thread.partition("_")[0]] += used  # type: ignore[assignment]  # as above
        return room


def _outwards(frame: FrameType | None) -> Iterator[tuple[str, str]]:
    """File and function of each frame, the innermost first."""
    while frame is not None:
        yield frame.f_code.co_filename, frame.f_code.co_qualname
        frame = frame.f_back


def charged_to(frames: Iterable[tuple[str, str]]) -> tuple[str, str]:
    """The room that a stack is charged to, and the innermost function of that room."""
    for file, function in frames:
        for part, room in _ROOMS:
            if part in file:
                name = f"{file[file.rfind(part) :].lstrip('/')}:{function}"
                # A commit of the journal runs inside SQLite, which lets go of the interpreter: its time is the disk's.
                return (COMMIT if function.endswith("SqliteWriter._write") else room), name
    return NATIVE, "(event loop)"

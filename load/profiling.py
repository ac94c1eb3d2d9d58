"""Where a process spends its processor time, by room of the house, on the standard library alone.

The event loop's thread is profiled call by call (cProfile on the thread's own CPU clock, so waiting costs nothing); what
the library functions use is charged to the room that calls them. Every other thread is charged as a whole by its CPU
clock. What the process used beyond that is gRPC's own threads. Profiling makes Python code slower by a third to a half,
which overstates the rooms a little against what is native.
"""

import cProfile
import pstats
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, cast

LOOK_SECONDS = 0.02
NATIVE = "grpc and event loop (native)"

# The first that fits a function's file; what fits none is charged to whoever called it.
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
    ("/grpc/", NATIVE),
    ("/structlog/", "logging"),
    ("/prometheus_client/", "metrics"),
)
_THREADS: tuple[tuple[str, str], ...] = (
    ("journal-writer", "journal: writer thread (encode, hash, fsync)"),
    ("journal-reader", "journal: reader threads"),
    ("surveillance", "surveillance: threads"),
    ("uvloop", "surveillance: threads"),
    ("asyncio", "surveillance: threads"),
)

Function = tuple[str, int, str]


class Profiler:
    """Profiles this process from `start` to `stop`, both called on the event loop's thread."""

    def __init__(self) -> None:
        self._profile = cProfile.Profile(time.thread_time)
        self._looks = self._committing = 0
        self._stopped = threading.Event()
        self._watch = threading.Thread(target=self._look, name="profiler", daemon=True)
        self._began = self._began_cpu = self._began_main = 0.0
        self._clocks: dict[int, float] = {}

    def start(self) -> None:
        """Begin."""
        self._clocks = _thread_clocks()
        self._began, self._began_cpu, self._began_main = time.perf_counter(), time.process_time(), time.thread_time()
        self._watch.start()
        self._profile.enable()

    def stop(self) -> dict[str, Any]:
        """End; gives seconds of processor time by room, by thread and by function (its own, the most first)."""
        self._profile.disable()
        main = time.thread_time() - self._began_main
        wall, cpu = time.perf_counter() - self._began, time.process_time() - self._began_cpu
        threads = self._by_thread(main)
        self._stopped.set()
        self._watch.join()
        functions = _own_times(self._profile)
        rooms: defaultdict[str, float] = defaultdict(float)
        for (file, _, _), seconds in functions.items():
            rooms[room_of(file) or NATIVE] += seconds
        for name, seconds in threads.items():
            room = next((room for part, room in _THREADS if part in name), None)
            if room is not None:
                rooms[room] += seconds
        rooms[NATIVE] += max(0.0, cpu - sum(rooms.values()))
        hottest = {f"{_short(file)}:{name}": seconds for (file, _, name), seconds in functions.items()}
        return {
            "wall_seconds": round(wall, 2),
            "cpu_seconds": round(cpu, 2),
            "cpu_by_room": _rounded(rooms),
            "cpu_by_thread": _rounded(threads),
            "hottest_functions": dict(list(_rounded(hottest).items())[:60]),
            "share_of_time_committing": round(self._committing / max(1, self._looks), 3),
        }

    def _by_thread(self, main: float) -> dict[str, float]:
        threads = defaultdict(float, {"MainThread": main})
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        for ident, clock in _thread_clocks().items():
            if ident != threading.main_thread().ident:
                used = clock - self._clocks.get(ident, 0.0)
                threads[names.get(ident, "?").rstrip("0123456789").rstrip("_-")] += used
        return threads

    def _look(self) -> None:
        """See now and then whether the journal's thread is in a commit, which is mostly waiting for the disk."""
        while not self._stopped.wait(LOOK_SECONDS):
            self._looks += 1
            frames = sys._current_frames().values()  # noqa: SLF001 - the documented way to see other threads
            self._committing += any(frame.f_code.co_qualname == "SqliteWriter._write" for frame in frames)


def room_of(file: str) -> str | None:
    """The room that a file belongs to; None for libraries and built-in functions."""
    return next((room for part, room in _ROOMS if part in file), None)


def _own_times(profile: cProfile.Profile) -> dict[Function, float]:
    """Seconds by function; what belongs to no room goes to its callers, by their shares in it."""
    stats = cast("Mapping[Function, Any]", cast("Any", pstats.Stats(profile)).stats)
    own = {function: float(found[2]) for function, found in stats.items()}
    # A library's functions call each other: a few passes bring their time out to the rooms.
    for _ in range(12):
        moved: defaultdict[Function, float] = defaultdict(float)
        for function, seconds in own.items():
            callers = stats[function][4]
            total = sum(share[2] for share in callers.values())
            if room_of(function[0]) is not None or not total:
                moved[function] += seconds
                continue
            for caller, share in callers.items():
                moved[caller] += seconds * share[2] / total
        own = dict(moved)
    return own


def _thread_clocks() -> dict[int, float]:
    found = {}
    for thread in threading.enumerate():
        if thread.ident is not None:
            try:
                found[thread.ident] = time.clock_gettime(time.pthread_getcpuclockid(thread.ident))
            except OSError:
                continue  # it ended meanwhile
    return found


def _rounded(seconds: Mapping[str, float]) -> dict[str, float]:
    """The most first, without what is next to nothing."""
    most_first = sorted(seconds.items(), key=lambda item: -item[1])
    return {name: round(value, 3) for name, value in most_first if value > 0.0005}


def _short(file: str) -> str:
    for mark in ("/services/", "/site-packages/"):
        if mark in file:
            return file[file.rfind(mark) + len(mark) :]
    return file.rpartition("/")[2]

"""A process that does not go on is ended; one that goes on is left alone."""

import itertools
import threading

from services.surveillance.stall_watch import StallWatch


def test_what_stands_still_is_ended_once() -> None:
    ended = threading.Event()
    watch = StallWatch(lambda: 7, 0.01, ended.set)
    watch.start()
    assert ended.wait(30)
    watch.stop()


def test_what_goes_on_is_left_alone() -> None:
    ended, asked = threading.Event(), threading.Semaphore(0)
    counting = itertools.count()

    def progress() -> int:
        asked.release()
        return next(counting)

    watch = StallWatch(progress, 0.01, ended.set)
    watch.start()
    for _ in range(10):
        assert asked.acquire(timeout=30)
    watch.stop()
    assert not ended.is_set()

"""How long the read model has been behind the journal: by what was seen of both, not by the clocks in the events.

Owns that measure. Promises that a reader that stands still is further behind every second, whatever the newest event it
has says; that a quiet house is not behind; bounded memory. Pure.
"""

from collections.abc import Mapping

MOST_SIGHTINGS = 512


class LagWatch:
    """Remembers where the journal ended at each look, until the read model has got there."""

    def __init__(self) -> None:
        self._sightings: list[tuple[int, Mapping[int, int]]] = []
        self._level_us: int | None = None

    def look(self, now_us: int, end: Mapping[int, int], read: Mapping[int, int], newest_us: int) -> int:
        """Take a look, and say for how many µs something has been in the journal that is not in the read model.

        `end` and `read` are offsets by partition; `newest_us` is when the newest event that was read was recorded
        (0: none), by which a reader that starts with a backlog is judged.
        """
        if _has(read, end):
            self._sightings.clear()
            self._level_us = now_us
            return 0
        reached = 0
        for at_us, ends in self._sightings:
            if not _has(read, ends):
                break
            self._level_us = at_us
            reached += 1
        del self._sightings[:reached]
        if len(self._sightings) >= MOST_SIGHTINGS:
            # The older half of the looks, thinned out: the further behind, the less a second matters.
            self._sightings = self._sightings[::2]
        self._sightings.append((now_us, dict(end)))
        return self.unseen(now_us, newest_us)

    def unseen(self, now_us: int, newest_us: int = 0) -> int:
        """The same when nobody can be asked: it has been so since the last time that it was not."""
        since = self._level_us if self._level_us is not None else (newest_us or now_us)
        return max(0, now_us - since)


def _has(read: Mapping[int, int], ends: Mapping[int, int]) -> bool:
    return all(read.get(partition, 0) >= offset for partition, offset in ends.items())

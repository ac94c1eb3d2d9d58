"""One order for events of several partitions in which nothing stands before what led to it.

Order between partitions is not defined; readers that compare the streams of one table need one nevertheless. Owns the rule:
each stream's own order; an event after its cause; what another stream did because of an event before what its own stream did
next, since who asked waited for the answer; else by recorded time. Promises to give each event once, and that hosts' clocks
may differ by SKEW_US without harm. Holds back what lies within that time, no more. Does not read a journal.
"""

import heapq
from collections import deque
from collections.abc import Iterable, Iterator

from services.journal.port import Recorded

SKEW_US = 5_000_000


class CausalOrder:
    """Give it each partition's events in log order with `take`, and take out what is `ready`."""

    def __init__(self, partitions: Iterable[int], skew_us: int = SKEW_US) -> None:
        self._skew_us = skew_us
        self._read_us: dict[int, int] = dict.fromkeys(partitions, 0)
        self._tables: dict[str, _Table] = {}
        self._due: list[tuple[int, str]] = []

    def next_to_read(self) -> int | None:
        """The partition that holds the others up; None when all have ended."""
        return min(self._read_us, key=lambda number: (self._read_us[number], number), default=None)

    def take(self, recorded: Recorded) -> None:
        """Take a partition's next event."""
        partition, envelope = recorded.position.partition, recorded.envelope
        self._read_us[partition] = max(self._read_us[partition], envelope.recorded_time_us)
        key = envelope.stream.partition(":")[2]
        table = self._tables.get(key)
        if table is None:
            table = self._tables[key] = _Table()
        if table.is_empty:
            heapq.heappush(self._due, (envelope.recorded_time_us, key))
        table.take(recorded)

    def end(self, partition: int) -> None:
        """Hear that a partition gives no more."""
        self._read_us.pop(partition, None)

    def ready(self) -> Iterator[Recorded]:
        """Give what nothing that is still to be read can come before."""
        limit = min(self._read_us.values(), default=None)
        while self._due:
            _, key = self._due[0]
            table = self._tables[key]
            chosen = table.first()
            time_us = chosen.envelope.recorded_time_us
            if limit is not None and time_us + self._skew_us >= limit:
                if time_us <= self._due[0][0]:
                    return
                # What must come before it is later by its clock: look again when that much has been read.
                heapq.heapreplace(self._due, (time_us, key))
                continue
            table.give(chosen)
            if table.is_empty:
                heapq.heappop(self._due)
            else:
                heapq.heapreplace(self._due, (table.first().envelope.recorded_time_us, key))
            yield chosen


class _Table:
    """The streams of one key: what waits of each, and how far each was given."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[Recorded]] = {}
        self._given: dict[str, int] = {}

    @property
    def is_empty(self) -> bool:
        return not self._waiting

    def take(self, recorded: Recorded) -> None:
        self._waiting.setdefault(recorded.envelope.stream, deque()).append(recorded)

    def give(self, recorded: Recorded) -> None:
        stream = recorded.envelope.stream
        waiting = self._waiting[stream]
        waiting.popleft()
        if not waiting:
            del self._waiting[stream]
        self._given[stream] = recorded.envelope.sequence

    def first(self) -> Recorded:
        """The event to give next: an answer to what was given, else the earliest whose cause is not still to come."""
        heads = [waiting[0] for waiting in self._waiting.values()]
        free = [head for head in heads if not self._waits_for_cause(head)]
        return min(free or heads, key=lambda head: (not self._is_answer(head), head.envelope.recorded_time_us))

    def _waits_for_cause(self, recorded: Recorded) -> bool:
        cause = recorded.envelope.cause
        if cause is None or cause.stream == recorded.envelope.stream:
            return False
        coming = self._waiting.get(cause.stream)
        if not coming:
            return False
        return self._given.get(cause.stream, 0) < cause.sequence <= coming[-1].envelope.sequence

    def _is_answer(self, recorded: Recorded) -> bool:
        cause = recorded.envelope.cause
        return (
            cause is not None
            and cause.stream != recorded.envelope.stream
            and self._given.get(cause.stream, 0) >= cause.sequence
        )

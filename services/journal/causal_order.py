"""One order for events of several partitions in which nothing stands before what led to it.

Order between partitions is not defined; readers that compare the streams of one table need one nevertheless. Owns the rule:
each stream's own order; an event after its cause; what another stream did because of an event before what its own stream did
next, since who asked waited for the answer; else by recorded time. Promises to give each event once, and that hosts' clocks
may differ by SKEW_US without harm. Holds back what lies within that time, no more. Does not read a journal.
"""

import heapq
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping

from services.game.authority import EventId
from services.journal.port import Recorded

SKEW_US = 5_000_000


class CausalOrder:
    """Give it each partition's events in log order with `take`, and take out what is `ready`."""

    def __init__(self, partitions: Iterable[int], skew_us: int = SKEW_US) -> None:
        self._skew_us = skew_us
        self._read_us: dict[int, int] = dict.fromkeys(partitions, 0)
        self._idle: set[int] = set()
        self._tables: dict[str, _Table] = {}
        self._due: list[tuple[int, str]] = []

    def next_to_read(self) -> int | None:
        """The partition that holds the others up; None when none is to be read."""
        reading = self._read_us.keys() - self._idle
        return min(reading, key=lambda number: (self._read_us[number], number), default=None)

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
        self._idle.discard(partition)

    def idle(self, partition: int, time_us: int) -> None:
        """Hear that a partition held no more at that time by our clock; not asked for again until `go_on`."""
        self._read_us[partition] = max(self._read_us[partition], time_us)
        self._idle.add(partition)

    def go_on(self, partition: int) -> None:
        """Hear that an idle partition holds more."""
        self._idle.discard(partition)

    def live(self) -> "LiveOrder":
        """Go on by what is read after what; this one is not used any more."""
        return LiveOrder(self._tables)

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


class LiveOrder:
    """The same for a log that goes on, where nobody knows what will come: by what was read after what.

    Whatever led to an event was durable before it. So once everything that the log held at a moment after the event was read
    has been read too (`complete`), all that must come before it is here, whatever the clocks say.
    """

    def __init__(self, tables: "dict[str, _Table] | None" = None) -> None:
        self._tables = {} if tables is None else tables
        self._new: dict[str, set[EventId]] = {key: table.events for key, table in self._tables.items()}

    def take(self, recorded: Recorded) -> None:
        """Take a partition's next event."""
        envelope = recorded.envelope
        key = envelope.stream.partition(":")[2]
        self._tables.setdefault(key, _Table()).take(recorded)
        self._new.setdefault(key, set()).add(EventId(envelope.stream, envelope.sequence))

    def mark(self) -> dict[str, set[EventId]]:
        """What was taken since the mark before and not given; to be handed to `complete`."""
        new, self._new = self._new, {}
        return new

    def complete(self, marked: Mapping[str, set[EventId]]) -> Iterator[Recorded]:
        """Give the marked events: everything that the log held when they had been taken has been taken by now."""
        for key, events in marked.items():
            table, left = self._tables[key], set(events)
            while left:
                chosen = table.first(left)
                table.give(chosen)
                given = EventId(chosen.envelope.stream, chosen.envelope.sequence)
                left.discard(given)
                self._new.get(key, set()).discard(given)
                yield chosen


class _Table:
    """The streams of one key: what waits of each, and how far each was given."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[Recorded]] = {}
        self._given: dict[str, int] = {}

    @property
    def is_empty(self) -> bool:
        return not self._waiting

    @property
    def events(self) -> set[EventId]:
        return {
            EventId(stream, recorded.envelope.sequence) for stream, many in self._waiting.items() for recorded in many
        }

    def take(self, recorded: Recorded) -> None:
        self._waiting.setdefault(recorded.envelope.stream, deque()).append(recorded)

    def give(self, recorded: Recorded) -> None:
        stream = recorded.envelope.stream
        waiting = self._waiting[stream]
        waiting.popleft()
        if not waiting:
            del self._waiting[stream]
        self._given[stream] = recorded.envelope.sequence

    def first(self, among: Collection[EventId] | None = None) -> Recorded:
        """The event to give next: an answer to what was given, else the earliest whose cause is not still to come.

        With `among`, one of these or one that must come before one of these.
        """
        heads = [waiting[0] for waiting in self._waiting.values()]
        if among is not None:
            wanted = {event.stream for event in among}
            heads = [head for head in heads if head.envelope.stream in wanted or self._is_answer(head)]
            heads += [self._waiting[stream][0] for stream in self._causes(heads) if stream not in wanted]
        free = [head for head in heads if not self._waits_for_cause(head)]
        return min(free or heads, key=lambda head: (not self._is_answer(head), head.envelope.recorded_time_us))

    def _causes(self, heads: Iterable[Recorded]) -> set[str]:
        """The streams in which these events' causes still wait."""
        return {head.envelope.cause.stream for head in heads if head.envelope.cause and self._waits_for_cause(head)}

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

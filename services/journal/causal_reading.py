"""Reading every event of a journal, live, in an order in which nothing stands before what led to it.

For readers that compare the streams of one table, such as the laws. A journal of one partition has that order by itself; of
several it is made: a backlog is read by its times, what comes then by what was read after what, which holds each event back
for about PAUSE_SECONDS. Promises each event once. Begins at the beginning, or where an earlier reading in this order was.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from services.journal.causal_order import CausalOrder
from services.journal.port import Journal, Recorded
from services.runtime.clock import SystemClock

if TYPE_CHECKING:
    # A house on the embedded journal starts without Kafka's client, which takes a third of a second to load.
    from services.journal.kafka_journal import KafkaJournal

PAUSE_SECONDS = 0.2
"""Between two looks at the log's end; each costs one request."""
NEARLY_US = 2_000_000
"""Who needed no longer than this for the backlog has caught up."""


@runtime_checkable
class CausallyRead(Protocol):
    """A journal that makes the order itself."""

    def in_causal_order(self, given: Mapping[str, int]) -> AsyncIterator[Recorded]:
        """Give every event of every stream after the given sequences, for ever; some of those before them may come again."""
        ...


_START: Mapping[int, int] = MappingProxyType({})
_NOTHING: Mapping[str, int] = MappingProxyType({})


def in_causal_order(
    journal: Journal, after: Mapping[int, int] = _START, given: Mapping[str, int] = _NOTHING
) -> AsyncIterator[Recorded]:
    """Give every event of every stream, for ever; raises what `Journal.subscribe` raises.

    To go on where an earlier reading in this order was: `given` is how far each stream was given, `after` the last offset of
    each partition. Tables that share a partition are given apart, so some events may come again; none is left out.
    """
    return journal.in_causal_order(given) if isinstance(journal, CausallyRead) else journal.subscribe(after)


async def read_in_causal_order(
    journal: "KafkaJournal", given: Mapping[str, int] = _NOTHING
) -> AsyncGenerator[Recorded]:
    """The same for a journal of several partitions."""
    starts = await journal.before_what_follows(given)
    reading = _Reading(
        {number: journal.subscribe({number: at}, partitions=[number]) for number, at in starts.items()}, starts
    )
    try:
        order = CausalOrder(reading.at)
        async for recorded in _backlog(journal, reading, order):
            yield recorded
        live = order.live()
        while True:
            marked = live.mark()
            end = await journal.end()
            for number in reading.at:
                while reading.at[number] < end[number]:
                    live.take(await reading.next(number))
            for recorded in live.complete(marked):
                yield recorded
            await asyncio.sleep(PAUSE_SECONDS)
    finally:
        await reading.close()


async def _backlog(journal: "KafkaJournal", reading: "_Reading", order: CausalOrder) -> AsyncGenerator[Recorded]:
    """Everything but the last seconds, which stay in the order."""
    clock = SystemClock()
    while True:
        began_us = clock.now_us()
        end = await journal.end()
        for number in reading.at:
            if reading.at[number] < end[number]:
                order.go_on(number)
            else:
                order.idle(number, began_us)
        while (behind := order.next_to_read()) is not None:
            order.take(await reading.next(behind))
            if reading.at[behind] >= end[behind]:
                order.idle(behind, began_us)
            for ready in order.ready():
                yield ready
        if clock.now_us() - began_us < NEARLY_US:
            return


class _Reading:
    """A reading of each partition, and how far it is."""

    def __init__(self, readings: dict[int, AsyncGenerator[Recorded]], at: Mapping[int, int]) -> None:
        self._readings = readings
        self.at = dict(at)

    async def next(self, number: int) -> Recorded:
        """The partition's next event; waits for it."""
        recorded = await anext(self._readings[number])
        self.at[number] = recorded.position.offset
        return recorded

    async def close(self) -> None:
        """End them."""
        for reading in self._readings.values():
            await reading.aclose()

"""Building the read model and the meters again from the journal, beside the ones in use, and swapping them in.

Owns that procedure. Promises that whoever reads meanwhile sees the old rows whole and then the new ones whole, that findings
stay, and that a build that fails leaves everything as it was. A build can stop at any position of the journal.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine

from services.game.rejections import Rejection
from services.journal.causal_reading import CausallyRead
from services.journal.port import Journal, Recorded
from services.surveillance.facts import Fact, FactReader
from services.surveillance.meter_store import fold_in
from services.surveillance.places import Place
from services.surveillance.projection import Projection

BATCH = 1_000


class PositionOutOfRange(Rejection):
    """A position that the journal has not."""

    rule = "surveillance"
    remedy = "Give one that is not beyond the end: `holecard surveillance status` shows where each partition ends."


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What was built: events, and the last offset of each partition."""

    events: int
    positions: Mapping[int, int]


async def rebuild(
    journal: Journal, place: Place, *, to: Mapping[int, int] | None = None, told: Callable[[int], None] = lambda _: None
) -> Rebuilt:
    """Build everything again and swap it in; `told` hears now and then how many events are done.

    `to` is the last offset wanted of each partition (absent: none of it); None builds up to the end. Raises
    PositionOutOfRange, the journal's errors, ReadModelRefused, JournalLocked when another build is under way, DBAPIError.
    """
    with place.beside() as engine:
        built = await build(journal, engine, to=to, told=told)
        await asyncio.to_thread(engine.dispose)
        await asyncio.to_thread(place.swap)
    return built


async def build(
    journal: Journal,
    engine: Engine,
    *,
    to: Mapping[int, int] | None = None,
    told: Callable[[int], None] = lambda _: None,
) -> Rebuilt:
    """Fill an empty database, up to a position or to where the journal ends now; see `rebuild`."""
    projection = await asyncio.to_thread(Projection, engine, also=_fold)
    end = dict(await journal.end())
    until = end if to is None else dict(to)
    for partition, offset in until.items():
        if not 0 <= offset <= end.get(partition, 0):
            raise PositionOutOfRange(f"partition {partition} ends at {end.get(partition, 0)}, before {offset}")
    reader, batch, events = FactReader(), list[Fact](), 0
    async for recorded in up_to(journal, until):
        batch.append(reader.read(recorded))
        if len(batch) >= BATCH:
            await asyncio.to_thread(projection.project, batch)
            events += len(batch)
            told(events)
            batch = []
    await asyncio.to_thread(projection.project, batch)
    told(events + len(batch))
    return Rebuilt(events + len(batch), dict(projection.positions))


async def up_to(journal: Journal, until: Mapping[int, int]) -> AsyncIterator[Recorded]:
    """Every event up to these offsets of the partitions, each after what led to it; then it ends."""
    left = {number for number, offset in until.items() if offset}
    if isinstance(journal, CausallyRead):
        from services.journal.kafka_fsck import until as in_order
        from services.journal.kafka_journal import KafkaJournal

        if not isinstance(journal, KafkaJournal):
            raise TypeError(f"a rebuild reads a journal itself, not through {type(journal).__name__}")
        async for recorded in in_order(journal, {number: until[number] for number in left}):
            if recorded.position.offset <= until[recorded.position.partition]:
                yield recorded
        return
    if not left:
        return
    async for recorded in journal.subscribe({}):
        number, offset = recorded.position
        if offset <= until.get(number, 0):
            yield recorded
        if offset >= until.get(number, 0):
            left.discard(number)
        if not left:
            return


def _fold(connection: Connection, facts: Sequence[Fact]) -> None:
    fold_in(connection, facts)

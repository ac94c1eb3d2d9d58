"""Building the read model and the meters again from the journal, beside the ones in use, and swapping them in.

Owns that procedure. Promises that whoever reads meanwhile sees the old rows whole and then the new ones whole, that findings
stay, and that a build that fails leaves everything as it was. A build can stop at any position of the journal.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine

from services.game.rejections import Rejection
from services.journal.causal_reading import in_causal_order
from services.journal.port import Journal
from services.surveillance.facts import Fact, FactReader
from services.surveillance.meter_store import fold_in
from services.surveillance.places import Place
from services.surveillance.projection import Projection

BATCH = 1_000
NEAR = 2_000
"""So few events behind the journal's end the new rows are swapped in: whoever projects does the rest."""


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
    """Fill an empty database, up to a position or to the journal's end; see `rebuild`."""
    projection = await asyncio.to_thread(Projection, engine, also=_fold)
    end = dict(await journal.end())
    until = end if to is None else dict(to)
    for partition, offset in until.items():
        if not 0 <= offset <= end.get(partition, 0):
            raise PositionOutOfRange(f"partition {partition} ends at {end.get(partition, 0)}, before {offset}")
    events = 0
    while True:
        events += await _read(journal, projection, until, events, told)
        if to is not None:
            break
        until = dict(await journal.end())
        if sum(head.sequence for head in await journal.streams()) - events <= NEAR:
            break
    return Rebuilt(events, dict(projection.positions))


async def _read(
    journal: Journal, projection: Projection, until: Mapping[int, int], before: int, told: Callable[[int], None]
) -> int:
    reader = FactReader()
    left = {number for number, offset in until.items() if projection.positions.get(number, 0) < offset}
    batch: list[Fact] = []
    events = 0
    if not left:
        return 0
    async for recorded in in_causal_order(journal, dict(projection.positions)):
        number, offset = recorded.position
        if offset <= until.get(number, 0):
            batch.append(reader.read(recorded))
            events += 1
        if offset >= until.get(number, 0):
            left.discard(number)
        if len(batch) >= BATCH or not left:
            await asyncio.to_thread(projection.project, batch)
            told(before + events)
            batch = []
        if not left:
            break
    return events


def _fold(connection: Connection, facts: Sequence[Fact]) -> None:
    fold_in(connection, facts)

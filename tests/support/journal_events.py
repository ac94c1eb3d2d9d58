"""Events to put into a journal, for tests that care about the journal and not about the game."""

import asyncio
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from services.game.authority import Actor, EventId, Role
from services.journal.port import Journal, NewEvent
from services.journal.sqlite import SqliteJournal
from services.runtime.clock import ManualClock

STREAM = "table:black-hawk/BJ-07"
OTHER_STREAM = "shoe:black-hawk/BJ-07"
DEALER = Actor(Role.DEALER, "D-17")


def new_event(
    number: int, *, payload: bytes | None = None, request_id: str = "", occurred_time_us: int = 0
) -> NewEvent:
    """The event with that number: its payload says which it is."""
    return NewEvent(
        type="holecard.table.v1.CardDealt",
        schema_version=1,
        payload=f"card {number}".encode() if payload is None else payload,
        occurred_time_us=occurred_time_us or 1_796_000_000_000_000 + number,
        actor=DEALER,
        request_id=request_id or f"request-{number}",
        request_digest=sha256(str(number).encode()).digest(),
        cause=EventId("wager:black-hawk/BJ-07", number) if number % 2 else None,
        round_id="black-hawk/BJ-07#12",
        gaming_day="2026-11-30",
    )


def new_events(numbers: Iterable[int]) -> list[NewEvent]:
    """The events with those numbers."""
    return [new_event(number) for number in numbers]


async def fill(journal: Journal, stream: str, count: int, *, after: int = 0) -> None:
    """Append `count` events to a stream that ends at `after`."""
    await journal.append(stream, after, new_events(range(after + 1, after + count + 1)))


def write_journal(path: Path, *streams: tuple[str, int]) -> None:
    """Make a journal file with those streams, each with that many events, dealt in turn like cards."""

    async def write() -> None:
        journal = SqliteJournal.open(path, clock=ManualClock())
        for number in range(max(count for _, count in streams)):
            for stream, count in streams:
                if number < count:
                    await fill(journal, stream, 1, after=number)
        await journal.close()

    asyncio.run(write())

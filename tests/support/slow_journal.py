"""A journal in memory that lets others run before and after each append, as often as chance says: for interleavings."""

import asyncio
import random
from collections.abc import AsyncIterator, Mapping, Sequence

from services.journal.errors import SequenceConflict
from services.journal.port import NewEvent, Position, Recorded, StreamHead
from services.wire.envelope import NO_HASH, Envelope, encode


class SlowJournal:
    """One partition; nothing is kept beyond the process."""

    def __init__(self, chance: random.Random, most_pauses: int = 4) -> None:
        self._chance = chance
        self._most_pauses = most_pauses
        self._streams: dict[str, list[Recorded]] = {}
        self._count = 0

    async def append(self, stream: str, expected_sequence: int, events: Sequence[NewEvent]) -> tuple[Recorded, ...]:
        """See Journal."""
        await self._pause()
        kept = self._streams.setdefault(stream, [])
        if len(kept) != expected_sequence:
            raise SequenceConflict(stream, expected_sequence, len(kept))
        for event in events:
            previous = kept[-1].hash if kept else NO_HASH
            envelope = Envelope(
                stream=stream,
                sequence=len(kept) + 1,
                type=event.type,
                payload=event.payload,
                schema_version=event.schema_version,
                occurred_time_us=event.occurred_time_us,
                recorded_time_us=event.occurred_time_us,
                actor=event.actor,
                request_id=event.request_id,
                request_digest=event.request_digest,
                cause=event.cause,
                round_id=event.round_id,
                gaming_day=event.gaming_day,
                writer_epoch=1,
                previous_hash=previous,
            )
            self._count += 1
            kept.append(Recorded(Position(0, self._count), envelope, encode(envelope)))
        new = tuple(kept[expected_sequence:])
        await self._pause()
        return new

    async def read(self, stream: str, after_sequence: int = 0) -> AsyncIterator[Recorded]:
        """See Journal."""
        for recorded in self._streams.get(stream, [])[after_sequence:]:
            yield recorded

    async def replay(self, after: Mapping[str, int]) -> AsyncIterator[Recorded]:
        """See Journal."""
        for stream, sequence in after.items():
            async for recorded in self.read(stream, sequence):
                yield recorded

    async def tenure(self, _stream: str) -> int:
        """See Journal; there is one writer for ever."""
        return 0

    async def subscribe(self, after: Mapping[int, int]) -> AsyncIterator[Recorded]:
        """See Journal; ends at the end of the log."""
        everything = sorted((r for kept in self._streams.values() for r in kept), key=lambda r: r.position.offset)
        for recorded in everything:
            if recorded.position.offset > after.get(0, 0):
                yield recorded

    async def end(self) -> Mapping[int, int]:
        """See Journal."""
        return {0: self._count}

    async def streams(self) -> Sequence[StreamHead]:
        """See Journal."""
        return [StreamHead(name, len(kept), kept[-1].hash) for name, kept in sorted(self._streams.items()) if kept]

    async def close(self) -> None:
        """See Journal."""

    async def _pause(self) -> None:
        for _ in range(self._chance.randrange(self._most_pauses)):
            await asyncio.sleep(0)

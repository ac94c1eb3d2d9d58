"""A journal of one partition that is a list of recorded events, for readers that need no more than reading."""

from collections.abc import AsyncIterator, Mapping, Sequence

from services.journal.errors import JournalUnavailable
from services.journal.port import NewEvent, Recorded, StreamHead


class ListedJournal:
    """Gives what is in the list; nothing is checked, so that it can also be a broken one."""

    def __init__(self, rows: Sequence[Recorded]) -> None:
        self.rows = list(rows)

    async def append(self, stream: str, expected_sequence: int, events: Sequence[NewEvent]) -> tuple[Recorded, ...]:
        raise JournalUnavailable(f"this journal is only read: {stream}, {expected_sequence}, {len(events)} events")

    async def read(self, stream: str, after_sequence: int = 0) -> AsyncIterator[Recorded]:
        for row in list(self.rows):
            if row.envelope.stream == stream and row.envelope.sequence > after_sequence:
                yield row

    async def replay(self, after: Mapping[str, int]) -> AsyncIterator[Recorded]:
        for row in list(self.rows):
            if row.envelope.sequence > after.get(row.envelope.stream, 1 << 62):
                yield row

    async def tenure(self, stream: str) -> int:
        raise JournalUnavailable(f"this journal is only read: {stream}")

    async def subscribe(self, after: Mapping[int, int]) -> AsyncIterator[Recorded]:
        for row in list(self.rows):
            if row.position.offset > after.get(row.position.partition, 0):
                yield row

    async def end(self) -> Mapping[int, int]:
        return {row.position.partition: row.position.offset for row in self.rows}

    async def streams(self) -> Sequence[StreamHead]:
        heads = {
            row.envelope.stream: StreamHead(row.envelope.stream, row.envelope.sequence, row.hash) for row in self.rows
        }
        return sorted(heads.values(), key=lambda head: head.stream)

    async def close(self) -> None:
        return

"""Tables whose recorded play is written into a journal on Kafka piece by piece, as fast or slow as a test wants it."""

import asyncio
from collections.abc import Sequence
from typing import Self

from services.journal.kafka_journal import Claimant, KafkaJournal
from services.journal.kafka_layout import Layout
from services.journal.port import NewEvent, Recorded
from services.surveillance.facts import FactReader
from services.surveillance.meters import Meters, fold
from tests.support.kafka_broker import Broker
from tests.support.law_logs import recorded


class TableFeed:
    """The same play at each of these tables, or what `log` has of each, event by event in the log's order."""

    def __init__(self, broker: Broker, layout: Layout, keys: Sequence[str], log: Sequence[Recorded] = ()) -> None:
        self._broker = broker
        self._layout = layout
        self._rows = {
            key: [row for row in log if row.envelope.stream.endswith(f":{key}")] or list(recorded()) for key in keys
        }
        self._written: dict[str, int] = {}
        self._journal: KafkaJournal | None = None

    async def __aenter__(self) -> Self:
        # The play is made beside the event loop, which has a broker to keep talking to.
        self._journal = await KafkaJournal.open(self._broker.cluster, self._layout, Claimant("feed"))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.journal.close()

    @property
    def journal(self) -> KafkaJournal:
        assert self._journal is not None
        return self._journal

    async def write(self, events: int) -> None:
        """Write the next events of every table, several at a time as a group commit has them."""

        async def one_table(key: str) -> None:
            rows, self._rows[key] = self._rows[key][:events], self._rows[key][events:]
            at = 0
            while at < len(rows):
                area = rows[at].envelope.stream.partition(":")[0]
                run = at
                while run < len(rows) and run - at < 5 and rows[run].envelope.stream.startswith(f"{area}:"):
                    run += 1
                stream = f"{area}:{key}"
                last = self._written.get(stream, 0)
                await self.journal.append(stream, last, [_as_new(row) for row in rows[at:run]])
                self._written[stream] = last + run - at
                at = run

        await asyncio.gather(*(one_table(key) for key in self._rows))

    @property
    def is_over(self) -> bool:
        """Whether all is written."""
        return not any(self._rows.values())

    async def meters(self) -> dict[str, Meters]:
        """The meters of every stream, folded from the log as it is now."""
        reader = FactReader()
        found: list[Recorded] = []
        for head in await self.journal.streams():
            found += [one async for one in self.journal.read(head.stream)]
        return fold(reader.read(one) for one in found)


def _as_new(row: Recorded) -> NewEvent:
    envelope = row.envelope
    return NewEvent(
        envelope.type, envelope.schema_version, envelope.payload, envelope.occurred_time_us, envelope.actor,
        envelope.request_id, envelope.request_digest, None, envelope.round_id, envelope.gaming_day,
    )  # fmt: skip

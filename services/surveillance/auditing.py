"""The reader that holds the journal to the laws, live, and keeps what it finds.

Owns that loop. The laws remember what went before, so it begins at the beginning whenever it begins; a finding is kept
once, however often it is found. Of several processes on one read model only the one that leads audits.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence

from sqlalchemy import delete

from services.journal.causal_reading import in_causal_order
from services.journal.port import Journal, Recorded
from services.surveillance import findings_store, schema
from services.surveillance.facts import FactReader
from services.surveillance.findings import Finding
from services.surveillance.following import Follower
from services.surveillance.inserting import put
from services.surveillance.laws import Auditor
from services.surveillance.metrics import Metrics
from services.surveillance.read_model import ReadModel
from services.surveillance.watching import Watchers

READER = "laws"


class Auditing:
    """Audits `journal` into `model` while `leading` is set."""

    def __init__(
        self, journal: Journal, model: ReadModel, leading: asyncio.Event, *, metrics: Metrics, watchers: Watchers
    ) -> None:
        self.follower = Follower("laws", self._subscribe, self._audit, share=0.5)
        self._journal = journal
        self._model = model
        self._leading = leading
        self._metrics = metrics
        self._watchers = watchers
        self._reader = FactReader()
        self._auditor = Auditor()
        self._audited: dict[int, int] = {}

    async def _subscribe(self) -> AsyncIterator[Recorded]:
        await self._leading.wait()
        self._auditor = Auditor()
        await asyncio.to_thread(self._begin)
        self._audited = {}
        return in_causal_order(self._journal)

    def _begin(self) -> None:
        with self._model.in_use() as engine, engine.begin() as connection:
            connection.execute(delete(schema.reader_positions).where(schema.reader_positions.c.reader == READER))

    async def _audit(self, batch: Sequence[Recorded]) -> None:
        fresh = await asyncio.to_thread(self._held_to_the_laws, batch)
        self._metrics.audited.inc(len(batch))
        for finding in fresh:
            self._metrics.findings.labels(finding.law).inc()
        if fresh:
            keys = {finding.stream.partition(":")[2] for finding in fresh}
            self._watchers.tell(tables=keys, findings=fresh)

    def _held_to_the_laws(self, batch: Sequence[Recorded]) -> list[Finding]:
        findings = [finding for recorded in batch for finding in self._auditor.observe(self._reader.read(recorded))]
        for recorded in batch:
            # Tables of one partition may come in another order than they lie there.
            number, offset = recorded.position
            self._audited[number] = max(offset, self._audited.get(number, 0))
        touched = {recorded.position.partition for recorded in batch}
        rows = [{"reader": READER, "partition": number, "offset": self._audited[number]} for number in touched]
        with self._model.in_use() as engine:
            kept = findings_store.keep(engine, findings)
            with engine.begin() as connection:
                put(connection, schema.reader_positions, rows)
        return kept

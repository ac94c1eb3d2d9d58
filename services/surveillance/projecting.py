"""The reader that keeps the read model up with the journal, or stands by while another process does.

Owns that loop and the lead. Promises: of several processes on one PostgreSQL one projects and the others tell their
watchers what it did; when it dies another takes over where it was; a gap is read again from the journal; a rebuilt read
model that is swapped in is taken up as it is. An error costs time only.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

import structlog
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from services.journal.causal_reading import in_causal_order
from services.journal.port import Journal, Recorded
from services.runtime.failures import ServiceUnavailable
from services.surveillance.facts import Fact, FactReader
from services.surveillance.following import BATCH, Follower
from services.surveillance.meter_store import behind, fold_in, writing
from services.surveillance.metrics import Metrics
from services.surveillance.onlooking import Onlooker
from services.surveillance.projection import Changes, GapFound, Projection, TakenOver
from services.surveillance.read_model import ReadModel, ReadModelLost, is_of
from services.surveillance.store import empty
from services.surveillance.watching import Watchers

LOOK_SECONDS = 0.25
"""How often a process that stands by looks what changed, and whether it may lead."""

log = structlog.get_logger(__name__)


class Projecting:
    """Projects `journal` into `model`; with `meters` it also folds them, where no workers do (embedded, floor).

    `leading` is set while this process projects; `duplicates` and `gaps` count what it met.
    """

    def __init__(
        self, journal: Journal, model: ReadModel, *, metrics: Metrics, watchers: Watchers, meters: bool = True
    ) -> None:
        self.follower = Follower("projection", self._subscribe, self._project, share=0.8)
        self.leading = asyncio.Event()
        self.duplicates = 0
        self.gaps = 0
        self._journal = journal
        self._model = model
        self._lead = model.place.lead()
        self._metrics = metrics
        self._watchers = watchers
        self._meters = meters
        self._reader = FactReader()
        self._projection: Projection | None = None
        self._audit_again: Callable[[], None] = lambda: None
        self._meter_gaps: dict[str, int] = {}

    def audited_by(self, auditing: Follower) -> None:
        """Begin the audit again when the rows are others, since what it found went with them, and when the lead changes."""
        self._audit_again = auditing.again

    async def stop(self) -> None:
        """End, and let another lead."""
        await self.follower.stop()
        self.leading.clear()
        await asyncio.to_thread(self._lead.release)

    async def _subscribe(self) -> AsyncIterator[Recorded]:
        """Take the rows up where they are and read on from there; or look on."""
        is_another = await asyncio.to_thread(self._model.open)
        if not await asyncio.to_thread(self._leads):
            self._follow_another()
            return self._stand_by()
        projection = await asyncio.to_thread(self._taken_up)
        if not await is_of(self._journal, projection.heads):
            log.warning("the read model is of another journal, or of a later copy of it, and is built anew")
            projection = await asyncio.to_thread(self._taken_up, anew=True)
            is_another = True
        if is_another:
            self._audit_again()
        for known in projection.open_rounds:
            facts: list[Fact] = []
            async for recorded in self._journal.read(known.stream, known.after_sequence):
                if recorded.envelope.sequence > known.last_sequence:
                    break
                facts.append(self._reader.read(recorded))
            projection.restore(facts)
        self._projection = projection
        if self._meters:
            self._meter_gaps = await self._model.ask(lambda connection: behind(connection, projection.sequences))
            await self._mend_meters()
        self.leading.set()
        self._metrics.leading.set(1)
        # The rows of a table come from three streams: read in another order, a second build would give others.
        return in_causal_order(self._journal, dict(projection.positions), projection.sequences)

    def _taken_up(self, *, anew: bool = False) -> Projection:
        with self._model.in_use() as engine:
            if anew:
                empty(engine)
            return Projection(engine, also=self._fold if self._meters else None)

    # Leading and standing by --------------------------------------------------------------------------------------------

    def _leads(self) -> bool:
        try:
            return self._lead.held()
        except DBAPIError as error:
            raise ReadModelLost(self._model.place.lost(error.orig)) from error

    def _follow_another(self) -> None:
        if self.leading.is_set():
            log.warning("another process projects now; this one stands by")
            self.leading.clear()
            self._audit_again()
        self._metrics.leading.set(0)
        self._projection = None

    async def _stand_by(self) -> AsyncIterator[Recorded]:
        """Give nothing; tell the watchers what the other one does, and begin again when it is gone."""
        onlooker = Onlooker()
        while not await asyncio.to_thread(self._leads):
            seen = await self._model.ask(onlooker.look)
            if seen.tables or seen.findings:
                self._watchers.tell(seen.tables, seen.ended_rounds, seen.findings)
            await asyncio.sleep(LOOK_SECONDS)
        log.info("this process projects now")
        self.follower.again()
        await asyncio.Event().wait()
        nothing: tuple[Recorded, ...] = ()
        for recorded in nothing:  # it makes this function one that gives an iterator
            yield recorded

    # Projecting ---------------------------------------------------------------------------------------------------------

    async def _project(self, batch: Sequence[Recorded]) -> None:
        facts = [self._reader.read(recorded) for recorded in batch]
        changes: Changes | None = None
        while changes is None:
            try:
                changes = await asyncio.to_thread(self._projected, facts)
            except GapFound as gap:
                self.gaps += 1
                self._metrics.gaps.inc()
                await self._mend(gap, facts)
            except TakenOver as taken:
                log.info("the read model is taken up again", reason=str(taken))
                self._audit_again()
                self.follower.again()
                return
        self.duplicates += changes.duplicates
        self._metrics.duplicates.inc(changes.duplicates)
        self._metrics.projected.inc(changes.projected)
        self._watchers.tell(changes.tables, changes.ended_rounds)
        await self._mend_meters()

    def _projected(self, facts: Sequence[Fact]) -> Changes:
        if self._projection is None:
            raise ServiceUnavailable("the projection is not open")
        with self._model.in_use():
            return self._projection.project(facts)

    async def _mend(self, gap: GapFound, facts: list[Fact]) -> None:
        """Read what was passed over from the journal, and put it where it belongs."""
        missing: list[Fact] = []
        wanted = next(f.sequence for f in facts if f.stream == gap.stream and f.sequence > gap.sequence)
        async for recorded in self._journal.read(gap.stream, gap.sequence):
            if recorded.envelope.sequence >= wanted:
                break
            missing.append(self._reader.read(recorded))
        if not missing:
            raise gap
        facts[:0] = missing

    # Meters -------------------------------------------------------------------------------------------------------------

    def _fold(self, connection: Connection, facts: Sequence[Fact]) -> None:
        self._meter_gaps |= fold_in(connection, facts).gaps

    async def _mend_meters(self) -> None:
        """Fold from the journal what the meters lack, as after a migration that brought them."""
        while self._meter_gaps:
            stream, sequence = next(iter(self._meter_gaps.items()))
            facts: list[Fact] = []
            async for recorded in self._journal.read(stream, sequence):
                facts.append(self._reader.read(recorded))
                if len(facts) >= BATCH:
                    await asyncio.to_thread(self._folded, facts)
                    facts = []
            await asyncio.to_thread(self._folded, facts)
            del self._meter_gaps[stream]

    def _folded(self, facts: Sequence[Fact]) -> None:
        with self._model.in_use() as engine, engine.connect() as connection:
            writing(connection)
            fold_in(connection, facts)
            connection.commit()

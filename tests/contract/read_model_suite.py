"""What every database of the read model must do: one suite, run on SQLite and on PostgreSQL.

A class that inherits it gives `place`, a fixture of a place whose read model has been migrated and is empty.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, Engine, select, text, update

from services.game.quick import replace
from services.journal.port import Recorded
from services.surveillance import findings_store, queries, replies, schema
from services.surveillance.facts import Fact
from services.surveillance.findings import Finding
from services.surveillance.meter_board import meter_board
from services.surveillance.meter_queries import open_rounds
from services.surveillance.meter_store import AnotherJournal, Folded, fold_in, read_meters, writing
from services.surveillance.meters import fold
from services.surveillance.migrating import migrate
from services.surveillance.places import Place
from services.surveillance.projection import GapFound, Projection, TakenOver
from services.surveillance.rebuilding import PositionOutOfRange, rebuild
from services.surveillance.store import digests, one_moment, open_memory
from tests.support.law_logs import log, recorded
from tests.support.listed_journal import ListedJournal

T = TypeVar("T")
ALL = (*schema.DERIVED, *schema.METERS)


def _fold(connection: Connection, facts: Sequence[Fact]) -> None:
    fold_in(connection, facts)


def filled(engine: Engine, facts: Sequence[Fact], size: int = 300) -> Engine:
    """The database with these facts projected and folded."""
    projection = Projection(engine, also=_fold)
    for start in range(0, len(facts), size):
        projection.project(facts[start : start + size])
    return engine


@cache
def whole() -> dict[str, str]:
    """The digests of the whole log's rows, from a database of its own."""
    return digests(filled(open_memory(), log()), ALL)


def folded(engine: Engine, facts: Sequence[Fact]) -> Folded:
    """Fold a batch in a transaction of its own."""
    with engine.connect() as connection:
        writing(connection)
        result = fold_in(connection, facts)
        connection.commit()
        return result


class ReadModelContract:
    """Every test of the contract."""

    @pytest.fixture
    def place(self, tmp_path: Path) -> Place:
        raise NotImplementedError

    @pytest.fixture
    def engine(self, place: Place) -> Iterator[Engine]:
        engine = place.open()
        yield engine
        engine.dispose()

    # Shape --------------------------------------------------------------------------------------------------------------

    def test_the_migrations_make_the_very_shape_that_the_code_has(self, engine: Engine) -> None:
        with engine.connect() as connection:
            assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []

    def test_migrating_again_does_nothing(self, engine: Engine) -> None:
        filled(engine, log()[:100])
        before = digests(engine, ALL)
        with engine.begin() as connection:
            assert migrate(connection) == ()
        assert digests(engine, ALL) == before

    # Rows ---------------------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize("size", [97, 10_000])
    def test_g03_it_holds_the_same_rows_whatever_the_database_and_the_batches(self, engine: Engine, size: int) -> None:
        assert digests(filled(engine, log(), size), ALL) == whole()

    def test_what_comes_again_changes_nothing(self, engine: Engine) -> None:
        filled(engine, log())
        again = Projection(engine, also=_fold).project(log()[100:300])
        assert (again.projected, again.duplicates) == (0, 200)
        assert folded(engine, log()[50:400]).duplicates == 350
        assert digests(engine, ALL) == whole()

    def test_a_gap_is_seen_and_what_came_before_it_is_kept(self, engine: Engine) -> None:
        projection = Projection(engine)
        gone = log()[200]
        with pytest.raises(GapFound) as gap:
            projection.project([*log()[:200], *log()[201:]])
        assert (gap.value.stream, gap.value.sequence) == (gone.stream, gone.sequence - 1)
        assert folded(engine, [*log()[:200], *log()[201:]]).gaps == {gone.stream: gone.sequence - 1}
        projection.project(log()[200:])
        assert folded(engine, log()[200:]).gaps == {}
        assert digests(engine, ALL) == whole()

    def test_a_write_that_fails_leaves_neither_position_nor_effect(self, engine: Engine) -> None:
        filled(engine, log()[:300])
        before = digests(engine, ALL)
        projection = Projection(engine, also=_fold)
        with engine.begin() as connection:
            connection.execute(text("ALTER TABLE meters RENAME TO elsewhere"))
        with pytest.raises(Exception, match="meters"):
            projection.project(log()[300:])
        with engine.begin() as connection:
            connection.execute(text("ALTER TABLE elsewhere RENAME TO meters"))
        assert digests(engine, ALL) == before
        again = Projection(engine, also=_fold)
        for known in again.open_rounds:
            again.restore(
                fact
                for fact in log()
                if fact.stream == known.stream and known.after_sequence < fact.sequence <= known.last_sequence
            )
        again.project(log()[300:])
        assert digests(engine, ALL) == whole()

    def test_a_text_that_no_database_would_take_is_written_all_the_same(self, engine: Engine) -> None:
        fact = log()[0]
        envelope = replace(fact.envelope, actor=replace(fact.envelope.actor, id="D\x00\N{SNOWMAN}" * 200))
        Projection(engine).project([replace(fact, envelope=envelope), *log()[1:50]])
        with engine.connect() as connection:
            written = connection.execute(select(schema.events.c.actor_id).where(schema.events.c.stream == fact.stream))
            assert any("\N{SNOWMAN}" * 1 in text and len(text) == 600 for text in written.scalars())

    # Several writers ----------------------------------------------------------------------------------------------------

    def test_who_was_taken_over_from_writes_nothing_more(self, engine: Engine) -> None:
        first = Projection(engine, also=_fold)
        first.project(log()[:200])
        second = Projection(engine, also=_fold)
        before = digests(engine, ALL)
        with pytest.raises(TakenOver):
            first.project(log()[200:300])
        with pytest.raises(TakenOver):
            first.project(log()[200:300])
        assert digests(engine, ALL) == before
        second.project(log()[200:])
        assert {name: digest for name, digest in digests(engine).items() if name in {"positions", "streams", "events"}} == {
            name: whole()[name] for name in ("positions", "streams", "events")
        }  # fmt: skip

    def test_two_writers_of_the_same_streams_count_each_event_once(self, engine: Engine) -> None:
        facts = log()[:600]
        troubles: list[BaseException] = []

        def write() -> None:
            try:
                for start in range(0, len(facts), 20):
                    folded(engine, facts[max(0, start - 10) : start + 20])
            except BaseException as error:  # noqa: BLE001 - told by the test, in its own thread
                troubles.append(error)

        threads = [threading.Thread(target=write) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert troubles == []
        with engine.connect() as connection:
            assert read_meters(connection) == fold(facts)

    def test_meters_of_another_journal_are_not_added_to(self, engine: Engine) -> None:
        folded(engine, log()[:300])
        before = digests(engine, schema.METERS)
        other = next(fact for fact in log("other")[300:] if fact.stream == log()[299].stream)
        later = replace(other.envelope, sequence=log()[299].sequence + 1)
        with pytest.raises(AnotherJournal):
            folded(engine, [replace(other, envelope=later)])
        assert digests(engine, schema.METERS) == before

    def test_a_finding_is_kept_once_whoever_finds_it(self, engine: Engine) -> None:
        finding = Finding("L1", "wager:black-hawk/BJ-07", 3, "", "a cent is missing", 5)
        assert findings_store.keep(engine, [finding, finding]) == [finding]
        assert findings_store.keep(engine, [finding]) == []
        with engine.connect() as connection:
            assert findings_store.all_kept(connection) == [finding]

    # Questions ----------------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize(
        "question",
        [
            lambda c: queries.list_rounds(c, "", replies.ListRounds(limit=7)),
            lambda c: queries.list_rounds(c, "black-hawk/BJ-07", replies.ListRounds(cards=("A",), seat=2)),
            lambda c: queries.list_rounds(c, "", replies.ListRounds(outcome="bust", minimum_stake_cents=700)),
            lambda c: queries.list_rounds(c, "", replies.ListRounds(outcome="voided", floor="black-hawk")),
            lambda c: queries.table_overviews(c, log()[-1].envelope.recorded_time_us),
            lambda c: queries.table_overviews(c, 0, floor="denver"),
            lambda c: queries.list_findings(c, "", replies.ListFindings(floor="black_hawk")),
            lambda c: queries.whereabouts(c, queries.round_row(c, "black-hawk/BJ-07#3")),
            lambda c: queries.neighbours(c, "black-hawk/BJ-07", 5),
            lambda c: meter_board(c, log()[-1].envelope.recorded_time_us),
            lambda c: meter_board(c, 1 << 60, table="black-hawk/BJ-07"),
            open_rounds,
        ],
    )
    def test_it_answers_as_any_other_database(self, engine: Engine, question: Callable[[Connection], Any]) -> None:
        part = log()[:1_001]
        memory = filled(open_memory(), part)
        filled(engine, part)
        with memory.connect() as one, engine.connect() as other:
            one_moment(one)
            one_moment(other)
            assert question(other) == question(one)
        memory.dispose()

    # Rebuilding ---------------------------------------------------------------------------------------------------------

    async def test_it_is_rebuilt_beside_itself_and_swapped_in(self, place: Place, engine: Engine) -> None:
        await asyncio.to_thread(filled, engine, log()[:500])
        with engine.begin() as connection:
            connection.execute(update(schema.tables).values(tray_cents=1))
            connection.execute(update(schema.meters).values(handle_cents=1))
        finding = Finding("L1", "wager:black-hawk/BJ-07", 3, "", "a cent is missing", 5)
        await asyncio.to_thread(findings_store.keep, engine, [finding])
        live = Projection(engine, also=_fold)
        heard: list[int] = []
        built = await rebuild(ListedJournal(recorded()), place, told=heard.append)
        assert built.events == heard[-1] == len(log())
        right = whole()
        assert {n: d for n, d in digests(engine, ALL).items() if n != "findings"} == {
            n: d for n, d in right.items() if n != "findings"
        }
        with engine.connect() as connection:
            assert findings_store.all_kept(connection) == [finding]
        # Whoever projected into the old rows notices before he writes into the new ones.
        with pytest.raises(TakenOver):
            live.project(log()[500:600])

    @pytest.mark.parametrize("position", [0, 1, 700])
    async def test_it_is_rebuilt_to_any_position(self, place: Place, engine: Engine, position: int) -> None:
        await asyncio.to_thread(filled, engine, log()[:50])
        await rebuild(ListedJournal(recorded()), place, to={0: position})
        memory = filled(open_memory(), log()[:position])
        assert digests(engine, ALL) == digests(memory, ALL)
        memory.dispose()
        await asyncio.to_thread(filled, engine, log())
        assert digests(engine, schema.METERS) == {t.name: whole()[t.name] for t in schema.METERS}

    async def test_a_rebuild_that_fails_changes_nothing(self, place: Place, engine: Engine) -> None:
        await asyncio.to_thread(filled, engine, log()[:500])
        before = digests(engine, ALL)
        with pytest.raises(PositionOutOfRange, match="before 999999"):
            await rebuild(ListedJournal(recorded()), place, to={0: 999_999})
        broken: list[Recorded] = [*recorded()[:300], *recorded()[301:]]
        with pytest.raises(GapFound):
            await rebuild(ListedJournal(broken), place)
        assert digests(engine, ALL) == before
        await rebuild(ListedJournal(recorded()), place)
        assert digests(engine, ALL) == whole()

    async def test_nobody_sees_half_of_a_swap(self, place: Place, engine: Engine) -> None:
        """Readers ask two questions in one moment, again and again, while rows are swapped for others under them."""
        await asyncio.to_thread(filled, engine, log()[:400])
        memory = filled(open_memory(), log()[:400])
        old, new = digests(memory), whole()
        fits = {tuple(sorted(_counts(memory.connect)))}
        other = filled(open_memory(), log())
        fits.add(tuple(sorted(_counts(other.connect))))
        seen: set[tuple[Any, ...]] = set()
        done = threading.Event()

        def look() -> None:
            reading = engine.execution_options(**({"isolation_level": "REPEATABLE READ"} if place.is_shared else {}))
            while not done.is_set():
                seen.add(tuple(sorted(_counts(reading.connect, pause=done))))

        readers = [threading.Thread(target=look) for _ in range(3)]
        for reader in readers:
            reader.start()
        for to in (None, {0: 400}, None, {0: 400}, None):
            await rebuild(ListedJournal(recorded()), place, to=to)
        done.set()
        for reader in readers:
            await asyncio.to_thread(reader.join)
        assert seen <= fits, "rows of two builds in one answer"
        assert old != new
        memory.dispose()
        other.dispose()


def _counts(connect: Callable[[], Connection], pause: threading.Event | None = None) -> list[tuple[str, int]]:
    """How many rows some tables have, in one moment, with time between the questions."""
    found = []
    with connect() as connection:
        one_moment(connection)
        for table in (schema.events, schema.rounds, schema.hands, schema.meters, schema.streams):
            found.append((table.name, len(connection.execute(select(table)).all())))
            if pause is not None:
                pause.wait(0.002)
    return found

"""The read model follows from the journal alone: built twice it is the same, and whatever happens to it is mended."""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from sqlalchemy import Engine, delete, select, text, update

from services.journal.port import Recorded
from services.runtime.caller import LocalCaller
from services.runtime.failures import ServiceUnavailable
from services.runtime.telemetry import Telemetry
from services.surveillance import client as v
from services.surveillance import schema, shoe_facts
from services.surveillance.facts import Fact, FactReader
from services.surveillance.projection import GapFound, Projection
from services.surveillance.rederiving import build_again, differences
from services.surveillance.server import Surveillance
from services.surveillance.store import digests, open_memory, open_store
from tests.support.law_logs import log, recorded
from tests.support.watched_house import TABLE, WatchedHouse, watched_house


def built(facts: Iterable[Fact], size: int = 500) -> Engine:
    """A read model in memory, written in batches of this size."""
    engine = open_memory()
    projection = Projection(engine)
    everything = list(facts)
    for start in range(0, len(everything), size):
        projection.project(everything[start : start + size])
    return engine


@cache
def whole() -> dict[str, str]:
    return digests(built(log()))


async def listed(rows: Iterable[Recorded]) -> AsyncIterator[Recorded]:
    for row in rows:
        yield row


@pytest.mark.parametrize("size", [1, 7, 64, 10_000])
def test_g03_two_builds_are_the_same_bytes_however_they_are_cut_into_batches(size: int) -> None:
    part = log()[:300]
    assert digests(built(part, size)) == digests(built(part))


def test_what_goes_back_into_a_continuous_shuffler_is_in_it_again() -> None:
    facts = log(continuous=True)
    engine = open_memory()
    projection = Projection(engine)
    returned = 0
    for fact in facts:
        projection.project([fact])
        with engine.connect() as connection:
            left, cards = connection.execute(select(schema.tables.c.shoe_left, schema.tables.c.shoe_cards)).one()
        if isinstance(fact.event, shoe_facts.CardDrawn):
            assert left == fact.event.left
        if isinstance(fact.event, shoe_facts.DiscardsReturned):
            assert left == cards
            returned += 1
    assert returned > 5
    engine.dispose()


def test_a_batch_that_is_delivered_again_changes_nothing() -> None:
    engine = built(log())
    again = Projection(engine).project(log()[100:300])
    assert (again.projected, again.duplicates) == (0, 200)
    assert digests(engine) == whole()


@pytest.mark.parametrize("cut", [1, 40, 157, 400, 777])
def test_g03_taken_up_from_any_event_it_comes_out_the_same(cut: int) -> None:
    engine = open_memory()
    Projection(engine).project(log()[:cut])
    second = Projection(engine)
    for known in second.open_rounds:
        second.restore(
            fact
            for fact in log()
            if fact.stream == known.stream and known.after_sequence < fact.sequence <= known.last_sequence
        )
    second.project(log()[cut:])
    assert digests(engine) == whole()


def test_a_gap_is_seen_what_came_before_it_is_kept_and_the_rest_waits() -> None:
    engine = open_memory()
    projection = Projection(engine)
    gone = log()[200]
    with pytest.raises(GapFound) as gap:
        projection.project([*log()[:200], *log()[201:]])
    assert (gap.value.stream, gap.value.sequence) == (gone.stream, gone.sequence - 1)
    assert projection.sequences[gone.stream] == gone.sequence - 1
    projection.project(log()[200:])
    assert digests(engine) == whole()


def test_a_write_that_fails_leaves_neither_position_nor_effect() -> None:
    engine = built(log()[:300])
    before = digests(engine)
    projection = Projection(engine)
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE rounds RENAME TO elsewhere"))
    with pytest.raises(Exception, match="rounds"):
        projection.project(log()[300:400])
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE elsewhere RENAME TO rounds"))
    assert digests(engine) == before


async def test_g05_a_projection_that_lost_an_event_or_a_cent_is_found_by_deriving_it_again() -> None:
    again = open_memory()
    rows = recorded()
    kept = built(log())
    positions = dict(Projection(kept).positions)
    await build_again(listed(rows), positions, again)
    assert differences(kept, again) == []
    events = schema.events.c
    with kept.begin() as connection:
        lost = log()[150]
        connection.execute(delete(schema.events).where(events.stream == lost.stream, events.sequence == lost.sequence))
    assert any(f"events {lost.stream} {lost.sequence}" in line for line in differences(kept, again))
    cheated = built(log())
    with cheated.begin() as connection:
        connection.execute(update(schema.hands).where(schema.hands.c.round_id == f"{TABLE}#3").values(returned_cents=1))
    assert any(
        line.startswith(f"hands {TABLE}#3") and "returned_cents is 1" in line for line in differences(cheated, again)
    )


@pytest.mark.parametrize("damage", ["missing", "garbage", "empty", "older", "half"])
def test_a_read_model_that_cannot_be_trusted_is_made_anew(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "projection.db"
    engine = open_store(path)
    Projection(engine).project(log()[:100])
    if damage == "older":
        with engine.begin() as connection:
            connection.execute(update(schema.meta).values(value="0"))
    engine.dispose()
    match damage:
        case "missing":
            path.unlink()
        case "garbage":
            path.write_bytes(b"this is no database" * 1000)
        case "empty":
            path.write_bytes(b"")
        case "half":
            path.with_name("projection.db-wal").unlink(missing_ok=True)
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        case _:
            pass
    engine = open_store(path)
    Projection(engine).project(log())
    assert digests(engine) == whole()
    engine.dispose()


def test_a_sound_read_model_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "projection.db"
    engine = open_store(path)
    Projection(engine).project(log()[:100])
    engine.dispose()
    engine = open_store(path)
    assert sum(Projection(engine).sequences.values()) == 100
    engine.dispose()


@asynccontextmanager
async def watching(house: WatchedHouse, path: Path) -> AsyncIterator[v.SurveillanceClient]:
    watch = Surveillance(house.journal, path, clock=house.clock, telemetry=Telemetry())
    await watch.start()
    try:
        yield v.SurveillanceClient(LocalCaller({watch.dispatcher.service: watch.dispatcher}))
    finally:
        await watch.stop()


async def caught_up(client: v.SurveillanceClient) -> v.Lag:
    async with asyncio.timeout(90):
        while True:
            lag = await client.get_lag()
            if lag.healthy and all(p.projected_offset == p.audited_offset == p.end_offset for p in lag.partitions):
                return lag
            await asyncio.sleep(0.01)


async def test_stopped_in_the_middle_of_a_round_it_goes_on_and_ends_as_if_it_never_stopped(tmp_path: Path) -> None:
    async with watched_house(tmp_path) as house:
        await house.open()
        path = tmp_path / "projection.db"
        async with watching(house, path) as client:
            await house.play(2)
            await house.begin()
            await caught_up(client)
        await house.finish()
        await house.play(1)
        async with watching(house, path) as client:
            await caught_up(client)
        kept, again = open_store(path), open_memory()
        await build_again(house.journal.subscribe({}), dict(Projection(kept).positions), again)
        assert differences(kept, again) == []
        kept.dispose()


async def test_a_read_model_of_another_journal_is_built_anew_and_the_two_never_mix(tmp_path: Path) -> None:
    path = tmp_path / "projection.db"
    with tempfile.TemporaryDirectory() as elsewhere:
        async with watched_house(Path(elsewhere), "other") as house:
            await house.open()
            await house.play(4)
            async with watching(house, path) as client:
                await caught_up(client)
    async with watched_house(tmp_path, "this") as house:
        await house.open(seats=1)
        async with watching(house, path) as client:
            lag = await caught_up(client)
            assert (await client.list_rounds(v.ListRounds())).rounds == ()
            assert lag.events_projected == sum(p.end_offset for p in lag.partitions)


@pytest.mark.parametrize("damage", ["deleted", "another file", "overwritten", "cut short"])
async def test_a_read_model_lost_under_a_running_house_is_built_anew(tmp_path: Path, damage: str) -> None:
    async with watched_house(tmp_path) as house:
        await house.open()
        path = tmp_path / "projection.db"
        async with watching(house, path) as client:
            await house.play(2)
            await caught_up(client)
            before = await client.list_rounds(v.ListRounds())
            await asyncio.to_thread(_damage, path, damage)
            # Many at once, so that the database's pool opens more connections than the one that is already there.
            answers = await asyncio.gather(
                *(client.list_rounds(v.ListRounds()) for _ in range(12)), return_exceptions=True
            )
            assert all(answer == before or isinstance(answer, ServiceUnavailable) for answer in answers), answers
            await house.play(1)
            lag = await caught_up(client)
            after = await client.list_rounds(v.ListRounds())
            assert [one.number for one in after.rounds] == [3, 2, 1]
            assert after.rounds[1:] == before.rounds
            assert lag.events_projected == sum((await house.journal.end()).values())
        kept, again = open_store(path), open_memory()
        await build_again(house.journal.subscribe({}), dict(Projection(kept).positions), again)
        assert digests(kept) == digests(again)
        kept.dispose()
        again.dispose()


def _damage(path: Path, damage: str) -> None:
    match damage:
        case "deleted":
            for part in path.parent.glob(path.name + "*"):
                part.unlink()
        case "another file":
            other = path.with_name("other.db")
            other.write_bytes(b"")
            other.replace(path)
        case "overwritten":
            path.write_bytes(b"no database at all " * 4_000)
        case _:
            os.truncate(path, 5_000)


async def test_events_that_the_journal_passes_over_are_read_again(tmp_path: Path) -> None:
    async with watched_house(tmp_path) as house:
        await house.open()
        await house.play(2)
        rows = await house.recorded()

        class Skipping:
            """The journal, with a subscription that loses two events."""

            def __getattr__(self, name: str) -> object:
                return getattr(house.journal, name)

            async def subscribe(self, after: dict[int, int]) -> AsyncIterator[Recorded]:
                async for one in house.journal.subscribe(after):
                    if one.position.offset not in {60, 61}:
                        yield one

        watch = Surveillance(Skipping(), tmp_path / "p.db", clock=house.clock, telemetry=Telemetry())  # type: ignore[arg-type]  # a journal but for its class
        await watch.start()
        client = v.SurveillanceClient(LocalCaller({watch.dispatcher.service: watch.dispatcher}))
        async with asyncio.timeout(90):
            while (lag := await client.get_lag()).lag_events:  # noqa: ASYNC110 - the other side of a wire has no event
                await asyncio.sleep(0.01)
        assert lag.gaps_mended >= 1
        assert lag.events_projected == len(rows)
        await watch.stop()


def test_a_fact_that_cannot_be_read_is_indexed_and_stops_nothing() -> None:
    rows = recorded()
    reader = FactReader()
    facts = [reader.read(row) for row in rows]
    bad = facts[120]
    facts[120] = replace(bad, event=None, unreadable="garbage")
    engine = built(facts)
    with engine.connect() as connection:
        found = connection.execute(
            select(schema.events.c.name).where(
                schema.events.c.stream == bad.stream, schema.events.c.sequence == bad.sequence
            )
        ).scalar()
    assert found == bad.name

"""Surveillance over a real PostgreSQL while a house plays: restarts, several processes, a rebuild under everybody's feet."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from services.runtime.caller import LocalCaller
from services.runtime.failures import ServiceUnavailable
from services.runtime.telemetry import Telemetry
from services.surveillance import client as v
from services.surveillance import following, postgres
from services.surveillance.meter_store import read_meters
from services.surveillance.meters import fold
from services.surveillance.places import FilePlace, PostgresPlace
from services.surveillance.projection import Projection
from services.surveillance.rebuilding import rebuild
from services.surveillance.rederiving import build_again, differences
from services.surveillance.server import Surveillance
from services.surveillance.store import ReadModelRefused, open_memory, open_store
from tests.support.postgres_server import PostgresServer, shared_server
from tests.support.watched_house import TABLE, WatchedHouse, watched_house

pytestmark = pytest.mark.xdist_group("postgres")


class Watching:
    """One surveillance service, as a process of its own would have it."""

    def __init__(self, house: WatchedHouse, address: str) -> None:
        self.telemetry = Telemetry()
        self.surveillance = Surveillance(house.journal, address, clock=house.clock, telemetry=self.telemetry)
        dispatcher = self.surveillance.dispatcher
        self.client = v.SurveillanceClient(LocalCaller({dispatcher.service: dispatcher}))

    def value(self, name: str) -> float | None:
        return self.telemetry.registry.get_sample_value(f"holecard_surveillance_{name}")

    async def caught_up(self) -> v.Lag:
        async with asyncio.timeout(120):
            while True:
                lag = await self.client.get_lag()
                if lag.healthy and all(p.projected_offset == p.audited_offset == p.end_offset for p in lag.partitions):
                    return lag
                await asyncio.sleep(0.02)


@asynccontextmanager
async def watching(house: WatchedHouse, address: str) -> AsyncIterator[Watching]:
    one = Watching(house, address)
    await one.surveillance.start()
    try:
        yield one
    finally:
        await one.surveillance.stop()


@pytest.fixture
def address() -> str:
    return shared_server().migrated_database()


async def assert_equal_to_the_journal(house: WatchedHouse, address: str) -> None:
    """Read model and meters have what the journal gives, nothing lost and nothing twice."""

    def look(kept: Engine, again: Engine) -> None:
        assert differences(kept, again) == []

    kept, again = postgres.opened(postgres.read_url(address)), open_memory()
    positions = dict(Projection(kept, looking=True).positions)
    assert positions == dict(await house.journal.end())
    await build_again(house.journal.subscribe({}), positions, again)
    await asyncio.to_thread(look, kept, again)
    with kept.connect() as connection:
        assert read_meters(connection) == fold(await house.facts())
    kept.dispose()
    again.dispose()


async def test_a_house_is_watched_over_postgresql_as_over_a_file(tmp_path: Path, address: str) -> None:
    async with watched_house(tmp_path) as house, watching(house, address) as one:
        await house.open()
        await house.play(3)
        lag = await one.caught_up()
        assert (lag.lag_events, lag.stands_by, lag.findings) == (0, False, 0)
        assert [r.number for r in (await one.client.list_rounds(v.ListRounds())).rounds] == [3, 2, 1]
        (table,) = (await one.client.list_tables()).tables
        board = await one.client.get_meters()
        (meters,) = board.tables
        assert (meters.rounds, meters.handle_cents, meters.win_cents, meters.drop_cents) == (
            table.rounds,
            table.handle_cents,
            table.win_cents,
            table.drop_cents,
        )
        assert (meters.hold, meters.win_per_handle) == (table.hold, table.win_per_handle)
        assert board.floors[0].handle_cents == meters.handle_cents
        assert [(row.dealer, row.rounds) for row in board.dealers] == [("D-11", 3)]
        assert (board.open_rounds, board.stuck) == (0, ())
        assert one.value("leading") == 1
        await assert_equal_to_the_journal(house, address)


async def test_postgresql_killed_and_restarted_is_waited_for_and_nothing_is_lost_or_doubled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "LONGEST_PAUSE_SECONDS", 0.5)
    server = PostgresServer()
    try:
        place = server.migrated_database()
        async with watched_house(tmp_path) as house, watching(house, place) as one:
            await house.open()
            await house.play(2)
            await one.caught_up()
            for number in range(3):
                await house.begin()
                await asyncio.to_thread(server.kill)
                # Nothing of surveillance is in the way of a hand.
                await house.finish()
                with pytest.raises(ServiceUnavailable, match="is waited for"):
                    await one.client.list_rounds(v.ListRounds())
                lag = await one.client.get_lag()
                assert not lag.healthy
                assert "is waited for" in lag.reason
                assert lag.partitions[0].end_offset > 0
                await asyncio.to_thread(server.start)
                await one.caught_up()
                assert (await one.client.list_rounds(v.ListRounds())).rounds[0].number == 3 + number
            await assert_equal_to_the_journal(house, place)
    finally:
        server.remove()


async def test_started_while_postgresql_is_down_it_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "LONGEST_PAUSE_SECONDS", 0.5)
    server = PostgresServer()
    try:
        place = server.migrated_database()
        server.kill()
        async with watched_house(tmp_path) as house:
            await house.open()
            await house.play(1)
            async with watching(house, place) as one:
                assert "is waited for" in (await one.client.get_lag()).reason
                await asyncio.to_thread(server.start)
                await one.caught_up()
                await assert_equal_to_the_journal(house, place)
    finally:
        server.remove()


async def test_a_database_behind_by_a_migration_is_refused_at_the_start(tmp_path: Path) -> None:
    place = shared_server().new_database()
    async with watched_house(tmp_path) as house:
        one = Watching(house, place)
        with pytest.raises(ReadModelRefused, match="holecard surveillance migrate"):
            await one.surveillance.start()
        await one.surveillance.stop()


async def test_of_two_one_projects_both_answer_and_the_other_takes_over(tmp_path: Path, address: str) -> None:
    async with watched_house(tmp_path) as house, watching(house, address) as first:
        await house.open()
        await house.play(1)
        await first.caught_up()
        async with watching(house, address) as second:
            await house.play(1)
            await first.caught_up()
            lag = await second.caught_up()
            assert (lag.stands_by, (await first.client.get_lag()).stands_by) == (True, False)
            assert await second.client.list_rounds(v.ListRounds()) == await first.client.list_rounds(v.ListRounds())
            assert await second.client.list_tables() == await first.client.list_tables()
            # A watcher of the one that stands by sees what the other projects.
            changes = second.client.watch_floor()
            await anext(changes)
            await house.play(1)
            async with asyncio.timeout(60):
                while f"{TABLE}#3" not in (await anext(changes)).ended_rounds:
                    pass
            # The leader's connection dies, as with its process: its place is free, and its next write is refused.
            await asyncio.to_thread(_cut_the_leader_off, address)
            await house.play(2)
            await second.caught_up()
            async with asyncio.timeout(60):
                while first.value("leading") == second.value("leading"):  # noqa: ASYNC110 - has no event of its own
                    await asyncio.sleep(0.05)
        await house.play(1)
        await first.caught_up()
        assert not (await first.client.get_lag()).stands_by
        await assert_equal_to_the_journal(house, address)


def _cut_the_leader_off(address: str) -> None:
    shared_server().execute(
        address.rpartition("/")[2],
        "SELECT pg_terminate_backend(pid) FROM pg_locks"
        " WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
    )


async def test_a_rebuild_is_swapped_in_under_a_house_at_play(tmp_path: Path, address: str) -> None:
    place = PostgresPlace(postgres.read_url(address))
    async with watched_house(tmp_path) as house, watching(house, address) as one:
        await house.open()
        await house.play(2)
        await one.caught_up()
        await asyncio.gather(rebuild(house.journal, place), house.play(3))
        await one.caught_up()
        await asyncio.gather(rebuild(house.journal, place, to={0: 40}), house.play(1))
        await one.caught_up()
        await assert_equal_to_the_journal(house, address)


async def test_a_swap_is_noticed_by_a_house_on_a_file_too(tmp_path: Path) -> None:
    path = tmp_path / "projection.db"
    async with watched_house(tmp_path) as house:
        one = Watching(house, str(path))
        await one.surveillance.start()
        await house.open()
        await house.play(2)
        await one.caught_up()
        await asyncio.gather(rebuild(house.journal, FilePlace(path), to={0: 40}), house.play(2))
        await one.caught_up()
        await one.surveillance.stop()
        kept, again = open_store(path), open_memory()
        await build_again(house.journal.subscribe({}), dict(Projection(kept, looking=True).positions), again)
        assert differences(kept, again) == []
        with kept.connect() as connection:
            assert read_meters(connection) == fold(await house.facts())
        kept.dispose()
        again.dispose()


async def test_meters_that_were_lost_are_folded_again_from_the_journal(tmp_path: Path, address: str) -> None:
    """As after the migration that brings them: the rows of the projection are there, those of the meters are not."""
    async with watched_house(tmp_path) as house:
        await house.open()
        await house.play(2)
        async with watching(house, address) as one:
            await one.caught_up()
        engine = postgres.opened(postgres.read_url(address))
        with engine.begin() as connection:
            connection.execute(text("DELETE FROM meter_streams"))
            connection.execute(text("DELETE FROM meters"))
        engine.dispose()
        async with watching(house, address) as one:
            await one.caught_up()
            assert (await one.client.get_meters()).tables[0].rounds == 2
        await assert_equal_to_the_journal(house, address)

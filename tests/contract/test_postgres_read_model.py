"""The read model on a real PostgreSQL keeps the contract; what is behind, newer or away is told with what to do."""

from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from services.runtime.settings import SettingsRefused
from services.surveillance import postgres, schema
from services.surveillance.places import Place, PostgresPlace, place_of
from services.surveillance.store import ReadModelRefused
from tests.contract.read_model_suite import ReadModelContract, filled
from tests.support.law_logs import log
from tests.support.postgres_server import shared_server

pytestmark = pytest.mark.xdist_group("postgres")


def new_place() -> PostgresPlace:
    return PostgresPlace(postgres.read_url(shared_server().migrated_database()))


class TestPostgresReadModel(ReadModelContract):
    @pytest.fixture
    def place(self, tmp_path: Path) -> Place:
        return new_place()


def test_an_empty_database_and_one_behind_are_refused_with_the_command_that_mends_it() -> None:
    url = postgres.read_url(shared_server().new_database())
    with pytest.raises(ReadModelRefused, match=r"0001, 0002: run `holecard surveillance migrate`"):
        postgres.opened(url)
    assert postgres.migrated(url, to="0001") == ("0001",)
    with pytest.raises(ReadModelRefused, match=r"has not had migration 0002: run `holecard surveillance migrate`"):
        postgres.opened(url)
    assert postgres.migrated(url) == ("0002",)
    postgres.opened(url).dispose()


def test_a_database_of_a_newer_build_is_refused_and_not_migrated() -> None:
    url = new_place().url
    engine = postgres.opened(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0999'"))
    for attempt in (postgres.opened, postgres.migrated):
        with pytest.raises(ReadModelRefused, match=f"0999, which this build does not know .* {schema.REVISION}"):
            attempt(url)
    engine.dispose()


def test_g07_rows_of_another_meaning_are_refused_with_the_command_that_mends_it() -> None:
    url = new_place().url
    engine = postgres.opened(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE meta SET value = '1' WHERE name = 'schema_version'"))
    with pytest.raises(ReadModelRefused, match="holecard projection rebuild"):
        postgres.opened(url)
    engine.dispose()


def test_a_database_that_does_not_answer_is_no_refusal_and_no_password_is_told() -> None:
    place = place_of("postgresql://holecard:geheim@127.0.0.1:1/none")
    with pytest.raises(DBAPIError) as error:
        place.open()
    told = place.lost(error.value.orig)
    assert "is waited for" in told
    assert "geheim" not in told


@pytest.mark.parametrize("address", ["mysql://somewhere/db", "postgresql://host", "postgresql://host:port/db"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(SettingsRefused, match="postgresql://user@host/database"):
        place_of(address)


def test_one_leads_until_it_is_gone() -> None:
    url = postgres.read_url(shared_server().new_database())
    first, second = postgres.Leadership(url), postgres.Leadership(url)
    assert first.held()
    assert not second.held()
    assert first.held()
    # Its connection dies with its process, and with it the lock.
    shared_server().execute(
        str(url.database),
        "SELECT pg_terminate_backend(pid) FROM pg_locks"
        " WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
    )
    assert second.held()
    with pytest.raises(DBAPIError):
        first.held()
    assert not first.held()
    second.release()
    assert not second.held()
    assert first.held()
    first.release()


def test_two_rebuilds_at_once_are_refused() -> None:
    place = new_place()
    with place.beside(), pytest.raises(ReadModelRefused, match="rebuilt already"), place.beside():
        pass


def test_it_is_there_for_people_with_psql_under_its_own_names() -> None:
    place = new_place()
    engine = place.open()
    filled(engine, log()[:400])
    engine.dispose()
    database = str(place.url.database)
    (rounds,) = shared_server().execute(database, "SELECT count(*) FROM surveillance.rounds")
    assert rounds[0] > 3

"""The read model in a SQLite file keeps the contract; an old file is migrated, a newer one is refused."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from services.surveillance import schema
from services.surveillance.migrating import Standing, migrate, standing_of
from services.surveillance.places import FilePlace, Place
from services.surveillance.store import ReadModelRefused, digests, open_store
from tests.contract.read_model_suite import ALL, ReadModelContract, filled, whole
from tests.support.law_logs import log


class TestSqliteReadModel(ReadModelContract):
    @pytest.fixture
    def place(self, tmp_path: Path) -> Place:
        return FilePlace(tmp_path / "projection.db")


def test_a_file_behind_by_a_migration_is_migrated_and_keeps_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "projection.db"
    engine = open_store(path)
    filled(engine, log())
    with engine.begin() as connection:
        for table in (*schema.METERS, schema.reader_positions):
            table.drop(connection)
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0001'")
    engine.dispose()
    engine = open_store(path)
    assert digests(engine) == {table.name: whole()[table.name] for table in schema.DERIVED}
    with engine.connect() as connection:
        assert standing_of(connection) is Standing.CURRENT
    engine.dispose()


def test_a_file_of_a_newer_build_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "projection.db"
    filled(open_store(path), log()[:100]).dispose()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0999'")
        connection.commit()
    before = path.read_bytes()
    with pytest.raises(ReadModelRefused, match="newer build"):
        open_store(path)
    assert path.read_bytes() == before


def test_a_file_from_before_migrations_is_built_anew(tmp_path: Path) -> None:
    path = tmp_path / "projection.db"
    engine = create_engine(f"sqlite:///{path}")
    schema.meta.create(engine)
    schema.positions.create(engine)
    with engine.begin() as connection:
        connection.execute(schema.meta.insert().values(name="schema_version", value=str(schema.SCHEMA_VERSION)))
        connection.execute(schema.positions.insert().values(partition=0, offset=77))
    engine.dispose()
    engine = open_store(path)
    assert digests(filled(engine, log()), ALL) == whole()
    engine.dispose()


def test_the_code_names_the_very_migrations_that_there_are() -> None:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    from services.surveillance import migrating

    config = Config()
    config.set_main_option("script_location", str(Path(migrating.__file__).parent / "migrations"))
    scripts = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
    assert json.dumps(scripts[::-1]) == json.dumps(list(schema.REVISIONS))


def test_each_migration_can_be_run_by_itself(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'one.db'}")
    for revision in schema.REVISIONS:
        with engine.begin() as connection:
            assert migrate(connection, revision) == (revision,)
    engine.dispose()

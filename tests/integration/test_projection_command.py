"""`holecard projection` and `holecard surveillance migrate|status`: on files, on PostgreSQL, and on what is wrong."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import update

from services.cli.projection import projection
from services.cli.surveillance import surveillance
from services.runtime.failures import ServiceUnavailable
from services.surveillance import schema
from services.surveillance.places import place_of
from services.surveillance.rebuilding import PositionOutOfRange
from services.surveillance.store import ReadModelRefused
from tests.support.postgres_server import shared_server
from tests.support.watched_house import watched_house

pytestmark = pytest.mark.xdist_group("postgres")


def run(command: Any, *arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def answer(command: Any, *arguments: str, code: int = 0) -> Any:
    result = run(command, *arguments, "--json")
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("played")

    async def play() -> None:
        async with watched_house(folder) as house:
            await house.open()
            await house.play(3)

    asyncio.run(play())
    return folder


@pytest.fixture(params=["file", "postgresql"])
def where(request: pytest.FixtureRequest, data: Path) -> list[str]:
    (data / "projection.db").unlink(missing_ok=True)
    address = [] if request.param == "file" else ["--projection", shared_server().new_database()]
    return ["--data", str(data), *address]


def test_migrate_rebuild_status_and_check(where: list[str]) -> None:
    assert answer(surveillance, "migrate", *where) == {"migrated": ["0001", "0002"], "revision": "0002"}
    assert answer(surveillance, "migrate", *where)["migrated"] == []
    assert "Nothing to do" in run(surveillance, "migrate", *where).stdout
    built = answer(projection, "rebuild", *where)
    status = answer(surveillance, "status", *where)
    assert status == {"standing": "current", "revision": "0002", "missing": [], "positions": {"0": built["events"]}}
    assert "projected up to" in run(surveillance, "status", *where).stdout
    assert answer(projection, "check", *where) == {"equal": True, "differences": []}


def test_check_names_a_row_that_was_changed_and_rebuild_mends_it(where: list[str], data: Path) -> None:
    answer(surveillance, "migrate", *where)
    answer(projection, "rebuild", *where)
    engine = place_of(where[-1] if len(where) > 2 else data / "projection.db").open()
    with engine.begin() as connection:
        connection.execute(update(schema.tables).values(tray_cents=1))
        connection.execute(update(schema.meters).values(win_cents=1))
    engine.dispose()
    found = answer(projection, "check", *where, code=1)["differences"]
    assert any(line.startswith("tables black-hawk/BJ-07: tray_cents is 1") for line in found)
    assert any(line.startswith("meters wager:black-hawk/BJ-07") for line in found)
    assert run(projection, "rebuild", *where).exit_code == 0
    assert answer(projection, "check", *where)["equal"]


def test_the_read_model_of_any_moment_can_be_had_beside(data: Path, tmp_path: Path) -> None:
    (data / "projection.db").unlink(missing_ok=True)
    out = tmp_path / "then.db"
    built = answer(projection, "rebuild", "--data", str(data), "--to", "77", "--out", str(out))
    assert built == {"events": 77, "positions": {"0": 77}}
    assert not (data / "projection.db").exists()
    again = run(projection, "rebuild", "--data", str(data), "--out", str(out))
    assert again.exit_code == 2
    assert "there already" in again.output


def test_what_makes_no_sense_is_refused_with_the_reason(data: Path, tmp_path: Path) -> None:
    beyond = run(projection, "rebuild", "--data", str(data), "--to", "999999")
    assert isinstance(beyond.exception, PositionOutOfRange)
    assert run(projection, "rebuild", "--data", str(data), "--to", "soon").exit_code == 2
    assert run(projection, "check", "--data", str(tmp_path)).exit_code == 2
    assert run(surveillance, "status", "--data", str(tmp_path)).exit_code == 2


def test_a_database_that_is_empty_or_away_says_so(data: Path) -> None:
    empty = ["--data", str(data), "--projection", shared_server().new_database()]
    status = answer(surveillance, "status", *empty, code=1)
    assert (status["standing"], status["missing"]) == ("empty", ["0001", "0002"])
    assert "holecard surveillance migrate" in run(surveillance, "status", *empty).stdout
    assert isinstance(run(projection, "check", *empty).exception, ReadModelRefused)
    away = ["--data", str(data), "--projection", "postgresql://holecard@127.0.0.1:1/none"]
    for command, words in ((surveillance, "migrate"), (surveillance, "status"), (projection, "rebuild")):
        assert isinstance(run(command, words, *away).exception, ServiceUnavailable)

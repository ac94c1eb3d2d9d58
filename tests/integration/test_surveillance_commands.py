"""`holecard rounds`, `replay` and the laws in `verify`: on a stopped house's journal and on a playing one's."""

import asyncio
import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from services.cli.replay import replay
from services.cli.rounds import rounds
from services.cli.verify import verify
from services.game.authority import Actor, Role
from services.journal.port import NewEvent
from services.journal.sqlite import SqliteJournal
from services.runtime.caller import LocalCaller
from services.runtime.failures import NotFound
from services.runtime.telemetry import Telemetry
from services.surveillance.client import SurveillanceClient
from services.surveillance.round_facts import WagerPlaced
from services.surveillance.server import Surveillance
from services.wire.mapping import Mapper
from services.wire.messages import message_class
from tests.support.watched_house import TABLE, watched_house


def run(command: Any, *arguments: str) -> Result:
    return CliRunner().invoke(command, arguments, catch_exceptions=False)


def answer(command: Any, *arguments: str) -> Any:
    result = run(command, *arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture
async def data(tmp_path: Path) -> Path:
    async with watched_house(tmp_path) as house:
        await house.open()
        await house.play(6)
    return tmp_path


def by_hand(log: Sequence[Any]) -> list[tuple[int, int, list[str]]]:
    return [(s["seat"], h["hand"], [c["card"] for c in h["cards"]]) for s in log for h in s["hands"]]


def test_rounds_are_listed_newest_first_and_narrowed(data: Path) -> None:
    page = answer(rounds, "--data", str(data))
    assert [one["round_id"] for one in page["rounds"]] == [f"{TABLE}#{n}" for n in range(6, 0, -1)]
    card = page["rounds"][2]["hands"][0]["cards"][0]
    found = answer(rounds, "--data", str(data), "--card", card, "--table", TABLE)["rounds"]
    assert all(any(card in hand["cards"] for hand in one["hands"]) or card in one["dealer_cards"] for one in found)
    assert page["rounds"][2]["round_id"] in {one["round_id"] for one in found}
    assert answer(rounds, "--data", str(data), "--floor", "denver")["rounds"] == []
    assert len(answer(rounds, "--data", str(data), "--min-stake", "12.50", "--limit", "500")["rounds"]) <= 6
    text = run(rounds, "--data", str(data), "--limit", "2")
    assert f"{TABLE}#6" in text.stdout
    assert "--cursor" in text.stderr


@pytest.mark.parametrize(
    "option",
    [
        ("--card", "1x"),
        ("--from", "yesterday"),
        ("--day", "yesterday"),
        ("--min-stake", "1.5"),
        ("--seat", "8"),
        ("--limit", "0"),
        ("--outcome", "won"),
        ("--table", "BJ-07"),
        ("--floor", "Black Hawk"),
    ],
)
def test_rounds_refuses_what_makes_no_sense(data: Path, option: tuple[str, str]) -> None:
    result = CliRunner().invoke(rounds, ["--data", str(data), *option])
    assert result.exit_code != 0


def test_a_hand_replays_to_every_step(data: Path) -> None:
    whole = answer(replay, f"{TABLE}#4", "--data", str(data))
    for step in whole["steps"]:
        assert answer(replay, f"{TABLE}#4", "--data", str(data), "--step", str(step["number"])) == step
    summary = answer(rounds, "--data", str(data), "--table", TABLE)["rounds"][2]
    assert by_hand(whole["steps"][-1]["seats"]) == [(h["seat"], h["hand"], h["cards"]) for h in summary["hands"]]
    dealt = [step for step in whole["steps"] if step["event"] == "CardDealt"]
    assert len(dealt) == len({step["card"]["position"] for step in dealt})


def test_the_terminal_shows_felt_steps_money_and_rules(data: Path) -> None:
    result = run(replay, f"{TABLE}#2", "--data", str(data), "--ledger", "--shoe", "--rules")
    assert result.exit_code == 0
    for words in (
        "dealer",
        "seat 1 stakes",
        "no more wagers",
        "the round is over",
        "stake-held",
        "CardDrawn",
        "soft17",
    ):
        assert words in result.output, words
    early = run(replay, f"{TABLE}#2", "--data", str(data), "--step", "3").output
    assert "step 3 of" in early


def test_a_step_or_round_that_is_not_there_is_refused(data: Path) -> None:
    assert CliRunner().invoke(replay, [f"{TABLE}#2", "--data", str(data), "--step", "4000"]).exit_code == 2
    for name in (f"{TABLE}#77", "nowhere", "black-hawk/BJ-99#1"):
        assert isinstance(CliRunner().invoke(replay, [name, "--data", str(data)]).exception, NotFound)


async def test_the_read_model_is_used_where_it_is_up_to_date_and_gives_the_same(tmp_path: Path) -> None:
    async with watched_house(tmp_path) as house:
        watch = Surveillance(house.journal, tmp_path / "projection.db", clock=house.clock, telemetry=Telemetry())
        await watch.start()
        await house.open()
        await house.play(3)
        await house.begin()
        client = SurveillanceClient(LocalCaller({watch.dispatcher.service: watch.dispatcher}))
        async with asyncio.timeout(90):
            while (await client.get_lag()).lag_events:  # noqa: ASYNC110 - the other side of a wire has no event
                await asyncio.sleep(0.01)
        # The house is running: another reader of the same files.
        alone = await asyncio.to_thread(answer, rounds, "--journal", str(tmp_path / "journal.db"))
        beside = await asyncio.to_thread(answer, rounds, "--data", str(tmp_path))
        assert alone == beside
        assert alone["rounds"][0]["status"] == "open"
        live = await asyncio.to_thread(answer, replay, alone["rounds"][0]["round_id"], "--data", str(tmp_path))
        assert live["complete"] is False
        done = f"{TABLE}#2"
        assert await asyncio.to_thread(answer, replay, done, "--data", str(tmp_path)) == await asyncio.to_thread(
            answer, replay, done, "--journal", str(tmp_path / "journal.db")
        )
        await watch.stop()


async def test_rows_that_another_journal_left_behind_are_never_answered_from(tmp_path: Path) -> None:
    data, other = tmp_path / "data", tmp_path / "other"
    data.mkdir()
    other.mkdir()
    async with watched_house(other, "other") as house:
        await house.open(seats=2)
        watch = Surveillance(house.journal, data / "projection.db", clock=house.clock, telemetry=Telemetry())
        await watch.start()
        await house.play(5)
        client = SurveillanceClient(LocalCaller({watch.dispatcher.service: watch.dispatcher}))
        async with asyncio.timeout(90):
            while (await client.get_lag()).lag_events:  # noqa: ASYNC110 - the other side of a wire has no event
                await asyncio.sleep(0.01)
        await watch.stop()
    async with watched_house(data, "this") as house:
        await house.open(seats=1)
        await house.play(2)
    listed = await asyncio.to_thread(answer, rounds, "--data", str(data))
    assert listed == await asyncio.to_thread(answer, rounds, "--journal", str(data / "journal.db"))
    assert [one["number"] for one in listed["rounds"]] == [2, 1]
    for name in (f"{TABLE}#1", f"{TABLE}#2"):
        beside = await asyncio.to_thread(answer, replay, name, "--data", str(data))
        assert beside == await asyncio.to_thread(answer, replay, name, "--journal", str(data / "journal.db"))


async def test_a_damaged_read_model_costs_the_commands_time_only(tmp_path: Path) -> None:
    async with watched_house(tmp_path) as house:
        watch = Surveillance(house.journal, tmp_path / "projection.db", clock=house.clock, telemetry=Telemetry())
        await watch.start()
        await house.open()
        await house.play(3)
        client = SurveillanceClient(LocalCaller({watch.dispatcher.service: watch.dispatcher}))
        async with asyncio.timeout(90):
            while (await client.get_lag()).lag_events:  # noqa: ASYNC110 - the other side of a wire has no event
                await asyncio.sleep(0.01)
        await watch.stop()
    # The first pages, with the version, stay readable; the rows do not.
    path = tmp_path / "projection.db"
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(3 * 4096)
        file.write(b"\xa5" * (size - 3 * 4096))
    listed = await asyncio.to_thread(answer, rounds, "--data", str(tmp_path))
    assert [one["number"] for one in listed["rounds"]] == [3, 2, 1]
    assert (await asyncio.to_thread(answer, replay, f"{TABLE}#2", "--data", str(tmp_path)))["complete"]


def test_verify_holds_a_sound_journal_to_the_laws(data: Path) -> None:
    report = answer(verify, "--data", str(data))
    assert report["sound"]
    assert report["findings"] == []


async def test_verify_names_the_law_the_stream_and_the_event_that_breaks_it(data: Path) -> None:
    journal = SqliteJournal.open(data / "journal.db")
    stream = f"table:{TABLE}"
    heads = {head.stream: head for head in await journal.streams()}
    late = WagerPlaced(1, "P-1", 0, "main", 1, 2_500)
    payload = Mapper(WagerPlaced, message_class("holecard.table.v1.WagerPlaced"), subset=True).encode(late)
    event = NewEvent(
        type="holecard.table.v1.WagerPlaced",
        schema_version=1,
        payload=payload,
        occurred_time_us=1,
        actor=Actor(Role.DEALER, "D-11"),
        request_id="past-post",
        request_digest=bytes(32),
        cause=None,
        round_id=f"{TABLE}#6",
        gaming_day="2026-11-30",
    )
    await journal.append(stream, heads[stream].sequence, [event])
    await journal.close()
    result = await asyncio.to_thread(run, verify, "--data", str(data), "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)["findings"]
    place = (stream, heads[stream].sequence + 1)
    assert {one["kind"] for one in found if (one["stream"], one["sequence"]) == place} >= {"L8", "L11"}


async def test_g05_verify_derives_the_read_model_again_and_names_the_row_that_differs(tmp_path: Path) -> None:
    async with watched_house(tmp_path) as house:
        watch = Surveillance(house.journal, tmp_path / "projection.db", clock=house.clock, telemetry=Telemetry())
        await watch.start()
        await house.open()
        await house.play(2)
        client = SurveillanceClient(LocalCaller({watch.dispatcher.service: watch.dispatcher}))
        async with asyncio.timeout(90):
            while (await client.get_lag()).lag_events:  # noqa: ASYNC110 - the other side of a wire has no event
                await asyncio.sleep(0.01)
        beside = await asyncio.to_thread(run, verify, "--data", str(tmp_path), "--read-model")
        assert beside.exit_code == 0, beside.output
        await watch.stop()
    with sqlite3.connect(tmp_path / "projection.db") as database:
        database.execute("update hands set returned_cents = returned_cents + 1 where seat = 2")
    database.close()
    result = await asyncio.to_thread(run, verify, "--data", str(tmp_path), "--read-model", "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)["findings"]
    assert {one["kind"] for one in found} == {"L6"}
    assert any(f"hands {TABLE}#1 2 0: returned_cents is" in one["reason"] for one in found)


def test_a_folder_without_a_read_model_is_sound_and_says_so(data: Path) -> None:
    result = run(verify, "--data", str(data), "--read-model")
    assert result.exit_code == 0
    assert "no read model" in result.stderr
    assert run(verify, "--journal", str(data / "journal.db"), "--read-model").exit_code == 2

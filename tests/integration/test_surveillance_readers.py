"""Surveillance's readers stand when the journal or the database fails, say why, and go on by themselves."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest
from sqlalchemy import text

from services.journal.port import Recorded
from services.runtime.caller import LocalCaller
from services.runtime.failures import ServiceUnavailable
from services.runtime.telemetry import Telemetry
from services.surveillance import client as v
from services.surveillance import following
from services.surveillance.following import Follower
from services.surveillance.server import Surveillance
from services.surveillance.store import open_store
from services.surveillance.watching import ROUNDS_KEPT, Watchers
from tests.support.law_logs import recorded
from tests.support.watched_house import TABLE, watched_house


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(90):
        while not true():  # noqa: ASYNC110 - what it asks has no event of its own
            await asyncio.sleep(0.005)


async def test_a_reader_that_fails_says_why_waits_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "FIRST_PAUSE_SECONDS", 0.01)
    rows = recorded()
    seen: list[Recorded] = []
    tries = 0

    async def subscribe() -> AsyncIterator[Recorded]:
        nonlocal tries
        tries += 1

        async def live() -> AsyncIterator[Recorded]:
            for row in rows[len(seen) :]:
                yield row
                if tries == 1 and len(seen) >= 100:
                    raise OSError("the disk is gone")
            await asyncio.Event().wait()

        return live()

    async def handle(batch: Sequence[Recorded]) -> None:
        seen.extend(batch)

    reader = Follower("test", subscribe, handle, share=1.0)
    assert reader.trouble == "not started"
    reader.start()
    await until(lambda: len(seen) == len(rows))
    assert reader.trouble == ""
    assert tries >= 1
    assert seen == list(rows)
    await reader.stop()
    assert reader.trouble == "stopped"


async def test_what_is_handled_is_never_more_than_a_batch_and_keeps_its_order() -> None:
    rows = recorded()[:1_200]
    sizes: list[int] = []
    seen: list[Recorded] = []

    async def live() -> AsyncIterator[Recorded]:
        for row in rows:
            yield row

    async def handle(batch: Sequence[Recorded]) -> None:
        sizes.append(len(batch))
        seen.extend(batch)
        await asyncio.sleep(0)

    with pytest.raises(EOFError):
        await following.batches(live(), handle, 1.0, asyncio.Event())
    assert seen == list(rows)
    assert max(sizes) <= following.BATCH


async def test_a_database_that_fails_stops_the_projection_not_the_laws_nor_the_game(tmp_path: Path) -> None:
    async with watched_house(tmp_path) as house:
        watch = Surveillance(house.journal, tmp_path / "p.db", clock=house.clock, telemetry=Telemetry())
        await watch.start()
        client = v.SurveillanceClient(LocalCaller({watch.dispatcher.service: watch.dispatcher}))
        other = open_store(tmp_path / "p.db")
        with other.begin() as connection:
            connection.execute(text("ALTER TABLE events RENAME TO elsewhere"))
        await house.open()
        await house.play(1)
        async with asyncio.timeout(90):
            while (lag := await client.get_lag()).healthy:  # noqa: ASYNC110 - the other side of a wire has no event
                await asyncio.sleep(0.01)
        assert "projection" in lag.reason or "read model" in lag.reason
        with other.begin() as connection:
            connection.execute(text("ALTER TABLE elsewhere RENAME TO events"))
        other.dispose()
        async with asyncio.timeout(90):
            while not (lag := await client.get_lag()).healthy or lag.lag_events:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.01)
        assert (await client.list_rounds(v.ListRounds())).rounds[0].round_id == f"{TABLE}#1"
        await watch.stop()


async def test_after_the_end_questions_are_answered_with_unavailable(tmp_path: Path) -> None:
    async with watched_house(tmp_path) as house:
        watch = Surveillance(house.journal, tmp_path / "p.db", clock=house.clock, telemetry=Telemetry())
        client = v.SurveillanceClient(LocalCaller({watch.dispatcher.service: watch.dispatcher}))
        with pytest.raises(ServiceUnavailable):
            await client.list_tables()
        await watch.start()
        assert (await client.list_tables()).tables == ()
        await watch.stop()
        with pytest.raises(ServiceUnavailable):
            await client.get_round(f"{TABLE}#1")


async def test_prometheus_sees_how_far_it_is_and_every_law(tmp_path: Path) -> None:
    async with watched_house(tmp_path) as house:
        telemetry = Telemetry()
        watch = Surveillance(house.journal, tmp_path / "p.db", clock=house.clock, telemetry=telemetry)
        await watch.start()
        client = v.SurveillanceClient(LocalCaller({watch.dispatcher.service: watch.dispatcher}))
        await house.open(seats=1)
        await house.play(1)
        async with asyncio.timeout(90):
            while any(p.audited_offset < p.end_offset for p in (await client.get_lag()).partitions):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        count = len(await house.recorded())

        def value(name: str, **labels: str) -> float | None:
            return telemetry.registry.get_sample_value(name, labels)

        await until(lambda: value("holecard_surveillance_events_projected_total") == count)
        assert value("holecard_surveillance_events_audited_total") == count
        assert value("holecard_surveillance_lag_events") is not None
        assert [value("holecard_surveillance_findings_total", law=f"L{n}") for n in range(1, 13)] == [0.0] * 12
        await watch.stop()


async def test_a_slow_watcher_holds_no_more_than_the_newest() -> None:
    watchers = Watchers()
    slow = watchers.join()
    for number in range(3 * ROUNDS_KEPT):
        watchers.tell([f"floor/T-{number % 5}"], [f"floor/T-1#{number}"])
    tables, ended, findings = await slow.next()
    assert len(tables) == 5
    assert len(ended) == ROUNDS_KEPT
    assert ended[-1] == f"floor/T-1#{3 * ROUNDS_KEPT - 1}"
    assert findings == []
    watchers.leave(slow)
    watchers.tell(["floor/T-1"])
    assert not slow.changed.is_set()

"""Every panel of every dashboard shows something while a house plays, by a real Prometheus; and no panel hides another.

Grafana itself is not there: what a person sees follows from the expressions, which are asked here as Grafana asks them.
"""

import asyncio
import json
import math
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from prometheus_client import CollectorRegistry, start_http_server

from services.floor.simulation import Callers, Plan, Simulation
from services.game.profiles import profile
from services.house import House
from services.journal.errors import SequenceConflict
from services.journal.kafka_journal import Claimant, KafkaJournal
from services.runtime.caller import LocalCaller
from services.runtime.clock import SystemClock
from services.runtime.journal_metrics import measured
from services.runtime.settings import SERVICES, Settings
from tests.support.journal_events import STREAM, fill, new_events
from tests.support.kafka_broker import new_layout, shared_broker
from tests.support.metric_names import names_in, names_of_a_house
from tests.support.prometheus_server import CONFIGURATION, ROOT, PrometheusServer

FILES = sorted((ROOT / "deploy" / "grafana").glob("*.json"))
PATIENCE_SECONDS = 120
COLUMNS = 24


def board(path: Path) -> dict[str, Any]:
    """A dashboard as Grafana reads it."""
    found: dict[str, Any] = json.loads(path.read_text())
    return found


class Target(NamedTuple):
    """One line of a panel: whose, what it asks, and how its series are called."""

    title: str
    expression: str
    legend: str


def targets(path: Path) -> Iterator[Target]:
    """Each line of a dashboard's panels."""
    for panel in board(path)["panels"]:
        for target in panel.get("targets", ()):
            yield Target(f"{path.stem}: {panel['title']}", target["expr"], target["legendFormat"])


def asked(expression: str) -> str:
    """An expression as Grafana sends it, everything chosen; over ten seconds, since this house plays no longer."""
    return expression.replace("$__rate_interval", "10s").replace("$service", ".+")


@asynccontextmanager
async def playing_house(folder: Path) -> AsyncIterator[str]:
    """A whole house with players and mischief; where its metrics are."""
    settings = Settings(folder, "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0")
    async with House(settings, SERVICES) as house:
        caller = LocalCaller(house.dispatchers)
        plan = Plan(tables=3, seats=3, pace_seconds=0.02, mischief=0.4)
        simulation = Simulation(plan, (profile("colorado"),), Callers(caller, caller, caller, caller), SystemClock())
        play = asyncio.create_task(simulation.run(lambda _figures, _seconds: None))
        try:
            yield f"127.0.0.1:{house.metrics_port}"
        finally:
            simulation.stop()
            await play


@asynccontextmanager
async def busy_kafka_journal() -> AsyncIterator[str]:
    """A journal on a real broker that takes events, and sometimes loses a race; where its metrics are."""
    cluster = shared_broker().cluster
    registry = CollectorRegistry()
    opened = await KafkaJournal.open(cluster, new_layout(cluster, partitions=2), Claimant("dashboards"))
    journal = measured(opened, registry)

    async def write() -> None:
        for number in range(10_000):
            await fill(journal, STREAM, 1, after=number)
            with suppress(SequenceConflict):
                await journal.append(STREAM, number, new_events([number]))
            await asyncio.sleep(0.05)

    writing = asyncio.create_task(write())
    server, thread = start_http_server(0, "127.0.0.1", registry)
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        writing.cancel()
        with suppress(asyncio.CancelledError):
            await writing
        await opened.close()
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.xdist_group("kafka")
async def test_every_panel_shows_something_while_a_house_plays(tmp_path: Path) -> None:
    (tmp_path / "prometheus").mkdir()
    async with playing_house(tmp_path / "house") as house, busy_kafka_journal() as kafka:
        where = {"house": house, "kafka": kafka}
        with PrometheusServer(tmp_path / "prometheus", where, fast=True) as prometheus:
            empty = {target for path in FILES for target in targets(path)}
            assert len(empty) > 50
            async with asyncio.timeout(PATIENCE_SECONDS):
                while empty:
                    await asyncio.sleep(0.5)
                    for target in sorted(empty):
                        series = await asyncio.to_thread(prometheus.query, asked(target.expression))
                        if any(not math.isnan(float(one["value"][1])) for one in series):
                            empty.discard(target)
                        labels = set(re.findall(r"{{(\w+)}}", target.legend))
                        for one in series:
                            assert labels <= one["metric"].keys(), target
            (runs,) = prometheus.query('holecard_build_info{component="house"}')
            assert runs["metric"]["version"]
            # What the variable of the services' dashboard offers.
            offered = prometheus.ask("label/service/values", **{"match[]": "holecard_requests_in_flight"})
            assert len(offered) == 4


async def test_every_metric_of_the_dashboards_is_one_of_the_house(tmp_path: Path) -> None:
    recorded = names_in((CONFIGURATION / "rules" / "recording.yaml").read_text())
    known = await names_of_a_house(tmp_path) | recorded | {"up"}
    for path in FILES:
        for target in targets(path):
            assert names_in(target.expression) <= known or "ALERTS" in target.expression, target


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_dashboard_is_whole_and_its_panels_do_not_lie_on_each_other(path: Path) -> None:
    content = board(path)
    assert content["uid"] == path.stem
    assert content["title"].startswith("Holecard: ")
    assert content["description"]
    panels = content["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: dict[tuple[int, int], str] = {}
    for panel in panels:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= COLUMNS, panel["title"]
        for cell in (
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        ):
            assert cell not in taken, f"{panel['title']} lies on {taken[cell]}"
            taken[cell] = panel["title"]
        for target in panel.get("targets", ()):
            assert target["datasource"]["uid"] == "${datasource}"
        letters = [target["refId"] for target in panel.get("targets", ())]
        assert len(set(letters)) == len(letters)
    variables = {variable["name"] for variable in content["templating"]["list"]}
    assert "datasource" in variables
    text = path.read_text()
    assert ("$service" in text) == ("service" in variables)

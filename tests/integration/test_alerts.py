"""Every alert fires for its cause and ends with it, by a real Prometheus; every alert has its runbook.

Time runs sixty times as fast for the rules (tests/support/prometheus_server.py).
"""

import asyncio
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from prometheus_client import generate_latest

from services.house import House
from services.runtime.settings import Settings
from tests.support.house_process import HouseProcess, free_port
from tests.support.metric_names import names_in, names_of_a_house
from tests.support.prometheus_server import CONFIGURATION, ROOT, PrometheusServer, sixty_times_as_fast
from tests.support.troubled_house import TroubledHouse

RUNBOOKS = ROOT / "deploy" / "runbooks"
RULES = sorted((CONFIGURATION / "rules").glob("*.yaml"))
OF_THE_PROCESS = {"HolecardProcessDown", "HolecardServiceAbsent"}
"""Shown with a real house that is killed."""
ALONE = {"HolecardPlayStands"}
"""Says that rounds are open, where another one says that none is."""
PATIENCE_SECONDS = 150
SECTIONS = ("## What it means", "## What the house does meanwhile", "## Look", "## Do", "## Over when")


def rules() -> Iterator[dict[str, Any]]:
    """Every rule of every file."""
    for path in RULES:
        for group in yaml.safe_load(path.read_text())["groups"]:
            yield from group["rules"]


ALERTS = {rule["alert"]: rule for rule in rules() if "alert" in rule}


async def until_up(prometheus: PrometheusServer) -> None:
    """Wait until every target was looked at and answered."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while {one["value"][1] for one in await asyncio.to_thread(prometheus.query, 'up{job="holecard"}')} != {"1"}:
        assert time.monotonic() < deadline, "the house is never seen"
        await asyncio.sleep(0.1)


async def until_firing(prometheus: PrometheusServer, wanted: set[str]) -> None:
    """Wait until each of `wanted` has been seen to fire, its words in order; others may fire with them."""
    seen: set[str] = set()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not wanted <= seen:
        assert time.monotonic() < deadline, f"did not fire: {sorted(wanted - seen)}"
        await asyncio.sleep(0.1)
        for alert in (await asyncio.to_thread(prometheus.ask, "alerts"))["alerts"]:
            if alert["state"] == "firing":
                seen.add(alert["labels"]["alertname"])
                assert not re.search(r"<|\bNaN\b|\{\{|  ", alert["annotations"]["summary"]), alert


async def until_quiet(prometheus: PrometheusServer, among: set[str]) -> None:
    """Wait until none of these fires."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while still := among & await asyncio.to_thread(prometheus.firing):
        assert time.monotonic() < deadline, f"still fire: {sorted(still)}"
        await asyncio.sleep(0.1)


async def test_each_alert_fires_for_its_cause_and_ends_with_it(tmp_path: Path) -> None:
    with TroubledHouse() as house, PrometheusServer(tmp_path, {"cell": house.address}, fast=True) as prometheus:
        caused = set(ALERTS) - OF_THE_PROCESS
        house.troubles = caused - ALONE
        await until_firing(prometheus, house.troubles)
        house.troubles = set(ALONE)
        await until_firing(prometheus, house.troubles)
        # A house that is well makes no alarm: all end, also those for what only happens now and then.
        house.troubles = set()
        await until_quiet(prometheus, set(ALERTS))


async def test_a_house_that_is_killed_is_missed_until_it_is_back(tmp_path: Path) -> None:
    everything = ("shoe", "table", "wager", "surveillance")
    metrics = f"127.0.0.1:{free_port()}"
    (tmp_path / "prometheus").mkdir()
    async with HouseProcess(tmp_path, everything, metrics=metrics) as house:
        with PrometheusServer(tmp_path / "prometheus", {"house": metrics}, fast=True) as prometheus:
            await until_up(prometheus)
            await until_quiet(prometheus, set(ALERTS))
            await house.kill()
            await until_firing(prometheus, OF_THE_PROCESS)
            (down,) = [one for one in prometheus.ask("alerts")["alerts"] if one["labels"].get("component")]
            assert down["annotations"]["summary"] == f"house at {metrics} does not answer Prometheus"
            absent = {one["metric"]["service"] for one in prometheus.query('ALERTS{alertname="HolecardServiceAbsent"}')}
            assert len(absent) == len(everything)
            await house.start()
            await until_quiet(prometheus, set(ALERTS))


def test_prometheus_of_the_cluster_on_one_machine_looks_at_each_of_its_processes() -> None:
    folder = ROOT / "deploy" / "cluster"
    subprocess.run(["promtool", "check", "config", folder / "prometheus.yml"], check=True, capture_output=True)
    (job,) = yaml.safe_load((folder / "prometheus.yml").read_text())["scrape_configs"]
    looked_at = {target for group in job["static_configs"] for target in group["targets"]}
    served = set()
    for program in (folder / "programs").glob("*.conf"):
        for address in re.findall(r"--metrics (\S+)", program.read_text()):
            numbers = (1, 2) if "%(process_num)d" in address else (1,)
            served |= {address.replace("%(process_num)d", str(number)) for number in numbers}
    assert looked_at == served


def test_promtool_accepts_configuration_and_rules() -> None:
    subprocess.run(["promtool", "check", "config", CONFIGURATION / "prometheus.yml"], check=True, capture_output=True)
    for path in RULES:
        subprocess.run(["promtool", "check", "rules", "--lint-fatal", path], check=True, capture_output=True)


async def test_promtool_accepts_the_metrics_of_a_house(tmp_path: Path) -> None:
    settings = Settings(tmp_path, "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0")
    async with House(settings, ("shoe", "table", "wager", "surveillance", "console")) as house:
        text = generate_latest(house.telemetry.registry)
    check = ["promtool", "check", "metrics"]
    checked = await asyncio.to_thread(subprocess.run, check, input=text, capture_output=True, check=False)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")


async def test_every_metric_of_the_rules_is_one_of_the_house(tmp_path: Path) -> None:
    known = await names_of_a_house(tmp_path) | {rule["record"] for rule in rules() if "record" in rule} | {"up"}
    for rule in rules():
        asked = names_in(rule["expr"])
        assert asked, rule
        assert asked <= known, f"{rule.get('alert') or rule['record']} asks for {sorted(asked - known)}"


def test_every_alert_has_its_runbook_and_every_runbook_its_alert() -> None:
    assert {path.stem for path in RUNBOOKS.glob("Holecard*.md")} == set(ALERTS)
    for name, rule in ALERTS.items():
        notes = rule["annotations"]
        assert rule["labels"]["severity"] in {"page", "ticket"}, name
        assert (ROOT / notes["runbook"]) == RUNBOOKS / f"{name}.md"
        assert notes["summary"], name
        assert notes["description"].endswith("."), name
        text = (RUNBOOKS / f"{name}.md").read_text()
        assert text.startswith(f"# {name}\n"), name
        found = [text.index(section) for section in SECTIONS if section in text]
        assert len(found) == len(SECTIONS), f"{name} lacks one of {SECTIONS}"
        assert found == sorted(found), name


def test_every_duration_of_the_rules_is_in_minutes_and_is_made_faster() -> None:
    for path in RULES:
        text = path.read_text()
        assert not re.search(r"\[\d+[^m\d]", text), path
        fast = sixty_times_as_fast(text)
        assert not re.search(r"\b\d+m\b", re.sub(r"#.*|:\w+_5m|\w+:rate5m", "", fast)), path
    for name, rule in ALERTS.items():
        assert rule.get("for", "0m").endswith("m"), name

"""How much a cluster sustains: cells on a real broker under an open load that rises until they no longer follow.

`python -m load.cluster [--cells 2] [--tables 32] [--rates 10 20 40] [--json]`. Starts a broker, processes that host shoe,
table and wager each, and one of surveillance; tables full of players then play rounds that are due by the clock whether
or not those before have ended (see `load.tables`). For each rate: events a second, a player's act, how far surveillance
is behind. The highest rate that was kept is followed by half of it, since that is where the aim for an act lies. At the
end `holecard verify` walks the journal; one that is not sound ends this with status 1.
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil
import uvloop

from load.rounds import percentiles_ms, say, verified
from load.tables import Load, Outcome, Plan
from services.journal.kafka_journal import KafkaJournal
from services.runtime.caller import GrpcCaller, open_channel
from services.runtime.routing import Lines, RoutedCaller
from services.surveillance.client import SurveillanceClient
from tests.support.house_process import free_port
from tests.support.kafka_broker import Broker, new_layout

CELL = ("shoe", "table", "wager")
START_SECONDS = 120.0
LAG_LOOK_SECONDS = 0.2
BEHIND = 1.1
"""A rate is kept when the rounds that were due within the time had ended, all of them, not much after it."""
AIMS = {"events_a_second": 16_000, "act_p99_ms": 50, "lag_p99_ms": 1_000}


class ClusterPresent:
    """A broker, cells and surveillance as processes of their own, there inside the `with` block."""

    def __init__(self, folder: Path, cells: int, partitions: int) -> None:
        self._folder = folder
        self._cells = cells
        self._stack = ExitStack()
        self.broker = Broker()
        self._stack.callback(self.broker.remove)
        self.layout = new_layout(self.broker.cluster, partitions=partitions)
        self.addresses = [f"127.0.0.1:{free_port()}" for _ in range(cells)]
        self.surveillance = f"127.0.0.1:{free_port()}"
        self._seen: dict[str, psutil.Process] = {}

    def __enter__(self) -> Self:
        key = self._folder / "shoe.key"
        subprocess.run([sys.executable, "-m", "services", "sealing-key", str(key)], check=True, capture_output=True)  # noqa: S603 - our own command
        try:
            for number, address in enumerate(self.addresses):
                self._start(f"cell-{number}", address, *CELL)
            self._start("surveillance", self.surveillance, "surveillance")
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._stack.close()

    @property
    def journal_options(self) -> list[str]:
        """What every command is told of the journal."""
        prefix = self.layout.topics[0].removesuffix("holecard.shoe.v1")
        kafka = ",".join(self.broker.cluster.bootstrap)
        return ["--journal", "kafka", "--kafka", kafka, "--partitions", str(self.layout.partitions), "--prefix", prefix]

    def cpu_seconds(self) -> dict[str, float]:
        """Processor time that each process has used, by name; the broker's among them."""
        found = {}
        for name, process in self._seen.items():
            if process.status() == psutil.STATUS_ZOMBIE:
                raise RuntimeError(f"{name} has ended: {(self._folder / f'{name}.log').read_text()[-500:]}")
            times = process.cpu_times()
            found[name] = float(times.user + times.system)
        return found

    def _start(self, name: str, address: str, *services: str) -> None:
        others = ",".join(self.addresses)
        elsewhere = [word for service in CELL for word in (f"--{service}", others)]
        command = [
            *(sys.executable, "-m", "services", "serve", *services, *self.journal_options, *elsewhere),
            *("--data", str(self._folder / name), "--listen", address, "--advertise", address),
            *("--sealing-key", str(self._folder / "shoe.key"), "--log-level", "warning"),
            *("--console", "127.0.0.1:0", "--metrics", "127.0.0.1:0"),
        ]
        log = self._stack.enter_context((self._folder / f"{name}.log").open("wb"))
        process = subprocess.Popen(  # noqa: S603 - our own command
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=os.environ | {"HOLECARD_PLAIN_TEXT": "1"}
        )
        self._stack.callback(_end, process)
        self._seen[name] = psutil.Process(process.pid)


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Lag:
    """Looks again and again how far surveillance is behind."""

    def __init__(self, client: SurveillanceClient) -> None:
        self._client = client
        self._seen_s: list[float] = []
        self._task = asyncio.create_task(self._look())

    def take(self) -> list[float]:
        """What was seen since the last time, in seconds; raises what ended the looking."""
        if self._task.done():
            self._task.result()
        seen, self._seen_s = self._seen_s, []
        return seen

    async def stop(self) -> None:
        """Look no longer."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _look(self) -> None:
        while True:
            self._seen_s.append((await self._client.get_lag()).lag_us / 1e6)
            await asyncio.sleep(LAG_LOOK_SECONDS)


async def _events(journal: KafkaJournal) -> int:
    await journal.end()
    return sum(status.counts.events for status in journal.partitions())


def _step(
    rate: float, seconds: float, outcome: Outcome, events: int, lags: list[float], cpu: dict[str, float]
) -> dict[str, Any]:
    return {
        "rate": rate,
        "seconds": round(outcome.seconds, 1),
        "rounds": len(outcome.rounds),
        "rounds_a_second": round(len(outcome.rounds) / outcome.seconds, 1),
        "kept": outcome.seconds <= seconds * BEHIND + 1,
        "events_a_second": round(events / outcome.seconds),
        "requests_a_second": round(outcome.requests / outcome.seconds),
        "act_ms": percentiles_ms(outcome.acts),
        "round_from_due_ms": percentiles_ms(outcome.rounds),
        "lag_ms": percentiles_ms(lags),
        "cpu_us_an_event": {name: round(spent / max(1, events) * 1e6) for name, spent in cpu.items()},
        "cpu_share": {name: round(spent / outcome.seconds, 2) for name, spent in cpu.items()},
        "unexpected_refusals": outcome.unexpected_refusals,
    }


async def _ramp(
    cluster: ClusterPresent, tables: int, seats: int, rates: list[float], seconds: float
) -> list[dict[str, Any]]:
    lines = Lines()
    caller = RoutedCaller(lines, cluster.addresses, patience_seconds=START_SECONDS)
    journal = await KafkaJournal.open_read_only(cluster.broker.cluster, cluster.layout)
    channel = open_channel(cluster.surveillance)
    lag = Lag(SurveillanceClient(GrpcCaller(channel, patience_seconds=START_SECONDS)))
    load = Load(caller, Plan(tables, seats, 0.0))
    steps: list[dict[str, Any]] = []

    async def play(rate: float) -> dict[str, Any]:
        load.pace(rate)
        lag.take()
        before, cpu = await _events(journal), cluster.cpu_seconds()
        outcome = await load.run(seconds)
        used = {name: spent - cpu[name] for name, spent in cluster.cpu_seconds().items()}
        step = _step(rate, seconds, outcome, await _events(journal) - before, lag.take(), used)
        say(f"  {rate:g} rounds/s due: {step['rounds_a_second']} played, {step['events_a_second']:,} events/s, "
            f"act p99 {step['act_ms']['p99']} ms, lag p99 {step['lag_ms']['p99']} ms")  # fmt: skip
        return step

    try:
        say(f"opening {tables} tables with {seats} players each …")
        await load.prepare()
        for rate in rates:
            steps.append(await play(rate))
            if not steps[-1]["kept"]:
                break
        kept = max((step["rate"] for step in steps if step["kept"]), default=rates[0])
        steps.append(await play(kept / 2) | {"half_load": True})
    finally:
        await lag.stop()
        await load.stop()
        await channel.close()
        await lines.close()
        await journal.close()
    return steps


def measure(cells: int, tables: int, seats: int, rates: list[float], seconds: float, partitions: int) -> dict[str, Any]:
    """Everything this module measures, as one JSON object."""
    with tempfile.TemporaryDirectory(prefix="holecard-load-") as name:
        folder = Path(name)
        say("starting a broker, cells and surveillance …")
        with ClusterPresent(folder, cells, partitions) as cluster:
            steps = uvloop.run(_ramp(cluster, tables, seats, rates, seconds))
            report = verified(*cluster.journal_options)
    kept = [step for step in steps if step["kept"] and "half_load" not in step]
    return {
        "plan": {"cells": cells, "tables": tables, "seats": seats, "seconds": seconds, "partitions": partitions},
        "steps": steps,
        "sustained_events_a_second": max((step["events_a_second"] for step in kept), default=0),
        "half_load": steps[-1],
        "verify": report,
        "aims": AIMS,
    }


def show(result: dict[str, Any]) -> None:
    """The result for people."""
    plan = result["plan"]
    print(
        f"{plan['cells']} cells, {plan['tables']} tables × {plan['seats']} players, {plan['partitions']} partitions a topic"
    )
    print("  due/s  played/s  events/s   act p50    p95    p99 ms   lag p99 ms   kept")
    for step in result["steps"]:
        act = step["act_ms"]
        print(
            f"{step['rate']:>7g} {step['rounds_a_second']:>9} {step['events_a_second']:>9,} "
            f"{act['p50']:>9.1f} {act['p95']:>6.1f} {act['p99']:>6.1f} "
            f"{step['lag_ms']['p99']:>14.0f}   {'yes' if step['kept'] else 'no'}"
            + ("  (half load)" if step.get("half_load") else "")
        )
        print(
            "          processor, µs an event: "
            + ", ".join(f"{name} {us}" for name, us in step["cpu_us_an_event"].items())
        )
    half = result["half_load"]
    for what, found, aim, met in (
        ("events a second in cells", result["sustained_events_a_second"], AIMS["events_a_second"], None),
        (
            "act p99 at half load, ms",
            half["act_ms"]["p99"],
            AIMS["act_p99_ms"],
            half["act_ms"]["p99"] <= AIMS["act_p99_ms"],
        ),
        (
            "surveillance lag p99, ms",
            half["lag_ms"]["p99"],
            AIMS["lag_p99_ms"],
            half["lag_ms"]["p99"] <= AIMS["lag_p99_ms"],
        ),
    ):
        reached = found >= aim if met is None else met
        print(f"{what:<28} {found:>10,.0f}   aim {aim:>7,}   {'met' if reached else 'NOT MET'}")
    report = result["verify"]
    verdict = "sound" if report["sound"] else f"NOT SOUND: {report['findings']}"
    print(f"journal: {report['events']:,} events, {verdict}")


def main() -> int:
    """Measure and print; 1 when the journal is not sound or something was refused that should not be."""
    parser = argparse.ArgumentParser(prog="python -m load.cluster", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cells", type=int, default=2)
    parser.add_argument("--tables", type=int, default=32)
    parser.add_argument("--seats", type=int, default=5)
    parser.add_argument("--partitions", type=int, default=12)
    parser.add_argument(
        "--rates", type=float, nargs="+", default=[4, 8, 16, 24, 32, 48, 64], help="rounds a second, rising"
    )
    parser.add_argument("--seconds", type=float, default=15.0, help="for each rate (default 15)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args()
    result = measure(chosen.cells, chosen.tables, chosen.seats, chosen.rates, chosen.seconds, chosen.partitions)
    if chosen.json:
        print(json.dumps(result))
    else:
        show(result)
    refused = any(step["unexpected_refusals"] for step in result["steps"])
    return 0 if result["verify"]["sound"] and not refused else 1


if __name__ == "__main__":
    sys.exit(main())

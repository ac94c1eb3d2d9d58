"""How long a table stands still when its owner is killed, paused, or told to end: `python -m load.takeover [--json]`.

Two processes host shoe, table and wager on a real broker; bots play at every table and stamp each accepted command. After
a kill or a pause the longest time from the fault to a table's next accepted command is told, for the hand-over the longest
that any call took meanwhile, and how many clients gave up. The journal is verified at the end; one that is not sound ends
this with status 1.
"""

import argparse
import asyncio
import json
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from services.floor.simulation import Plan
from services.runtime.kafka_settings import HEARTBEAT_MS, SESSION_MS
from services.wire.rpc import Rpc
from tests.support.acknowledged import Acknowledged
from tests.support.audit import wrong_in_cluster
from tests.support.bots import Bots
from tests.support.cluster_houses import Ground
from tests.support.house_process import SERVICES, HouseProcess

AIMS_S = {"kill (default)": 15.0, "kill (fast)": 5.0, "hand-over": 1.0}
QUIET_SECONDS = 3.0


class Stamping(Acknowledged):
    """What was acknowledged, and when each table's last command was."""

    def __init__(self) -> None:
        super().__init__()
        self.accepted_s: dict[str, float] = {}

    def take(self, rpc: Rpc[Any, Any], request: Any, reply: Any) -> None:
        """Note the time beside what the answer promises."""
        super().take(rpc, request, reply)
        stream = getattr(reply, "stream", "")
        if stream.startswith("table:"):
            self.accepted_s[stream] = asyncio.get_running_loop().time()


async def stood_still(stamped: Stamping, fault: Callable[[], Any]) -> float:
    """Seconds from the fault until the last of the tables has accepted a command again."""
    began = asyncio.get_running_loop().time()
    fault()
    while not all(at > began for at in stamped.accepted_s.values()):  # noqa: ASYNC110 - the bots run by themselves
        await asyncio.sleep(0.01)
    return max(stamped.accepted_s.values()) - began


async def measure(folder: Path, tables: int, session_ms: int, heartbeat_ms: int) -> dict[str, float]:
    """The three figures for these settings."""
    ground = Ground(folder)
    timing = ["--session-ms", str(session_ms), "--heartbeat-ms", str(heartbeat_ms)]
    figures: dict[str, float] = {}
    async with ground.process(SERVICES, *timing) as first, ground.process(SERVICES, *timing) as second:
        bots = Bots(f"{first.address},{second.address}", Plan(tables=tables, seats=2, mischief=0.0))
        stamped = bots.acknowledged = Stamping()
        async with bots:
            await bots.played(2 * tables)

            async def calm(house: HouseProcess | None) -> None:
                if house is not None:
                    await house.start()
                # A share of the tables has to move to it, and play on there for a while.
                await asyncio.sleep(QUIET_SECONDS + session_ms / 10_000)
                await bots.played(bots.figures.rounds + 2 * tables)

            await calm(None)
            figures["kill -9"] = await stood_still(stamped, lambda: first.send(signal.SIGKILL))
            await first.ended()
            await calm(first)
            figures["pause"] = await stood_still(stamped, lambda: second.send(signal.SIGSTOP))
            second.send(signal.SIGCONT)
            await calm(None)
            before = {name: len(latencies) for name, latencies in bots.figures.latencies.items()}
            first.send(signal.SIGTERM)
            await first.ended()
            await bots.played(bots.figures.rounds + 2 * tables)
            new = [one for name, all_ in bots.figures.latencies.items() for one in all_[before.get(name, 0) :]]
            figures["hand-over"] = max(new)
            await bots.finish()
            figures["gave up"] = bots.figures.outages
    faults, _ = await wrong_in_cluster(ground.broker.cluster, ground.layout, bots.acknowledged)
    figures["not sound"] = len(faults)
    return figures


async def main(arguments: argparse.Namespace) -> int:
    """Measure default and fast settings."""
    results: dict[str, dict[str, float]] = {}
    for name, session_ms, heartbeat_ms in (("default", SESSION_MS, HEARTBEAT_MS), ("fast", 3_000, 100)):
        with tempfile.TemporaryDirectory() as folder:
            results[name] = await measure(Path(folder), arguments.tables, session_ms, heartbeat_ms)
        if not arguments.json:
            words = ", ".join(f"{what} {figure:.2f}" for what, figure in results[name].items())
            print(f"{name} (session {session_ms} ms, heartbeat {heartbeat_ms} ms), seconds: {words}", flush=True)
    if arguments.json:
        print(json.dumps({"seconds": results, "aims": AIMS_S}))
    return int(any(one["not sound"] or one["gave up"] for one in results.values()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", type=int, default=6)
    parser.add_argument("--json", action="store_true")
    sys.exit(asyncio.run(main(parser.parse_args())))

"""Whether a house that plays for long keeps its size: its memory after so many rounds, and after as many again.

`python -m load.memory [--json] [--rounds N] [--tables T] [--where]`. One process, in-process calls, all rooms but the
console; its resident memory is read after a full collection at equal steps. With --where, `tracemalloc` says for which room
the memory of the second half was taken, which makes the run several times slower. The windows that a house may fill (request
ids, outcomes, receipts, past rounds, stacks of cards) are full after the first steps; what is still added per round at the
end is what would grow for ever.
"""

import argparse
import asyncio
import gc
import json
import sys
import tempfile
import tracemalloc
from collections import defaultdict
from pathlib import Path
from typing import Any

import psutil
import uvloop

from load.tables import Load, Plan
from services.house import House
from services.runtime.settings import Settings
from services.runtime.telemetry import configure_logging

STEPS = 8
SERVICES = ("shoe", "table", "wager", "surveillance")


async def measure(tables: int, rounds: int, *, where: bool = False) -> dict[str, Any]:
    """Resident bytes after each of STEPS equal parts of `rounds` rounds at each of `tables` tables."""
    sizes: list[int] = []
    with tempfile.TemporaryDirectory(prefix="holecard-memory-") as folder:
        anywhere = "127.0.0.1:0"
        settings = Settings(Path(folder), grpc_address=anywhere, console_address=anywhere, metrics_address=anywhere)
        async with House(settings, SERVICES) as house:
            load = Load(house.caller("table"), Plan(tables=tables, seats=5))
            await load.prepare()
            try:
                for step in range(STEPS):
                    await load.play(rounds // STEPS)
                    print(f"  {(step + 1) * (rounds // STEPS):,} rounds a table", file=sys.stderr, flush=True)
                    # What surveillance has not read yet would be counted as growth.
                    await asyncio.sleep(1.0)
                    gc.collect()
                    sizes.append(psutil.Process().memory_info().rss)
                    if where and step == STEPS // 2 - 1:
                        tracemalloc.start(8)
                grown = _by_room(tracemalloc.take_snapshot()) if where else {}
            finally:
                tracemalloc.stop()
            await load.stop()
    played = rounds // STEPS * tables
    later = (sizes[-1] - sizes[STEPS // 2 - 1]) / (played * (STEPS // 2))
    return {
        "tables": tables,
        "rounds_a_table": rounds // STEPS * STEPS,
        "memory_mb": [round(size / 1e6, 2) for size in sizes],
        "bytes_a_round_in_the_first_step": round(sizes[0] / played),
        "bytes_a_round_in_the_second_half": round(later),
        "taken_in_the_second_half_kb": grown,
    }


def _by_room(now: tracemalloc.Snapshot) -> dict[str, float]:
    """KB that are still there, by the file of ours that they were taken for, the most first."""
    grown: defaultdict[str, float] = defaultdict(float)
    for taken in now.statistics("traceback"):
        ours = [frame.filename for frame in reversed(list(taken.traceback)) if "/services/" in frame.filename]
        grown[ours[0].rpartition("/services/")[2] if ours else "libraries"] += taken.size / 1e3
    most = sorted(grown.items(), key=lambda item: -item[1])[:12]
    return {name: round(kb, 1) for name, kb in most if kb > 1}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m load.memory", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tables", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=800, help="rounds at each table (default 800)")
    parser.add_argument("--where", action="store_true", help="say for which room memory was taken (slow)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args()
    configure_logging("warning")
    result = uvloop.run(measure(chosen.tables, chosen.rounds, where=chosen.where))
    if chosen.json:
        print(json.dumps(result))
        return
    print(f"{result['tables']} tables, {result['rounds_a_table']:,} rounds each; memory in MB after each part:")
    print("  " + "  ".join(str(size) for size in result["memory_mb"]))
    print(f"bytes a round: {result['bytes_a_round_in_the_second_half']:,} in the second half")
    for name, kb in result["taken_in_the_second_half_kb"].items():
        print(f"  {kb:>9,.1f} KB  {name}")


if __name__ == "__main__":
    main()

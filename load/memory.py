"""Whether a house that plays for long keeps its size: its memory after so many rounds, and after as many again.

`python -m load.memory [--json] [--rounds N] [--tables T]`. One process, in-process calls, all rooms but the console; its
resident memory and its objects by class are counted after a full collection, at equal steps. The windows that a house may
fill (request ids, outcomes, receipts, past rounds, stacks of cards) are full after the first steps; what is still added per
round in the second half, and of which classes, is what would grow for ever.
"""

import argparse
import asyncio
import gc
import json
import sys
import tempfile
from collections import Counter
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


async def measure(tables: int, rounds: int) -> dict[str, Any]:
    """Resident memory and objects after each of STEPS equal parts of `rounds` rounds at each of `tables` tables."""
    sizes: list[int] = []
    objects: list[Counter[str]] = []
    with tempfile.TemporaryDirectory(prefix="holecard-memory-") as folder:
        anywhere = "127.0.0.1:0"
        settings = Settings(Path(folder), grpc_address=anywhere, console_address=anywhere, metrics_address=anywhere)
        async with House(settings, SERVICES) as house:
            load = Load(house.caller("table"), Plan(tables=tables, seats=5))
            await load.prepare()
            for step in range(STEPS):
                await load.play(rounds // STEPS)
                print(f"  {(step + 1) * (rounds // STEPS):,} rounds a table", file=sys.stderr, flush=True)
                # What surveillance has not read yet would be counted as growth.
                await asyncio.sleep(1.0)
                gc.collect()
                sizes.append(psutil.Process().memory_info().rss)
                objects.append(Counter(type(thing).__qualname__ for thing in gc.get_objects()))
            await load.stop()
    played = rounds // STEPS * tables
    later = (sizes[-1] - sizes[STEPS // 2 - 1]) / (played * (STEPS // 2))
    return {
        "tables": tables,
        "rounds_a_table": rounds // STEPS * STEPS,
        "memory_mb": [round(size / 1e6, 2) for size in sizes],
        "bytes_a_round_in_the_first_step": round(sizes[0] / played),
        "bytes_a_round_in_the_second_half": round(later),
        "objects": [sum(counts.values()) for counts in objects],
        "more_objects_in_the_second_half": dict((objects[-1] - objects[STEPS // 2 - 1]).most_common(15)),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m load.memory", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tables", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=800, help="rounds at each table (default 800)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args()
    configure_logging("warning")
    result = uvloop.run(measure(chosen.tables, chosen.rounds))
    if chosen.json:
        print(json.dumps(result))
        return
    print(f"{result['tables']} tables, {result['rounds_a_table']:,} rounds each; memory in MB after each part:")
    print("  " + "  ".join(str(size) for size in result["memory_mb"]))
    print(f"bytes a round: {result['bytes_a_round_in_the_second_half']:,} in the second half")
    print("objects: " + "  ".join(f"{count:,}" for count in result["objects"]))
    for name, count in result["more_objects_in_the_second_half"].items():
        print(f"  {count:>9,}  more {name}")


if __name__ == "__main__":
    main()

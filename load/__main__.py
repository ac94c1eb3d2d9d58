"""All measures in one run, as one table of ratios with their aims.

`python -m load [--json] [--save FILE]`, the same as `make bench`. The contestants of each measure run beside each other, so
the ratios hold on any machine; absolute figures are those of this one. Exit status 1 when an aim is not met.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ENGINE_AIM = 3.0
LONGEST_SECONDS = 900
WHAT = {
    "append_in_groups": "journal: append, groups of 100",
    "append_one_by_one": "journal: append, one by one",
    "replay_into_state": "journal: replay into state, chain checked",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One measure: ours, the other's, their ratio (more is better for us), and the aim (None: there is none)."""

    what: str
    ours: str
    other: str
    ratio: float
    aim: float | None

    @property
    def verdict(self) -> str:
        """In words."""
        if self.aim is None:
            return ""
        return "met" if self.ratio >= self.aim else "NOT MET"


def run(module: str, *options: str) -> dict[str, Any]:
    """One measure, in a process of its own; its progress goes to stderr."""
    print(f"measuring {module} …", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", module, "--json", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=LONGEST_SECONDS, check=False)  # noqa: S603 - our own module
    if done.returncode:
        raise SystemExit(f"{module} ended with status {done.returncode}; see above")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def lines_of(engine: dict[str, Any], journal: dict[str, Any], rounds: dict[str, Any]) -> list[Line]:
    """The table."""
    lines = []
    for result in engine["results"]:
        rates = dict(result["rounds_per_second"])
        ours = rates.pop("holecard")
        name = max((n for n in rates if not n.startswith("holecard")), key=lambda rival: float(rates[rival]))
        what = f"engine: rounds a second, {result['hands']} hand(s)"
        lines.append(Line(what, f"{ours:,}/s", f"{name} {rates[name]:,}/s", result["ratio_to_faster"], ENGINE_AIM))
    for key, what in WHAT.items():
        row = journal[key]
        other = f"eventsourcing {row['rival_us']} µs"
        lines.append(Line(what, f"{row['ours_us']} µs", other, row["ratio"], row["aim"]))
    act, echo, commit = rounds["act_ms"], rounds["bare_echo"], rounds["bare_commit"]["ms"]
    for p in ("p50", "p95", "p99"):
        least = echo["ms"][p] + commit[p]
        lines.append(
            Line(
                f"end to end: a player's act, {p}",
                f"{act[p]} ms",
                f"echo + commit {least:.1f} ms",
                round(least / max(0.01, act[p]), 2),
                None,
            )
        )
    cpu = rounds["house"]["cpu_us_a_request"]
    other = f"echo {echo['server_cpu_us']} µs"
    ratio = round(echo["server_cpu_us"] / max(1, cpu), 2)
    lines.append(Line("end to end: processor time a request", f"{cpu} µs", other, ratio, None))
    return lines


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    model = "?"
    cpus = Path("/proc/cpuinfo")
    if cpus.exists():
        names = [
            line.partition(":")[2].strip() for line in cpus.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else "?"
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "load_average_before": [round(value, 1) for value in os.getloadavg()],
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }


def show(lines: list[Line], rounds: dict[str, Any]) -> None:
    """The table for people."""
    print(f"\n{'measure':<44} {'ours':>14}   {'against':<30} {'ratio':>7} {'aim':>6}")
    for line in lines:
        aim = "" if line.aim is None else f"≥ {line.aim:g}"
        print(f"{line.what:<44} {line.ours:>14}   {line.other:<30} {line.ratio:>7.2f} {aim:>6}  {line.verdict}")
    plan, house = rounds["plan"], rounds["house"]
    print(
        f"end to end, {plan['tables']} tables × {plan['seats']} players over gRPC: {rounds['rounds_a_second']} rounds/s, "
        f"{rounds['events_a_second']:,} events/s, {rounds['requests_a_second']} requests/s; "
        f"{house['cpu_ms_a_round']} ms of processor time a round; journal "
        f"{'sound' if rounds['verify']['sound'] else 'NOT SOUND'} ({rounds['verify']['events']:,} events)"
    )
    print("Ratio: how many times better ours is; end to end the other side is the least that the same machine needs.")


def main() -> int:
    """Measure, print, and keep the result where asked to."""
    parser = argparse.ArgumentParser(prog="python -m load", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--save", type=Path, help="also write the JSON object to this file")
    parser.add_argument("--seconds", type=float, default=15.0, help="how long to play end to end (default 15)")
    chosen = parser.parse_args()
    facts = machine()
    engine, journal = run("load.engine"), run("load.journal")
    rounds = run("load.rounds", "--seconds", str(chosen.seconds))
    lines = lines_of(engine, journal, rounds)
    result = {
        "command": "python -m load",
        "machine": facts,
        "table": [asdict(line) | {"verdict": line.verdict} for line in lines],
        "engine": engine,
        "journal": journal,
        "rounds": rounds,
    }
    if chosen.save:
        chosen.save.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if chosen.json:
        print(json.dumps(result, ensure_ascii=False))
    else:
        show(lines, rounds)
    return 1 if any(line.verdict == "NOT MET" for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())

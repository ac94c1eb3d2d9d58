"""How many whole rounds a house plays over gRPC, how long a player waits for an act, and where the time goes.

`python -m load.rounds [--profile] [--json] …`. Starts a house as a process of its own on a temporary folder, lets
tables full of players play on it (see `load.tables`), then stops it and verifies the journal; a journal that is not
sound, or a command refused that should not be, ends this with status 1. Beside the figures stand those of a bare gRPC
echo and a bare durable commit on the same machine in the same run (see `load.yardsticks`).
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import uvloop

from load import yardsticks
from load.hosting import ALL, HousePresent
from load.tables import Load, Outcome, Plan
from services.game.authority import Actor, CommandContext, EventId, Role
from services.game.round_words import Action
from services.journal.sqlite import SqliteJournal
from services.runtime.caller import GrpcCaller, open_channel
from services.table.client import ACT, Accepted, Act

WARM_UP_SECONDS = 3.0
YARDSTICK_SECONDS = 2.0
PERCENTILES = (50, 95, 99)
VERIFY_SECONDS = 600


def say(text: str) -> None:
    """Progress, for people."""
    print(text, file=sys.stderr, flush=True)


def percentiles_ms(times: list[float]) -> dict[str, float]:
    """p50, p95 and p99 in ms, 0 without times."""
    ordered = sorted(times) or [0.0]
    return {f"p{p}": round(1_000 * ordered[min(len(ordered) - 1, len(ordered) * p // 100)], 2) for p in PERCENTILES}


def message_sizes() -> tuple[int, int]:
    """The bytes of an act and of its answer."""
    actor, round_id = Actor(Role.PLAYER, "P-BJ-0001-3"), "load-1/BJ-0001#117"
    context = CommandContext(
        "9f86d081884c-12345", actor, 1_796_000_000_000_000, "", EventId("table:load-1/BJ-0001", 99)
    )
    act = Act(round_id, "load-1/BJ-0001/S-3", 3, 0, Action.HIT, turn=4)
    request = ACT.encode_request("load-1/BJ-0001", context, act)
    return len(request), len(ACT.encode_reply(Accepted("table:load-1/BJ-0001", 4_321, 4_321)))


async def _play(house: HousePresent, plan: Plan, seconds: float) -> tuple[Outcome, dict[str, float]]:
    """Play on the house; gives what the players saw, and what the house used meanwhile."""
    channel = open_channel(house.address)
    load = Load(GrpcCaller(channel), plan)
    try:
        say(f"opening {plan.tables} tables with {plan.seats} players each …")
        await load.prepare()
        await load.run(WARM_UP_SECONDS)
        journal = SqliteJournal.open_read_only(house.data / "journal.db")
        try:
            before, cpu = (await journal.end())[0], house.cpu_seconds
            house.start_profile()
            outcome = await load.run(seconds, lambda rounds: say(f"  {rounds:,} rounds"))
            used = {
                "events": (await journal.end())[0] - before,
                "cpu_seconds": house.cpu_seconds - cpu,
                "memory_mb": house.memory_bytes / 1e6,
            }
        finally:
            await journal.close()
    finally:
        await load.stop()
        await channel.close()
    return outcome, used


def verified(*options: str) -> dict[str, Any]:
    """What `holecard verify` says of the journal that the options name."""
    say("verifying the journal …")
    command = [sys.executable, "-m", "services", "verify", *options, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=VERIFY_SECONDS, check=False)  # noqa: S603 - our own command
    if not done.stdout:
        raise RuntimeError(f"verify said nothing: {done.stderr}")
    report: dict[str, Any] = json.loads(done.stdout)
    return {"sound": report["sound"], "events": report["events"], "findings": report["findings"][:20]}


def measure(plan: Plan, seconds: float, services: tuple[str, ...] = ALL, *, profile: bool = False) -> dict[str, Any]:
    """Everything this module measures, as one JSON object."""
    with tempfile.TemporaryDirectory(prefix="holecard-load-") as folder:
        data = Path(folder)
        say("measuring the bare echo and the bare commit …")
        request, reply = message_sizes()
        echo = yardsticks.echo(request, reply, plan.tables, YARDSTICK_SECONDS)
        alone = yardsticks.echo(request, reply, 1, YARDSTICK_SECONDS / 2)
        commits = yardsticks.commits(data, YARDSTICK_SECONDS)
        with HousePresent(data, services, profile=profile) as house:
            outcome, used = uvloop.run(_play(house, plan, seconds))
        report = verified("--data", str(data))
        found_profile = house.profile()
    rounds, events = len(outcome.rounds), used["events"]
    act, commit = percentiles_ms(outcome.acts), percentiles_ms(commits)
    echoes = percentiles_ms(echo["times"])
    cpu_us_a_request = used["cpu_seconds"] / max(1, outcome.requests) * 1e6
    return {
        "plan": {
            "tables": plan.tables,
            "seats": plan.seats,
            "rate": plan.rate,
            "seconds": round(outcome.seconds, 1),
            "services": list(services),
        },
        "rounds": rounds,
        "rounds_a_second": round(rounds / outcome.seconds, 1),
        "events": events,
        "events_a_second": round(events / outcome.seconds),
        "events_a_round": round(events / max(1, rounds), 1),
        "requests_a_second": round(outcome.requests / outcome.seconds),
        "act_ms": act | {"count": len(outcome.acts)},
        "wager_ms": percentiles_ms(outcome.wagers),
        "round_from_due_ms": percentiles_ms(outcome.rounds),
        "house": {
            "cpu_share": round(used["cpu_seconds"] / outcome.seconds, 2),
            "cpu_ms_a_round": round(used["cpu_seconds"] / max(1, rounds) * 1e3, 2),
            "cpu_us_an_event": round(used["cpu_seconds"] / max(1, events) * 1e6),
            "cpu_us_a_request": round(cpu_us_a_request),
            "memory_mb": round(used["memory_mb"], 1),
        },
        "players_cpu_share": round(outcome.client_cpu_seconds / outcome.seconds, 2),
        "unexpected_refusals": outcome.unexpected_refusals,
        "bare_echo": {
            "calls_a_second": round(echo["calls_a_second"]),
            "server_cpu_us": round(echo["server_cpu_us"]),
            "ms": echoes,
            "alone_ms": percentiles_ms(alone["times"]),
        },
        "bare_commit": {"ms": commit},
        "ratios": {
            # The least an act can cost is one call under the same number of callers, and one commit.
            "act_p50_to_echo_and_commit": round(act["p50"] / (echoes["p50"] + commit["p50"]), 2),
            "act_p99_to_echo_and_commit": round(act["p99"] / (echoes["p99"] + commit["p99"]), 2),
            "cpu_of_a_request_to_echo": round(cpu_us_a_request / max(1.0, echo["server_cpu_us"]), 2),
        },
        "verify": report,
        "profile": found_profile | {"rounds": rounds} if found_profile else {},
    }


def show(result: dict[str, Any]) -> None:
    """The result for people."""
    plan, house, ratios = result["plan"], result["house"], result["ratios"]
    pace = f"{plan['rate']} rounds/s due by the clock" if plan["rate"] else "as fast as they can"
    print(
        f"{plan['tables']} tables × {plan['seats']} players, {pace}, {plan['seconds']} s; {', '.join(plan['services'])}"
    )
    print(
        f"{result['rounds']:,} rounds: {result['rounds_a_second']:,}/s; {result['events']:,} events: "
        f"{result['events_a_second']:,}/s ({result['events_a_round']} a round); {result['requests_a_second']:,} requests/s"
    )
    for name, what in (
        ("act_ms", "a player's act"),
        ("wager_ms", "a wager"),
        ("round_from_due_ms", "a round, from when it was due"),
    ):
        times = result[name]
        print(f"{what:<30} p50 {times['p50']:>8.1f} ms   p95 {times['p95']:>8.1f} ms   p99 {times['p99']:>8.1f} ms")
    for name, what in (("bare_echo", "bare gRPC echo"), ("bare_commit", "bare durable commit")):
        times = result[name]["ms"]
        print(f"{what:<30} p50 {times['p50']:>8.1f} ms   p95 {times['p95']:>8.1f} ms   p99 {times['p99']:>8.1f} ms")
    print(
        f"an act to one echo and one commit: p50 {ratios['act_p50_to_echo_and_commit']} ×, "
        f"p99 {ratios['act_p99_to_echo_and_commit']} ×"
    )
    print(
        f"the house used {house['cpu_share']} of a core: {house['cpu_ms_a_round']} ms a round, "
        f"{house['cpu_us_an_event']} µs an event, {house['cpu_us_a_request']} µs a request "
        f"({ratios['cpu_of_a_request_to_echo']} × a bare echo's server); {house['memory_mb']} MB; "
        f"the players {result['players_cpu_share']} of a core"
    )
    if result["profile"]:
        show_profile(result["profile"])
    verdict = "sound" if result["verify"]["sound"] else f"NOT SOUND: {result['verify']['findings']}"
    print(f"journal: {result['verify']['events']:,} events, {verdict}")
    if result["unexpected_refusals"]:
        print(f"refused although it looked right: {result['unexpected_refusals']}")


def show_profile(profile: dict[str, Any]) -> None:
    """Where the processor's time went."""
    rounds = profile["rounds"]
    print("\nWhere the house's processor time went (profiling overstates Python a little):")
    total = sum(profile["cpu_by_room"].values()) or 1.0
    for room, seconds in profile["cpu_by_room"].items():
        print(f"  {room:<32} {seconds / total:>6.1%}   {seconds / max(1, rounds) * 1e3:>7.2f} ms a round")
    print(f"  the journal's thread was in a commit {profile['share_of_time_committing']:.0%} of the time")
    print("  by thread: " + ", ".join(f"{name} {s / total:.0%}" for name, s in profile["cpu_by_thread"].items()))
    print("  hottest functions (their own time and that of library functions they call):")
    for name, seconds in list(profile["hottest_functions"].items())[:25]:
        print(f"    {seconds / total:>6.1%}  {name}")
    print()


def main() -> int:
    """Measure and print; 1 when the journal is not sound or something was refused that should not be."""
    parser = argparse.ArgumentParser(prog="python -m load.rounds", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tables", type=int, default=8)
    parser.add_argument("--seats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=15.0, help="how long to play after warming up (default 15)")
    parser.add_argument(
        "--rate", type=float, default=0.0, help="rounds a second due by the clock; 0: as fast as possible"
    )
    parser.add_argument("--seed", type=int, default=20201015, help="of the players")
    parser.add_argument(
        "--services", nargs="+", default=list(ALL), choices=ALL, help="what the house hosts (default all)"
    )
    parser.add_argument("--profile", action="store_true", help="say where the house's time goes, in a second run")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args()
    plan = Plan(chosen.tables, chosen.seats, chosen.rate, chosen.seed)
    services = tuple(chosen.services)
    result = measure(plan, chosen.seconds, services)
    if chosen.profile:
        # In a run of its own: a house that is profiled is slower.
        say("the same once more, profiled …")
        result["profile"] = measure(plan, max(5.0, chosen.seconds / 2), services, profile=True)["profile"]
    if chosen.json:
        print(json.dumps(result))
    else:
        show(result)
    return 0 if result["verify"]["sound"] and not result["unexpected_refusals"] else 1


if __name__ == "__main__":
    sys.exit(main())

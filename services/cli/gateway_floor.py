"""`holecard floor simulate --gateway`: casinos that reach the house through their gateways and in no other way."""

import asyncio
import json
import signal
import sys
from contextlib import AsyncExitStack
from dataclasses import replace

import click

from services.cli.floor_text import print_progress, print_summary
from services.floor.figures import Figures
from services.floor.observed_routine import Manner, ObservedFigures
from services.floor.observed_simulation import ObservedSimulation, floor_behind
from services.floor.simulation import Callers, Plan, Simulation
from services.game.house_rules import HouseRules
from services.runtime.caller import GrpcCaller, open_channel
from services.runtime.clock import SystemClock
from services.runtime.transport import Tls

PROGRESS_SECONDS = 2.0


def behind_gateways(
    addresses: tuple[str, ...],
    observed: int,
    plan: Plan,
    rules: tuple[HouseRules, ...],
    tls: Tls | None,
    *,
    as_json: bool,
) -> None:
    """Play behind every gateway, print what came of it, and end with status 1 when something is not as it should be."""
    conducted, seen = asyncio.run(_play(addresses, observed, plan, rules, tls))
    if as_json:
        floors = {floor: figures.as_json() for floor, figures in conducted.items()}
        click.echo(json.dumps({"floors": floors, "observed": seen.as_json()}, indent=2))
    else:
        for floor, figures in conducted.items():
            click.echo(f"\n{floor}")
            print_summary(figures)
        click.echo(_in_words(seen))
    if seen.differences or any(figures.accepted_mischief for figures in conducted.values()):
        click.echo("holecard: the house has it otherwise than it was, or took what it should refuse", err=True)
        sys.exit(1)


async def _play(
    addresses: tuple[str, ...], observed: int, plan: Plan, rules: tuple[HouseRules, ...], tls: Tls | None
) -> tuple[dict[str, Figures], ObservedFigures]:
    clock = SystemClock()
    manner = Manner(plan.seats, plan.mischief, plan.pace_seconds)
    watched = ObservedSimulation(rules, clock, plan.seed, manner)
    simulations: dict[str, Simulation] = {}
    async with AsyncExitStack() as stack:
        for address in addresses:
            channel = open_channel(address, tls)
            stack.push_async_callback(channel.close)
            caller = GrpcCaller(channel)
            floor = await floor_behind(caller)
            watched.add(floor, caller, observed)
            if plan.tables:
                named = replace(plan, floors=1, names=(floor,), rounds=_share(plan.rounds, len(addresses)))
                simulations[floor] = Simulation(named, rules, Callers(caller, caller, caller), clock)
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()
        began = loop.time()

        def stop() -> None:
            stopped.set()
            for simulation in simulations.values():
                simulation.stop()

        def enough() -> bool:
            late = bool(plan.seconds) and loop.time() - began >= plan.seconds
            return stopped.is_set() or late or (bool(plan.rounds) and watched.figures.rounds >= plan.rounds)

        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop)
        telling = asyncio.create_task(_tell(watched.figures))
        playing = [simulation.run(print_progress) for simulation in simulations.values()]
        if observed:
            await asyncio.gather(*playing, watched.run(enough))
        else:
            await asyncio.gather(*playing)
        telling.cancel()
        return {floor: simulation.figures for floor, simulation in simulations.items()}, watched.figures


def _share(rounds: int, parts: int) -> int:
    """So many rounds for each of the parts, at least one where any are wanted."""
    return -(-rounds // parts) if rounds else 0


async def _tell(figures: ObservedFigures) -> None:
    while True:
        await asyncio.sleep(PROGRESS_SECONDS)
        line = f"{figures.rounds:,} observed rounds, {figures.devices.readings:,} readings"
        click.echo(f"{line}, {figures.devices.outages:,} reports unanswered", err=True)


def _in_words(figures: ObservedFigures) -> str:
    devices = figures.devices
    lines = [
        f"\n{figures.rounds:,} observed rounds, {devices.readings:,} readings",
        f"{devices.sent_twice:,} reports were sent twice, {devices.outages:,} were not answered and sent again",
    ]
    if figures.mistakes:
        made = ", ".join(f"{kind.value} × {count}" for kind, count in figures.mistakes.most_common())
        lines.append(f"dealers' mistakes: {made}")
    if figures.clocks:
        lines.append("clocks: " + ", ".join(f"{habit.value} × {n}" for habit, n in sorted(figures.clocks.items())))
    lines += [f"DIFFERENCE {difference}" for difference in figures.differences]
    return "\n".join(lines)

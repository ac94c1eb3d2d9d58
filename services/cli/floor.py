"""`holecard floor simulate`: casinos full of players, through the public API of a running house."""

import asyncio
import json
import signal
import sys
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click
from rich.console import Console
from rich.table import Table

from services.cli.address import Addresses as AddressList
from services.cli.gateway import gateway
from services.cli.rule_source import named_rules
from services.cli.transport import certificate_of, transport_options
from services.floor.figures import PERCENTILES, Figures
from services.floor.simulation import Callers, Plan, Simulation
from services.game.house_rules import HouseRules
from services.game.notices import dollars
from services.runtime.caller import open_channel
from services.runtime.clock import SystemClock
from services.runtime.failures import ServiceUnavailable
from services.runtime.routing import Lines, RoutedCaller
from services.runtime.telemetry import configure_logging
from services.runtime.transport import Tls

DEFAULT_ADDRESS = "127.0.0.1:8600"
MEET_SECONDS = 10.0


@click.group()
def floor() -> None:
    """Casino floors: their gateways, and simulated ones that play through the public API."""


floor.add_command(gateway)


@floor.command()
@click.option(
    "--house",
    type=AddressList(),
    default=DEFAULT_ADDRESS,
    show_default=True,
    help="Where the services listen; of a cluster any processes, by commas.",
)
@click.option("--shoe", type=AddressList(), help="Where the shoe service listens, if elsewhere.")
@click.option("--wager", type=AddressList(), help="Where the wager service listens, if elsewhere.")
@click.option(
    "--surveillance", type=AddressList(), help="Where surveillance, which counts the events, listens, if elsewhere."
)
@click.option("--floors", default=1, show_default=True, type=click.IntRange(1, 100), help="How many casinos.")
@click.option("--tables", default=4, show_default=True, type=click.IntRange(1, 500), help="Tables in each.")
@click.option("--seats", default=5, show_default=True, type=click.IntRange(1, 7), help="Seats in use at each table.")
@click.option(
    "--pace", default=0.0, show_default=True, type=click.FloatRange(0), help="Seconds before each visible step."
)
@click.option("--rounds", default=0, type=click.IntRange(0), help="End after so many rounds in all; 0 plays on.")
@click.option("--seconds", default=0.0, type=click.FloatRange(0), help="End after so long; 0 plays on.")
@click.option(
    "--mischief", default=0.05, show_default=True, type=click.FloatRange(0, 1), help="Share of invalid commands."
)
@click.option("--rules", multiple=True, help="Rule set by name or file; several take turns.  [default: colorado]")
@click.option("--seed", default=1, show_default=True, help="Makes the choices of players and dealers, never the cards.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@transport_options
def simulate(
    house: str,
    shoe: str | None,
    wager: str | None,
    surveillance: str | None,
    rules: tuple[str, ...],
    as_json: bool,
    tls: Path | None,
    plain_text: bool,
    **plan: float,
) -> None:
    """Play at every table until told to stop (Ctrl-C finishes the rounds in hand).

    Players have four habits: basic strategy, mimic the dealer, cautious, chaotic. They buy in, leave and come back. A share
    of commands breaks a rule on purpose; one that is accepted makes this end with status 1.
    """
    configure_logging("warning")
    wanted = Plan(**{name.replace("pace", "pace_seconds"): value for name, value in plan.items()})  # type: ignore[arg-type]  # click checked the types
    sets = tuple(named_rules(name) for name in rules or ("colorado",))
    at = Addresses(shoe or house, house, wager or house, surveillance or house)
    figures = asyncio.run(_simulate(wanted, sets, at, certificate_of(tls, plain_text)))
    if as_json:
        click.echo(json.dumps(figures.as_json(), indent=2))
    else:
        print_summary(figures)
    if figures.accepted_mischief:
        click.echo("holecard: invalid commands were not refused as they should be", err=True)
        sys.exit(1)


class Addresses(NamedTuple):
    """Where each service of the house listens; several addresses of one service by commas."""

    shoe: str
    table: str
    wager: str
    surveillance: str


async def _simulate(plan: Plan, rules: tuple[HouseRules, ...], at: Addresses, tls: Tls | None) -> Figures:
    lines = Lines(connect=partial(open_channel, tls=tls))
    callers = [RoutedCaller(lines, addresses.split(",")) for addresses in at]
    simulation = Simulation(plan, rules, Callers(*callers), SystemClock())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, simulation.stop)
    try:
        for addresses in {at.shoe, at.table, at.wager}:
            await _meet(addresses, lines)
        figures = await simulation.run(print_progress)
        await simulation.count_events()
        return figures
    finally:
        await lines.close()


async def _meet(addresses: str, lines: Lines) -> None:
    """Outages are waited out once there was a house; one that never was is a wrong address."""
    meeting = [asyncio.create_task(lines.channel(address).channel_ready()) for address in addresses.split(",")]
    met, _ = await asyncio.wait(meeting, timeout=MEET_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    for task in meeting:
        task.cancel()
    if not met:
        raise ServiceUnavailable(
            f"no house answers at {addresses}: start one with `holecard up --plain-text --no-floor`, or say where it is with"
            " --house; one that turns a certificate away says so in its own log"
        )


def print_progress(figures: Figures, seconds: float) -> None:
    """One line on stderr that says how far the simulation is."""
    pace = figures.rounds / seconds if seconds else 0
    refused = sum(figures.refusals.values())
    line = f"{seconds:6.0f} s  {figures.rounds:,} rounds ({pace:.1f}/s)  {figures.hands:,} hands  {refused:,} refusals"
    if figures.outages:
        line += f"  {figures.outages:,} requests unanswered"
    click.echo(("\r" if sys.stderr.isatty() else "") + line, err=True, nl=not sys.stderr.isatty())


def print_summary(figures: Figures) -> None:
    """The figures as tables for people."""
    console = Console()
    events = "events not counted (no surveillance answered)" if figures.events is None else f"{figures.events:,} events"
    requests = sum(map(len, figures.latencies.values()))
    console.print(f"\n{figures.rounds:,} rounds, {figures.hands:,} hands, {events}, {requests:,} requests")
    won = figures.stakes_cents - figures.returned_cents
    console.print(f"handle {dollars(figures.stakes_cents)}, the house won {dollars(won)}")
    latency = Table("request", "count", *(f"p{percent} ms" for percent in PERCENTILES), title="Latency")
    for name in sorted(figures.latencies):
        cells = [f"{figures.percentile_ms(name, percent):.1f}" for percent in PERCENTILES]
        latency.add_row(name, f"{len(figures.latencies[name]):,}", *cells)
    console.print(latency)
    refusals = Table("broken rule", "refused", title=f"Refusals ({figures.mischief:,} invalid commands were sent)")
    for name, count in figures.refusals.most_common():
        refusals.add_row(name, f"{count:,}")
    console.print(refusals)
    for title, counts in (
        ("Refused although it looked right", figures.surprises),
        ("Invalid and not refused as it should be", figures.accepted_mischief),
    ):
        if counts:
            console.print(title + ": " + ", ".join(f"{name} × {count}" for name, count in counts.most_common()))

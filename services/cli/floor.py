"""`holecard floor simulate`: casinos full of players, through the public API of a running house."""

import asyncio
import json
import signal
import sys
from functools import partial
from typing import Any, NamedTuple

import click

from services.cli.address import Address
from services.cli.address import Addresses as AddressList
from services.cli.floor_text import print_progress, print_summary
from services.cli.gateway import gateway
from services.cli.gateway_floor import behind_gateways
from services.cli.rule_source import named_rules
from services.cli.transport import certificate_of, transport_options
from services.floor.figures import Figures
from services.floor.simulation import Callers, Plan, Simulation
from services.game.house_rules import HouseRules
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
@click.option(
    "--gateway",
    "gateways",
    type=Address(),
    multiple=True,
    help="Play through the gateway of a floor and reach the house in no other way; one for each casino.",
)
@click.option("--observed", default=0, type=click.IntRange(0, 200), help="Observed tables behind each gateway.")
@click.option("--floors", default=1, show_default=True, type=click.IntRange(1, 100), help="How many casinos.")
@click.option("--tables", default=4, show_default=True, type=click.IntRange(0, 500), help="Conducted tables in each.")
@click.option("--seats", default=5, show_default=True, type=click.IntRange(1, 7), help="Seats in use at each table.")
@click.option(
    "--pace", default=0.0, show_default=True, type=click.FloatRange(0), help="Seconds before each visible step."
)
@click.option("--rounds", default=0, type=click.IntRange(0), help="End after so many rounds in all; 0 plays on.")
@click.option("--seconds", default=0.0, type=click.FloatRange(0), help="End after so long; 0 plays on.")
@click.option(
    "--mischief",
    default=0.05,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="Share of invalid commands, and of dealers' mistakes at observed tables.",
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
    gateways: tuple[str, ...],
    **options: Any,
) -> None:
    """Play at every table until told to stop (Ctrl-C finishes the rounds in hand).

    Players have four habits: basic strategy, mimic the dealer, cautious, chaotic. They buy in, leave and come back. A share
    of commands breaks a rule on purpose; one that is accepted makes this end with status 1.

    With --gateway everything goes through the gateways of the casinos. At observed tables a physical game is played, and its
    devices report what they see, some of them with clocks that are wrong; a difference between what was played and what the
    house has of it at the end makes this end with status 1.
    """
    configure_logging("warning")
    observed, as_json = options.pop("observed"), options.pop("as_json")
    tls = certificate_of(options.pop("tls"), options.pop("plain_text"))
    wanted = Plan(**{name.replace("pace", "pace_seconds"): value for name, value in options.items()})
    sets = tuple(named_rules(name) for name in rules or ("colorado",))
    if observed and not gateways:
        raise click.UsageError("observed tables report to a gateway: say where it is with --gateway")
    if gateways:
        behind_gateways(gateways, observed, wanted, sets, tls, as_json=as_json)
        return
    at = Addresses(shoe or house, house, wager or house, surveillance or house)
    figures = asyncio.run(_simulate(wanted, sets, at, tls))
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

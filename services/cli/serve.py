"""`holecard serve` and `holecard up`: host the house, or a part of it, in this process."""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from services.cli.address import Address, Addresses, reached_at
from services.cli.kafka_options import kafka_options, kafka_settings
from services.cli.rule_source import named_rules
from services.cli.transport import asked_for, transport_options
from services.house import House
from services.runtime.caller import GrpcCaller, open_channel
from services.runtime.clock import SystemClock
from services.runtime.process import settle_process
from services.runtime.settings import SERVICES, Settings, read_calendars
from services.runtime.telemetry import configure_logging
from services.runtime.transport import Tls

if TYPE_CHECKING:
    from services.floor.simulation import Plan

F = TypeVar("F", bound=Callable[..., Any])


def house_options(command: F) -> F:
    """The options that every hosting command has."""
    defaults = Settings(Path(".data"))
    options = [
        click.option("--data", type=click.Path(path_type=Path), default=defaults.data_dir, show_default=True,
                     help="Journal, projection and keys."),
        click.option("--listen", type=Address(), default=defaults.grpc_address, show_default=True,
                     help="Where the services listen for gRPC."),
        click.option("--console", "console_address", type=Address(), default=defaults.console_address,
                     show_default=True, help="Where the web console listens."),
        click.option("--console-name", multiple=True, metavar="NAME",
                     help="A name under which browsers may ask for the console, besides localhost and IP addresses."),
        click.option("--console-plain-text", is_flag=True,
                     help="Keep the console without TLS and certificates although services have them, on this machine."),
        click.option("--metrics", type=Address(), default=defaults.metrics_address, show_default=True,
                     help="Where Prometheus finds the metrics."),
        click.option("--projection", envvar="HOLECARD_PROJECTION", default="", metavar="ADDRESS",
                     help="A PostgreSQL database for surveillance's read model, as postgresql://user@host/database;"
                     " without it, a file in the data folder. A password is better in HOLECARD_PROJECTION or ~/.pgpass."),
        click.option("--floor-file", type=click.Path(path_type=Path),
                     help="TOML file of the floors' time zones and gaming days."),
        click.option("--log-level", type=click.Choice(["debug", "info", "warning", "error"]), default="info",
                     show_default=True, help="How much to say on stderr."),
        click.option("--log-json", is_flag=True, help="Log lines as JSON."),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return transport_options(command)


@click.command()
@click.argument("services", nargs=-1, required=True, type=click.Choice(SERVICES))
@click.option("--shoe", type=Addresses(), help="Where the shoe service listens, when it is not hosted here.")
@click.option("--table", type=Addresses(), help="Where the table service listens, when it is not hosted here.")
@click.option("--wager", type=Addresses(), help="Where the wager service listens, when it is not hosted here.")
@click.option(
    "--surveillance", type=Addresses(), help="Where the surveillance service listens, when it is not hosted here."
)
@kafka_options
@house_options
def serve(
    services: tuple[str, ...],
    shoe: str | None,
    table: str | None,
    wager: str | None,
    surveillance: str | None,
    **options: Any,
) -> None:
    """Host SERVICES (shoe, table, wager, surveillance, console) in this process until told to stop.

    Services hosted together call each other without the wire, others by their address. The embedded journal has one writer:
    shoe, table and wager share a data folder only in one process; surveillance and console may run in others beside it.

    \b
    With --journal kafka any number of processes host the same services and share the tables out among themselves:
      holecard serve shoe table wager --journal kafka --kafka HOST:PORT --advertise HOST:PORT --sealing-key FILE
    A service's addresses are then any of its processes, by commas: each knows or finds who owns a table.
    """  # noqa: D301 - \b is click's mark for a block kept as it is
    addresses = {"shoe": shoe, "table": table, "wager": wager, "surveillance": surveillance}
    settings = _settings(options, {name: address for name, address in addresses.items() if address})
    _run(_serve(House(settings, services)))


@click.command()
@click.option("--floors", default=1, show_default=True, type=click.IntRange(1, 100), help="Simulated casinos.")
@click.option("--tables", default=4, show_default=True, type=click.IntRange(1, 500), help="Tables in each.")
@click.option("--seats", default=5, show_default=True, type=click.IntRange(1, 7), help="Seats in use at each table.")
@click.option(
    "--pace", default=1.0, show_default=True, type=click.FloatRange(0), help="Seconds before each visible step."
)
@click.option("--rules", multiple=True, help="Rule set by name or file; several take turns.  [default: colorado]")
@click.option("--seed", default=1, show_default=True, help="Makes the choices of players and dealers, never the cards.")
@click.option("--no-floor", is_flag=True, help="Start the house without a simulated floor.")
@house_options
def up(
    floors: int,
    tables: int,
    seats: int,
    pace: float,
    rules: tuple[str, ...],
    seed: int,
    no_floor: bool,
    **options: Any,
) -> None:
    """Start all services, the console and a simulated floor that plays over gRPC. Ctrl-C stops between two steps.

    Stop it in any way, start it again with the same --data, and play goes on where it was.
    """
    from services.floor.simulation import Plan

    plan = None if no_floor else Plan(floors=floors, tables=tables, seats=seats, pace_seconds=pace, seed=seed)
    sets = tuple(named_rules(name) for name in rules or ("colorado",))
    _run(_up(House(_settings(options, {}), SERVICES), plan, sets))


def _settings(options: dict[str, Any], addresses: dict[str, str]) -> Settings:
    configure_logging(options["log_level"], as_json=options["log_json"])
    floor_file = options["floor_file"]
    return Settings(
        data_dir=options["data"],
        grpc_address=options["listen"],
        console_address=options["console_address"],
        console_names=options["console_name"],
        metrics_address=options["metrics"],
        addresses=addresses,
        calendars=read_calendars(floor_file) if floor_file else {},
        projection=options["projection"],
        tls=asked_for(options["tls"], options["plain_text"]),
        console_plain_text=options["console_plain_text"],
        kafka=kafka_settings(options) if options.get("journal") == "kafka" else None,
        sealing_key=options.get("sealing_key"),
    )


def _run(main: Coroutine[Any, Any, None]) -> None:
    """Run on uvloop where there is one: twice as many requests on the same core."""
    settle_process()
    try:
        import uvloop
    except ImportError:
        asyncio.run(main)
    else:
        uvloop.run(main)


def _until_told(house: House) -> asyncio.Event:
    """An event that SIGINT and SIGTERM set, and the house itself when it can go on no longer."""
    told = asyncio.Event()
    house.on_failure(told.set)
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, told.set)
    return told


async def _serve(house: House) -> None:
    told = _until_told(house)
    async with house:
        _announce(house)
        await told.wait()
        click.echo("draining", err=True)
    if house.failure is not None:
        raise house.failure


async def _up(house: House, plan: "Plan | None", rules: tuple[Any, ...]) -> None:
    told = _until_told(house)
    async with house:
        _announce(house)
        await _play_until(told, house, plan, rules)
    if house.failure is not None:
        raise house.failure


async def _play_until(told: asyncio.Event, house: House, plan: "Plan | None", rules: tuple[Any, ...]) -> None:
    from services.cli.floor_text import print_progress, print_summary
    from services.floor.simulation import Callers, Simulation

    if plan is None:
        await told.wait()
        return
    tls = Tls(house.settings.tls) if house.settings.tls else None
    channel = open_channel(reached_at(house.settings.grpc_address, house.grpc_port), tls)
    caller = GrpcCaller(channel)
    simulation = Simulation(plan, rules, Callers(caller, caller, caller, caller), SystemClock())
    playing = asyncio.create_task(simulation.run(print_progress))
    telling = asyncio.create_task(told.wait())
    await asyncio.wait({playing, telling}, return_when=asyncio.FIRST_COMPLETED)
    telling.cancel()
    simulation.stop()
    # At a slow pace a round takes a minute: the house can be stopped at any step, so nobody waits for its end.
    with contextlib.suppress(TimeoutError, asyncio.CancelledError):
        await asyncio.wait_for(playing, timeout=3)
    await simulation.count_events()
    await channel.close()
    print_summary(simulation.figures)


def _announce(house: House) -> None:
    settings = house.settings
    # A console alone serves no gRPC.
    how = "gRPC over TLS" if settings.tls else "gRPC in plain text, as asked"
    where = f" on {_at(settings.grpc_address, house.grpc_port)} ({how})" if house.dispatchers else ""
    click.echo(f"services: {', '.join(sorted(house.hosted))}{where}", err=True)
    if "console" in house.hosted:
        scheme = "http" if settings.tls is None or settings.console_plain_text else "https"
        click.echo(f"console:  {scheme}://{_at(settings.console_address, house.console_port)}/", err=True)
    click.echo(f"metrics:  http://{_at(settings.metrics_address, house.metrics_port)}/metrics", err=True)
    click.echo(f"data:     {house.settings.data_dir.resolve()}", err=True)


def _at(address: str, port: int) -> str:
    """The address that is really listened on: the port may have been left to the system."""
    return f"{address.rpartition(':')[0]}:{port}"

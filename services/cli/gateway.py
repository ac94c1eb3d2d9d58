"""`holecard floor gateway`: the gateway of one casino as a process, and how it is doing."""

import asyncio
import dataclasses
import json
import re
import signal
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
from prometheus_client import start_http_server

from services.access import ACCESS
from services.cli.address import Address, Addresses, reached_at
from services.cli.transport import certificate_of, transport_options
from services.floor.gateway import Gateway
from services.floor.gateway_client import GatewayClient, LineState
from services.floor.gateway_log import GatewayLog
from services.floor.house_caller import HouseCaller
from services.runtime.caller import GrpcCaller, open_channel
from services.runtime.clock import MICROSECONDS, SystemClock
from services.runtime.door import Door
from services.runtime.identity import CertificateRole
from services.runtime.process import settle_process
from services.runtime.routing import Lines, RoutedCaller
from services.runtime.server import GrpcServer, PortTaken
from services.runtime.settings import SettingsRefused, read_address
from services.runtime.telemetry import Telemetry, configure_logging
from services.runtime.transport import Tls, require_loopback
from services.shoe.client import SERVICE as SHOE
from services.table.client import SERVICE as TABLE
from services.wager.client import SERVICE as WAGER

DEFAULT_ADDRESS = "127.0.0.1:8610"
CALL_SECONDS = 10.0
DAY_US = 86_400 * MICROSECONDS
FORGET_SECONDS = 3_600.0
_FLOOR = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


@click.group()
def gateway() -> None:
    """The gateway of one casino: keeps what its devices see, forwards it, passes commands through."""


@gateway.command()
@click.option("--floor", required=True, help="Whose gateway this is, e.g. black-hawk; its log is bound to it.")
@click.option(
    "--house",
    type=Addresses(),
    default="127.0.0.1:8600",
    show_default=True,
    help="Where the services listen; of a cluster any processes of the table service, by commas.",
)
@click.option("--shoe", type=Addresses(), help="Where the shoe service listens, if elsewhere.")
@click.option("--wager", type=Addresses(), help="Where the wager service listens, if elsewhere.")
@click.option(
    "--log", "log_path", type=click.Path(path_type=Path), help="The gateway's log.  [default: .data/gateway-FLOOR.db]"
)
@click.option(
    "--listen", type=Address(), default=DEFAULT_ADDRESS, show_default=True, help="Where devices find it (gRPC)."
)
@click.option(
    "--metrics", type=Address(), default="127.0.0.1:8691", show_default=True, help="Where Prometheus finds its metrics."
)
@click.option(
    "--limit-mb",
    default=0,
    type=click.IntRange(0),
    help="Take no more readings when the log is this large; 0: no limit.",
)
@click.option(
    "--keep-days", default=90, show_default=True, type=click.IntRange(1), help="Keep forwarded readings so long."
)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="info",
    show_default=True,
    help="How much to say on stderr.",
)
@click.option("--log-json", is_flag=True, help="Log lines as JSON.")
@transport_options
def run(floor: str, house: str, log_path: Path | None, listen: str, metrics: str, **options: Any) -> None:
    """Run the gateway of one floor until told to stop.

    Kill it in any way, start it again with the same log, and it goes on where it was: what a device was answered is on disk.
    """
    configure_logging(options["log_level"], as_json=options["log_json"])
    if not _FLOOR.fullmatch(floor):
        raise SettingsRefused(f"{floor!r} is not the name of a floor such as black-hawk")
    tls = certificate_of(options["tls"], options["plain_text"])
    if tls is not None:
        tls.require_role(CertificateRole.GATEWAY, floor)
    at = {TABLE: house, SHOE: options["shoe"] or house, WAGER: options["wager"] or house}
    for address in (listen, *(one for addresses in at.values() for one in addresses.split(","))):
        if tls is None:
            require_loopback(address, "give --tls DIR")
    settle_process()
    path = log_path or Path(".data") / f"gateway-{floor}.db"
    kept = GatewayLog.open(path, floor, limit_bytes=options["limit_mb"] * 1024 * 1024)
    asyncio.run(_run(kept, Way(at, listen, metrics, tls), options["keep_days"]))


class Way(NamedTuple):
    """Where the house's services are, where it listens itself, and the certificate that it shows to both."""

    house: Mapping[str, str]
    listen: str
    metrics: str
    tls: Tls | None


async def _run(kept: GatewayLog, way: Way, keep_days: int) -> None:
    told = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, told.set)
    telemetry, clock = Telemetry(), SystemClock()
    lines = Lines(telemetry.registry, partial(open_channel, tls=way.tls))
    # One try: the gateway has its own way of trying again, and devices' commands are never retried behind their back.
    house = HouseCaller(
        {
            service: RoutedCaller(lines, addresses.split(","), try_seconds=CALL_SECONDS, patience_seconds=0.0)
            for service, addresses in way.house.items()
        }
    )
    running = Gateway(kept, house, clock=clock, telemetry=telemetry, name=f"gateway-{kept.floor}")
    door = Door(way.tls, ACCESS, telemetry) if way.tls else None
    server = GrpcServer(running.dispatchers(), way.listen, door)
    try:
        _serve_metrics(way.metrics, telemetry)
        running.forwarder.start()
        await server.start()
        where = f"{reached_at(way.listen, server.port)} (gRPC {'over TLS' if door else 'in plain text'})"
        click.echo(
            f"gateway of {kept.floor}: devices on {where}, house at {way.house[TABLE]}, log {kept.path}", err=True
        )
        forgetting = asyncio.create_task(_forget(kept, keep_days))
        await told.wait()
        forgetting.cancel()
        click.echo("draining", err=True)
    finally:
        await server.stop()
        await running.forwarder.stop()
        await lines.close()
        await kept.close()


async def _forget(kept: GatewayLog, keep_days: int) -> None:
    while True:
        await kept.forget(SystemClock().now_us() - keep_days * DAY_US)
        await asyncio.sleep(FORGET_SECONDS)


def _serve_metrics(address: str, telemetry: Telemetry) -> None:
    host, port = read_address(address)
    try:
        start_http_server(port, host, telemetry.registry)
    except OSError as error:
        raise PortTaken(f"cannot serve metrics on {address}: {error.strerror}; choose another --metrics") from error


@gateway.command()
@click.option(
    "--gateway", "address", type=Address(), default=DEFAULT_ADDRESS, show_default=True, help="Where it listens."
)
@click.option("--json", "as_json", is_flag=True, help="Print the state as JSON.")
@transport_options
def status(address: str, as_json: bool, tls: Path | None, plain_text: bool) -> None:
    """Say how the line to the house stands and what waits for it; status 1 when it is down or a table is blocked."""
    state = asyncio.run(_ask(address, certificate_of(tls, plain_text)))
    if as_json:
        click.echo(json.dumps(dataclasses.asdict(state), indent=2))
    else:
        click.echo(_in_words(state, SystemClock().now_us()))
    if not state.up or state.blocked:
        sys.exit(1)


async def _ask(address: str, tls: Tls | None) -> LineState:
    channel = open_channel(address, tls)
    try:
        return await GatewayClient(GrpcCaller(channel, patience_seconds=2.0)).get_line()
    finally:
        await channel.close()


def _in_words(state: LineState, now_us: int) -> str:
    line = "up" if state.up else f"DOWN ({state.reason})"
    lines = [f"floor {state.floor}: line {line} for {(now_us - state.since_us) / MICROSECONDS:,.0f} s"]
    age = (now_us - state.oldest_queued_us) / MICROSECONDS if state.queued else 0
    oldest = f", the oldest for {age:,.0f} s" if state.queued else ""
    lines.append(f"{state.queued:,} readings wait{oldest}; {state.forwarded:,} forwarded since the start")
    lines += [f"{blocked.table} is blocked: {blocked.reason}" for blocked in state.blocked]
    return "\n".join(lines)

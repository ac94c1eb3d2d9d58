"""`holecard pki`: certificates that say who somebody is, from an authority of our own (see services/runtime/pki)."""

import json
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.table import Table

from services.runtime.identity import Grant, parse_grant
from services.runtime.pki import DEFAULT_DAYS, Issued, Pki
from services.runtime.settings import SettingsRefused
from services.runtime.transport import AUTHORITY, CERTIFICATE

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_FOLDER = Path("deploy/dev/pki")
RENEW_DAYS = 7
DEVELOPMENT: dict[str, tuple[str, ...]] = {
    "house": ("*/service/house",),
    "shoe": ("*/service/shoe",),
    "table": ("*/service/table",),
    "wager": ("*/service/wager",),
    "surveillance": ("*/service/surveillance",),
    "console": ("*/console/console",),
    "operator": ("*/surveillance/operator",),
    "ops": ("*/ops/ops",),
    # A simulated floor is its gateway, supervisors and devices, and whoever counts its events, in one.
    "simulator": ("*/gateway/simulator", "*/supervisor/*", "*/device/*", "*/ops/simulator"),
}
"""What `init` issues: one certificate for each part of a house on one machine, and for those who look at it."""


@click.group()
def pki() -> None:
    """Certificates for services, gateways and people: make an authority, issue, list, enrol, revoke.

    \b
    A certificate carries grants, each FLOOR/ROLE/ID:
      black-hawk/dealer/D-17      dealer D-17, at the tables of the floor black-hawk
      black-hawk/gateway/gw-1     the floor's gateway, which speaks for its devices, dealers and players
      */service/table             a service of the house, on every floor
      black-hawk/supervisor/*     whoever is supervisor there (for simulated floors)
    The roles are service, gateway, console, device, dealer, player, supervisor, licensee, regulator, surveillance, ops.

    Servers read crl.pem and enrolled.json again when they change: enrol, withdraw and revoke count from the next call on.
    """  # noqa: D301 - \b is click's mark for a block kept as it is


def _options(command: F) -> F:
    command = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")(command)
    return click.option(
        "--pki", "folder", type=click.Path(path_type=Path), default=DEFAULT_FOLDER, show_default=True,
        help="The authority's folder.",
    )(command)  # fmt: skip


@pki.command()
@click.option(
    "--host", "hosts", multiple=True, metavar="NAME", help="A name or IP address of the services, besides localhost."
)
@click.option(
    "--days", default=DEFAULT_DAYS, show_default=True, type=click.IntRange(1, 3650), help="How long they last."
)
@_options
def init(folder: Path, hosts: tuple[str, ...], days: int, as_json: bool) -> None:
    """Make an authority for development with a certificate for each part of a house.

    What is there already stays, except certificates that have ended or end within a week: they are issued again.
    """
    new = not (folder / AUTHORITY).exists()
    authority = Pki.create(folder) if new else Pki(folder)
    lasting = authority.lasting(timedelta(days=RENEW_DAYS))
    made = []
    for name, texts in DEVELOPMENT.items():
        if name in lasting and (folder / name / CERTIFICATE).exists():
            continue
        grants = tuple(map(parse_grant, texts))
        serves = name not in {"operator", "ops", "simulator"}
        authority.issue(name, grants, hosts=hosts if serves else (), valid=timedelta(days=days))
        made.append(name)
    if as_json:
        click.echo(json.dumps({"folder": str(folder), "new_authority": new, "issued": made}, indent=2))
    else:
        click.echo(f"{'made' if new else 'kept'} the authority in {folder}; issued {', '.join(made) or 'nothing'}")


@pki.command()
@click.argument("name")
@click.argument("grants", nargs=-1, required=True, metavar="FLOOR/ROLE/ID...")
@click.option(
    "--host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="A name or IP address under which it serves, besides localhost.",
)
@click.option(
    "--days", default=DEFAULT_DAYS, show_default=True, type=click.IntRange(1, 3650), help="How long it lasts."
)
@click.option("--no-enrol", is_flag=True, help="Issue it, but let it in nowhere yet.")
@_options
def issue(
    name: str, grants: Sequence[str], hosts: tuple[str, ...], days: int, no_enrol: bool, folder: Path, as_json: bool
) -> None:
    """Make a key and a certificate in the folder NAME, in place of a former one.

    The former one stays good until it ends or is revoked, so that it can be replaced while it is in use: whoever shows it
    takes the new one up by himself.
    """
    made = Pki(folder).issue(
        name, tuple(map(_grant, grants)), hosts=hosts, valid=timedelta(days=days), enrol=not no_enrol
    )
    if as_json:
        click.echo(json.dumps({"folder": str(made)}))
    else:
        click.echo(f"{made}")


@pki.command("list")
@_options
def list_(folder: Path, as_json: bool) -> None:
    """Show everything that was issued and how it stands: good, expired, revoked or unenrolled."""
    _show(Pki(folder).certificates(), as_json)


@pki.command()
@click.argument("who", metavar="NAME|SERIAL")
@_options
def enrol(who: str, folder: Path, as_json: bool) -> None:
    """Let certificates in: all of a name, or the one with a serial number."""
    _show(Pki(folder).enrol_again(who), as_json)


@pki.command()
@click.argument("who", metavar="NAME|SERIAL")
@_options
def withdraw(who: str, folder: Path, as_json: bool) -> None:
    """Let certificates in no longer; `enrol` lets them in again."""
    _show(Pki(folder).withdraw(who), as_json)


@pki.command()
@click.argument("who", metavar="NAME|SERIAL")
@_options
def revoke(who: str, folder: Path, as_json: bool) -> None:
    """Take certificates back for good: all of a name, or the one with a serial number."""
    _show(Pki(folder).revoke(who), as_json)


@pki.command()
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--password",
    envvar="HOLECARD_EXPORT_PASSWORD",
    prompt=True,
    hide_input=True,
    confirmation_prompt=True,
    help="What the file is locked with.  [env: HOLECARD_EXPORT_PASSWORD]",
)
@_options
def export(name: str, file: Path, password: str, folder: Path, as_json: bool) -> None:
    """Write key and certificate of NAME into a FILE that a browser imports (PKCS#12), locked with a password."""
    Pki(folder).export(name, file, password)
    click.echo(json.dumps({"file": str(file)}) if as_json else f"{file}")


def _grant(text: str) -> Grant:
    try:
        return parse_grant(text)
    except Exception as error:
        raise SettingsRefused(f"{error}; a grant is FLOOR/ROLE/ID, such as black-hawk/dealer/D-17") from error


def _show(certificates: Sequence[Issued], as_json: bool) -> None:
    rows = [
        {
            "name": one.name,
            "state": one.state,
            "grants": list(map(str, one.identity.grants)),
            "hosts": list(one.hosts),
            "serial": one.identity.serial,
            "not_after": one.identity.not_after.isoformat(),
        }
        for one in certificates
    ]
    if as_json:
        click.echo(json.dumps({"certificates": rows}, indent=2))
        return
    table = Table("name", "state", "good until")
    for heading in ("grants", "serial"):
        table.add_column(heading, overflow="fold")
    for one in certificates:
        grants = "\n".join(map(str, one.identity.grants))
        table.add_row(one.name, one.state, f"{one.identity.not_after:%Y-%m-%d}", grants, one.identity.serial)
    Console().print(table)

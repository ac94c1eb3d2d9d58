"""`holecard rules`: show a set of house rules, check a file, list the profiles.

Owns their printing. What is lawful is decided in `services.game`; a refusal goes up to
the command line, which prints it on stderr and ends with status 1.
"""

import json
from dataclasses import fields, is_dataclass
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

import click

from services.cli.rule_source import named_rules, read_rule_file
from services.game.notices import Notice, notices
from services.game.profiles import profile, profile_names
from services.game.rule_rejections import RuleFileRefused
from services.game.rules import HouseRules, canonical_text, ratio_text

Plain: TypeAlias = "bool | int | str | list[Plain] | dict[str, Plain] | None"


@click.group()
def rules() -> None:
    """Show or check a set of house rules and its nine notices (30-803(3)).

    \b
    See what the house plays by:       holecard rules show colorado
    Start a rule file of your own:     holecard rules show colorado --toml > mine.toml
    Check it before it is posted:      holecard rules check mine.toml
    """  # noqa: D301 - \b is click's mark for a block kept as it is


@rules.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def list_profiles(*, as_json: bool) -> None:
    """List the profiles that come with the product."""
    found = [profile(name) for name in profile_names()]
    if as_json:
        _print_json({"profiles": [_identity(one) for one in found]})
        return
    for one in found:
        click.echo(f"{one.name:<16} version {one.version}  {one.digest[:16]}  {one.approval.status.value}")


@rules.command()
@click.argument("name_or_file", default="colorado", metavar="[NAME|FILE]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--toml", "as_toml", is_flag=True, help="Print the canonical text, whose SHA-256 is the digest.")
def show(name_or_file: str, *, as_json: bool, as_toml: bool) -> None:
    """Show the profile NAME or the rule file FILE: its nine notices and every option. Default: colorado."""
    if as_json and as_toml:
        raise click.UsageError("give --json or --toml, not both")
    found = named_rules(name_or_file)
    if as_toml:
        click.echo(canonical_text(found), nl=False)
    elif as_json:
        _print_json(_whole(found))
    else:
        _print_rules(found)


@rules.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for a refusal too.")
@click.pass_context
def check(context: click.Context, file: Path, *, as_json: bool) -> None:
    """Check the rule file FILE; status 1 and the broken rule when it is refused, its nine notices when it is lawful."""
    try:
        found = read_rule_file(file)
    except RuleFileRefused as refusal:
        if not as_json:
            raise
        _print_json(
            {
                "lawful": False,
                "refusal": refusal.name,
                "rule": refusal.rule,
                "message": refusal.message,
                "remedy": refusal.remedy,
                "facts": _plain(refusal.facts),
            }
        )
        context.exit(1)
    if as_json:
        _print_json({"lawful": True, **_whole(found)})
        return
    _print_heading(found)
    _print_notices(notices(found))
    click.echo("Lawful: every bound is kept.")


def _identity(found: HouseRules) -> dict[str, Plain]:
    return {
        "name": found.name,
        "version": found.version,
        "digest": found.digest,
        "approval": {"status": found.approval.status.value, "ref": found.approval.ref},
    }


def _whole(found: HouseRules) -> dict[str, Plain]:
    posted: list[Plain] = [
        {
            "section": notice.section,
            "text": notice.text,
            "applies": notice.applies,
            "wall_sign": notice.wall_sign,
        }
        for notice in notices(found)
    ]
    return {**_identity(found), "notices": posted, "rules": _plain(found)}


def _plain(value: object) -> Plain:
    """Turn a rule into what JSON knows, odds as "3:2"."""
    if isinstance(value, Fraction):
        return ratio_text(value)
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value) if f.init}
    if value is None or isinstance(value, bool | int | str):
        return value
    raise TypeError(f"no plain form of {type(value).__name__}")


def _print_json(value: dict[str, Plain]) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def _print_heading(found: HouseRules) -> None:
    click.echo(
        f"{found.name}, version {found.version}: {found.approval.status.value} ({found.approval.ref or 'no reference'})"
    )
    click.echo(f"digest {found.digest}\n")


def _print_notices(posted: tuple[Notice, ...]) -> None:
    click.echo("Notices that every player must see (30-803(3))")
    for notice in posted:
        mark = " " if notice.applies else "-"
        click.echo(f" {mark}({notice.letter}) {notice.text}")
    if not all(notice.applies for notice in posted):
        click.echo("  - need not be posted: nothing is restricted")
    click.echo()


def _print_rules(found: HouseRules) -> None:
    _print_heading(found)
    _print_notices(notices(found))
    click.echo("Options")
    tables: list[str] = []
    for key, value in _flat(found):
        if isinstance(value, list):
            tables.extend(f"{key.replace('_', ' ').removesuffix('s')}: {_line(entry)}" for entry in value)
        else:
            click.echo(f"  {key:<28} {_line(value)}")
    click.echo("\nWagers and their pay")
    for line in tables:
        click.echo(f"  {line}")


def _flat(found: HouseRules) -> list[tuple[str, Plain]]:
    """List each option with its value, those of a table with a dot between the names."""
    flat: list[tuple[str, Plain]] = []
    plain = _plain(found)
    for key, value in plain.items() if isinstance(plain, dict) else ():
        if isinstance(value, dict):
            flat.extend((f"{key}.{name}", entry) for name, entry in value.items())
        else:
            flat.append((key, value))
    return flat


def _line(value: Plain) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_line(entry)}" for key, entry in value.items() if _says_something(entry))
    return str(value)


def _says_something(value: Plain) -> bool:
    """Leave out what a wager or pay rule does not ask for: nothing, no name, no limit. A "no" does say something."""
    return value is False or value not in (None, "", 0)

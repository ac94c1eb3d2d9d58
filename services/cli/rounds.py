"""`holecard rounds`: find a hand among all that were dealt."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from services.cli.journal_place import Place, journal_options
from services.cli.read_model import DATA, answered
from services.surveillance.facts import plain
from services.surveillance.narration import money
from services.surveillance.queries import MOST_COUNTED, list_rounds
from services.surveillance.replies import ListRounds, RoundList, RoundSummary
from services.surveillance.round_search import OUTCOMES


class Moment(click.ParamType):
    """A time as "2026-11-30T21:04" or "2026-11-30", with its offset or in UTC; µs since 1970."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read it."""
        if isinstance(value, int):
            return value
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is not a time such as 2026-11-30T21:04", param, ctx)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return round(moment.timestamp() * 1_000_000)


class Dollars(click.ParamType):
    """An amount as "25" or "12.50"; in cents."""

    name = "dollars"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read it, without a float."""
        if isinstance(value, int):
            return value
        whole, point, cents = str(value).removeprefix("$").partition(".")
        if not whole.isdecimal() or (point and not (cents.isdecimal() and len(cents) == 2)):
            self.fail(f"{value!r} is not an amount such as 25 or 12.50", param, ctx)
        return int(whole) * 100 + int(cents or 0)


@click.command()
@click.option("--table", default="", help='One table, "black-hawk/BJ-07".')
@click.option("--floor", default="", help='One floor, "black-hawk".')
@click.option("--day", "gaming_day", default="", help='One gaming day, "2026-11-30".')
@click.option("--from", "from_time_us", type=Moment(), default=0, help='Opened at or after, "2026-11-30T21:04".')
@click.option("--to", "to_time_us", type=Moment(), default=0, help="Opened before.")
@click.option("--seat", type=click.IntRange(1, 7), help="A hand at this seat.")
@click.option("--patron", default="", help="A hand of this patron.")
@click.option(
    "--card",
    "cards",
    multiple=True,
    help='A card "As" or a rank "A"; several must all be in one hand, or the dealer\'s.',
)
@click.option("--outcome", type=click.Choice(OUTCOMES), help="A hand that came to this.")
@click.option(
    "--min-stake", "minimum_stake_cents", type=Dollars(), default=0, help="A hand with at least so much staked on it."
)
@click.option("--max-stake", "maximum_stake_cents", type=Dollars(), default=0, help="A hand with at most so much.")
@click.option("--limit", type=click.IntRange(1, 500), default=20, show_default=True, help="How many, newest first.")
@click.option("--cursor", default="", help="Where the page before ended.")
@DATA
@journal_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def rounds(
    table: str,
    seat: int | None,
    cards: tuple[str, ...],
    outcome: str | None,
    data: Path,
    journal: Place,
    as_json: bool,
    **asked: Any,
) -> None:
    """List rounds, newest first; every option narrows the list.

    \b
    What happened at seat 3 around 21:04?   holecard rounds --table black-hawk/BJ-07 --seat 3 --from 2026-11-30T21:00
    Who had a pair of aces and lost?        holecard rounds --card A --card A --outcome lose
    Then look at the hand:                  holecard replay black-hawk/BJ-07#12

    Works on the journal of a running house as on one that is stopped.
    """  # noqa: D301 - \b is click's mark for a block kept as it is
    query = ListRounds(
        seat=seat or 0,
        cards=tuple("T" + card[2:] if card.startswith("10") else card for card in cards),
        outcome=outcome or "",
        **asked,
    )
    page = asyncio.run(answered(data, journal, lambda connection: list_rounds(connection, table, query)))
    if as_json:
        click.echo(json.dumps(plain(page), ensure_ascii=False))
    else:
        _print(page)


def _print(page: RoundList) -> None:
    if not page.rounds:
        click.echo("No round fits.")
        return
    console = Console(highlight=False, soft_wrap=True)
    for one in page.rounds:
        opened = datetime.fromtimestamp(one.opened_time_us / 1e6, UTC).strftime("%Y-%m-%d %H:%M:%S")
        dealer = (
            f"dealer {' '.join(map(str, one.dealer_cards))} ({one.dealer_total})" if one.dealer_cards else "no cards"
        )
        result = f"house {money(one.win_cents)}" if one.status != "open" else "in progress"
        marks = "".join(f"  {word}" for word in _marks(one))
        line = f"  {opened}Z  {dealer}  staked {money(one.staked_cents)}, {result}"
        console.print(Text.assemble((one.round_id, "bold"), line, (marks, "red")))
        for hand in one.hands:
            words = hand.outcome or hand.status
            console.print(
                f"    seat {hand.seat} {hand.patron}: {' '.join(map(str, hand.cards))} ({hand.total}) {words}, "
                f"{money(hand.staked_cents)} staked, {money(hand.returned_cents)} back",
                style="dim",
            )
    many = f"{page.total:,}" if page.total < MOST_COUNTED else f"{MOST_COUNTED:,} or more"
    click.echo(f"{len(page.rounds)} of {many} rounds that fit.", err=True)
    if page.next_cursor:
        click.echo(f"More: --cursor '{page.next_cursor}'", err=True)


def _marks(one: RoundSummary) -> list[str]:
    marks = ["voided"] if one.status == "voided" else []
    return [*marks, f"{one.findings} findings"] if one.findings else marks

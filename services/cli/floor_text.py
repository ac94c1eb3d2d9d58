"""What a simulated floor says for people: a line of progress, and the figures as tables."""

import sys

import click
from rich.console import Console
from rich.table import Table

from services.floor.figures import PERCENTILES, Figures
from services.game.notices import dollars


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

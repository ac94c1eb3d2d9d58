"""`holecard verify`: is the record whole? Walks everything in a journal and names what is not as it was written.

Exit status 0 when it is, 1 when it is not or cannot be read. `OBSERVERS` makes the checks that ride along in the same pass.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import monotonic

import click

from services.cli.journal_place import KafkaPlace, Place, journal_options
from services.cli.read_model import derived_again
from services.journal import external_heads
from services.journal.external_heads import HeadsKept, HeadsSeen, read_heads
from services.journal.findings import Finding, Observer
from services.journal.fsck import FsckReport, fsck
from services.journal.port import Recorded
from services.surveillance.verifying import LawsOfTheHouse

PROGRESS_SECONDS = 2.0


class Progress:
    """Says on stderr how far the check is; finds nothing."""

    def __init__(self) -> None:
        self._seen = 0
        self._told = monotonic()

    def see(self, _: Recorded) -> None:
        """Count one event."""
        self._seen += 1
        if monotonic() - self._told >= PROGRESS_SECONDS:
            self._told = monotonic()
            click.echo(f"{self._seen:,} events …", err=True)

    def findings(self) -> tuple[Finding, ...]:
        """Nothing."""
        return ()


OBSERVERS: tuple[Callable[[], Observer], ...] = (LawsOfTheHouse, Progress)
"""What else is asked of a sound journal: each is called once and sees every event in log order (DESIGN §8, L1 to L12)."""

SHOWN_FINDINGS = 100
"""How many findings are printed; --json has all of them."""


@click.command()
@click.option(
    "--data", type=click.Path(path_type=Path), default=Path(".data"), show_default=True, help="The data folder."
)
@journal_options
@click.option(
    "--read-model", "compare", is_flag=True, help="Derive surveillance's read model again, and compare it row by row."
)
@click.option(
    "--heads", type=click.Path(path_type=Path), help="Compare with the streams' heads in this file, kept elsewhere."
)
@click.option(
    "--write-heads",
    type=click.Path(path_type=Path),
    help="Write the streams' heads to this file if all is sound; keep it where the journal's owner cannot write.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def verify(
    context: click.Context,
    data: Path,
    journal: Place,
    *,
    compare: bool,
    heads: Path | None,
    write_heads: Path | None,
    as_json: bool,
) -> None:
    """Check everything that can be checked in a journal.

    Each event's bytes against its hash, each stream's chain, the recorded heads and indexes, and the laws of the house.
    Names stream, sequence and reason of every event that is edited, missing, swapped, duplicated, forked or cut off.
    It may run while the house plays: it looks at one moment.

    A tail that is cut off together with the heads in the journal leaves no trace inside: give heads that were kept outside.
    """
    place = journal or data / "journal.db"
    if compare and journal is not None:
        raise click.UsageError("a read model belongs to a data folder: give --data, not --journal")
    seen = HeadsSeen()
    observers: list[Observer] = [*(make() for make in OBSERVERS), seen]
    if heads is not None:
        observers.append(HeadsKept(read_heads(heads)))
    report = fsck(place, observers) if isinstance(place, Path) else _fsck_kafka(place, observers)
    if compare and report.is_sound:
        report = replace(report, findings=_read_model(data))
    if write_heads is not None and report.is_sound:
        external_heads.write_heads(write_heads, seen.heads)
    if as_json:
        click.echo(json.dumps(_as_json(place, report), ensure_ascii=False))
    else:
        _print(place, report)
    context.exit(0 if report.is_sound else 1)


def _fsck_kafka(place: KafkaPlace, observers: list[Observer]) -> FsckReport:
    from services.journal.kafka_fsck import fsck_kafka

    return asyncio.run(fsck_kafka(place.settings.cluster, place.settings.layout, observers))


def _read_model(data: Path) -> tuple[Finding, ...]:
    """Each row of the read model that the journal gives otherwise breaks L6: folding the log gives the live state."""
    different = asyncio.run(derived_again(data))
    if different is None:
        click.echo("There is no read model to compare; it is built when surveillance next runs.", err=True)
    return tuple(Finding("L6", "", 0, f"read model, {line}") for line in different or ())


def _print(place: Path | KafkaPlace, report: FsckReport) -> None:
    for finding in report.findings[:SHOWN_FINDINGS]:
        click.echo(str(finding))
    if len(report.findings) > SHOWN_FINDINGS:
        click.echo(f"… and {len(report.findings) - SHOWN_FINDINGS} more; --json has all of them")
    checked = f"{report.events} events in {report.streams} streams of {place}"
    click.echo(f"Sound: {checked}." if report.is_sound else f"NOT SOUND: {len(report.findings)} findings in {checked}.")


def _as_json(place: Path | KafkaPlace, report: FsckReport) -> dict[str, object]:
    return {
        "journal": str(place),
        "sound": report.is_sound,
        "events": report.events,
        "streams": report.streams,
        "findings": [_finding(finding) for finding in report.findings],
    }


def _finding(finding: Finding) -> dict[str, object]:
    return {
        "kind": str(finding.kind),
        "stream": finding.stream,
        "sequence": finding.sequence,
        "offset": finding.offset,
        "reason": finding.reason,
    }

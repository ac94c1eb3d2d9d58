"""`holecard settle`: play hand records through the real round and print their results.

Owns reading the file line by line, progress and the exit status. What a record may hold and how it is played is
`services.game.hand_record`. Promises that nothing is skipped: a bad record is reported with its line and field, the rest is
still played, and the status is 1.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

import click

from services.game.hand_record import HandRecord, HandRecordRefused, read_record, written
from services.game.hand_record_play import differences, play_record
from services.game.house_rules import HouseRules
from services.game.profiles import profile, profile_names

LONGEST_LINE_BYTES = 1_000_000
PROGRESS_EVERY = 1000
SHOWN_PROBLEMS = 100


@click.command()
@click.argument("file", type=click.File("rb"))
@click.option(
    "--check", is_flag=True, help="Compare with each record's `expect` instead of printing; status 1 on a difference."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with everything.")
@click.option(
    "--rules", "house", default="colorado", metavar="PROFILE", help="The house rules behind the records' own."
)
@click.pass_context
def settle(context: click.Context, file: BinaryIO, *, check: bool, as_json: bool, house: str) -> None:
    """Play the hand records in FILE (one JSON object a line; - reads stdin) and print each with its result.

    \b
    See what a hand comes to:             holecard settle hand.jsonl
    Compare with what somebody expects:   holecard settle hands.jsonl --check

    Status 1 when a record cannot be played or differs from what it expects.
    """  # noqa: D301 - \b is click's mark for a block kept as it is
    if house not in profile_names():
        raise click.BadParameter(f"there is no profile {house!r}; there are {', '.join(profile_names())}")
    run = _Run(profile(house), check=check, as_json=as_json)
    for line_number, text in _lines(file):
        run.one(line_number, text)
        if run.read % PROGRESS_EVERY == 0:
            click.echo(f"{run.read} records …", err=True)
    run.report()
    if run.problems or not run.read:
        context.exit(1)


class _Run:
    """The records of one file: what was played and what was wrong."""

    def __init__(self, house: HouseRules, *, check: bool, as_json: bool) -> None:
        self._house = house
        self._check = check
        self._as_json = as_json
        self._results: list[dict[str, Any]] = []
        self.read = 0
        self.problems: list[dict[str, Any]] = []

    def one(self, line: int, text: str) -> None:
        """Play one line."""
        self.read += 1
        name = ""
        try:
            record = read_record(text, self._house)
            name = str(record.source.get("id", ""))
            self._played(line, name, record)
        except HandRecordRefused as refused:
            self._problem(line, name, refused.field, refused.message)

    def _played(self, line: int, name: str, record: HandRecord) -> None:
        result = play_record(record)
        if not self._check:
            whole = written(record, result)
            if self._as_json:
                self._results.append(whole)
            else:
                click.echo(json.dumps(whole, separators=(",", ":")))
            return
        if record.expect is None:
            raise HandRecordRefused("is missing, so there is nothing to compare with", "expect")
        for difference in differences(record.expect, result):
            field, _, what = difference.partition(": ")
            self._problem(line, name, f"expect.{field}", f"expect.{field}: {what}")

    def _problem(self, line: int, name: str, field: str, message: str) -> None:
        self.problems.append({"line": line, "id": name, "field": field, "message": message})
        if not self._as_json and len(self.problems) <= SHOWN_PROBLEMS:
            label = f"line {line} ({name})" if name else f"line {line}"
            click.echo(f"{label}: {message}", err=True)

    def report(self) -> None:
        """Print the end of the run."""
        bad = len({problem["line"] for problem in self.problems})
        if self._as_json:
            summary = {"records": self.read, "bad": bad, "problems": self.problems}
            click.echo(json.dumps({**summary, **({} if self._check else {"results": self._results})}))
            return
        if len(self.problems) > SHOWN_PROBLEMS:
            click.echo(f"… and {len(self.problems) - SHOWN_PROBLEMS} more", err=True)
        if not self.read:
            click.echo("the file holds no record", err=True)
        elif self._check:
            click.echo(f"{self.read} records: {self.read - bad} agree, {bad} do not")
        elif bad:
            click.echo(f"{bad} of {self.read} records could not be played", err=True)


def _lines(file: BinaryIO) -> Iterator[tuple[int, str]]:
    """Give each line that holds something, with its number from 1; a line that is no text is given as an error to read."""
    number = 0
    while raw := file.readline(LONGEST_LINE_BYTES + 1):
        number += 1
        if len(raw) > LONGEST_LINE_BYTES:
            click.echo(f"line {number} is longer than {LONGEST_LINE_BYTES} bytes: not a hand record", err=True)
            sys.exit(1)
        text = raw.decode("utf-8", errors="replace").strip()
        if text:
            yield number, text

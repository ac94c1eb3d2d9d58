"""Every known failure of systems like this one has a test whose name says so, as `test_b14_…` or `test_l7_b14_…`.

The rows are those that concern what is built so far; a row of a later part (F: streams on the cluster, H: the floor's
complaints) joins the list with that part. A test that is renamed or removed leaves its row bare and fails here.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
ROWS = {
    "A01": "several aces bust a hand that is not bust",
    "A03": "dealer's ace, four, seven taken for 22",
    "A05": "soft 17 hard-coded against the posted rule",
    "A07": "dealer draws although every hand is decided",
    "A09": "one seat's natural ends the deal for the others",
    "B02": "split aces: the second hand gets no card, or both are paid",
    "B04": "double on a split hand of a single card",
    "B06": "a further stake takes the player below zero",
    "B08": "an insurance win returns half",
    "B10": "a push is kept by the house",
    "B12": "three-card 21 pushes a dealer's natural",
    "B14": "half a coin is rounded away",
    "B16": "peek and no peek are not told apart",
    "B18": "the same command five times is five bets",
    "C02": "tiny, huge or non-numeric stakes",
    "C04": "money moved away during the hand",
    "C06": "a stake taken twice, or not returned",
    "C08": "a retry under a new id acts again",
    "C10": "a command without an id; an answer lost after the commit",
    "C12": "many bets of the whole balance at once",
    "C14": "who is disconnected is not paid",
    "C16": "one cent short is rounded up",
    "D01": "a wager at the close is charged and not dealt",
    "D03": "a dropped player freezes the table",
    "D05": "a seat's next occupant is taken for the last one",
    "D07": "leaving twice, or during settlement",
    "E02": "the number of decks is not shown",
    "E04": "the shoe runs out within a round",
    "E06": "one random value used for all draws",
    "E08": "a verifier that only the house can run",
    "E10": "cards forged by a client",
    "G01": "stored and not published, or published and not stored",
    "G03": "a rebuild fails or comes out otherwise",
    "G05": "a projection lost events and calls itself healthy",
    "G07": "a stale snapshot is used after the code changed",
    "G09": "forks reported as tampering; order by time",
    "G11": "a cut-off tail goes unnoticed",
    "G13": "clock skew reverses a device's events",
    "G15": "days that are not 24 hours long",
}


def _test_names() -> Iterator[tuple[str, str]]:
    """Every test function's name and its file, from the syntax alone: nothing is imported."""
    for path in sorted(TESTS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                yield node.name, str(path.relative_to(TESTS))


def _tests_by_row() -> dict[str, list[str]]:
    found = defaultdict(list)
    for name, path in _test_names():
        for letter, number in re.findall(r"_([a-h])(\d\d)(?=_|$)", name):
            found[f"{letter.upper()}{number}"].append(f"{path}::{name}")
    return found


TESTS_BY_ROW = _tests_by_row()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row} {ROWS[row]}")
def test_a_known_failure_has_a_test_of_its_name(row: str) -> None:
    assert TESTS_BY_ROW.get(row), f"no test is named after {row}: {ROWS[row]}"


def test_names_are_told_apart_from_rule_numbers() -> None:
    """A name such as test_30_814_… belongs to a rule, and no test claims a row that nobody knows."""
    known = {row for row in TESTS_BY_ROW if row[0] in "ABCDEG"}
    assert known <= set(ROWS), f"rows without a place in the list: {sorted(known - set(ROWS))}"

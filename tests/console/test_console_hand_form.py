"""What is typed into the hand search becomes a query, or a sentence that says why not."""

import pytest

from services.console.hand_form import NotUnderstood, read_cards, read_dollars, read_form
from services.console.views import HandQuery

OUTCOMES = ("win", "push", "lose")
ZONE = "America/Denver"


def test_an_empty_form_asks_for_everything() -> None:
    form = read_form({}, ZONE, OUTCOMES)
    assert form.query == HandQuery()
    assert not form.errors


def test_every_field_is_read() -> None:
    typed = {
        "table": "black-hawk/BJ-07",
        "from": "2026-11-30T21:04",
        "to": "2026-11-30T21:05:30",
        "seat": "3",
        "patron": "P-1003",
        "cards": "As, 10h kD",
        "min": "$1,250.5",
        "max": "2000",
        "outcome": "push",
        "page": "3",
    }
    form = read_form(typed, ZONE, OUTCOMES)
    assert not form.errors
    assert form.query == HandQuery(
        "black-hawk/BJ-07",
        "",
        1_796_097_840_000_000,
        1_796_097_930_000_000,
        3,
        "P-1003",
        ("As", "Th", "Kd"),
        125_050,
        200_000,
        "push",
        3,
    )


@pytest.mark.parametrize(
    ("text", "cents"),
    [("25", 2_500), ("0.05", 5), ("12.5", 1_250), ("1,250", 125_000), ("$9999999999.99", 999_999_999_999)],
)
def test_dollars_are_read_exactly(text: str, cents: int) -> None:
    assert read_dollars(text) == cents


@pytest.mark.parametrize("text", ["-5", "1e3", "nan", "inf", "1.234", "12,34", "", "٣", "0x10", "99999999999"])
def test_what_is_no_amount_is_not_guessed(text: str) -> None:
    with pytest.raises(NotUnderstood):
        read_dollars(text)


def test_cards_may_be_written_with_signs() -> None:
    assert read_cards("a♠ 10D qc") == ("As", "Td", "Qc")
    assert read_cards("a 10 K k") == ("A", "T", "K", "K")
    with pytest.raises(NotUnderstood, match="no card"):
        read_cards("As Kx")
    with pytest.raises(NotUnderstood, match="at most"):
        read_cards("As " * 22)


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"table": "../etc/passwd"}, "table"),
        ({"table": "BJ-07"}, "table"),
        ({"from": "yesterday"}, "from"),
        ({"from": "2026-11-30T21:05", "to": "2026-11-30T21:04"}, "to"),
        ({"seat": "8"}, "seat"),
        ({"seat": "1.5"}, "seat"),
        ({"min": "50", "max": "25"}, "max"),
        ({"outcome": "sometimes"}, "outcome"),
    ],
)
def test_what_cannot_be_meant_is_said_at_its_field(typed: dict[str, str], field: str) -> None:
    form = read_form(typed, ZONE, OUTCOMES)
    assert form.query is None
    assert list(form.errors) == [field]


def test_a_table_alone_is_that_of_the_chosen_floor() -> None:
    form = read_form({"table": "BJ-07", "floor": "black-hawk"}, ZONE, OUTCOMES)
    assert form.query is not None
    assert form.query.table == "black-hawk/BJ-07"


def test_a_page_that_is_none_is_the_first() -> None:
    for text in ("0", "-1", "x", "99999999999"):
        form = read_form({"page": text}, ZONE, OUTCOMES)
        assert form.query is not None
        assert form.query.page == 1


def test_another_page_keeps_the_search() -> None:
    form = read_form({"patron": "P&1", "seat": "3"}, ZONE, OUTCOMES)
    assert form.address(2) == "/hands?seat=3&patron=P%261&page=2"

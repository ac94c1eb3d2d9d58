"""How amounts, shares and times are written."""

import pytest

from services.console import formatting

US = 1_796_097_847_123_456  # 2026-12-01 04:04:07.123456 UTC


@pytest.mark.parametrize(
    ("cents", "written"),
    [
        (0, "$0.00"),
        (5, "$0.05"),
        (123_450, "$1,234.50"),
        (-50, "\N{MINUS SIGN}$0.50"),
        (-123_456_789, "\N{MINUS SIGN}$1,234,567.89"),
        (9_007_199_254_740_993, "$90,071,992,547,409.93"),  # beyond what a float holds
    ],
)
def test_money_is_written_to_the_cent(cents: int, written: str) -> None:
    assert formatting.money(cents) == written


def test_unknown_money_is_a_dash() -> None:
    assert formatting.money(None) == "\N{EN DASH}"


def test_a_gain_has_its_sign_and_nothing_has_none() -> None:
    assert formatting.signed_money(2_500) == "+$25.00"
    assert formatting.signed_money(-2_500) == "\N{MINUS SIGN}$25.00"
    assert formatting.signed_money(0) == "$0.00"


def test_whole_dollars_lose_their_cents_on_the_felt() -> None:
    assert formatting.short_money(2_500) == "$25"
    assert formatting.short_money(2_550) == "$25.50"
    assert formatting.short_money(100_000) == "$1,000"


@pytest.mark.parametrize(
    ("part", "whole", "written"),
    [
        (1, 3, "33.3 %"),
        (2, 3, "66.7 %"),
        (1, 2_000, "0.1 %"),  # half of a tenth: away from zero
        (-1, 2_000, "\N{MINUS SIGN}0.1 %"),
        (-1, 1_000_000, "0.0 %"),  # nothing that shows has no sign
        (5, 0, "\N{EN DASH}"),
        (0, 10, "0.0 %"),
    ],
)
def test_a_share_is_rounded_in_whole_numbers(part: int, whole: int, written: str) -> None:
    assert formatting.share(part, whole) == written


def test_times_name_the_floors_zone_and_utc_is_exact() -> None:
    assert formatting.clock_time(US, "America/Denver") == "21:04:07 MST"
    assert formatting.clock_time(US, "America/Denver", fraction=True) == "21:04:07.123 MST"
    assert formatting.date_time(US, "America/New_York") == "Nov 30, 23:04:07 EST"
    assert formatting.utc(US) == "2026-12-01 04:04:07.123456 UTC"
    assert formatting.iso(US) == "2026-12-01T04:04:07.123456Z"


def test_the_zone_follows_the_season() -> None:
    july = US - 150 * 86_400 * 1_000_000
    assert formatting.clock_time(july, "America/Denver").endswith("MDT")


def test_an_unknown_time_is_a_dash() -> None:
    assert formatting.clock_time(0, "UTC") == "\N{EN DASH}"
    assert formatting.date_time(0, "UTC") == "\N{EN DASH}"
    assert not formatting.utc(0)


@pytest.mark.parametrize(
    ("us", "written"),
    [
        (850_999, "850 ms"),
        (42_000_000, "42 s"),
        (192_000_000, "3 min 12 s"),
        (7_500_000_000, "2 h 5 min"),
        (90_000_000_000, "1 d 1 h"),
        (-5, "0 ms"),
    ],
)
def test_a_duration_has_its_two_largest_units(us: int, written: str) -> None:
    assert formatting.duration(us) == written


def test_cards_are_said_in_words() -> None:
    assert formatting.card_words("As") == "ace of spades"
    assert formatting.card_words("Th") == "10 of hearts"
    assert formatting.card_words(None) == "face-down card"


def test_machine_words_become_a_readers() -> None:
    assert formatting.words("even-money") == "Even money"
    assert formatting.words("BETTING") == "Betting"
    assert formatting.words("") == ""
    assert formatting.sentence_of("WagersPlaced") == "Wagers placed"

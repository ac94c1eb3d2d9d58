"""`holecard rules`: what it prints, and how it refuses."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from services.cli.rules import rules
from services.game.notices import notices
from services.game.profiles import profile, profile_names, profile_text
from services.game.rule_rejections import OddsBelowFloor, RuleFileNotThere, RuleFileRefused
from services.game.rules import canonical_text, parse_rules


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(rules, [str(word) for word in words])


@pytest.fixture
def written(tmp_path: Path) -> Path:
    file = tmp_path / "mine.toml"
    file.write_text(profile_text("colorado"), encoding="utf-8")
    return file


@pytest.mark.parametrize("name", profile_names())
def test_show_prints_the_nine_notices_and_every_option(name: str) -> None:
    result = call("show", name)

    assert result.exit_code == 0
    for notice in notices(profile(name)):
        assert f"({notice.letter}) {notice.text}" in result.stdout
    assert profile(name).digest in result.stdout
    for key in ("decks", "soft17", "surrender", "limits.minimum_cents", "main pay: result natural-tie, net 0:1"):
        assert key in result.stdout


def test_show_without_a_name_shows_the_house_profile() -> None:
    assert call("show").stdout == call("show", "colorado").stdout


def test_show_takes_a_file(written: Path) -> None:
    assert call("show", written).stdout == call("show", "colorado").stdout


def test_show_json_says_the_same() -> None:
    shown = json.loads(call("show", "single-deck-6-5", "--json").stdout)

    assert shown["digest"] == profile("single-deck-6-5").digest
    assert shown["rules"]["blackjack_pays"] == "6:5"
    assert shown["rules"]["limits"] == {"minimum_cents": 500, "maximum_cents": 10_000, "increment_cents": 500}
    assert [notice["section"] for notice in shown["notices"]] == [f"30-803(3)({letter})" for letter in "abcdefghi"]


def test_show_toml_is_the_canonical_text() -> None:
    text = call("show", "downtown-s17", "--toml").stdout

    assert text == canonical_text(profile("downtown-s17"))
    assert parse_rules(text) == profile("downtown-s17")
    assert call("show", "--toml", "--json").exit_code == 2


def test_list_names_every_profile() -> None:
    assert [line.split()[0] for line in call("list").stdout.splitlines()] == list(profile_names())
    listed = json.loads(call("list", "--json").stdout)["profiles"]
    assert [one["digest"] for one in listed] == [profile(name).digest for name in profile_names()]


def test_check_accepts_a_lawful_file(written: Path) -> None:
    result = call("check", written)

    assert result.exit_code == 0
    assert result.stdout.count("\n  (") + result.stdout.count("\n -(") == 9
    assert result.stdout.endswith("Lawful: every bound is kept.\n")
    assert json.loads(call("check", written, "--json").stdout)["lawful"] is True


def test_check_refuses_with_the_rule(written: Path) -> None:
    written.write_text(profile_text("colorado").replace('"3:2"', '"1:1"'), encoding="utf-8")

    result = call("check", written)

    assert result.exit_code == 1
    assert isinstance(result.exception, OddsBelowFloor)
    assert result.stdout == ""


def test_check_json_refuses_with_the_rule(written: Path) -> None:
    written.write_text(profile_text("colorado").replace("max_seats = 7", "max_seats = 8"), encoding="utf-8")

    result = call("check", written, "--json")

    assert result.exit_code == 1
    refused = json.loads(result.stdout)
    assert (refused["lawful"], refused["refusal"], refused["rule"]) == (False, "TooManySeats", "30-803")
    assert refused["facts"] == {"value": 8}


@pytest.mark.parametrize("content", [b"\xff\xfe", b"#" * 400_001, b"", b"decks = 6.5"])
def test_check_refuses_what_is_no_rule_file(written: Path, content: bytes) -> None:
    written.write_bytes(content)

    result = call("check", written)

    assert result.exit_code == 1
    assert isinstance(result.exception, RuleFileRefused)


def test_what_is_not_there_or_no_file_is_refused_with_the_profiles(tmp_path: Path) -> None:
    for place in (tmp_path / "none.toml", tmp_path, Path("a\0b")):
        result = call("show", place)
        assert isinstance(result.exception, RuleFileNotThere)
        assert "colorado" in result.exception.message

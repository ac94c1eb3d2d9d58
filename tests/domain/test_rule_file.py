"""Rule files: read strictly, written canonically, known by their digest (30-804)."""

import hashlib
import json
import random
import tomllib
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.game import rule_options as options
from services.game import rule_rejections as refusals
from services.game.profiles import profile, profile_names, profile_text
from services.game.rules import (
    STANDARD_MAIN_PAYS,
    STANDARD_WAGER_KINDS,
    HouseRules,
    Limits,
    canonical_text,
    parse_rules,
)

COLORADO = profile_text("colorado")
PRINTABLE = st.text(st.characters(exclude_categories=["C", "Z"]) | st.just(" "), max_size=60)


def with_line(text: str, key: str, line: str) -> str:
    """Replace the line of a key that has no table."""
    lines = text.splitlines()
    found = [number for number, old in enumerate(lines) if old.split("=")[0].strip() == key]
    lines[found[0]] = line
    return "\n".join(lines)


@st.composite
def rule_sets(draw: st.DrawFn) -> HouseRules:
    """Make any lawful rule set of the standard game."""
    unit = draw(st.integers(1, 500)) * 100
    least = draw(st.integers(1, 100))
    most = draw(st.integers(least, 10_000))
    entry = draw(st.sampled_from(options.MidShoeEntry))
    surrender = draw(st.sampled_from(options.Surrender))
    after_split, tips = draw(st.booleans()), draw(st.booleans())
    return HouseRules(
        name=draw(st.from_regex(r"[a-z0-9][a-z0-9-]{0,39}", fullmatch=True)),
        version=draw(st.integers(1, 10**9)),
        decks=draw(st.integers(1, 16)),
        penetration_percent=draw(st.integers(50, 95)),
        burn_card_visible=draw(st.sampled_from(options.BurnCardVisible)),
        soft17=draw(st.sampled_from(options.Soft17)),
        hole_card=draw(st.sampled_from(options.HoleCard)),
        dealer_blackjack_takes=draw(st.sampled_from(options.DealerBlackjackTakes)),
        blackjack_pays=draw(st.fractions(Fraction(6, 5), 10, max_denominator=1000)),
        insurance=draw(st.sampled_from(options.InsuranceRule)),
        insurance_pays=draw(st.fractions(2, 10, max_denominator=1000)),
        even_money=draw(st.booleans()),
        rounding=draw(st.sampled_from(options.Rounding)),
        chip_cents=draw(st.sampled_from([1, 5, 25, 50, 100])),
        double_on=draw(st.sampled_from(options.DoubleOn)),
        double_after_split=after_split,
        double_after_split_aces=after_split and draw(st.booleans()),
        split_by=draw(st.sampled_from(options.SplitBy)),
        max_hands=draw(st.integers(2, 4)),
        surrender=surrender,
        surrender_after_split=surrender is not options.Surrender.NONE and draw(st.booleans()),
        max_seats=draw(st.integers(1, 7)),
        mid_shoe_entry=entry,
        mid_shoe_limit_cents=unit * draw(st.integers(least, most)) if entry is options.MidShoeEntry.LIMITED else 0,
        tips=tips,
        tip_bets=tips and draw(st.booleans()),
        approval=options.Approval(draw(st.sampled_from(options.ApprovalStatus)), draw(PRINTABLE)),
        limits=Limits(unit * least, unit * most, unit),
        wager_kinds=STANDARD_WAGER_KINDS,
        main_pays=STANDARD_MAIN_PAYS,
    )


@given(rule_sets())
def test_the_canonical_text_reads_back_to_the_same_rules(written: HouseRules) -> None:
    text = canonical_text(written)
    read = parse_rules(text)

    assert read == written
    assert canonical_text(read) == text
    assert read.digest == written.digest == hashlib.sha256(text.encode()).hexdigest()


@given(rule_sets(), rule_sets())
def test_the_digest_tells_rule_sets_apart(one: HouseRules, other: HouseRules) -> None:
    assert (one.digest == other.digest) is (one == other)
    assert replace(one, version=one.version % 10**9 + 1).digest != one.digest


@given(rule_sets(), st.integers(0, 2**32))
def test_the_digest_does_not_see_key_order_or_white_space(written: HouseRules, seed: int) -> None:
    chance = random.Random(seed)
    blocks = canonical_text(written).split("\n\n")
    signs = ["=", "  =\t", " = "]
    scalars = ["  " + line.replace(" = ", chance.choice(signs)) + "  # why" for line in blocks[0].splitlines()]
    chance.shuffle(scalars)
    approval, limits, *game = blocks[1:]

    rewritten = "\r\n".join([*scalars, "", limits, approval, "", *game])

    assert parse_rules(rewritten).digest == written.digest


@pytest.mark.parametrize("name", profile_names())
def test_every_profile_is_lawful_and_may_be_dealt(name: str) -> None:
    rules = profile(name)

    rules.require_approved()

    assert rules.name == name
    assert parse_rules(canonical_text(rules)) == rules
    assert rules.wager_kinds == STANDARD_WAGER_KINDS
    assert rules.main_pays == STANDARD_MAIN_PAYS


def test_the_colorado_profile_is_the_defaults_of_the_sheet_and_writes_them_all() -> None:
    rules = profile("colorado")
    plain = HouseRules(
        name="colorado",
        version=1,
        approval=rules.approval,
        limits=rules.limits,
        wager_kinds=STANDARD_WAGER_KINDS,
        main_pays=STANDARD_MAIN_PAYS,
    )

    assert rules == plain
    assert set(tomllib.loads(COLORADO)) == set(tomllib.loads(canonical_text(rules)))


def test_the_defaults_of_the_sheet() -> None:
    rules = profile("colorado")

    assert (rules.decks, rules.max_seats, rules.max_hands, rules.penetration_percent) == (6, 7, 4, 75)
    assert (rules.min_cut_cards, rules.burn_after_shuffle, rules.burn_on_dealer_change) == (10, 1, 1)
    assert (rules.blackjack_pays, rules.insurance_pays) == (Fraction(3, 2), Fraction(2))
    assert (rules.spots_per_player, rules.spot_adjacent, rules.spot_minimum_multiplier) == (2, True, 2)
    assert rules.soft17 is options.Soft17.HIT
    assert rules.surrender is options.Surrender.NONE
    assert rules.dealer_blackjack_takes is options.DealerBlackjackTakes.ORIGINAL
    assert rules.double_on is options.DoubleOn.ANY_TWO
    assert rules.split_by is options.SplitBy.VALUE
    assert not rules.hit_split_aces
    assert not rules.accept_cash_plays
    assert not rules.accept_verbal
    assert not rules.back_betting


def test_profiles_differ_and_an_unknown_one_is_named() -> None:
    assert len({profile(name).digest for name in profile_names()}) == len(profile_names()) >= 4
    assert profile("colorado") is profile("colorado")
    with pytest.raises(refusals.UnknownProfile, match="colorado"):
        profile("../colorado")


@pytest.mark.parametrize(
    ("wrong", "near"),
    [("decsk", "decks"), ("soft_17", "soft17"), ("blackjack_pay", "blackjack_pays"), ("max_hand", "max_hands")],
)
def test_an_unknown_key_is_named_with_the_nearest_known_one(wrong: str, near: str) -> None:
    with pytest.raises(refusals.UnknownRuleKey) as refusal:
        parse_rules(f"{wrong} = 6\n{COLORADO}")

    assert refusal.value.message == f"there is no rule {wrong}; did you mean {near}?"
    assert refusal.value.facts == {"key": wrong}


def test_an_unknown_key_inside_a_table_is_named_with_its_path() -> None:
    text = COLORADO.replace("maximum_cents = 100000", "maximum_cents = 100000\nmaximal_cents = 5")

    with pytest.raises(refusals.UnknownRuleKey, match=r"limits\.maximal_cents; did you mean maximum_cents"):
        parse_rules(text)


def test_a_key_like_no_other_gets_no_false_advice() -> None:
    with pytest.raises(refusals.UnknownRuleKey) as refusal:
        parse_rules(f"zzz = 1\n{COLORADO}")

    assert refusal.value.message == "there is no rule zzz"


@pytest.mark.parametrize("digest", ['digest = "00"', "kinds = 1"])
def test_what_is_derived_cannot_be_written(digest: str) -> None:
    with pytest.raises(refusals.UnknownRuleKey):
        parse_rules(f"{digest}\n{COLORADO}")


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("blackjack_pays", "blackjack_pays = 1.5"),
        ("blackjack_pays", "blackjack_pays = nan"),
        ("insurance_pays", "insurance_pays = inf"),
        ("decks", "decks = 6.0"),
        ("tips", "tips = 1.0"),
        ("soft17", "soft17 = -0.0"),
        ("minimum_cents", "minimum_cents = 5e2"),
        ("most", "most = 0.5"),
        ("net", "net = -1.0"),
    ],
)
def test_a_float_anywhere_is_refused(key: str, line: str) -> None:
    with pytest.raises(refusals.FloatInRules, match="write 3:2 or integer cents") as refusal:
        parse_rules(with_line(COLORADO, key, line))

    assert key in str(refusal.value.facts["key"])


@pytest.mark.parametrize(
    ("key", "value", "wanted"),
    [
        ("decks", '"6"', "a whole number"),
        ("decks", "true", "a whole number"),
        ("decks", "[6]", "a whole number"),
        ("decks", "2026-11-30", "a whole number"),
        ("tips", "1", "true or false"),
        ("tips", '"yes"', "true or false"),
        ("name", "7", "text"),
        ("blackjack_pays", "3", "odds like"),
        ("blackjack_pays", '"3/2"', "odds like"),
        ("blackjack_pays", '"3:0"', "odds like"),
        ("blackjack_pays", '"1.5:1"', "odds like"),
        ("blackjack_pays", '" 3:2"', "odds like"),
        ("blackjack_pays", '"9999999999:1"', "odds like"),
        ("blackjack_pays", '"٣:٢"', "odds like"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused(key: str, value: str, wanted: str) -> None:
    with pytest.raises(refusals.WrongRuleType, match=wanted) as refusal:
        parse_rules(with_line(COLORADO, key, f"{key} = {value}"))

    assert refusal.value.facts == {"key": key}


def test_a_table_in_the_wrong_place_is_refused() -> None:
    scalars = COLORADO.split("[approval]", maxsplit=1)[0]

    with pytest.raises(refusals.WrongRuleType, match="a table"):
        parse_rules(f"approval = 1\n{scalars}")
    with pytest.raises(refusals.WrongRuleType, match=r"\[\[wager_kinds\]\]"):
        parse_rules(f"wager_kinds = 1\n{COLORADO.split('[[wager_kinds]]', maxsplit=1)[0]}")
    with pytest.raises(refusals.WrongRuleType, match=r"\[\[main_pays\]\]"):
        parse_rules(f"main_pays = [1]\n{COLORADO.split('[[main_pays]]', maxsplit=1)[0]}")


@pytest.mark.parametrize("value", ['"H17"', '"HIT"', "17", "[]", "true", '""'])
def test_a_word_that_is_no_choice_is_refused_with_the_choices(value: str) -> None:
    with pytest.raises(refusals.UnknownRuleChoice, match="stand, hit"):
        parse_rules(with_line(COLORADO, "soft17", f"soft17 = {value}"))


@pytest.mark.parametrize("key", ["name", "version"])
def test_30_804_a_rule_set_without_name_or_version_is_refused(key: str) -> None:
    with pytest.raises(refusals.MissingRuleKey, match=key):
        parse_rules(with_line(COLORADO, key, ""))


@pytest.mark.parametrize("table", ["approval", "limits"])
def test_a_rule_set_without_its_tables_is_refused(table: str) -> None:
    head, _, rest = COLORADO.partition(f"[{table}]")

    with pytest.raises(refusals.MissingRuleKey, match=table):
        parse_rules(head + "[" + rest.partition("\n[")[2])


def test_a_missing_key_of_a_table_is_named_with_its_path() -> None:
    with pytest.raises(refusals.MissingRuleKey, match=r"limits\.minimum_cents"):
        parse_rules(with_line(COLORADO, "minimum_cents", ""))
    with pytest.raises(refusals.MissingRuleKey, match=r"wager_kinds\[1\]\.placed_at"):
        parse_rules(with_line(COLORADO, "placed_at", ""))


@pytest.mark.parametrize(
    "text",
    [
        f"decks = 8\n{COLORADO}",
        f"{COLORADO}\n[limits]\nminimum_cents = 1",
        "decks",
        "= 1",
        "decks = ",
        "\x00",
        "[" * 5000,
        "a = " + "[" * 5000,
        "decks = " + "9" * 5000,
        "#" * 100_001,
        '{"decks": 6}',
    ],
)
def test_what_is_not_toml_or_says_a_key_twice_is_refused(text: str) -> None:
    with pytest.raises(refusals.RuleFileUnreadable) as refusal:
        parse_rules(text)

    assert len(refusal.value.message) < 300


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    with pytest.raises(refusals.RuleFileRefused):
        parse_rules(text)


def as_toml(value: Any) -> str:
    return json.dumps(value) if not isinstance(value, dict) else "{}"


@given(
    st.sampled_from(sorted(tomllib.loads(COLORADO))),
    st.integers() | st.booleans() | st.text(st.characters(max_codepoint=0x7E, min_codepoint=0x20)),
)
def test_any_value_of_any_key_is_lawful_or_refused(key: str, value: Any) -> None:
    content = tomllib.loads(COLORADO)
    scalars = {name: entry for name, entry in content.items() if not isinstance(entry, dict | list)}
    scalars[key] = value
    tables = COLORADO[COLORADO.index("[approval]") :]
    text = "\n".join(f"{name} = {as_toml(entry)}" for name, entry in scalars.items()) + "\n" + tables

    try:
        rules = parse_rules(text)
    except refusals.RuleFileRefused:
        return
    assert parse_rules(canonical_text(rules)) == rules

"""The nine notices of 30-803(3): always nine, and always true of the rules."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from services.game.notices import Notice, dollars, notices
from services.game.profiles import profile, profile_names
from services.game.rules import (
    DealerShows,
    DoubleOn,
    Face,
    HouseRules,
    InsuranceRule,
    Limits,
    MainResult,
    MidShoeEntry,
    Moment,
    PayRule,
    PlacedOn,
    Rounding,
    Soft17,
    SplitBy,
    Surrender,
    WagerKind,
)


def colorado(**changes: Any) -> HouseRules:
    return replace(profile("colorado"), **changes)


def notice(rules: HouseRules, letter: str) -> Notice:
    return next(found for found in notices(rules) if found.letter == letter)


@pytest.mark.parametrize("name", profile_names())
def test_30_803_3_there_are_nine_notices_a_to_i(name: str) -> None:
    posted = notices(profile(name))

    assert [found.section for found in posted] == [f"30-803(3)({letter})" for letter in "abcdefghi"]
    assert all(found.text.endswith(".") for found in posted)
    assert [found.letter for found in posted if found.wall_sign] == list("defghi")


def test_30_803_3_a_says_what_the_dealer_does_with_a_soft_seventeen() -> None:
    assert "stand on all 17s" in notice(colorado(soft17=Soft17.STAND), "a").text
    assert "hit on soft 17" in notice(colorado(soft17=Soft17.HIT), "a").text


@pytest.mark.parametrize(("odds", "spoken"), [("3/2", "3 to 2"), ("6/5", "6 to 5"), ("2", "2 to 1"), ("7/5", "7 to 5")])
def test_30_803_3_b_says_the_odds(odds: str, spoken: str) -> None:
    assert f"Blackjack pays {spoken}." in notice(colorado(blackjack_pays=Fraction(odds)), "b").text


def test_30_803_3_b_says_the_restrictions_on_insurance() -> None:
    assert "Insurance pays 2 to 1, for up to half" in notice(colorado(), "b").text
    exactly = colorado(insurance=InsuranceRule.EXACTLY_HALF, insurance_pays=Fraction(5, 2))
    assert "Insurance pays 5 to 2, for exactly half" in notice(exactly, "b").text
    assert "not offered" in notice(colorado(insurance=InsuranceRule.OFF), "b").text
    assert "Even money" in notice(colorado(even_money=True), "b").text
    assert "Even money" not in notice(colorado(even_money=False), "b").text


def test_30_803_3_b_need_not_be_posted_at_a_face_up_table() -> None:
    face_up = colorado(dealer_shows=DealerShows.BOTH_CARDS, insurance=InsuranceRule.OFF)

    assert not notice(face_up, "b").applies
    assert notice(colorado(), "b").applies


def test_30_803_3_c_says_the_limits_and_those_for_special_circumstances() -> None:
    text = notice(colorado(limits=Limits(2500, 1_000_000, 250)), "c").text
    assert (
        text
        == "Minimum $25, maximum $10,000, in steps of $2.50. Up to 2 hands a player side by side, each for at least $50."
    )

    late = colorado(mid_shoe_entry=MidShoeEntry.LIMITED, mid_shoe_limit_cents=2000, spots_per_player=1)
    assert notice(late, "c").text.endswith("One hand a player. Maximum $20 for who enters before the next shuffle.")
    assert "No entry" in notice(colorado(mid_shoe_entry=MidShoeEntry.CLOSED), "c").text
    assert "Up to 2 hands a player, each" in notice(colorado(spot_adjacent=False), "c").text


def test_30_803_3_c_says_the_limits_of_a_side_wager() -> None:
    side = WagerKind(
        "tie",
        Moment.BETTING,
        PlacedOn.SEAT,
        Moment.DEALER_FINISHED,
        "main-pays",
        requires="main",
        minimum_cents=100,
        maximum_cents=2500,
    )

    assert "Wager tie: $1 to $25." in notice(colorado(wager_kinds=(*colorado().wager_kinds, side)), "c").text


@pytest.mark.parametrize(
    ("surrender", "said"),
    [
        (Surrender.NONE, "not offered"),
        (Surrender.LATE, "once the dealer has no blackjack"),
        (Surrender.EARLY, "before the dealer checks"),
        (Surrender.EARLY_VS_TEN, "against a ten before the dealer checks"),
    ],
)
def test_30_803_3_e_says_when_surrender_is_offered(surrender: Surrender, said: str) -> None:
    found = notice(colorado(surrender=surrender), "e")

    assert found.applies
    assert said in found.text


def test_30_803_3_e_says_whether_a_split_hand_surrenders() -> None:
    assert "may not surrender" in notice(colorado(surrender=Surrender.LATE), "e").text
    after = colorado(surrender=Surrender.LATE, surrender_after_split=True)
    assert "may surrender too" in notice(after, "e").text


@pytest.mark.parametrize(
    ("double_on", "said"),
    [
        (DoubleOn.ANY_TWO, "Any first two cards"),
        (DoubleOn.NINE_TO_ELEVEN, "9, 10 and 11"),
        (DoubleOn.TEN_ELEVEN, "10 and 11"),
        (DoubleOn.HARD_ONLY, "Only hard totals"),
    ],
)
def test_30_803_3_f_says_what_may_be_doubled(double_on: DoubleOn, said: str) -> None:
    found = notice(colorado(double_on=double_on), "f")

    assert found.applies
    assert said in found.text


def test_30_803_3_f_says_each_restriction_on_doubling_and_none_where_there_is_none() -> None:
    assert "for the full wager only" in notice(colorado(double_for_less=False), "f").text
    assert "No doubling after a split" in notice(colorado(double_after_split=False), "f").text
    assert "No doubling of split aces" in notice(colorado(), "f").text
    assert "face down" in notice(colorado(double_card_face=Face.DOWN), "f").text
    assert not notice(colorado(double_after_split_aces=True), "f").applies


def test_30_803_3_g_says_how_aces_and_pairs_are_split() -> None:
    strict = notice(colorado(split_by=SplitBy.RANK, resplit_aces=False, max_hands=3), "g")
    assert (
        "Pairs of equal rank may be split to 3 hands. Aces may be split once. Each split ace gets one card."
        in strict.text
    )
    assert strict.applies

    free = notice(colorado(hit_split_aces=True), "g")
    assert "Split aces play on." in free.text
    assert not free.applies


def test_30_803_3_h_says_special_pay_and_breakage() -> None:
    assert not notice(colorado(), "h").applies
    special = colorado(
        main_pays=(
            PayRule(MainResult.WIN, Fraction(2), hand_total=21, least_cards=6, doubled=False),
            PayRule(MainResult.WIN, Fraction(0), dealer_total=22),
            PayRule(MainResult.TIE, Fraction(-1), hand_total=17),
            PayRule(MainResult.TIE, Fraction(-1, 2), hand_total=18, doubled=True),
            *colorado().main_pays,
        ),
        rounding=Rounding.DOWN_TO_CHIP,
    )
    found = notice(special, "h")
    assert found.applies
    assert found.text == (
        "Win (total 21, 6 or more cards, not doubled) pays 2 to 1. Win (dealer's total 22) returns the wager. "
        "Tie (total 17) loses the wager. Tie (total 18, doubled) loses 1 to 2 of the wager. "
        "Payments are rounded down to $0.50."
    )
    assert "rounded up to $0.25" in notice(colorado(rounding=Rounding.UP_TO_CHIP, chip_cents=25), "h").text


def test_30_803_3_i_says_the_restrictions_on_tips() -> None:
    assert not notice(colorado(), "i").applies
    assert notice(colorado(tip_bets=False), "i").text == "Tips are accepted; wagers for the dealer are not."
    assert notice(colorado(tips=False, tip_bets=False), "i").text == "Tips are not accepted."


@pytest.mark.parametrize(
    ("cents", "written"),
    [(0, "$0"), (5, "$0.05"), (500, "$5"), (1250, "$12.50"), (100_000, "$1,000"), (123_456_789, "$1,234,567.89")],
)
def test_amounts_are_written_as_on_a_layout(cents: int, written: str) -> None:
    assert dollars(cents) == written

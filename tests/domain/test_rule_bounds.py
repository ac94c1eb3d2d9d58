"""Every bound of the house rules refuses what breaks it, with the section that says so."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.game import rule_rejections as refusals
from services.game.profiles import profile
from services.game.rejections import Rejection
from services.game.rules import (
    Approval,
    ApprovalStatus,
    DealerShows,
    HouseRules,
    InsuranceRule,
    Limits,
    MidShoeEntry,
    Rounding,
    Shuffle,
    Surrender,
)


def colorado(**changes: Any) -> HouseRules:
    return replace(profile("colorado"), **changes)


@pytest.mark.parametrize("odds", ["1", "1/2", "0", "-3/2", "119/100", "11999/10000"])
def test_30_810_blackjack_below_six_to_five_is_refused(odds: str) -> None:
    with pytest.raises(refusals.OddsBelowFloor) as refusal:
        colorado(blackjack_pays=Fraction(odds))

    assert refusal.value.rule == "30-810"
    assert "6:5" in refusal.value.message


@pytest.mark.parametrize("odds", ["6/5", "7/5", "3/2", "2"])
@pytest.mark.parametrize("decks", [1, 2, 6, 8])
def test_30_810_the_floor_is_six_to_five_for_any_number_of_decks(odds: str, decks: int) -> None:
    assert colorado(blackjack_pays=Fraction(odds), decks=decks).blackjack_pays == Fraction(odds)


def test_30_803_a_face_up_game_may_pay_blackjack_even() -> None:
    face_up = colorado(dealer_shows=DealerShows.BOTH_CARDS, insurance=InsuranceRule.OFF, blackjack_pays=Fraction(1))

    assert face_up.blackjack_pays == 1
    with pytest.raises(refusals.OddsBelowFloor):
        replace(face_up, blackjack_pays=Fraction(9, 10))
    with pytest.raises(refusals.RulesContradict, match="nothing to insure"):
        replace(face_up, insurance=InsuranceRule.UP_TO_HALF)


@pytest.mark.parametrize("odds", ["1", "3/2", "199/100", "-2"])
def test_30_803_insurance_below_two_to_one_is_refused(odds: str) -> None:
    with pytest.raises(refusals.OddsBelowFloor, match="2:1"):
        colorado(insurance_pays=Fraction(odds))


def test_odds_that_are_a_slip_of_the_pen_are_refused() -> None:
    with pytest.raises(refusals.OddsAboveCeiling):
        colorado(blackjack_pays=Fraction(32))
    with pytest.raises(refusals.OddsAboveCeiling):
        colorado(insurance_pays=Fraction(21))


@pytest.mark.parametrize("seats", [8, 0, -1, 100])
def test_30_803_a_table_has_one_to_seven_places(seats: int) -> None:
    with pytest.raises(refusals.TooManySeats) as refusal:
        colorado(max_seats=seats)

    assert refusal.value.rule == "30-803"


@pytest.mark.parametrize(
    ("field", "least", "most", "section"),
    [
        ("version", 1, 10**9, "30-804"),
        ("decks", 1, 16, "30-806"),
        ("penetration_percent", 50, 95, "30-817"),
        ("burn_after_shuffle", 0, 10, "30-819"),
        ("burn_on_dealer_change", 0, 1, "30-819"),
        ("max_hands", 2, 4, "30-814"),
        ("max_seats", 1, 7, "30-803"),
        ("spots_per_player", 1, 7, "30-827"),
        ("spot_minimum_multiplier", 1, 10, "30-827"),
        ("limit_change_notice_minutes", 0, 1440, "30-809"),
        ("action_timeout_seconds", 0, 600, "30-821"),
        ("dealer_hands", 1, 1, "30-830"),
        ("chip_cents", 1, 10_000, "30-810"),
    ],
)
def test_numbers_stay_in_their_range(field: str, least: int, most: int, section: str) -> None:
    for inside in (least, most):
        assert getattr(colorado(**{field: inside}), field) == inside
    for outside in (least - 1, most + 1, -(2**63), 2**70):
        with pytest.raises(refusals.RuleFileRefused) as refusal:
            colorado(**{field: outside})
        assert refusal.value.rule == section
        assert field in refusal.value.message
        assert refusal.value.remedy


@pytest.mark.parametrize(("decks", "cut"), [(6, 4), (6, 0), (6, -5), (6, 156), (1, 26), (1, 52)])
def test_30_817_a_cut_keeps_its_distance_and_leaves_a_place(decks: int, cut: int) -> None:
    with pytest.raises(refusals.CutTooCloseToEnd) as refusal:
        colorado(decks=decks, min_cut_cards=cut)

    assert refusal.value.facts == {"min_cut_cards": cut, "cards": 52 * decks}
    assert colorado(decks=1, min_cut_cards=25).min_cut_cards == 25


@pytest.mark.parametrize(
    ("minimum", "maximum", "increment"),
    [
        (1000, 500, 100),
        (0, 500, 100),
        (-100, 500, 100),
        (500, 1000, 0),
        (500, 1000, -1),
        (500, 1050, 100),
        (550, 1000, 100),
        (500, 1000, 3000),
        (100, 10**12 + 100, 100),
        (1, 2**63, 1),
    ],
)
def test_30_809_limits_that_do_not_agree_are_refused(minimum: int, maximum: int, increment: int) -> None:
    with pytest.raises(refusals.LimitsContradict) as refusal:
        colorado(limits=Limits(minimum, maximum, increment))

    assert refusal.value.rule == "30-809"
    assert refusal.value.facts["minimum_cents"] == minimum


def test_30_809_one_stake_only_is_a_lawful_limit() -> None:
    assert colorado(limits=Limits(500, 500, 500)).limits.maximum_cents == 500


@pytest.mark.parametrize("rounding", [Rounding.DOWN_TO_CHIP, Rounding.UP_TO_CHIP])
def test_30_810_a_stake_can_be_given_back_in_chips(rounding: Rounding) -> None:
    with pytest.raises(refusals.LimitsContradict, match="chips of 250"):
        colorado(rounding=rounding, chip_cents=250)

    assert colorado(rounding=rounding, chip_cents=100).rounding is rounding
    assert colorado(rounding=Rounding.EXACT, chip_cents=250).chip_cents == 250


@pytest.mark.parametrize(
    ("changes", "section"),
    [
        ({"mid_shoe_entry": MidShoeEntry.LIMITED}, "30-809"),
        ({"mid_shoe_entry": MidShoeEntry.LIMITED, "mid_shoe_limit_cents": 499}, "30-809"),
        ({"mid_shoe_entry": MidShoeEntry.LIMITED, "mid_shoe_limit_cents": 100_001}, "30-809"),
        ({"mid_shoe_limit_cents": 1000}, "30-809"),
        ({"shuffle": Shuffle.CONTINUOUS, "mid_shoe_entry": MidShoeEntry.CLOSED}, "30-816"),
        ({"surrender_after_split": True}, "30-829"),
        ({"double_after_split": False, "double_after_split_aces": True}, "30-813"),
        ({"tips": False}, "30-803(3)(i)"),
    ],
)
def test_options_that_deny_each_other_are_refused(changes: dict[str, Any], section: str) -> None:
    with pytest.raises(refusals.RulesContradict) as refusal:
        colorado(**changes)

    assert section in refusal.value.message


@pytest.mark.parametrize("name", ["", "Colorado", "-a", "a b", "a/b", "a" * 41, "ä"])
def test_30_804_a_rule_set_has_a_name_that_can_be_kept_for_ever(name: str) -> None:
    with pytest.raises(refusals.RulesUnidentified):
        colorado(name=name)


def test_30_804_an_approval_reference_is_printable_and_short() -> None:
    with pytest.raises(refusals.WrongRuleType, match=r"approval\.ref"):
        colorado(approval=Approval(ApprovalStatus.APPROVED, "a\x7fb"))
    with pytest.raises(refusals.RulesUnidentified):
        colorado(approval=Approval(ApprovalStatus.APPROVED, "x" * 201))


@pytest.mark.parametrize("status", [ApprovalStatus.DRAFT, ApprovalStatus.WITHDRAWN])
def test_30_830_a_game_that_is_not_approved_is_not_dealt(status: ApprovalStatus) -> None:
    written = colorado(approval=Approval(status))

    with pytest.raises(refusals.GameNotApproved) as refusal:
        written.require_approved()
    assert refusal.value.rule == "30-830"
    assert refusal.value.facts["status"] == status.value


@pytest.mark.parametrize("status", [ApprovalStatus.APPROVED, ApprovalStatus.FIELD_TRIAL])
def test_30_830_an_approved_game_and_a_field_trial_are_dealt(status: ApprovalStatus) -> None:
    written = colorado(approval=Approval(status, "letter 17"))

    written.require_approved()

    assert written.approval.status is status


@pytest.mark.parametrize("field", ["blackjack_pays", "decks", "chip_cents"])
@pytest.mark.parametrize("value", [1.5, float("nan"), float("inf")])
def test_no_float_enters_by_the_back_door(field: str, value: float) -> None:
    with pytest.raises(refusals.FloatInRules, match="write 3:2 or integer cents"):
        colorado(**{field: value})


@given(st.sampled_from(Surrender), st.booleans(), st.integers(2, 4), st.integers(1, 16))
def test_30_829_a_split_hand_surrenders_only_where_surrender_is(
    surrender: Surrender, after: bool, hands: int, decks: int
) -> None:
    changes = {"surrender": surrender, "surrender_after_split": after, "max_hands": hands, "decks": decks}

    if after and surrender is Surrender.NONE:
        with pytest.raises(refusals.RulesContradict):
            colorado(**changes)
    else:
        written = colorado(**changes)
        assert {field: getattr(written, field) for field in changes} == changes


def test_every_refusal_says_which_rule_and_what_to_do() -> None:
    every = [kind for kind in vars(refusals).values() if isinstance(kind, type) and issubclass(kind, Rejection)]

    assert len(every) > 25
    for kind in every:
        assert kind is Rejection or (kind.rule and kind.remedy.endswith(".")), kind.__name__

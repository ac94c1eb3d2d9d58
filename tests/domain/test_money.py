"""Exact payments under one recorded rounding rule (30-810, DESIGN §7)."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.game.money import Payment, Rounding, pay

DUES = st.fractions(min_value=0, max_value=10**12, max_denominator=1000)
CHIPS = st.integers(1, 10_000)
RULES = st.sampled_from(Rounding)


@given(DUES, RULES, CHIPS)
def test_paid_and_breakage_are_what_was_due(due: Fraction, rule: Rounding, chip: int) -> None:
    payment = pay(due, rule, chip)

    assert payment.paid_cents + payment.breakage == due == payment.due
    assert payment.rule is rule
    assert type(payment.paid_cents) is int
    assert type(payment.breakage) is Fraction


@given(DUES, CHIPS)
def test_each_rule_rounds_its_own_way_and_by_less_than_its_unit(due: Fraction, chip: int) -> None:
    exact = pay(due, Rounding.EXACT, chip)
    down = pay(due, Rounding.DOWN_TO_CHIP, chip)
    up = pay(due, Rounding.UP_TO_CHIP, chip)

    assert 0 <= exact.breakage < 1
    assert 0 <= down.breakage < chip
    assert -chip < up.breakage <= 0
    assert down.paid_cents % chip == up.paid_cents % chip == 0
    assert down.paid_cents <= due <= up.paid_cents
    assert up.paid_cents - down.paid_cents in {0, chip}


@given(st.lists(DUES, max_size=7), RULES, CHIPS)
def test_b14_the_sum_of_the_lines_is_the_total(dues: list[Fraction], rule: Rounding, chip: int) -> None:
    lines = [pay(due, rule, chip) for due in dues]

    assert sum(line.paid_cents for line in lines) + sum((line.breakage for line in lines), Fraction(0)) == sum(dues)


@pytest.mark.parametrize(
    ("odds", "stake_cents", "due_cents"),
    [
        ("3/2", 100, 150),
        ("3/2", 500, 750),
        ("3/2", 700, 1050),
        ("3/2", 12_900, 19_350),
        ("6/5", 100, 120),
        ("6/5", 300, 360),
        ("6/5", 700, 840),
        ("6/5", 1100, 1320),
        ("6/5", 1250, 1500),
        ("1/2", 2500, 1250),
        ("2", 1500, 3000),
    ],
)
def test_b14_blackjack_surrender_and_insurance_come_out_to_the_cent(
    odds: str, stake_cents: int, due_cents: int
) -> None:
    payment = pay(Fraction(odds) * stake_cents, Rounding.EXACT, 100)

    assert payment == Payment(Fraction(due_cents), due_cents, Fraction(0), Rounding.EXACT)


@pytest.mark.parametrize(
    ("odds", "stake_cents", "exact", "down", "up"),
    [
        ("3/2", 100, 150, 100, 200),
        ("3/2", 500, 750, 700, 800),
        ("3/2", 700, 1050, 1000, 1100),
        ("3/2", 12_900, 19_350, 19_300, 19_400),
        ("6/5", 100, 120, 100, 200),
        ("6/5", 300, 360, 300, 400),
        ("6/5", 700, 840, 800, 900),
        ("6/5", 1100, 1320, 1300, 1400),
        ("1/2", 2500, 1250, 1200, 1300),
        ("1/2", 1500, 750, 700, 800),
    ],
)
def test_b14_in_dollar_chips_the_rest_is_breakage(odds: str, stake_cents: int, exact: int, down: int, up: int) -> None:
    due = Fraction(odds) * stake_cents

    assert pay(due, Rounding.DOWN_TO_CHIP, 100) == Payment(due, down, Fraction(exact - down), Rounding.DOWN_TO_CHIP)
    assert pay(due, Rounding.UP_TO_CHIP, 100) == Payment(due, up, Fraction(exact - up), Rounding.UP_TO_CHIP)


@pytest.mark.parametrize(
    ("odds", "stake_cents", "paid", "breakage"),
    [
        ("3/2", 1, 1, "1/2"),
        ("3/2", 5, 7, "1/2"),
        ("3/2", 7, 10, "1/2"),
        ("3/2", 129, 193, "1/2"),
        ("6/5", 1, 1, "1/5"),
        ("6/5", 3, 3, "3/5"),
        ("6/5", 7, 8, "2/5"),
        ("6/5", 11, 13, "1/5"),
        ("1/2", 25, 12, "1/2"),
    ],
)
def test_b14_less_than_a_cent_is_kept_exactly(odds: str, stake_cents: int, paid: int, breakage: str) -> None:
    due = Fraction(odds) * stake_cents

    assert pay(due, Rounding.EXACT, 50) == Payment(due, paid, Fraction(breakage), Rounding.EXACT)


@pytest.mark.parametrize("rule", Rounding)
def test_a_whole_number_of_chips_never_breaks(rule: Rounding) -> None:
    assert pay(0, rule, 25) == Payment(Fraction(0), 0, Fraction(0), rule)
    assert pay(1250, rule, 25) == Payment(Fraction(1250), 1250, Fraction(0), rule)


@pytest.mark.parametrize(("due", "chip"), [(1.5, 100), (float("nan"), 100), (float("inf"), 100), (150, 1.0)])
def test_no_float_is_money(due: Any, chip: Any) -> None:
    with pytest.raises(TypeError, match="never a float"):
        pay(due, Rounding.EXACT, chip)


@pytest.mark.parametrize(("due", "chip"), [(-1, 100), (Fraction(-1, 2), 100), (100, 0), (100, -5)])
def test_no_payment_and_no_chip_is_negative(due: Fraction | int, chip: int) -> None:
    with pytest.raises(ValueError, match=r"never negative|at least one cent"):
        pay(due, Rounding.DOWN_TO_CHIP, chip)

"""Paying an exact amount in chips: one recorded rounding rule, and the difference kept in the open (30-810).

Owns rounding. Promises that due = paid + breakage, always, without a float. Does not know which account breakage goes
to.
"""

from dataclasses import dataclass
from fractions import Fraction

from services.game.rule_options import Rounding

__all__ = ["Payment", "Rounding", "pay"]


@dataclass(frozen=True, slots=True)
class Payment:
    """What is due in cents (exact), what is paid in cents, and the rest.

    `breakage` = due - paid: positive stays with the house, negative was given away by rounding up. `rule` is the
    rounding rule that made it.
    """

    due: Fraction
    paid_cents: int
    breakage: Fraction
    rule: Rounding


def pay(due: Fraction | int, rule: Rounding, chip_cents: int) -> Payment:
    """Round an amount due (cents, not negative) to what can be paid.

    EXACT pays to the cent and lets less than a cent break to the house, since no smaller coin exists. DOWN_TO_CHIP and
    UP_TO_CHIP pay whole chips of `chip_cents` (at least 1). Raises `ValueError` for a negative amount or chip.
    """
    if isinstance(due, float) or isinstance(chip_cents, float):
        raise TypeError("money is integer cents or an exact Fraction, never a float")
    if due < 0:
        raise ValueError(f"a payment is never negative: {due}")
    if chip_cents < 1:
        raise ValueError(f"the smallest chip is at least one cent: {chip_cents}")
    exact = Fraction(due)
    unit = 1 if rule is Rounding.EXACT else chip_cents
    units, rest = divmod(exact, unit)
    if rest and rule is Rounding.UP_TO_CHIP:
        units += 1
    paid = units * unit
    return Payment(due=exact, paid_cents=paid, breakage=exact - paid, rule=rule)

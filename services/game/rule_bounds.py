"""The bounds of a rule set: which numbers and combinations Rule 8 and the reference sheet allow.

Owns every check of `HouseRules`. Promises that each refusal names the section that it rests on. Reads only, changes
nothing.
"""

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from services.game.rule_rejections import OddsBelowFloor, TooManySeats

if TYPE_CHECKING:
    from services.game.house_rules import HouseRules

BLACKJACK_FLOOR: Final = Fraction(6, 5)
INSURANCE_FLOOR: Final = Fraction(2)
MOST_SEATS: Final = 7


def check_bounds(rules: "HouseRules") -> None:
    """Raise the refusal of the first broken bound; return when the rule set is lawful."""
    if rules.blackjack_pays < BLACKJACK_FLOOR:
        raise OddsBelowFloor("blackjack pays at least 6:5")
    if rules.insurance_pays < INSURANCE_FLOOR:
        raise OddsBelowFloor("insurance pays at least 2:1")
    if not 1 <= rules.max_seats <= MOST_SEATS:
        raise TooManySeats("a table has 1 to 7 places")

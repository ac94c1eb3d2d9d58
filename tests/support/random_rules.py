"""Rule sets by chance: lawful, and rich in the options that rarely meet."""

import random
from fractions import Fraction
from typing import Any

from services.game.house_rules import HouseRules
from services.game.rule_options import (
    DealerBlackjackTakes,
    DoubleOn,
    Face,
    HoleCard,
    InsuranceRule,
    Limits,
    Rounding,
    Soft17,
    SplitBy,
    Surrender,
)
from tests.support.round_game import house


def random_rules(chance: random.Random, **fixed: Any) -> HouseRules:
    """Colorado's profile with every option of the play at random; `fixed` ones by the caller."""
    surrender = chance.choice(list(Surrender))
    after_split = chance.random() < 0.7
    rounding = chance.choice(list(Rounding))
    chip = chance.choice((1, 5, 25, 50, 100, 250))
    step = chance.choice((1, 3)) * (1 if rounding is Rounding.EXACT else chip)
    options: dict[str, Any] = {
        "limits": Limits(step, step * 10**4, step),
        "soft17": chance.choice(list(Soft17)),
        "hole_card": chance.choice(list(HoleCard)),
        "dealer_blackjack_takes": chance.choice(list(DealerBlackjackTakes)),
        "dealer_draws_when_decided": chance.random() < 0.2,
        "blackjack_pays": chance.choice((Fraction(6, 5), Fraction(7, 5), Fraction(3, 2), Fraction(2))),
        "insurance": chance.choice(list(InsuranceRule)),
        "insurance_pays": chance.choice((Fraction(2), Fraction(5, 2))),
        "even_money": chance.random() < 0.5,
        "rounding": rounding,
        "chip_cents": chip,
        "double_on": chance.choice(list(DoubleOn)),
        "double_for_less": chance.random() < 0.5,
        "double_after_split": after_split,
        "double_after_split_aces": after_split and chance.random() < 0.5,
        "double_card_face": chance.choice(list(Face)),
        "split_by": chance.choice(list(SplitBy)),
        "max_hands": chance.randint(2, 4),
        "resplit_aces": chance.random() < 0.5,
        "hit_split_aces": chance.random() < 0.5,
        "surrender": surrender,
        "surrender_after_split": surrender is not Surrender.NONE and chance.random() < 0.5,
    }
    return house(**{**options, **fixed})

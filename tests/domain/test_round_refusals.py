"""Every refusal that the reference sheet names for a normal round has its class, named after the broken rule.

The list is the sheet's own, REFUSE_ names by section. What is refused elsewhere says where.
"""

import inspect

from services.game import round_rejections, rule_rejections
from services.game.rejections import NotAuthorised, Rejection

ROUND = {
    "BETTING_CLOSED": "BettingClosed",
    "BELOW_MIN": "StakeBelowMinimum",
    "ABOVE_MAX": "StakeAboveMaximum",
    "WRONG_AREA": "WrongArea",
    "SEAT_LIMIT": "SeatLimit",
    "NO_MIDSHOE_ENTRY": "NoMidShoeEntry",
    "WAGER_LOCKED": "WagerLocked",
    "NO_ACE_UP": "NoAceUp",
    "INSURANCE_OVER_HALF": "InsuranceOverHalf",
    "INSURANCE_CLOSED": "InsuranceClosed",
    "INSURANCE_NOT_OFFERED": "InsuranceNotOffered",
    "DOUBLE_NOT_FIRST_TWO": "DoubleNotFirstTwo",
    "DOUBLE_TOTAL_NOT_ALLOWED": "DoubleTotalNotAllowed",
    "DOUBLE_AFTER_SPLIT": "DoubleAfterSplit",
    "DOUBLE_OVER_ORIGINAL": "DoubleOverOriginal",
    "HIT_AFTER_DOUBLE": "HitAfterDouble",
    "NOT_A_PAIR": "NotAPair",
    "SPLIT_LIMIT": "SplitLimit",
    "SPLIT_WAGER_NOT_EQUAL": "SplitWagerNotEqual",
    "RESPLIT_ACES": "ResplitAces",
    "HIT_SPLIT_ACES": "HitSplitAces",
    "HIT_ON_21": "HitOn21",
    "HAND_CLOSED": "HandClosed",
    "MULTI_SPOT": "MultiSpot",
    "SPOT_NOT_ADJACENT": "SpotNotAdjacent",
    "MULTI_SPOT_MINIMUM": "MultiSpotMinimum",
    "SURRENDER_LATE_IN_HAND": "SurrenderLateInHand",
    "SURRENDER_NOT_OFFERED": "SurrenderNotOffered",
}
RULES = {"ODDS_BELOW_FLOOR": "OddsBelowFloor", "GAME_NOT_APPROVED": "GameNotApproved"}
ELSEWHERE = {
    "RULES_NOT_POSTED": "a table's opening",
    "DEVICE_NOT_INSPECTED": "the shoe",
    "CUT_TOO_CLOSE_TO_END": "the shoe",
    "NOT_SUPERVISOR": "the table, by NotAuthorised: the round has no actors",
    "DECLINED_EXPOSED_CARD": "an irregularity, not a normal round",
    "BUYIN_UNBALANCED": "the wager ledger",
    "LIVE_CHIPS_IN_TOURNAMENT": "tournaments",
    "CASH_OUT_TOURNAMENT_CHIPS": "tournaments",
}


def classes(module: object) -> dict[str, type[Rejection]]:
    return {
        name: cls
        for name, cls in vars(module).items()
        if inspect.isclass(cls) and issubclass(cls, Rejection) and cls is not Rejection
    }


def test_every_refusal_of_the_sheet_for_a_normal_round_has_its_class() -> None:
    assert set(ROUND.values()) <= set(classes(round_rejections))
    assert set(RULES.values()) <= set(classes(rule_rejections))
    assert not set(ROUND) & set(ELSEWHERE)
    assert NotAuthorised.rule == "30-828"


def test_every_refusal_names_its_rule_its_remedy_and_itself() -> None:
    for name, cls in classes(round_rejections).items():
        refusal = cls("what was wrong", seat=3)
        assert refusal.name == name
        assert cls.rule.startswith(("30-8", "DESIGN")), name
        assert cls.remedy.endswith("."), name
        assert cls.__doc__, name
        assert refusal.facts == {"seat": 3}


def test_every_refusal_of_a_round_is_raised_by_some_module() -> None:
    """A name that nothing raises would be a promise without a rule behind it."""
    from services.game import (
        playout,
        round,  # noqa: A004 - the module's name
        round_betting,
        round_dealer,
        round_dealing,
        round_insurance,
        round_legality,
        round_players,
        round_settlement,
        round_voiding,
    )

    modules = (
        playout,
        round,
        round_betting,
        round_dealer,
        round_dealing,
        round_insurance,
        round_legality,
        round_players,
        round_settlement,
        round_voiding,
    )
    text = "".join(inspect.getsource(module) for module in modules)
    renamed = {"BettingClosed": "BettingIsClosed(", "InsuranceClosed": "InsuranceIsClosed("}
    for name in classes(round_rejections):
        raised = (f"raise {name}(", f"return {name}", f"{renamed.get(name, name)}", f"else {name}")
        assert any(mark in text for mark in raised), name

"""The bounds of a rule set: which numbers and combinations Rule 8 and the reference sheet allow.

Owns every check of `HouseRules` as a whole; those of its wagers and pay rules are in `wager_bounds`. Promises that each
refusal carries the section it rests on. Reads only.
"""

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from services.game.rule_options import DealerShows, DealStyle, InsuranceRule, MidShoeEntry, Rounding, Shuffle, Surrender
from services.game.rule_rejections import (
    BurnOutOfRange,
    ChipOutOfRange,
    CutTooCloseToEnd,
    DealerHandsOutOfRange,
    DecksOutOfRange,
    LimitsContradict,
    NoticePeriodOutOfRange,
    OddsAboveCeiling,
    OddsBelowFloor,
    PenetrationOutOfRange,
    RuleOutOfRange,
    RulesContradict,
    RulesNotConducted,
    RulesUnidentified,
    SplitLimitOutOfRange,
    SpotsOutOfRange,
    TimeoutOutOfRange,
    TooManySeats,
)
from services.game.wager_bounds import check_main_pays, check_wager_kinds

if TYPE_CHECKING:
    from services.game.house_rules import HouseRules

BLACKJACK_FLOOR: Final = Fraction(6, 5)
FACE_UP_BLACKJACK_FLOOR: Final = Fraction(1)
INSURANCE_FLOOR: Final = Fraction(2)
ODDS_CEILING: Final = Fraction(10)
MOST_SEATS: Final = 7
LEAST_CUT_CARDS: Final = 5
MOST_CENTS: Final = 10**12
"""Ten thousand million dollars: no limit is higher, so that no sum of a round leaves a signed 64-bit number."""

MOST_DECKS_BY_HAND: Final = 2
"""A shoe holds two or more decks (30-802(9)); more than two are not held in a hand."""

_BY_HAND: Final = frozenset({DealStyle.HAND_DOWN, DealStyle.HAND_UP})
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_LONGEST_REFERENCE: Final = 200

_RANGES: Final[tuple[tuple[str, int, int, type[RuleOutOfRange]], ...]] = (
    ("version", 1, 10**9, RulesUnidentified),
    ("decks", 1, 16, DecksOutOfRange),
    ("penetration_percent", 50, 95, PenetrationOutOfRange),
    ("burn_after_shuffle", 0, 10, BurnOutOfRange),
    ("burn_on_dealer_change", 0, 1, BurnOutOfRange),
    ("max_hands", 2, 4, SplitLimitOutOfRange),
    ("spots_per_player", 1, MOST_SEATS, SpotsOutOfRange),
    ("spot_minimum_multiplier", 1, 10, SpotsOutOfRange),
    ("limit_change_notice_minutes", 0, 24 * 60, NoticePeriodOutOfRange),
    ("action_timeout_seconds", 0, 600, TimeoutOutOfRange),
    # The round deals one dealer hand; the variations that play two or three raise this bound when they come.
    ("dealer_hands", 1, 1, DealerHandsOutOfRange),
    ("chip_cents", 1, 10_000, ChipOutOfRange),
)


def check_bounds(rules: "HouseRules") -> None:
    """Raise the refusal of the first broken bound; return when the rule set is lawful."""
    _check_identity(rules)
    for field, least, most, refusal in _RANGES:
        value: int = getattr(rules, field)
        if not least <= value <= most:
            span = f"{least} to {most}" if least < most else str(least)
            raise refusal(f"{field} is {value}; it is {span}", field=field, value=value)
    if not 1 <= rules.max_seats <= MOST_SEATS:
        raise TooManySeats(
            f"max_seats is {rules.max_seats}; a table has 1 to {MOST_SEATS} places", value=rules.max_seats
        )
    _check_cut(rules)
    _check_odds(rules)
    _check_limits(rules)
    check_wager_kinds(rules.wager_kinds)
    check_main_pays(rules.main_pays)
    _check_combinations(rules)


def _check_identity(rules: "HouseRules") -> None:
    if not _NAME.fullmatch(rules.name):
        raise RulesUnidentified(f"{rules.name!r:.60} is no name: a-z, 0-9 and hyphens, at most 40")
    if len(rules.approval.ref) > _LONGEST_REFERENCE:
        raise RulesUnidentified(f"approval.ref has {len(rules.approval.ref)} characters; at most {_LONGEST_REFERENCE}")


def _check_cut(rules: "HouseRules") -> None:
    """Hold a place to cut open, so many cards from both ends (30-817)."""
    cards = 52 * rules.decks
    if rules.min_cut_cards < LEAST_CUT_CARDS or 2 * rules.min_cut_cards >= cards:
        raise CutTooCloseToEnd(
            f"min_cut_cards is {rules.min_cut_cards}; with {cards} cards it is {LEAST_CUT_CARDS} to {(cards - 1) // 2}",
            min_cut_cards=rules.min_cut_cards,
            cards=cards,
        )


def _check_odds(rules: "HouseRules") -> None:
    """Hold the baselines of the notices (30-803(3)(b)), which a game with both dealer cards shown does not post."""
    face_up = rules.dealer_shows is DealerShows.BOTH_CARDS
    floor = FACE_UP_BLACKJACK_FLOOR if face_up else BLACKJACK_FLOOR
    for field, odds, least in (
        ("blackjack_pays", rules.blackjack_pays, floor),
        ("insurance_pays", rules.insurance_pays, INSURANCE_FLOOR),
    ):
        spelled = f"{field} is {odds.numerator}:{odds.denominator}"
        if odds < least:
            raise OddsBelowFloor(f"{spelled}, below {least.numerator}:{least.denominator}", field=field)
        if odds > ODDS_CEILING:
            raise OddsAboveCeiling(f"{spelled}, above {ODDS_CEILING}:1", field=field)


def _check_limits(rules: "HouseRules") -> None:
    """Every stake is a multiple of the increment, so the limits are too; else they could not be staked (30-809)."""
    limits = rules.limits
    facts = {
        "minimum_cents": limits.minimum_cents,
        "maximum_cents": limits.maximum_cents,
        "increment_cents": limits.increment_cents,
    }
    if not 0 < limits.minimum_cents <= limits.maximum_cents <= MOST_CENTS:
        raise LimitsContradict(
            f"the limits {limits.minimum_cents} to {limits.maximum_cents} cents are not 0 < minimum <= maximum", **facts
        )
    if limits.increment_cents < 1:
        raise LimitsContradict(f"the increment is {limits.increment_cents} cents; it is at least 1", **facts)
    if limits.minimum_cents % limits.increment_cents or limits.maximum_cents % limits.increment_cents:
        raise LimitsContradict(f"an increment of {limits.increment_cents} cents does not reach both limits", **facts)
    if rules.rounding is not Rounding.EXACT and limits.increment_cents % rules.chip_cents:
        raise LimitsContradict(
            f"stakes in steps of {limits.increment_cents} cents cannot be given back in chips of {rules.chip_cents}",
            chip_cents=rules.chip_cents,
            **facts,
        )


def check_conducted(rules: "HouseRules") -> None:
    """Refuse what no service here can hold to: it is never posted and then ignored (30-803(3), 30-804)."""
    for broken, reason in (
        (
            rules.deal_style is DealStyle.HAND_DOWN,
            "deal_style = hand-down: players' cards are dealt face up, so that the table can tell what each may do (30-818)",
        ),
        (
            rules.deal_style in _BY_HAND and rules.decks > MOST_DECKS_BY_HAND,
            f"deal_style = {rules.deal_style.value} holds one or two decks, not {rules.decks} (30-802(9), 30-816)",
        ),
        (
            rules.deal_style in _BY_HAND and rules.shuffle is Shuffle.CONTINUOUS,
            f"deal_style = {rules.deal_style.value} although shuffle = continuous deals from a machine (30-802(10))",
        ),
        (
            rules.back_betting,
            "back_betting = true: who doubles and splits for whom is laid down nowhere, so nobody bets behind (30-809)",
        ),
    ):
        if broken:
            raise RulesNotConducted(reason)


def _check_combinations(rules: "HouseRules") -> None:
    """Refuse options of which one denies the other."""
    limited = rules.mid_shoe_entry is MidShoeEntry.LIMITED
    inside = rules.limits.minimum_cents <= rules.mid_shoe_limit_cents <= rules.limits.maximum_cents
    for broken, reason in (
        (
            limited and not inside,
            "mid_shoe_entry = limited needs a mid_shoe_limit_cents inside the limits (30-809)",
        ),
        (
            not limited and rules.mid_shoe_limit_cents != 0,
            "mid_shoe_limit_cents is set although mid_shoe_entry is not limited (30-809)",
        ),
        (
            rules.shuffle is Shuffle.CONTINUOUS and rules.mid_shoe_entry is not MidShoeEntry.OPEN,
            "shuffle = continuous never ends a shoe, so mid_shoe_entry would stay shut for ever (30-809, 30-816)",
        ),
        (
            rules.surrender_after_split and rules.surrender is Surrender.NONE,
            "surrender_after_split is allowed although surrender = none (30-829)",
        ),
        (
            rules.double_after_split_aces and not rules.double_after_split,
            "double_after_split_aces is allowed although double_after_split is not (30-813)",
        ),
        (rules.tip_bets and not rules.tips, "tip_bets are taken although tips are not (30-803(3)(i))"),
        (
            rules.dealer_shows is DealerShows.BOTH_CARDS and rules.insurance is not InsuranceRule.OFF,
            "insurance is offered although dealer_shows = both-cards leaves nothing to insure (30-803(3)(b))",
        ),
    ):
        if broken:
            raise RulesContradict(reason)

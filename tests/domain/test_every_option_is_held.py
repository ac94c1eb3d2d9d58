"""Every option of a rule set is either held to by a service or refused when it is loaded: none is posted and then ignored.

The list below is read by people too: option, where it is enforced, which test shows it. It fails when an option is added
without a line, when the named module does not read the option any more, when the named test is gone, and when a value that
is not dealt is not refused. The rows follow the sheet's table of options for a normal round.
"""

import ast
import re
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from services.game.house_rules import HouseRules
from services.game.profiles import profile_text
from services.game.rule_rejections import DealerHandsOutOfRange, RulesNotConducted
from services.game.rules import parse_rules

GAME, TABLE = "services/game", "services/table"
DOMAIN, INTEGRATION = "tests/domain", "tests/integration"
WAGERS = f"{DOMAIN}/test_30_807_to_811_wagers.py"
PLAY = f"{DOMAIN}/test_30_820_to_826_play.py"
DOUBLING = f"{DOMAIN}/test_30_813_doubling.py"
SPLITTING = f"{DOMAIN}/test_30_814_splitting.py"
SURRENDER = f"{DOMAIN}/test_30_828_829_void_surrender.py"
INSURANCE = f"{DOMAIN}/test_30_812_insurance.py"
READINESS = f"{DOMAIN}/test_table_readiness.py"
PIT = f"{DOMAIN}/test_table_pit.py"
TIPS = f"{INTEGRATION}/test_table_tips_and_cash.py"


@dataclass(frozen=True)
class Held:
    """Where an option is enforced (a module that reads it), and the test that shows it."""

    where: str
    file: str
    test: str


@dataclass(frozen=True)
class Refused:
    """Values that no service can hold a table to: the rule set is refused when it is loaded."""

    values: tuple[str, ...]
    refusal: type[Exception]
    because: str


HELD: dict[str, Held] = {
    # The cards and the shoe
    "decks": Held(f"{TABLE}/playing.py", PIT, "test_30_804_the_shoe_is_as_posted"),
    "shuffle": Held(f"{TABLE}/readiness.py", READINESS, "test_30_816_the_device_is_the_posted_one"),
    "penetration_percent": Held(
        f"{TABLE}/readiness.py", READINESS, "test_30_817_no_more_is_dealt_than_the_posted_penetration"
    ),
    "min_cut_cards": Held(
        f"{TABLE}/readiness.py",
        READINESS,
        "test_30_817_the_cut_distance_and_what_follows_the_cutting_card_are_the_posted_ones",
    ),
    "cut_card_first": Held(
        f"{TABLE}/readiness.py",
        READINESS,
        "test_30_817_the_cut_distance_and_what_follows_the_cutting_card_are_the_posted_ones",
    ),
    "burn_after_shuffle": Held(
        f"{TABLE}/readiness.py", READINESS, "test_30_819_the_burn_after_the_shuffle_comes_before_the_first_round"
    ),
    "burn_on_dealer_change": Held(
        f"{TABLE}/pit.py",
        f"{INTEGRATION}/test_table_outage.py",
        "test_30_819_a_burn_that_the_shoe_could_not_make_comes_before_the_next_card",
    ),
    "burn_card_visible": Held(f"{TABLE}/readiness.py", READINESS, "test_30_819_who_may_see_a_burned_card_is_posted"),
    "deal_style": Held(f"{TABLE}/readiness.py", READINESS, "test_30_816_the_device_is_the_posted_one"),
    # The dealer
    "soft17": Held(f"{GAME}/round_flow.py", PLAY, "test_a05_and_a03_the_dealer_draws_by_the_posted_rule"),
    "hole_card": Held(f"{GAME}/round_flow.py", PLAY, "test_30_823_when_the_hole_card_is_checked"),
    "dealer_blackjack_takes": Held(
        f"{GAME}/round_settlement.py", DOUBLING, "test_b16_ten_up_and_ace_under_with_a_split_and_a_double"
    ),
    "dealer_draws_when_decided": Held(
        f"{GAME}/round_flow.py", PLAY, "test_a07_the_dealer_draws_only_when_some_hand_needs_it_or_the_rule_says_so"
    ),
    "dealer_hands": Held(f"{GAME}/rule_bounds.py", f"{DOMAIN}/test_rule_bounds.py", "test_numbers_stay_in_their_range"),
    "dealer_shows": Held(
        f"{GAME}/round_betting.py",
        f"{DOMAIN}/test_round_variations_shape.py",
        "test_with_both_dealer_cards_shown_nothing_is_checked_or_revealed",
    ),
    # The pay
    "blackjack_pays": Held(
        f"{GAME}/round_pay.py", WAGERS, "test_b14_blackjack_odds_are_exact_and_what_is_not_paid_stays_visible"
    ),
    "insurance": Held(f"{GAME}/round_insurance.py", INSURANCE, "test_30_812_exactly_half"),
    "insurance_pays": Held(
        f"{GAME}/round_pay.py",
        INSURANCE,
        "test_b08_insurance_pays_two_to_one_and_returns_the_stake_so_the_player_is_even",
    ),
    "even_money": Held(
        f"{GAME}/round_insurance.py", INSURANCE, "test_30_812_even_money_needs_a_blackjack_and_a_house_that_gives_it"
    ),
    "rounding": Held(f"{GAME}/round_pay.py", WAGERS, "test_b14_half_of_an_odd_wager_by_the_posted_rounding_rule"),
    "chip_cents": Held(
        f"{GAME}/house_rules.py",
        f"{INTEGRATION}/test_table_attacks.py",
        "test_30_810_what_is_staked_on_top_can_be_paid_in_chips",
    ),
    # The player's choices
    "double_on": Held(f"{GAME}/round_legality.py", DOUBLING, "test_30_813_totals_that_the_house_doubles"),
    "double_for_less": Held(
        f"{GAME}/round_players.py", DOUBLING, "test_30_813_double_for_less_where_the_house_allows_it"
    ),
    "double_after_split": Held(
        f"{GAME}/round_legality.py", DOUBLING, "test_30_813_after_a_split_where_the_house_allows_it"
    ),
    "double_after_split_aces": Held(
        f"{GAME}/round_legality.py", DOUBLING, "test_30_813_after_splitting_aces_where_the_house_allows_it"
    ),
    "double_card_face": Held(
        f"{GAME}/round_flow.py", DOUBLING, "test_30_813_a_card_laid_face_down_is_unknown_until_the_settlement"
    ),
    "split_by": Held(
        f"{GAME}/round_legality.py", SPLITTING, "test_30_814_by_value_king_and_queen_are_a_pair_by_rank_not"
    ),
    "max_hands": Held(f"{GAME}/round_legality.py", SPLITTING, "test_30_814_up_to_the_house_number_of_hands"),
    "resplit_aces": Held(
        f"{GAME}/round_legality.py", SPLITTING, "test_30_814_resplitting_aces_where_the_house_does_not"
    ),
    "hit_split_aces": Held(
        f"{GAME}/round_legality.py", SPLITTING, "test_30_814_hitting_split_aces_where_the_house_allows_it"
    ),
    "surrender": Held(f"{GAME}/round_legality.py", SURRENDER, "test_30_829_after_a_hit_or_where_it_is_not_offered"),
    "surrender_after_split": Held(f"{GAME}/round_legality.py", SURRENDER, "test_30_829_after_a_split_by_house_rule"),
    # The seats and the wagers
    "max_seats": Held(
        f"{TABLE}/seating.py", f"{DOMAIN}/test_table_seating.py", "test_30_803_a_seat_is_one_of_the_tables_and_free"
    ),
    "spots_per_player": Held(
        f"{GAME}/round_betting.py", WAGERS, "test_30_827_house_without_adjacency_and_with_three_spots"
    ),
    "spot_adjacent": Held(
        f"{GAME}/round_betting.py", WAGERS, "test_30_827_house_without_adjacency_and_with_three_spots"
    ),
    "spot_minimum_multiplier": Held(
        f"{GAME}/round_betting.py", WAGERS, "test_30_827_two_adjacent_hands_at_twice_the_minimum"
    ),
    "mid_shoe_entry": Held(f"{GAME}/round_betting.py", WAGERS, "test_30_809_mid_shoe_entry"),
    "mid_shoe_limit_cents": Held(f"{GAME}/round_betting.py", WAGERS, "test_30_809_mid_shoe_entry"),
    "limit_change_notice_minutes": Held(
        f"{TABLE}/pit.py", PIT, "test_30_809_limits_change_between_rounds_after_the_posted_notice"
    ),
    "back_betting": Held(
        f"{GAME}/rule_bounds.py",
        f"{DOMAIN}/test_rules_conducted.py",
        "test_30_804_what_cannot_be_held_to_is_refused_with_its_reason",
    ),
    "accept_cash_plays": Held(
        f"{TABLE}/seating.py", TIPS, "test_30_809_a_cash_play_that_is_not_taken_leaves_the_cash_with_the_patron"
    ),
    "accept_verbal": Held(f"{TABLE}/playing.py", TIPS, "test_30_809_a_spoken_wager_is_refused_where_none_is_accepted"),
    "tips": Held(
        f"{TABLE}/seating.py", TIPS, "test_30_803_where_no_tips_are_posted_none_reaches_the_dealers_by_any_door"
    ),
    "tip_bets": Held(
        f"{GAME}/house_rules.py", f"{DOMAIN}/test_30_803_tip_bets.py", "test_30_803_no_tip_bet_where_none_is_posted"
    ),
    "action_timeout_seconds": Held(
        f"{TABLE}/work.py",
        f"{INTEGRATION}/test_table_outage.py",
        "test_d03_a_deadline_outlives_the_process_and_the_system_decides",
    ),
    # The tables of the file
    "approval": Held(f"{GAME}/house_rules.py", PIT, "test_30_830_a_game_that_is_not_approved_is_not_dealt"),
    "limits": Held(f"{GAME}/round_betting.py", WAGERS, "test_30_809_and_c02_amounts_that_no_table_takes"),
    "wager_kinds": Held(f"{GAME}/house_rules.py", WAGERS, "test_30_807_unknown_kind_of_wager_and_one_without_its_main"),
    "main_pays": Held(
        f"{GAME}/round_pay.py", WAGERS, "test_b14_blackjack_odds_are_exact_and_what_is_not_paid_stays_visible"
    ),
}

REFUSED: dict[str, Refused] = {
    "deal_style": Refused(('"hand-down"',), RulesNotConducted, "players' cards are dealt face up"),
    "back_betting": Refused(("true",), RulesNotConducted, "nobody bets behind"),
    "dealer_hands": Refused(("2", "3"), DealerHandsOutOfRange, "one dealer hand is dealt"),
}

NAMES = {"name", "version"}
"""What tells a rule set from others; nothing to hold to."""


def options() -> list[str]:
    return [field.name for field in fields(HouseRules) if field.init and field.name not in NAMES]


@cache
def tree_of(path: str) -> ast.Module:
    return ast.parse(Path(path).read_text(encoding="utf-8"))


@cache
def names_of_tests(path: str) -> set[str]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(tree_of(path)) if isinstance(node, kinds)}


def colorado(option: str, value: str) -> str:
    text, changed = re.subn(rf"(?m)^{option} = [^#\n]*", f"{option} = {value} ", profile_text("colorado"))
    assert changed == 1, option
    return re.sub(r"(?m)^decks = .*$", "decks = 2", text) if option == "deal_style" else text


def test_the_list_has_every_option_once_and_no_other() -> None:
    assert sorted(HELD) == sorted(options())
    assert set(REFUSED) <= set(HELD)


@pytest.mark.parametrize("option", options())
def test_each_option_is_read_where_the_list_says_and_shown_by_a_test(option: str) -> None:
    held = HELD[option]
    # The bounds are checked by name, so that a range is one line.
    read = {node.attr for node in ast.walk(tree_of(held.where)) if isinstance(node, ast.Attribute)}
    named = {node.value for node in ast.walk(tree_of(held.where)) if isinstance(node, ast.Constant)}
    assert option in read or option in named, f"{held.where} does not read {option}"
    assert held.test in names_of_tests(held.file), f"{held.file} has no {held.test}"


@pytest.mark.parametrize(("option", "value"), [(name, value) for name, one in REFUSED.items() for value in one.values])
def test_30_804_a_value_that_is_not_dealt_is_refused_when_it_is_loaded(option: str, value: str) -> None:
    with pytest.raises(REFUSED[option].refusal):
        parse_rules(colorado(option, value))


CHOICES: dict[str, Any] = {
    name: hint
    for name, hint in get_type_hints(HouseRules).items()
    if isinstance(hint, type) and issubclass(hint, StrEnum)
}
NEEDS_ANOTHER = {("mid_shoe_entry", "limited"), ("dealer_shows", "both-cards")}
"""Choices that another option must go along with; those pairs have tests of their own (test_rule_bounds)."""


@pytest.mark.parametrize(
    ("option", "value"), [(name, choice.value) for name, kind in CHOICES.items() for choice in kind]
)
def test_every_choice_of_an_option_is_either_dealt_or_on_the_list_of_refusals(option: str, value: str) -> None:
    refused = f'"{value}"' in REFUSED.get(option, Refused((), Exception, "")).values
    if refused or (option, value) in NEEDS_ANOTHER:
        return
    assert getattr(parse_rules(colorado(option, f'"{value}"')), option).value == value

"""No round is opened on cards that were handled otherwise than is posted (30-804, 30-805, 30-816 to 30-819)."""

from dataclasses import replace
from typing import Any

import pytest

from services.game.rules import BurnCardVisible, CutCardFirst, DealStyle, HouseRules, Shuffle
from services.shoe.client import DeviceKind, ShoePhase, ShoeStatus
from services.table.readiness import why_not_ready
from services.table.table import SeatSession, Table
from services.table.words import SeatPhase
from tests.support.table_desk import COLORADO, TABLE, rules_with

READY = ShoeStatus(
    phase=ShoePhase.DEALING,
    device_id="SH-1",
    device_kind=DeviceKind.DEALING_SHOE,
    inspected_day="2026-11-30",
    decks=6,
    deck_set_ids=("DS-1",),
    shoe_id="shoe-1",
    continuous=False,
    seed_hash=b"",
    root=b"",
    size=312,
    drawn=0,
    burned=1,
    left=311,
    last_round=False,
    face_down=(),
    min_cut_cards=10,
    cut_card_first=CutCardFirst.PLAY_ONE_MORE,
    electronic=False,
    cards_behind=78,
    burned_after_shuffle=1,
    burns_shown=0,
    burns_hidden=1,
)


def table(rules: HouseRules = COLORADO, players: int = 1) -> Table:
    seats = tuple(SeatSession(f"s-{n}", f"p-{n}", n, SeatPhase.SEATED, 0) for n in range(1, players + 1))
    return Table(TABLE, rules=rules, seats=seats)


def reason(rules: HouseRules = COLORADO, players: int = 1, **otherwise: Any) -> str:
    return why_not_ready(replace(READY, **otherwise), table(rules, players))


def test_a_shoe_that_was_handled_as_posted_deals() -> None:
    assert reason() == ""


@pytest.mark.parametrize(("percent", "least"), [(50, 156), (75, 78), (80, 62), (95, 15)])
def test_30_817_no_more_is_dealt_than_the_posted_penetration(percent: int, least: int) -> None:
    rules = rules_with(penetration_percent=percent)
    assert reason(rules, cards_behind=least) == ""
    assert f"leaves at least {least}" in reason(rules, cards_behind=least - 1)


def test_30_817_the_cut_distance_and_what_follows_the_cutting_card_are_the_posted_ones() -> None:
    assert "posted is 20" in reason(rules_with(min_cut_cards=20))
    assert "posted is shuffle-now" in reason(rules_with(cut_card_first=CutCardFirst.SHUFFLE_NOW))


@pytest.mark.parametrize(("posted", "burned", "ready"), [(0, 0, True), (1, 0, False), (1, 1, True), (5, 4, False)])
def test_30_819_the_burn_after_the_shuffle_comes_before_the_first_round(
    posted: int, burned: int, *, ready: bool
) -> None:
    found = reason(rules_with(burn_after_shuffle=posted), burned_after_shuffle=burned)
    assert (found == "") is ready
    assert ready or "burn first" in found


@pytest.mark.parametrize(
    ("posted", "shown", "hidden", "ready"),
    [
        (BurnCardVisible.NEVER, 1, 0, False),
        (BurnCardVisible.NEVER, 0, 2, True),
        (BurnCardVisible.ALWAYS, 2, 0, True),
        (BurnCardVisible.ALWAYS, 1, 1, False),
        (BurnCardVisible.ON_REQUEST, 1, 1, True),
    ],
)
def test_30_819_who_may_see_a_burned_card_is_posted(
    posted: BurnCardVisible, shown: int, hidden: int, *, ready: bool
) -> None:
    rules = rules_with(burn_card_visible=posted)
    assert (reason(rules, burns_shown=shown, burns_hidden=hidden) == "") is ready


def test_30_816_the_device_is_the_posted_one() -> None:
    assert "batch-shuffler" in reason(rules_with(shuffle=Shuffle.BATCH))
    assert reason(rules_with(shuffle=Shuffle.BATCH), device_kind=DeviceKind.BATCH_SHUFFLER) == ""
    assert "not electronic" in reason(rules_with(deal_style=DealStyle.ELECTRONIC))
    assert reason(rules_with(deal_style=DealStyle.ELECTRONIC), electronic=True) == ""


def test_30_816_a_shuffling_shoe_has_no_cut_no_cutting_card_and_no_burn() -> None:
    machine: dict[str, Any] = {"continuous": True, "device_kind": DeviceKind.CONTINUOUS_SHUFFLER, "cards_behind": 0}
    assert reason(rules_with(shuffle=Shuffle.CONTINUOUS), burned_after_shuffle=0, burns_hidden=0, **machine) == ""


def test_30_827_every_hand_that_the_seated_may_play_has_its_first_cards() -> None:
    # Two hands a player: what is shuffled after their wagers could not be dealt to them.
    assert reason(players=3, left=14) == ""
    assert "shuffle first" in reason(players=3, left=13)
    assert "shuffle first" in reason(rules_with(spots_per_player=1), players=3, left=7)
    assert reason(rules_with(spots_per_player=1), players=3, left=8) == ""

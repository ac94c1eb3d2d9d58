"""The basic-strategy chart against expected values that are worked out here, from the rules alone, for an endless shoe.

An endless shoe differs from six decks in a few close decisions, so the chart may lose a little there: the test allows the
difference of expected value that a close decision has, and no more.
"""

from functools import cache

import pytest

from services.game.cards import Card
from services.game.hand import Total
from services.game.round_words import Action
from services.game.strategy import basic_strategy, gives_up_early
from tests.support.round_game import cards, house

CLOSE = 0.008
CHANCES = dict.fromkeys((1, 2, 3, 4, 5, 6, 7, 8, 9), 1 / 13) | {10: 4 / 13}
State = tuple[int, bool]


def add(state: State, value: int) -> State:
    """A total after one more card; an ace, value 1, counts 11 while that stays within 21."""
    points, soft = state[0] - 10 if state[1] else state[0], state[1] or value == 1
    points += value
    return (points + 10, True) if soft and points <= 11 else (points, False)


@cache
def dealer_ends(state: State, *, hits_soft_17: bool) -> dict[int, float]:
    """The dealer's final totals from here on, 22 for every bust."""
    value, soft = state
    if value > 21:
        return {22: 1.0}
    if value > 17 or (value == 17 and not (soft and hits_soft_17)):
        return {value: 1.0}
    ends: dict[int, float] = {}
    for card, chance in CHANCES.items():
        for end, share in dealer_ends(add(state, card), hits_soft_17=hits_soft_17).items():
            ends[end] = ends.get(end, 0.0) + chance * share
    return ends


@cache
def dealer_from(up: int, *, hits_soft_17: bool) -> dict[int, float]:
    """Final totals from an up card after a check that found no blackjack."""
    makes = {1: 10, 10: 1}.get(up)
    rest = 1 - (CHANCES[makes] if makes else 0)
    ends: dict[int, float] = {}
    for card, chance in CHANCES.items():
        if card != makes:
            for end, share in dealer_ends(add(add((0, False), up), card), hits_soft_17=hits_soft_17).items():
                ends[end] = ends.get(end, 0.0) + chance / rest * share
    return ends


@cache
def standing(value: int, up: int, *, h17: bool) -> float:
    if value > 21:
        return -1.0
    return sum(
        chance * (1 if end > 21 or value > end else -1 if value < end else 0)
        for end, chance in dealer_from(up, hits_soft_17=h17).items()
    )


@cache
def hitting(state: State, up: int, *, h17: bool) -> float:
    return sum(chance * best(add(state, card), up, h17=h17) for card, chance in CHANCES.items())


@cache
def best(state: State, up: int, *, h17: bool) -> float:
    """The value of playing on by hitting or standing."""
    if state[0] > 21:
        return -1.0
    return max(standing(state[0], up, h17=h17), hitting(state, up, h17=h17))


def doubling(state: State, up: int, *, h17: bool) -> float:
    return 2 * sum(chance * standing(add(state, card)[0], up, h17=h17) for card, chance in CHANCES.items())


def splitting(value: int, up: int, *, h17: bool, das: bool) -> float:
    """Split once: aces get one card each; other hands hit, stand, and double where that is allowed."""
    one = add((0, False), value)
    total = 0.0
    for card, chance in CHANCES.items():
        state = add(one, card)
        if value == 1:
            total += chance * standing(state[0], up, h17=h17)
        else:
            options = [best(state, up, h17=h17), *([doubling(state, up, h17=h17)] if das else [])]
            total += chance * max(options)
    return 2 * total


def value_of(action: Action, state: State, pair: int, up: int, *, h17: bool, das: bool) -> float:
    if action is Action.STAND:
        return standing(state[0], up, h17=h17)
    if action is Action.HIT:
        return hitting(state, up, h17=h17)
    if action is Action.DOUBLE:
        return doubling(state, up, h17=h17)
    if action is Action.SPLIT:
        return splitting(pair, up, h17=h17, das=das)
    return -0.5


@pytest.mark.parametrize("h17", [True, False])
@pytest.mark.parametrize("das", [True, False])
@pytest.mark.parametrize("surrender", [True, False])
def test_the_chart_loses_nothing_against_the_best_choice(*, h17: bool, das: bool, surrender: bool) -> None:
    chart = basic_strategy(
        house(
            soft17="hit" if h17 else "stand",
            double_after_split=das,
            surrender="late" if surrender else "none",
        )
    )
    for first in range(1, 11):
        for second in range(first, 11):
            state = add(add((0, False), first), second)
            pair = first if first == second else 0
            if state[0] == 21:
                continue
            for up in range(1, 11):
                options = [Action.STAND, Action.HIT, Action.DOUBLE]
                options += [Action.SPLIT] if pair else []
                options += [Action.SURRENDER] if surrender else []
                values = {a: value_of(a, state, pair, up, h17=h17, das=das) for a in options}
                chosen = chart.choices(Total(*state), 11 if pair == 1 else pair, 11 if up == 1 else up)[0]
                assert values[chosen] >= max(values.values()) - CLOSE, (first, second, up, chosen, values)


def test_known_close_decisions_for_many_decks() -> None:
    stands, hits = basic_strategy(house(soft17="stand")), basic_strategy(house(soft17="hit"))
    assert stands.choices(Total(11, soft=False), 0, 11)[0] is Action.HIT
    assert hits.choices(Total(11, soft=False), 0, 11)[0] is Action.DOUBLE
    assert stands.choices(Total(18, soft=True), 0, 2)[0] is Action.STAND
    assert hits.choices(Total(18, soft=True), 0, 2)[0] is Action.DOUBLE
    assert hits.choices(Total(19, soft=True), 0, 6)[0] is Action.DOUBLE


def test_where_a_late_blackjack_takes_everything_nothing_is_added_against_ace_or_ten() -> None:
    chart = basic_strategy(house(hole_card="no-hole-card", dealer_blackjack_takes="all"))
    for up in (10, 11):
        assert chart.choices(Total(11, soft=False), 0, up)[0] is Action.HIT
        assert Action.SPLIT not in chart.choices(Total(16, soft=False), 8, up)


def test_a_chosen_action_is_always_an_allowed_one() -> None:
    chart = basic_strategy(house(surrender="late"))
    up_card = Card.parse("Td")
    assert chart.choose(cards("Tc 6h"), up_card, {Action.HIT, Action.STAND, Action.SURRENDER}) is Action.SURRENDER
    assert chart.choose(cards("Tc 6h"), up_card, {Action.HIT, Action.STAND}) is Action.HIT
    assert chart.choose(cards("8c 8h"), up_card, {Action.HIT, Action.STAND, Action.SPLIT}) is Action.SPLIT
    assert chart.choose(cards("Ac 8h"), up_card, {Action.STAND}) is Action.STAND
    assert chart.choose(cards("Ac Kh"), up_card, {Action.INSURE, Action.DECLINE_INSURANCE}) is Action.DECLINE_INSURANCE


def test_early_surrender() -> None:
    early = {Action.SURRENDER, Action.DECLINE_SURRENDER}
    chart = basic_strategy(house(surrender="early"))
    assert chart.choose(cards("Tc 6h"), Card.parse("Ad"), early) is Action.SURRENDER
    assert chart.choose(cards("Tc 8h"), Card.parse("Ad"), early) is Action.DECLINE_SURRENDER
    assert gives_up_early(cards("Tc 4h"), Card.parse("Kd"))
    assert not gives_up_early(cards("Tc 3h"), Card.parse("Kd"))
    assert not gives_up_early(cards("Ac 5h"), Card.parse("Ad"))


def test_the_same_rules_give_the_same_chart() -> None:
    assert basic_strategy(house()) is basic_strategy(house())

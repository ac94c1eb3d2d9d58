"""Totals, bust and blackjack (30-802, 30-806, 30-825), against a definition that tries every way of counting."""

from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.game.cards import Card, standard_deck
from services.game.hand import Total, is_blackjack, is_bust, total

CARDS = st.sampled_from(standard_deck())


def cards(text: str) -> tuple[Card, ...]:
    return tuple(Card.parse(word) for word in text.split())


def by_trying_everything(hand: list[Card]) -> Total:
    """Count each ace as 1 and as 11 and take the best that is not bust, else the least (30-806(1)(c))."""
    ways = [(card.value,) if not card.is_ace else (1, 11) for card in hand]
    counts = {(sum(way), 11 in way) for way in product(*ways)}
    alive = [count for count in counts if count[0] <= 21]
    value, soft = max(alive) if alive else min(counts)
    return Total(value, soft)


@given(st.lists(CARDS, max_size=11))
def test_30_806_a_total_is_the_best_way_of_counting(hand: list[Card]) -> None:
    assert total(hand) == by_trying_everything(hand)
    assert is_bust(hand) is total(hand).is_bust


@given(st.lists(CARDS, max_size=40))
def test_counting_on_equals_counting_again(hand: list[Card]) -> None:
    running = total(())
    for held, card in enumerate(hand, 1):
        running = running.plus(card)
        assert running == total(hand[:held])


@given(st.lists(CARDS, max_size=60), st.randoms(use_true_random=False))
def test_order_never_matters(hand: list[Card], chance: object) -> None:
    shuffled = list(hand)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis types its Random as object

    assert total(shuffled) == total(hand)


def test_a_hand_of_more_points_than_any_round_holds_is_still_counted() -> None:
    assert total(cards("Ks") * 30) == Total(300, soft=False)
    assert total(cards("As") * 80) == Total(80, soft=False)
    assert total(cards("Ks") * 30).plus(Card.parse("As")) == Total(301, soft=False)


@pytest.mark.parametrize(
    ("hand", "value", "soft"),
    [
        ("5s Ac Ad 5h", 12, False),
        ("As Ah", 12, True),
        ("As Ah Ac Ad Ts", 14, False),
        ("As Ah 9c", 21, True),
        ("As Ah Ac 6d", 19, True),
    ],
)
def test_a01_several_aces_never_bust_a_hand_that_is_not_bust(hand: str, value: int, soft: bool) -> None:
    for order in permutations(cards(hand)):
        assert total(order) == Total(value, soft)
        assert not is_bust(order)


def test_a03_ace_four_seven_is_a_hard_twelve() -> None:
    assert total(cards("As 4d 7c")) == Total(12, soft=False)


@pytest.mark.parametrize(
    ("hand", "value"),
    [("As 6d", 17), ("As 2d 4c", 17), ("As Ad 5c", 17)],
)
def test_a05_every_soft_seventeen_is_known_as_soft(hand: str, value: int) -> None:
    assert total(cards(hand)) == Total(value, soft=True)


@pytest.mark.parametrize("text", ["Ks Qd", "As 6d Kc", "9s 8d", "As Ad Kc 5h"])
def test_30_802_6_a_hard_total_counts_every_ace_as_one(text: str) -> None:
    hand = cards(text)

    assert total(hand) == Total(sum(card.points for card in hand), soft=False)


@pytest.mark.parametrize("text", ["As 6d", "As Ad", "As 2d 8c", "As Kd"])
def test_30_802_11_a_soft_total_counts_one_ace_as_eleven(text: str) -> None:
    hand = cards(text)

    assert total(hand) == Total(sum(card.points for card in hand) + 10, soft=True)


@pytest.mark.parametrize("ten", ["Ts", "Jh", "Qd", "Kc"])
def test_30_802_1_an_ace_and_a_ten_as_the_initial_two_cards_are_blackjack(ten: str) -> None:
    for order in permutations(cards(f"As {ten}")):
        assert is_blackjack(order, from_split=False)


@pytest.mark.parametrize("hand", ["As 9d", "Ks Qd", "As Ad", "As", "", "As 5d 5c", "7s 7d 7c", "As Kd 2c"])
def test_30_802_1_nothing_else_is_blackjack(hand: str) -> None:
    assert not is_blackjack(cards(hand), from_split=False)


def test_30_814_a_split_ace_with_a_ten_is_twenty_one_and_no_blackjack() -> None:
    hand = cards("As Kd")

    assert total(hand).value == 21
    assert not is_blackjack(hand, from_split=True)


def test_30_807_over_21_is_bust() -> None:
    assert is_bust(cards("Ks Qd 2c"))
    assert not is_bust(cards("Ks Qd Ac"))
    assert total(()) == Total(0, soft=False)


def test_a_total_reads_as_it_is_called() -> None:
    assert str(total(cards("As 6d"))) == "soft 17"
    assert str(total(cards("Ks 7d"))) == "17"

"""Cards and compositions: one object a card, and counts that never lie (30-806)."""

import copy
import pickle
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.game.cards import RANKS, SUITS, Card, standard_deck
from services.game.composition import Composition
from services.game.rule_rejections import CompositionExceeded, UnknownCard

CARDS = st.sampled_from(standard_deck())


def test_30_806_a_deck_has_52_cards_in_four_suits_of_thirteen() -> None:
    deck = standard_deck()

    assert len(set(deck)) == 52
    assert Counter(card.suit for card in deck) == dict.fromkeys("cdhs", 13)
    assert Counter(card.rank for card in deck) == dict.fromkeys("23456789TJQKA", 4)


@pytest.mark.parametrize(
    ("rank", "value"),
    [*((str(pip), pip) for pip in range(2, 10)), ("T", 10), ("J", 10), ("Q", 10), ("K", 10), ("A", 11)],
)
@pytest.mark.parametrize("suit", "cdhs")
def test_30_806_values(rank: str, value: int, suit: str) -> None:
    card = Card.parse(rank + suit)

    assert (card.rank, card.suit, card.value) == (rank, suit, value)
    assert card.points == (1 if rank == "A" else value)
    assert card.is_ten is (rank in "TJQK")
    assert card.is_ace is (rank == "A")
    assert str(card) == rank + suit


@pytest.mark.parametrize(
    "text",
    ["", "A", "s", "as", "AS", "1s", "10s", "Xs", "Ax", " As", "As ", "AsKd", "A♠", "Ts\n", "joker", "A" * 10_000],
)
def test_30_806_any_other_text_is_no_card(text: str) -> None:
    with pytest.raises(UnknownCard) as refusal:
        Card.parse(text)

    assert refusal.value.rule == "30-806"
    assert refusal.value.facts["card"] == text[:20]


@given(CARDS)
def test_a_card_is_one_object_however_it_is_reached(card: Card) -> None:
    assert Card.parse(str(card)) is card
    assert Card(card.rank, card.suit) is card
    assert pickle.loads(pickle.dumps(card)) is card  # noqa: S301 - our own bytes
    assert copy.copy(card) is card
    assert copy.deepcopy([card])[0] is card


def test_a_card_never_changes() -> None:
    card = Card.parse("As")

    with pytest.raises(AttributeError, match="never changes"):
        card.points = 11
    with pytest.raises(AttributeError, match="never changes"):
        del card.rank
    assert card.points == 1


def test_deck_order_is_by_suit_and_then_rank() -> None:
    deck = standard_deck()

    assert [str(card) for card in deck] == [rank + suit for suit in SUITS for rank in RANKS]
    assert [card.order for card in deck] == list(range(52))
    for lower, higher in pairwise(deck):
        assert lower < higher
        assert higher > lower
        assert lower <= higher
        assert higher >= lower
        assert not higher <= lower
    assert sorted({*deck}) == list(deck)


@given(st.lists(CARDS), st.lists(CARDS))
def test_what_is_added_can_be_taken_out_again(there: list[Card], added: list[Card]) -> None:
    before = Composition.of(there)
    after = before.add(added)

    assert len(after) == len(there) + len(added)
    assert after == Composition.of(there + added)
    assert after.remove(reversed(added)) == before


@given(st.integers(1, 8), CARDS)
def test_30_806_two_or_more_decks_may_be_combined(decks: int, card: Card) -> None:
    stack = Composition.of(standard_deck() * decks)

    assert stack == Composition.of_decks(decks)
    assert stack.is_decks(decks)
    assert not stack.is_decks(decks + 1)
    assert stack[card] == decks
    assert dict(stack) == dict.fromkeys(standard_deck(), decks)


def test_a_missing_and_a_foreign_card_are_named() -> None:
    king, two = Card.parse("Ks"), Card.parse("2c")
    found = Composition.of_decks(6).remove([king]).add([two])

    assert found.differences(Composition.of_decks(6)) == ((two, 1), (king, -1))
    assert not found.is_decks(6)


def test_no_card_is_taken_out_that_is_not_there() -> None:
    ace = Card.parse("As")
    stack = Composition.of_decks(1).remove([ace])

    with pytest.raises(CompositionExceeded) as refusal:
        stack.remove([ace])
    assert refusal.value.facts == {"card": "As"}
    assert stack[ace] == 0


@pytest.mark.parametrize("counts", [(0,) * 51, (0,) * 53, (-1,) + (0,) * 51])
def test_a_composition_has_52_counts_from_0(counts: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="52 counts"):
        Composition(counts)
    with pytest.raises(ValueError, match="from 0"):
        Composition.of_decks(-1)

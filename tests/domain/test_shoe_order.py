"""The published order: byte for byte what a program in another language derives (E08), fair and without bias (E06)."""

import json
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from services.game.cards import Card
from services.shoe import order
from services.shoe.commitment import (
    composition_digest,
    inclusion_path,
    leaf_hash,
    leaves_of,
    levels_of,
    merkle_root,
    root_of_path,
)

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parents[1] / "golden" / "shoe_order.json").read_text(encoding="utf-8")
)


def text(cards: list[Card] | tuple[Card, ...]) -> str:
    return "".join(map(str, cards))


def seeds(count: int, name: str) -> list[bytes]:
    """Fixed seeds; a failure is rerun with `pytest tests/domain/test_shoe_order.py` and the name that is printed."""
    print(f"seeds: SHA-256 of {name!r} + number, {count} of them")
    return [sha256(f"{name}{number}".encode()).digest() for number in range(count)]


@pytest.mark.parametrize("shoe", GOLDEN["shoes"], ids=lambda shoe: f"{shoe['decks']}-decks")
def test_e08_order_and_commitment_equal_the_cross_language_vector(shoe: dict[str, Any]) -> None:
    seed = bytes.fromhex(shoe["seed"])
    stack = order.shuffled(order.new_stack(shoe["decks"]), seed)
    leaves = leaves_of(stack, seed)
    size = len(stack)
    dealt = [stack[order.stack_position(place, size, shoe["depth"]) - 1] for place in range(1, size + 1)]
    assert text(stack) == shoe["order"]
    assert text(dealt) == shoe["dealt"]
    assert order.seed_hash(seed).hex() == shoe["seed_hash"]
    assert merkle_root(leaves).hex() == shoe["root"]
    assert composition_digest(stack).hex() == shoe["composition"]
    proof = shoe["proof"]
    place = proof["stack_position"]
    assert order.salt(seed, place).hex() == proof["salt"]
    assert leaf_hash(place, stack[place - 1], order.salt(seed, place)).hex() == proof["leaf"]
    assert [step.hex() for step in inclusion_path(levels_of(leaves), place - 1)] == proof["path"]


@pytest.mark.parametrize("machine", GOLDEN["machines"], ids=["first", "second"])
def test_e08_continuous_shuffler_equals_the_cross_language_vector(machine: dict[str, Any]) -> None:
    seed = bytes.fromhex(machine["seed"])
    content, out = list(order.new_stack(machine["decks"])), list[Card]()
    for draw in range(1, 36):
        if draw == 21:
            content.extend(out[:10])
        out.append(order.take_out(content, order.pick(seed, draw, len(content))))
    assert text(out) == machine["drawn"]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 52, 312])
def test_every_leaf_is_proved_and_nothing_else(size: int) -> None:
    leaves = [sha256(bytes([0, number % 256, number // 256])).digest() for number in range(size)]
    root = merkle_root(leaves)
    for index in range(size):
        path = inclusion_path(levels_of(leaves), index)
        assert root_of_path(leaves[index], index, size, path) == root
        assert root_of_path(sha256(leaves[index]).digest(), index, size, path) != root
        assert root_of_path(leaves[index], (index + 1) % size, size, path) != root or size == 1
        assert root_of_path(leaves[index], index, size, (*path, root)) is None
        if path:
            assert root_of_path(leaves[index], index, size, path[:-1]) is None


def test_merkle_tree_hash_equals_the_published_test_values() -> None:
    # The reference leaves and root of the Certificate Transparency project's Merkle tree tests (RFC 9162 hashing).
    data = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
    leaves = [sha256(b"\x00" + bytes.fromhex(entry)).digest() for entry in data]
    assert merkle_root([]).hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert merkle_root(leaves[:1]).hex() == "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
    assert merkle_root(leaves).hex() == "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"


def test_words_that_would_favour_small_numbers_are_thrown_away() -> None:
    bound = 3 * 2**30
    assert order.below(iter([bound, 2**32 - 1, 7]), bound) == 7
    assert order.below(iter([bound - 1]), bound) == bound - 1
    with pytest.raises(ValueError, match="ended"):
        order.below(iter([bound]), bound)


def test_e06_neighbours_within_a_shuffle_are_not_correlated() -> None:
    # Serial correlation of card values at lags 1 to 5 over 200 shoes of six decks. Each has mean about -1/311 and standard
    # deviation about 1/sqrt(200 * 311) = 0.004; 0.025 is six of them: a false alarm in 10^8 runs.
    shoes = [order.shuffled(order.new_stack(6), seed) for seed in seeds(200, "serial")]
    for lag in range(1, 6):
        values = [[card.order for card in shoe] for shoe in shoes]
        products = [(a - 25.5) * (b - 25.5) for shoe in values for a, b in zip(shoe, shoe[lag:], strict=False)]
        correlation = sum(products) / len(products) / ((52**2 - 1) / 12)
        assert abs(correlation) < 0.025, f"lag {lag}: {correlation}"


def test_e06_every_card_is_as_likely_at_every_position() -> None:
    # Chi-square of 52 cards over 52 positions, 2,600 one-deck shuffles, 50 expected in each cell: about 51 * 51 = 2,601
    # degrees of freedom, standard deviation 72; 3,035 is six of them.
    shuffles = [order.shuffled(order.new_stack(1), seed) for seed in seeds(2_600, "places")]
    cells = Counter((place, card.order) for shoe in shuffles for place, card in enumerate(shoe))
    statistic = sum((cells[place, card] - 50) ** 2 / 50 for place in range(52) for card in range(52))
    assert 2_601 - 6 * 72 < statistic < 2_601 + 6 * 72


def test_e06_short_orders_are_equally_likely() -> None:
    # All 24 orders of four cards, 24,000 shuffles, 1,000 expected each: chi-square with 23 degrees of freedom; 90 is
    # beyond one in 10^9.
    four = order.new_stack(1)[:4]
    seen = Counter(order.shuffled(four, seed) for seed in seeds(24_000, "four"))
    assert len(seen) == 24
    assert sum((count - 1_000) ** 2 / 1_000 for count in seen.values()) < 90


def test_e06_a_continuous_shuffler_picks_every_place_equally_often() -> None:
    # 31,200 picks from 312 places, 100 expected each: 311 degrees of freedom, standard deviation 25; 461 is six of them.
    seed = seeds(1, "machine")[0]
    picks = Counter(order.pick(seed, draw, 312) for draw in range(1, 31_201))
    statistic = sum((picks[place] - 100) ** 2 / 100 for place in range(312))
    assert 311 - 6 * 25 < statistic < 311 + 6 * 25


def test_a_seed_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        order.shuffled(order.new_stack(1), b"short")

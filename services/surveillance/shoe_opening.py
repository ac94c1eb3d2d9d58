"""Opening a shoe's commitment: from the revealed seed to every card and to the published root, done again.

Owns a second implementation of the recipe `holecard-order/1` (HMAC-SHA-256 words, Durstenfeld's shuffle, salted leaves)
and of the Merkle tree of RFC 9162, section 2.1. Shares no line with the shoe service: that the two agree is what proves
the shoe.
"""

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from functools import cache

from services.game.cards import Card

RECIPE = "holecard-order/1"
MOST_DECKS = 16
"""More than any shoe holds; a number beyond it is garbage."""
_SUITS, _RANKS = "cdhs", "23456789TJQKA"
FACTORY_ORDER = tuple(Card.parse(rank + suit) for suit in _SUITS for rank in _RANKS)


def fingerprint(seed: bytes) -> bytes:
    """What is published of a seed before the first wager."""
    return hashlib.sha256(b"holecard-seed/1:" + seed).digest()


@cache
def composition_of(decks: int) -> bytes:
    """The digest of whole decks (30-815): SHA-256 over "holecard-composition/1:" and the letters, by suit and rank."""
    letters = "".join(str(card) * decks for card in FACTORY_ORDER)
    return hashlib.sha256(b"holecard-composition/1:" + letters.encode()).digest()


def salt_at(seed: bytes, place: int) -> bytes:
    """The salt of the card at `place` (1 upwards) of the committed order."""
    return _mac(seed, b"holecard-salt/1:", place)


def leaf(place: int, card: Card, salt: bytes) -> bytes:
    """The leaf of one card: SHA-256(0x00 | "holecard-card/1:" | place in 4 bytes | two letters | salt).

    Empty, and so equal to no leaf, for a place that no card can have.
    """
    if not 1 <= place < 2**32:
        return b""
    return hashlib.sha256(b"\x00holecard-card/1:" + place.to_bytes(4, "big") + str(card).encode() + salt).digest()


def root_over(leaves: Iterable[bytes]) -> bytes:
    """The Merkle tree hash of RFC 9162, 2.1.1, folded from left to right: full subtrees join as soon as they are equal."""
    stack: list[tuple[int, bytes]] = []
    for one in leaves:
        size, node = 1, one
        while stack and stack[-1][0] == size:
            left = stack.pop()[1]
            size, node = size * 2, hashlib.sha256(b"\x01" + left + node).digest()
        stack.append((size, node))
    if not stack:
        return hashlib.sha256().digest()
    node = stack.pop()[1]
    while stack:
        node = hashlib.sha256(b"\x01" + stack.pop()[1] + node).digest()
    return node


def root_from_proof(one: bytes, place: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """The root that an inclusion proof of the leaf at `place` (from 1) of `size` leads to.

    None for a proof of the wrong length. Written from RFC 9162, 2.1.3.2, as the walk from the root down that names each
    sibling's side.
    """
    sides: list[bool] = []
    low, high, index = 0, size, place - 1
    if not 0 <= index < size:
        return None
    while high - low > 1:
        middle = low + (1 << ((high - low - 1).bit_length() - 1))
        if index < middle:
            sides.append(False)
            high = middle
        else:
            sides.append(True)
            low = middle
    if len(sides) != len(path):
        return None
    node = one
    for sibling, on_the_left in zip(path, reversed(sides), strict=True):
        pair = sibling + node if on_the_left else node + sibling
        node = hashlib.sha256(b"\x01" + pair).digest()
    return node


class Words:
    """The numbers of one named stream of a seed."""

    def __init__(self, seed: bytes, name: bytes) -> None:
        self._seed = seed
        self._name = name
        self._block = 0
        self._words: list[int] = []

    def below(self, bound: int) -> int:
        """A number from 0 to bound - 1; words that would favour small numbers are passed over."""
        ceiling = 2**32 - 2**32 % bound
        while True:
            if not self._words:
                block = _mac(self._seed, self._name, self._block)
                self._words = [int.from_bytes(block[at : at + 4], "big") for at in range(28, -1, -4)]
                self._block += 1
            word = self._words.pop()
            if word < ceiling:
                return word % bound


def shuffled_order(stack: Sequence[Card], seed: bytes) -> list[Card]:
    """The committed order of a stack."""
    order = list(stack)
    words = Words(seed, b"holecard-order/1:")
    for last in reversed(range(1, len(order))):
        other = words.below(last + 1)
        order[last], order[other] = order[other], order[last]
    return order


def commitment(order: Sequence[Card], seed: bytes) -> bytes:
    """The root that a committed order opens."""
    return root_over(leaf(place, card, salt_at(seed, place)) for place, card in enumerate(order, start=1))


def place_before_cut(index: int, size: int, depth: int) -> int:
    """The place (from 1) in the committed order of the card that comes out as number `index` (from 1) after a cut."""
    return (index - 1 + depth) % size + 1


class ContinuousOrder:
    """A continuous shuffler laid open: which card each draw gave, discards returned on the way."""

    def __init__(self, decks: int, seed: bytes) -> None:
        self._content = list(FACTORY_ORDER) * decks
        self._seed = seed
        self._draws = 0

    def draw(self) -> Card | None:
        """The next card; None when the machine is empty."""
        if not self._content:
            return None
        self._draws += 1
        words = Words(self._seed, b"holecard-pick/1:" + self._draws.to_bytes(8, "big"))
        chosen = words.below(len(self._content))
        card = self._content[chosen]
        self._content[chosen] = self._content[-1]
        self._content.pop()
        return card

    def give_back(self, cards: Iterable[Card]) -> None:
        """Discards go back in, in the order of their shoe positions."""
        self._content.extend(cards)

    @property
    def content(self) -> list[Card]:
        """What is inside."""
        return list(self._content)


def _mac(seed: bytes, name: bytes, number: int) -> bytes:
    return hmac.new(seed, name + number.to_bytes(8, "big"), hashlib.sha256).digest()

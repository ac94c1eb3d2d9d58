"""Which card stands where: from a 256-bit seed to an order, so exactly that an outsider can do it again.

Owns the published recipe `holecard-order/1`. Promises that every order is equally likely for a random seed (no modulo
bias) and that the recipe never changes: another one gets another name. Makes no seeds and keeps no secrets.

The recipe, complete:

1.  `HMAC` is HMAC-SHA-256 (RFC 2104, FIPS 180-4) with the 32-byte seed as key. `u64(n)` is n in 8 bytes, big-endian.
2.  A stream named L is the bytes HMAC(L + u64(0)), HMAC(L + u64(1)), …; its words are 4 bytes each, big-endian.
3.  `below(k)`: take words until one is smaller than 2^32 - (2^32 mod k); the answer is that word mod k.
4.  A new stack of D decks is D times the 52 cards 2c 3c … Ac 2d … Ad 2h … Ah 2s … As.
5.  Shuffle a stack a[0..n-1] with the stream named "holecard-order/1:": for i = n-1 down to 1, j = below(i+1),
    exchange a[i] and a[j]. (R. Durstenfeld, Algorithm 235, CACM 7 (1964); D. Knuth, TAOCP vol. 2, 3.4.2, algorithm P.)
6.  A cut of depth d puts the first d cards behind the others. Stack positions, from 1, are those before the cut.
7.  The salt of stack position p is HMAC("holecard-salt/1:" + u64(p)).
8.  Discards that are shuffled again within a round are a new stack with a seed of its own: the recycled cards by
    ascending shoe position, then step 5. Their new shoe positions follow those of the cards before.
9.  A continuous shuffler holds a list, at first a new stack. The n-th draw (n from 1) uses a stream of its own, named
    "holecard-pick/1:" + u64(n): j = below(length); the card a[j] comes out, the last card of the list takes its place.
    Cards that come back are appended by ascending shoe position.
10. The seed's fingerprint, published before the first wager, is SHA-256("holecard-seed/1:" + seed).
"""

import hashlib
import hmac
from collections.abc import Iterator, Sequence
from typing import Final

from services.game.cards import Card, standard_deck

ALGORITHM: Final = "holecard-order/1"
SEED_BYTES: Final = 32  # 256 bits: not enough to reach every order of six decks, far more than anyone can try

_ORDER: Final = b"holecard-order/1:"
_PICK: Final = b"holecard-pick/1:"
_SALT: Final = b"holecard-salt/1:"
_SEED: Final = b"holecard-seed/1:"
_WORDS: Final = 1 << 32


def new_stack(decks: int) -> tuple[Card, ...]:
    """`decks` (1 upwards) standard decks in the order of the factory, step 4 of the recipe."""
    return standard_deck() * decks


def seed_hash(seed: bytes) -> bytes:
    """Give the fingerprint of the seed that is published at once, 32 bytes, step 10."""
    return hashlib.sha256(_SEED + _checked(seed)).digest()


def salt(seed: bytes, position: int) -> bytes:
    """Give the salt of one stack position (1 upwards), 32 bytes, step 7; it tells nothing about seed or other salts."""
    return _hmac(seed, _SALT, position)


def shuffled(stack: Sequence[Card], seed: bytes) -> tuple[Card, ...]:
    """Shuffle without bias, step 5. Same stack, same seed: same order, on any machine and in any language."""
    cards = list(stack)
    words = _words(_checked(seed), _ORDER)
    for last in range(len(cards) - 1, 0, -1):
        chosen = below(words, last + 1)
        cards[last], cards[chosen] = cards[chosen], cards[last]
    return tuple(cards)


def stack_position(position: int, size: int, depth: int) -> int:
    """Find where a card stood before the cut: dealt as number `position` of a stack of `size`, both counted from 1."""
    return (position - 1 + depth) % size + 1


def pick(seed: bytes, draw: int, size: int) -> int:
    """Choose one of a continuous shuffler's `size` cards for its draw number `draw` (from 1): an index from 0, step 9."""
    return below(_words(_checked(seed), _PICK + draw.to_bytes(8, "big")), size)


def take_out(content: list[Card], index: int) -> Card:
    """Take a card out of a continuous shuffler's list in place, step 9."""
    card = content[index]
    content[index] = content[-1]
    content.pop()
    return card


def below(words: Iterator[int], bound: int) -> int:
    """Draw a number from 0 to bound - 1, each equally likely: words that would favour small numbers are thrown away."""
    limit = _WORDS - _WORDS % bound
    for word in words:
        if word < limit:
            return word % bound
    raise ValueError("the stream of words ended")


def _words(seed: bytes, name: bytes) -> Iterator[int]:
    block = 0
    while True:
        chunk = _hmac(seed, name, block)
        for start in range(0, 32, 4):
            yield int.from_bytes(chunk[start : start + 4], "big")
        block += 1


def _hmac(seed: bytes, name: bytes, number: int) -> bytes:
    return hmac.digest(seed, name + number.to_bytes(8, "big"), "sha256")


def _checked(seed: bytes) -> bytes:
    if len(seed) != SEED_BYTES:
        raise ValueError(f"a seed has {SEED_BYTES} bytes, not {len(seed)}")
    return seed

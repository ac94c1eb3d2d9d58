"""The promise that an order is fixed before the first wager, and the proof of each card when it is dealt.

Owns the Merkle tree over salted cards and its inclusion proofs, hashed as in RFC 9162, section 2.1: a leaf is
SHA-256(0x00 + data), a node SHA-256(0x01 + left + right), so that no node can pass for a leaf. The data of a leaf is
"holecard-card/1:" + stack position (4 bytes, big-endian) + the card's two letters + its 32-byte salt. Without the salt
a leaf tells nothing about its card, so a proof can be shown to anyone while its neighbours stay secret. Keeps no
secrets.
"""

import hashlib
from collections.abc import Sequence
from typing import Final

from services.game.cards import Card
from services.shoe.order import salt

_LEAF: Final = b"\x00holecard-card/1:"
_NODE: Final = b"\x01"
_COMPOSITION: Final = b"holecard-composition/1:"


def leaf_hash(position: int, card: Card, card_salt: bytes) -> bytes:
    """Hash one salted card at its stack position (1 upwards), 32 bytes."""
    return hashlib.sha256(_LEAF + position.to_bytes(4, "big") + str(card).encode() + card_salt).digest()


def leaves_of(order: Sequence[Card], seed: bytes) -> tuple[bytes, ...]:
    """Hash every card of an order with the salts of its seed."""
    return tuple(leaf_hash(place, card, salt(seed, place)) for place, card in enumerate(order, start=1))


def levels_of(leaves: Sequence[bytes]) -> tuple[tuple[bytes, ...], ...]:
    """Give the whole Merkle tree over leaves that are hashed already, level by level from the leaves to the root.

    A node without a neighbour goes up as it is, which makes the very tree of RFC 9162, section 2.1.1.
    """
    levels = [tuple(leaves) or (hashlib.sha256().digest(),)]
    while len(below := levels[-1]) > 1:
        level = list(map(_node, below[::2], below[1::2]))
        levels.append(tuple(level) if len(below) % 2 == 0 else (*level, below[-1]))
    return tuple(levels)


def merkle_root(leaves: Sequence[bytes]) -> bytes:
    """Give the Merkle tree hash of RFC 9162, section 2.1.1 (of leaves that are hashed already)."""
    return levels_of(leaves)[-1][0]


def inclusion_path(levels: Sequence[Sequence[bytes]], index: int) -> tuple[bytes, ...]:
    """Give the inclusion proof of leaf `index` (from 0), from the leaf upwards: RFC 9162, section 2.1.3.1."""
    if not 0 <= index < len(levels[0]):
        raise ValueError(f"there is no leaf {index} among {len(levels[0])}")
    path = []
    for level in levels:
        neighbour = index ^ 1
        if neighbour < len(level):
            path.append(level[neighbour])
        index >>= 1
    return tuple(path)


def root_of_path(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """Compute the root that a proof leads to, None for a proof of the wrong length: RFC 9162, section 2.1.3.2.

    The proof holds when the result equals the root that was published with the shuffle.
    """
    if not 0 <= index < size:
        return None
    own, last, result = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return None
        if own & 1 or own == last:
            result = _node(sibling, result)
            while own and not own & 1:
                own >>= 1
                last >>= 1
        else:
            result = _node(result, sibling)
        own >>= 1
        last >>= 1
    return result if last == 0 else None


def composition_digest(cards: Sequence[Card]) -> bytes:
    """Hash what a stack holds, whatever its order: the composition proof of digital cards (30-815).

    SHA-256 over "holecard-composition/1:" and the cards' letters, sorted by suit (c d h s) and rank (2 to A).
    """
    return hashlib.sha256(_COMPOSITION + "".join(str(card) for card in sorted(cards)).encode()).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(_NODE + left + right).digest()

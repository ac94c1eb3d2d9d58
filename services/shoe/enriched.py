"""Commands together with what only the shoe service knows: seeds, cards and proofs, derived in memory by `vault`.

Owns the arguments that keep `decide` pure: deciding needs no entropy, key or cipher. Every secret is hidden.
When the state does not allow a command, the vault has nothing to add and `decide` refuses before it looks.
"""

from dataclasses import dataclass

from services.game.cards import Card
from services.shoe import commands as c
from services.shoe.hidden import Hidden
from services.shoe.words import CardProof


@dataclass(frozen=True, slots=True)
class Commitment:
    """A new order's public face: the seed's fingerprint, the root over its cards, and the sealed seed."""

    seed_hash: bytes
    root: bytes
    sealed_seed: bytes


@dataclass(frozen=True, slots=True)
class NextCard:
    """One of the next cards of the shoe, its salt and leaf, and both sealed for the case that it goes face down."""

    position: int
    card: Hidden[Card]
    salt: Hidden[bytes]
    leaf: bytes
    sealed_card: bytes


@dataclass(frozen=True, slots=True, repr=False)
class Opened:
    """A whole shoe laid open, for its retirement.

    `out` are the cards that left it by position, `undealt` the others, `roots` and `seed_hashes` what its seeds give.
    """

    seeds: tuple[bytes, ...]
    out: tuple[Card, ...]
    undealt: tuple[Card, ...]
    roots: tuple[bytes, ...]
    seed_hashes: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class CommitShuffle:
    """`ShuffleCards` with the new shoe's id and commitment."""

    request: c.ShuffleCards
    shoe_id: str
    commitment: Commitment


@dataclass(frozen=True, slots=True)
class CommitDiscards:
    """`ReshuffleDiscards` with the commitment to the discards' new order, None when there is nothing to shuffle."""

    request: c.ReshuffleDiscards
    commitment: Commitment | None


@dataclass(frozen=True, slots=True)
class TakeCards:
    """`DrawCards` or `BurnCards` with the next cards; fewer than asked for when the shoe has no more."""

    request: c.DrawCards | c.BurnCards
    next_cards: tuple[NextCard, ...]


@dataclass(frozen=True, slots=True)
class GiveUpShoe:
    """`AbandonShoe` with whether the shoe in play can still be opened."""

    request: c.AbandonShoe
    opens: bool


@dataclass(frozen=True, slots=True)
class AnswerPeek:
    """`PeekCard` with the card at the position, None when there is none."""

    request: c.PeekCard
    hole: Hidden[Card] | None


@dataclass(frozen=True, slots=True)
class OpenCard:
    """`RevealCard` with the card at the position and its proof, None when there is none."""

    request: c.RevealCard
    card: Hidden[Card] | None
    proof: Hidden[CardProof] | None


@dataclass(frozen=True, slots=True)
class OpenShoe:
    """`RetireShoe` with everything that was hidden, None when the shoe is not in play."""

    request: c.RetireShoe
    opened: Hidden[Opened] | None

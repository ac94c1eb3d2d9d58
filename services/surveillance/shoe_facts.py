"""Surveillance's own view of the shoe service's events: the fields that the second opinion needs.

Owns dataclasses only. Positions count from 1 and never repeat in a shoe. No view has a field for sealed bytes:
surveillance has no key and wants none.
"""

from dataclasses import dataclass
from enum import StrEnum

from services.game.cards import Card
from services.game.rule_options import CutCardFirst


class BurnReason(StrEnum):
    """Why cards went to the rack unplayed (30-819)."""

    AFTER_SHUFFLE = "after-shuffle"
    DEALER_CHANGE = "dealer-change"
    BOXED = "boxed"
    SUPERVISOR_ORDER = "supervisor-order"


@dataclass(frozen=True, slots=True)
class DeviceRegistered:
    """A device was enrolled."""

    device_id: str
    electronic: bool
    approval: str


@dataclass(frozen=True, slots=True)
class DeviceInspected:
    """The device passed or failed (30-805)."""

    device_id: str
    gaming_day: str
    passed: bool
    note: str


@dataclass(frozen=True, slots=True)
class DecksLoaded:
    """Whole decks went into the device."""

    device_id: str
    decks: int
    deck_set_ids: tuple[str, ...]
    composition: bytes


@dataclass(frozen=True, slots=True)
class CardsInspected:
    """The cards were found in order (30-815)."""

    dealer: str
    supervisor: str
    decks: int
    composition: bytes


@dataclass(frozen=True, slots=True)
class DecksUnloaded:
    """All decks left the device."""

    deck_set_ids: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True)
class CardsShuffled:
    """A new shoe began; its order is committed."""

    shoe_id: str
    shuffle_id: str
    device_id: str
    continuous: bool
    decks: int
    algorithm: str
    composition: bytes
    seed_hash: bytes
    root: bytes
    min_cut_cards: int
    cut_card_first: CutCardFirst


@dataclass(frozen=True, slots=True)
class CardsCut:
    """The first `depth` cards of a stack went behind the others."""

    shoe_id: str
    stack: int
    depth: int
    cutter: str


@dataclass(frozen=True, slots=True)
class CutCardPlaced:
    """The cutting card was placed."""

    shoe_id: str
    cards_behind: int


@dataclass(frozen=True, slots=True)
class CardDrawn:
    """One card left the shoe for the table."""

    shoe_id: str
    decks: int
    draw_id: str
    round_id: str
    position: int
    face_down: bool
    card: Card | None
    salt: bytes
    leaf: bytes
    left: int
    last_round: bool


@dataclass(frozen=True, slots=True)
class CardBurned:
    """One card went to the discard rack unplayed."""

    shoe_id: str
    burn_id: str
    round_id: str
    reason: BurnReason
    position: int
    face_down: bool
    card: Card | None
    salt: bytes
    leaf: bytes
    left: int
    last_round: bool


@dataclass(frozen=True, slots=True)
class HoleCardChecked:
    """The no-peek device answered yes or no."""

    shoe_id: str
    round_id: str
    position: int
    up_position: int
    makes_blackjack: bool


@dataclass(frozen=True, slots=True)
class CardProof:
    """The proof that a card lay where it was committed to lie (RFC 9162, section 2.1.3)."""

    position: int
    stack: int
    stack_position: int
    size: int
    salt: bytes
    leaf: bytes
    path: tuple[bytes, ...]
    root: bytes


@dataclass(frozen=True, slots=True)
class CardRevealed:
    """A face-down card was turned up."""

    shoe_id: str
    round_id: str
    position: int
    card: Card
    proof: CardProof


@dataclass(frozen=True, slots=True)
class DiscardsReshuffled:
    """The discards became a new stack behind the cards that are left."""

    shoe_id: str
    reshuffle_id: str
    round_id: str
    stack: int
    recycled: tuple[int, ...]
    first_position: int
    size: int
    seed_hash: bytes
    root: bytes


@dataclass(frozen=True, slots=True)
class DiscardsReturned:
    """Cards went back into a continuous shuffler, after `after` draws and burns."""

    shoe_id: str
    return_id: str
    positions: tuple[int, ...]
    after: int


@dataclass(frozen=True, slots=True)
class ShoeRetired:
    """The shoe ended and its seeds are public."""

    shoe_id: str
    decks: int
    seeds: tuple[bytes, ...]
    drawn: int
    burned: int
    undealt: int
    recycled: int
    missing: tuple[Card, ...]
    extra: tuple[Card, ...]
    broken_roots: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ShoeAbandoned:
    """The shoe ended unopened: its key is lost."""

    shoe_id: str
    reason: str
    authorised_by: str
    decks: int
    drawn: int
    burned: int
    undealt: int
    face_down: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ObservedShoeStarted:
    """A physical shoe that devices watch: nothing is committed, nothing can be opened."""

    shoe_id: str
    observation: str
    device_id: str
    decks: int


@dataclass(frozen=True, slots=True)
class CutCardSeen:
    """The cutting card came out of an observed shoe."""

    shoe_id: str
    after: int


@dataclass(frozen=True, slots=True)
class ImpossibleCardSeen:
    """A card of an observed shoe that its decks do not hold: the service says so itself."""

    shoe_id: str
    position: int
    card: Card
    copies: int
    decks: int


@dataclass(frozen=True, slots=True)
class HiddenCardTurned:
    """A card of an observed shoe was turned over."""

    shoe_id: str
    round_id: str
    position: int
    card: Card


@dataclass(frozen=True, slots=True)
class ObservedShoeEnded:
    """The physical cards were taken out."""

    shoe_id: str
    decks: int
    drawn: int
    burned: int
    undealt: int
    unseen: int
    extra: tuple[Card, ...]


VIEWS: tuple[type, ...] = (
    DeviceRegistered,
    DeviceInspected,
    DecksLoaded,
    CardsInspected,
    DecksUnloaded,
    CardsShuffled,
    CardsCut,
    CutCardPlaced,
    CardDrawn,
    CardBurned,
    HoleCardChecked,
    CardRevealed,
    DiscardsReshuffled,
    DiscardsReturned,
    ShoeRetired,
    ShoeAbandoned,
    ObservedShoeStarted,
    CutCardSeen,
    ImpossibleCardSeen,
    HiddenCardTurned,
    ObservedShoeEnded,
)

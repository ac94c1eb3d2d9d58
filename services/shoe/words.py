"""The choices and small records that the shoe's commands, events and answers are made of.

Owns words, no rules: what may follow what is decided in `preparing` and `dealing`.
"""

from dataclasses import dataclass
from enum import StrEnum

from services.game.cards import Card


class DeviceKind(StrEnum):
    """What holds the cards (30-802, 30-805). A continuous shuffler takes discards back and has no cut (30-816)."""

    DEALING_SHOE = "dealing-shoe"
    BATCH_SHUFFLER = "batch-shuffler"
    CONTINUOUS_SHUFFLER = "continuous-shuffler"


class ShoePhase(StrEnum):
    """How far a table's cards are, which is also what comes next.

    NO_DEVICE: register one. EMPTY: load decks. LOADED: inspect the cards. INSPECTED: shuffle. SHUFFLED: let a player
    cut. CUT: place the cutting card. DEALING: deal. LAST_ROUND: finish the round, then retire the shoe and shuffle.
    """

    NO_DEVICE = "no-device"
    EMPTY = "empty"
    LOADED = "loaded"
    INSPECTED = "inspected"
    SHUFFLED = "shuffled"
    CUT = "cut"
    DEALING = "dealing"
    LAST_ROUND = "last-round"


class ShuffleReason(StrEnum):
    """Why cards are shuffled (30-816)."""

    TABLE_OPENED = "table-opened"
    NEW_CARDS = "new-cards"
    CUT_CARD_REACHED = "cut-card-reached"
    HOUSE_CHOICE = "house-choice"
    DEVICE_FAULT = "device-fault"
    SUPERVISOR_ORDER = "supervisor-order"
    REGULATOR_ORDER = "regulator-order"


class BurnReason(StrEnum):
    """Why cards go to the discard rack unplayed (30-819); BOXED is a card found face up in the shoe (30-828)."""

    AFTER_SHUFFLE = "after-shuffle"
    DEALER_CHANGE = "dealer-change"
    BOXED = "boxed"
    SUPERVISOR_ORDER = "supervisor-order"


class RetireReason(StrEnum):
    """Why a shoe ends (30-816)."""

    CUT_CARD_REACHED = "cut-card-reached"
    HOUSE_CHOICE = "house-choice"
    TABLE_CLOSED = "table-closed"
    DEVICE_FAULT = "device-fault"
    SUPERVISOR_ORDER = "supervisor-order"


@dataclass(frozen=True, slots=True)
class DeckSet:
    """One deck as it was counted into the device: its set's id (1 to 40 characters) and its cards in any order."""

    id: str
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Defect:
    """What was found wrong with one deck set (30-815): its id and the finding in words."""

    deck_set_id: str
    finding: str


@dataclass(frozen=True, slots=True)
class CardProof:
    """The proof that a card stood where it was dealt from before the first wager (RFC 9162, section 2.1.3).

    `position` is the shoe position, `stack` counts shuffles within the shoe (0 is the full one), `stack_position` is
    the place in the committed order before the cut, `size` the number of cards committed. `leaf` hashed up along
    `path` gives `root`, which the shuffle published. A continuous shuffler commits to its seed alone: `path` and `root`
    are empty, `leaf` opens the fingerprint of a face-down card, and the rest follows from the seed when it is revealed.
    """

    position: int
    stack: int
    stack_position: int
    size: int
    salt: bytes
    leaf: bytes
    path: tuple[bytes, ...]
    root: bytes

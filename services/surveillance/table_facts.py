"""Surveillance's own view of the table's events outside the round itself; those of the round are in round_facts.

Owns dataclasses only. `session` names a patron's stay, `seat` is where he sits.
"""

from dataclasses import dataclass
from enum import StrEnum

from services.game.cards import Card


class RackChange(StrEnum):
    """Why a rack changed between rounds."""

    BUY_IN = "buy-in"
    CASH_OUT = "cash-out"
    TIP = "tip"


@dataclass(frozen=True, slots=True)
class RulesPosted:
    """A rule set is on display; its canonical text and the text's SHA-256 in hex."""

    name: str
    version: int
    digest: str
    rules_text: str


@dataclass(frozen=True, slots=True)
class LimitsChanged:
    """The posted rules with other limits."""

    digest: str
    rules_text: str


@dataclass(frozen=True, slots=True)
class TableOpened:
    """The table may deal."""

    period: int
    opening: str
    dealer: str


@dataclass(frozen=True, slots=True)
class TableCloseStarted:
    """No more rounds."""

    period: int


@dataclass(frozen=True, slots=True)
class TableClosed:
    """The table is closed."""

    period: int


@dataclass(frozen=True, slots=True)
class DealerChanged:
    """Another dealer took the table."""

    change: int
    dealer: str
    previous: str
    burn: int


@dataclass(frozen=True, slots=True)
class DealerBurnFinished:
    """The burn of a dealer change is over."""

    change: int
    burned: int
    reason: str


@dataclass(frozen=True, slots=True)
class PlayerSeated:
    """A patron took a seat."""

    session: str
    patron: str
    seat: int
    chips_cents: int


@dataclass(frozen=True, slots=True)
class RackOpened:
    """The ledger keeps a rack for the session."""

    session: str


@dataclass(frozen=True, slots=True)
class PlayerLeaving:
    """A patron wants to go."""

    session: str


@dataclass(frozen=True, slots=True)
class PlayerLeft:
    """The seat is free."""

    session: str
    patron: str
    seat: int
    reason: str


@dataclass(frozen=True, slots=True)
class RackChanged:
    """Chips were bought or taken away."""

    session: str
    change: RackChange
    receipt: str
    amount_cents: int
    rack_cents: int


@dataclass(frozen=True, slots=True)
class CashPlayed:
    """A wager was made in cash."""

    round_id: str
    session: str
    seat: int
    kind: str
    receipt: str
    amount_cents: int


@dataclass(frozen=True, slots=True)
class WagerSpoken:
    """A wager was called out."""

    round_id: str
    session: str
    seat: int
    kind: str
    amount_cents: int


@dataclass(frozen=True, slots=True)
class ShoeAssigned:
    """The round is dealt from this shoe."""

    round_id: str
    shoe_id: str
    decks: int
    continuous: bool


@dataclass(frozen=True, slots=True)
class ShuffleBecameDue:
    """No round after this one until the cards are shuffled."""

    round_id: str
    shoe_id: str


@dataclass(frozen=True, slots=True)
class CardsRanShort:
    """The discards were shuffled to finish the round."""

    round_id: str
    reshuffle: str
    needed: int


@dataclass(frozen=True, slots=True)
class StakesReleased:
    """Stakes of a wager that was never recorded went back."""

    round_id: str
    holds: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class DecisionTimedOut:
    """Nobody answered in time: what follows is the system's decision."""

    round_id: str
    turn: int


@dataclass(frozen=True, slots=True)
class TableSuspended:
    """Play stopped."""

    reason: str


@dataclass(frozen=True, slots=True)
class TableResumed:
    """A pit supervisor let play go on."""

    basis: str
    remedy: str


@dataclass(frozen=True, slots=True)
class ObservingStarted:
    """The table is observed from now on."""

    period: int


@dataclass(frozen=True, slots=True)
class IrregularityFound:
    """Something broke the rules and did happen (30-828)."""

    irregularity: int
    round_id: str
    device: str
    device_sequence: int
    broken: str
    message: str
    seat: int
    position: int
    amount_cents: int
    due_cents: int


@dataclass(frozen=True, slots=True)
class CardSetAside:
    """A card that left the shoe belongs to no hand."""

    round_id: str
    shoe_id: str
    position: int
    card: Card | None


VIEWS: tuple[type, ...] = (
    ObservingStarted,
    IrregularityFound,
    CardSetAside,
    RulesPosted,
    LimitsChanged,
    TableOpened,
    TableCloseStarted,
    TableClosed,
    DealerChanged,
    DealerBurnFinished,
    PlayerSeated,
    RackOpened,
    PlayerLeaving,
    PlayerLeft,
    RackChanged,
    CashPlayed,
    WagerSpoken,
    ShoeAssigned,
    ShuffleBecameDue,
    CardsRanShort,
    StakesReleased,
    DecisionTimedOut,
    TableSuspended,
    TableResumed,
)

"""A round as people look at it: every step with the whole felt, the ledger lines and the shoe's events beside it.

Owns the records that `GetRound`, the console, the terminal and JSON share; `hand_history` makes them. Amounts are
integer cents, `due` is exact. Words of phases, outcomes and causes are those of DESIGN §5 and of the round. No record
ever holds a card before the log shows it.
"""

from dataclasses import dataclass
from fractions import Fraction

from services.game.cards import Card


@dataclass(frozen=True, slots=True)
class CardView:
    """A card on the felt by its shoe position; `card` is None while it lies face down."""

    position: int
    card: Card | None


@dataclass(frozen=True, slots=True)
class StakeView:
    """A stake. `outcome`, `cause`, `due` and `returned_cents` are set once it has ended ("" and None before)."""

    kind: str
    ordinal: int
    amount_cents: int
    outcome: str
    cause: str
    due: Fraction | None
    returned_cents: int


@dataclass(frozen=True, slots=True)
class HandView:
    """One hand.

    `total` is as a dealer says it ("soft 17"). `status` is one of playing, stood, natural, bust, doubled, surrendered,
    even-money, voided. `in_turn` marks the hand that is asked.
    """

    hand: int
    cards: tuple[CardView, ...]
    total: str
    status: str
    in_turn: bool
    stakes: tuple[StakeView, ...]


@dataclass(frozen=True, slots=True)
class SeatView:
    """A seat, its hands, and stakes beside them (insurance); `rack_cents` is None until the ledger has named it."""

    seat: int
    patron: str
    rack_cents: int | None
    hands: tuple[HandView, ...]
    beside: tuple[StakeView, ...]


@dataclass(frozen=True, slots=True)
class DealerView:
    """The dealer's cards and their total as far as they are seen."""

    cards: tuple[CardView, ...]
    total: str


@dataclass(frozen=True, slots=True)
class Step:
    """The felt right after one event of the table's stream.

    `number` counts from 1. `event` is the event's short name, `note` says in a sentence what happened. `seat` (0:
    dealer or table) and `hand` say whom it concerned, `card` which card was shown by it. Times are µs since 1970: the
    device's and the writer's.
    """

    number: int
    stream: str
    sequence: int
    event: str
    actor_role: str
    actor_id: str
    occurred_time_us: int
    recorded_time_us: int
    phase: str
    note: str
    seat: int
    hand: int
    card: CardView | None
    dealer: DealerView
    seats: tuple[SeatView, ...]
    staked_cents: int
    returned_cents: int


@dataclass(frozen=True, slots=True)
class EventLine:
    """One event of the round in any of its streams, in log order.

    `step` is the first step in whose picture it counts. `type` is the full type name; `cause_sequence` is 0 where the
    event names no cause; `digest` is SHA-256 over the stored bytes.
    """

    step: int
    stream: str
    sequence: int
    type: str
    note: str
    actor_role: str
    actor_id: str
    request_id: str
    cause_stream: str
    cause_sequence: int
    occurred_time_us: int
    recorded_time_us: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """One movement of money of the round; `step` is the first step in whose picture it counts."""

    step: int
    sequence: int
    recorded_time_us: int
    event: str
    source: str
    target: str
    currency: str
    amount_cents: int
    reason: str
    reference: str


@dataclass(frozen=True, slots=True)
class ShoeLine:
    """One event of the shoe; `position` is 0 where it concerns no card, `card` None where that lies face down.

    `step` is the first step in whose picture it counts.
    """

    step: int
    sequence: int
    recorded_time_us: int
    event: str
    position: int
    card: Card | None
    note: str


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """A round, in progress or complete; `win_cents` is the house's, `rules_text` the canonical text it is dealt under."""

    round_id: str
    table: str
    number: int
    gaming_day: str
    dealer: str
    shoe_id: str
    decks: int
    rules_name: str
    rules_version: int
    rules_digest: str
    rules_text: str
    opened_time_us: int
    ended_time_us: int
    complete: bool
    staked_cents: int
    returned_cents: int
    win_cents: int
    steps: tuple[Step, ...]
    events: tuple[EventLine, ...]
    ledger: tuple[LedgerLine, ...]
    shoe: tuple[ShoeLine, ...]

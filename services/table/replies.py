"""What a table answers and shows, as plain records: the types of its clients. `views` fills them.

No reply ever holds a card that lies face down, nor how the shoe goes on. Amounts are integer cents.
"""

from dataclasses import dataclass

from services.game.cards import Card
from services.game.round_words import Action, HandStatus, SettlementLine, Stake
from services.game.rule_options import Limits
from services.table.readings import ClockAlarm
from services.table.words import SeatPhase, TablePhase, WaitingFor


@dataclass(frozen=True, slots=True)
class Accepted:
    """The command stands: its own events are `first_sequence` to `last_sequence` of `stream`; 0 when it changed nothing."""

    stream: str
    first_sequence: int
    last_sequence: int


@dataclass(frozen=True, slots=True)
class Seated:
    """The patron's session, besides what `Accepted` says."""

    stream: str
    first_sequence: int
    last_sequence: int
    session: str


@dataclass(frozen=True, slots=True)
class BettingOpen:
    """The round that began, besides what `Accepted` says."""

    stream: str
    first_sequence: int
    last_sequence: int
    round_id: str


@dataclass(frozen=True, slots=True)
class RackReply:
    """What the rack holds after a buy-in or cash-out of `amount_cents`."""

    session: str
    receipt: str
    amount_cents: int
    rack_cents: int


@dataclass(frozen=True, slots=True)
class SeatView:
    """A seat that is taken; `may_wager` while betting is open and the session has no wager yet."""

    seat: int
    session: str
    patron: str
    phase: SeatPhase
    may_wager: bool


@dataclass(frozen=True, slots=True)
class HandView:
    """One hand of the round: `hand` counts from 0 at its seat. `total` counts the cards shown; `hidden` lie face down."""

    seat: int
    hand: int
    session: str
    patron: str
    cards: tuple[Card, ...]
    hidden: int
    total: int
    soft: bool
    status: HandStatus
    wager_cents: int
    stakes: tuple[Stake, ...]


@dataclass(frozen=True, slots=True)
class DealerView:
    """A hand of the dealer's: the cards that lie face up, and how many lie face down."""

    cards: tuple[Card, ...]
    hidden: int
    total: int
    soft: bool


@dataclass(frozen=True, slots=True)
class Question:
    """Who is asked, and what may be answered."""

    seat: int
    hand: int
    session: str
    patron: str
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class RoundView:
    """A round, in play or just over.

    `turn` counts its questions from 1 and goes into Act. `deadline_us` is when an open question is answered by the system,
    0 for never. `lines` are the wagers decided so far; `staked_cents` and `returned_cents` their sums once `complete`.
    """

    round_id: str
    shoe_id: str
    decks: int
    rules_digest: str
    turn: int
    deadline_us: int
    questions: tuple[Question, ...]
    hands: tuple[HandView, ...]
    dealer: tuple[DealerView, ...]
    lines: tuple[SettlementLine, ...]
    complete: bool
    staked_cents: int
    returned_cents: int


@dataclass(frozen=True, slots=True)
class TableView:
    """A table as of event `sequence` of its stream.

    `round` is the round in play, or the last one while the table is idle. `waiting_for` names the service without which the
    table cannot go on by itself (it keeps trying), with the reason. `shuffle_due`: no round until the cards are shuffled.
    """

    table: str
    sequence: int
    phase: TablePhase
    suspended: bool
    suspension_reason: str
    waiting_for: WaitingFor
    waiting_reason: str
    rules_name: str
    rules_version: int
    rules_digest: str
    limits: Limits | None
    dealer: str
    shuffle_due: bool
    rounds: int
    seats: tuple[SeatView, ...]
    round: RoundView | None


@dataclass(frozen=True, slots=True)
class TableSummary:
    """One line of a floor's list."""

    table: str
    sequence: int
    phase: TablePhase
    suspended: bool
    waiting_for: WaitingFor
    dealer: str
    players: int
    rounds: int


@dataclass(frozen=True, slots=True)
class TableList:
    """The tables of a floor, by name."""

    tables: tuple[TableSummary, ...]


@dataclass(frozen=True, slots=True)
class DeviceStanding:
    """Every reading of the device up to `recorded_through` is on the log."""

    device: str
    recorded_through: int


@dataclass(frozen=True, slots=True)
class ObservationsRecorded:
    """How far the devices of a call are recorded; what lies beyond is to be sent again."""

    devices: tuple[DeviceStanding, ...]
    repeated_readings: int
    contested: int


@dataclass(frozen=True, slots=True)
class DeviceView:
    """One device as the table knows it; the offset is its clock minus the gateway's, None when it was never measured."""

    device: str
    recorded_through: int
    clock_offset_us: int | None
    clock: ClockAlarm
    last_received_time_us: int


@dataclass(frozen=True, slots=True)
class DeviceList:
    """The devices of a table, by name."""

    devices: tuple[DeviceView, ...]

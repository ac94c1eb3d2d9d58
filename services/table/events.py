"""Everything that happens at a table, on one screen; those of the round itself are in services/game/round_events.

Each is a fact on the stream `table:<floor>/<table>`. A rule set is recorded as its whole canonical text, so that every round
can be replayed from the log alone. No event names a card that lies face down.
"""

from dataclasses import dataclass

from services.game import round_events
from services.game.round_events import RoundEvent
from services.game.rule_options import Limits
from services.table.observation_events import (
    OBSERVED_EVENTS,
    CardSetAside,
    DeviceClockAlarmed,
    DeviceEvent,
    DeviceHistoryLost,
    IrregularityFound,
    ObservationContested,
    ObservationRecorded,
    ObservedEvent,
    ObservingStarted,
)
from services.table.words import RackChange

__all__ = [
    "CardSetAside",
    "DeviceClockAlarmed",
    "DeviceEvent",
    "DeviceHistoryLost",
    "IrregularityFound",
    "ObservationContested",
    "ObservationRecorded",
    "ObservingStarted",
]


@dataclass(frozen=True, slots=True)
class RulesPosted:
    """A rule set and its notices are on display (30-803(3)); `rules_text` is its canonical text, `digest` its SHA-256."""

    name: str
    version: int
    digest: str
    rules_text: str
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableOpened:
    """The tray stands counted in the ledger under `opening`, and the table may deal. `period` counts openings from 1."""

    period: int
    opening: str
    dealer: str


@dataclass(frozen=True, slots=True)
class TableCloseStarted:
    """No more rounds; the ledger is being closed under `closing`."""

    period: int
    closing: str


@dataclass(frozen=True, slots=True)
class TableClosed:
    """The tray is gone; the table may be opened again."""

    period: int


@dataclass(frozen=True, slots=True)
class LimitsAnnounced:
    """New limits were announced; they hold from the first round opened at or after `effective_from_us` (30-809)."""

    limits: Limits
    effective_from_us: int


@dataclass(frozen=True, slots=True)
class LimitsChanged:
    """The announced limits hold from now on: the same rules with other limits, and so another text and digest."""

    limits: Limits
    digest: str
    rules_text: str


@dataclass(frozen=True, slots=True)
class DealerChanged:
    """Another dealer took the table; `burn` cards go to the discard rack by the house's rule (30-819)."""

    change: int
    dealer: str
    previous: str
    burn: int


@dataclass(frozen=True, slots=True)
class DealerBurnFinished:
    """The burn of a dealer change is over: `burned` cards, 0 when the shoe had none to burn, for the `reason` given."""

    change: int
    burned: int
    reason: str


@dataclass(frozen=True, slots=True)
class PlayerSeated:
    """A patron took a seat, with chips that he brought along. `session` names this stay for ever, the seat does not."""

    session: str
    patron: str
    seat: int
    chips_cents: int


@dataclass(frozen=True, slots=True)
class RackOpened:
    """The wager service keeps a rack for the session: it may stake."""

    session: str


@dataclass(frozen=True, slots=True)
class PlayerLeaving:
    """A patron wants to go; he goes when no stake of his is in play."""

    session: str


@dataclass(frozen=True, slots=True)
class PlayerLeft:
    """The seat is free. `reason` is empty, or says why the session could not begin."""

    session: str
    patron: str
    seat: int
    reason: str


@dataclass(frozen=True, slots=True)
class RackChanged:
    """Chips were bought (30-831), taken away or given to the dealers; `receipt` names the act in the ledger's stream."""

    session: str
    change: RackChange
    receipt: str
    amount_cents: int
    rack_cents: int


@dataclass(frozen=True, slots=True)
class CashPlayed:
    """The wager that follows was made in cash, which the purchase `receipt` turned into chips (30-809, 30-831)."""

    round_id: str
    session: str
    seat: int
    kind: str
    receipt: str
    amount_cents: int


@dataclass(frozen=True, slots=True)
class WagerSpoken:
    """The wager that follows was called out, and the dealer heard it (30-809)."""

    round_id: str
    session: str
    seat: int
    kind: str
    amount_cents: int


@dataclass(frozen=True, slots=True)
class ShoeAssigned:
    """The round is dealt from this shoe, of so many decks; a continuous shuffler takes the cards back after the round."""

    round_id: str
    shoe_id: str
    decks: int
    continuous: bool


@dataclass(frozen=True, slots=True)
class ShuffleBecameDue:
    """The cutting card came: no round after this one until the cards are shuffled (30-816)."""

    round_id: str
    shoe_id: str


@dataclass(frozen=True, slots=True)
class CardsRanShort:
    """Fewer than `needed` cards were left: the discards were shuffled and cut to finish the round (30-828)."""

    round_id: str
    reshuffle: str
    needed: int


@dataclass(frozen=True, slots=True)
class StakesReleased:
    """Stakes held for a wager that was never recorded went back to their racks (L9); the ids are not used again."""

    round_id: str
    holds: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class DecisionTimerStarted:
    """Whoever is asked has until `deadline_us` by the table's clock. `turn` counts the round's questions from 1."""

    round_id: str
    turn: int
    deadline_us: int


@dataclass(frozen=True, slots=True)
class DecisionTimedOut:
    """Nobody answered in time: the events that follow are the system's decision (stand, or no insurance)."""

    round_id: str
    turn: int
    deadline_us: int


@dataclass(frozen=True, slots=True)
class TableSuspended:
    """Play stopped: something is wrong. Only a pit supervisor lets it go on (30-828(1))."""

    reason: str


@dataclass(frozen=True, slots=True)
class TableResumed:
    """A pit supervisor let play go on: on which `basis`, and what was done about it (`remedy`)."""

    basis: str
    remedy: str


@dataclass(frozen=True, slots=True)
class NothingChanged:
    """A command's effect stood already. Recorded where the command, repeated later, could act after all (DESIGN §3)."""

    command: str


TABLE_EVENTS: tuple[type, ...] = (
    RulesPosted,
    TableOpened,
    TableCloseStarted,
    TableClosed,
    LimitsAnnounced,
    LimitsChanged,
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
    DecisionTimerStarted,
    DecisionTimedOut,
    TableSuspended,
    TableResumed,
    NothingChanged,
)

EVENTS: tuple[type, ...] = (*TABLE_EVENTS, *OBSERVED_EVENTS, *round_events.EVENTS)

OwnEvent = (
    RulesPosted
    | TableOpened
    | TableCloseStarted
    | TableClosed
    | LimitsAnnounced
    | LimitsChanged
    | DealerChanged
    | DealerBurnFinished
    | PlayerSeated
    | RackOpened
    | PlayerLeaving
    | PlayerLeft
    | RackChanged
    | CashPlayed
    | WagerSpoken
    | ShoeAssigned
    | ShuffleBecameDue
    | CardsRanShort
    | StakesReleased
    | DecisionTimerStarted
    | DecisionTimedOut
    | TableSuspended
    | TableResumed
    | NothingChanged
)
TableEvent = OwnEvent | ObservedEvent | RoundEvent

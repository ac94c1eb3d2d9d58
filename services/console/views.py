"""What the pages show, as plain records: the console's own words, filled from the replies of the services' clients.

Owns the shape of a picture, a row and a page. Promises that a picture depends on nothing but its record, so that the same
step of a round is the same SVG for ever. Money is integer cents, times are µs since 1970-01-01T00:00Z, 0 where unknown.
Computes nothing and calls nobody.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CardView:
    """One card: `text` such as "As", None face down. `position` is its place in the shoe, 0 where unknown.

    `fresh` marks the card that came with this step; `sideways` the one card of a double.
    """

    text: str | None
    position: int = 0
    fresh: bool = False
    sideways: bool = False


@dataclass(frozen=True, slots=True)
class StakeView:
    """Chips staked: the wager kind ("main", "double", …) and the amount in cents; `outcome` is "" until decided."""

    kind: str
    cents: int
    outcome: str = ""
    net_cents: int = 0


@dataclass(frozen=True, slots=True)
class HandView:
    """One hand of a seat or of the dealer.

    `total` is 0 with no card shown; `outcome` is "" until decided, then a word such as "win"; `net_cents` is what the
    hand won or lost, meaningful only with an outcome. `note` is a short state ("stands", "bust").
    """

    number: int
    cards: tuple[CardView, ...] = ()
    total: int = 0
    soft: bool = False
    blackjack: bool = False
    stakes: tuple[StakeView, ...] = ()
    active: bool = False
    note: str = ""
    outcome: str = ""
    net_cents: int = 0

    @property
    def stake_cents(self) -> int:
        """All stakes of the hand together."""
        return sum(stake.cents for stake in self.stakes)


@dataclass(frozen=True, slots=True)
class SeatView:
    """A seat in the round or at the table.

    `rack_cents` is the patron's free chips, None where unknown; `beside` what is staked beside the hands (insurance).
    """

    number: int
    patron: str = ""
    rack_cents: int | None = None
    hands: tuple[HandView, ...] = ()
    beside: tuple[StakeView, ...] = ()
    active: bool = False


@dataclass(frozen=True, slots=True)
class ShoeView:
    """How far the shoe is dealt: cards gone of `size`, the cut card after `cut_at` (0: unknown)."""

    shoe: str
    dealt: int
    size: int
    cut_at: int = 0


@dataclass(frozen=True, slots=True)
class FeltView:
    """One picture of a table: everything `felt.draw_felt` draws, and nothing else is drawn.

    `lettering` is what the cloth says (pay, soft 17, insurance); `turn` whose move it is, in words; `seat_count` how many
    places the table has.
    """

    table: str
    round: str = ""
    phase: str = ""
    turn: str = ""
    seat_count: int = 7
    dealer: tuple[HandView, ...] = ()
    seats: tuple[SeatView, ...] = ()
    shoe: ShoeView | None = None
    lettering: str = ""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A table in the floor overview. Percentages are in basis points; None: not known or nothing to divide by."""

    key: str
    status: str
    phase: str
    game: str
    minimum_cents: int
    maximum_cents: int
    seats_open: int
    seats_in_play: int
    rounds: int
    rounds_per_hour: int | None
    handle_cents: int
    win_cents: int
    drop_cents: int
    shoe: ShoeView | None
    findings: int
    last_event_us: int
    last_round: str = ""

    @property
    def floor(self) -> str:
        """The floor's name."""
        return self.key.partition("/")[0]

    @property
    def table(self) -> str:
        """The table's name on its floor."""
        return self.key.partition("/")[2]


@dataclass(frozen=True, slots=True)
class FloorView:
    """A floor and its tables, by name."""

    name: str
    zone: str
    gaming_day: str
    tables: tuple[TableRow, ...]

    @property
    def handle_cents(self) -> int:
        """All stakes of the floor's tables."""
        return sum(row.handle_cents for row in self.tables)

    @property
    def win_cents(self) -> int:
        """What the floor's tables kept."""
        return sum(row.win_cents for row in self.tables)

    @property
    def drop_cents(self) -> int:
        """Cash in the floor's drop boxes."""
        return sum(row.drop_cents for row in self.tables)

    @property
    def rounds(self) -> int:
        """Rounds dealt on the floor."""
        return sum(row.rounds for row in self.tables)

    @property
    def seats_in_play(self) -> int:
        """Seats with a wager or a patron."""
        return sum(row.seats_in_play for row in self.tables)

    @property
    def seats_open(self) -> int:
        """Places at the floor's tables."""
        return sum(row.seats_open for row in self.tables)

    @property
    def findings(self) -> int:
        """Findings that name one of the floor's tables."""
        return sum(row.findings for row in self.tables)


@dataclass(frozen=True, slots=True)
class RoundRow:
    """A round in a list: where, when, how it went. `dealer` is the dealer's cards as text, "" while hidden."""

    id: str
    started_us: int
    ended_us: int
    seats: int
    hands: int
    dealer: tuple[str, ...]
    dealer_total: int
    handle_cents: int
    win_cents: int
    status: str
    outcomes: tuple[tuple[str, int], ...] = ()
    findings: int = 0

    @property
    def table(self) -> str:
        """The table's key."""
        return self.id.partition("#")[0]

    @property
    def number(self) -> str:
        """The round's number at its table."""
        return self.id.partition("#")[2]


@dataclass(frozen=True, slots=True)
class TablePage:
    """A table as it is now: its row, the picture, its latest rounds (newest first) and its money, as name and amount."""

    row: TableRow
    zone: str
    gaming_day: str
    felt: FeltView
    recent: tuple[RoundRow, ...] = ()
    money: tuple[tuple[str, int], ...] = ()
    rules: "RulesView | None" = None
    findings: tuple["FindingView", ...] = ()


@dataclass(frozen=True, slots=True)
class HandQuery:
    """What the hand search asks. "" or None asks nothing; times are µs, stakes cents; pages are counted from 1."""

    table: str = ""
    floor: str = ""
    from_us: int | None = None
    to_us: int | None = None
    seat: int | None = None
    patron: str = ""
    cards: tuple[str, ...] = ()
    minimum_cents: int | None = None
    maximum_cents: int | None = None
    outcome: str = ""
    page: int = 1


@dataclass(frozen=True, slots=True)
class HandPage:
    """One page of found rounds; `total` is how many there are in all, None where that is not known."""

    rounds: tuple[RoundRow, ...]
    page: int
    more: bool
    total: int | None = None


@dataclass(frozen=True, slots=True)
class EventView:
    """One event of the log. `step` is the first step of the replay in whose picture it counts."""

    step: int
    stream: str
    sequence: int
    type: str
    sentence: str
    occurred_us: int
    recorded_us: int
    actor_role: str
    actor_id: str
    request_id: str
    cause: str = ""
    digest: str = ""

    @property
    def area(self) -> str:
        """The service whose event it is: "shoe", "table" or "wager"."""
        return self.stream.partition(":")[0]

    @property
    def name(self) -> str:
        """The event's name without its package."""
        return self.type.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """One movement of money: `cents` of `currency` from `source` to `target`."""

    step: int
    sequence: int
    source: str
    target: str
    currency: str
    cents: int
    reason: str
    reference: str


@dataclass(frozen=True, slots=True)
class ShoeLine:
    """Where a shoe position went; `card` None while nobody may see it. `step` is that of its showing."""

    step: int
    position: int
    card: str | None
    to: str


@dataclass(frozen=True, slots=True)
class RulesView:
    """The rule set in force: what is posted, and every option as name and value."""

    name: str
    version: int
    digest: str
    notices: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    lettering: str = ""


@dataclass(frozen=True, slots=True)
class StepView:
    """One step of a replay: what happened, in a sentence, and the picture after it."""

    index: int
    sentence: str
    at_us: int
    felt: FeltView


@dataclass(frozen=True, slots=True)
class FindingView:
    """What the second opinion found: the broken law and what it says, where, and the event that shows it."""

    id: str
    law: str
    table: str
    round: str
    sentence: str
    found_us: int
    event: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class FindingPage:
    """The newest findings; `total` is how many there are in all."""

    findings: tuple[FindingView, ...]
    total: int


@dataclass(frozen=True, slots=True)
class RoundPage:
    """A round with everything that the replay page shows."""

    id: str
    status: str
    zone: str
    gaming_day: str
    started_us: int
    ended_us: int
    handle_cents: int
    win_cents: int
    steps: tuple[StepView, ...]
    events: tuple[EventView, ...]
    ledger: tuple[LedgerLine, ...] = ()
    shoe: tuple[ShoeLine, ...] = ()
    rules: RulesView | None = None
    findings: tuple[FindingView, ...] = ()
    previous: str = ""
    next: str = ""

    @property
    def table(self) -> str:
        """The table's key."""
        return self.id.partition("#")[0]

    @property
    def number(self) -> str:
        """The round's number at its table."""
        return self.id.partition("#")[2]

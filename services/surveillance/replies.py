"""What surveillance is asked and what it answers, as plain records; those of a round's replay are in `records`.

Owns shapes only. Amounts are integer cents, times µs since 1970, 0 where there is none. In a question, what is empty or
0 asks nothing.
"""

from dataclasses import dataclass
from fractions import Fraction

from services.game.cards import Card
from services.surveillance.records import RoundRecord


@dataclass(frozen=True, slots=True)
class ListRounds:
    """Ask for rounds, newest first; `limit` is 1 to 500, 0 is 50.

    `cards` must all be in one hand, or among the dealer's, each as often as it is named: "As" is that card, "A" any ace.
    `outcome` is a word such as "blackjack"; "voided" asks for hands and rounds that were called off.
    """

    floor: str = ""
    gaming_day: str = ""
    from_time_us: int = 0
    to_time_us: int = 0
    seat: int = 0
    patron: str = ""
    cards: tuple[str, ...] = ()
    minimum_stake_cents: int = 0
    maximum_stake_cents: int = 0
    outcome: str = ""
    limit: int = 0
    cursor: str = ""
    skip: int = 0


@dataclass(frozen=True, slots=True)
class HandSummary:
    """A hand in a list; the seat's insurance stands with its first hand."""

    seat: int
    hand: int
    patron: str
    cards: tuple[Card, ...]
    total: int
    status: str
    outcome: str
    wager_cents: int
    staked_cents: int
    returned_cents: int
    insurance_cents: int
    insurance_returned_cents: int


@dataclass(frozen=True, slots=True)
class RoundSummary:
    """A round in a list. `status` is open, complete or voided; `findings` counts broken laws about it."""

    round_id: str
    table: str
    floor: str
    number: int
    gaming_day: str
    opened_time_us: int
    ended_time_us: int
    status: str
    suspended: bool
    dealer: str
    shoe_id: str
    rules_name: str
    rules_version: int
    dealer_cards: tuple[Card, ...]
    dealer_total: int
    seats: int
    hands: tuple[HandSummary, ...]
    staked_cents: int
    returned_cents: int
    win_cents: int
    findings: int


@dataclass(frozen=True, slots=True)
class RoundList:
    """One page of rounds; `next_cursor` is empty on the last. `total` is how many fit in all, 100,000 for that or more."""

    rounds: tuple[RoundSummary, ...]
    next_cursor: str
    total: int


@dataclass(frozen=True, slots=True)
class GetRound:
    """Ask for one round."""

    round_id: str


@dataclass(frozen=True, slots=True)
class FindingView:
    """A broken law, with what the law says."""

    id: str
    law: str
    title: str
    stream: str
    sequence: int
    table: str
    round_id: str
    reason: str
    recorded_time_us: int


@dataclass(frozen=True, slots=True)
class RoundFound:
    """A round, what was found about it, and the table's rounds before and after it."""

    record: RoundRecord
    findings: tuple[FindingView, ...]
    previous: str
    next: str


@dataclass(frozen=True, slots=True)
class ListTables:
    """Ask for the tables of a floor, or of all."""

    floor: str = ""


@dataclass(frozen=True, slots=True)
class SeatOverview:
    """Who sits at a table, and his chips."""

    seat: int
    session: str
    patron: str
    leaving: bool
    rack_cents: int
    in_play_cents: int
    since_time_us: int


@dataclass(frozen=True, slots=True)
class TableOverview:
    """A table as it stands; money and counts are those of its gaming day.

    `hold` is win / drop and `win_per_handle` win / handle, None while there is nothing to divide by. `tray_cents` is
    what a count of the tray would find. `rounds_per_hour` is over the last hour, or since the first round in it. `events` is
    how many the table's three streams hold.
    """

    table: str
    floor: str
    open: bool
    phase: str
    suspension: str
    dealer: str
    rules_name: str
    rules_version: int
    rules_digest: str
    minimum_cents: int
    maximum_cents: int
    round_id: str
    shoe_id: str
    shoe_cards: int
    shoe_left: int
    shuffled_time_us: int
    gaming_day: str
    seats_open: int
    seats: tuple[SeatOverview, ...]
    rounds: int
    hands: int
    handle_cents: int
    win_cents: int
    drop_cents: int
    hold: Fraction | None
    win_per_handle: Fraction | None
    tray_cents: int
    opener_cents: int
    racks_cents: int
    escrow_cents: int
    fills_cents: int
    credits_cents: int
    rounds_per_hour: int
    average_wager_cents: int
    findings: int
    last_event_time_us: int
    last_event_age_us: int
    events: int


@dataclass(frozen=True, slots=True)
class TableList:
    """Tables by key."""

    tables: tuple[TableOverview, ...]


@dataclass(frozen=True, slots=True)
class WatchFloor:
    """Ask for the tables of a floor, or of all, and their changes."""

    floor: str = ""


@dataclass(frozen=True, slots=True)
class FloorChange:
    """What changed since the change before: tables as they stand now, rounds that ended, what was found."""

    tables: tuple[TableOverview, ...]
    ended_rounds: tuple[str, ...]
    findings: tuple[FindingView, ...]


@dataclass(frozen=True, slots=True)
class ListFindings:
    """Ask for broken laws, newest first; `limit` is 1 to 500, 0 is 50."""

    law: str = ""
    floor: str = ""
    round_id: str = ""
    limit: int = 0
    cursor: str = ""


@dataclass(frozen=True, slots=True)
class FindingList:
    """One page of findings; `total` is how many fit in all."""

    findings: tuple[FindingView, ...]
    next_cursor: str
    total: int


@dataclass(frozen=True, slots=True)
class GetLag:
    """Ask how far surveillance is behind the journal."""


@dataclass(frozen=True, slots=True)
class PartitionLag:
    """How far one partition is projected and audited, and where it ends."""

    partition: int
    projected_offset: int
    audited_offset: int
    end_offset: int


@dataclass(frozen=True, slots=True)
class PartitionOwner:
    """Who writes a partition of a cluster's journal, by the latest claim that surveillance has read.

    `records_behind` is what the read model does not have yet, `snapshot_age_us` the age of surveillance's own snapshot.
    `stopped` says why nothing of it is read any more, "" when all is well.
    """

    partition: int
    topic: str
    kafka_partition: int
    owner: str
    address: str
    epoch: int
    claimed_time_us: int
    records_behind: int
    void_batches: int
    snapshot_age_us: int | None
    stopped: str


@dataclass(frozen=True, slots=True)
class Lag:
    """How far surveillance is.

    `lag_us` is for how long something has been in the journal that is not in the read model. `stands_by` says that another
    process writes the read model, and this one only answers from it.
    """

    healthy: bool
    reason: str
    events_projected: int
    duplicates: int
    gaps_mended: int
    partitions: tuple[PartitionLag, ...]
    lag_events: int
    lag_us: int
    findings: int
    stands_by: bool = False
    owners: tuple[PartitionOwner, ...] = ()


@dataclass(frozen=True, slots=True)
class GetMeters:
    """Ask for the meters of a floor, of all floors (""), or of the table that the request names."""

    floor: str = ""


@dataclass(frozen=True, slots=True)
class MeterRow:
    """The meters of a floor, of a table (`table` set), or of a dealer at a table (`dealer` set) on a gaming day.

    Amounts are cents. `hold` is win per drop, `win_per_handle` win per stakes; both unset without a divisor. `timeouts` are
    decisions of the system, `releases` stakes given back that no wager stood for. `dealing_us` is the time of dealing that
    `rounds_per_hour` is counted over. Money is known by table, not by dealer.
    """

    floor: str
    gaming_day: str
    table: str
    dealer: str
    rounds: int
    hands: int
    cards: int
    handle_cents: int
    win_cents: int
    drop_cents: int
    irregularities: int
    timeouts: int
    releases: int
    dealing_us: int
    rounds_per_hour: int
    hold: Fraction | None
    win_per_handle: Fraction | None


@dataclass(frozen=True, slots=True)
class StuckRoundView:
    """A round that has been still for `still_us`, longer than its phase may last (`limit_us`)."""

    round_id: str
    table: str
    phase: str
    still_us: int
    limit_us: int


@dataclass(frozen=True, slots=True)
class MeterBoard:
    """The meters, each floor on its newest gaming day, and the rounds that are stuck; `open_rounds` counts those in play."""

    floors: tuple[MeterRow, ...]
    tables: tuple[MeterRow, ...]
    dealers: tuple[MeterRow, ...]
    stuck: tuple[StuckRoundView, ...]
    open_rounds: int

"""What a stream adds to its table's meters, event by event: the one fold that workers, rebuilds and checks share.

Owns the formulas: handle (all stakes that were settled), win (stakes less what came back, corrections included), drop
(cash into the box), hands, rounds an hour, irregularities, and where an open round stands. Each stream is folded by
itself, so that the order in which a table's streams arrive changes nothing; a table's meters are the sums over its
streams, a floor's the sums over its tables. Amounts are integer cents, times µs. Refusals change nothing and are in no
log: the services count them (`holecard_refusals_total`). Pure.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from services.game.quick import replace
from services.surveillance import round_facts, table_facts, wager_facts
from services.surveillance.facts import Fact
from services.surveillance.wager_facts import Currency, Direction

HOUR_US = 3_600_000_000
LONGEST_PAUSE_US = 600_000_000
"""A pause between two rounds that is longer belongs to no dealer's pace: the table stood."""

Bucket = tuple[str, str]
"""A gaming day, and the dealer; "" where the stream does not know who deals."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What was counted; every field adds up.

    `timeouts` are decisions that the system made for a player, `releases` stakes given back that no wager stood for.
    `dealing_us` is the time in which rounds were dealt, the pauses between them included unless the table stood.
    """

    rounds: int = 0
    hands: int = 0
    cards: int = 0
    handle_cents: int = 0
    win_cents: int = 0
    drop_cents: int = 0
    irregularities: int = 0
    timeouts: int = 0
    releases: int = 0
    dealing_us: int = 0

    def __add__(self, other: "Figures") -> "Figures":
        return Figures(*(getattr(self, name) + getattr(other, name) for name in NAMES))

    @property
    def hold(self) -> Fraction | None:
        """Win as a share of the drop, None without drop; dirty, since chips come and go: see `win_per_handle`."""
        return Fraction(self.win_cents, self.drop_cents) if self.drop_cents else None

    @property
    def win_per_handle(self) -> Fraction | None:
        """Win as a share of all stakes, None without stakes."""
        return Fraction(self.win_cents, self.handle_cents) if self.handle_cents else None

    @property
    def rounds_per_hour(self) -> int:
        """Rounds an hour of dealing, rounded down; 0 before the first round has ended."""
        return self.rounds * HOUR_US // self.dealing_us if self.dealing_us else 0


NAMES = tuple(entry.name for entry in dataclasses.fields(Figures))


_NOTHING = Figures()


@dataclass(frozen=True, slots=True)
class StreamState:
    """What the fold must remember of a stream: its last event (`hash` in hex), and its table's round in play.

    `round_id` and `phase` are "" between rounds; `moved_time_us` is when the round last went on, `seated` how many may wager
    in it, `hands` how many it has so far, `ended_time_us` when the round before ended (0: none).
    """

    sequence: int = 0
    hash: str = ""
    recorded_time_us: int = 0
    dealer: str = ""
    round_id: str = ""
    phase: str = ""
    seated: int = 0
    hands: int = 0
    opened_time_us: int = 0
    moved_time_us: int = 0
    ended_time_us: int = 0
    suspended: bool = False


@dataclass(frozen=True, slots=True)
class Meters:
    """A stream's meters: where it stands, and its figures by gaming day and dealer."""

    stream: StreamState = StreamState()
    figures: Mapping[Bucket, Figures] = field(default_factory=dict)


def evolve(meters: Meters, fact: Fact) -> Meters:
    """Take the stream's next event."""
    state, added = _step(meters.stream, fact)
    figures = meters.figures
    if added is not None and added != _NOTHING:
        bucket = (fact.envelope.gaming_day, meters.stream.dealer)
        figures = {**figures, bucket: figures.get(bucket, Figures()) + added}
    return Meters(state, figures)


def fold(facts: Iterable[Fact]) -> dict[str, Meters]:
    """The meters of every stream, from the log's beginning."""
    found: dict[str, Meters] = {}
    for fact in facts:
        found[fact.stream] = evolve(found.get(fact.stream, Meters()), fact)
    return found


def _step(state: StreamState, fact: Fact) -> tuple[StreamState, Figures | None]:
    envelope = fact.envelope
    state = replace(state, sequence=envelope.sequence, hash=fact.hash.hex(), recorded_time_us=envelope.recorded_time_us)
    if fact.event is None:
        return state, None
    if fact.area == "table":
        return _at_table(state, fact)
    if fact.area == "wager":
        return state, _money(fact.event)
    return state, None


# The table's stream: rounds, pace, irregularities ------------------------------------------------------------------------


def _at_table(state: StreamState, fact: Fact) -> tuple[StreamState, Figures | None]:
    event, now_us = fact.event, fact.envelope.recorded_time_us
    if state.round_id and fact.envelope.round_id == state.round_id:
        state = replace(state, moved_time_us=now_us)
    match event:
        case table_facts.TableOpened() | table_facts.DealerChanged():
            return replace(state, dealer=event.dealer), None
        case table_facts.TableSuspended():
            return replace(state, suspended=True, moved_time_us=now_us), Figures(irregularities=1)
        case table_facts.TableResumed():
            return replace(state, suspended=False, moved_time_us=now_us), None
        case table_facts.DecisionTimedOut():
            return state, Figures(timeouts=1)
        case table_facts.StakesReleased():
            return state, Figures(releases=len(event.holds))
        case round_facts.RoundOpened():
            seated = sum(not player.sat_out for player in event.seats)
            opened = replace(state, round_id=event.round_id, phase="BETTING", seated=seated, hands=0)
            return replace(opened, opened_time_us=now_us, moved_time_us=now_us), None
        case round_facts.RoundCompleted():
            dealt = Figures(rounds=1, hands=state.hands, dealing_us=_dealing_us(state, now_us))
            over = replace(state, round_id="", phase="", seated=0, hands=0, opened_time_us=0, moved_time_us=0)
            return replace(over, ended_time_us=now_us), dealt
        case round_facts.HandVoided() | round_facts.RoundVoided():
            return _moved(state, event), Figures(irregularities=1)
        case round_facts.CardDealt():
            return _moved(state, event), Figures(cards=1)
        case _:
            return _moved(state, event), None


def _moved(state: StreamState, event: Any) -> StreamState:
    """The round's phase after an event; in the words of DESIGN §5."""
    match event:
        case round_facts.BettingClosed():
            return replace(state, phase="DEALING", hands=len(event.seats))
        case round_facts.InsurancePlaced() | round_facts.InsuranceDeclined() | round_facts.EvenMoneyTaken():
            return replace(state, phase="INSURANCE")
        case round_facts.InsuranceClosed():
            return replace(state, phase="PEEK")
        case round_facts.HoleChecked():
            return replace(state, phase="DEALER" if event.makes_blackjack else "PLAYERS")
        case round_facts.HandSplit():
            return replace(state, phase="PLAYERS", hands=state.hands + 1)
        case (
            round_facts.HandHit()
            | round_facts.HandStood()
            | round_facts.HandDoubled()
            | round_facts.HandSurrendered()
            | round_facts.SurrenderDeclined()
        ):
            return replace(state, phase="PLAYERS")
        case round_facts.HoleRevealed():
            return replace(state, phase="DEALER")
        case round_facts.RoundVoided():
            return replace(state, phase="SETTLING")
        # Side stakes end early: what ends while players are asked is no settling of the round.
        case round_facts.WagersSettled() if state.phase == "DEALER":
            return replace(state, phase="SETTLING")
        case round_facts.CardsPickedUp():
            return replace(state, phase="PICKUP")
        case _:
            return state


def _dealing_us(state: StreamState, ended_us: int) -> int:
    """The round's own time, and the pause before it unless the table stood; a clock that was set back counts nothing."""
    pause_us = state.opened_time_us - state.ended_time_us if state.ended_time_us else 0
    counted = pause_us if 0 <= pause_us <= LONGEST_PAUSE_US else 0
    return max(0, ended_us - state.opened_time_us) + counted


# The ledger's stream: money ------------------------------------------------------------------------------------------------


def _money(event: Any) -> Figures:
    dropped = sum(
        movement.amount_cents
        for movement in event.movements
        if movement.currency is Currency.CASH and movement.target == "drop"
    )
    cash = Figures(drop_cents=dropped)
    match event:
        case wager_facts.RoundSettled():
            stakes = sum(line.stake_cents for line in event.lines)
            returned = sum(line.returned_cents for line in event.lines)
            return cash + Figures(handle_cents=stakes, win_cents=stakes - returned)
        case wager_facts.PaymentCorrected():
            given = event.amount_cents if event.direction is Direction.PAY else -event.amount_cents
            return cash + Figures(win_cents=-given, irregularities=1)
        case _:
            return cash

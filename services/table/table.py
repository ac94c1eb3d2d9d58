"""A table's state: what folding its events gives.

Owns the shape of the state and `evolve`, decides nothing (see `seating`, `playing`, `pit`). Immutable; the same events
always give the same state. Knows no card that lies face down.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any

from services.game import round as game
from services.game import round_events as re
from services.game.quick import quick, replace
from services.game.round_state import Round
from services.game.round_words import Action, Phase, SettlementLine
from services.game.rule_options import Limits
from services.game.rules import HouseRules, recorded_rules
from services.table import events as e
from services.table.device_log import Devices, evolve_devices
from services.table.watch import Watch
from services.table.words import SeatPhase

# Old enough that nobody repeats it any more; the wager service remembers receipts longer than that.
RECEIPTS_REMEMBERED = 256


@dataclass(frozen=True, slots=True)
class SeatSession:
    """One patron's stay on a seat. `chips_cents` is what he brought along."""

    session: str
    patron: str
    seat: int
    phase: SeatPhase
    chips_cents: int


@dataclass(frozen=True, slots=True)
class Decision:
    """One answer of the round: what was chosen for which hand, and the extra stake of it."""

    seat: int
    hand: int
    action: Action
    amount_cents: int = 0


@dataclass(frozen=True, slots=True)
class Timer:
    """Until when the question `turn` may be answered, µs since 1970 by the table's clock."""

    turn: int
    deadline_us: int


@dataclass(frozen=True, slots=True)
class Play:
    """What the table remembers about its round besides the round itself."""

    round: Round
    players: Mapping[int, str]
    """The patron by seat, for every seat with a wager."""
    shoe: e.ShoeAssigned | None = None
    decisions: tuple[Decision, ...] = ()
    cards: int = 0
    """How many cards were dealt in it."""
    lines: tuple[SettlementLine, ...] = ()
    released: frozenset[str] = frozenset()
    """Hold ids that were given back and are not used again."""
    reshuffles: int = 0
    timer: Timer | None = None

    @property
    def id(self) -> str:
        """The round's id."""
        return self.round.round_id

    @property
    def live(self) -> bool:
        """Whether it is not over yet."""
        return self.round.phase is not Phase.COMPLETE

    @property
    def turn(self) -> int:
        """The number of the question that is open, or comes next."""
        return len(self.decisions) + 1


@dataclass(frozen=True, slots=True)
class Table:
    """A table after some event of its stream. `play` is the round in play, or the last one."""

    key: str
    rules: HouseRules | None = None
    period: int = 0
    is_open: bool = False
    closing: str = ""
    dealer: str = ""
    dealer_changes: int = 0
    burn_due: int = 0
    """Cards still to burn for the last dealer change."""
    announced: e.LimitsAnnounced | None = None
    sessions: int = 0
    """How many sessions began at this table."""
    seats: tuple[SeatSession, ...] = ()
    """By seat."""
    rounds: int = 0
    play: Play | None = None
    played: frozenset[str] = frozenset()
    """The patrons of the last round that was dealt."""
    spent_shoe: str = ""
    """The shoe whose cutting card came."""
    suspended: str = ""
    """Why play stopped, empty while it goes on."""
    receipts: tuple[str, ...] = ()
    devices: Devices = field(default_factory=dict)
    """How far the readings of each device are recorded, by its name."""
    watch: Watch = field(default_factory=Watch)
    """What is remembered of an observed table."""

    @property
    def live(self) -> Play | None:
        """The round in play, None between rounds."""
        return self.play if self.play is not None and self.play.live else None

    def session(self, session: str) -> SeatSession | None:
        """The stay of that name while it lasts."""
        return next((seat for seat in self.seats if seat.session == session), None)

    def of_patron(self, patron: str) -> SeatSession | None:
        """The patron's stay."""
        return next((seat for seat in self.seats if seat.patron == patron), None)

    def at(self, seat: int) -> SeatSession | None:
        """Who sits there."""
        return next((taken for taken in self.seats if taken.seat == seat), None)

    def has_stake(self, patron: str) -> bool:
        """Whether the patron has a wager in the round in play."""
        return self.live is not None and patron in self.live.players.values()


def empty(key: str) -> Table:
    """The table before its first event."""
    return Table(key)


def round_of(table: Table, event: e.TableEvent) -> str:
    """The id of the round that the event belongs to, "" outside rounds."""
    named: str | None = getattr(event, "round_id", None)
    if named is not None:
        return named
    if (
        isinstance(event, _ROUND_EVENTS | e.ObservationRecorded | e.TableSuspended | e.TableResumed)
        and table.live is not None
    ):
        return table.live.id
    return ""


def evolve(table: Table, event: e.TableEvent) -> Table:
    """Fold one recorded event; a recorded event is a fact, so nothing is checked here."""
    match event:
        case re.RoundOpened():
            return _round_opened(table, event)
        case e.PlayerSeated() | e.RackOpened() | e.PlayerLeaving() | e.PlayerLeft() | e.RackChanged():
            return _seats_changed(table, event)
        case (
            e.ShoeAssigned() | e.CardsRanShort() | e.StakesReleased() | e.DecisionTimerStarted() | e.DecisionTimedOut()
        ):
            return _play_changed(table, event)
        case e.ObservationRecorded() | e.ObservationContested() | e.DeviceClockAlarmed() | e.DeviceHistoryLost():
            return _seen(table, event)
        case e.ObservingStarted():
            return replace(table, watch=Watch(observed=True, irregularities=table.watch.irregularities))
        case e.IrregularityFound():
            return replace(table, watch=table.watch.irregular(event))
        case e.CardSetAside():
            return table
        case _:
            return _round_went_on(table, event) if isinstance(event, _ROUND_EVENTS) else _table_changed(table, event)


_ROUND_EVENTS = re.RoundEvent
# A restart folds everything that ever happened at a table, nearly all of it in rounds: there `replace` is half the time.
_table: Any = quick(Table)
_play = quick(Play)
_NAMES = [named.name for named in fields(Table)]
_BEFORE_PLAY: Any = attrgetter(*_NAMES[: _NAMES.index("play")])
_AFTER_PLAY: Any = attrgetter(*_NAMES[_NAMES.index("play") + 1 :])
_PlayEvent = e.ShoeAssigned | e.CardsRanShort | e.StakesReleased | e.DecisionTimerStarted | e.DecisionTimedOut
_SeatEvent = e.PlayerSeated | e.RackOpened | e.PlayerLeaving | e.PlayerLeft | e.RackChanged


def _table_changed(table: Table, event: e.OwnEvent) -> Table:
    match event:
        case e.RulesPosted():
            return replace(table, rules=recorded_rules(event.rules_text), announced=None)
        case e.LimitsAnnounced():
            return replace(table, announced=event)
        case e.LimitsChanged():
            return replace(table, rules=recorded_rules(event.rules_text), announced=None)
        case e.TableOpened():
            return replace(table, is_open=True, period=event.period, dealer=event.dealer)
        case e.TableCloseStarted():
            return replace(table, is_open=False, closing=event.closing)
        case e.TableClosed():
            return replace(table, closing="", suspended="", watch=replace(table.watch, observed=False))
        case e.DealerChanged():
            return replace(table, dealer=event.dealer, dealer_changes=event.change, burn_due=event.burn)
        case e.DealerBurnFinished():
            return replace(table, burn_due=0)
        case e.ShuffleBecameDue():
            return replace(table, spent_shoe=event.shoe_id)
        case _:
            return _stopped_or_resumed(table, event)


def _stopped_or_resumed(table: Table, event: e.OwnEvent) -> Table:
    match event:
        case e.NothingChanged() | e.CashPlayed() | e.WagerSpoken():
            # How a wager was made is for the record; what stands is the wager itself.
            return table
        case e.TableSuspended():
            return replace(table, suspended=event.reason)
        case e.TableResumed():
            # Time spent suspended is nobody's thinking time: an open question gets a new deadline.
            play = None if table.play is None else replace(table.play, timer=None)
            return replace(table, suspended="", play=play, watch=table.watch.resumed())
        case _:
            raise LookupError(f"{type(event).__name__} is not an event of a table")


def _seen(table: Table, event: e.DeviceEvent) -> Table:
    devices = evolve_devices(table.devices, event)
    if not isinstance(event, e.ObservationRecorded) or not table.watch.observed:
        return replace(table, devices=devices)
    betting = table.live is None or table.live.round.phase is Phase.BETTING
    return replace(table, devices=devices, watch=table.watch.seen(event.observation.reading, betting=betting))


def _seats_changed(table: Table, event: _SeatEvent) -> Table:
    match event:
        case e.PlayerSeated():
            stay = SeatSession(event.session, event.patron, event.seat, SeatPhase.ARRIVING, event.chips_cents)
            seats = tuple(sorted((*table.seats, stay), key=lambda taken: taken.seat))
            return replace(table, seats=seats, sessions=table.sessions + 1)
        case e.RackOpened():
            return _with_phase(table, event.session, SeatPhase.SEATED)
        case e.PlayerLeaving():
            return _with_phase(table, event.session, SeatPhase.LEAVING)
        case e.PlayerLeft():
            seats = tuple(stay for stay in table.seats if stay.session != event.session)
            play = table.play
            if play is not None and play.round.phase is Phase.BETTING:
                # Whoever takes the seat now may wager on it in this very round (30-807, 30-809).
                play = replace(play, round=game.seat_freed(play.round, event.seat))
            return replace(table, seats=seats, play=play)
        case e.RackChanged():
            return replace(table, receipts=(*table.receipts, event.receipt)[-RECEIPTS_REMEMBERED:])


def _with_phase(table: Table, session: str, phase: SeatPhase) -> Table:
    # One who leaves before his rack was opened stays LEAVING when it is.
    seats = tuple(
        replace(stay, phase=phase) if stay.session == session and stay.phase is not SeatPhase.LEAVING else stay
        for stay in table.seats
    )
    return replace(table, seats=seats)


def _round_opened(table: Table, event: re.RoundOpened) -> Table:
    if table.rules is None:
        raise LookupError(f"round {event.round_id} was opened without rules")
    return replace(table, rounds=table.rounds + 1, play=Play(game.begin(event, table.rules), {}))


def _round_went_on(table: Table, event: re.RoundEvent) -> Table:
    play = table.play
    if play is None:
        raise LookupError(f"{type(event).__name__} outside a round")
    decision = _decision(event)
    decisions = play.decisions if decision is None else (*play.decisions, decision)
    players, cards, lines, timer = play.players, play.cards, play.lines, None
    match event:
        case re.CardDealt():
            cards += 1
        case re.WagerPlaced():
            players = {**players, event.seat: event.player}
        case re.WagersSettled():
            lines = (*lines, *event.lines)
        case re.InsurancePlaced() | re.InsuranceDeclined() | re.EvenMoneyTaken():
            # One offer to all seats: its deadline stays until the last has answered.
            timer = play.timer
        case re.BettingClosed():
            table = replace(table, played=frozenset(players.values()), watch=table.watch.closed())
        case _:
            pass
    round_ = game.evolve(play.round, event)
    after = _play(round_, players, play.shoe, decisions, cards, lines, play.released, play.reshuffles, timer)
    changed: Table = _table(*_BEFORE_PLAY(table), after, *_AFTER_PLAY(table))
    return changed


def _decision(event: re.RoundEvent) -> Decision | None:
    """The answer that the event records, if it is one."""
    match event:
        case re.InsurancePlaced():
            return Decision(event.seat, event.hand, Action.INSURE, event.amount_cents)
        case re.InsuranceDeclined():
            return Decision(event.seat, event.hand, Action.DECLINE_INSURANCE)
        case re.EvenMoneyTaken():
            return Decision(event.seat, event.hand, Action.EVEN_MONEY)
        case re.SurrenderDeclined():
            return Decision(event.seat, event.hand, Action.DECLINE_SURRENDER)
        case re.HandHit():
            return Decision(event.seat, event.hand, Action.HIT)
        case re.HandStood():
            return Decision(event.seat, event.hand, Action.STAND)
        case re.HandDoubled():
            return Decision(event.seat, event.hand, Action.DOUBLE, event.amount_cents)
        case re.HandSplit():
            return Decision(event.seat, event.hand, Action.SPLIT, event.amount_cents)
        case re.HandSurrendered():
            return Decision(event.seat, event.hand, Action.SURRENDER)
        case _:
            return None


def _play_changed(table: Table, event: _PlayEvent) -> Table:
    play = table.play
    if play is None:
        raise LookupError(f"{type(event).__name__} outside a round")
    match event:
        case e.ShoeAssigned():
            before = play.shoe
            after = replace(play, shoe=event)
            if before is not None and before.shoe_id != event.shoe_id and play.round.phase is Phase.BETTING:
                after = replace(after, round=game.shuffled_anew(play.round))
        case e.CardsRanShort():
            after = replace(play, reshuffles=play.reshuffles + 1)
        case e.StakesReleased():
            after = replace(play, released=play.released.union(event.holds))
        case e.DecisionTimerStarted():
            after = replace(play, timer=Timer(event.turn, event.deadline_us))
        case _:
            after = replace(play, timer=None)
    return replace(table, play=after)


def with_limits(rules: HouseRules, limits: Limits) -> HouseRules:
    """The same rules with other limits; raises LimitsContradict."""
    return replace(rules, limits=limits)

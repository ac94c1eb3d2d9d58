"""The table's use cases: take the turn, ask whom must be asked first, decide, record, answer, and play on.

Owns the order of these steps. Promises: a wager is recorded only after its chips are held; an answer depends only on the
command's own events; a command that is recorded is answered as accepted even when dealing on fails, which is then tried
again in the background, visibly (`TableView.waiting_for`); a repeated command gets the same answer.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

import structlog

from services.game.authority import CommandContext
from services.journal.errors import JournalError
from services.journal.kafka_errors import PartitionNotOwned
from services.journal.port import Journal
from services.runtime.aggregate import AggregateHost, Outcome
from services.runtime.clock import Clock, GamingCalendar
from services.runtime.failures import CallFailed, NotFound, ServiceUnavailable
from services.runtime.snapshots import StateSnapshots
from services.runtime.table_key import check_table_key, floor_of
from services.runtime.telemetry import Telemetry
from services.shoe import client as shoe
from services.table import client
from services.table import commands as c
from services.table import events as e
from services.table import replies as a
from services.table.board import Board
from services.table.cashier import Cashier, Notes, counts, rack_reply
from services.table.conductor import Conductor, TableTurn
from services.table.contexts import Contexts
from services.table.deciding import decider
from services.table.holds import new_stakes
from services.table.intake import Intake
from services.table.metrics import TableMetrics
from services.table.opening import counted_in
from services.table.pacing import Pacer
from services.table.pit import nothing_changed
from services.table.playing import check_opening, shoe_may_change
from services.table.readiness import why_not_ready
from services.table.stakes import Waiting
from services.table.table import Table
from services.table.views import summary_of
from services.table.words import WaitingFor
from services.table.work import next_work
from services.wager import client as wager
from services.wire.refusal import Refused

A = TypeVar("A")
TableOutcome = Outcome[Table, e.TableEvent]
Decided = Callable[[TableTurn, CommandContext], Awaitable[TableOutcome]]
_ELSEWHERE = (Refused, ServiceUnavailable, CallFailed)
_STREAM = "table:"

log = structlog.get_logger(__name__)


class TableService:
    """Every table whose stream `journal` holds. Call `start` once, and `stop` at the end."""

    def __init__(
        self,
        journal: Journal,
        shoes: shoe.ShoeClient,
        ledgers: wager.WagerClient,
        *,
        clock: Clock,
        telemetry: Telemetry | None = None,
        calendars: Mapping[str, GamingCalendar] | None = None,
        snapshots: StateSnapshots | None = None,
    ) -> None:
        self._journal = journal
        self._host: AggregateHost[Table, c.Command, e.TableEvent] = AggregateHost(journal, decider(), snapshots)
        self.load = self._host.take_up
        self._shoes = shoes
        self._ledgers = ledgers
        self._contexts = Contexts(clock, calendars)
        self._board = Board()
        self._metrics = TableMetrics(telemetry or Telemetry(), self._board)
        self._found: set[str] = set()
        self._conductor = Conductor(shoes, ledgers, self._contexts, self._published)
        self._cashier = Cashier(ledgers, self._contexts, self._conductor, self._recorded)
        self._pacer = Pacer(self._contexts.now_us, self.resume, self.expire)
        self.intake = Intake(self._host, self._conductor, shoes, ledgers, self._contexts, self._published)

    async def start(self) -> None:
        """Take up every table of the journal."""
        self.take_up(head.stream for head in await self._journal.streams())

    def take_up(self, streams: Iterable[str]) -> None:
        """Take tables up where their logs end: open rounds go on by themselves, timers run on; passes other streams over."""
        keys = {stream.removeprefix(_STREAM) for stream in streams if stream.startswith(_STREAM)}
        self._found |= keys
        for key in keys:
            self._pacer.try_again(key, at_once=True)

    def let_go(self, streams: Collection[str]) -> None:
        """Leave tables to another owner: nothing goes on here by itself, and nobody is shown them."""
        for key in {stream.removeprefix(_STREAM) for stream in streams if stream.startswith(_STREAM)}:
            self._found.discard(key)
            self._pacer.drop(key)
            self._board.forget(key)
        self._host.let_go(streams)

    async def stop(self) -> None:
        """End what runs in the background; what is open goes on at the next start."""
        await self._pacer.stop()

    # Commands that need nobody else ---------------------------------------------------------------------------------

    async def plain(self, table: str, context: CommandContext, command: c.PublicCommand) -> a.Accepted:
        """Every command that is answered with where its events stand."""
        return await self._carry_out(table, context, self._deciding(command), _accepted)

    async def change_limits(self, table: str, context: CommandContext, command: c.ChangeLimits) -> a.Accepted:
        """Announce other limits, from the table's own time on."""
        announced = c.AnnounceLimits(command, self._contexts.now_us())
        return await self._carry_out(table, context, self._deciding(announced), _accepted)

    async def seat_player(self, table: str, context: CommandContext, command: c.SeatPlayer) -> a.Seated:
        """Seat a patron."""

        def seated(outcome: TableOutcome) -> a.Seated:
            stay = outcome.state.of_patron(command.patron)
            session = next((event.session for event in outcome.events if isinstance(event, e.PlayerSeated)), "")
            session = session or (stay.session if stay else "")
            return a.Seated(outcome.stream, outcome.first_sequence, outcome.last_sequence, session)

        return await self._carry_out(table, context, self._deciding(command), seated)

    # Commands that ask others first ---------------------------------------------------------------------------------

    async def open_table(self, table: str, context: CommandContext, command: c.OpenTable) -> a.Accepted:
        """Count the tray in, then open."""

        async def opened(turn: TableTurn, context: CommandContext) -> TableOutcome:
            events = turn.decide(command, context)
            opening = await counted_in(turn, counts(command.tray), self._ledgers, self._contexts)
            events = tuple(
                replace(event, opening=opening) if isinstance(event, e.TableOpened) else event for event in events
            )
            return await self._recorded(turn, events, context)

        return await self._carry_out(table, context, opened, _accepted)

    async def void(self, table: str, context: CommandContext, command: c.VoidHand | c.VoidRound) -> a.Accepted:
        """Call hands a push, once the cards that left the shoe for this round lie on the felt (30-828(1))."""

        async def voided(turn: TableTurn, context: CommandContext) -> TableOutcome:
            turn.decide(command, context)
            await self._conductor.lay_what_is_out(turn)
            return await self._recorded(turn, turn.decide(command, context), context)

        return await self._carry_out(table, context, voided, _accepted)

    async def open_betting(self, table: str, context: CommandContext, _command: c.OpenBetting) -> a.BettingOpen:
        """Ask the shoe whether it can deal, then begin the round."""

        async def opened(turn: TableTurn, context: CommandContext) -> TableOutcome:
            if check_opening(turn.state, context) and not shoe_may_change(turn.state):
                return await self._recorded(turn, nothing_changed(c.OpenBetting), context)
            status = await self._shoes.get_shoe(turn.key)
            refusal = why_not_ready(status, turn.state)
            now_us = self._contexts.now_us()
            round_ = c.OpenRound(now_us, status.shoe_id, status.decks, status.continuous, refusal)
            return await self._recorded(turn, turn.decide(round_, context), context)

        def open_round(outcome: TableOutcome) -> a.BettingOpen:
            play = outcome.state.play
            round_id = play.id if play is not None else ""
            return a.BettingOpen(outcome.stream, outcome.first_sequence, outcome.last_sequence, round_id)

        return await self._carry_out(table, context, opened, open_round)

    async def buy_in(self, table: str, context: CommandContext, command: c.BuyIn) -> a.RackReply:
        """Cash for chips, while no stake of the patron is in play (30-831)."""
        notes: Notes = []
        way = self._cashier.buy_in(command, notes)
        return await self._carry_out(table, context, way, lambda outcome: rack_reply(outcome, notes))

    async def cash_out(self, table: str, context: CommandContext, command: c.CashOut) -> a.RackReply:
        """Chips away, while no stake of the patron is in play."""
        notes: Notes = []
        way = self._cashier.cash_out(command, notes)
        return await self._carry_out(table, context, way, lambda outcome: rack_reply(outcome, notes))

    async def give_tip(self, table: str, context: CommandContext, command: c.GiveTip) -> a.RackReply:
        """Chips to the dealers, where tips are accepted (30-803(3)(i))."""
        notes: Notes = []
        way = self._cashier.give_tip(command, notes)
        return await self._carry_out(table, context, way, lambda outcome: rack_reply(outcome, notes))

    async def play_cash(self, table: str, context: CommandContext, command: c.PlayCash) -> a.Accepted:
        """A wager in cash, where cash plays are accepted (30-809, 30-831)."""
        return await self._carry_out(table, context, self._cashier.play_cash(command), _accepted)

    # Queries --------------------------------------------------------------------------------------------------------

    async def get_table(self, table: str, _query: client.GetTable) -> a.TableView:
        """The table as it stands; raises NotFound."""
        await self._shown(table)
        view = self._board.view(table)
        if view is None:
            raise NotFound(f"{table} was never opened")
        return view

    async def watch_table(self, table: str, query: client.WatchTable) -> AsyncIterator[a.TableView]:
        """The table now and after every change; raises NotFound."""
        await self._shown(table)
        async for view in self._board.watch(table, query.after_sequence):
            yield view

    async def list_tables(self, _table: str, query: client.ListTables) -> a.TableList:
        """The tables of a floor that this process owns, by name."""
        keys = self._found | set(self._board.keys())
        summaries = []
        for key in sorted(key for key in keys if floor_of(key) == query.floor):
            with suppress(PartitionNotOwned):
                await self._shown(key)
            view = self._board.view(key)
            if view is not None:
                summaries.append(summary_of(view))
        return a.TableList(tuple(summaries))

    async def _shown(self, key: str) -> None:
        tenure = await self._journal.tenure(f"{_STREAM}{check_table_key(key)}")
        if self._board.knows(key) and self._host.tenure_of(key) == tenure:
            return
        async with self._host.turn(key) as turn:
            if turn.last_event is None:
                raise NotFound(f"{key} was never opened")
            self._board.publish(turn.state, turn.last_event.sequence)

    # Going on by itself ---------------------------------------------------------------------------------------------

    async def resume(self, key: str) -> bool:
        """Play the table on from where its log ends; False when it has to be tried again."""
        try:
            async with self._host.turn(key) as turn:
                if turn.last_event is None:
                    return True
                self._board.publish(turn.state, turn.last_event.sequence)
                return await self._play_on(turn)
        except PartitionNotOwned as error:
            log.info("a table goes on elsewhere", table=key, owner=error.owner)
            return True
        except JournalError as error:
            self._board.wait_for(key, WaitingFor.JOURNAL, str(error))
        except Exception:
            # A fault at one table is logged and tried again, and holds up no other.
            log.exception("a table cannot go on", table=key)
            self._board.wait_for(key, WaitingFor.SUPERVISOR, "a fault in the table service; its log says which")
        return False

    async def expire(self, key: str) -> None:
        """Answer for those whose time has passed, if it has: the system's decision, recorded as such (D03)."""
        async with self._host.turn(key) as turn:
            play = turn.state.live
            if play is None or play.timer is None:
                return
            command = c.ExpireDecision(play.id, play.timer.deadline_us, self._contexts.now_us())
            events = turn.decide(command, self._contexts.own(turn))
            if events:
                await self._conductor.record(turn, events)
            if not await self._play_on(turn):
                self._pacer.try_again(key)

    async def _play_on(self, turn: TableTurn) -> bool:
        """Let the conductor do what can be done; False when somebody is missing."""
        try:
            await self._conductor.play_on(turn)
        except Waiting as waiting:
            log.info("a table waits", table=turn.key, whom=waiting.whom.value, reason=waiting.reason)
            self._board.wait_for(turn.key, waiting.whom, waiting.reason)
            return False
        self._board.wait_for(turn.key, WaitingFor.NOBODY, "")
        play = turn.state.live
        timer = play.timer if play is not None and not turn.state.suspended else None
        self._pacer.alarm(turn.key, timer.deadline_us if timer is not None else 0)
        return True

    # ----------------------------------------------------------------------------------------------------------------

    def _deciding(self, command: c.Command) -> Decided:
        """Decide, hold the stakes of what was decided, record."""

        async def decided(turn: TableTurn, context: CommandContext) -> TableOutcome:
            while True:
                events = turn.decide(command, context)
                released = await self._conductor.stakes.hold(turn, new_stakes(turn.state, events))
                if released is None:
                    return await self._recorded(turn, events, context)
                await self._conductor.record(turn, (released,))

        return decided

    async def _carry_out(
        self, key: str, context: CommandContext, decided: Decided, answer: Callable[[TableOutcome], A]
    ) -> A:
        """One command in the table's turn, then the table plays on; raises Rejection, Refused or ServiceUnavailable."""
        replies: list[A] = []
        failure: Exception | None = None
        try:
            async with self._host.turn(key) as turn:
                outcome = await turn.repeated(context)
                if outcome is None:
                    await self._catch_up(turn)
                    try:
                        outcome = await decided(turn, context)
                    except _ELSEWHERE as elsewhere:
                        # Nothing was recorded here, so the state in memory is still the log's.
                        failure = elsewhere
                if outcome is not None:
                    replies.append(answer(outcome))
                if not await self._play_on(turn):
                    self._pacer.try_again(key)
        except Exception as error:
            if not replies:
                raise
            # The command stands; only what follows from it is late.
            log.warning("a table will go on later", table=key, reason=str(error))
            if isinstance(error, JournalError):
                self._board.wait_for(key, WaitingFor.JOURNAL, str(error))
            self._pacer.try_again(key)
        if failure is not None:
            raise failure
        return replies[0]

    async def _catch_up(self, turn: TableTurn) -> None:
        """Before deciding, do what was left undone by a crash; a table that is being tried again already is left to that."""
        if next_work(turn.state) is not None and not self._pacer.is_trying(turn.key) and not await self._play_on(turn):
            self._pacer.try_again(turn.key)

    async def _recorded(
        self, turn: TableTurn, events: tuple[e.TableEvent, ...], context: CommandContext
    ) -> TableOutcome:
        outcome = await turn.record(events, context)
        self._published(turn.key, outcome)
        return outcome

    def _published(self, _key: str, outcome: TableOutcome) -> None:
        if outcome.last_sequence:
            more_follows = next_work(outcome.state) is not None
            self._board.publish(outcome.state, outcome.last_sequence, more_follows=more_follows)
            self._metrics.count(outcome.events)


def _accepted(outcome: TableOutcome) -> a.Accepted:
    return a.Accepted(outcome.stream, outcome.first_sequence, outcome.last_sequence)

"""Chips, cash and tips at the table: what the ledger does while the table holds its turn (30-803(3)(i), 30-809, 30-831).

Owns the calls to the ledger for it, and the order in which they are recorded. Promises that no stake comes between, that one
receipt is one act whoever repeats it, and that cash on the felt is in the drop box, its chips out of the tray, before the
wager stands. What may be done is decided in `seating`.
"""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import replace

from services.game.authority import CommandContext
from services.runtime.aggregate import Outcome
from services.runtime.failures import ServiceUnavailable
from services.table import commands as c
from services.table import events as e
from services.table import replies as a
from services.table.conductor import Conductor, TableTurn
from services.table.contexts import Contexts
from services.table.holds import new_stakes
from services.table.rejections import ReceiptUsed
from services.table.seating import cash_play_wager, check_rack_change, check_tip
from services.table.stakes import Waiting
from services.table.table import Table
from services.table.words import ChipCount, RackChange
from services.wager import client as wager
from services.wire.refusal import Refused

TableOutcome = Outcome[Table, e.TableEvent]
Recorded = Callable[[TableTurn, tuple[e.TableEvent, ...], CommandContext], Awaitable[TableOutcome]]
Decided = Callable[[TableTurn, CommandContext], Awaitable[TableOutcome]]
CarryOut = Callable[[str, CommandContext], Awaitable[c.NoteRackChange]]
Notes = list[c.NoteRackChange]
"""What the ledger answered, for the reply: an act that was noted before leaves no event to read it from."""


class Cashier:
    """Gives each command of chips and cash the way in which the table carries it out."""

    def __init__(
        self, ledgers: wager.WagerClient, contexts: Contexts, conductor: Conductor, recorded: Recorded
    ) -> None:
        self._ledgers = ledgers
        self._contexts = contexts
        self._conductor = conductor
        self._recorded = recorded

    def buy_in(self, command: c.BuyIn, notes: Notes) -> Decided:
        """Cash for chips, while no stake of the patron is in play (30-831)."""
        return self._rack_change(command, self._bought(command), notes)

    def cash_out(self, command: c.CashOut, notes: Notes) -> Decided:
        """Chips away, while no stake of the patron is in play."""
        asked = wager.CashOut(command.receipt, command.session, command.amount_cents)

        async def taken(key: str, context: CommandContext) -> c.NoteRackChange:
            receipt = await self._ledgers.cash_out(key, context, asked)
            return c.NoteRackChange(
                receipt.session, RackChange.CASH_OUT, receipt.cash_out, receipt.amount_cents, receipt.rack_cents
            )

        return self._rack_change(command, taken, notes)

    def give_tip(self, command: c.GiveTip, notes: Notes) -> Decided:
        """Chips to the dealers, in the table's own name: the ledger does not know what is posted (30-803(3)(i))."""
        asked = wager.GiveTip(command.receipt, command.session, command.amount_cents)

        async def given(turn: TableTurn, context: CommandContext) -> TableOutcome:
            check_tip(turn.state, command, context)
            call = self._contexts.call(turn, f"{turn.key}/tip/{_digest(command)}")
            receipt = await self._ledgers.give_tip(turn.key, call, asked)
            note = c.NoteRackChange(
                receipt.session, RackChange.TIP, receipt.tip, receipt.amount_cents, receipt.rack_cents
            )
            return await self._noted(turn, context, note, notes)

        return given

    def play_cash(self, command: c.PlayCash) -> Decided:
        """A wager in cash: the notes go into the drop box for chips, and the chips are the wager (30-809, 30-831)."""

        async def played(turn: TableTurn, context: CommandContext) -> TableOutcome:
            placing = cash_play_wager(turn.state, command, context)
            if not turn.decide(placing, context):
                return await self._recorded(turn, (), context)
            if command.receipt in turn.state.receipts:
                # Purchase and wager are one record, so this one's cash was played before: there is none to count now.
                raise ReceiptUsed(f"{command.receipt!r} was noted before", receipt=command.receipt[:200])
            buying = c.BuyIn(command.receipt, command.session, command.cash, placing.wagers[0].amount_cents)
            check_rack_change(turn.state, buying, context)
            bought = turn.decide(await self._carried_out(turn, context, buying, self._bought(buying)), context)
            return await self._staked(turn, context, command, placing, bought)

        return played

    async def _staked(
        self,
        turn: TableTurn,
        context: CommandContext,
        command: c.PlayCash,
        placing: c.PlaceWagers,
        bought: tuple[e.TableEvent, ...],
    ) -> TableOutcome:
        """Hold the stake, then record purchase and wager together: one request, one record, whole or not at all."""
        while True:
            events = turn.decide(placing, context)
            released = await self._conductor.stakes.hold(turn, new_stakes(turn.state, events))
            if released is not None:
                await self._conductor.record(turn, (released,))
                continue
            asked = placing.wagers[0]
            cash = e.CashPlayed(
                placing.round_id, asked.session, asked.seat, asked.kind, command.receipt, asked.amount_cents
            )
            return await self._recorded(turn, (*bought, cash, *events), context)

    def _bought(self, command: c.BuyIn) -> CarryOut:
        asked = wager.BuyIn(command.receipt, command.session, counts(command.cash), command.chips_cents)

        async def bought(key: str, context: CommandContext) -> c.NoteRackChange:
            receipt = await self._ledgers.buy_in(key, context, asked)
            return c.NoteRackChange(
                receipt.session, RackChange.BUY_IN, receipt.buy_in, receipt.chips_cents, receipt.rack_cents
            )

        return bought

    def _rack_change(self, command: c.BuyIn | c.CashOut, carry_out: CarryOut, notes: Notes) -> Decided:
        """The money moves in the name of who asked; the table holds its turn, so that no stake comes between."""

        async def changed(turn: TableTurn, context: CommandContext) -> TableOutcome:
            check_rack_change(turn.state, command, context)
            note = await self._carried_out(turn, context, command, carry_out)
            return await self._noted(turn, context, note, notes)

        return changed

    async def _carried_out(
        self, turn: TableTurn, context: CommandContext, command: c.BuyIn | c.CashOut, carry_out: CarryOut
    ) -> c.NoteRackChange:
        # One receipt is one act, whoever repeats it: the id tells only identical calls of one person apart from others.
        request_id = f"{turn.key}/rack/{_digest((command, context.actor))}"
        asked = replace(context, request_id=request_id, cause=turn.last_event)
        try:
            return await carry_out(turn.key, asked)
        except Refused as refused:
            # The table knows of no stake, so it can only be one that a crash kept from being recorded.
            if refused.name != "StakeInPlay" or not await self._given_back(turn):
                raise
            return await carry_out(turn.key, replace(asked, cause=turn.last_event))

    async def _noted(
        self, turn: TableTurn, context: CommandContext, note: c.NoteRackChange, notes: Notes
    ) -> TableOutcome:
        notes.append(note)
        events = turn.decide(note, context)
        # An act that was noted before is answered from the ledger's receipt, again and again: no outcome is kept for it.
        return await self._recorded(turn, events, context) if events else Outcome(turn.stream, turn.state, (), 0, 0)

    async def _given_back(self, turn: TableTurn) -> bool:
        try:
            return await self._conductor.released(turn, "chips are bought")
        except Waiting as waiting:
            raise ServiceUnavailable(waiting.reason) from waiting


def counts(chips: tuple[ChipCount, ...]) -> tuple[wager.Count, ...]:
    """Chips or notes in the ledger's words."""
    return tuple(wager.Count(count.denomination_cents, count.quantity) for count in chips)


def rack_reply(outcome: TableOutcome, notes: Notes) -> a.RackReply:
    """What the rack held after the act, by its event or else by the ledger's answer."""
    for event in outcome.events:
        if isinstance(event, e.RackChanged):
            return a.RackReply(event.session, event.receipt, event.amount_cents, event.rack_cents)
    note = notes[0]
    return a.RackReply(note.session, note.receipt, note.amount_cents, note.rack_cents)


def _digest(content: object) -> str:
    return hashlib.sha256(repr(content).encode()).hexdigest()[:24]

"""The wager's use cases: one ledger for each table, asked one command at a time.

Owns the event types of the area and the host of its ledgers. Promises what `AggregateHost` promises: answers are durable,
and a repeated command is answered as the first time, a hold only while it stands. Does not know gRPC.
"""

from collections.abc import Callable, Collection
from typing import TypeVar

from services.game.authority import CommandContext
from services.journal.port import Journal, StreamHead
from services.runtime.aggregate import AggregateHost, Decider
from services.runtime.snapshots import StateSnapshots
from services.runtime.table_key import check_table_key
from services.wager import client, commands, receipts, replies, statements
from services.wager.commands import Command
from services.wager.events import EVENTS, WagerEvent
from services.wager.ledger import Ledger, decide, evolve, round_of
from services.wire.registry import EventTypes

C = TypeVar("C", bound=Command)
A = TypeVar("A")


def wager_events() -> EventTypes[WagerEvent]:
    """The events of stream `wager:<floor>/<table>` in every version that was ever published."""
    return EventTypes("holecard.wager.v1", EVENTS)


class WagerService:
    """Every chip of the tables whose streams `journal` holds. See `commands` for what each use case means."""

    def __init__(self, journal: Journal, *, snapshots: StateSnapshots | None = None) -> None:
        self._host: AggregateHost[Ledger, Command, WagerEvent] = AggregateHost(
            journal,
            Decider(
                area="wager",
                initial=Ledger.of,
                decide=decide,
                evolve=evolve,
                events=wager_events(),
                round_of=round_of,
            ),
            snapshots,
        )

    async def load(self, heads: Collection[StreamHead]) -> None:
        """Read what these streams hold into memory in one go, as far as they are this service's."""
        await self._host.take_up(heads)

    def let_go(self, streams: Collection[str]) -> None:
        """Drop the ledgers of these streams from memory: another process keeps them now."""
        self._host.let_go(streams)

    def escrow_cents(self) -> int:
        """All stakes in play, of the ledgers in memory; safe to ask from any thread."""
        return sum(ledger.escrow_cents for ledger in self._host.states())

    async def open_ledger(
        self, table: str, context: CommandContext, command: commands.OpenLedger
    ) -> replies.OpeningReceipt:
        """Count the tray in."""
        return await self._carry_out(table, context, command, receipts.opening)

    async def close_ledger(
        self, table: str, context: CommandContext, command: commands.CloseLedger
    ) -> replies.ClosingReceipt:
        """Send tray, drop box and tips away."""
        return await self._carry_out(table, context, command, receipts.closing)

    async def open_seat_session(
        self, table: str, context: CommandContext, command: commands.OpenSeatSession
    ) -> replies.SessionReceipt:
        """A patron sits down."""
        return await self._carry_out(table, context, command, receipts.session)

    async def buy_in(self, table: str, context: CommandContext, command: commands.BuyIn) -> replies.BuyInReceipt:
        """Cash for chips (30-831)."""
        return await self._carry_out(table, context, command, receipts.buy_in)

    async def bring_chips(
        self, table: str, context: CommandContext, command: commands.BringChips
    ) -> replies.SightingReceipt:
        """Chips that were seen with a patron."""
        return await self._carry_out(table, context, command, receipts.sighting)

    async def hold_stakes(
        self, table: str, context: CommandContext, command: commands.HoldStakes
    ) -> replies.HoldsReceipt:
        """Stakes into escrow, all or none."""
        async with self._host.turn(table) as turn:
            outcome = await turn.repeated(context)
            # Asked anew also when the request is known: "held" must not be the answer for a stake that was given back since.
            events = turn.decide(command, context)
            if outcome is None:
                outcome = await turn.record(events, context)
            return receipts.holds(outcome.state, command)

    async def void_holds(
        self, table: str, context: CommandContext, command: commands.VoidHolds
    ) -> replies.VoidsReceipt:
        """Stakes back undecided."""
        return await self._carry_out(table, context, command, receipts.voids)

    async def settle_round(
        self, table: str, context: CommandContext, command: commands.SettleRound
    ) -> replies.SettlementReceipt:
        """Stakes decided and paid."""
        return await self._carry_out(table, context, command, receipts.settlement)

    async def give_tip(self, table: str, context: CommandContext, command: commands.GiveTip) -> replies.TipReceipt:
        """Chips to the dealers."""
        return await self._carry_out(table, context, command, receipts.tip)

    async def cash_out(self, table: str, context: CommandContext, command: commands.CashOut) -> replies.CashOutReceipt:
        """Free chips away from the table."""
        return await self._carry_out(table, context, command, receipts.cash_out)

    async def close_seat_session(
        self, table: str, context: CommandContext, command: commands.CloseSeatSession
    ) -> replies.DepartureReceipt:
        """A patron leaves with his rack."""
        return await self._carry_out(table, context, command, receipts.departure)

    async def fill_tray(self, table: str, context: CommandContext, command: commands.FillTray) -> replies.SlipReceipt:
        """Chips from the cage."""
        return await self._carry_out(table, context, command, receipts.fill)

    async def credit_tray(
        self, table: str, context: CommandContext, command: commands.CreditTray
    ) -> replies.SlipReceipt:
        """Chips to the cage."""
        return await self._carry_out(table, context, command, receipts.credit)

    async def correct_payment(
        self, table: str, context: CommandContext, command: commands.CorrectPayment
    ) -> replies.CorrectionReceipt:
        """A supervisor mends a payment (30-828(1))."""
        return await self._carry_out(table, context, command, receipts.correction)

    async def read_balances(self, table: str, _query: client.ReadBalances) -> replies.Balances:
        """Every account that is not at zero."""
        return statements.balances(await self._ledger(table))

    async def read_table_money(self, table: str, _query: client.ReadTableMoney) -> replies.TableMoney:
        """Tray, drop, win, handle, stakes in play."""
        return statements.table_money(await self._ledger(table))

    async def read_statement(self, table: str, query: client.ReadStatement) -> replies.Statement:
        """One patron's stay; raises UnknownSeatSession."""
        return statements.statement(await self._ledger(table), query.session)

    async def read_round(self, table: str, query: client.ReadRound) -> replies.RoundMoney:
        """The stakes of one recent round; raises UnknownRound or RoundIsPast."""
        return statements.round_money(await self._ledger(table), query.round_id)

    async def _carry_out(self, table: str, context: CommandContext, command: C, answer: Callable[[Ledger, C], A]) -> A:
        return await self._host.execute(table, command, context, lambda outcome: answer(outcome.state, command))

    async def _ledger(self, table: str) -> Ledger:
        return await self._host.state(check_table_key(table))

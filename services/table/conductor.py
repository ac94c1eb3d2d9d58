"""The conductor: plays a table on by itself, step after step, from wherever its log ends.

Owns the calls to the shoe and the wager service. Promises that a crash or failure at any point changes nothing but the time
it takes: every id that goes out follows from the table's recorded position (DESIGN §5), both services answer a known id with
the first answer, and what they answered is recorded before the next step. So the same cards come and the same money moves,
once. Decides nothing about the game.
"""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from services.game import round_commands as rc
from services.game.rejections import Rejection
from services.game.round_words import DealtCard
from services.game.rule_options import BurnCardVisible
from services.runtime.aggregate import Outcome, Turn
from services.runtime.failures import CallFailed, NotFound, ServiceUnavailable
from services.shoe import client as shoe
from services.table import commands as c
from services.table import events as e
from services.table import work as w
from services.table.contexts import Contexts
from services.table.holds import ledger_line, settlement_id
from services.table.playing import not_as_posted
from services.table.stakes import Stakes, Waiting
from services.table.table import Play, Table, evolve
from services.table.words import WaitingFor
from services.wager import client as wager
from services.wire.refusal import Refused

A = TypeVar("A")
_SHOE_IS_GONE = frozenset({"WrongShoe", "CardsNotShuffled", "ShoeGivenUp", "RoundOfAnotherShoe", "ShuffleDue"})
_NO_SHOE_YET = frozenset({"CardsNotShuffled", "CardsNotCut", "CutCardNotPlaced", "ShoeExhausted"})
TableTurn = Turn[Table, c.Command, e.TableEvent]
Published = Callable[[str, Outcome[Table, e.TableEvent]], None]


class Conductor:
    """Plays tables on. `published` is told of everything that was recorded."""

    def __init__(
        self, shoes: shoe.ShoeClient, ledgers: wager.WagerClient, contexts: Contexts, published: Published
    ) -> None:
        self._shoes = shoes
        self._ledgers = ledgers
        self._contexts = contexts
        self._published = published
        self.stakes = Stakes(ledgers, contexts)
        self._ways: dict[type, Callable[[TableTurn, Any], Awaitable[None]]] = {
            w.OpenRack: self._open_rack,
            w.CloseRack: self._close_rack,
            w.CloseLedger: self._close_ledger,
            w.BurnForDealer: self._burn,
            w.DrawForTargets: self._draw,
            w.CheckHole: self._check_hole,
            w.Reveal: self._reveal,
            w.Settle: self._settle,
            w.PayAndPickUp: self._pay_and_pick_up,
            w.StartTimer: self._start_timer,
        }

    async def play_on(self, turn: TableTurn) -> None:
        """Do all that can be done without people; raises Waiting when a service is missing, or the journal's errors."""
        while (work := w.next_work(turn.state)) is not None:
            await self._ways[type(work)](turn, work)

    async def record(self, turn: TableTurn, events: tuple[e.TableEvent, ...]) -> None:
        """Make durable what the table learned, with what follows from it without asking anyone."""
        outcome = await turn.record(self._with_followers(turn.state, events), self._contexts.own(turn))
        self._published(turn.key, outcome)

    def _with_followers(self, state: Table, events: tuple[e.TableEvent, ...]) -> tuple[e.TableEvent, ...]:
        """`events` and then settlement and timer where they are due: one append instead of two."""
        for event in events:
            state = evolve(state, event)
        work = w.next_work(state)
        while isinstance(work, w.Settle | w.StartTimer):
            more = self._local(state, work)
            for event in more:
                state = evolve(state, event)
            events = (*events, *more)
            work = w.next_work(state)
        return events

    def _local(self, state: Table, work: w.Settle | w.StartTimer) -> tuple[e.TableEvent, ...]:
        if isinstance(work, w.StartTimer):
            deadline = self._contexts.now_us() + work.seconds * 1_000_000
            return (e.DecisionTimerStarted(work.play.id, work.play.turn, deadline),)
        return w.settled(state)

    # What the round needs -------------------------------------------------------------------------------------------

    async def _draw(self, turn: TableTurn, work: w.DrawForTargets) -> None:
        play = work.play
        draw_id = _next_draw(play)
        faces = tuple(target.face_down for target in work.targets)
        command = shoe.DrawCards(draw_id, play.id, faces, _shoe_of(play), until_racked=w.lies_open(play))
        try:
            drawn = await self._shoes.draw_cards(turn.key, self._contexts.call(turn, draw_id), command)
        except Refused as refused:
            if refused.name in _SHOE_IS_GONE:
                await self._without_its_shoe(turn, play, refused)
                return
            if refused.name != "ShoeExhausted":
                raise _waiting(WaitingFor.SHOE, refused) from refused
            await self._reshuffle(turn, play, len(work.targets))
            return
        except (ServiceUnavailable, CallFailed) as failure:
            raise _waiting(WaitingFor.SHOE, failure) from failure
        await self._lay(turn, play, drawn)

    async def _without_its_shoe(self, turn: TableTurn, play: Play, refused: Refused) -> None:
        """The shoe that the wagers were placed on deals no more: no other was committed to before them (DESIGN §6).

        Play stops; the supervisor gives the wagers back by voiding the round (30-828(1)).
        """
        reason = f"the shoe of {play.id} deals no more, so its wagers must be given back: void the round"
        await self.record(turn, (e.TableSuspended(f"{reason} ({refused.message})"[:500]),))

    async def lay_what_is_out(self, turn: TableTurn) -> None:
        """Lay the cards of a draw whose answer was lost, if there is one; draws nothing.

        Asked before the cards that are due may change: the shoe has given them out for good, so they belong to the round
        whatever becomes of it. Raises ServiceUnavailable or CallFailed while the shoe cannot say.
        """
        play = turn.state.live
        if play is None or not play.round.pending:
            return
        try:
            drawn = await self._shoes.get_draw(turn.key, _next_draw(play))
        except NotFound:
            return
        await self._lay(turn, play, drawn)

    async def _lay(self, turn: TableTurn, play: Play, drawn: shoe.CardsDrawn) -> None:
        events: list[e.TableEvent] = []
        reason = ""
        if play.shoe is None or play.shoe.shoe_id != drawn.shoe_id:
            # The cards were shuffled anew while betting was open.
            status = await self._asked(WaitingFor.SHOE, self._shoes.get_shoe(turn.key))
            events.append(e.ShoeAssigned(play.id, drawn.shoe_id, drawn.decks, status.continuous))
            reason = not_as_posted(play.round.rules, drawn.decks, continuous=status.continuous)
        cards = tuple(DealtCard(card.position, card.card) for card in drawn.cards)
        events += self._told(turn, rc.DealCards(cards))
        if drawn.last_round and turn.state.spent_shoe != drawn.shoe_id:
            events.append(e.ShuffleBecameDue(play.id, drawn.shoe_id))
        if reason and not turn.state.suspended:
            events.append(e.TableSuspended(reason))
        await self.record(turn, tuple(events))

    async def _reshuffle(self, turn: TableTurn, play: Play, needed: int) -> None:
        """Too few cards to finish: shuffle and cut the discards alone (30-828); without any, a supervisor decides."""
        if not play.cards:
            # Nothing of this round is dealt yet, and a whole shoe shuffled now would be committed to after its wagers.
            reason = f"{needed} cards are to be dealt and fewer are left: void the round, then shuffle (30-816)"
            await self.record(turn, (e.TableSuspended(reason),))
            return
        name = f"{play.id}/reshuffle/{play.reshuffles + 1}"
        try:
            command = shoe.ReshuffleDiscards(name, play.id, needed)
            answer = await self._shoes.reshuffle_discards(turn.key, self._contexts.call(turn, name), command)
            if answer.shoe.phase is shoe.ShoePhase.SHUFFLED:
                cut = shoe.CutCards(answer.shoe.shoe_id, answer.shoe.size // 2, "table")
                await self._shoes.cut_cards(turn.key, self._contexts.call(turn, f"{name}/cut"), cut)
        except Refused as refused:
            await self.record(turn, (e.TableSuspended(f"too few cards to finish the round: {refused.message}"),))
            return
        except (ServiceUnavailable, CallFailed) as failure:
            raise _waiting(WaitingFor.SHOE, failure) from failure
        await self.record(turn, (e.CardsRanShort(play.id, name, needed),))

    async def _check_hole(self, turn: TableTurn, work: w.CheckHole) -> None:
        play = work.play
        command = shoe.PeekCard(_shoe_of(play), work.position, play.round.dealers[0].positions[0])
        context = self._contexts.call(turn, f"{play.id}/peek/{work.position}")
        answer = await self._asked(WaitingFor.SHOE, self._shoes.peek_card(turn.key, context, command))
        await self.record(turn, self._told(turn, rc.RecordHoleCheck(answer.makes_blackjack)))

    async def _reveal(self, turn: TableTurn, work: w.Reveal) -> None:
        shown = await self._turn_over(turn, work.play, work.position)
        await self.record(turn, self._told(turn, rc.RevealHole(work.position, shown.card)))

    async def _turn_over(self, turn: TableTurn, play: Play, position: int) -> shoe.CardShown:
        context = self._contexts.call(turn, f"{play.id}/reveal/{position}")
        command = shoe.RevealCard(_shoe_of(play), position)
        return await self._asked(WaitingFor.SHOE, self._shoes.reveal_card(turn.key, context, command))

    async def _settle(self, turn: TableTurn, _work: w.Settle) -> None:
        await self.record(turn, w.settled(turn.state))

    async def _start_timer(self, turn: TableTurn, work: w.StartTimer) -> None:
        await self.record(turn, self._local(turn.state, work))

    async def _pay_and_pick_up(self, turn: TableTurn, work: w.PayAndPickUp) -> None:
        play = work.play
        if not await self.paid(turn, play):
            return
        for position in w.face_down(play):
            # A voided round may end with cards unseen; the shoe counts its cards only once all were turned over.
            try:
                await self._turn_over(turn, play, position)
            except Waiting as waiting:
                if not (isinstance(waiting.__cause__, Refused) and waiting.__cause__.name == "ShoeGivenUp"):
                    raise
                # Its key is lost: nobody will ever see these cards, and the round must not wait for them.
                break
        await self._rack(turn, play)
        events = self._told(turn, rc.PickUpHands())
        if play.shoe is not None and play.shoe.continuous:
            back = shoe.ReturnDiscards(f"{play.id}/return", w.picked_up(events))
            if back.positions:
                await self._return(turn, play.shoe.shoe_id, back)
        await self.record(turn, events)

    async def _rack(self, turn: TableTurn, play: Play) -> None:
        """Tell the shoe that nothing of this round lies open on the felt any more (30-822)."""
        if not play.cards or not w.lies_open(play):
            return
        context = self._contexts.call(turn, f"{play.id}/rack")
        command = shoe.RackCards(_shoe_of(play), play.id)
        await self._asked(WaitingFor.SHOE, self._shoes.rack_cards(turn.key, context, command))

    async def _return(self, turn: TableTurn, shoe_id: str, back: shoe.ReturnDiscards) -> None:
        """Put the round's cards back into the continuous shuffler; one that was retired meanwhile counted them already."""
        context = self._contexts.call(turn, back.return_id)
        try:
            await self._shoes.return_discards(turn.key, context, back)
        except Refused as refused:
            status = await self._asked(WaitingFor.SHOE, self._shoes.get_shoe(turn.key))
            if status.shoe_id == shoe_id:
                raise _waiting(WaitingFor.SHOE, refused) from refused
        except (ServiceUnavailable, CallFailed) as failure:
            raise _waiting(WaitingFor.SHOE, failure) from failure

    async def paid(self, turn: TableTurn, play: Play) -> bool:
        """Move the money of all lines in one call; False when stakes were given back first and this must be asked anew."""
        if not play.lines:
            return not await self.released(turn, "the round ended without wagers")
        rules = play.round.rules
        command = wager.SettleRound(
            settlement=settlement_id(play),
            round_id=play.id,
            revision=play.round.revision,
            rounding=rules.rounding,
            chip_cents=rules.chip_cents,
            lines=tuple(ledger_line(play, line) for line in play.lines),
        )
        try:
            context = self._contexts.call(turn, command.settlement)
            await self._ledgers.settle_round(turn.key, context, command)
        except Refused as refused:
            if refused.name == "HoldNotSettled" and await self.released(turn, "held for a wager that was not recorded"):
                return False
            raise _waiting(WaitingFor.WAGER, refused) from refused
        except (ServiceUnavailable, CallFailed) as failure:
            raise _waiting(WaitingFor.WAGER, failure) from failure
        return True

    async def released(self, turn: TableTurn, reason: str) -> bool:
        """Give back what no recorded wager of the round stands behind (L9); False when there is none. Raises Waiting."""
        released = await self.stakes.release_unrecorded(turn, reason)
        if released is None:
            return False
        await self.record(turn, (released,))
        return True

    # Seats, tray, dealers -------------------------------------------------------------------------------------------

    async def _open_rack(self, turn: TableTurn, work: w.OpenRack) -> None:
        stay = work.stay
        command = wager.OpenSeatSession(stay.session, stay.patron, stay.seat, stay.chips_cents)
        try:
            context = self._contexts.call(turn, f"{stay.session}/open")
            await self._ledgers.open_seat_session(turn.key, context, command)
        except Refused as refused:
            reason = f"no rack could be opened: {refused.message}"
            await self.record(turn, (e.PlayerLeft(stay.session, stay.patron, stay.seat, reason),))
            return
        except (ServiceUnavailable, CallFailed) as failure:
            raise _waiting(WaitingFor.WAGER, failure) from failure
        await self.record(turn, (e.RackOpened(stay.session),))

    async def _close_rack(self, turn: TableTurn, work: w.CloseRack) -> None:
        stay = work.stay
        try:
            context = self._contexts.call(turn, f"{stay.session}/close")
            await self._ledgers.close_seat_session(turn.key, context, wager.CloseSeatSession(stay.session))
        except Refused as refused:
            if refused.name == "StakeInPlay" and await self.released(turn, "the patron leaves"):
                return
            if refused.name not in {"UnknownSeatSession", "SeatSessionEnded"}:
                raise _waiting(WaitingFor.WAGER, refused) from refused
        except (ServiceUnavailable, CallFailed) as failure:
            raise _waiting(WaitingFor.WAGER, failure) from failure
        await self.record(turn, (e.PlayerLeft(stay.session, stay.patron, stay.seat, ""),))

    async def _close_ledger(self, turn: TableTurn, work: w.CloseLedger) -> None:
        context = self._contexts.call(turn, work.closing)
        await self._asked(
            WaitingFor.WAGER, self._ledgers.close_ledger(turn.key, context, wager.CloseLedger(work.closing))
        )
        await self.record(turn, (e.TableClosed(turn.state.period),))

    async def _burn(self, turn: TableTurn, work: w.BurnForDealer) -> None:
        burn_id = f"{turn.key}/dealer/{work.change}"
        rules = turn.state.rules
        shown = rules is not None and rules.burn_card_visible is BurnCardVisible.ALWAYS
        command = shoe.BurnCards(burn_id, "", work.cards, shoe.BurnReason.DEALER_CHANGE, face_up=shown)
        burned, reason = work.cards, ""
        try:
            await self._shoes.burn_cards(turn.key, self._contexts.call(turn, burn_id), command)
        except Refused as refused:
            if refused.name not in _NO_SHOE_YET:
                raise _waiting(WaitingFor.SHOE, refused) from refused
            # No shoe is ready, or none of its cards is left, so there is nothing that a burn could protect.
            burned, reason = 0, refused.message
        except (ServiceUnavailable, CallFailed) as failure:
            raise _waiting(WaitingFor.SHOE, failure) from failure
        await self.record(turn, (e.DealerBurnFinished(work.change, burned, reason),))

    # ----------------------------------------------------------------------------------------------------------------

    def _told(self, turn: TableTurn, command: rc.Command) -> tuple[e.TableEvent, ...]:
        """The events of an answer; an answer that cannot be right stops the table for a supervisor (30-828)."""
        try:
            return turn.decide(c.PlayOn(command), self._contexts.own(turn))
        except Rejection as rejection:
            return (e.TableSuspended(f"{type(command).__name__} cannot be right: {rejection.message}"[:500]),)

    async def _asked(self, whom: WaitingFor, answer: Awaitable[A]) -> A:
        try:
            return await answer
        except (Refused, ServiceUnavailable, CallFailed) as failure:
            raise _waiting(whom, failure) from failure


def _waiting(whom: WaitingFor, failure: Exception) -> Waiting:
    return Waiting(whom, str(failure))


def _next_draw(play: Play) -> str:
    return f"{play.id}/draw/{play.cards + 1}"


def _shoe_of(play: Play) -> str:
    return play.shoe.shoe_id if play.shoe is not None else ""

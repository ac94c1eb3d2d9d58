"""One round at one table as the people there play it: wagers, insurance, decisions, until the cards are picked up.

Goes on from any point of a round, so that a simulation that starts again finishes what it finds.
"""

import asyncio
import random
from functools import partial

from services.floor.desk import Desk
from services.floor.eyes import Eyes
from services.floor.figures import Figures
from services.floor.habits import Sight, first_of
from services.floor.mischief import Mischief, Occasion
from services.floor.patrons import Patron
from services.game.house_rules import HouseRules
from services.game.round_words import Action
from services.table.client import (
    Act,
    DeclineInsurance,
    PlaceWagers,
    Question,
    RoundView,
    SeatWager,
    TablePhase,
    TableView,
    TakeEvenMoney,
    TakeInsurance,
    VoidRound,
)
from services.wire.refusal import Refused

# The answers that put up more chips, which a rack may lack, and what is answered then instead.
_NEEDS_CHIPS = {Action.DOUBLE, Action.SPLIT, Action.INSURE}
_PLAYABLE_WITHOUT_CHIPS = (Action.HIT, Action.STAND, Action.DECLINE_INSURANCE, Action.SURRENDER)


class RoundRoutine:
    """Plays rounds with the patrons of `seated`, by session. `pace_seconds` is the pause before each visible step."""

    def __init__(
        self,
        desk: Desk,
        eyes: Eyes,
        rules: HouseRules,
        chance: random.Random,
        figures: Figures,
        mischief: Mischief,
        pace_seconds: float,
    ) -> None:
        self._desk = desk
        self._eyes = eyes
        self._rules = rules
        self._chance = chance
        self._figures = figures
        self._mischief = mischief
        self._pace_seconds = pace_seconds
        self._waiting: set[str] = set()

    def kept_out(self, seated: dict[str, Patron]) -> bool:
        """Whether everybody at the table waits for the shuffle: the dealer need not deal the shoe out to nobody."""
        return bool(seated) and seated.keys() <= self._waiting

    def shuffled(self) -> None:
        """A new shoe: who was kept out until then may wager."""
        self._waiting.clear()

    async def play(self, seated: dict[str, Patron]) -> RoundView | None:
        """Play the round in hand, or a new one, to its end; None when nobody wants to wager."""
        view = await self._eyes.now()
        if view.phase is TablePhase.IDLE:
            if not any(self._stake(view, patron) for patron in seated.values()):
                return None
            opened = await self._desk.clients.table.open_betting(self._desk.table, self._desk.by_dealer())
            view = await self._eyes.beyond(opened.last_sequence)
        if view.phase is TablePhase.BETTING:
            await self._bet(view, seated)
        return await self._play_on(seated)

    def _stake(self, view: TableView, patron: Patron) -> int:
        if view.limits is None or not patron.is_seated or patron.session in self._waiting:
            return 0
        return patron.habit.stake_cents(view.limits, patron.rack_cents, self._chance)

    async def _bet(self, view: TableView, seated: dict[str, Patron]) -> None:
        current = _round_of(view)
        await self._mischief.attempt(Occasion.BETTING, view, seated)
        wagered = bool(current.hands)
        for seat in view.seats:
            patron = seated.get(seat.session)
            stake = self._stake(view, patron) if patron is not None and seat.may_wager else 0
            if patron is None or not stake:
                continue
            await self._pause()
            wager = SeatWager(seat.session, seat.seat, "main", stake)
            wagered |= await self._wager(patron, PlaceWagers(current.round_id, (wager,)))
        await self._pause()
        table = self._desk.clients.table
        if not wagered:
            # Betting is open and nobody may or can wager: without this the table would stay so for ever.
            nobody = VoidRound(current.round_id, "nobody wagers")
            await table.void_round(self._desk.table, self._desk.by_supervisor(), nobody)
            return
        closed = await table.close_betting(self._desk.table, self._desk.by_dealer(), current.round_id)
        await self._mischief.attempt(Occasion.BETTING_CLOSED, await self._eyes.beyond(closed.last_sequence), seated)

    async def _play_on(self, seated: dict[str, Patron]) -> RoundView:
        """Answer whatever is asked until the round is over."""
        awaited = 0
        while True:
            view = await self._eyes.until(partial(_needs_us, awaited))
            current = _round_of(view)
            if _is_over(view):
                self._figures.rounds += 1
                self._figures.hands += len(current.hands)
                self._figures.stakes_cents += current.staked_cents
                self._figures.returned_cents += current.returned_cents
                await self._mischief.attempt(Occasion.ROUND_OVER, view, seated)
                return current
            await self._mischief.attempt(Occasion.QUESTION, view, seated)
            await self._pause()
            answers = await asyncio.gather(*(self._answer(current, question, seated) for question in current.questions))
            awaited = max(view.sequence + 1, *answers)

    async def _answer(self, current: RoundView, question: Question, seated: dict[str, Patron]) -> int:
        """Answer for the patron who is asked; the sequence up to which the table has moved, 0 when it did not."""
        patron = seated.get(question.session)
        hand = next(h for h in current.hands if (h.seat, h.hand) == (question.seat, question.hand))
        up = current.dealer[0].cards[0] if current.dealer and current.dealer[0].cards else None
        sight = Sight(hand.cards, up, question.actions, self._rules)
        if patron is None:
            action = first_of(question.actions, *_PLAYABLE_WITHOUT_CHIPS)
        else:
            action = patron.habit.choose(sight, self._chance)
        try:
            return await self._send(current, question, action)
        except Refused as refused:
            if action not in _NEEDS_CHIPS or refused.name != "InsufficientChips":
                self._figures.surprises[refused.name] += 1
            return await self._send(current, question, first_of(question.actions, *_PLAYABLE_WITHOUT_CHIPS))

    async def _send(self, current: RoundView, question: Question, action: Action) -> int:
        table, desk = self._desk.clients.table, self._desk
        by = desk.by_player(question.patron)
        place = (current.round_id, question.session, question.seat)
        if action is Action.INSURE:
            reply = await table.take_insurance(desk.table, by, TakeInsurance(*place))
        elif action is Action.DECLINE_INSURANCE:
            reply = await table.decline_insurance(desk.table, by, DeclineInsurance(*place))
        elif action is Action.EVEN_MONEY:
            reply = await table.take_even_money(desk.table, by, TakeEvenMoney(*place))
        else:
            act = Act(*place, question.hand, action, turn=current.turn)
            reply = await table.act(desk.table, by, act)
        return reply.last_sequence

    async def _wager(self, patron: Patron, command: PlaceWagers) -> bool:
        """Put a wager down, and say whether it lies there.

        Who came in the middle of a shoe that is closed to newcomers waits for the shuffle (30-809).
        """
        try:
            await self._desk.clients.table.place_wagers(self._desk.table, self._desk.by_player(patron.id), command)
        except Refused as refused:
            if refused.name == "NoMidShoeEntry":
                self._waiting.add(patron.session)
            else:
                self._figures.surprises[refused.name] += 1
            return False
        return True

    async def _pause(self) -> None:
        if self._pace_seconds:
            await asyncio.sleep(self._pace_seconds * self._chance.uniform(0.5, 1.5))


def _round_of(view: TableView) -> RoundView:
    if view.round is None:
        raise RuntimeError(f"{view.table} shows no round in phase {view.phase}")
    return view.round


def _needs_us(awaited: int, view: TableView) -> bool:
    """Whether the round is over, or somebody is asked in a view that shows the answers given so far."""
    asks = view.round is not None and bool(view.round.questions) and not view.suspended
    return _is_over(view) or (asks and view.sequence >= awaited)


def _is_over(view: TableView) -> bool:
    return view.phase is TablePhase.IDLE

"""Tables that die again and again at random moments while chaotic players play: the laws hold over the whole log.

Every life ends at a random call or append, before or after its effect. Who comes back may have changed his mind, so that
stakes are left behind that no wager stands for; supervisors stop play and void hands in the middle of it.
"""

import contextlib
import os
import random

import pytest

from services.game.authority import CommandContext
from services.runtime.failures import ServiceUnavailable
from services.table import client as tables
from services.table.client import Action, SeatPhase, TablePhase, TableView
from services.wire.refusal import Refused
from tests.support.seeds import seeded
from tests.support.slow_journal import SlowJournal
from tests.support.table_house import DEALER, RULES, SUPERVISOR, TABLE, Fault, House, broken_laws, player

TABLES = int(os.environ.get("HOLECARD_LIVES", "4"))
LIVES = 25
PATRONS = ("ann", "bob", "cyd", "dot")
CHAOS = RULES.replace('surrender = "none"', 'surrender = "early-vs-ten"')


class Chaos:
    """Does any sensible or senseless thing next, by chance."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._shuffles = 0

    async def live(self, house: House) -> None:
        """Act until the process dies."""
        while True:
            # Senseless things are refused; the laws are asked at the end.
            with contextlib.suppress(Refused):
                await self._next(house)
            if house.fault.dead:
                raise ServiceUnavailable("the process is dead")

    async def end(self, house: House) -> None:
        """Play the round that is open to its end and let everyone go."""
        while True:
            view = await house.table.get_table(TABLE)
            if view.phase is TablePhase.IDLE:
                break
            # What the pit decides may be refused by what happened meanwhile.
            with contextlib.suppress(Refused):
                await self._within(house, view, calm=True)
        for seat in view.seats:
            await house.table.leave_seat(TABLE, house.context(), tables.LeaveSeat(seat.session))
        await house.table.close_table(TABLE, house.context(SUPERVISOR), tables.CloseTable())

    async def _next(self, house: House) -> None:
        view = await house.table.get_table(TABLE)
        if view.phase is TablePhase.CLOSED:
            tray = (tables.ChipCount(500, 4_000),)
            await house.table.open_table(TABLE, self._context(house, "open"), tables.OpenTable(CHAOS, tray, "D-17"))
        elif self._chance.random() < (0.1 if view.phase is not TablePhase.IDLE else 0.3):
            await self._come_and_go(house, view)
        else:
            await self._within(house, view, calm=False)

    async def _come_and_go(self, house: House, view: TableView) -> None:
        patron = self._chance.choice(PATRONS)
        stay = next((seat for seat in view.seats if seat.patron == patron), None)
        if stay is None:
            seat = self._chance.randrange(1, 8)
            await house.table.seat_player(
                TABLE, self._context(house), tables.SeatPlayer(patron, seat, self._chance.choice((800, 5_000, 90_000)))
            )
        elif self._chance.random() < 0.5 and stay.phase is SeatPhase.SEATED:
            receipt = f"slip-{self._chance.randrange(10**6)}"
            cash = (tables.ChipCount(100, 30),)
            await house.table.buy_in(TABLE, self._context(house), tables.BuyIn(receipt, stay.session, cash, 3_000))
        else:
            await house.table.leave_seat(TABLE, self._context(house), tables.LeaveSeat(stay.session))

    async def _within(self, house: House, view: TableView, *, calm: bool) -> None:
        round_ = view.round
        if view.suspended or (not calm and view.phase is not TablePhase.IDLE and self._chance.random() < 0.08):
            await self._pit(house, view)
        elif view.phase is TablePhase.IDLE or round_ is None:
            if view.shuffle_due:
                self._shuffles += 1
                await house.prepare_shoe(shuffle=f"again-{self._shuffles}")
            await house.table.open_betting(TABLE, self._context(house))
        elif view.phase is TablePhase.BETTING:
            waiting = [seat for seat in view.seats if seat.may_wager]
            if round_.hands and (calm or not waiting or self._chance.random() < 0.3):
                await house.table.close_betting(TABLE, self._context(house), round_.round_id)
            elif waiting and not calm:
                seat = self._chance.choice(waiting)
                amount = self._chance.choice((500, 700, 1_000, 1_500, 400, 10**7))
                wager = tables.SeatWager(seat.session, seat.seat, "main", amount)
                await house.table.place_wagers(
                    TABLE, self._context(house), tables.PlaceWagers(round_.round_id, (wager,))
                )
            else:
                void = tables.VoidRound(round_.round_id, "nobody plays")
                await house.table.void_round(TABLE, house.context(SUPERVISOR), void)
        elif round_.questions:
            question = self._chance.choice(round_.questions)
            action = self._chance.choice(question.actions)
            if calm:
                action = Action.STAND if Action.STAND in question.actions else action
            act = tables.Act(round_.round_id, question.session, question.seat, question.hand, action, 0, round_.turn)
            await house.table.act(TABLE, self._context(house, patron=question.patron), act)

    async def _pit(self, house: House, view: TableView) -> None:
        """The supervisor stops play, lets it go on, or calls a hand or all of them a push."""
        boss, choice = house.context(SUPERVISOR), self._chance.random()
        round_id = view.round.round_id if view.round is not None else ""
        if view.suspended and choice < 0.6:
            await house.table.resume(TABLE, boss, tables.Resume("30-828(1)", "play goes on"))
        elif choice < 0.8 and view.round is not None and view.round.hands:
            hand = self._chance.choice(view.round.hands)
            await house.table.void_hand(TABLE, boss, tables.VoidHand(round_id, hand.seat, hand.hand, "misdealt"))
        elif choice < 0.9:
            await house.table.void_round(TABLE, boss, tables.VoidRound(round_id, "misdealt"))
        else:
            await house.table.suspend(TABLE, house.context(), "something is wrong")

    def _context(self, house: House, request_id: str = "", patron: str = "") -> CommandContext:
        actor = player(patron) if patron and self._chance.random() < 0.5 else DEALER
        if request_id:
            actor = SUPERVISOR
        return house.context(actor, request_id)


@pytest.mark.parametrize("number", range(TABLES))
async def test_the_laws_hold_over_many_deaths(number: int) -> None:
    chance = seeded(f"tests/simulation/test_table_lives.py -k {number}")
    journal = SlowJournal(chance, most_pauses=2)
    chaos = Chaos(chance)
    seed = str(chance.random())
    async with House(journal, seed=seed) as house:
        await house.prepare_shoe()
        tray = (tables.ChipCount(500, 4_000),)
        await house.table.open_table(TABLE, house.context(SUPERVISOR), tables.OpenTable(CHAOS, tray, "D-17"))
    for life in range(LIVES):
        fault = Fault(at=chance.randrange(1, 60), before=chance.random() < 0.5)
        async with House(journal, seed=f"{seed} {life}", fault=fault) as house:
            with pytest.raises(ServiceUnavailable):
                await chaos.live(house)
    async with House(journal, seed=f"{seed} end") as house:
        await chaos.end(house)
        assert await broken_laws(house) == []
        assert (await house.table.get_table(TABLE)).phase is TablePhase.CLOSED
        money = await house.wager.read_table_money(TABLE)
        assert (money.escrow_cents, money.open_holds, money.racks_cents) == (0, 0, 0)
        assert (await house.table.get_table(TABLE)).rounds > 5

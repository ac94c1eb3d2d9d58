"""One table of a simulated floor from opening to the end of the simulation: people, cards, rounds.

Looks at what the table shows before each step, so that it goes on after any interruption of the house or of itself.
"""

import asyncio
import random
from collections.abc import Callable

import structlog

from services.floor.desk import Desk
from services.floor.eyes import Eyes
from services.floor.figures import Figures
from services.floor.mischief import Mischief
from services.floor.patrons import Crowd, Patron
from services.floor.round_routine import RoundRoutine
from services.floor.shoe_routine import ShoeRoutine
from services.game.authority import Actor, Role
from services.game.house_rules import HouseRules
from services.game.rule_text import canonical_text
from services.runtime.failures import CallFailed, NotFound, ServiceUnavailable
from services.shoe.client import RetireReason
from services.table.client import BuyIn, ChipCount, LeaveSeat, OpenTable, SeatPlayer, TablePhase, TableView
from services.wager.client import Count, FillTray
from services.wire.refusal import Refused

log = structlog.get_logger(__name__)

# $63,000 in five denominations, which is also what a fill brings the tray back to.
TRAY = (ChipCount(100, 500), ChipCount(500, 500), ChipCount(2_500, 400), ChipCount(10_000, 300), ChipCount(50_000, 40))
NOTES_CENTS = (10_000, 2_000, 500, 100)
PAUSE_SECONDS = 1.0
LEAVE_CHANCE = 0.02


class TableRoutine:
    """Runs `desk.table` with up to `seats` patrons of `crowd` until `enough` says so; a round begun is finished first."""

    def __init__(
        self,
        desk: Desk,
        rules: HouseRules,
        crowd: Crowd,
        chance: random.Random,
        figures: Figures,
        *,
        seats: int,
        pace_seconds: float,
        mischief_share: float,
    ) -> None:
        self._desk = desk
        self._rules = rules
        self._crowd = crowd
        self._chance = chance
        self._figures = figures
        self._seats = seats
        self._eyes = Eyes(desk)
        self._cards = ShoeRoutine(desk, rules, chance)
        mischief = Mischief(desk, chance, figures, mischief_share)
        self._rounds = RoundRoutine(desk, self._eyes, rules, chance, figures, mischief, pace_seconds)
        self._seated: dict[str, Patron] = {}
        self._known = False
        self._shoe = ""

    async def run(self, enough: Callable[[], bool]) -> None:
        """Play on through outages of the house, until `enough` is true between two rounds."""
        try:
            self._eyes.start()
            while not enough():
                try:
                    await self._turn()
                except ServiceUnavailable as outage:
                    log.warning("the house does not answer; trying again", table=self._desk.table, reason=str(outage))
                    await asyncio.sleep(PAUSE_SECONDS)
                except (Refused, CallFailed) as problem:
                    name = problem.name if isinstance(problem, Refused) else "CallFailed"
                    self._figures.surprises[name] += 1
                    log.warning("a step was not possible; looking again", table=self._desk.table, reason=str(problem))
                    await asyncio.sleep(PAUSE_SECONDS)
        finally:
            await self._eyes.stop()

    async def _turn(self) -> None:
        """Whatever comes next at this table."""
        if not await self._is_known():
            await self._open()
        view = await self._eyes.now()
        if view.phase is TablePhase.CLOSED:
            view = await self._open()
        await self._recognise(view)
        if view.phase is TablePhase.IDLE:
            if view.shuffle_due:
                await self._cards.end_shoe()
            elif self._rounds.kept_out(self._seated):
                await self._cards.end_shoe(RetireReason.HOUSE_CHOICE)
            shoe = await self._cards.make_ready()
            if shoe.shoe_id != self._shoe:
                self._shoe = shoe.shoe_id
                self._rounds.shuffled()
            await self._come_and_go(view)
        if await self._rounds.play(self._seated) is None:
            await asyncio.sleep(PAUSE_SECONDS)
        await self._count_racks()
        await self._fill_tray()

    async def _is_known(self) -> bool:
        """Whether the table was ever opened; asked only until it was."""
        if not self._known:
            try:
                await self._desk.clients.table.get_table(self._desk.table)
            except NotFound:
                return False
            self._known = True
        return True

    async def _open(self) -> TableView:
        """Post the rules and count the tray in (30-803(3))."""
        command = OpenTable(canonical_text(self._rules), TRAY, self._desk.dealer.id)
        opened = await self._desk.clients.table.open_table(self._desk.table, self._desk.by_supervisor(), command)
        return await self._eyes.beyond(opened.last_sequence)

    async def _recognise(self, view: TableView) -> None:
        """Know the people whom the table shows: after a restart they sit there already."""
        there = {seat.session for seat in view.seats}
        for session in set(self._seated) - there:
            self._crowd.gone(self._seated.pop(session))
        for seat in view.seats:
            if seat.session not in self._seated:
                patron = self._crowd.known(seat.patron)
                patron.session, patron.seat = seat.session, seat.seat
                self._seated[seat.session] = patron
                await self._count_rack(patron)

    async def _come_and_go(self, view: TableView) -> None:
        """Between rounds: who has had enough goes, free seats fill, who runs short buys in."""
        for patron in list(self._seated.values()):
            broke = patron.rack_cents < self._rules.limits.minimum_cents and patron.bought_cents > 0
            patron.rounds_left -= 1
            if (
                patron.rounds_left <= 0
                or (broke and self._chance.random() < 0.5)
                or self._chance.random() < LEAVE_CHANCE
            ):
                await self._leave(patron)
        taken = {seat.seat for seat in view.seats if seat.session in self._seated}
        for number in range(1, min(self._seats, self._rules.max_seats) + 1):
            if number not in taken and self._chance.random() < 0.6:
                await self._sit(self._crowd.next(), number)
        for patron in self._seated.values():
            if patron.rack_cents < self._rules.limits.minimum_cents * 5:
                await self._buy_in(patron)

    async def _sit(self, patron: Patron, number: int) -> None:
        seated = await self._desk.clients.table.seat_player(
            self._desk.table, self._desk.by_dealer(), SeatPlayer(patron.id, number)
        )
        patron.session, patron.seat = seated.session, number
        self._seated[seated.session] = patron
        await self._eyes.beyond(seated.last_sequence)

    async def _leave(self, patron: Patron) -> None:
        actor = Actor(Role.PLAYER, patron.id)
        left = await self._desk.clients.table.leave_seat(
            self._desk.table, self._desk.by(actor), LeaveSeat(patron.session)
        )
        self._seated.pop(patron.session, None)
        self._crowd.gone(patron)
        await self._eyes.beyond(left.last_sequence)

    async def _buy_in(self, patron: Patron) -> None:
        """Cash counted note by note for exactly as much in chips (30-831)."""
        left = amount = self._crowd.buy_in_cents(self._rules.limits)
        notes = []
        for note in NOTES_CENTS:
            if left >= note:
                notes.append(ChipCount(note, left // note))
                left %= note
        command = BuyIn(self._desk.fresh_id("buy-in"), patron.session, tuple(notes), amount - left)
        bought = await self._desk.clients.table.buy_in(self._desk.table, self._desk.by_dealer(), command)
        patron.rack_cents = bought.rack_cents
        patron.bought_cents += amount - left

    async def _fill_tray(self) -> None:
        """Chips from the cage before the tray runs short, as a pit supervisor orders them."""
        desk, wager = self._desk, self._desk.clients.wager
        money = await wager.read_table_money(desk.table)
        par = sum(count.denomination_cents * count.quantity for count in TRAY)
        if money.open and money.tray_cents < par // 2:
            chips = tuple(Count(count.denomination_cents, count.quantity) for count in TRAY)
            await wager.fill_tray(desk.table, desk.by_supervisor(), FillTray(desk.fresh_id("fill"), chips))

    async def _count_racks(self) -> None:
        for patron in list(self._seated.values()):
            await self._count_rack(patron)

    async def _count_rack(self, patron: Patron) -> None:
        statement = await self._desk.clients.wager.read_statement(self._desk.table, patron.session)
        patron.rack_cents = statement.rack_cents
        patron.bought_cents = statement.bought_cents

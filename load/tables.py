"""Tables full of players with one steady habit, driven over gRPC: the load that is put on a house.

Every table plays the same kind of round again and again: each seat wagers by itself, everybody plays basic strategy,
insurance is declined, nobody leaves, nothing invalid is sent. Made of the same parts as the simulated floor. With a
`rate` the load is open: rounds are due by the clock whether or not the ones before have ended, and a round's time
counts from the moment it was due, so that a house that stalls cannot hide it (no coordinated omission).
"""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from services.floor.desk import Clients, Desk
from services.floor.eyes import Eyes
from services.floor.figures import Figures, Timed
from services.floor.habits import Basic
from services.floor.mischief import Mischief
from services.floor.patrons import Patron
from services.floor.round_routine import RoundRoutine
from services.floor.shoe_routine import ShoeRoutine
from services.game.house_rules import HouseRules
from services.game.profiles import profile
from services.game.rule_options import Limits
from services.game.rule_text import canonical_text
from services.runtime.caller import Caller
from services.runtime.clock import SystemClock
from services.shoe.client import ShoeClient
from services.table.client import BuyIn, ChipCount, OpenTable, SeatPlayer, TableClient
from services.wager.client import WagerClient

ACTS = ("Act", "TakeInsurance", "DeclineInsurance", "TakeEvenMoney")
"""What a player answers when he is asked: a player's act."""
# Deep enough for any streak: a rack or a tray that runs dry would change the load.
TRAY = (ChipCount(100, 10_000), ChipCount(2_500, 10_000), ChipCount(50_000, 2_000))
PATRON_CHIPS_CENTS = 2_000_000
PREPARED_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Plan:
    """The load: `tables` with `seats` players each; `rate` rounds a second over all tables, 0 for as fast as they can."""

    tables: int = 8
    seats: int = 5
    rate: float = 0.0
    seed: int = 20201015


@dataclass(slots=True)
class Outcome:
    """What was counted. Times are in seconds; `rounds` has, for each round, from when it was due to its pick-up."""

    seconds: float = 0.0
    rounds: list[float] = field(default_factory=list)
    acts: list[float] = field(default_factory=list)
    wagers: list[float] = field(default_factory=list)
    requests: int = 0
    unexpected_refusals: dict[str, int] = field(default_factory=dict)
    client_cpu_seconds: float = 0.0


class Steady(Basic):
    """Basic strategy at the table's minimum."""

    name = "steady"

    def stake_cents(self, limits: Limits, rack_cents: int, chance: random.Random) -> int:
        """The table's minimum, however the rack stands."""
        del rack_cents, chance
        return limits.minimum_cents


class LoadedTable:
    """One table with its players."""

    def __init__(self, key: str, clients: Clients, rules: HouseRules, plan: Plan, figures: Figures) -> None:
        chance = random.Random(f"{plan.seed}/{key}")
        self._desk = Desk(key, clients, SystemClock())
        self._rules = rules
        self._seats = plan.seats
        self._eyes = Eyes(self._desk)
        self._cards = ShoeRoutine(self._desk, rules, chance)
        nothing_invalid = Mischief(self._desk, chance, figures, 0.0)
        self._routine = RoundRoutine(self._desk, self._eyes, rules, chance, figures, nothing_invalid, 0.0)
        self._seated: dict[str, Patron] = {}

    async def prepare(self) -> None:
        """Open the table, make the cards ready, seat the players and sell them chips."""
        desk, table = self._desk, self._desk.clients.table
        opening = OpenTable(canonical_text(self._rules), TRAY, desk.dealer.id)
        opened = await table.open_table(desk.table, desk.by_supervisor(), opening)
        self._eyes.start()
        await self._eyes.beyond(opened.last_sequence)
        for seat in range(1, self._seats + 1):
            patron = Patron(f"P-{desk.table.rpartition('/')[2]}-{seat}", Steady(), seat=seat)
            seated = await table.seat_player(desk.table, desk.by_dealer(), SeatPlayer(patron.id, seat))
            notes = (ChipCount(10_000, PATRON_CHIPS_CENTS // 10_000),)
            buy_in = BuyIn(desk.fresh_id("buy-in"), seated.session, notes, PATRON_CHIPS_CENTS)
            bought = await table.buy_in(desk.table, desk.by_dealer(), buy_in)
            patron.session, patron.rack_cents = seated.session, bought.rack_cents
            self._seated[seated.session] = patron
        await self._cards.make_ready()

    async def play(self) -> None:
        """One round, with a fresh shoe before it when one is due."""
        if (await self._eyes.now()).shuffle_due:
            await self._cards.end_shoe()
            await self._cards.make_ready()
        if await self._routine.play(self._seated) is None:
            raise RuntimeError(f"nobody at {self._desk.table} could wager")

    async def stop(self) -> None:
        """Stop watching the table."""
        await self._eyes.stop()


class Load:
    """All tables of a plan at one house, reached through `caller`."""

    def __init__(self, caller: Caller, plan: Plan) -> None:
        self._plan = plan
        self._figures = Figures()
        timed = Timed(caller, self._figures)
        clients = Clients(ShoeClient(timed), TableClient(timed), WagerClient(timed))
        rules = profile("colorado")
        self._tables = [
            LoadedTable(f"load-{number % 3 + 1}/BJ-{number:04}", clients, rules, plan, self._figures)
            for number in range(1, plan.tables + 1)
        ]

    async def prepare(self) -> None:
        """Make every table ready, a few at a time."""
        room = asyncio.Semaphore(PREPARED_AT_ONCE)

        async def one(table: LoadedTable) -> None:
            async with room:
                await table.prepare()

        await asyncio.gather(*map(one, self._tables))

    def pace(self, rate: float) -> None:
        """Let rounds be due at another rate from the next run on; 0 for as fast as they can."""
        self._plan = replace(self._plan, rate=rate)

    async def play(self, rounds: int) -> None:
        """Play so many rounds at every table, as fast as they can."""

        async def one(table: LoadedTable) -> None:
            for _ in range(rounds):
                await table.play()

        await asyncio.gather(*map(one, self._tables))
        self._forget()

    async def run(self, seconds: float, progress: Callable[[int], None] = lambda _: None) -> Outcome:
        """Play for so long; rounds that have begun are finished and counted."""
        outcome = Outcome()
        self._forget()
        began, began_cpu = time.perf_counter(), time.process_time()
        playing = [
            asyncio.create_task(self._play(number, table, began, seconds, outcome))
            for number, table in enumerate(self._tables)
        ]
        pending = set(playing)
        while pending:
            done, pending = await asyncio.wait(pending, timeout=2.0)
            for task in done:
                task.result()
            progress(len(outcome.rounds))
        outcome.seconds = time.perf_counter() - began
        outcome.client_cpu_seconds = time.process_time() - began_cpu
        outcome.acts = [spent for name in ACTS for spent in self._figures.latencies.get(name, ())]
        outcome.wagers = list(self._figures.latencies.get("PlaceWagers", ()))
        outcome.requests = sum(map(len, self._figures.latencies.values()))
        outcome.unexpected_refusals = dict(self._figures.surprises)
        return outcome

    async def stop(self) -> None:
        """Stop watching the tables."""
        for table in self._tables:
            await table.stop()

    async def _play(self, number: int, table: LoadedTable, began: float, seconds: float, outcome: Outcome) -> None:
        played = 0
        while True:
            due = time.perf_counter()
            if self._plan.rate:
                due = began + (number + played * self._plan.tables) / self._plan.rate
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
            if max(due, time.perf_counter() if not self._plan.rate else due) - began >= seconds:
                return
            await table.play()
            played += 1
            outcome.rounds.append(time.perf_counter() - due)

    def _forget(self) -> None:
        self._figures.latencies.clear()
        self._figures.surprises.clear()

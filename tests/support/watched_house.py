"""A whole house without console: shoe, table and wager on one journal in this process, and players who choose at random.

For tests of the second opinion, which want a real log. Everything follows from `seed`.
"""

import random
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from importlib import resources
from pathlib import Path

from services.game.authority import Actor, CommandContext, Role
from services.journal.port import Recorded
from services.journal.sqlite import SqliteJournal
from services.runtime.caller import LocalCaller
from services.runtime.clock import ManualClock
from services.runtime.entropy import ReplayableEntropy
from services.runtime.sealing import AesGcmSealer
from services.runtime.telemetry import Telemetry
from services.shoe import client as s
from services.shoe.server import dispatcher as shoe_dispatcher
from services.surveillance.facts import Fact, FactReader
from services.table import client as t
from services.table.server import Tables
from services.wager.client import WagerClient
from services.wager.server import wager_dispatcher
from services.wire.refusal import Refused

TABLE = "black-hawk/BJ-07"
DEALER = Actor(Role.DEALER, "D-11")
SUPERVISOR = Actor(Role.SUPERVISOR, "S-2")


def rules_text(**changes: str) -> str:
    """The Colorado profile with some of its lines changed, e.g. surrender='"late"'."""
    text = (resources.files("services.game.profiles") / "colorado.toml").read_text()
    for name, value in changes.items():
        lines = [f"{name} = {value}" if line.startswith(f"{name} = ") else line for line in text.splitlines()]
        text = "\n".join(lines) + "\n"
    return text


class WatchedHouse:
    """The three services, and hands that play at their tables."""

    def __init__(self, journal: SqliteJournal, seed: str, clock: ManualClock) -> None:
        self.journal = journal
        self.clock = clock
        self.random = random.Random(seed)
        self._ids = 0
        self._seed = seed
        telemetry = Telemetry()
        sealer = AesGcmSealer(sha256(b"test key").digest(), ReplayableEntropy(f"nonces of {seed}"))
        entropy = ReplayableEntropy(seed)
        self.dispatchers = {
            d.service: d
            for d in (
                shoe_dispatcher(journal, sealer, entropy, clock=self.clock, telemetry=telemetry),
                wager_dispatcher(journal, clock=self.clock, telemetry=telemetry),
            )
        }
        caller = LocalCaller(self.dispatchers)
        self.shoes = s.ShoeClient(caller)
        self.ledgers = WagerClient(caller)
        self.service = Tables(journal, self.shoes, self.ledgers, clock=self.clock, telemetry=telemetry)
        self.dispatchers[self.service.dispatcher.service] = self.service.dispatcher
        self.tables = t.TableClient(LocalCaller(self.dispatchers))
        self.sessions: dict[str, dict[int, str]] = {}

    def context(self, actor: Actor = DEALER) -> CommandContext:
        """A fresh command's context."""
        self._ids += 1
        self.clock.advance(0.7)
        return CommandContext(f"{self._seed}/{self._ids}", actor, self.clock.now_us(), "")

    async def open(
        self,
        key: str = TABLE,
        *,
        rules: str = "",
        decks: int = 6,
        seats: int = 3,
        kind: s.DeviceKind = s.DeviceKind.DEALING_SHOE,
    ) -> None:
        """A table ready to deal, with patrons who bought in."""
        device = s.RegisterDevice("SH-1", kind, electronic=True, approval="CDG-77")
        await self.shoes.register_device(key, self.context(SUPERVISOR), device)
        await self.shoes.inspect_device(key, self.context(SUPERVISOR), s.InspectDevice("SH-1", passed=True, note=""))
        sets = tuple(s.standard_deck_set(f"DS-{number}") for number in range(1, decks + 1))
        await self.shoes.load_decks(key, self.context(DEALER), s.LoadDecks("SH-1", sets))
        await self.shoes.inspect_cards(key, self.context(SUPERVISOR), s.InspectCards("D-11", "S-2", ()))
        await self.shuffle(key)
        tray = (t.ChipCount(10_000, 500), t.ChipCount(500, 1_000))
        posted = re.sub(r"(?m)^decks = .*$", f"decks = {decks}", rules or rules_text())
        if kind is s.DeviceKind.CONTINUOUS_SHUFFLER:
            posted = re.sub(r"(?m)^shuffle = .*$", 'shuffle = "continuous"', posted)
        await self.tables.open_table(key, self.context(SUPERVISOR), t.OpenTable(posted, tray, "D-11"))
        for seat in range(1, seats + 1):
            await self.seat(key, seat)

    async def seat(self, key: str, seat: int, chips_cents: int = 200_000) -> None:
        """Seat a patron and let him buy in."""
        patron = f"P-{self.random.randrange(10_000)}-{seat}"
        answer = await self.tables.seat_player(key, self.context(), t.SeatPlayer(patron, seat, 0))
        self.sessions.setdefault(key, {})[seat] = answer.session
        await self.buy_in(key, answer.session, chips_cents)

    async def buy_in(self, key: str, session: str, chips_cents: int = 200_000) -> None:
        """Cash for chips."""
        cash = (t.ChipCount(10_000, chips_cents // 10_000),)
        self._ids += 1
        await self.tables.buy_in(key, self.context(), t.BuyIn(f"buy-{self._ids}", session, cash, chips_cents))

    async def shuffle(self, key: str) -> None:
        """A new shoe, the old one retired; cut and ready."""
        shoe = (await self.shoes.get_shoe(key)).shoe_id
        phase = (await self.shoes.get_shoe(key)).phase
        if phase in {s.ShoePhase.DEALING, s.ShoePhase.LAST_ROUND}:
            retire = s.RetireShoe(shoe, s.RetireReason.CUT_CARD_REACHED)
            await self.shoes.retire_shoe(key, self.context(SUPERVISOR), retire)
        self._ids += 1
        shuffle = s.ShuffleCards(f"shuffle-{self._ids}", 10, s.CutCardFirst.PLAY_ONE_MORE, s.ShuffleReason.HOUSE_CHOICE)
        new = (await self.shoes.shuffle_cards(key, self.context(DEALER), shuffle)).shoe
        if not new.continuous:
            depth = self.random.randrange(10, new.size - 10)
            await self.shoes.cut_cards(key, self.context(DEALER), s.CutCards(new.shoe_id, depth, "seat 1"))
            place = s.PlaceCutCard(new.shoe_id, new.size // 4)
            await self.shoes.place_cut_card(key, self.context(DEALER), place)
            burn = s.BurnCards(f"burn-{self._ids}", "", 1, s.BurnReason.AFTER_SHUFFLE, face_up=False)
            await self.shoes.burn_cards(key, self.context(DEALER), burn)

    async def close(self, key: str = TABLE) -> None:
        """Everybody leaves, and the table is closed."""
        for session in self.sessions.pop(key).values():
            await self.tables.leave_seat(key, self.context(), t.LeaveSeat(session))
        await self.tables.close_table(key, self.context(SUPERVISOR), t.CloseTable())

    async def play(self, rounds: int, key: str = TABLE) -> None:
        """Play whole rounds, every choice at random among the legal ones; shuffles when the cutting card came."""
        for _ in range(rounds):
            await self.begin(key)
            await self.finish(key)

    async def begin(self, key: str = TABLE) -> str:
        """Open a round, wager and deal; its id."""
        if (await self.shoes.get_shoe(key)).phase is s.ShoePhase.LAST_ROUND:
            await self.shuffle(key)
        try:
            round_id = (await self.tables.open_betting(key, self.context())).round_id
        except Refused as refused:
            if refused.name != "ShoeNotReady":
                raise
            await self.shuffle(key)
            round_id = (await self.tables.open_betting(key, self.context())).round_id
        wagers = tuple(
            t.SeatWager(session, seat, "main", self.random.choice((500, 700, 1_500, 2_500)))
            for seat, session in self.sessions[key].items()
        )
        while True:
            try:
                await self.tables.place_wagers(key, self.context(), t.PlaceWagers(round_id, wagers))
                break
            except Refused as refused:
                if refused.name != "InsufficientChips":
                    raise
                await self.buy_in(key, refused.facts["session"])
        await self.tables.close_betting(key, self.context(), round_id)
        return round_id

    async def finish(self, key: str = TABLE) -> None:
        """Answer every question at random until the round is over."""
        while True:
            view = await self.tables.get_table(key)
            if view.round is None or view.round.complete:
                return
            if not view.round.questions:
                raise AssertionError(f"nobody is asked and the round is not over: {view}")
            await self.answer(key, view)

    async def answer(self, key: str, view: t.TableView) -> None:
        """Answer the first question."""
        assert view.round is not None
        question = view.round.questions[0]
        choice = self.random.choice(question.actions)
        act = t.Act(view.round.round_id, question.session, question.seat, question.hand, choice, 0, view.round.turn)
        try:
            await self.tables.act(key, self.context(), act)
        except Refused as refused:
            if refused.name != "InsufficientChips":
                raise

    async def recorded(self) -> list[Recorded]:
        """The whole log in log order."""
        end = await self.journal.end()
        found: list[Recorded] = []
        if not any(end.values()):
            return found
        async for one in self.journal.subscribe({}):
            found.append(one)
            if one.position.offset >= end[one.position.partition]:
                break
        return found

    async def facts(self) -> list[Fact]:
        """The whole log as surveillance reads it."""
        reader = FactReader()
        return [reader.read(one) for one in await self.recorded()]


@asynccontextmanager
async def watched_house(folder: Path, seed: str = "watched") -> AsyncIterator[WatchedHouse]:
    """Open a journal in the folder and the services on it."""
    clock = ManualClock()
    journal = SqliteJournal.open(folder / "journal.db", clock=clock)
    house = WatchedHouse(journal, seed, clock)
    await house.service.start()
    try:
        yield house
    finally:
        await house.service.stop()
        await journal.close()

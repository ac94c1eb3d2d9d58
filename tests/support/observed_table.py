"""An observed table in a running house: its devices' readings go straight to the table service, as a gateway sends them."""

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from services.floor.physical_table import CONSOLE, SHOE, TRAY, Said
from services.game.authority import Actor, CommandContext, Role
from services.game.cards import Card
from services.house import House
from services.shoe.client import ShoeClient
from services.table import client as tables
from services.table.client import Observation, ObservationsRecorded, Reading, ReadingKind, TableClient
from services.table.observation_events import IrregularityFound
from services.wager.client import WagerClient
from tests.support.devices import NOON_US, TABLE, events_at

SUPERVISOR = Actor(Role.SUPERVISOR, "P-1")
GATEWAY = Actor(Role.DEVICE, "gateway-black-hawk")
RULES = Path("services/game/profiles/colorado.toml").read_text(encoding="utf-8")
K = ReadingKind


class ObservedTable:
    """The devices of one table, each with its own sequence."""

    def __init__(self, house: House, folder: Path, table: str = TABLE) -> None:
        self.key = table
        self.journal = folder / "journal.db"
        self.tables = TableClient(house.caller("table"))
        self.shoes = ShoeClient(house.caller("shoe"))
        self.ledgers = WagerClient(house.caller("wager"))
        self._ids = itertools.count(1)
        self.sequences = {SHOE: 0, CONSOLE: 0, TRAY: 0, "terminal": 0}
        self.sent: list[Observation] = []

    def by(self, actor: Actor = SUPERVISOR) -> CommandContext:
        """A new command's context."""
        return CommandContext(f"c-{next(self._ids)}", actor, NOON_US, "")

    async def open(self, rules: str = RULES) -> None:
        """Open the table to be observed."""
        tray = (tables.ChipCount(500, 20_000),)
        await self.tables.open_table(self.key, self.by(), tables.OpenTable(rules, tray, "D-1", observed=True))

    def observed(self, said: Said) -> Observation:
        """What the device says next, as the gateway has it."""
        self.sequences[said.device] += 1
        number = len(self.sent) + 1
        reading = Reading(self.sequences[said.device], NOON_US + number, said.kind, **said.fields)
        self.sent.append(Observation(f"{said.device}-7", NOON_US + number, 0, reading))
        return self.sent[-1]

    async def send(self, observations: Iterable[Observation]) -> ObservationsRecorded:
        """Send these as a gateway does."""
        command = tables.RecordObservations(tuple(observations))
        return await self.tables.record_observations(self.key, self.by(GATEWAY), command)

    async def see(self, *said: Said) -> None:
        """Send what these devices say."""
        await self.send([self.observed(one) for one in said])

    async def say(self, device: str, kind: ReadingKind, **fields: Any) -> None:
        """One device says one thing."""
        await self.see(Said(device, kind, fields))

    async def deal(self, *cards: str) -> None:
        """The shoe gives these cards, "" for one that lies face down."""
        await self.see(
            *(Said(SHOE, K.CARD_DRAWN, {"card": Card.parse(one)} if one else {"face_down": True}) for one in cards)
        )

    async def start_round(self, bets: dict[int, int]) -> None:
        """Bets lie down and betting is closed."""
        await self.say(CONSOLE, K.ROUND_STARTED)
        for seat, cents in bets.items():
            await self.say(TRAY, K.BET_SEEN, seat=seat, amount_cents=cents)
        await self.say(CONSOLE, K.BETTING_CLOSED)

    async def view(self) -> tables.TableView:
        """The table as everybody sees it."""
        return await self.tables.get_table(self.key)

    async def irregularities(self) -> list[IrregularityFound]:
        """What broke the rules so far."""
        return [event for _, event in await events_at(self.journal, self.key) if isinstance(event, IrregularityFound)]

"""One observed table of a simulated floor: a physical game is played, and its devices tell the gateway what they see.

Owns the order in which a table's devices speak, and the comparison of what the house made of it with what really happened.
Knows nothing of the house but its public procedures, and reaches them through the gateway alone.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

import structlog

from services.floor.desk import Desk
from services.floor.device import ClockHabit, DeviceClock, DeviceFigures, SimulatedDevice
from services.floor.gateway_client import GatewayClient
from services.floor.physical_table import CONSOLE, SHOE, SUPERVISOR, TERMINAL, TRAY, PhysicalTable, Said
from services.game.house_rules import HouseRules
from services.game.rule_text import canonical_text
from services.runtime.clock import Clock
from services.runtime.failures import CallFailed, NotFound, ServiceUnavailable
from services.table.client import ChipCount, IrregularityKind, OpenTable, ReadingKind, TablePhase
from services.wire.refusal import Refused

log = structlog.get_logger(__name__)

PAUSE_SECONDS: Final = 1.0
ROUNDS_BETWEEN_COUNTS: Final = 10
OBSERVED_TRAY: Final = (ChipCount(100, 1_000), ChipCount(500, 2_000), ChipCount(2_500, 2_000), ChipCount(10_000, 2_000))
_K = ReadingKind


@dataclass(slots=True)
class ObservedFigures:
    """What observed tables did. `differences` are rounds or sums that the house has otherwise than they were."""

    rounds: int = 0
    mistakes: Counter[IrregularityKind] = field(default_factory=Counter)
    devices: DeviceFigures = field(default_factory=DeviceFigures)
    clocks: Counter[ClockHabit] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        """Everything that was counted, for --json."""
        return {
            "rounds": self.rounds,
            "readings": self.devices.readings,
            "reports_sent_twice": self.devices.sent_twice,
            "reports_unanswered": self.devices.outages,
            "reports_refused": dict(self.devices.refusals),
            "mistakes": {kind.value: count for kind, count in self.mistakes.most_common()},
            "clocks": {habit.value: count for habit, count in sorted(self.clocks.items())},
            "differences": self.differences,
        }


@dataclass(frozen=True, slots=True)
class Manner:
    """How an observed table is played: guests, the share of the dealer's mistakes, seconds before a device speaks."""

    seats: int = 4
    mistakes: float = 0.0
    pace_seconds: float = 0.0


class ObservedRoutine:
    """Plays `desk.table`, whose services are reached through the gateway, until `enough` says so between two rounds."""

    def __init__(
        self,
        desk: Desk,
        gateway: GatewayClient,
        rules: HouseRules,
        chance: random.Random,
        figures: ObservedFigures,
        clock: Clock,
        manner: Manner,
    ) -> None:
        self._desk = desk
        self._gateway = gateway
        self._rules = rules
        self._chance = chance
        self._figures = figures
        self._pace_seconds = manner.pace_seconds
        cards = random.Random(chance.random())  # noqa: S311 - a simulation
        self._physical = PhysicalTable(rules, cards, manner.seats, manner.mistakes)
        self._devices = {
            place: self._device(place, clock, manner.mistakes) for place in (SHOE, CONSOLE, TRAY, TERMINAL)
        }
        self._win_before = 0
        self._tray_before = 0

    def _device(self, place: str, clock: Clock, twice: float) -> SimulatedDevice:
        # Most clocks are right; of the others there is some of each kind on every floor.
        habit = self._chance.choice(
            (ClockHabit.HONEST,) * 7 + (ClockHabit.SKEWED, ClockHabit.STEPPING, ClockHabit.DEAD)
        )
        self._figures.clocks[habit] += 1
        name = f"{place}-{self._desk.table.rpartition('/')[2]}"
        own = DeviceClock(clock, habit, self._chance)
        return SimulatedDevice(
            self._gateway,
            self._desk.table,
            name,
            own,
            self._figures.devices,
            chance=self._chance,
            twice=twice,
            supervisor=SUPERVISOR if place == TERMINAL else "",
        )

    async def run(self, enough: Callable[[], bool]) -> None:
        """Play on through outages of the house; only the gateway has to be there."""
        for device in self._devices.values():
            await device.start()
        while not await self._is_ready():
            if enough():
                return
            await asyncio.sleep(PAUSE_SECONDS)
        while not enough():
            played = self._physical.play()
            await self._tell(played.said)
            self._figures.rounds += 1
            self._figures.mistakes.update(played.mistakes)
            if self._figures.rounds % ROUNDS_BETWEEN_COUNTS == 0:
                counted = {"amount_cents": self._tray_before + self._physical.tray_cents}
                await self._tell([Said(TRAY, _K.TRAY_COUNTED, counted)])

    async def compare(self) -> None:
        """Note where the house's sums are not those of the game that was played; call it when nothing waits any more."""
        money = await self._desk.clients.wager.read_table_money(self._desk.table)
        won = money.win_cents - self._win_before
        if won != self._physical.tray_cents:
            self._figures.differences.append(
                f"{self._desk.table}: the house won {self._physical.tray_cents} cents, its ledger has {won}"
            )
        view = await self._desk.clients.table.get_table(self._desk.table)
        if view.suspended or view.phase is not TablePhase.IDLE:
            self._figures.differences.append(
                f"{self._desk.table}: between rounds, the house has it in {view.phase} {view.suspension_reason}"
            )

    async def _tell(self, said: Iterable[Said]) -> None:
        """Each device speaks when it is its turn, so that the gateway has the order in which things happened."""
        for place, group in groupby(said, key=lambda one: one.device):
            words: list[tuple[ReadingKind, dict[str, Any]]] = [(one.kind, one.fields) for one in group]
            if self._pace_seconds:
                await asyncio.sleep(self._pace_seconds * self._chance.uniform(0.5, 1.5))
            await self._devices[place].report(words)

    async def _is_ready(self) -> bool:
        """Open the table to be observed; end what an earlier simulation left in the middle."""
        try:
            await self._open()
        except (ServiceUnavailable, CallFailed, Refused) as problem:
            log.warning("an observed table cannot be opened yet", table=self._desk.table, reason=str(problem))
            return False
        return True

    async def _open(self) -> None:
        clients, key = self._desk.clients, self._desk.table
        try:
            view = await clients.table.get_table(key)
        except NotFound:
            view = None
        if view is None or view.phase is TablePhase.CLOSED:
            opening = OpenTable(canonical_text(self._rules), OBSERVED_TRAY, self._desk.dealer.id, observed=True)
            await clients.table.open_table(key, self._desk.by_supervisor(), opening)
        else:
            ruling = {"person": SUPERVISOR, "note": "the simulation starts again: what it left is void"}
            await self._tell([Said(TERMINAL, _K.ROUND_VOIDED, ruling), Said(CONSOLE, _K.PICKED_UP)])
            await self._until_forwarded()
        money = await clients.wager.read_table_money(key)
        self._win_before, self._tray_before = money.win_cents, money.tray_cents

    async def _until_forwarded(self) -> None:
        while (await self._gateway.get_line()).queued:  # noqa: ASYNC110 - the gateway is another process
            await asyncio.sleep(PAUSE_SECONDS / 10)

"""A simulated device, written against the device protocol and nothing else (protos/holecard/floor/v1/gateway.proto).

Owns its numbering, its memory and its clock. Promises what the protocol asks of a device: each reading is kept until the
gateway has answered for it, and sent again under the same number when nobody knows whether it arrived.
"""

import asyncio
import random
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from services.floor.gateway_client import GatewayClient, Report, Reported, ReportRuling
from services.runtime.clock import MICROSECONDS, Clock
from services.runtime.failures import ServiceUnavailable
from services.table.client import MOST_IN_ONE_CALL, Reading, ReadingKind
from services.wire.refusal import Refused

FIRST_PAUSE_SECONDS: Final = 0.05
LONGEST_PAUSE_SECONDS: Final = 5.0
STEP_CHANCE: Final = 0.01


class ClockHabit(StrEnum):
    """How a device's clock goes."""

    HONEST = "honest"
    SKEWED = "skewed"
    STEPPING = "stepping"
    DEAD = "dead"


class DeviceClock:
    """A clock that may be wrong: off by minutes, jumping by hours, or dead."""

    def __init__(self, clock: Clock, habit: ClockHabit, chance: random.Random) -> None:
        self.habit = habit
        self._clock = clock
        self._chance = chance
        self._off_us = chance.choice((-1, 1)) * 90 * MICROSECONDS if habit is ClockHabit.SKEWED else 0

    def now_us(self) -> int:
        """What the device believes, 0 when its clock is dead."""
        if self.habit is ClockHabit.DEAD:
            return 0
        if self.habit is ClockHabit.STEPPING and self._chance.random() < STEP_CHANCE:
            self._off_us += self._chance.choice((-3_600, 3_600, 30)) * MICROSECONDS
        return max(self._clock.now_us() + self._off_us, 1)


@dataclass(slots=True)
class DeviceFigures:
    """What the devices of a simulation did."""

    readings: int = 0
    sent_twice: int = 0
    outages: int = 0
    refusals: Counter[str] = field(default_factory=Counter)


class SimulatedDevice:
    """One device of one table. `twice` is the share of reports that it sends a second time though they were answered.

    With `supervisor` it is the terminal at which he rules, and reports nothing else.
    """

    def __init__(
        self,
        gateway: GatewayClient,
        table: str,
        name: str,
        clock: DeviceClock,
        figures: DeviceFigures,
        *,
        chance: random.Random,
        twice: float = 0.0,
        supervisor: str = "",
    ) -> None:
        self.name = name
        self._supervisor = supervisor
        self._gateway = gateway
        self._table = table
        self._clock = clock
        self._figures = figures
        self._chance = chance
        self._twice = twice
        self._next = 0
        self._kept: deque[Reading] = deque()

    async def start(self) -> None:
        """Learn from the gateway where to go on."""
        pause = FIRST_PAUSE_SECONDS
        while not self._next:
            try:
                self._next = (await self._gateway.get_device(self._table, self.name)).next_sequence
            except ServiceUnavailable:
                pause = await self._rest(pause)

    async def report(self, said: Sequence[tuple[ReadingKind, dict[str, Any]]]) -> None:
        """Number these readings, and report until the gateway has answered for every one."""
        for kind, fields in said:
            self._kept.append(Reading(self._next, self._clock.now_us(), kind, **fields))
            self._next += 1
        self._figures.readings += len(said)
        pause = FIRST_PAUSE_SECONDS
        while self._kept:
            batch = tuple(self._kept)[:MOST_IN_ONE_CALL]
            try:
                answer = await self._send(batch)
                if self._chance.random() < self._twice:
                    self._figures.sent_twice += 1
                    await self._send(batch)
            except ServiceUnavailable:
                pause = await self._rest(pause)
                continue
            except Refused as refused:
                self._figures.refusals[refused.name] += 1
                self._go_back(refused)
                continue
            pause = FIRST_PAUSE_SECONDS
            while self._kept and self._kept[0].device_sequence <= answer.kept_through:
                self._kept.popleft()

    async def _send(self, batch: tuple[Reading, ...]) -> Reported:
        if self._supervisor:
            ruling = ReportRuling(self.name, self._clock.now_us(), batch, self._supervisor)
            return await self._gateway.report_ruling(self._table, ruling)
        return await self._gateway.report(self._table, Report(self.name, self._clock.now_us(), batch))

    def _go_back(self, refused: Refused) -> None:
        """After a gap: what the gateway asks for is gone here, so the device says that, once, under its next number."""
        if refused.name != "ReadingSequenceGap":
            raise refused
        first = self._kept[0]
        lost = Reading(
            first.device_sequence, self._clock.now_us(), ReadingKind.HISTORY_LOST, note="the memory was replaced"
        )
        self._kept = deque((lost, *(replace(one, device_sequence=one.device_sequence + 1) for one in self._kept)))
        self._next += 1

    async def _rest(self, pause: float) -> float:
        self._figures.outages += 1
        await asyncio.sleep(pause * self._chance.uniform(0.5, 1.0))
        return min(pause * 2, LONGEST_PAUSE_SECONDS)

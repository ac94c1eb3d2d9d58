"""Observed tables of several simulated casinos, each reached through its own gateway and in no other way.

Owns how many tables play and for how long, and the reckoning at the end: what the house has is what was played.
"""

import asyncio
import random
from collections.abc import Callable, Sequence
from typing import Final

from services.floor.desk import Clients, Desk
from services.floor.gateway_client import GatewayClient, LineState
from services.floor.observed_routine import Manner, ObservedFigures, ObservedRoutine
from services.game.house_rules import HouseRules
from services.runtime.caller import Caller
from services.runtime.clock import Clock
from services.runtime.failures import ServiceUnavailable
from services.shoe.client import ShoeClient
from services.table.client import TableClient
from services.wager.client import WagerClient

LOOK_SECONDS: Final = 0.2
PATIENCE_SECONDS: Final = 60.0


async def floor_behind(gateway: Caller) -> str:
    """Whose gateway this is; raises ServiceUnavailable when it does not answer."""
    return (await GatewayClient(gateway).get_line()).floor


class ObservedSimulation:
    """`tables` observed tables behind each of `gateways`, by floor; call `add` for each gateway, then `run`."""

    def __init__(self, rules: tuple[HouseRules, ...], clock: Clock, seed: int, manner: Manner) -> None:
        self.figures = ObservedFigures()
        self._rules = rules
        self._clock = clock
        self._seed = seed
        self._manner = manner
        self._gateways: list[GatewayClient] = []
        self._routines: list[ObservedRoutine] = []

    def add(self, floor: str, gateway: Caller, tables: int) -> None:
        """Play so many tables of this floor through its gateway."""
        client = GatewayClient(gateway)
        self._gateways.append(client)
        clients = Clients(shoe=ShoeClient(gateway), table=TableClient(gateway), wager=WagerClient(gateway))
        for number in range(1, tables + 1):
            table = f"{floor}/OB-{number:02}"
            self._routines.append(
                ObservedRoutine(
                    Desk(table, clients, self._clock),
                    client,
                    self._rules[(number - 1) % len(self._rules)],
                    random.Random(f"{self._seed}/{table}"),  # noqa: S311 - a simulation
                    self.figures,
                    self._clock,
                    self._manner,
                )
            )

    async def run(self, enough: Callable[[], bool]) -> ObservedFigures:
        """Play until `enough`, wait until the house has every reading, and compare."""
        await asyncio.gather(*(routine.run(enough) for routine in self._routines))
        lines = await self._until_forwarded()
        for line in lines:
            if line.queued or line.blocked:
                self.figures.differences.append(
                    f"{line.floor}: {line.queued} readings wait, {len(line.blocked)} tables are blocked ({line.reason})"
                )
        if not self.figures.differences:
            for routine in self._routines:
                await routine.compare()
        return self.figures

    async def _until_forwarded(self) -> Sequence[LineState]:
        """The lines once nothing waits, or after a minute without progress."""
        loop = asyncio.get_running_loop()
        give_up_at, waiting = loop.time() + PATIENCE_SECONDS, -1
        while True:
            try:
                lines = await asyncio.gather(*(gateway.get_line() for gateway in self._gateways))
            except ServiceUnavailable:
                if loop.time() >= give_up_at:
                    raise
                await asyncio.sleep(LOOK_SECONDS)
                continue
            queued = sum(line.queued for line in lines)
            if queued != waiting:
                give_up_at, waiting = loop.time() + PATIENCE_SECONDS, queued
            if not queued or loop.time() >= give_up_at:
                return lines
            await asyncio.sleep(LOOK_SECONDS)

"""Simulated casino floors that play through the public API, as any floor would.

Owns how many tables play, for how long, and what is reported meanwhile.
"""

import asyncio
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from services.floor.desk import Clients, Desk
from services.floor.event_count import counted_events
from services.floor.figures import Figures, Timed
from services.floor.patrons import Crowd
from services.floor.table_routine import TableRoutine
from services.game.house_rules import HouseRules
from services.runtime.caller import Caller
from services.runtime.clock import Clock
from services.shoe.client import ShoeClient
from services.surveillance.client import SurveillanceClient
from services.table.client import TableClient
from services.wager.client import WagerClient

FLOORS = ("black-hawk", "central-city", "cripple-creek")
PROGRESS_SECONDS = 2.0
GRACE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What is simulated: `floors` × `tables` with `seats` patrons each.

    Ends after `rounds` rounds in all or `seconds`, whichever comes first; 0 means no such end. `pace_seconds` is the pause
    before each visible step, 0 for as fast as the house answers. `mischief` is the share of occasions, 0 to 1, at which an
    invalid command is sent. `seed` makes the choices of players and dealers; cards are the house's and never follow from it.
    """

    floors: int = 1
    tables: int = 4
    seats: int = 5
    pace_seconds: float = 0.0
    rounds: int = 0
    seconds: float = 0.0
    mischief: float = 0.05
    seed: int = 1
    names: tuple[str, ...] = ()
    """The floors by name, instead of `floors` invented ones."""


def floor_names(count: int) -> Iterable[str]:
    """The names of the first floors: three real towns, then numbered ones."""
    return (FLOORS[number] if number < len(FLOORS) else f"floor-{number + 1}" for number in range(count))


class Simulation:
    """Plays `plan` over three callers, one for each service; `rules` are posted at every table in turn."""

    def __init__(self, plan: Plan, rules: tuple[HouseRules, ...], callers: "Callers", clock: Clock) -> None:
        self.figures = Figures()
        self._plan = plan
        self._stopped = False
        self._tables: list[str] = []
        self._surveillance = SurveillanceClient(callers.surveillance) if callers.surveillance else None
        self._events_before: int | None = None
        clients = Clients(
            shoe=ShoeClient(Timed(callers.shoe, self.figures)),
            table=TableClient(Timed(callers.table, self.figures)),
            wager=WagerClient(Timed(callers.wager, self.figures)),
        )
        self._routines = []
        for floor in plan.names or floor_names(plan.floors):
            crowd = Crowd(random.Random(f"{plan.seed}/{floor}"))  # noqa: S311 - players' choices, not cards
            for number in range(1, plan.tables + 1):
                table = f"{floor}/BJ-{number:02}"
                self._tables.append(table)
                self._routines.append(
                    TableRoutine(
                        Desk(table, clients, clock),
                        rules[(number - 1) % len(rules)],
                        crowd,
                        random.Random(f"{plan.seed}/{table}"),  # noqa: S311 - players' choices, not cards
                        self.figures,
                        seats=plan.seats,
                        pace_seconds=plan.pace_seconds,
                        mischief_share=plan.mischief,
                    )
                )

    def stop(self) -> None:
        """Let every table finish its round and stop."""
        self._stopped = True

    async def run(self, progress: Callable[[Figures, float], None]) -> Figures:
        """Play to the plan's end; `progress` is told the figures and the seconds gone, every few seconds."""
        loop = asyncio.get_running_loop()
        self._events_before = await self._counted()
        began = loop.time()

        def enough() -> bool:
            plan = self._plan
            late = bool(plan.seconds) and loop.time() - began >= plan.seconds
            return self._stopped or late or (bool(plan.rounds) and self.figures.rounds >= plan.rounds)

        playing = {asyncio.create_task(routine.run(enough)) for routine in self._routines}
        patience = GRACE_SECONDS
        try:
            while playing and patience > 0:
                done, playing = await asyncio.wait(playing, timeout=PROGRESS_SECONDS)
                for task in done:
                    task.result()
                progress(self.figures, loop.time() - began)
                patience = patience - PROGRESS_SECONDS if enough() else GRACE_SECONDS
        finally:
            # Whoever waits for a house that does not answer would wait for ever; a round can be taken up at any step.
            for task in playing:
                task.cancel()
            await asyncio.gather(*playing, return_exceptions=True)
        return self.figures

    async def count_events(self) -> None:
        """Note in the figures how many events the play so far has left in the journal, where surveillance says it."""
        after = await self._counted()
        if after is not None and self._events_before is not None:
            self.figures.events = after - self._events_before

    async def _counted(self) -> int | None:
        return await counted_events(self._surveillance, self._tables) if self._surveillance else None


@dataclass(frozen=True, slots=True)
class Callers:
    """The way to each service that a floor talks to; to surveillance only for the count of events in the summary."""

    shoe: Caller
    table: Caller
    wager: Caller
    surveillance: Caller | None = None

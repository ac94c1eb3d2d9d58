"""From the gateway's log to the house: every reading, once, in order, however long the line is down.

Owns the way out. Promises: readings leave a table's queue only once the house says that they are on its log; after a cut,
a restart of either side or a move of the table's owner the same readings are sent again, and the house knows them by device
and sequence; memory is one call per table at work, whatever the backlog. Does not judge a reading.
"""

import asyncio
import hashlib
import random
from collections.abc import Sequence

import structlog

from services.floor.gateway_log import GatewayDiskFailed, GatewayLog, Queued
from services.game.authority import Actor, CommandContext, Role
from services.runtime.caller import Caller
from services.runtime.clock import Clock
from services.runtime.failures import CallFailed, ServiceUnavailable
from services.table.client import LIST_TABLES, ListTables, ObservationsRecorded, RecordObservations, TableClient
from services.wire.refusal import Refused

log = structlog.get_logger(__name__)

READINGS_A_CALL = 500
TABLES_AT_ONCE = 8
FIRST_PAUSE_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 2.0
BLOCKED_PAUSE_SECONDS = 5.0
LOOK_SECONDS = 1.0


class Line:
    """Whether the house answers, since when, and why not."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.up = False
        self.since_us = clock.now_us()
        self.reason = "the house has not been asked yet"

    def answered(self) -> None:
        """The house said something."""
        if not self.up:
            log.info("the line to the house is up")
            self.up, self.since_us, self.reason = True, self._clock.now_us(), ""

    def broke(self, reason: str) -> None:
        """The house could not be asked."""
        if self.up:
            log.warning("the line to the house is down", reason=reason)
            self.up, self.since_us = False, self._clock.now_us()
        self.reason = reason


class Forwarder:
    """Forwards one gateway's log; `start`, `look_at` after each report, `stop`.

    `house` carries the calls; it should try once and give up, since this class tries again itself.
    """

    def __init__(self, kept: GatewayLog, house: Caller, *, clock: Clock, gateway: str) -> None:
        self.line = Line(clock)
        self.blocked: dict[str, str] = {}
        self._log = kept
        self._house = house
        self._tables = TableClient(house)
        self._clock = clock
        self._actor = Actor(Role.DEVICE, gateway)
        self._wake: dict[str, asyncio.Event] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._room = asyncio.Semaphore(TABLES_AT_ONCE)

    def start(self) -> None:
        """Take up every table that has something kept, and watch the line."""
        self._tasks.append(asyncio.create_task(self._watch()))
        for table in self._log.tables():
            self.look_at(table)

    def look_at(self, table: str) -> None:
        """Something new was kept of this table."""
        event = self._wake.get(table)
        if event is None:
            event = self._wake[table] = asyncio.Event()
            self._tasks.append(asyncio.create_task(self._forward(table, event)))
        event.set()

    async def stop(self) -> None:
        """End at once: what was not answered is sent again by the next start."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def ask_house(self) -> None:
        """See whether the house answers."""
        try:
            await self._house.call(LIST_TABLES, "", None, ListTables(self._log.floor))
        except ServiceUnavailable as failure:
            self.line.broke(str(failure))
        except (Refused, CallFailed):
            self.line.answered()
        else:
            self.line.answered()

    async def _watch(self) -> None:
        while True:
            await self.ask_house()
            await asyncio.sleep(LOOK_SECONDS)

    async def _forward(self, table: str, wake: asyncio.Event) -> None:
        pause = FIRST_PAUSE_SECONDS
        while True:
            wake.clear()
            try:
                async with self._room:
                    went = await self._forward_some(table)
            except GatewayDiskFailed as failure:
                log.warning("the gateway's log cannot be used", table=table, reason=str(failure))
                went = False
            except ServiceUnavailable as failure:
                self.line.broke(str(failure))
                went = False
            except Exception:
                # A fault at one table is logged and tried again, and holds up no other.
                log.exception("readings cannot be forwarded", table=table)
                self.blocked[table] = "a fault in the gateway; its log says which"
                went = False
            if went is None:
                pause = FIRST_PAUSE_SECONDS
                await wake.wait()
            elif went:
                pause = FIRST_PAUSE_SECONDS
            else:
                longest = BLOCKED_PAUSE_SECONDS if table in self.blocked else LONGEST_PAUSE_SECONDS
                # Jitter keeps the tables of a floor from coming back in step.
                await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - not a secret
                pause = min(pause * 2, longest)

    async def _forward_some(self, table: str) -> bool | None:
        """One call; True when something went, False when it is to be tried again, None when nothing waits."""
        waiting = await self._log.queued(table, READINGS_A_CALL)
        if not waiting:
            return None
        try:
            answer = await self._tables.record_observations(table, self._context(waiting), _command(waiting))
        except Refused as refused:
            self.line.answered()
            return await self._refused(table, refused)
        except CallFailed as failure:
            self._block(table, str(failure))
            return False
        self.line.answered()
        self.blocked.pop(table, None)
        done = recorded_of(waiting, answer)
        if not done:
            return False
        await self._log.forwarded(table, waiting[done - 1].position, done)
        return True

    async def _refused(self, table: str, refused: Refused) -> bool:
        """After a gap the house says from where it wants a device again: it may have been restored from a copy."""
        if refused.name == "DeviceSequenceGap":
            device, expected = refused.facts.get("device", ""), int(refused.facts.get("expected", "0"))
            if await self._log.rewind(table, device, expected):
                log.warning("the house asks again for readings", table=table, device=device, expected=expected)
                return True
            self._block(table, f"the house misses {device} from {expected} on, which this log does not have: {refused}")
            return False
        self._block(table, str(refused))
        return False

    def _block(self, table: str, reason: str) -> None:
        if self.blocked.get(table) != reason:
            log.error("the house does not take a table's readings", table=table, reason=reason)
        self.blocked[table] = reason

    def _context(self, waiting: Sequence[Queued]) -> CommandContext:
        digest = hashlib.sha256()
        for one in waiting:
            digest.update(one.observation.device.encode() + one.observation.reading.digest)
        return CommandContext(f"observed/{digest.hexdigest()[:40]}", self._actor, self._clock.now_us(), "")


def _command(waiting: Sequence[Queued]) -> RecordObservations:
    return RecordObservations(tuple(one.observation for one in waiting))


def recorded_of(waiting: Sequence[Queued], answer: ObservationsRecorded) -> int:
    """How many of these, from the first on, the house has: a later one counts only when all before it do."""
    through = {standing.device: standing.recorded_through for standing in answer.devices}
    for at, one in enumerate(waiting):
        if one.observation.reading.device_sequence > through.get(one.observation.device, 0):
            return at
    return len(waiting)

"""A table with real shoe and wager services over a real journal file, that can be killed at any call or append.

For the table's integration tests. A `House` is one life of the process; a killed one answers nothing any more, and the next
life opens the same file. `Fault` says where it is to die.
"""

import itertools
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar

from services.game.authority import Actor, CommandContext, Role
from services.game.rule_options import CutCardFirst
from services.journal.errors import JournalUnavailable
from services.journal.port import Journal, NewEvent, Recorded, StreamHead
from services.journal.sqlite import SqliteJournal
from services.runtime.caller import Caller, LocalCaller
from services.runtime.clock import ManualClock
from services.runtime.entropy import ReplayableEntropy, SystemEntropy
from services.runtime.failures import ServiceUnavailable
from services.runtime.sealing import AesGcmSealer
from services.runtime.telemetry import Telemetry
from services.shoe import client as shoe
from services.shoe.server import dispatcher as shoe_dispatcher
from services.surveillance.facts import FactReader
from services.surveillance.findings import Finding
from services.surveillance.laws import check
from services.table import client as tables
from services.table.server import Tables
from services.wager import client as wager
from services.wager.server import wager_dispatcher
from services.wire.rpc import Kind, Rpc

Q = TypeVar("Q")
A = TypeVar("A")

TABLE = "black-hawk/BJ-07"
KEY = b"k" * 32
_READER = FactReader()
SUPERVISOR = Actor(Role.SUPERVISOR, "P-1")
DEALER = Actor(Role.DEALER, "D-17")
RULES = (
    Path("services/game/profiles/colorado.toml")
    .read_text(encoding="utf-8")
    # The cards of a test follow from its seed, from the first one on; 30-819 has tests of its own.
    .replace("burn_after_shuffle = 1", "burn_after_shuffle = 0")
)


@dataclass
class Fault:
    """Where a life ends: at the `at`-th call of another service or append to the table's stream, `before` or after it.

    Without `at` it only counts. A fault that is not `fatal` happens once and leaves the process alive.
    """

    at: int = 0
    before: bool = True
    fatal: bool = True
    count: int = 0
    names: list[str] = field(default_factory=list)
    dead: bool = False
    away: set[str] = field(default_factory=set)
    """Services, or single procedures, that nobody can reach now, by name."""
    lost_answer: str = ""
    """The procedure whose next answer is lost; its service is away from then on."""

    def passes(self, name: str, *, before: bool) -> None:
        """Raise where the life ends, and ever after when the fault is fatal."""
        if self.dead:
            raise ServiceUnavailable("the process is dead")
        if before:
            self.count += 1
            self.names.append(name)
        # A call that was refused has no "after": the next one that has is the one.
        if 0 < self.at <= self.count and self.before is before:
            self.at, self.dead = 0, self.fatal
            raise ServiceUnavailable(f"killed {'before' if before else 'after'} {name}")


class FaultyCaller:
    """Calls that can end the life."""

    def __init__(self, inner: Caller, fault: Fault) -> None:
        self._inner = inner
        self._fault = fault

    async def call(self, rpc: Rpc[Q, A], table: str, context: CommandContext | None, request: Q) -> A:
        """See Caller."""
        if {rpc.service, rpc.name} & self._fault.away:
            raise ServiceUnavailable(f"{rpc.service} cannot be reached")
        if rpc.kind is not Kind.COMMAND:
            if self._fault.dead:
                raise ServiceUnavailable("the process is dead")
            return await self._inner.call(rpc, table, context, request)
        self._fault.passes(rpc.name, before=True)
        answer = await self._inner.call(rpc, table, context, request)
        self._fault.passes(rpc.name, before=False)
        if rpc.name == self._fault.lost_answer:
            self._fault.lost_answer = ""
            self._fault.away.add(rpc.service)
            raise ServiceUnavailable(f"the answer of {rpc.name} is lost")
        return answer

    def stream(self, rpc: Rpc[Q, A], table: str, request: Q) -> AsyncIterator[A]:
        """See Caller."""
        return self._inner.stream(rpc, table, request)


class FaultyJournal:
    """The table's journal; its appends can end the life."""

    def __init__(self, inner: Journal, fault: Fault) -> None:
        self._inner = inner
        self._fault = fault

    async def append(self, stream: str, expected_sequence: int, events: Sequence[NewEvent]) -> tuple[Recorded, ...]:
        """See Journal."""
        try:
            self._fault.passes("append", before=True)
            recorded = await self._inner.append(stream, expected_sequence, events)
            self._fault.passes("append", before=False)
        except ServiceUnavailable as error:
            raise JournalUnavailable(str(error)) from error
        return recorded

    def read(self, stream: str, after_sequence: int = 0) -> AsyncIterator[Recorded]:
        """See Journal."""
        return self._inner.read(stream, after_sequence)

    def replay(self, after: Mapping[str, int]) -> AsyncIterator[Recorded]:
        """See Journal."""
        return self._inner.replay(after)

    def subscribe(self, after: Mapping[int, int]) -> AsyncIterator[Recorded]:
        """See Journal."""
        return self._inner.subscribe(after)

    async def end(self) -> Mapping[int, int]:
        """See Journal."""
        return await self._inner.end()

    async def tenure(self, stream: str) -> int:
        """See Journal."""
        return await self._inner.tenure(stream)

    async def streams(self) -> Sequence[StreamHead]:
        """See Journal."""
        return await self._inner.streams()

    async def close(self) -> None:
        """See Journal."""
        await self._inner.close()


class House:
    """One life of a process with shoe, wager and table. Use with `async with`."""

    _ids = itertools.count(1)

    def __init__(
        self,
        place: Path | Journal,
        *,
        seed: str = "1",
        fault: Fault | None = None,
        clock: ManualClock | None = None,
    ) -> None:
        self._place = place
        self.fault = fault or Fault()
        self.clock = clock or ManualClock()
        self._seed = seed

    async def __aenter__(self) -> Self:
        place = self._place
        self.journal: Journal = SqliteJournal.open(place, clock=self.clock) if isinstance(place, Path) else place
        self.telemetry = telemetry = Telemetry()
        sealer = AesGcmSealer(KEY, SystemEntropy())
        entropy = ReplayableEntropy(self._seed)
        cards = shoe_dispatcher(self.journal, sealer, entropy, clock=self.clock, telemetry=telemetry)
        money = wager_dispatcher(self.journal, clock=self.clock, telemetry=telemetry)
        inside = FaultyCaller(LocalCaller({shoe.SERVICE: cards, wager.SERVICE: money}), self.fault)
        self.tables = Tables(
            FaultyJournal(self.journal, self.fault),
            shoe.ShoeClient(inside),
            wager.WagerClient(inside),
            clock=self.clock,
            telemetry=telemetry,
        )
        outside = LocalCaller({shoe.SERVICE: cards, wager.SERVICE: money, tables.SERVICE: self.tables.dispatcher})
        self.shoe = shoe.ShoeClient(outside)
        self.wager = wager.WagerClient(outside)
        self.table = tables.TableClient(outside)
        self._dispatchers = (cards, money)
        await self.tables.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.tables.stop()
        for dispatcher in self._dispatchers:
            await dispatcher.drain()
        await self.journal.close()

    def context(self, actor: Actor = DEALER, request_id: str = "") -> CommandContext:
        """A command's context; a fresh request id unless one is given."""
        return CommandContext(request_id or f"test-{next(self._ids)}", actor, self.clock.now_us(), "")

    async def prepare_shoe(self, table: str = TABLE, *, shuffle: str = "1", decks: int = 6, behind: int = 78) -> None:
        """Everything from the device to the burn, as a dealer and a supervisor do it; a shoe in use is retired first."""
        status = await self.shoe.get_shoe(table)
        boss = self.context(SUPERVISOR)
        if status.phase is shoe.ShoePhase.NO_DEVICE:
            await self.shoe.register_device(
                table,
                boss,
                shoe.RegisterDevice("SH-1", shoe.DeviceKind.DEALING_SHOE, electronic=True, approval="CDG-1"),
            )
        if status.phase is shoe.ShoePhase.LAST_ROUND or status.shoe_id:
            reason = shoe.RetireReason.CUT_CARD_REACHED
            await self.shoe.retire_shoe(table, self.context(DEALER), shoe.RetireShoe(status.shoe_id, reason))
        else:
            await self.shoe.inspect_device(
                table, self.context(SUPERVISOR), shoe.InspectDevice("SH-1", passed=True, note="in order")
            )
            sets = tuple(shoe.standard_deck_set(f"set-{number}") for number in range(1, decks + 1))
            await self.shoe.load_decks(table, self.context(DEALER), shoe.LoadDecks("SH-1", sets))
            await self.shoe.inspect_cards(
                table, self.context(SUPERVISOR), shoe.InspectCards(DEALER.id, SUPERVISOR.id, ())
            )
        await self.shoe.shuffle_cards(
            table,
            self.context(DEALER),
            shoe.ShuffleCards(shuffle, 10, CutCardFirst.PLAY_ONE_MORE, shoe.ShuffleReason.TABLE_OPENED),
        )
        shoe_id = (await self.shoe.get_shoe(table)).shoe_id
        await self.shoe.cut_cards(table, self.context(DEALER), shoe.CutCards(shoe_id, 26, "seat 1"))
        await self.shoe.place_cut_card(table, self.context(DEALER), shoe.PlaceCutCard(shoe_id, behind))

    async def prepare_machine(self, table: str = TABLE, *, decks: int = 6) -> None:
        """A continuous shuffler, ready to deal for ever."""
        kind = shoe.DeviceKind.CONTINUOUS_SHUFFLER
        device = shoe.RegisterDevice("SH-1", kind, electronic=True, approval="CDG-1")
        await self.shoe.register_device(table, self.context(SUPERVISOR), device)
        passed = shoe.InspectDevice("SH-1", passed=True, note="")
        await self.shoe.inspect_device(table, self.context(SUPERVISOR), passed)
        sets = tuple(shoe.standard_deck_set(f"set-{number}") for number in range(1, decks + 1))
        await self.shoe.load_decks(table, self.context(DEALER), shoe.LoadDecks("SH-1", sets))
        inspected = shoe.InspectCards(DEALER.id, SUPERVISOR.id, ())
        await self.shoe.inspect_cards(table, self.context(SUPERVISOR), inspected)
        shuffle = shoe.ShuffleCards("1", 10, CutCardFirst.PLAY_ONE_MORE, shoe.ShuffleReason.TABLE_OPENED)
        await self.shoe.shuffle_cards(table, self.context(DEALER), shuffle)

    async def open_table(self, table: str = TABLE, rules: str = RULES) -> None:
        """Open with a tray of 20,000 dollars."""
        command = tables.OpenTable(rules, (tables.ChipCount(500, 4_000),), DEALER.id)
        await self.table.open_table(table, self.context(SUPERVISOR), command)

    async def seat(self, patron: str, seat: int, chips_cents: int = 100_000, table: str = TABLE) -> str:
        """Seat a patron who brings chips; gives the session."""
        answer = await self.table.seat_player(table, self.context(DEALER), tables.SeatPlayer(patron, seat, chips_cents))
        return answer.session

    async def ready(self, *patrons: str, seed_rules: str = RULES, behind: int = 78, decks: int = 6) -> list[str]:
        """An open table with a shuffled shoe and these patrons on seats 1, 2, …; gives their sessions."""
        await self.prepare_shoe(behind=behind, decks=decks)
        posted = re.sub(r"(?m)^decks = .*$", f"decks = {decks}", seed_rules)
        percent = max(50, min(95, 100 - 100 * behind // (52 * decks)))
        posted = re.sub(r"(?m)^penetration_percent = .*$", f"penetration_percent = {percent}", posted)
        await self.open_table(rules=posted)
        return [await self.seat(patron, seat) for seat, patron in enumerate(patrons, start=1)]

    async def log(self, stream: str = f"table:{TABLE}") -> list[Any]:
        """The stored envelopes of a stream."""
        return [recorded.envelope async for recorded in self.journal.read(stream)]


async def broken_laws(house: House) -> list[Finding]:
    """What surveillance's laws find in the whole log (DESIGN §8); nothing when all is well."""
    end = (await house.journal.end())[0]
    facts = []
    async for recorded in house.journal.subscribe({}):
        facts.append(_READER.read(recorded))
        if recorded.position.offset >= end:
            break
    return list(check(facts))


def player(patron: str) -> Actor:
    """A patron acting for himself."""
    return Actor(Role.PLAYER, patron)

"""Calls into a cluster: redirects are followed and remembered, never in a circle; who does not answer is left alone."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import pytest

from services.game.authority import Actor, CommandContext, Role
from services.runtime.breaker import FAILURES_TO_OPEN, FIRST_REST_SECONDS, LONGEST_REST_SECONDS, Breaker, Circuit
from services.runtime.caller import LocalCaller
from services.runtime.clock import SystemClock
from services.runtime.dispatch import Dispatcher
from services.runtime.failures import NotFound, NotOwner, Overloaded, ServiceUnavailable
from services.runtime.routing import HERE, MOST_SAVED_RETRIES, RETRIES_A_SECOND, Lines, RoutedCaller
from services.runtime.server import GrpcServer
from services.runtime.telemetry import Telemetry
from services.table.client import LIST_TABLES, SUSPEND, WATCH_TABLE, TableClient
from services.table.commands import Suspend
from services.table.rejections import TableNotOpen
from services.table.replies import Accepted, TableList, TableView
from services.wire.refusal import Refused

TABLE = "black-hawk/BJ-07"
CONTEXT = CommandContext("r-1", Actor(Role.SUPERVISOR, "P-1"), 1, "")
Answer = Callable[[], Accepted]


class Owner:
    """A table service that answers as it is told; counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.answer: Answer = lambda: Accepted(f"table:{TABLE}", 1, 1)
        self.server: GrpcServer | None = None
        self.dispatcher = Dispatcher(
            {SUSPEND: self._suspend, WATCH_TABLE: self._watch, LIST_TABLES: self._list},
            clock=SystemClock(),
            telemetry=Telemetry(),
        )

    @property
    def address(self) -> str:
        assert self.server is not None
        return f"127.0.0.1:{self.server.port}"

    def sends_to(self, other: "Owner | str") -> None:
        address = other if isinstance(other, str) else other.address

        def answer() -> Accepted:
            raise NotOwner("not mine", 1003, "other", address)

        self.answer = answer

    def fails(self, error: Exception) -> None:
        def answer() -> Accepted:
            raise error

        self.answer = answer

    async def _suspend(self, _table: str, _context: CommandContext, _command: Suspend) -> Accepted:
        self.asked += 1
        return self.answer()

    async def _watch(self, _table: str, _query: object) -> AsyncIterator[TableView]:
        self.asked += 1
        self.answer()
        views: list[TableView] = []
        for view in views:
            yield view
        raise NotFound("it was never opened")

    async def _list(self, _table: str, _query: object) -> TableList:
        return TableList(())


@pytest.fixture
async def owners() -> AsyncIterator[list[Owner]]:
    """Three of them, each on an address of its own."""
    async with AsyncExitStack() as stack:
        made = [Owner(), Owner(), Owner()]
        for owner in made:
            owner.server = GrpcServer([owner.dispatcher], "127.0.0.1:0")
            await owner.server.start()
            stack.push_async_callback(owner.server.stop, 0.0)
        yield made


@pytest.fixture
async def lines() -> AsyncIterator[Lines]:
    made = Lines()
    yield made
    await made.close()


def routed(lines: Lines, *seeds: Owner, local: Owner | None = None, patience: float = 20.0) -> RoutedCaller:
    here = LocalCaller({local.dispatcher.service: local.dispatcher}) if local is not None else None
    return RoutedCaller(lines, [seed.address for seed in seeds], here, patience_seconds=patience)


async def suspend(caller: RoutedCaller) -> Accepted:
    return await TableClient(caller).suspend(TABLE, CONTEXT, "why not")


async def asked(owner: Owner, times: int) -> None:
    """Return once it was asked so often."""
    while owner.asked < times:  # noqa: ASYNC110 - what is waited for happens on the wire
        await asyncio.sleep(0.01)


async def test_a_redirect_is_followed_once_and_remembered(owners: list[Owner], lines: Lines) -> None:
    wrong, right, _ = owners
    wrong.sends_to(right)
    caller = routed(lines, wrong)
    for _ in range(5):
        assert (await suspend(caller)).last_sequence == 1
    assert (wrong.asked, right.asked, caller.owner_of(TABLE)) == (1, 5, right.address)


async def test_a_stream_follows_redirects_too(owners: list[Owner], lines: Lines) -> None:
    wrong, right, _ = owners
    wrong.sends_to(right)
    caller = routed(lines, wrong)
    with pytest.raises(NotFound, match="never opened"):
        async for _ in TableClient(caller).watch_table(TABLE):
            pass
    assert (wrong.asked, right.asked) == (1, 1)


async def test_owners_that_send_to_each_other_are_not_asked_in_a_circle(owners: list[Owner], lines: Lines) -> None:
    first, second, third = owners
    first.sends_to(second)
    second.sends_to(third)
    third.sends_to(first)
    caller = routed(lines, first, patience=0.0)
    with pytest.raises(ServiceUnavailable) as raised:
        await suspend(caller)
    # Whoever asked us must not be sent to the owner of something that we wanted.
    assert not isinstance(raised.value, NotOwner)
    assert [owner.asked for owner in owners] == [1, 1, 1]
    assert caller.owner_of(TABLE) is None


async def test_an_owner_that_sends_to_itself_is_in_between_and_asked_again(owners: list[Owner], lines: Lines) -> None:
    first = owners[0]
    first.sends_to(first)
    answering = asyncio.create_task(suspend(routed(lines, first)))
    await asked(first, 3)
    first.answer = lambda: Accepted("table", 7, 7)
    assert (await answering).last_sequence == 7


async def test_a_moved_table_is_found_when_its_owner_is_gone(owners: list[Owner], lines: Lines) -> None:
    seed, old, new = owners
    seed.sends_to(old)
    caller = routed(lines, seed)
    await suspend(caller)
    assert old.server is not None
    await old.server.stop(0)
    seed.sends_to(new)
    assert (await suspend(caller)).last_sequence == 1
    assert (new.asked, caller.owner_of(TABLE)) == (1, new.address)


async def test_seeds_take_turns_until_one_answers(owners: list[Owner], lines: Lines) -> None:
    for owner in owners[:2]:
        owner.fails(ServiceUnavailable("starting"))
    assert (await suspend(routed(lines, *owners))).last_sequence == 1
    assert owners[2].asked == 1


async def test_what_is_refused_is_not_tried_again(owners: list[Owner], lines: Lines) -> None:
    owners[0].fails(TableNotOpen("too late"))
    with pytest.raises(Refused, match="too late"):
        await suspend(routed(lines, owners[0]))
    assert owners[0].asked == 1


async def test_an_overload_is_waited_out(owners: list[Owner], lines: Lines) -> None:
    owners[0].fails(Overloaded("too much at once"))
    answering = asyncio.create_task(suspend(routed(lines, owners[0])))
    await asked(owners[0], 2)
    owners[0].answer = lambda: Accepted("table", 1, 1)
    assert (await answering).last_sequence == 1


async def test_a_call_stays_in_the_process_until_the_table_is_anothers(owners: list[Owner], lines: Lines) -> None:
    here, there, _ = owners
    caller = routed(lines, local=here)
    await suspend(caller)
    assert (here.asked, caller.owner_of(TABLE), lines.circuits) == (1, HERE, {})
    here.sends_to(there)
    await suspend(caller)
    assert (there.asked, caller.owner_of(TABLE)) == (1, there.address)
    # And comes back when the table does.
    there.sends_to(here)
    here.answer = lambda: Accepted("table", 2, 2)
    assert (await suspend(caller)).last_sequence == 2


async def test_an_address_that_does_not_answer_is_left_alone(owners: list[Owner], lines: Lines) -> None:
    dead, alive, _ = owners
    assert dead.server is not None
    await dead.server.stop(0)
    caller = routed(lines, dead, alive)
    for _ in range(2 * FAILURES_TO_OPEN):
        await suspend(caller)
        lines.failed(dead.address)
    assert lines.circuits[dead.address] in {"open", "half_open"}
    alone = routed(lines, dead, patience=0.0)
    with pytest.raises(ServiceUnavailable):
        await suspend(alone)


async def test_retries_of_all_callers_share_one_budget(lines: Lines) -> None:
    assert lines.spend(MOST_SAVED_RETRIES) == 0.0
    waits = [lines.spend(1.0) for _ in range(10)]
    assert waits == sorted(waits)
    assert waits[-1] == pytest.approx(10 / RETRIES_A_SECOND, abs=0.2)


def test_a_breaker_opens_after_failures_in_a_row_and_tries_with_one_call() -> None:
    breaker = Breaker()
    for _ in range(FAILURES_TO_OPEN - 1):
        breaker.failed(0.0)
    breaker.succeeded()
    for _ in range(FAILURES_TO_OPEN - 1):
        breaker.failed(0.0)
    assert breaker.lets_through(0.0), "an answer in between ends a row"
    breaker.failed(0.0)
    assert not breaker.lets_through(FIRST_REST_SECONDS / 2)
    assert breaker.lets_through(FIRST_REST_SECONDS)
    assert breaker.circuit is Circuit.HALF_OPEN
    assert not breaker.lets_through(FIRST_REST_SECONDS), "one probe at a time"
    breaker.failed(FIRST_REST_SECONDS)
    assert not breaker.lets_through(FIRST_REST_SECONDS * 2.5), "each failed probe doubles the rest"
    now = 100.0
    for _ in range(10):
        assert breaker.lets_through(now)
        breaker.failed(now)
        now += LONGEST_REST_SECONDS
    assert breaker.lets_through(now), "the rest never grows beyond its limit"
    breaker.succeeded()
    assert breaker.lets_through(now)
    assert breaker.lets_through(now)

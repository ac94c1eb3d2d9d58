"""From a decoded request to the use case that answers it, for gRPC and in-process callers alike.

Checks the table's key, works out the gaming day and the request's digest, measures, and turns everything that may be
raised into the few failures a caller knows. A command runs to its end even when its caller has gone.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from typing import Any, TypeVar

import structlog

from services.game.authority import CommandContext
from services.game.rejections import Rejection
from services.journal.errors import EventRefused, JournalError, JournalOverloaded
from services.journal.kafka_errors import PartitionNotOwned
from services.journal.port import StreamHead
from services.runtime.clock import Clock, GamingCalendar
from services.runtime.failures import CallFailed, NotFound, NotOwner, Overloaded, ServiceUnavailable
from services.runtime.header import check_header
from services.runtime.sealing import SealBroken
from services.runtime.table_key import check_table_key, floor_of
from services.runtime.telemetry import Measure, Telemetry
from services.wire.mapping import MalformedMessage
from services.wire.refusal import Refused
from services.wire.rpc import Call, Kind, Rpc

Q = TypeVar("Q")
A = TypeVar("A")

# Use cases: commands take (table, context, request), queries (table, request), streams the same and answer many times.
UseCase = Callable[..., Any]

log = structlog.get_logger(__name__)


class Dispatcher:
    """The procedures of one service. `calendars` gives each floor's gaming calendar, `calendar` that of any other floor.

    At most `limit` requests are worked on at once; one more is answered Overloaded before anything is done. `load` is called
    with streams that this process has begun to own, `let_go` with the names of those that another owns from now on.
    """

    def __init__(
        self,
        use_cases: Mapping[Rpc[Any, Any], UseCase],
        *,
        clock: Clock,
        telemetry: Telemetry,
        calendars: Mapping[str, GamingCalendar] | None = None,
        limit: int = 2_000,
        load: Callable[[Collection[StreamHead]], Awaitable[None]] | None = None,
        let_go: Callable[[Collection[str]], None] = lambda _: None,
    ) -> None:
        self.load = load
        self.let_go = let_go
        self.use_cases = dict(use_cases)
        names = {rpc.service for rpc in self.use_cases}
        if len(names) != 1:
            raise ValueError(f"a dispatcher serves one service, not {sorted(names)}")
        self.service = names.pop()
        for rpc in self.use_cases:
            rpc.check()
        self._clock = clock
        self._telemetry = telemetry
        telemetry.host(self.service)
        self._calendars = dict(calendars or {})
        self._calendar = GamingCalendar()
        self._limit = limit
        self._running: set[asyncio.Task[Any]] = set()

    async def call(self, rpc: Rpc[Q, A], call: Call[Q]) -> A:
        """The reply; raises Refused, ServiceUnavailable or CallFailed."""
        with self._telemetry.request(self.service, rpc.name) as measure:
            if len(self._running) >= self._limit:
                measure.status = "unavailable"
                raise Overloaded(f"{self.service} is working on {self._limit} requests already")
            task = asyncio.ensure_future(self._answer(rpc, call, measure))
            self._running.add(task)
            task.add_done_callback(self._running.discard)
            # Shielded: a caller whose deadline passes must not tear a command off between two of its steps.
            return await asyncio.shield(task)

    async def stream(self, rpc: Rpc[Q, A], call: Call[Q]) -> AsyncIterator[A]:
        """The replies, one after the other; raises as `call` does."""
        with self._telemetry.request(self.service, rpc.name) as measure:
            try:
                async for reply in self._use_case(rpc)(call.table, call.request):
                    yield reply
                measure.status = "ok"
            except (asyncio.CancelledError, GeneratorExit):
                # The reader has gone, as every reader of a stream does at some time.
                measure.status = "ok"
                raise
            except Exception as error:
                raise self._failure(rpc, error, measure) from error

    async def drain(self) -> None:
        """Wait until every command in hand has ended."""
        while self._running:
            await asyncio.wait(self._running)

    async def _answer(self, rpc: Rpc[Q, A], call: Call[Q], measure: Measure) -> A:
        try:
            use_case: Callable[..., Awaitable[A]] = self._use_case(rpc)
            if rpc.kind is Kind.COMMAND:
                reply = await use_case(call.table, self._context(rpc, call), call.request)
            else:
                reply = await use_case(call.table, call.request)
        except Exception as error:
            raise self._failure(rpc, error, measure) from error
        measure.status = "ok"
        return reply

    def _use_case(self, rpc: Rpc[Any, Any]) -> UseCase:
        if rpc not in self.use_cases:
            raise NotFound(f"{self.service} has no procedure {rpc.name}")
        return self.use_cases[rpc]

    def _context(self, rpc: Rpc[Q, A], call: Call[Q]) -> CommandContext:
        check_table_key(call.table)
        header = call.header
        if header is None:
            raise CallFailed(f"{rpc.name} is a command and needs a header")
        check_header(header, call.table)
        calendar = self._calendars.get(floor_of(call.table), self._calendar)
        return CommandContext(
            request_id=header.request_id,
            actor=header.actor,
            occurred_time_us=header.occurred_time_us,
            gaming_day=calendar.gaming_day(self._clock.now_us()),
            cause=header.cause,
            request_digest=rpc.digest(call.table, header.actor, call.request),
        )

    def _failure(self, rpc: Rpc[Any, Any], error: Exception, measure: Measure) -> Exception:
        """What the caller is told of `error`."""
        if isinstance(error, EventRefused):
            # Nothing was written, and the same command would be refused again: not an outage to be waited out.
            error = MalformedMessage(f"the event cannot be recorded: {error}")
        if isinstance(error, Rejection):
            measure.status = "refused"
            self._telemetry.refusals.labels(self.service, error.name).inc()
            return Refused.of(error)
        if isinstance(error, Refused):
            # A service behind this one refused: its reason is the answer.
            measure.status = "refused"
            self._telemetry.refusals.labels(self.service, error.name).inc()
            return error
        if isinstance(error, PartitionNotOwned):
            # Daily life of a cluster, after every hand-over: the caller is told whom to ask.
            measure.status = "redirected"
            log.debug("request for another owner", procedure=rpc.name, reason=str(error))
            return NotOwner(str(error), error.partition, error.owner, error.address)
        if isinstance(error, ServiceUnavailable | JournalError):
            measure.status = "unavailable"
            log.warning("request not answered", procedure=rpc.name, reason=str(error))
            if isinstance(error, JournalOverloaded):
                return Overloaded(str(error))
            return error if isinstance(error, ServiceUnavailable) else ServiceUnavailable(str(error))
        if isinstance(error, CallFailed):
            return error
        if isinstance(error, SealBroken):
            log.error("sealed cards do not open", procedure=rpc.name, reason=str(error))
            return CallFailed(f"{error}; put the key back that the shoe was sealed under, and start again")
        # The text of an unforeseen error may hold anything, so it goes to the log's traceback and not to the caller.
        log.error("request failed", procedure=rpc.name, exc_info=error)
        return CallFailed(f"{rpc.name} failed inside the service; its log says why")

"""Calls into a cluster: to whichever process owns the table's partition, found by asking and by following redirects.

Owns what this process believes about who owns what, the channels, and a circuit breaker for each address. Promises: a
redirect is followed a few times at most and never in a circle; what was believed is forgotten with the first failure;
everything is tried again until it succeeds, is refused, or the caller's patience is over; retries of all callers together
stay within a budget. Retries only what is safe: a command keeps its request id.
"""

import asyncio
import random
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from typing import Any, TypeVar

import grpc
from prometheus_client import CollectorRegistry, Counter, Gauge

from services.game.authority import CommandContext
from services.runtime.breaker import Breaker
from services.runtime.caller import FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS, LocalCaller, failure_of, open_channel
from services.runtime.failures import NotOwner, ServiceUnavailable
from services.wire.rpc import Rpc

Q = TypeVar("Q")
A = TypeVar("A")

HERE = ""
"""The address of this process: a call to it skips the wire."""
TRY_SECONDS = 4.0
"""The deadline of one try: a process that is paused answers nobody, and its partitions go to another meanwhile."""
MOST_HOPS = 4
MOST_REMEMBERED = 20_000
RETRIES_A_SECOND = 20.0
RETRIES_A_CALL = 0.2
MOST_SAVED_RETRIES = 200.0
"""The budget of all retries together: so many a second, and a share of the calls; what is not spent is saved, to a limit."""


class Lines:
    """The channels of this process by address, each with its breaker, and the budget of retries. Close it at the end."""

    def __init__(
        self,
        registry: CollectorRegistry | None = None,
        connect: Callable[[str], grpc.aio.Channel] = open_channel,
    ) -> None:
        """`registry` takes the metrics; `connect` opens a channel."""
        registry = registry or CollectorRegistry()
        self.redirects = Counter("holecard_redirects_followed_total", "Redirects to another owner.", registry=registry)
        self.retries = Counter("holecard_call_retries_total", "Calls tried again.", ("service",), registry=registry)
        self._circuits = Gauge(
            "holecard_circuit_state", "0 closed, 1 half open, 2 open.", ("address",), registry=registry
        )
        self._connect = connect
        self._lines: dict[str, tuple[grpc.aio.Channel, Breaker]] = {}
        self._saved = MOST_SAVED_RETRIES
        self._saved_at = 0.0

    def channel(self, address: str) -> grpc.aio.Channel:
        """The channel to an address."""
        return self._line(address)[0]

    def breaker(self, address: str) -> Breaker:
        """The breaker of an address."""
        return self._line(address)[1]

    @property
    def circuits(self) -> dict[str, str]:
        """The state of every address's circuit, in a word."""
        return {address: breaker.circuit.name.lower() for address, (_, breaker) in sorted(self._lines.items())}

    def answered(self, address: str) -> None:
        """Note that the address answered."""
        self.breaker(address).succeeded()

    def failed(self, address: str) -> None:
        """Note that the address did not answer."""
        self.breaker(address).failed(asyncio.get_running_loop().time())

    def spend(self, retries: float) -> float:
        """Take that much from the budget, or put it in when negative; gives the seconds to wait for what is not there."""
        now = asyncio.get_running_loop().time()
        self._saved = min(MOST_SAVED_RETRIES, self._saved + (now - self._saved_at) * RETRIES_A_SECOND) - retries
        self._saved_at = now
        return max(0.0, -self._saved / RETRIES_A_SECOND)

    async def close(self) -> None:
        """Close every channel."""
        for channel, _ in self._lines.values():
            await channel.close()
        self._lines.clear()

    def _line(self, address: str) -> tuple[grpc.aio.Channel, Breaker]:
        line = self._lines.get(address)
        if line is None:
            breaker = Breaker()
            self._circuits.labels(address).set_function(lambda: float(breaker.circuit))
            line = self._lines[address] = (self._connect(address), breaker)
        return line


class RoutedCaller:
    """Calls one service of a cluster. `seeds` are addresses to begin with; `local` the same service in this process, if any.

    `patience_seconds` bounds all tries of one call together.
    """

    def __init__(
        self,
        lines: Lines,
        seeds: Sequence[str],
        local: LocalCaller | None = None,
        *,
        try_seconds: float = TRY_SECONDS,
        patience_seconds: float = 30.0,
    ) -> None:
        self._lines = lines
        self._local = local
        self._seeds = tuple(seeds)
        self._first = random.randrange(len(seeds)) if seeds else 0  # noqa: S311 - spreads the load
        self._try_seconds = try_seconds
        self._patience_seconds = patience_seconds
        self._owners: OrderedDict[str, str] = OrderedDict()

    def owner_of(self, table: str) -> str | None:
        """The address at which the table was last found, "" for this process; None when it is not known."""
        return self._owners.get(table)

    async def call(self, rpc: Rpc[Q, A], table: str, context: CommandContext | None, request: Q) -> A:
        """See Caller."""
        loop = asyncio.get_running_loop()
        give_up_at = loop.time() + self._patience_seconds
        pause = FIRST_PAUSE_SECONDS
        self._lines.spend(-RETRIES_A_CALL)
        while True:
            failure, reply = await self._follow(rpc, table, context, request)
            if failure is None:
                return reply[0]
            rest = max(pause * random.uniform(0.5, 1.0), self._lines.spend(1.0))  # noqa: S311 - not a secret
            if loop.time() + rest > give_up_at:
                # Never as NotOwner: whoever asked us is not to be sent to an owner of something else.
                raise failure if not isinstance(failure, NotOwner) else ServiceUnavailable(str(failure)) from failure
            self._lines.retries.labels(rpc.service).inc()
            await asyncio.sleep(rest)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    async def stream(self, rpc: Rpc[Q, A], table: str, request: Q) -> AsyncIterator[A]:
        """See Caller; redirects are followed, but once it has begun only its reader knows from where to go on."""
        asked: set[str] = set()
        while True:
            address = self._choose(table)
            begun = False
            try:
                async with aclosing(self._stream_from(address, rpc, table, request)) as replies:
                    async for reply in replies:
                        begun = True
                        yield reply
            except ServiceUnavailable as failure:
                self._note(table, address, failure)
                owner = failure.address if isinstance(failure, NotOwner) else ""
                if begun or not owner or owner in asked or len(asked) >= MOST_HOPS:
                    raise ServiceUnavailable(str(failure)) from failure
                asked.add(address)
                self._remember(table, owner)
            else:
                return

    async def _follow(
        self, rpc: Rpc[Q, A], table: str, context: CommandContext | None, request: Q
    ) -> tuple[ServiceUnavailable | None, list[A]]:
        """Ask, and follow redirects; the failure or the reply. Raises what asking again would not mend."""
        asked: set[str] = set()
        while True:
            try:
                address = self._choose(table)
            except ServiceUnavailable as failure:
                return failure, []
            try:
                reply = await self._ask(address, rpc, table, context, request)
            except ServiceUnavailable as failure:
                self._note(table, address, failure)
                owner = failure.address if isinstance(failure, NotOwner) else ""
                asked.add(address)
                if not owner or owner in asked or len(asked) > MOST_HOPS:
                    return failure, []
                self._lines.redirects.inc()
                self._remember(table, owner)
            else:
                self._remember(table, address)
                return None, [reply]

    async def _ask(self, address: str, rpc: Rpc[Q, A], table: str, context: CommandContext | None, request: Q) -> A:
        if address == HERE and self._local is not None:
            return await self._local.call(rpc, table, context, request)
        method: Any = self._lines.channel(address).unary_unary(rpc.path)
        try:
            data = await method(rpc.encode_request(table, context, request), timeout=self._try_seconds)
        except grpc.aio.AioRpcError as error:
            failure = failure_of(error)
            if not isinstance(failure, ServiceUnavailable):
                self._lines.answered(address)
            raise failure from error
        self._lines.answered(address)
        return rpc.decode_reply(data)

    async def _stream_from(self, address: str, rpc: Rpc[Q, A], table: str, request: Q) -> AsyncGenerator[A]:
        if address == HERE and self._local is not None:
            async for reply in self._local.stream(rpc, table, request):
                yield reply
            return
        method: Any = self._lines.channel(address).unary_stream(rpc.path)
        try:
            async for data in method(rpc.encode_request(table, None, request)):
                self._lines.answered(address)
                yield rpc.decode_reply(data)
        except grpc.aio.AioRpcError as error:
            raise failure_of(error) from error

    # --- who owns what, as far as is believed -----------------------------------------------------------------------

    def _choose(self, table: str) -> str:
        """The address to ask; raises ServiceUnavailable when every circuit is open."""
        now = asyncio.get_running_loop().time()
        owner = self._owners.get(table)
        if owner is not None and self._lets_through(owner, now):
            return owner
        if self._local is not None:
            return HERE
        for step in range(len(self._seeds)):
            seed = self._seeds[(self._first + step) % len(self._seeds)]
            if self._lets_through(seed, now):
                return seed
        known = ", ".join(self._seeds) or "no address is known"
        raise ServiceUnavailable(f"nobody who could know the owner of {table or 'this'} answers ({known}): try again")

    def _lets_through(self, address: str, now: float) -> bool:
        return address == HERE or self._lines.breaker(address).lets_through(now)

    def _note(self, table: str, address: str, failure: ServiceUnavailable) -> None:
        """Forget what this failure shows to be wrong, and begin elsewhere next time."""
        self._owners.pop(table, None)
        if address == HERE:
            return
        if len(self._seeds) > 1:
            self._first = (self._first + 1) % len(self._seeds)
        if isinstance(failure, NotOwner):
            self._lines.answered(address)
        else:
            self._lines.failed(address)

    def _remember(self, table: str, address: str) -> None:
        self._owners[table] = address
        self._owners.move_to_end(table)
        if len(self._owners) > MOST_REMEMBERED:
            self._owners.popitem(last=False)

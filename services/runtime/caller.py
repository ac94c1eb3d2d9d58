"""How one service calls another: one port, a gRPC form and an in-process form with the same failures.

Retries only what is safe: a command keeps its request id, so asking again after an unknown outcome never acts twice.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Mapping
from typing import Any, Protocol, TypeVar

import grpc

from services.game.authority import CommandContext
from services.runtime.dispatch import Dispatcher
from services.runtime.failures import CallFailed, DeadlinePassed, NotFound, NotOwner, Overloaded, ServiceUnavailable
from services.runtime.renewed_channel import RenewedChannel
from services.runtime.transport import Tls, require_loopback
from services.wire.redirect import decode_redirect
from services.wire.refusal import STATUS_DETAILS_KEY, Refused, decode_refusal
from services.wire.rpc import Call, CommandHeader, Rpc

Q = TypeVar("Q")
A = TypeVar("A")

DEADLINE_SECONDS = 10.0
MESSAGE_LIMIT_BYTES = 4 * 1024 * 1024
FIRST_PAUSE_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 1.0


class Caller(Protocol):
    """Carries a request to its service and the answer back; raises Refused, ServiceUnavailable or CallFailed."""

    async def call(self, rpc: Rpc[Q, A], table: str, context: CommandContext | None, request: Q) -> A:
        """One request, one answer; `context` for commands only."""
        ...

    def stream(self, rpc: Rpc[Q, A], table: str, request: Q) -> AsyncIterator[A]:
        """One request, many answers."""
        ...


class LocalCaller:
    """Calls services hosted in this process; `dispatchers` by service name."""

    def __init__(self, dispatchers: Mapping[str, Dispatcher]) -> None:
        self._dispatchers = dispatchers

    async def call(self, rpc: Rpc[Q, A], table: str, context: CommandContext | None, request: Q) -> A:
        """See Caller."""
        header = CommandHeader.of(context) if context else None
        return await self._dispatcher(rpc).call(rpc, Call(table, header, request))

    def stream(self, rpc: Rpc[Q, A], table: str, request: Q) -> AsyncIterator[A]:
        """See Caller."""
        return self._dispatcher(rpc).stream(rpc, Call(table, None, request))

    def _dispatcher(self, rpc: Rpc[Any, Any]) -> Dispatcher:
        if rpc.service not in self._dispatchers:
            raise ServiceUnavailable(f"{rpc.service} is not hosted in this process")
        return self._dispatchers[rpc.service]


class GrpcCaller:
    """Calls a service over gRPC. `patience_seconds` bounds all tries of one call together, each try its own deadline."""

    def __init__(
        self,
        channel: grpc.aio.Channel,
        *,
        deadline_seconds: float = DEADLINE_SECONDS,
        patience_seconds: float = 30.0,
    ) -> None:
        self._channel = channel
        self._deadline_seconds = deadline_seconds
        self._patience_seconds = patience_seconds

    async def call(self, rpc: Rpc[Q, A], table: str, context: CommandContext | None, request: Q) -> A:
        """See Caller; tries again while the service is unavailable, with growing, jittered pauses."""
        data = rpc.encode_request(table, context, request)
        method: Any = self._channel.unary_unary(rpc.path)
        loop = asyncio.get_running_loop()
        give_up_at = loop.time() + self._patience_seconds
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                return rpc.decode_reply(await method(data, timeout=self._deadline_seconds))
            except grpc.aio.AioRpcError as error:
                failure = failure_of(error)
            if not isinstance(failure, ServiceUnavailable) or loop.time() + pause > give_up_at:
                raise failure
            # Jitter keeps many clients of a restarted service from coming back in step.
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - not a secret
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    async def stream(self, rpc: Rpc[Q, A], table: str, request: Q) -> AsyncIterator[A]:
        """See Caller; not retried, since only the reader knows from where to go on."""
        method: Any = self._channel.unary_stream(rpc.path)
        try:
            async for data in method(rpc.encode_request(table, None, request)):
                yield rpc.decode_reply(data)
        except grpc.aio.AioRpcError as error:
            raise failure_of(error) from error


def open_channel(address: str, tls: Tls | None = None) -> grpc.aio.Channel:
    """A channel to "host:port" with our message limits; without `tls` in plain text, to loopback addresses only.

    A certificate that was replaced is shown from the next call on. Raises SettingsRefused.
    """
    options = [
        ("grpc.max_send_message_length", MESSAGE_LIMIT_BYTES),
        ("grpc.max_receive_message_length", MESSAGE_LIMIT_BYTES),
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 2_000),
    ]
    if tls is None:
        return grpc.aio.insecure_channel(require_loopback(address, "give --tls DIR"), options=options)
    return RenewedChannel(address, tls, options)


def failure_of(error: grpc.aio.AioRpcError) -> Exception:
    """The failure that a gRPC status stands for."""
    text = error.details() or error.code().name
    for key, value in error.trailing_metadata() or ():
        if key == STATUS_DETAILS_KEY:
            detail = value if isinstance(value, bytes) else value.encode()
            refused = decode_refusal(detail)
            if refused is not None:
                return refused
            redirect = decode_redirect(detail)
            if redirect is not None:
                return NotOwner(text, redirect.partition, redirect.owner, redirect.address)
    match error.code():
        case grpc.StatusCode.DEADLINE_EXCEEDED:
            return DeadlinePassed(text)
        case grpc.StatusCode.RESOURCE_EXHAUSTED:
            # gRPC has one status for two things: a service without room, and a message that no waiting makes smaller.
            return CallFailed(text) if "larger than max" in text else Overloaded(text)
        case grpc.StatusCode.UNAVAILABLE | grpc.StatusCode.CANCELLED:
            return ServiceUnavailable(text)
        case grpc.StatusCode.NOT_FOUND:
            return NotFound(text)
        case _:
            return CallFailed(f"{error.code().name}: {text}")


__all__ = ["Caller", "GrpcCaller", "LocalCaller", "Refused", "failure_of", "open_channel"]

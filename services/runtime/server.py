"""The gRPC server of a process: its dispatchers on the wire, with health, reflection, limits and a graceful end."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import grpc
import structlog
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health_aio
from grpc_reflection.v1alpha import reflection

from services.game.rejections import Rejection
from services.runtime.caller import MESSAGE_LIMIT_BYTES
from services.runtime.dispatch import Dispatcher
from services.runtime.door import Door, DoorInterceptor
from services.runtime.failures import CallFailed, NotFound, NotOwner, Overloaded, ServiceUnavailable
from services.runtime.transport import require_loopback
from services.wire.redirect import Redirect, encode_redirect
from services.wire.refusal import STATUS_CODES, STATUS_DETAILS_KEY, Refused, encode_refusal, status_text
from services.wire.rpc import Call, Kind, Rpc

log = structlog.get_logger(__name__)

_STATUS = {status.value[0]: status for status in grpc.StatusCode}


class PortTaken(RuntimeError):
    """The address cannot be listened on."""


class GrpcServer:
    """Serves dispatchers on one address. `address` with port 0 takes a free port; see `port` after `start`.

    With a `door` it speaks TLS and lets nobody in without a good certificate; without one it speaks plain text, on loopback
    addresses alone: raises SettingsRefused for any other.
    """

    def __init__(self, dispatchers: Sequence[Dispatcher], address: str, door: Door | None = None) -> None:
        self.address = address if door else require_loopback(address, "give --tls DIR")
        self.port = 0
        self._dispatchers = dispatchers
        self._door = door
        guards = [DoorInterceptor(door, frozenset(d.service for d in dispatchers))] if door else []
        self._server = grpc.aio.server(
            interceptors=guards,
            options=[
                ("grpc.max_send_message_length", MESSAGE_LIMIT_BYTES),
                ("grpc.max_receive_message_length", MESSAGE_LIMIT_BYTES),
                # Two houses on one port would share its requests without a word.
                ("grpc.so_reuseport", 0),
            ],
        )
        self._streams = _OpenStreams()
        self._health = health_aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        names = [*(d.service for d in dispatchers), "grpc.health.v1.Health", reflection.SERVICE_NAME]
        reflection.enable_server_reflection(names, self._server)
        for dispatcher in dispatchers:
            handlers = {rpc.name: _handler(dispatcher, rpc, self._streams, door) for rpc in dispatcher.use_cases}
            self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(dispatcher.service, handlers),))

    async def start(self) -> None:
        """Listen and report every service as serving; raises PortTaken."""
        try:
            if self._door is None:
                self.port = self._server.add_insecure_port(self.address)
            else:
                self.port = self._server.add_secure_port(self.address, self._door.credentials())
        except RuntimeError as error:
            raise PortTaken(
                f"cannot listen on {self.address}: another process has it, or it is no address of this machine; "
                "stop that one or choose another"
            ) from error
        await self._server.start()
        await self.set_health(serving=True)

    async def set_health(self, *, serving: bool) -> None:
        """What health checks are told of every service and of the whole ("")."""
        status = health_pb2.HealthCheckResponse.SERVING if serving else health_pb2.HealthCheckResponse.NOT_SERVING
        for name in ("", *(d.service for d in self._dispatchers)):
            await self._health.set(name, status)

    async def stop(self, grace_seconds: float = 5.0) -> None:
        """Turn new requests away, let those in hand end, then close. Streams end at once: they have no end of their own."""
        await self._health.enter_graceful_shutdown()
        self._streams.close()
        await self._server.stop(grace_seconds)
        await asyncio.gather(*(dispatcher.drain() for dispatcher in self._dispatchers))


class _OpenStreams:
    """The streams that are being answered; without ending them every drain would last as long as its grace."""

    def __init__(self) -> None:
        self.closing = False
        self._tasks: set[asyncio.Task[Any]] = set()

    def add(self, task: asyncio.Task[Any] | None) -> None:
        """Note the task that answers a stream."""
        if task is None:
            return
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if self.closing:
            task.cancel()

    def close(self) -> None:
        """Tell every reader that this server ends; he watches again elsewhere or later."""
        self.closing = True
        for task in self._tasks:
            task.cancel()


def _handler(
    dispatcher: Dispatcher, rpc: Rpc[Any, Any], streams: _OpenStreams, door: Door | None
) -> "grpc.RpcMethodHandler[bytes, bytes]":
    def call_in(data: bytes, context: Any) -> Call[Any]:
        return door.let_in(rpc, data, context) if door else rpc.decode_request(data)

    if rpc.kind is Kind.STREAM:

        async def answer_stream(data: bytes, context: Any) -> AsyncIterator[bytes]:
            streams.add(asyncio.current_task())
            try:
                async for reply in dispatcher.stream(rpc, call_in(data, context)):
                    if door:
                        door.check(rpc.service, rpc.name, context)
                    yield rpc.encode_reply(reply)
            except asyncio.CancelledError:
                if not streams.closing:
                    raise
                await context.abort(grpc.StatusCode.UNAVAILABLE, "this server is ending: ask again")
            except Exception as error:  # noqa: BLE001 - the boundary: everything becomes a status
                await _abort(context, error)

        return grpc.unary_stream_rpc_method_handler(answer_stream)

    async def answer(data: bytes, context: Any) -> bytes:
        try:
            return rpc.encode_reply(await dispatcher.call(rpc, call_in(data, context)))
        except Exception as error:
            await _abort(context, error)
            raise

    return grpc.unary_unary_rpc_method_handler(answer)


async def _abort(context: Any, error: Exception) -> None:
    """End the call with the status that stands for `error`."""
    if isinstance(error, Rejection):
        error = Refused.of(error)
    if isinstance(error, Refused):
        code = _STATUS[STATUS_CODES[error.breach]]
        detail = encode_refusal(error)
        await context.abort(code, status_text(error), trailing_metadata=((STATUS_DETAILS_KEY, detail),))
    if isinstance(error, NotOwner) and error.address:
        detail = encode_redirect(Redirect(error.partition, error.owner, error.address), status_text(error))
        code = grpc.StatusCode.FAILED_PRECONDITION
        await context.abort(code, status_text(error), trailing_metadata=((STATUS_DETAILS_KEY, detail),))
    codes: list[tuple[type[Exception], grpc.StatusCode]] = [
        (Overloaded, grpc.StatusCode.RESOURCE_EXHAUSTED),
        (ServiceUnavailable, grpc.StatusCode.UNAVAILABLE),
        (NotFound, grpc.StatusCode.NOT_FOUND),
        (CallFailed, grpc.StatusCode.INTERNAL),
    ]
    for kind, code in codes:
        if isinstance(error, kind):
            await context.abort(code, status_text(error))
    log.error("an answer could not be sent", exc_info=error)
    await context.abort(grpc.StatusCode.INTERNAL, "failed inside the service; its log says why")

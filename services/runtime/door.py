"""The door of a gRPC server over TLS: each call's certificate is looked at before anything of the call is.

Owns what is asked at the door, what is logged and what is counted there. Promises that a call that is turned away reached
no use case, and that one that was let in is asked again with every answer of a stream: a revocation ends it.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import structlog
from prometheus_client import Counter

from services.game.rejections import Breach, Rejection
from services.runtime.admission import SERVICES_ONLY, AccessTable, admit
from services.runtime.enrolment import Enrolment
from services.runtime.identity import Identity, identity_in_pem
from services.runtime.telemetry import Telemetry
from services.runtime.transport import Tls
from services.wire.refusal import STATUS_DETAILS_KEY, Refused, encode_refusal, status_text
from services.wire.rpc import Call, Rpc

log = structlog.get_logger(__name__)


class CertificateMissing(Rejection):
    """A call without a certificate."""

    rule = "DESIGN §1"
    remedy = "Connect with TLS and your own certificate: --tls DIR."
    breach = Breach.IDENTITY


class Door:
    """Lets calls in by `access`, for holders of certificates that `tls`'s lists know; raises ListUnusable without lists."""

    def __init__(
        self, tls: Tls, access: AccessTable, telemetry: Telemetry, *, enrolment: Enrolment | None = None
    ) -> None:
        self._tls = tls
        self._shown = tls.stamp
        self._access = access
        self._telemetry = telemetry
        self._enrolment = enrolment or tls.enrolment()
        self._handshakes = Counter(
            "holecard_tls_handshakes_total",
            "TLS connections that somebody began, with or without a good certificate.",
            registry=telemetry.registry,
        )

    def credentials(self) -> grpc.ServerCredentials:
        """For the server: its certificate as it is at each new connection."""

        def renewed() -> grpc.ServerCertificateConfiguration | None:
            self._handshakes.inc()
            if self._tls.refresh() == self._shown:
                return None
            self._shown = self._tls.stamp
            return self._tls.server_configuration()

        return grpc.dynamic_ssl_server_credentials(
            self._tls.server_configuration(),
            renewed,  # type: ignore[arg-type]  # None means "as before" (its documentation), which its types forgot
            require_client_authentication=True,
        )

    def identify(self, context: Any) -> Identity:
        """Who calls; raises a Rejection of breach IDENTITY."""
        shown = context.auth_context().get("x509_pem_cert")
        if not shown:
            raise CertificateMissing("a call without a certificate")
        return self._enrolment.check(identity_in_pem(shown[0]))

    def let_in(self, rpc: Rpc[Any, Any], data: bytes, context: Any) -> Call[Any]:
        """The call in `data`, of somebody who may make it; raises a Rejection, which is logged and counted."""
        identity: Identity | None = None
        table = ""
        try:
            identity = self.identify(context)
            call = rpc.decode_request(data)
            table = call.table
            admit(identity, self._access.get(rpc, SERVICES_ONLY), rpc, call)
        except Rejection as rejection:
            if rejection.breach in {Breach.AUTHORITY, Breach.IDENTITY}:
                self._turned_away(rpc.service, rpc.name, context, identity, rejection, table)
            raise
        return call

    def check(self, service: str, procedure: str, context: Any) -> None:
        """Whether whoever calls, or still reads a stream, holds a good certificate; raises as `let_in` does."""
        try:
            self.identify(context)
        except Rejection as rejection:
            self._turned_away(service, procedure, context, None, rejection, "")
            raise

    def _turned_away(
        self, service: str, procedure: str, context: Any, identity: Identity | None, rejection: Rejection, table: str
    ) -> None:
        self._telemetry.refusals.labels(service, rejection.name).inc()
        self._telemetry.count(service, procedure, "refused")
        log.warning(
            "turned away at the door",
            rejection=rejection.name,
            reason=rejection.message,
            procedure=procedure,
            table=table[:100],
            holder=str(identity) if identity else "unknown",
            serial=identity.serial if identity else str(rejection.facts.get("serial", "")),
            peer=context.peer(),
        )


class DoorInterceptor(grpc.aio.ServerInterceptor):
    """The same for what is not ours to answer, health and reflection: any good certificate will do."""

    def __init__(self, door: Door, ours: frozenset[str]) -> None:
        self._door = door
        self._ours = ours

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable["grpc.RpcMethodHandler[Any, Any] | None"]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> "grpc.RpcMethodHandler[Any, Any] | None":
        """See grpc.aio.ServerInterceptor."""
        handler: Any = await continuation(handler_call_details)
        service, _, procedure = handler_call_details.method.strip("/").partition("/")
        if handler is None:
            return None
        if service in self._ours:
            known: grpc.RpcMethodHandler[Any, Any] = handler
            return known
        codecs = (handler.request_deserializer, handler.response_serializer)
        if handler.unary_unary:

            async def answer(request: Any, context: Any) -> Any:
                await self._check(service, procedure, context)
                return await handler.unary_unary(request, context)

            return grpc.unary_unary_rpc_method_handler(answer, *codecs)
        many = handler.unary_stream or handler.stream_stream

        async def answers(request: Any, context: Any) -> None:
            await self._check(service, procedure, context)
            given = many(request, context)
            if not hasattr(given, "__aiter__"):
                await given
                return
            async for reply in given:
                await context.write(reply)

        make = grpc.unary_stream_rpc_method_handler if handler.unary_stream else grpc.stream_stream_rpc_method_handler
        return make(answers, *codecs)

    async def _check(self, service: str, procedure: str, context: Any) -> None:
        try:
            self._door.check(service, procedure, context)
        except Rejection as rejection:
            refused = Refused.of(rejection)
            detail = ((STATUS_DETAILS_KEY, encode_refusal(refused)),)
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, status_text(refused), trailing_metadata=detail)

"""Who looks at the console: the certificate that a browser shows, asked for with every request.

Owns the console's log-in: there is no password, a browser shows a certificate as every service does. Promises that nothing
but the bare sign of life and the pages' own files is answered without a good one, that each refusal says in words what to
do, is logged and counted, and that a revocation ends the live streams that are open. What a visitor may see is in `reach`.
"""

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import structlog
from prometheus_client import CollectorRegistry, Counter
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from services.console.security import HEADERS
from services.game.rejections import Breach, Rejection
from services.runtime.enrolment import Enrolment
from services.runtime.identity import Identity, identity_in_der

OPEN_TO_ALL = ("/healthz", "/static/")
LOOK_AGAIN_SECONDS = 1.0

visitor: ContextVar[Identity | None] = ContextVar("visitor", default=None)
"""Who asks for the page in hand; None on a console that asks nobody, which listens on this machine alone."""

log = structlog.get_logger(__name__)


class CertificateNotShown(Rejection):
    """A browser that showed no certificate."""

    rule = "DESIGN §1"
    remedy = "Import a certificate (`holecard pki export`) into the browser, and choose it when it asks."
    breach = Breach.IDENTITY


class ShownCertificate(H11Protocol):
    """HTTP over TLS that tells the application which certificate the connection came with."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as its parent has it
        """Note the certificate for every request of the connection."""
        tls = transport.get_extra_info("ssl_object")
        shown = tls.getpeercert(binary_form=True) if tls is not None else None
        self.app_state = {**self.app_state, "certificate": shown}
        super().connection_made(transport)


class Visitors:
    """Lets nobody through to `app` without a good certificate."""

    def __init__(
        self,
        app: ASGIApp,
        enrolment: Enrolment,
        renew: Callable[[], None],
        registry: CollectorRegistry | None = None,
    ) -> None:
        """`renew` is called with every request, to look for a new certificate of the console's own."""
        self._app = app
        self._enrolment = enrolment
        self._renew = renew
        self._turned_away = Counter(
            "holecard_console_turned_away_total",
            "Requests for pages without a good certificate, by the broken rule.",
            ("rejection",),
            registry=registry,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 401 in words."""
        self._renew()
        if scope["type"] != "http" or scope["path"].startswith(OPEN_TO_ALL):
            await self._app(scope, receive, send)
            return
        try:
            identity = self._identify(scope)
        except Rejection as rejection:
            self._refused(scope, rejection)
            words = f"{rejection.message}.\n{rejection.remedy}\n"
            await PlainTextResponse(words, status_code=401, headers=HEADERS)(scope, receive, send)
            return
        token = visitor.set(identity)
        watched = _Watched(receive, send)
        watching = asyncio.create_task(self._watch(scope, identity, watched))
        try:
            await self._app(scope, watched.receive, watched.send)
        finally:
            watching.cancel()
            visitor.reset(token)

    def _identify(self, scope: Scope) -> Identity:
        shown: bytes | None = scope.get("state", {}).get("certificate")
        if not shown:
            raise CertificateNotShown("this console answers who shows a certificate")
        return self._enrolment.check(identity_in_der(shown))

    async def _watch(self, scope: Scope, identity: Identity, watched: "_Watched") -> None:
        """End a long answer when its reader's certificate is good no longer."""
        while True:
            await asyncio.sleep(LOOK_AGAIN_SECONDS)
            try:
                self._enrolment.check(identity)
            except Rejection as rejection:
                self._refused(scope, rejection)
                await watched.end()
                return

    def _refused(self, scope: Scope, rejection: Rejection) -> None:
        self._turned_away.labels(rejection.name).inc()
        client = scope.get("client") or ("unknown",)
        log.warning(
            "turned away at the console",
            rejection=rejection.name,
            reason=rejection.message,
            path=scope["path"][:200],
            serial=str(rejection.facts.get("serial", "")),
            peer=client[0],
        )


class _Watched:
    """A request's two ends, which can be told to end: the reader is then gone for the application."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._ended = asyncio.Event()
        self._began = False
        self._complete = False

    async def receive(self) -> Message:
        """What comes from the browser, or that it is gone."""
        coming = asyncio.ensure_future(self._receive())
        ending = asyncio.ensure_future(self._ended.wait())
        try:
            await asyncio.wait({coming, ending}, return_when=asyncio.FIRST_COMPLETED)
            return {"type": "http.disconnect"} if self._ended.is_set() else coming.result()
        finally:
            coming.cancel()
            ending.cancel()

    async def send(self, message: Message) -> None:
        """Pass on what goes to the browser, as long as it is to get it."""
        if self._ended.is_set():
            return
        self._began = True
        self._complete = message["type"] == "http.response.body" and not message.get("more_body", False)
        await self._send(message)

    async def end(self) -> None:
        """End the answer here."""
        self._ended.set()
        if self._began and not self._complete:
            last: dict[str, Any] = {"type": "http.response.body", "body": b"", "more_body": False}
            await self._send(last)

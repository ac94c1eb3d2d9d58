"""What a process tells those who run it, over plain HTTP: its metrics, whether it lives, whether it is ready.

    /metrics   Prometheus' text
    /live      200 while the event loop turns; 503 when it has stood for STANDS_SECONDS: end the process and start another
    /ready     200 while the process serves; 503 while it starts, drains or has failed: send it nothing new
    /owners    which partitions of the journal this process owns, and how it finds the others' addresses

Owns the server and its threads. Tells nothing that a label may not tell either, and takes no commands, so that it needs no
certificate of who asks: kubelet and Prometheus have none of ours.
"""

import asyncio
import json
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from http import HTTPStatus
from socketserver import ThreadingMixIn
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app

from services.runtime.server import PortTaken
from services.runtime.settings import read_address

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

BEAT_SECONDS = 1.0
STANDS_SECONDS = 30.0
"""No command and no replay holds the loop for a second; after so long something holds it for good."""


class OpsServer:
    """Serves one process's metrics and state. `start` it early: a process that starts slowly says that it starts.

    `ready` is asked at each look and says why the process is not ready, "" when it is; `services` are those hosted here;
    `owners` gives what /owners shows as JSON.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        services: Sequence[str],
        ready: Callable[[], str],
        owners: Callable[[], Mapping[str, object]] = dict,
    ) -> None:
        self.port = 0
        self._owners = owners
        self._metrics = make_wsgi_app(registry)
        self._services = sorted(services)
        self._ready = ready
        self._beat = monotonic()
        self._beating: asyncio.Task[None] | None = None
        self._server: WSGIServer | None = None
        self._thread: Thread | None = None

    def start(self, address: str) -> None:
        """Listen on "host:port", port 0 for a free one; call it on the event loop. Raises PortTaken."""
        host, port = read_address(address)
        try:
            family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
            server_class = _Server if family == socket.AF_INET else _Server6
            self._server = make_server(host, port, self._answer, server_class, handler_class=_Silent)
        except OSError as error:
            raise PortTaken(f"cannot serve metrics on {address}: {error.strerror}; choose another --metrics") from error
        self.port = self._server.server_port
        self._thread = Thread(target=self._server.serve_forever, name="ops-server", daemon=True)
        self._thread.start()
        self._beating = asyncio.create_task(self._keep_beating())

    async def stop(self) -> None:
        """Close it; asking is refused from now on."""
        if self._beating is not None:
            self._beating.cancel()
        if self._server is not None and self._thread is not None:
            await asyncio.to_thread(self._server.shutdown)
            self._server.server_close()
            self._thread.join()

    async def _keep_beating(self) -> None:
        while True:
            self._beat = monotonic()
            await asyncio.sleep(BEAT_SECONDS)

    def _answer(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        match environ["PATH_INFO"]:
            case "/live":
                stands = monotonic() - self._beat
                trouble = f"the event loop has stood for {stands:.0f} s" if stands > STANDS_SECONDS else ""
                return self._state(start_response, "live", trouble)
            case "/ready":
                return self._state(start_response, "ready", self._ready())
            case "/owners":
                return _json(start_response, HTTPStatus.OK, self._owners())
            case "/" | "/metrics":
                return list(self._metrics(environ, start_response))
            case _:
                start_response("404 Not Found", [("Content-Type", "text/plain; charset=utf-8")])
                return [b"/metrics, /live, /ready and /owners are here\n"]

    def _state(self, start_response: "StartResponse", what: str, trouble: str) -> Iterable[bytes]:
        status = HTTPStatus.SERVICE_UNAVAILABLE if trouble else HTTPStatus.OK
        body: dict[str, Any] = {what: not trouble, "services": self._services}
        if trouble:
            body["reason"] = trouble
        return _json(start_response, status, body)


def _json(start_response: "StartResponse", status: HTTPStatus, body: Mapping[str, object]) -> Iterable[bytes]:
    start_response(f"{status.value} {status.phrase}", [("Content-Type", "application/json")])
    return [json.dumps(body).encode() + b"\n"]


class _Server(ThreadingMixIn, WSGIServer):
    """One thread for each look, so that a slow one keeps nobody waiting."""

    daemon_threads = True


class _Server6(_Server):
    """The same on an IPv6 address."""

    address_family = socket.AF_INET6


class _Silent(WSGIRequestHandler):
    """Looks are no news; and one that never ends is cut off."""

    timeout = 30

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that http.server calls it by
        """Say nothing."""

"""Who is answered, and what every response says to the browser: run and load only our own files, be framed by nobody.

Pure ASGI, so that a live stream passes through unbuffered.
"""

from collections.abc import Collection
from ipaddress import ip_address

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class SecurityHeaders:
    """Adds HEADERS to every response; pages are not kept by any cache, static files may be asked for again cheaply."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and complete the response's head."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def complete(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                if not scope["path"].startswith("/static/"):
                    headers["Cache-Control"] = "no-store"
                else:
                    headers["Cache-Control"] = "no-cache"
            await send(message)

        await self._app(scope, receive, complete)


class KnownHosts:
    """Answers only requests that name this console: by an IP address, as localhost, or by one of `names`.

    A page of somebody else's, open in the same browser, can let its own name lead to this machine and then read what it is
    answered as its own (DNS rebinding); it cannot do so with an address or with a name that it does not own. 421 otherwise.
    """

    def __init__(self, app: ASGIApp, names: Collection[str]) -> None:
        self._app = app
        self._names = {"localhost", *(name.lower().rstrip(".") for name in names)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on or turn it away."""
        if scope["type"] in {"http", "websocket"} and not self._knows(Headers(scope=scope).get("host", "")):
            words = "This console does not go by that name. Start it with --console-name NAME to let it.\n"
            await PlainTextResponse(words, status_code=421, headers=HEADERS)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _knows(self, host: str) -> bool:
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        try:
            ip_address(name.strip("[]"))
        except ValueError:
            return name.lower().rstrip(".") in self._names
        return True

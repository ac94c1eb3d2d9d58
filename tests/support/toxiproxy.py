"""Lines that can be cut and slowed: a real toxiproxy between a client and what it calls (github.com/Shopify/toxiproxy).

One server, any number of lines. A line listens on a port of its own and leads to an address; while it is cut nothing gets
through and new connections are refused, while it is silent connections stay open and every byte is swallowed.
"""

import asyncio
import json
import subprocess
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.support.house_process import ROOT, free_port


def _binary() -> str:
    """The server's path; it is built when it is not in the cache yet."""
    return subprocess.check_output([ROOT / "deploy" / "go-binary", "toxiproxy"], text=True).strip()


class Line:
    """One way through the proxy: give `address` to the client."""

    def __init__(self, server: "Toxiproxy", name: str, address: str) -> None:
        self._server = server
        self._name = name
        self.address = address

    async def cut(self) -> None:
        """Close every connection and refuse new ones."""
        await self._server.ask("POST", f"/proxies/{self._name}", {"enabled": False})

    async def mend(self) -> None:
        """Let everything through again, at full speed."""
        await self._server.ask("POST", f"/proxies/{self._name}", {"enabled": True})
        for toxic in await self._server.ask("GET", f"/proxies/{self._name}/toxics"):
            await self._server.ask("DELETE", f"/proxies/{self._name}/toxics/{toxic['name']}")

    async def slow(self, latency_ms: int, jitter_ms: int = 0) -> None:
        """Hold every answer back for so long."""
        await self._toxic("latency", {"latency": latency_ms, "jitter": jitter_ms})

    async def narrow(self, kilobytes_a_second: int) -> None:
        """Let no more through than this."""
        await self._toxic("bandwidth", {"rate": kilobytes_a_second})

    async def silence(self) -> None:
        """Swallow every byte of the answers and keep the connections open: a line that is dead without a word."""
        await self._toxic("timeout", {"timeout": 0})

    async def _toxic(self, kind: str, attributes: dict[str, int]) -> None:
        toxic = {"type": kind, "stream": "downstream", "attributes": attributes}
        await self._server.ask("POST", f"/proxies/{self._name}/toxics", toxic)


class Toxiproxy:
    """`async with Toxiproxy(folder) as proxy: line = await proxy.line("127.0.0.1:9092")`."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "toxiproxy.log"
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._lines = 0

    async def __aenter__(self) -> Self:
        binary = await asyncio.to_thread(_binary)
        with self._log.open("wb") as log:
            self._process = await asyncio.to_thread(
                subprocess.Popen,
                [binary, "-host", "127.0.0.1", "-port", str(self._port)],
                stdout=log,
                stderr=log,
            )
        for _ in range(100):
            with suppress(OSError):
                await self.ask("GET", "/version")
                return self
            await asyncio.sleep(0.05)
        raise RuntimeError(f"toxiproxy did not start: {self._log.read_text()[-500:]}")

    async def __aexit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if self._process is not None:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)

    async def line(self, upstream: str, port: int = 0) -> Line:
        """A new line to that address; `port` 0 takes a free one."""
        self._lines += 1
        name, listen = f"line{self._lines}", f"127.0.0.1:{port or free_port()}"
        await self.ask("POST", "/proxies", {"name": name, "listen": listen, "upstream": upstream, "enabled": True})
        return Line(self, name, listen)

    async def ask(self, method: str, path: str, content: dict[str, Any] | None = None) -> Any:
        """One call of the server's own interface."""
        return await asyncio.to_thread(self._ask, method, path, content)

    def _ask(self, method: str, path: str, content: dict[str, Any] | None) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._port}{path}",
            data=None if content is None else json.dumps(content).encode(),
            method=method,
            headers={"User-Agent": "holecard-tests"},
        )
        with urllib.request.urlopen(request, timeout=5) as answer:  # noqa: S310 - loopback
            text = answer.read()
        return json.loads(text) if text.strip().startswith((b"{", b"[")) else text

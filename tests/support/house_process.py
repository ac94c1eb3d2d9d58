"""A real house in a process of its own, that can be killed, frozen, stopped and started again on the same data.

For the fault tests. The address stays the same from one life to the next, so that clients come back by themselves.
"""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

ROOT = Path(__file__).resolve().parents[2]
SERVICES = ("shoe", "table", "wager")
START_SECONDS = 60.0
LIMITED = """
import os, resource, sys
limit = int(sys.argv[1]) or resource.RLIM_INFINITY
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""
"""Starts the house under a limit for each file: a full disk that needs no rights and harms nobody else."""


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        port: int = asked.getsockname()[1]
        return port


class HouseProcess:
    """`async with HouseProcess(folder) as house:` starts it and leaves no process behind, whatever happens inside."""

    ready = b"data:"
    """What the command says last, once everything is served."""

    def __init__(
        self,
        folder: Path,
        services: Sequence[str] = SERVICES,
        *,
        largest_file_bytes: int = 0,
        metrics: str = "127.0.0.1:0",
        arguments: Sequence[str] = (),
    ) -> None:
        """`largest_file_bytes` is all that the system lets it write into one file, 0 for no limit; it may be changed.

        `metrics` is where Prometheus finds it; `arguments` are further ones of `holecard serve`.
        """
        self.largest_file_bytes = largest_file_bytes
        self.folder = folder
        self.data = folder / "data"
        self.log = folder / "house.log"
        self.address = f"127.0.0.1:{free_port()}"
        self.lives = 0
        self._arguments = [
            "-m", "services", "serve", *services, "--plain-text", "--data", str(self.data), "--listen", self.address,
            "--console", "127.0.0.1:0", "--metrics", metrics, *arguments,
        ]  # fmt: skip
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.send(signal.SIGCONT)
            self.send(signal.SIGKILL)
        await self.ended()

    @property
    def journal(self) -> Path:
        """The file that is the truth."""
        return self.data / "journal.db"

    async def launch(self) -> None:
        """Begin a life without waiting for it to serve."""
        self.lives += 1
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-c",
                LIMITED,
                str(self.largest_file_bytes),
                *self._arguments,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=ROOT,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
                start_new_session=True,
            )

    async def start(self) -> None:
        """Begin a life and return once it serves; raises RuntimeError with its last words when it ends before."""
        said = self.log.stat().st_size if self.log.exists() else 0
        await self.launch()
        process = self._running()
        async with asyncio.timeout(START_SECONDS):
            while self.ready not in self.words(said):
                if process.returncode is not None:
                    raise RuntimeError(
                        f"the house ended with {process.returncode}: {self.words(said).decode()[-3000:]}"
                    )
                await asyncio.sleep(0.02)

    def words(self, after: int = 0) -> bytes:
        """What the house said from that byte of its log on."""
        if not self.log.exists():
            return b""
        with self.log.open("rb") as log:
            log.seek(after)
            return log.read()

    def send(self, number: signal.Signals) -> None:
        """Send a signal; raises ProcessLookupError when the house has ended."""
        process = self._running()
        if process.returncode is not None:
            raise ProcessLookupError
        process.send_signal(number)

    async def kill(self) -> None:
        """End it as a power cut would."""
        self.send(signal.SIGKILL)
        await self.ended()

    async def stop(self) -> int:
        """Ask it to drain and end; gives its exit status."""
        self.send(signal.SIGTERM)
        return await self.ended()

    async def ended(self) -> int:
        """Wait for its end; gives its exit status."""
        async with asyncio.timeout(START_SECONDS):
            return await self._running().wait()

    def _running(self) -> asyncio.subprocess.Process:
        if self._process is None:
            raise RuntimeError("the house was never started")
        return self._process

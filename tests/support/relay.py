"""A line that can be cut: a TCP relay between a gateway and its house, or any two others."""

import asyncio
import contextlib
from types import TracebackType
from typing import Self


class Relay:
    """`async with Relay(port) as line:` listens on `line.port` and passes everything on to `port` of this machine.

    `cut` closes what is open and turns away what comes; `mend` lets it through again. A hanging line (`hang`) takes
    everything and passes nothing on.
    """

    def __init__(self, port: int) -> None:
        self.to = port
        self.port = 0
        self.is_cut = False
        self._hanging = asyncio.Event()
        self._hanging.set()
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def address(self) -> str:
        """Where to call."""
        return f"127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def cut(self) -> None:
        """Break every connection and turn new ones away."""
        self.is_cut = True
        self._hanging.set()
        for writer in list(self._open):
            writer.transport.abort()

    def mend(self) -> None:
        """Let everything through."""
        self.is_cut = False
        self._hanging.set()

    def hang(self) -> None:
        """Take everything and pass nothing on."""
        self._hanging.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_cut:
            writer.transport.abort()
            return
        self._open.add(writer)
        try:
            theirs, ours = await asyncio.open_connection("127.0.0.1", self.to)
        except OSError:
            self._open.discard(writer)
            writer.transport.abort()
            return
        self._open.add(ours)
        for source, sink in ((reader, ours), (theirs, writer)):
            task = asyncio.create_task(self._pass_on(source, sink))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pass_on(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65_536):
                await self._hanging.wait()
                sink.write(data)
                await sink.drain()
        except OSError:
            pass
        finally:
            self._open.discard(sink)
            with contextlib.suppress(OSError, RuntimeError):
                sink.close()

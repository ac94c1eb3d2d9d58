"""The least that the same machine needs for the same thing: a bare gRPC echo, and a bare durable commit.

What the house does for a player's act is set beside these in one run. The echo is `grpc.aio` on uvloop with bytes of the
sizes of an act and its answer, one server process and one client, as many calls at once as the load has tables. The
commit is one row of an event's size into a SQLite file with WAL and synchronous=FULL, on the same disk.
"""

import asyncio
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import grpc
import psutil
import uvloop

PATH = "/yardstick.Echo/Echo"
EVENT_BYTES = 420


async def _serve(reply_bytes: int) -> None:
    reply = bytes(reply_bytes)

    async def echo(_: bytes, __: Any) -> bytes:
        return reply

    server = grpc.aio.server()
    handlers: dict[str, Any] = {"Echo": grpc.unary_unary_rpc_method_handler(echo)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("yardstick.Echo", handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(port, flush=True)
    told = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told.set)
    await told.wait()
    await server.stop(0)


def echo(request_bytes: int, reply_bytes: int, at_once: int, seconds: float) -> dict[str, Any]:
    """Calls a second, times of a call (a sorted list, seconds) and the server's processor time a call."""
    command = [sys.executable, "-m", "load.yardsticks", str(reply_bytes)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own module
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline())
            seen = psutil.Process(process.pid)
            before = sum(seen.cpu_times()[:2])
            times = uvloop.run(_call(f"127.0.0.1:{port}", bytes(request_bytes), at_once, seconds))
            used = sum(seen.cpu_times()[:2]) - before
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(10)
    return {"calls_a_second": len(times) / seconds, "times": times, "server_cpu_us": used / len(times) * 1e6}


async def _call(address: str, request: bytes, at_once: int, seconds: float) -> list[float]:
    times: list[float] = []
    async with grpc.aio.insecure_channel(address) as channel:
        method: Any = channel.unary_unary(PATH)
        await method(request)
        until = time.perf_counter() + seconds

        async def caller() -> None:
            while (began := time.perf_counter()) < until:
                await method(request, timeout=10)
                times.append(time.perf_counter() - began)

        await asyncio.gather(*(caller() for _ in range(at_once)))
    return sorted(times)


def commits(place: Path, seconds: float) -> list[float]:
    """The times of single durable commits in `place`, sorted, in seconds."""
    row = bytes(EVENT_BYTES)
    times: list[float] = []
    with closing(sqlite3.connect(place / "yardstick.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("CREATE TABLE IF NOT EXISTS event (position INTEGER PRIMARY KEY, stored BLOB NOT NULL)")
        until = time.perf_counter() + seconds
        while (began := time.perf_counter()) < until:
            connection.execute("INSERT INTO event (stored) VALUES (?)", (row,))
            times.append(time.perf_counter() - began)
    return sorted(times)


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1])))

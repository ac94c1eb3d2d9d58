"""The house as a process of its own, for measuring it from outside.

`python -m load.hosting --data DIR [--profile FILE] SERVICES…` hosts them as `holecard serve` does, on free ports which
it prints as one JSON line, until SIGTERM; with --profile it leaves a profile by room behind. `HousePresent` starts and
ends such a process.
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil
import uvloop

from load.profiling import Profiler
from services.house import House
from services.runtime.process import settle_process
from services.runtime.settings import Settings
from services.runtime.telemetry import configure_logging

ALL = ("shoe", "table", "wager", "surveillance", "console")
LONGEST_STOP_SECONDS = 60


class HousePresent:
    """A house process over `data`, there inside the `with` block; `address` is where it listens (gRPC)."""

    def __init__(self, data: Path, services: tuple[str, ...] = ALL, *, profile: bool = False) -> None:
        self.data = data
        self._profile = data / "profile.json" if profile else None
        command = [sys.executable, "-m", "load.hosting", "--data", str(data), *services]
        if self._profile is not None:
            command += ["--profile", str(self._profile)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ)  # noqa: S603 - our own module
        self._seen = psutil.Process(self._process.pid)
        self.address = ""

    def __enter__(self) -> Self:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the house did not start; see above")
        self.address = f"127.0.0.1:{json.loads(line)['grpc']}"
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        """Let the house drain and end."""
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(LONGEST_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise
        finally:
            if self._process.stdout is not None:
                self._process.stdout.close()

    def start_profile(self) -> None:
        """Begin to profile now, so that what came before is left out."""
        if self._profile is not None:
            self._process.send_signal(signal.SIGUSR1)

    @property
    def cpu_seconds(self) -> float:
        """Processor time that the process has used."""
        times = self._seen.cpu_times()
        return float(times.user + times.system)

    @property
    def memory_bytes(self) -> int:
        """Its resident memory."""
        return int(self._seen.memory_info().rss)

    def profile(self) -> dict[str, Any]:
        """What the profiler saw; to be read after the block, empty without --profile."""
        if self._profile is None or not self._profile.exists():
            return {}
        found: dict[str, Any] = json.loads(self._profile.read_text(encoding="utf-8"))
        return found


async def _host(data: Path, services: list[str], *, profiled: bool) -> dict[str, Any]:
    """Host until told to stop; gives the profile."""
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told.set)
    profiler = Profiler()
    profiling = asyncio.Event()
    if profiled:

        def begin() -> None:
            if not profiling.is_set():
                profiling.set()
                profiler.start()

        loop.add_signal_handler(signal.SIGUSR1, begin)
    settings = Settings(data, grpc_address="127.0.0.1:0", console_address="127.0.0.1:0", metrics_address="127.0.0.1:0")
    async with House(settings, services) as house:
        print(json.dumps({"grpc": house.grpc_port}), flush=True)
        await told.wait()
        return profiler.stop() if profiling.is_set() else {}


def main() -> None:
    """Host until told to stop."""
    parser = argparse.ArgumentParser(prog="python -m load.hosting", description="Host the house to be measured.")
    parser.add_argument("services", nargs="*", default=list(ALL))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--profile", type=Path, help="where to leave the profile; profiling begins at SIGUSR1")
    arguments = parser.parse_args()
    configure_logging("warning")
    settle_process()
    found = uvloop.run(_host(arguments.data, arguments.services, profiled=arguments.profile is not None))
    if found:
        arguments.profile.write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()

"""A stream worker as a process of its own: started, killed, paused, and asked how it is."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from services.journal.kafka_layout import TOPICS, Layout
from tests.support.house_process import free_port
from tests.support.kafka_broker import Broker

_LIFETIME_SECONDS = "900"
_COMMAND = "from services.cli import main; main()"


class WorkerProcess:
    """`holecard worker` in a folder of its own."""

    def __init__(self, folder: Path, broker: Broker, layout: Layout, projection: str, *more: str) -> None:
        self.folder = folder
        self.port = free_port()
        self._arguments = [
            "worker", "--kafka", ",".join(broker.cluster.bootstrap), "--partitions", str(layout.partitions),
            "--prefix", layout.topics[0].removesuffix(TOPICS[0]), "--projection", projection, "--data", str(folder),
            "--session-ms", "6000", "--metrics", f"127.0.0.1:{self.port}", *more,
        ]  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> str:
        """What it has said."""
        path = self.folder.with_suffix(".log")
        return path.read_text(errors="replace") if path.exists() else ""

    def start(self) -> None:
        """Start it; it works once it has joined its group."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.folder.with_suffix(".log").open("ab") as log:
            # The lifetime ends it even when the tests are killed and can end nothing any more.
            self._process = subprocess.Popen(
                ["timeout", "-s", "KILL", _LIFETIME_SECONDS, sys.executable, "-c", _COMMAND,
                 *self._arguments],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        assert self._process is not None
        os.killpg(self._process.pid, number)

    def kill(self) -> None:
        """End it as a power cut would."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def stop(self) -> int:
        """Ask it to end, and wait; its exit status."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGTERM)
        return self._process.wait(timeout=60)

    def forget(self) -> None:
        """Delete everything that it keeps on disk."""
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def status(self) -> int | None:
        """Its exit status, None while it runs."""
        return self._process.poll() if self._process is not None else None

"""A real Prometheus, as Debian has it, on a free port with a folder of its own, over our configuration and rules.

Sixty times as fast when asked: every duration of the rules, which are all whole minutes, becomes as many seconds. So an
alert that waits five minutes fires after five seconds, by the same expression.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml

from tests.support.house_process import free_port

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = ROOT / "deploy" / "prometheus"
START_SECONDS = 60
_LIFETIME_SECONDS = "600"
_MINUTES = re.compile(r"(?<=[\[ ])(\d+)m(?=[\]: )\n,]|$)", re.MULTILINE)


def sixty_times_as_fast(rules: str) -> str:
    """The text of a rule file with its minutes made seconds."""
    return _MINUTES.sub(r"\1s", rules)


class PrometheusServer:
    """`with PrometheusServer(folder, {"component": "host:port"}) as prometheus:` starts it and leaves nothing behind."""

    def __init__(self, folder: Path, targets: Mapping[str, str], *, fast: bool = False) -> None:
        self.address = f"127.0.0.1:{free_port()}"
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        shutil.copytree(CONFIGURATION, folder / "etc")
        for rules in (folder / "etc" / "rules").glob("*.yaml"):
            text = rules.read_text()
            rules.write_text(sixty_times_as_fast(text) if fast else text)
        main = folder / "etc" / "prometheus.yml"
        # Five seconds between two looks, sixty times as fast, are too few for a busy machine; a quarter of one will do.
        main.write_text(main.read_text().replace("_interval: 5s", "_interval: 250ms"))
        for known in (folder / "etc" / "targets").glob("*.yaml"):
            known.unlink()
        where = [{"targets": [address], "labels": {"component": name}} for name, address in targets.items()]
        (folder / "etc" / "targets" / "tested.yaml").write_text(yaml.safe_dump(where))

    def __enter__(self) -> Self:
        log = (self._folder / "prometheus.log").open("wb")
        with log:
            # The lifetime ends it even when the tests are killed and can end nothing any more.
            self._process = subprocess.Popen(
                [
                    "timeout", "-s", "KILL", _LIFETIME_SECONDS,
                    "prometheus", f"--config.file={self._folder / 'etc' / 'prometheus.yml'}",
                    f"--storage.tsdb.path={self._folder / 'data'}", f"--web.listen-address={self.address}",
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "GOMAXPROCS": "1"},
                start_new_session=True,
            )  # fmt: skip
        deadline = time.monotonic() + START_SECONDS
        while not self._is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                said = (self._folder / "prometheus.log").read_text()[-4000:]
                self.__exit__(None, None, None)
                raise RuntimeError(f"Prometheus did not start:\n{said}")
            time.sleep(0.05)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if self._process is not None:
            if self._process.poll() is None:
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def ask(self, path: str, **parameters: str) -> Any:
        """The data of an answer of its API; raises RuntimeError with its words when it refuses the question."""
        asked = urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(f"http://{self.address}/api/v1/{path}?{asked}", timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as refused:
            raise RuntimeError(f"{path} {parameters}: {refused.read().decode()}") from refused

    def query(self, expression: str) -> list[dict[str, Any]]:
        """What an expression gives now: series with their labels and values."""
        return list(self.ask("query", query=expression)["result"])

    def firing(self) -> set[str]:
        """The names of the alerts that fire now."""
        return {one["labels"]["alertname"] for one in self.ask("alerts")["alerts"] if one["state"] == "firing"}

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://{self.address}/-/ready", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

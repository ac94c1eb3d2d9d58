"""What a process tells those who run it: lives, ready, metrics; before, during and after its serving."""

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Gauge

from services.house import House
from services.runtime import ops_server
from services.runtime.ops_server import OpsServer
from services.runtime.server import PortTaken
from services.runtime.settings import Settings


async def ask(port: int, path: str, host: str = "127.0.0.1") -> tuple[int, str]:
    """Status and text of an answer."""

    def get() -> tuple[int, str]:
        try:
            with urllib.request.urlopen(f"http://{host}:{port}{path}", timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    return await asyncio.to_thread(get)


class Watched(House):
    """A house that is asked whether it is ready at each step of its life."""

    seen: list[tuple[int, dict[str, Any]]]

    async def _serve_grpc(self) -> None:
        await self._note()
        await super()._serve_grpc()

    async def _note(self) -> None:
        status, text = await ask(self.metrics_port, "/ready")
        self.seen.append((status, json.loads(text)))


async def test_a_house_is_ready_once_it_serves_and_no_longer_when_it_drains(tmp_path: Path) -> None:
    house = Watched(Settings(tmp_path, "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"), ("shoe", "wager"))
    house.seen = []
    async with house:
        await house._note()
        assert await ask(house.metrics_port, "/live") == (200, '{"live": true, "services": ["shoe", "wager"]}\n')
        # What is closed last was opened first: the drain begins after this.
        house._stack.push_async_callback(house._note)
    assert house.seen == [
        (503, {"ready": False, "services": ["shoe", "wager"], "reason": "it starts"}),
        (200, {"ready": True, "services": ["shoe", "wager"]}),
        (503, {"ready": False, "services": ["shoe", "wager"], "reason": "it drains"}),
    ]
    with pytest.raises(OSError, match="refused"):
        await ask(house.metrics_port, "/live")


@pytest.fixture
async def server() -> AsyncIterator[OpsServer]:
    registry = CollectorRegistry()
    Gauge("holecard_table_open_rounds", "Open rounds.", registry=registry).set(3)
    server = OpsServer(registry, ["table"], lambda: "it has failed: the disk is full")
    server.start("127.0.0.1:0")
    yield server
    await server.stop()


async def test_why_a_process_is_not_ready_is_said(server: OpsServer) -> None:
    status, text = await ask(server.port, "/ready")
    assert status == 503
    assert json.loads(text)["reason"] == "it has failed: the disk is full"


async def test_a_loop_that_stands_is_no_life(server: OpsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (await ask(server.port, "/live"))[0] == 200
    monkeypatch.setattr(ops_server, "STANDS_SECONDS", -1.0)
    status, text = await ask(server.port, "/live")
    assert status == 503
    assert "the event loop has stood" in json.loads(text)["reason"]


async def test_the_metrics_are_where_prometheus_looks_and_nothing_else_is_there(server: OpsServer) -> None:
    for path in ("/metrics", "/"):
        status, text = await ask(server.port, path)
        assert status == 200
        assert "holecard_table_open_rounds 3.0" in text
    assert (await ask(server.port, "/keys/shoe.key"))[0] == 404


async def test_a_port_that_is_taken_is_told_with_what_to_do(server: OpsServer) -> None:
    other = OpsServer(CollectorRegistry(), [], lambda: "")
    with pytest.raises(PortTaken, match="choose another --metrics"):
        other.start(f"127.0.0.1:{server.port}")
    await other.stop()


async def test_ipv6_is_served_too() -> None:
    server = OpsServer(CollectorRegistry(), [], lambda: "")
    try:
        server.start("[::1]:0")
    except PortTaken:
        pytest.fail("this machine has no IPv6 loopback")
    assert (await ask(server.port, "/ready", "[::1]"))[0] == 200
    await server.stop()

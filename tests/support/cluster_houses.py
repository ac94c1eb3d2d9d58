"""Houses that share a journal on a real broker: in processes of their own, or several in this one."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from services.house import House
from services.journal.kafka_layout import TOPICS, Layout
from services.runtime.entropy import SystemEntropy
from services.runtime.kafka_settings import KafkaSettings
from services.runtime.sealing import load_or_create_key
from services.runtime.settings import Settings
from tests.support.house_process import SERVICES, HouseProcess, free_port
from tests.support.kafka_broker import Broker, new_layout, shared_broker

PARTITIONS = 4
FAST_SESSION_MS = 3_000
"""For processes that are killed and paused."""
CALM_SESSION_MS = 20_000
"""For houses that share one process: on a busy machine they are silent for seconds and yet well."""
HEARTBEAT_MS = 100


class Ground:
    """A new journal on the shared broker, and what every house of its cluster is told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.broker: Broker = shared_broker()
        self.layout: Layout = new_layout(self.broker.cluster, partitions=PARTITIONS)
        self.prefix = self.layout.topics[0].removesuffix(TOPICS[0])
        self.key = folder / "shoe.key"
        load_or_create_key(self.key, SystemEntropy())
        self._houses = 0

    def process(self, services: Sequence[str] = SERVICES, *more: str) -> HouseProcess:
        """A house to be started as a process."""
        return HouseProcess(self._folder(), services, arguments=[
            "--journal", "kafka", "--kafka", ",".join(self.broker.cluster.bootstrap), "--prefix", self.prefix,
            "--partitions", str(PARTITIONS), "--sealing-key", str(self.key),
            "--session-ms", str(FAST_SESSION_MS), "--heartbeat-ms", str(HEARTBEAT_MS), *more,
        ])  # fmt: skip

    def house(self, services: Sequence[str] = SERVICES, **addresses: str) -> House:
        """A house to be entered in this process; `addresses` of services that it does not host."""
        address = f"127.0.0.1:{free_port()}"
        kafka = KafkaSettings(
            self.broker.cluster.bootstrap,
            PARTITIONS,
            self.prefix,
            advertise=address,
            session_ms=CALM_SESSION_MS,
            heartbeat_ms=HEARTBEAT_MS,
        )
        settings = Settings(
            self._folder(),
            grpc_address=address,
            console_address="127.0.0.1:0",
            metrics_address="127.0.0.1:0",
            addresses=addresses,
            kafka=kafka,
            sealing_key=self.key,
        )
        return House(settings, services)

    def _folder(self) -> Path:
        self._houses += 1
        folder = self.folder / f"house-{self._houses}"
        folder.mkdir()
        return folder


def owned(house: House) -> set[int]:
    """The partitions that a house serves."""
    return set(house.membership.serving) if house.membership is not None else set()


async def until(happened: Callable[[], bool], seconds: float = 150) -> None:
    """Return once it has happened; fails rather than wait for ever."""
    async with asyncio.timeout(seconds):
        while not happened():  # noqa: ASYNC110 - what is waited for happens in threads and other processes
            await asyncio.sleep(0.02)

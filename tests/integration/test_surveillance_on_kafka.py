"""Surveillance over a cluster's journal: three topics, one read model, the same however it was read."""

import asyncio
from pathlib import Path

import pytest
from click.testing import CliRunner

from services.cli.projection import projection
from services.journal.kafka_journal import KafkaJournal
from services.journal.kafka_layout import TOPICS
from services.journal.port import Recorded
from services.runtime.caller import LocalCaller
from services.runtime.clock import SystemClock
from services.runtime.telemetry import Telemetry
from services.surveillance import client as v
from services.surveillance.checking import compare
from services.surveillance.places import place_of
from services.surveillance.server import Surveillance
from tests.support.kafka_broker import new_layout, shared_broker
from tests.support.postgres_server import shared_server
from tests.support.table_feed import TableFeed
from tests.support.watched_house import watched_house

pytestmark = pytest.mark.xdist_group("kafka")
KEYS = tuple(f"black-hawk/BJ-{number:02}" for number in range(3))


async def several_tables(folder: Path) -> list[Recorded]:
    async with watched_house(folder) as house:
        for key in KEYS:
            await house.open(key, seats=2)
        for _ in range(8):
            for key in KEYS:
                await house.play(1, key)
        return await house.recorded()


async def test_stopped_and_started_in_play_it_has_what_a_second_derivation_has(tmp_path: Path) -> None:
    """Tables that share partitions are projected apart, each in causal order: none loses an event at a restart."""
    broker = shared_broker()
    layout = new_layout(broker.cluster, partitions=2)
    address = await asyncio.to_thread(shared_server().migrated_database)
    async with TableFeed(broker, layout, KEYS, await several_tables(tmp_path)) as feed:
        for piece in (90, 45, 100):
            journal = await KafkaJournal.open_read_only(broker.cluster, layout)
            watch = Surveillance(journal, address, clock=SystemClock(), telemetry=Telemetry(), meters=False)
            await watch.start()
            client = v.SurveillanceClient(LocalCaller({watch.dispatcher.service: watch.dispatcher}))
            await feed.write(piece)
            async with asyncio.timeout(120):
                while (lag := await client.get_lag()).lag_events or not lag.healthy:  # noqa: ASYNC110 - other side of a wire
                    await asyncio.sleep(0.05)
            assert lag.lag_us == 0
            # In the middle of a round, with events on their way.
            await feed.write(15)
            await watch.stop()
            await journal.close()
        reader = await KafkaJournal.open_read_only(broker.cluster, layout)
        place = place_of(address)
        (tmp_path / "one").mkdir()
        assert await compare(reader, place, tmp_path / "one") == []
        await reader.close()
        arguments = ["--journal", "kafka", "--kafka", ",".join(broker.cluster.bootstrap), "--partitions", "2",
                     "--prefix", layout.topics[0].removesuffix(TOPICS[0]), "--projection", address]  # fmt: skip
        for command in ("rebuild", "check"):
            result = await asyncio.to_thread(CliRunner().invoke, projection, [command, *arguments])
            assert result.exit_code == 0, result.output

"""How long a process takes to be a partition's owner again, with its snapshots and without, in one run.

`python -m load.recovery [--events N] [--kafka HOST:PORT] [--json]`; without an address a broker is started. One partition
is filled with the events of real rounds, copied to as many tables as it takes. Then all of it is read, folded and cut; a
twentieth of the events is added after the snapshots, as in a process that is killed some time after it cut them. Measured
each way: opening the journal until the partition is this process's own, and folding the state of every stream in it.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvloop

from services.journal.kafka_cluster import Cluster
from services.journal.kafka_journal import Claimant, KafkaJournal
from services.journal.kafka_layout import Layout
from services.journal.port import NewEvent
from services.journal.sqlite import SqliteJournal
from services.runtime.aggregate import AggregateHost
from services.runtime.entropy import SystemEntropy
from services.runtime.sealing import AesGcmSealer
from services.runtime.snapshots import StateSnapshots
from services.shoe.service import ShoeService
from services.table.service import TableService
from services.wager.service import WagerService
from tests.support.hosted import hosted, play_rounds
from tests.support.kafka_broker import new_layout, shared_broker

AIM_SECONDS = 5.0
AIM_EVENTS = 1_000_000
AFTER = 20
"""One event in so many comes after the snapshots."""
PLAYED_ROUNDS, PLAYED_TABLES = 400, 1
APPEND = 6

Streams = dict[str, list[NewEvent]]
Hosts = dict[str, AggregateHost[Any, Any, Any]]


async def _real_streams(folder: Path) -> Streams:
    """The events of some hundred real rounds, by stream."""
    async with hosted(folder) as house:
        await play_rounds(house, PLAYED_ROUNDS, tables=PLAYED_TABLES)
    journal = SqliteJournal.open_read_only(folder / "data" / "journal.db")
    streams: Streams = {}
    for head in await journal.streams():
        events = []
        async for recorded in journal.read(head.stream):
            e = recorded.envelope
            events.append(
                NewEvent(
                    e.type,
                    e.schema_version,
                    e.payload,
                    e.occurred_time_us,
                    e.actor,
                    e.request_id,
                    e.request_digest,
                    e.cause,
                    e.round_id,
                    e.gaming_day,
                )
            )
        streams[head.stream] = events
    await journal.close()
    return streams


def _copied(streams: Streams, events: int) -> Streams:
    """The streams again and again for further tables, until there are that many events."""
    copies: Streams = {}
    count = copy = 0
    while count < events:
        for stream, its_events in streams.items():
            copies[f"{stream}-{copy}"] = its_events
            count += len(its_events)
        copy += 1
    return copies


async def _fill(journal: KafkaJournal, streams: Streams, first: int, last: int) -> None:
    """Append of each stream the share from `first` to `last` twentieths."""

    async def one(stream: str, events: list[NewEvent]) -> None:
        end = len(events) * last // AFTER
        for start in range(len(events) * first // AFTER, end, APPEND):
            await journal.append(stream, start, events[start : min(start + APPEND, end)])

    names = list(streams)
    for at in range(0, len(names), 64):
        await asyncio.gather(*(one(name, streams[name]) for name in names[at : at + 64]))


def _hosts(journal: KafkaJournal, snapshots: StateSnapshots | None) -> Hosts:
    nobody: Any = None
    entropy = SystemEntropy()
    shoes = ShoeService(journal, AesGcmSealer(bytes(32), entropy), entropy, snapshots=snapshots)
    tables = TableService(journal, nobody, nobody, clock=nobody, snapshots=snapshots)
    ledgers = WagerService(journal, snapshots=snapshots)
    return {"shoe": shoes._host, "table": tables._host, "wager": ledgers._host}  # noqa: SLF001 - states without their rooms


async def _fold_all(journal: KafkaJournal, hosts: Hosts) -> int:
    heads = await journal.streams()
    for host in hosts.values():
        await host.take_up(heads)
    for head in heads:
        area, _, key = head.stream.partition(":")
        await hosts[area].state(key)
    return sum(head.sequence for head in heads)


@asynccontextmanager
async def _opened(cluster: Cluster, layout: Layout, folder: Path | None) -> AsyncIterator[tuple[KafkaJournal, float]]:
    began = time.perf_counter()
    journal = await KafkaJournal.open(cluster, layout, Claimant("load"), folder=folder)
    try:
        yield journal, time.perf_counter() - began
    finally:
        await journal.close()


async def _recover(cluster: Cluster, layout: Layout, folder: Path | None) -> tuple[int, float, float, float]:
    """Events, seconds until the partition is owned and until every state is folded, and the processor's seconds for both."""
    began_cpu = time.process_time()
    async with _opened(cluster, layout, folder) as (journal, owned_s):
        snapshots = None if folder is None else StateSnapshots(folder / "states")
        began = time.perf_counter()
        events = await _fold_all(journal, _hosts(journal, snapshots))
        folded_s, cpu_s = time.perf_counter() - began, time.process_time() - began_cpu
        if snapshots is not None:
            await snapshots.close()
    return events, owned_s, folded_s, cpu_s


async def _measure(cluster: Cluster, wanted: int, folder: Path) -> dict[str, float]:
    layout = new_layout(cluster, one_topic=True)
    streams = _copied(await _real_streams(folder), wanted)
    async with _opened(cluster, layout, None) as (journal, _):
        await _fill(journal, streams, 0, AFTER - 1)
    # A first life with a folder cuts everything; what comes afterwards, without it, comes after its snapshots.
    await _recover(cluster, layout, folder)
    async with _opened(cluster, layout, None) as (journal, _):
        await _fill(journal, streams, AFTER - 1, AFTER)
    events, owned_s, folded_s, cpu_s = await _recover(cluster, layout, folder)
    _, owned_all_s, folded_all_s, cpu_all_s = await _recover(cluster, layout, None)
    return {
        "events": events,
        "streams": len(streams),
        "after_the_snapshots": sum(len(one) for one in streams.values()) // AFTER,
        "owned_s": round(owned_s, 2),
        "folded_s": round(folded_s, 2),
        "seconds": round(owned_s + folded_s, 2),
        "processor_s": round(cpu_s, 2),
        "processor_without_s": round(cpu_all_s, 2),
        "owned_without_s": round(owned_all_s, 2),
        "folded_without_s": round(folded_all_s, 2),
        "seconds_without": round(owned_all_s + folded_all_s, 2),
        "ratio": round((owned_all_s + folded_all_s) / (owned_s + folded_s), 1),
        "seconds_for_1000000_events": round((owned_s + folded_s) * AIM_EVENTS / events, 2),
        "aim_s": AIM_SECONDS,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Recovery of one partition, with snapshots and without.")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--kafka", help="a running broker, HOST:PORT (default: one is started)")
    parser.add_argument("--events", type=int, default=AIM_EVENTS, help="how many events the partition holds")
    arguments = parser.parse_args()
    cluster = Cluster((arguments.kafka,)) if arguments.kafka else shared_broker().cluster
    with tempfile.TemporaryDirectory(prefix="holecard-recovery-") as folder:
        result = uvloop.run(_measure(cluster, arguments.events, Path(folder)))
    if arguments.json:
        print(json.dumps(result))
        return
    print(
        f"{result['events']:,} events in {result['streams']} streams of one partition, {result['after_the_snapshots']:,} of"
        f" them after the snapshots.\n"
        f"with snapshots:    {result['seconds']:>6.2f} s (owned {result['owned_s']}, all states folded"
        f" {result['folded_s']}); for 1,000,000 events {result['seconds_for_1000000_events']} s (aim {AIM_SECONDS:.0f})\n"
        f"without snapshots: {result['seconds_without']:>6.2f} s (owned {result['owned_without_s']}, all states folded"
        f" {result['folded_without_s']}); ratio {result['ratio']}\n"
        f"of the processor: {result['processor_s']} s with, {result['processor_without_s']} s without; on a busy machine"
        " these are the figures to go by"
    )


if __name__ == "__main__":
    main()

"""How fast the cluster's journal appends, as a ratio to a bare kafka-python producer that sends the same bytes.

`python -m load.kafka_journal [--kafka HOST:PORT] [--json]`; without an address a broker is started. Ours: tables append
commands of a few events, each waiting for its answer, through the journal port; envelopes, the hash chain, the index
and the follower's reading are all in the figure, making the events is not. Bare: the very records that came out of
that, taken from the topic, sent one after the other by an idempotent producer with the same settings, each waited for.
The two take turns; each figure is the median of the rounds, the first of which is thrown away.
"""

import argparse
import asyncio
import json
import time
from dataclasses import dataclass
from hashlib import sha256
from statistics import median

import uvloop

from services.game.authority import EventId
from services.journal.kafka_cluster import Cluster
from services.journal.kafka_journal import Claimant, KafkaJournal
from services.journal.kafka_layout import Layout
from services.journal.kafka_scan import Verdict, scan
from services.journal.port import NewEvent
from services.runtime.clock import SystemClock
from services.runtime.process import settle_process
from tests.support.journal_events import DEALER
from tests.support.kafka_broker import new_layout, shared_broker

AIM = 0.5
DIGEST = sha256(b"a command's content").digest()
EVENTS_A_COMMAND = 6
PAYLOAD_BYTES = 60
COMMANDS_A_TABLE = 40


@dataclass(frozen=True)
class Round:
    """One round: seconds for the same records on both sides."""

    events: int
    records: int
    value_bytes: int
    ours_s: float
    bare_s: float


def _commands(stream: str) -> list[list[NewEvent]]:
    """A table's commands; the events of one share what a command's events share."""
    time_us, payload = SystemClock().now_us(), bytes(PAYLOAD_BYTES)
    commands = []
    for command in range(COMMANDS_A_TABLE):
        request_id, cause = f"{stream}#{command}", EventId("wager:load/T-0", command + 1)
        event = NewEvent(
            "holecard.table.v1.CardDealt",
            1,
            payload,
            time_us,
            DEALER,
            request_id,
            DIGEST,
            cause,
            "load/T-0#12",
            "2026-11-30",
        )
        commands.append([event] * EVENTS_A_COMMAND)
    return commands


async def _ours(cluster: Cluster, layout: Layout, tables: int) -> float:
    """Append to that many tables at once; return the seconds it took."""
    journal = await KafkaJournal.open(cluster, layout, Claimant("load"), clock=SystemClock())

    async def play(stream: str, commands: list[list[NewEvent]]) -> None:
        for command, events in enumerate(commands):
            await journal.append(stream, command * EVENTS_A_COMMAND, events)

    plays = [play(stream, _commands(stream)) for stream in (f"table:load/T-{table}" for table in range(tables))]
    start = time.perf_counter()
    await asyncio.gather(*plays)
    seconds = time.perf_counter() - start
    await journal.close()
    return seconds


def _bare(cluster: Cluster, layout: Layout, values: list[bytes]) -> float:
    """Send the values one after the other; return the seconds it took."""
    place = layout.kafka_partition(layout.numbers[0])
    producer = cluster.producer()
    producer.send(place.topic, b"warm", partition=place.partition).get(10)
    start = time.perf_counter()
    for value in values:
        producer.send(place.topic, value, partition=place.partition).get(10)
    seconds = time.perf_counter() - start
    producer.close(timeout=5)
    return seconds


def _round(cluster: Cluster, tables: int) -> Round:
    layout = new_layout(cluster, one_topic=True)
    ours_s = uvloop.run(_ours(cluster, layout, tables))
    scanned = [one for one in scan(cluster, layout, 0) if one.verdict is Verdict.COUNTS]
    values = [one.raw.value for one in scanned if one.raw.value is not None]
    events = sum(len(one.reading.stored) for one in scanned)
    if events != tables * COMMANDS_A_TABLE * EVENTS_A_COMMAND:
        raise SystemExit(f"{events} events are in the log, not as many as were acknowledged")
    bare_s = _bare(cluster, new_layout(cluster, one_topic=True), values)
    return Round(events, len(values), sum(map(len, values)), ours_s, bare_s)


def _result(rounds: list[Round]) -> dict[str, float]:
    kept = rounds[1:] or rounds
    ours, bare = median(one.ours_s for one in kept), median(one.bare_s for one in kept)
    events, records = kept[0].events, median(one.records for one in kept)
    return {
        "events": events,
        "events_a_record": round(events / records, 1),
        "bytes_a_record": round(median(one.value_bytes / one.records for one in kept)),
        "ours_events_a_second": round(events / ours),
        "bare_events_a_second": round(events / bare),
        "ratio": round(median(one.bare_s / one.ours_s for one in kept), 2),
        "aim": AIM,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="The cluster's journal against a bare kafka-python producer.")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--kafka", help="a running broker, HOST:PORT (default: one is started)")
    parser.add_argument("--rounds", type=int, default=4, help="rounds of each size, the first of which is thrown away")
    arguments = parser.parse_args()
    # As every process of the house does: without it a thread may hold the interpreter for 5 ms while another has an answer.
    settle_process()
    cluster = Cluster((arguments.kafka,)) if arguments.kafka else shared_broker().cluster
    results = {
        f"{tables} tables": _result([_round(cluster, tables) for _ in range(arguments.rounds)])
        for tables in (1, 16, 128)
    }
    if arguments.json:
        print(json.dumps(results))
        return
    print(
        "Events a second appended and acknowledged; bare: the same records by a bare producer. Ratio = bare time / ours."
    )
    for name, row in results.items():
        print(
            f"{name:>10}: ours {row['ours_events_a_second']:>7,}   bare {row['bare_events_a_second']:>7,}   ratio"
            f" {row['ratio']:.2f} (aim {AIM});  {row['events_a_record']} events, {row['bytes_a_record']:,} bytes a record"
        )


if __name__ == "__main__":
    main()

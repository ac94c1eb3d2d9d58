"""Three processes contend for a partition on three brokers, while processes and brokers stand still and are killed.

Afterwards every command that was acknowledged is in the log where it was said to be, no effect is there twice, no stream has
a gap or a fork, and what is void was written under a claim that had ended. Prints the seed and what was counted.
`HOLECARD_SECONDS` says for how long (60).
"""

import asyncio
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator

import pytest

from services.journal.kafka_journal import KafkaJournal
from services.journal.kafka_layout import Layout
from services.journal.kafka_scan import Verdict, scan
from services.journal.port import Recorded
from tests.contract.journal_suite import events_of
from tests.support.kafka_broker import Broker, ThreeBrokers, new_layout, place_of
from tests.support.seeds import seeded

pytestmark = [pytest.mark.faults, pytest.mark.timeout(900)]

SECONDS = float(os.environ.get("HOLECARD_SECONDS", "60"))
HERE = "tests/faults/test_kafka_contention.py -m faults"


@pytest.fixture
def brokers() -> Iterator[ThreeBrokers]:
    brokers = ThreeBrokers()
    yield brokers
    brokers.remove()


class Contender:
    """One of the processes, through all its lives."""

    def __init__(self, number: int, place: str) -> None:
        self.number = number
        self.lives = 0
        self.acknowledged: list[tuple[str, str, int, int]] = []
        self._place = place
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None

    async def begin(self, seed: int) -> None:
        """Start the next life."""
        self.lives += 1
        # Each life has a name of its own: requests must not be taken for those of the one before.
        name = f"c{self.number}.{self.lives}"
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.support.contender",
            name,
            self._place,
            str(seed),
            stdout=asyncio.subprocess.PIPE,
        )
        self._reading = asyncio.create_task(self._read(self._process))

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        async for line in process.stdout:
            words = line.decode().split()
            if len(words) == 4:
                self.acknowledged.append((words[0], words[1], int(words[2]), int(words[3])))

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    async def end(self, number: signal.Signals) -> int:
        """End this life by a signal, and read what it had said; gives its exit status."""
        assert self._process is not None
        assert self._reading is not None
        self.send(number)
        status = await self._process.wait()
        await self._reading
        return status


async def _harm_processes(
    chance: random.Random, contenders: list[Contender], until: float, harms: Counter[str]
) -> None:
    """Let processes stand still and kill them, one after the other."""
    while time.monotonic() < until:
        victim, harm = chance.choice(contenders), chance.choice(["paused", "paused", "killed", "left alone"])
        harms[f"process {harm}"] += 1
        if harm == "paused":
            victim.send(signal.SIGSTOP)
            await asyncio.sleep(chance.uniform(0.2, 5.0))
            victim.send(signal.SIGCONT)
        elif harm == "killed":
            await victim.end(signal.SIGKILL)
            await victim.begin(chance.randrange(10**6))
        await asyncio.sleep(chance.uniform(0.2, 2.0))


async def _harm_brokers(chance: random.Random, brokers: list[Broker], until: float, harms: Counter[str]) -> None:
    """Let brokers stand still and kill them, never two at once: two must have what is acknowledged."""
    while time.monotonic() < until:
        broker, harm = chance.choice(brokers), chance.choice(["killed", "stood still"])
        harms[f"broker {harm}"] += 1
        if harm == "killed":
            broker.kill()
            await asyncio.sleep(chance.uniform(0.5, 5.0))
            broker.start()
            await asyncio.to_thread(broker.wait_until_it_answers)
        else:
            broker.signal(signal.SIGSTOP)
            await asyncio.sleep(chance.uniform(0.5, 5.0))
            broker.signal(signal.SIGCONT)
        await asyncio.sleep(chance.uniform(1.0, 5.0))


async def test_g09_three_that_contend_on_three_brokers_lose_and_double_nothing(brokers: ThreeBrokers) -> None:
    chance = seeded(HERE)
    layout = new_layout(brokers.cluster, one_topic=True, copies=3)
    contenders = [Contender(number, place_of(brokers.cluster, layout)) for number in range(3)]
    for contender in contenders:
        await contender.begin(chance.randrange(10**6))
    harms: Counter[str] = Counter()
    until = time.monotonic() + SECONDS
    # Each with a generator of its own: which of the two comes first is the machine's choice.
    await asyncio.gather(
        _harm_processes(random.Random(chance.randrange(10**9)), contenders, until, harms),
        _harm_brokers(random.Random(chance.randrange(10**9)), brokers.brokers, until, harms),
    )
    statuses = [await asyncio.wait_for(contender.end(signal.SIGTERM), 180) for contender in contenders]
    assert statuses == [0, 0, 0]
    events = await _by_place(brokers, layout)
    acknowledged = [one for contender in contenders for one in contender.acknowledged]
    for key, request, first, last in acknowledged:
        assert [events[key, at].envelope.request_id for at in range(first, last + 1)] == [request] * (last - first + 1)
    effects = Counter((one.envelope.type, one.envelope.payload) for one in events.values())
    assert not [effect for effect, count in effects.items() if count > 1]
    void, claims = _void_of_ended_claims(brokers, layout)
    print(
        f"{dict(harms)}; {len(acknowledged)} commands acknowledged in {len(events)} events, {claims} claims,"
        f" {void} batches void, {sum(contender.lives for contender in contenders)} lives"
    )
    assert len(acknowledged) > SECONDS
    assert claims > 3


async def _by_place(brokers: ThreeBrokers, layout: Layout) -> dict[tuple[str, int], Recorded]:
    """Every event by table and sequence; the reader itself finds gaps, forks and wrong hashes."""
    reader = await KafkaJournal.open_read_only(brokers.cluster, layout)
    found = {}
    for head in await reader.streams():
        for recorded in await events_of(reader, head.stream):
            found[head.stream.removeprefix("table:"), recorded.envelope.sequence] = recorded
    assert not any(partition.stopped for partition in reader.partitions())
    await reader.close()
    return found


def _void_of_ended_claims(brokers: ThreeBrokers, layout: Layout) -> tuple[int, int]:
    """How many batches are void, each under a claim that another had followed; and how many claims there are."""
    latest, claims, void = -1, 0, 0
    for scanned in scan(brokers.cluster, layout, layout.numbers[0]):
        assert scanned.verdict in {Verdict.CLAIM, Verdict.COUNTS, Verdict.VOID, Verdict.DUPLICATE}
        if scanned.verdict is Verdict.CLAIM:
            latest, claims = scanned.raw.offset, claims + 1
        elif scanned.verdict is Verdict.VOID:
            void += 1
            assert scanned.reading.batch_claim < latest
    return void, claims

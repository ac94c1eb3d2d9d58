"""Writers contend for one partition in a model of the broker: records are delayed, lost, or land after they were given up.

The model says of a record only what a broker says: nothing, or the offset at which it lies. Whatever the order, a reader
of the log must find every acknowledged event where it was acknowledged, each once, and nothing that stops it.
"""

import asyncio
import random
from dataclasses import dataclass, field

import pytest

from services.journal.errors import JournalError, JournalUnavailable
from services.journal.kafka_commit import Answers, Append
from services.journal.kafka_layout import AREAS, Layout
from services.journal.kafka_partition import PartitionLog
from services.journal.kafka_records import Headers, RawRecord
from services.journal.kafka_tenure import Flight, Tenure
from services.journal.port import Recorded
from services.wire.batch import Claim
from tests.support.journal_events import new_event
from tests.support.seeds import seeded

LAYOUT = Layout(1, ("model.v1",), dict.fromkeys(AREAS, 0))
STREAMS = ("table:black-hawk/BJ-1", "shoe:black-hawk/BJ-1", "wager:black-hawk/BJ-1")
RUNS = 20
STEPS = 500


@dataclass
class Sent:
    """A record between a writer and the log; `flight` is None once its writer has given it up."""

    writer: "Writer"
    flight: Flight | None
    value: bytes
    headers: Headers


@dataclass
class World:
    """The log, and what is on its way to it."""

    log: list[RawRecord] = field(default_factory=list)
    on_the_way: list[Sent] = field(default_factory=list)
    acknowledged: list[Recorded] = field(default_factory=list)
    refused: int = 0


class Writer:
    """A process: its own reading of the log, and its tenure."""

    def __init__(self, name: str, world: World, loop: asyncio.AbstractEventLoop) -> None:
        self.world = world
        self.log = PartitionLog(LAYOUT, 0)
        self._now_us = 1_796_000_000_000_000
        self._loop = loop
        self._name = name
        self.tenure = Tenure(self.log, self._claim, lambda: self._now_us)

    def _claim(self) -> Claim:
        self._now_us += 1
        return Claim(self._name, "", "", self._now_us)

    def send(self, flight: Flight, value: bytes, headers: Headers) -> None:
        self.world.on_the_way.append(Sent(self, flight, value, headers))

    def append(self, rng: random.Random) -> None:
        stream = rng.choice(STREAMS)
        events = tuple(new_event(rng.randrange(10**6)) for _ in range(rng.randint(1, 3)))
        # Mostly what this process believes; now and then a caller that is behind.
        expected = self.log.head(stream)[0] - (rng.random() < 0.1)
        self.tenure.pending.append(Append(stream, expected, events, 500, self._loop.create_future()))
        self.advance()

    def want(self) -> None:
        if not self.tenure.is_busy:
            self.tenure.waiters.append(asyncio.Future(loop=self._loop))  # type: ignore[arg-type]  # told, never awaited
        self.advance()

    def follow(self, rng: random.Random) -> None:
        reach = min(len(self.world.log), self.log.next_record + rng.randint(1, 4))
        for raw in self.world.log[self.log.next_record : reach]:
            self.log.take(raw)
        self.advance()

    def advance(self) -> None:
        self.hear(self.tenure.advance(self.send))

    def hear(self, answers: Answers) -> None:
        for _, outcome in answers:
            if isinstance(outcome, tuple):
                self.world.acknowledged.extend(outcome)
            else:
                assert isinstance(outcome, JournalError)
                self.world.refused += 1


def _deliver(world: World, rng: random.Random) -> None:
    """Let one of the records on their way reach the log, or be lost; its writer hears of it, or not."""
    if not world.on_the_way:
        return
    sent = world.on_the_way.pop(rng.randrange(len(world.on_the_way)))
    offset = len(world.log)
    fate = rng.random()
    if fate < 0.85:
        world.log.append(RawRecord(offset, sent.headers, sent.value))
    if sent.flight is None or sent.writer.tenure.flight is not sent.flight:
        return
    if fate < 0.75:
        sent.writer.hear(sent.writer.tenure.landed(offset))
    else:
        # Written and not heard of, or lost.
        sent.writer.hear(sent.writer.tenure.failed(JournalUnavailable("no answer")))
    sent.writer.advance()


def _give_up(world: World, rng: random.Random) -> None:
    """A writer's patience ends while its record is still on its way: the record may land at any time later."""
    waiting = [sent for sent in world.on_the_way if sent.flight is not None]
    if waiting:
        sent = rng.choice(waiting)
        sent.flight = None
        sent.writer.hear(sent.writer.tenure.failed(JournalUnavailable("given up")))
        sent.writer.advance()


def _live(rng: random.Random, loop: asyncio.AbstractEventLoop) -> World:
    world = World()
    writers = [Writer(f"w{number}", world, loop) for number in range(3)]
    for _ in range(STEPS):
        writer = rng.choice(writers)
        act = rng.random()
        if act < 0.30:
            writer.append(rng)
        elif act < 0.55:
            writer.follow(rng)
        elif act < 0.90:
            _deliver(world, rng)
        elif act < 0.95:
            writer.want()
        else:
            _give_up(world, rng)
    while world.on_the_way:
        _deliver(world, rng)
    return world


@pytest.mark.parametrize("run", range(RUNS))
async def test_g09_whoever_writes_nothing_acknowledged_is_lost_forked_or_doubled(run: int) -> None:
    rng = seeded(f"tests/simulation/test_kafka_tenures.py -k 'lost and {run}'")
    world = _live(rng, asyncio.get_running_loop())
    reader = PartitionLog(LAYOUT, 0)
    kept: dict[tuple[str, int], Recorded] = {}
    for raw in world.log:
        reader.take(raw)
        assert reader.failure is None
        for recorded in reader.recent(raw.offset) or ():
            place = recorded.envelope.stream, recorded.envelope.sequence
            assert place not in kept
            kept[place] = recorded
    acknowledged = {(one.envelope.stream, one.envelope.sequence): one for one in world.acknowledged}
    assert len(acknowledged) == len(world.acknowledged), "two different answers for one event"
    assert {place: kept.get(place) for place in acknowledged} == acknowledged
    heads = {head.stream: head.sequence for head in reader.heads()}
    assert sum(heads.values()) == len(kept)


async def test_the_model_is_worth_something() -> None:
    """Over all its runs there are acknowledgements, void batches, take-overs and refusals."""
    worlds = [_live(random.Random(seed), asyncio.get_running_loop()) for seed in range(RUNS)]
    readers = []
    for world in worlds:
        reader = PartitionLog(LAYOUT, 0)
        for raw in world.log:
            reader.take(raw)
        readers.append(reader)
    assert sum(len(world.acknowledged) for world in worlds) > 20 * RUNS
    assert sum(reader.counts.void for reader in readers) > RUNS
    assert sum(reader.counts.claims for reader in readers) > 5 * RUNS
    assert sum(world.refused for world in worlds) > 5 * RUNS

"""Events of several partitions come out in an order in which nothing stands before what led to it."""

import random
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.game.authority import Actor, EventId, Role
from services.journal.causal_order import CausalOrder, LiveOrder
from services.journal.port import Position, Recorded
from services.wire.envelope import NO_HASH, Envelope

DEALER = Actor(Role.DEALER, "D-1")
AREAS = ("table", "shoe", "wager")


@dataclass
class Play:
    """Tables whose conductor asks shoe and wager and waits; each service on a host with a clock of its own."""

    chance: random.Random
    skew_us: int
    tables: int = 3

    def __post_init__(self) -> None:
        self.now_us = 1_796_000_000_000_000
        self.offset_us = {area: self.chance.randint(-self.skew_us, self.skew_us) for area in AREAS}
        self.logs: dict[int, list[Recorded]] = {number: [] for number in range(len(AREAS))}
        self.sequences: dict[str, int] = {}
        self.truth: dict[str, list[tuple[str, int]]] = {}
        self.moments: list[int] = []

    def record(self, area: str, key: str, cause: EventId | None) -> EventId:
        self.now_us += self.chance.randint(1, 50_000)
        stream, partition = f"{area}:{key}", AREAS.index(area)
        self.sequences[stream] = sequence = self.sequences.get(stream, 0) + 1
        envelope = Envelope(
            stream=stream, sequence=sequence, type="t", payload=b"", schema_version=1, occurred_time_us=1,
            recorded_time_us=self.now_us + self.offset_us[area], actor=DEALER, request_id="r", request_digest=NO_HASH,
            cause=cause, round_id="", gaming_day="", writer_epoch=1, previous_hash=NO_HASH,
        )  # fmt: skip
        self.moments.append(partition)
        log = self.logs[partition]
        log.append(Recorded(Position(partition, len(log) + 1), envelope, b""))
        self.truth.setdefault(key, []).append((stream, sequence))
        return EventId(stream, sequence)

    def conduct(self, steps: int) -> None:
        last: dict[str, EventId | None] = {}
        for _ in range(steps):
            key = f"floor/T-{self.chance.randrange(self.tables)}"
            step = last[key] = self.record("table", key, last.get(key))
            for _ in range(self.chance.randrange(3)):
                self.record(self.chance.choice(("shoe", "wager")), key, step)


def ordered(play: Play, chance: random.Random, skew_us: int) -> list[Recorded]:
    """What comes out when the partitions are read one event at a time, as the order asks for them."""
    open_logs = {number: iter(log) for number, log in play.logs.items() if log}
    order = CausalOrder(open_logs, skew_us)
    out: list[Recorded] = []
    while (number := order.next_to_read()) is not None:
        recorded = next(open_logs[number], None)
        if recorded is None:
            order.end(number)
        else:
            order.take(recorded)
        if chance.random() < 0.7:
            out.extend(order.ready())
    out.extend(order.ready())
    return out


@given(st.integers(0, 2**32), st.sampled_from([0, 20_000, 400_000]), st.integers(1, 40))
def test_every_table_comes_out_as_it_was_played_whatever_the_clocks_say(seed: int, skew_us: int, steps: int) -> None:
    chance = random.Random(seed)
    play = Play(chance, skew_us)
    play.conduct(steps)
    out = ordered(play, chance, skew_us=1_000_000)
    came: dict[str, list[tuple[str, int]]] = {}
    for recorded in out:
        envelope = recorded.envelope
        came.setdefault(envelope.stream.partition(":")[2], []).append((envelope.stream, envelope.sequence))
    assert {key: by_cause(events) for key, events in came.items()} == {
        key: by_cause(events) for key, events in play.truth.items()
    }


@given(st.integers(0, 2**32), st.integers(1, 40))
def test_live_the_order_needs_no_clock_at_all(seed: int, steps: int) -> None:
    chance = random.Random(seed)
    play = Play(chance, skew_us=60_000_000)
    play.conduct(steps)
    order, moment = LiveOrder(), 0
    out: list[Recorded] = []
    read = dict.fromkeys(play.logs, 0)

    def read_on(number: int, upto: int) -> None:
        for recorded in play.logs[number][read[number] : upto]:
            order.take(recorded)
        read[number] = max(read[number], upto)

    while len(out) < len(play.moments):
        marked = order.mark()
        # The log's end is looked at one partition after the other, while it grows.
        for number in chance.sample(sorted(play.logs), len(play.logs)):
            read_on(number, play.moments[:moment].count(number))
            moment = min(len(play.moments), moment + chance.randrange(4))
        out += order.complete(marked)
    came: dict[str, list[tuple[str, int]]] = {}
    for recorded in out:
        came.setdefault(recorded.envelope.stream.partition(":")[2], []).append(
            (recorded.envelope.stream, recorded.envelope.sequence)
        )
    assert {key: by_cause(events) for key, events in came.items()} == {
        key: by_cause(events) for key, events in play.truth.items()
    }


def by_cause(events: list[tuple[str, int]]) -> list[list[tuple[str, int]]]:
    """A table's steps, each with what it led to; shoe and wager, asked for the same step, have no order between them."""
    steps: list[list[tuple[str, int]]] = []
    for event in events:
        if event[0].startswith("table:"):
            steps.append([])
        steps[-1].append(event)
    return [[step[0], *sorted(step[1:])] for step in steps]


@pytest.mark.parametrize("cause", [EventId("shoe:floor/T-1", 9), EventId("table:other/T-2", 3)])
def test_a_cause_that_never_comes_holds_nothing_back(cause: EventId) -> None:
    play = Play(random.Random(1), 0)
    play.record("table", "floor/T-1", cause)
    play.record("shoe", "floor/T-1", None)
    assert len(ordered(play, random.Random(1), 0)) == 2

"""What every journal must do (DESIGN §4): one suite, which each adapter's test module inherits.

An adapter's module subclasses `JournalSuite` and gives the fixture `open_journal`: a function that opens the same journal
anew each time it is called and yields the writer, everything it opened being closed at the end of the test; and the fixture
`place`: the kind and place by which `tests.support.journal_writer` opens the same journal in a process of its own.
"""

import asyncio
import random
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from itertools import pairwise
from pathlib import Path

import pytest

from services.journal.chain import hash_of
from services.journal.errors import EventRefused, JournalClosed, PositionBeyondEnd, SequenceConflict
from services.journal.port import Journal, Position, Recorded
from services.wire.envelope import NO_HASH, decode
from tests.support.journal_events import DEALER, OTHER_STREAM, STREAM, fill, new_event, new_events
from tests.support.seeds import seeded

OpenJournal = Callable[[], Awaitable[Journal]]


async def events_of(journal: Journal, stream: str, after: int = 0) -> list[Recorded]:
    return [recorded async for recorded in journal.read(stream, after)]


async def take(journal: Journal, after: Mapping[int, int], count: int) -> list[Recorded]:
    """The next `count` events of a subscription, which is closed then; fails rather than wait for ever."""
    taken: list[Recorded] = []

    async def subscribe() -> None:
        subscription = journal.subscribe(after)
        try:
            async for recorded in subscription:
                taken.append(recorded)
                if len(taken) == count:
                    return
        finally:
            await close(subscription)

    await asyncio.wait_for(subscribe(), 90)
    return taken


async def close(iterator: AsyncIterator[Recorded]) -> None:
    aclose = getattr(iterator, "aclose", None)
    if aclose is not None:
        await aclose()


def numbers(events: list[Recorded]) -> list[int]:
    return [recorded.envelope.sequence for recorded in events]


def by_partition(events: list[Recorded]) -> dict[int, list[tuple[Position, bytes]]]:
    """What was given of each partition, in the order in which it came."""
    given: defaultdict[int, list[tuple[Position, bytes]]] = defaultdict(list)
    for recorded in events:
        given[recorded.position.partition].append((recorded.position, recorded.stored))
    return given


class JournalSuite:
    """The contract. Every test opens its own journal through `open_journal`."""

    # --- appending and reading -------------------------------------------------------------------------------------

    async def test_an_empty_journal_has_nothing_and_ends_where_it_begins(self, open_journal: OpenJournal) -> None:
        journal = await open_journal()
        assert await events_of(journal, STREAM) == []
        assert list(await journal.streams()) == []
        assert await journal.append(STREAM, 0, ()) == ()
        assert list(await journal.streams()) == []

    async def test_what_was_appended_is_what_is_read(self, open_journal: OpenJournal) -> None:
        journal = await open_journal()
        given = [new_event(1), new_event(2)]
        appended = await journal.append(STREAM, 0, given)
        assert list(appended) == await events_of(journal, STREAM)
        for sequence, (event, recorded) in enumerate(zip(given, appended, strict=True), 1):
            envelope = recorded.envelope
            assert decode(recorded.stored) == envelope
            assert (envelope.stream, envelope.sequence) == (STREAM, sequence)
            assert (envelope.type, envelope.schema_version, envelope.payload) == (event.type, 1, event.payload)
            assert (envelope.occurred_time_us, envelope.actor) == (event.occurred_time_us, DEALER)
            assert (envelope.request_id, envelope.request_digest) == (event.request_id, event.request_digest)
            assert (envelope.cause, envelope.round_id) == (event.cause, event.round_id)
            assert envelope.gaming_day == event.gaming_day
            assert envelope.recorded_time_us > 0
            assert envelope.writer_epoch >= 1

    async def test_each_event_carries_the_hash_of_the_stored_bytes_before_it(self, open_journal: OpenJournal) -> None:
        journal = await open_journal()
        await fill(journal, STREAM, 3)
        await fill(journal, STREAM, 2, after=3)
        events = await events_of(journal, STREAM)
        assert events[0].envelope.previous_hash == NO_HASH
        for before, event in pairwise(events):
            assert event.envelope.previous_hash == before.hash == hash_of(before.stored)
        (head,) = await journal.streams()
        assert (head.stream, head.sequence, head.hash) == (STREAM, 5, events[-1].hash)

    async def test_reading_goes_on_after_a_sequence(self, open_journal: OpenJournal) -> None:
        journal = await open_journal()
        await fill(journal, STREAM, 600)
        assert numbers(await events_of(journal, STREAM)) == list(range(1, 601))
        assert numbers(await events_of(journal, STREAM, 597)) == [598, 599, 600]
        assert await events_of(journal, STREAM, 600) == []
        assert await events_of(journal, STREAM, 9_000) == []

    async def test_streams_do_not_mix(self, open_journal: OpenJournal) -> None:
        journal = await open_journal()
        for sequence in range(20):
            await fill(journal, STREAM, 1, after=sequence)
            await fill(journal, OTHER_STREAM, 1, after=sequence)
        for stream in (STREAM, OTHER_STREAM):
            events = await events_of(journal, stream)
            assert {recorded.envelope.stream for recorded in events} == {stream}
            assert numbers(events) == list(range(1, 21))
        assert [head.stream for head in await journal.streams()] == sorted((STREAM, OTHER_STREAM))

    async def test_many_streams_are_replayed_in_one_passage(self, open_journal: OpenJournal) -> None:
        journal = await open_journal()
        streams = [f"{area}:black-hawk/BJ-{number}" for area in ("shoe", "table", "wager") for number in range(3)]
        for turn in range(4):
            await asyncio.gather(*(fill(journal, stream, 3, after=turn * 3) for stream in streams))
        wanted = {stream: number for number, stream in enumerate(streams)} | {"table:black-hawk/never": 0}
        given: dict[str, list[Recorded]] = {stream: [] for stream in streams}
        async for recorded in journal.replay(wanted):
            given[recorded.envelope.stream].append(recorded)
        assert given == {stream: await events_of(journal, stream, wanted[stream]) for stream in streams}
        assert [len(events) for events in given.values()] == [12 - number for number in range(9)]
        assert [recorded async for recorded in journal.replay({})] == []

    async def test_stream_names_may_use_any_script(self, open_journal: OpenJournal) -> None:
        journal = await open_journal()
        words = ["Zürich-Übermaß", "Блэкджек", "二十一点", "🂡🂫", "a'b\"c;--", "e\u0301", "é", " ", "%_*"]
        names = [f"case:{word}" for word in words]
        for name in names:
            await fill(journal, name, 2)
        for name in names:
            assert [recorded.envelope.stream for recorded in await events_of(journal, name)] == [name, name]
        assert {head.stream for head in await journal.streams()} == set(names)

    async def test_an_event_of_a_megabyte_is_stored_whole(self, open_journal: OpenJournal) -> None:
        journal = await open_journal()
        payloads = [bytes([number]) * 1_000_000 for number in range(6)]
        for sequence, payload in enumerate(payloads):
            await journal.append(STREAM, sequence, [new_event(sequence + 1, payload=payload)])
        assert [recorded.envelope.payload for recorded in await events_of(journal, STREAM)] == payloads
        taken = await take(journal, {}, len(payloads))
        assert [recorded.envelope.payload for recorded in taken] == payloads

    # --- conflicts and atomicity -----------------------------------------------------------------------------------

    async def test_an_append_that_expects_another_sequence_writes_nothing(self, open_journal: OpenJournal) -> None:
        journal = await open_journal()
        await fill(journal, STREAM, 3)
        for expected in (0, 2, 4, 99):
            with pytest.raises(SequenceConflict) as refused:
                await journal.append(STREAM, expected, new_events([7, 8]))
            assert (refused.value.expected_sequence, refused.value.actual_sequence) == (expected, 3)
        with pytest.raises(SequenceConflict):
            await journal.append(STREAM, 2, ())
        with pytest.raises(SequenceConflict):
            await journal.append(OTHER_STREAM, 1, new_events([1]))
        assert numbers(await events_of(journal, STREAM)) == [1, 2, 3]
        assert [head.stream for head in await journal.streams()] == [STREAM]

    async def test_an_append_is_written_whole_or_not_at_all(self, open_journal: OpenJournal) -> None:
        journal = await open_journal()
        await fill(journal, STREAM, 1)
        bad = [new_event(2), new_event(3, request_id="x" * 129), new_event(4)]
        with pytest.raises(EventRefused, match="request_id"):
            await journal.append(STREAM, 1, bad)
        assert numbers(await events_of(journal, STREAM)) == [1]
        assert numbers(list(await journal.append(STREAM, 1, new_events([2, 3])))) == [2, 3]

    async def test_a_refused_append_does_not_harm_those_beside_it(self, open_journal: OpenJournal) -> None:
        journal = await open_journal()
        answers = await asyncio.gather(
            journal.append(STREAM, 0, new_events([1, 2])),
            journal.append(STREAM, 0, new_events([1])),
            journal.append(STREAM, 2, [new_event(3, request_id="x" * 500)]),
            journal.append(STREAM, 2, new_events([3])),
            journal.append(OTHER_STREAM, 0, new_events([1])),
            return_exceptions=True,
        )
        kinds = [type(answer) for answer in answers]
        assert kinds == [tuple, SequenceConflict, EventRefused, tuple, tuple]
        assert numbers(await events_of(journal, STREAM)) == [1, 2, 3]
        assert numbers(await events_of(journal, OTHER_STREAM)) == [1]

    async def test_fifty_writers_at_once_each_get_their_own_sequences(self, open_journal: OpenJournal) -> None:
        journal = await open_journal()
        won: list[tuple[int, int]] = []

        async def write(writer: int) -> None:
            for turn in range(4):
                while True:
                    heads = {head.stream: head.sequence for head in await journal.streams()}
                    at = heads.get(STREAM, 0)
                    try:
                        recorded = await journal.append(STREAM, at, new_events([writer * 100 + turn] * 2))
                    except SequenceConflict:
                        continue
                    won.append((recorded[0].envelope.sequence, writer))
                    break

        await asyncio.gather(*(write(writer) for writer in range(50)))
        events = await events_of(journal, STREAM)
        assert numbers(events) == list(range(1, 401))
        assert sorted(sequence for sequence, _ in won) == list(range(1, 400, 2))
        # Both events of an append lie side by side: nobody came in between.
        assert all(events[at].envelope.payload == events[at + 1].envelope.payload for at in range(0, 400, 2))

    async def test_fifty_streams_at_once_are_all_whole(self, open_journal: OpenJournal) -> None:
        journal = await open_journal()

        async def write(stream: str) -> None:
            for sequence in range(20):
                await fill(journal, stream, 1, after=sequence)

        names = [f"table:black-hawk/BJ-{number}" for number in range(50)]
        await asyncio.gather(*map(write, names))
        for name in names:
            assert numbers(await events_of(journal, name)) == list(range(1, 21))
        taken = await take(journal, {}, 1_000)
        assert len({recorded.position for recorded in taken}) == 1_000

    async def test_an_acknowledged_append_is_visible_at_once(self, open_journal: OpenJournal) -> None:
        journal = await open_journal()
        for sequence in range(30):
            (recorded,) = await journal.append(STREAM, sequence, new_events([sequence]))
            assert numbers(await events_of(journal, STREAM, sequence)) == [sequence + 1]
            assert (await journal.end())[recorded.position.partition] == recorded.position.offset

    # --- G13: sequence is the only order ---------------------------------------------------------------------------

    async def test_g13_order_is_by_sequence_whatever_the_device_clocks_say(self, open_journal: OpenJournal) -> None:
        journal = await open_journal()
        times = [9_000, 1, 5_000, 5_000, 2]
        for sequence, time_us in enumerate(times):
            await journal.append(STREAM, sequence, [new_event(sequence, occurred_time_us=time_us)])
        events = await events_of(journal, STREAM)
        assert [recorded.envelope.occurred_time_us for recorded in events] == times
        assert numbers(events) == [1, 2, 3, 4, 5]
        assert [r.position for r in await take(journal, {}, 5)] == [r.position for r in events]

    # --- subscriptions ---------------------------------------------------------------------------------------------

    async def test_a_subscription_gives_the_backlog_and_then_lives(self, open_journal: OpenJournal) -> None:
        journal = await open_journal()
        await fill(journal, STREAM, 700)
        seen: list[Recorded] = []
        grown = asyncio.Condition()

        async def follow() -> None:
            async for recorded in journal.subscribe({}):
                async with grown:
                    seen.append(recorded)
                    grown.notify_all()

        async def wait_for(count: int) -> None:
            async with grown:
                await asyncio.wait_for(grown.wait_for(lambda: len(seen) >= count), 90)

        following = asyncio.create_task(follow())
        await wait_for(700)
        for sequence in range(700, 720):
            await fill(journal, STREAM, 1, after=sequence)
            await wait_for(sequence + 1)
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        assert numbers(seen) == list(range(1, 721))

    @pytest.mark.parametrize("resume_at", [0, 1, 255, 256, 299, 300])
    async def test_g03_a_subscription_resumed_anywhere_gives_the_same_bytes(
        self, open_journal: OpenJournal, resume_at: int
    ) -> None:
        journal = await open_journal()
        await fill(journal, STREAM, 200)
        await fill(journal, OTHER_STREAM, 100)
        whole = await take(journal, {}, 300)
        # Between partitions there is no order: each goes on after what was seen of it.
        after = {recorded.position.partition: recorded.position.offset for recorded in whole[:resume_at]}
        if resume_at == 300:
            end = await journal.end()
            assert {partition: end[partition] for partition in after} == after
            return
        for _ in range(2):
            again = await take(journal, after, 300 - resume_at)
            assert by_partition(again) == by_partition(whole[resume_at:])

    async def test_several_subscriptions_do_not_disturb_each_other(self, open_journal: OpenJournal) -> None:
        journal = await open_journal()
        followers = [asyncio.create_task(take(journal, {}, 500)) for _ in range(8)]
        for sequence in range(0, 500, 5):
            await fill(journal, STREAM, 5, after=sequence)
        for events in await asyncio.gather(*followers):
            assert numbers(events) == list(range(1, 501))

    async def test_log_order_keeps_every_streams_order(self, open_journal: OpenJournal) -> None:
        journal = await open_journal()

        async def write(stream: str) -> None:
            for sequence in range(0, 60, 3):
                await fill(journal, stream, 3, after=sequence)

        names = [f"wager:black-hawk/BJ-{number}" for number in range(5)]
        followed = asyncio.create_task(take(journal, {}, 300))
        await asyncio.gather(*map(write, names))
        taken = await followed
        for events in by_partition(taken).values():
            offsets = [position.offset for position, _ in events]
            assert offsets == sorted(set(offsets))
        for name in names:
            assert numbers([r for r in taken if r.envelope.stream == name]) == list(range(1, 61))

    async def test_g05_a_reader_with_a_position_of_another_journal_is_told(self, open_journal: OpenJournal) -> None:
        journal = await open_journal()
        await fill(journal, STREAM, 3)
        end = dict(await journal.end())
        beyond = {partition: offset + 1_000 for partition, offset in end.items()}
        with pytest.raises(PositionBeyondEnd):
            await take(journal, beyond, 1)

    # --- reading while writing, restart, end -----------------------------------------------------------------------

    async def test_reading_sees_whole_appends_only_while_others_write(self, open_journal: OpenJournal) -> None:
        journal = await open_journal()
        done = asyncio.Event()

        async def write() -> None:
            for sequence in range(0, 900, 9):
                await fill(journal, STREAM, 9, after=sequence)
            done.set()

        async def read() -> int:
            passes = 0
            while not done.is_set():
                events = await events_of(journal, STREAM)
                assert numbers(events) == list(range(1, len(events) + 1))
                assert len(events) % 9 == 0
                passes += 1
            return passes

        _, *passes = await asyncio.gather(write(), read(), read(), read())
        assert all(count > 0 for count in passes)
        assert len(await events_of(journal, STREAM)) == 900

    async def test_the_writers_tenure_stays_the_same_until_it_ends(self, open_journal: OpenJournal) -> None:
        journal = await open_journal()
        tenure = await journal.tenure(STREAM)
        assert tenure >= 0
        await fill(journal, STREAM, 2)
        assert await journal.tenure(STREAM) == tenure
        await journal.close()
        with pytest.raises(JournalClosed):
            await journal.tenure(STREAM)

    async def test_a_journal_goes_on_where_it_was_closed(self, open_journal: OpenJournal) -> None:
        journal = await open_journal()
        await fill(journal, STREAM, 5)
        before = await events_of(journal, STREAM)
        await journal.close()
        journal = await open_journal()
        await fill(journal, STREAM, 2, after=5)
        events = await events_of(journal, STREAM)
        assert [(r.position, r.stored) for r in events[:5]] == [(r.position, r.stored) for r in before]
        assert events[5].envelope.previous_hash == before[-1].hash
        assert events[5].envelope.writer_epoch > before[-1].envelope.writer_epoch
        assert numbers(await take(journal, {}, 7)) == list(range(1, 8))

    async def test_closing_finishes_what_was_queued(self, open_journal: OpenJournal) -> None:
        journal = await open_journal()
        appends = [asyncio.create_task(journal.append(f"case:{n}", 0, new_events([n]))) for n in range(20)]
        await asyncio.sleep(0)
        await journal.close()
        await journal.close()
        answers = await asyncio.gather(*appends)
        assert [len(answer) for answer in answers] == [1] * 20
        with pytest.raises(JournalClosed):
            await journal.append(STREAM, 0, new_events([1]))
        journal = await open_journal()
        assert len(await journal.streams()) == 20

    async def test_a_cancelled_append_leaves_the_journal_in_order(self, open_journal: OpenJournal) -> None:
        journal = await open_journal()
        append = asyncio.create_task(journal.append(STREAM, 0, new_events([1, 2])))
        await asyncio.sleep(0)
        append.cancel()
        await asyncio.gather(append, return_exceptions=True)
        at = sum(head.sequence for head in await journal.streams())
        assert at in {0, 2}, "half an append was written"
        for _ in range(3):
            try:
                await journal.append(STREAM, at, new_events([3]))
            except SequenceConflict as conflict:
                at = conflict.actual_sequence
            else:
                break
        assert numbers(await events_of(journal, STREAM)) in ([1], [1, 2, 3])

    # --- kill -9 ---------------------------------------------------------------------------------------------------

    async def test_g01_whatever_moment_a_writer_is_killed_at_what_it_acknowledged_is_there_whole(
        self, open_journal: OpenJournal, place: tuple[str, str]
    ) -> None:
        rng = seeded("tests/contract -k g01")
        acknowledged: dict[tuple[str, int], str] = {}
        for _ in range(6):
            acknowledged |= await asyncio.to_thread(_write_until_killed, place, rng)
            journal = await open_journal()
            stored = {head.stream: await events_of(journal, head.stream) for head in await journal.streams()}
            await journal.close()
            for (stream, sequence), event_hash in acknowledged.items():
                assert stored[stream][sequence - 1].hash.hex() == event_hash
            for events in stored.values():
                _assert_whole_appends(events)
        assert acknowledged


def _write_until_killed(place: tuple[str, str], rng: random.Random) -> dict[tuple[str, int], str]:
    """Start a writing process, kill it at a random moment, and return what it said was acknowledged."""
    command = [sys.executable, "-m", "tests.support.journal_writer", *place, str(rng.randrange(10**6))]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        # Counted in acknowledgements and a random bit more, so that a slow machine is killed in the middle of writing too.
        lines = [process.stdout.readline() for _ in range(rng.randint(1, 80))]
        time.sleep(rng.random() * 0.01)
        process.kill()
        lines += process.stdout.readlines()
    assert lines[0] == b"open\n"
    acknowledged = {}
    for line in lines[1:]:
        assert line.endswith(b"\n"), f"the writer ended by itself or half a line was written: {line!r}"
        stream, first, hashes = line.decode().split()
        for sequence, event_hash in enumerate(hashes.split(","), int(first)):
            acknowledged[stream, sequence] = event_hash
    return acknowledged


def _assert_whole_appends(events: list[Recorded]) -> None:
    at = 0
    while at < len(events):
        size = int(events[at].envelope.payload.split(b" ")[0].split(b"/")[1])
        append = events[at : at + size]
        assert [e.envelope.payload.split(b" ")[0] for e in append] == [
            f"{n}/{size}".encode() for n in range(1, size + 1)
        ]
        assert len({e.envelope.request_id for e in append}) == 1
        at += size

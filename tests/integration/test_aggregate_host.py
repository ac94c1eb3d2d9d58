"""One effect per request, the same answer again, and a memory that never runs ahead of the log.

The aggregate here is the smallest there can be: a list of event ids, refused when one comes twice.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from hashlib import sha256
from pathlib import Path

import pytest

from services.game.authority import Actor, CommandContext, EventId, Role
from services.game.rejections import Rejection
from services.journal.errors import JournalUnavailable
from services.journal.port import NewEvent, Recorded
from services.journal.sqlite import SqliteJournal
from services.runtime import folding, remembered
from services.runtime.aggregate import AggregateHost, Decider, Outcome
from services.runtime.request_ids import RequestIdMissing, RequestIdReused
from services.wire.registry import EventTypes

KEY = "black-hawk/BJ-07"
State = tuple[EventId, ...]


class NoteTaken(Rejection):
    rule = "test"
    remedy = "Send another."


def decide(state: State, command: Sequence[EventId], context: CommandContext) -> tuple[EventId, ...]:
    assert context.actor.id
    if set(command) & set(state):
        raise NoteTaken("it is there already")
    return tuple(command)


DECIDER: Decider[State, Sequence[EventId], EventId] = Decider(
    area="table",
    initial=lambda _key: (),
    decide=decide,
    evolve=lambda state, event: (*state, event),
    events=EventTypes("holecard.common.v1", (EventId,)),
    round_of=lambda _state, _event: "",
)


def note(*numbers: int) -> tuple[EventId, ...]:
    return tuple(EventId("note", number) for number in numbers)


def context(request_id: str, content: bytes = b"") -> CommandContext:
    return CommandContext(request_id, Actor(Role.DEALER, "D-1"), 1, "2026-11-30", None, sha256(content).digest())


def answer(outcome: Outcome[State, EventId]) -> tuple[int, int, int]:
    return outcome.first_sequence, outcome.last_sequence, len(outcome.state)


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[SqliteJournal]:
    opened = SqliteJournal.open(tmp_path / "journal.db")
    yield opened
    await opened.close()


async def test_a_command_is_recorded_and_answered(journal: SqliteJournal) -> None:
    host = AggregateHost(journal, DECIDER)
    assert await host.execute(KEY, note(1, 2), context("a"), answer) == (1, 2, 2)
    stored = [recorded.envelope async for recorded in journal.read(f"table:{KEY}")]
    assert [envelope.sequence for envelope in stored] == [1, 2]
    assert [envelope.cause for envelope in stored] == [None, None]


async def test_an_outside_command_names_the_event_it_was_decided_on(journal: SqliteJournal) -> None:
    host = AggregateHost(journal, DECIDER)
    await host.execute(KEY, note(1), context("a"), answer)
    await host.execute(KEY, note(2), context("b"), answer)
    stored = [recorded.envelope async for recorded in journal.read(f"table:{KEY}")]
    assert stored[1].cause == EventId(f"table:{KEY}", 1)


async def test_c08_the_same_request_gets_the_same_answer_and_no_second_effect(journal: SqliteJournal) -> None:
    host = AggregateHost(journal, DECIDER)
    first = await host.execute(KEY, note(1), context("a"), answer)
    await host.execute(KEY, note(2), context("b"), answer)
    assert await host.execute(KEY, note(1), context("a"), answer) == first
    assert await host.state(KEY) == note(1, 2)


async def test_the_same_answer_is_given_after_a_restart(journal: SqliteJournal) -> None:
    before = AggregateHost(journal, DECIDER)
    first = await before.execute(KEY, note(1, 2), context("a"), answer)
    await before.execute(KEY, note(3), context("b"), answer)
    after = AggregateHost(journal, DECIDER)
    assert await after.execute(KEY, note(1, 2), context("a"), answer) == first


async def test_b18_five_identical_calls_at_once_end_in_one_effect(journal: SqliteJournal) -> None:
    host = AggregateHost(journal, DECIDER)
    answers = await asyncio.gather(*(host.execute(KEY, note(1), context("a"), answer) for _ in range(5)))
    assert set(answers) == {(1, 1, 1)}
    assert await host.state(KEY) == note(1)


async def test_a_known_id_with_other_content_is_refused_as_reuse(journal: SqliteJournal) -> None:
    host = AggregateHost(journal, DECIDER)
    await host.execute(KEY, note(1), context("a", b"one"), answer)
    with pytest.raises(RequestIdReused):
        await host.execute(KEY, note(2), context("a", b"two"), answer)
    assert await host.state(KEY) == note(1)


@pytest.mark.parametrize("request_id", ["", "x" * 129])
async def test_c10_a_command_without_a_request_id_is_refused(journal: SqliteJournal, request_id: str) -> None:
    with pytest.raises(RequestIdMissing):
        await AggregateHost(journal, DECIDER).execute(KEY, note(1), context(request_id), answer)


async def test_a_refusal_changes_nothing_and_may_be_tried_again(journal: SqliteJournal) -> None:
    host = AggregateHost(journal, DECIDER)
    await host.execute(KEY, note(1), context("a"), answer)
    with pytest.raises(NoteTaken):
        await host.execute(KEY, note(2, 1), context("b"), answer)
    assert await host.execute(KEY, note(2), context("b"), answer) == (2, 2, 2)


class FailingOnce:
    """A journal that loses one append's answer: the events are stored, the caller is told it failed."""

    def __init__(self, journal: SqliteJournal, *, store: bool) -> None:
        self.journal = journal
        self.store = store
        self.failed = False

    def __getattr__(self, name: str) -> object:
        return getattr(self.journal, name)

    async def append(self, stream: str, expected: int, events: Sequence[NewEvent]) -> tuple[Recorded, ...]:
        if not self.failed:
            self.failed = True
            if self.store:
                await self.journal.append(stream, expected, events)
            raise JournalUnavailable("cut")
        return await self.journal.append(stream, expected, events)


@pytest.mark.parametrize("store", [True, False])
async def test_g01_after_a_cut_append_only_the_log_says_what_stands(journal: SqliteJournal, store: bool) -> None:
    host = AggregateHost(FailingOnce(journal, store=store), DECIDER)  # type: ignore[arg-type]  # delegates the rest
    with pytest.raises(JournalUnavailable):
        await host.execute(KEY, note(1), context("a"), answer)
    assert await host.execute(KEY, note(1), context("a"), answer) == (1, 1, 1)
    assert len([r async for r in journal.read(f"table:{KEY}")]) == 1


async def test_a_cancelled_command_leaves_memory_and_log_in_step(journal: SqliteJournal) -> None:
    host = AggregateHost(journal, DECIDER)
    for number in range(20):
        task = asyncio.ensure_future(host.execute(KEY, note(number), context(f"r{number}"), answer))
        for _ in range(number % 7):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await host.execute(KEY, note(number), context(f"r{number}"), answer)
    assert await host.state(KEY) == note(*range(20))


async def test_two_keys_do_not_wait_for_each_other(journal: SqliteJournal) -> None:
    host = AggregateHost(journal, DECIDER)
    async with host.turn(KEY):
        assert await host.execute("black-hawk/BJ-08", note(1), context("a"), answer) == (1, 1, 1)


async def test_a_long_life_is_remembered_in_bounded_windows(
    journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folding, "REQUESTS_REMEMBERED", 20)
    monkeypatch.setattr(remembered, "OUTCOMES_REMEMBERED", 5)
    host = AggregateHost(journal, DECIDER)
    answers = [await host.execute(KEY, note(number), context(f"r{number}"), answer) for number in range(200)]
    entry = host._entries[KEY]
    assert len(entry.requests) == 20
    assert len(entry.outcomes) == 5
    # What left the smaller window is folded from the journal, to the same answer.
    assert [await host.execute(KEY, note(n), context(f"r{n}"), answer) for n in (181, 199)] == [
        answers[181],
        answers[199],
    ]
    # What left both is refused by the business's own rule: nothing happens twice.
    with pytest.raises(NoteTaken):
        await host.execute(KEY, note(3), context("r3"), answer)


async def test_a_request_that_recorded_nothing_is_answered_again_and_never_acts_later(journal: SqliteJournal) -> None:
    host = AggregateHost(journal, DECIDER)
    assert await host.execute(KEY, (), context("nothing"), answer) == (0, 0, 0)
    await host.execute(KEY, note(1), context("a"), answer)
    # The same id, whatever it would do now: as it was answered, with the state of then.
    assert await host.execute(KEY, note(2), context("nothing"), answer) == (0, 0, 0)
    assert await host.execute(KEY, (), context("later"), answer) == (0, 0, 1)
    with pytest.raises(RequestIdReused):
        await host.execute(KEY, note(2), context("nothing", b"other"), answer)
    assert await host.state(KEY) == note(1)


async def test_requests_that_recorded_nothing_keep_their_answers_without_their_states(
    journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembered, "OUTCOMES_REMEMBERED", 1)
    host = AggregateHost(journal, DECIDER)
    await host.execute(KEY, (), context("before"), answer)
    await host.execute(KEY, note(1), context("a"), answer)
    await host.execute(KEY, (), context("between"), answer)
    await host.execute(KEY, note(2), context("b"), answer)
    assert await host.execute(KEY, note(3), context("before"), answer) == (0, 0, 0)
    assert await host.execute(KEY, note(3), context("between"), answer) == (0, 0, 1)
    assert await host.execute(KEY, note(1), context("a"), answer) == (1, 1, 1)


async def test_many_requests_that_recorded_nothing_push_out_none_that_did(
    journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembered, "IDLE_REMEMBERED", 3)
    monkeypatch.setattr(folding, "REQUESTS_REMEMBERED", 3)
    host = AggregateHost(journal, DECIDER)
    first = await host.execute(KEY, note(1), context("a"), answer)
    for number in range(10):
        await host.execute(KEY, (), context(f"nothing-{number}"), answer)
    assert await host.execute(KEY, note(1), context("a"), answer) == first

"""A group commit in the making: appends become one record, each of them whole or refused by itself.

Promises: a conflict or an event out of range is found before anything of that append is in the record; the answers
are ready when the record is, and are given only by whoever knows that it is durable. Does not send.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from services.journal.chaining import chained
from services.journal.errors import JournalError, SequenceConflict
from services.journal.kafka_layout import offset_of
from services.journal.kafka_partition import PartitionLog
from services.journal.port import NewEvent, Position, Recorded

COMMIT_BYTES = 1024 * 1024
COMMIT_EVENTS = 10_000
"""A record takes no further append once it holds this much; one append alone may be larger."""


@dataclass(frozen=True, slots=True)
class Append:
    """One append on its way to the writer thread."""

    stream: str
    expected_sequence: int
    events: tuple[NewEvent, ...]
    size: int
    answer: asyncio.Future[tuple[Recorded, ...]]


Outcome = tuple[Recorded, ...] | JournalError
Answers = list[tuple[Append, Outcome]]


@dataclass(slots=True)
class Commit:
    """A record to be: where it will lie if nobody else writes, under which claim, its events and hashes, and the answers.

    `answers` hold once the record is durable, `refused` once the record before it is. `taken` are all its appends in
    their order; `heads` and `before` are the streams' heads after this record and after the one on its way before it.
    """

    record: int
    claim: int
    before: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    heads: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    taken: list[Append] = field(default_factory=list)
    recorded: list[Recorded] = field(default_factory=list)
    hashes: list[bytes] = field(default_factory=list)
    answers: Answers = field(default_factory=list)
    refused: Answers = field(default_factory=list)
    size: int = 0

    def following(self) -> "Commit":
        """A commit to lie right after this one, staged while this one is on its way."""
        return Commit(self.record + 1, self.claim, self.heads)


def stage(commit: Commit, log: PartitionLog, pending: deque[Append], recorded_time_us: int) -> None:
    """Take appends from `pending` into the commit until it is full.

    Conflicts, refusals and appends of nothing are in its `refused` afterwards; the commit stays without events when
    there is nothing else.
    """
    while pending and commit.size < COMMIT_BYTES and len(commit.recorded) < COMMIT_EVENTS:
        if commit.recorded and commit.size + pending[0].size > COMMIT_BYTES:
            break
        append = pending.popleft()
        commit.taken.append(append)
        try:
            recorded, hashes = _sealed(append, log, commit, recorded_time_us)
        except JournalError as error:
            commit.refused.append((append, error))
            continue
        if recorded:
            commit.recorded.extend(recorded)
            commit.hashes.extend(hashes)
            commit.answers.append((append, recorded))
        else:
            commit.refused.append((append, ()))


def _sealed(
    append: Append, log: PartitionLog, commit: Commit, recorded_time_us: int
) -> tuple[tuple[Recorded, ...], list[bytes]]:
    """Encode and chain one append after what is staged already; changes the commit's heads only if all is good."""
    stream = append.stream
    sequence, previous_hash = commit.heads.get(stream) or commit.before.get(stream) or log.head(stream)
    if append.expected_sequence != sequence:
        raise SequenceConflict(stream, append.expected_sequence, sequence)
    recorded: list[Recorded] = []
    hashes: list[bytes] = []
    size, number = 0, log.number
    placed = chained(stream, (sequence, previous_hash), append.events, recorded_time_us, commit.claim)
    for offset, (envelope, stored, event_hash) in enumerate(placed, offset_of(commit.record, len(commit.recorded) + 1)):
        hashes.append(event_hash)
        recorded.append(Recorded(Position(number, offset), envelope, stored))
        size += len(stored)
    if recorded:
        commit.heads[stream] = sequence + len(recorded), hashes[-1]
        commit.size += size
    return tuple(recorded), hashes


def deliver(answers: Iterable[tuple[Append, Outcome]]) -> None:
    """Give the answers on the event loops that wait for them."""
    by_loop: defaultdict[asyncio.AbstractEventLoop, Answers] = defaultdict(list)
    for append, outcome in answers:
        by_loop[append.answer.get_loop()].append((append, outcome))
    for loop, its_answers in by_loop.items():
        try:
            loop.call_soon_threadsafe(_answer, its_answers)
        except RuntimeError:
            # The loop is closed: nobody is left who could hear the answer.
            continue


def _answer(answers: Answers) -> None:
    for append, outcome in answers:
        if append.answer.done():
            continue
        if isinstance(outcome, tuple):
            append.answer.set_result(outcome)
        else:
            append.answer.set_exception(outcome)

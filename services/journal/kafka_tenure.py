"""One partition as its writer sees it: from nobody's to claimed, replayed, owned, and lost or broken again.

Owns the rule of who may write (DESIGN §4). Promises: a commit is acknowledged only if the broker put it exactly where
it was expected, right after everything this process knows of the partition, under a claim that is the latest there.
Anything else makes its outcome unknown and ends the tenure: after a failure the next append claims anew, unless
another has claimed since; then the partition is the other's until `claim` is asked for again. Runs in the writer's
thread; sends through `send`.
"""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from enum import Enum, auto

from services.journal.errors import JournalError, JournalUnavailable
from services.journal.kafka_commit import Answers, Append, Commit, stage
from services.journal.kafka_errors import OutcomeUnknown, PartitionNotOwned
from services.journal.kafka_partition import OwnBatch, PartitionLog
from services.journal.kafka_records import Headers, batch_record, claim_record
from services.wire.batch import Claim


class State(Enum):
    """Where a tenure stands."""

    IDLE = auto()
    """Not asked for, or another's."""
    CLAIMING = auto()
    """The claim is on its way."""
    REPLAYING = auto()
    """The claim is in the log; what lies before it is being read."""
    OWNED = auto()
    BROKEN = auto()
    """A record's outcome is unknown; the next append claims anew."""


@dataclass(slots=True, eq=False)
class Flight:
    """A record on its way; `commit` is None for a claim. `began_s` is the writer's monotonic time."""

    number: int
    commit: Commit | None
    began_s: float = 0.0


Send = Callable[[Flight, bytes, Headers], None]


class Tenure:
    """Call `advance` after anything has happened; it sends what can be sent and returns the answers that are known."""

    def __init__(self, log: PartitionLog, make_claim: Callable[[], Claim], now_us: Callable[[], int]) -> None:
        self.log = log
        self.state = State.IDLE
        self.flight: Flight | None = None
        self.pending: deque[Append] = deque()
        self.waiters: list[Future[None]] = []
        self._make_claim = make_claim
        self._now_us = now_us
        self._claim_offset = -1
        self._generation = log.generation
        self._sent_claim: Claim | None = None
        self._must_see = -1
        self._own: OwnBatch | None = None
        self._next: Commit | None = None
        self.sure_s = float("-inf")
        """The writer's monotonic time at which this tenure was last known to be the latest one."""

    @property
    def epoch(self) -> int:
        """Kafka's offset of the claim under which this process writes, or wrote last."""
        return self._claim_offset

    @property
    def is_coming(self) -> bool:
        """Whether the partition is being claimed or replayed."""
        return self.state in {State.CLAIMING, State.REPLAYING} or bool(self.waiters)

    @property
    def is_latest(self) -> bool:
        """Whether nobody has claimed after this process's own claim, as far as the log is read."""
        return self.epoch >= 0 and self.state in {State.OWNED, State.BROKEN} and self._is_latest()

    @property
    def is_busy(self) -> bool:
        """Whether something waits or is on its way."""
        return self.flight is not None or self._next is not None or bool(self.pending or self.waiters)

    @property
    def is_owned(self) -> bool:
        """Whether this process writes the partition now, as far as it has read it."""
        return self.state is State.OWNED and self._is_latest()

    def advance(self, send: Send) -> Answers:
        """Do what can be done now. `send` must not fail: failures come back through `failed`."""
        if self.log.failure is not None:
            return self.refuse(self.log.failure)
        if self.flight is not None:
            self._stage_ahead(self.flight.commit)
            return []
        if self.state is State.REPLAYING and self.log.is_proved and self.log.next_record > self._claim_offset:
            self._generation = self.log.generation
            self.state = State.OWNED if self._is_latest() else State.IDLE
        if self.state is State.REPLAYING:
            return []
        if self.state is State.OWNED:
            if self._is_latest():
                self._tell_waiters(None)
                return self._commit(send)
            self._unstage()
            # A log that is read anew is claimed anew: what was decided on it may have stood on a wrong snapshot.
            self.state = State.IDLE if self._is_same_log() else State.BROKEN
        return self._claim_or_yield(send)

    def landed(self, offset: int) -> Answers:
        """The record on its way has been written at Kafka's offset `offset`."""
        flight, self.flight = self.flight, None
        if flight is None:
            return []
        if flight.commit is None:
            self._claim_offset = offset
            if self.state is State.CLAIMING:
                # An epoch counts from 1 (Envelope.writer_epoch): the very first record of a partition only makes room.
                self.state = State.REPLAYING if offset > 0 else State.BROKEN
            return []
        if offset == flight.commit.record and self._own is not None and self._is_same_log():
            self.sure_s = max(self.sure_s, flight.began_s)
            self.log.take_own(self._own)
            return flight.commit.answers
        why = f"someone else wrote before it: it was put at {offset}" if self._is_same_log() else "the log is read anew"
        self._unstage()
        self.state, self._must_see = State.BROKEN, offset
        return _unknown(flight.commit, why)

    def failed(self, error: JournalError) -> Answers:
        """The record on its way failed, or nobody knows; the tenure is over."""
        flight, self.flight = self.flight, None
        if self.state is not State.IDLE:
            self.state = State.BROKEN
        unknown = _unknown(flight.commit, str(error)) if flight is not None and flight.commit is not None else []
        return [*unknown, *self.refuse(error)]

    def release(self) -> Answers:
        """Write here no longer, until `claim` is asked for again; what is on its way is answered when it has landed."""
        self.state = State.IDLE
        return self.refuse(self.not_owned())

    def refuse(self, error: JournalError) -> Answers:
        """Answer all that wait with an error; what is on its way stays."""
        self._tell_waiters(error)
        return self._drain(error)

    def _drain(self, error: JournalError) -> Answers:
        self._unstage()
        answers: Answers = [(append, error) for append in self.pending]
        self.pending.clear()
        return answers

    def _is_latest(self) -> bool:
        return self.log.claim_offset == self._claim_offset and self._is_same_log()

    def _is_same_log(self) -> bool:
        return self.log.generation == self._generation

    def _stage_ahead(self, on_its_way: Commit | None) -> None:
        """Encode what has come while the last record is on its way, so that the next can go at once."""
        if on_its_way is not None and self.pending and self.state is State.OWNED:
            self._next = self._next or on_its_way.following()
            stage(self._next, self.log, self.pending, self._now_us())

    def _unstage(self) -> None:
        """Put back what was staged ahead: it stood on a record that is not where it was to be."""
        if self._next is not None:
            self.pending.extendleft(reversed(self._next.taken))
            self._next = None

    def _commit(self, send: Send) -> Answers:
        if self._next is not None and (self._next.record, self._next.claim) != (
            self.log.next_record,
            self._claim_offset,
        ):
            self._unstage()
        commit, self._next = self._next or Commit(self.log.next_record, self._claim_offset), None
        stage(commit, self.log, self.pending, self._now_us())
        if commit.recorded:
            self.flight = Flight(self.log.number, commit)
            value, headers = batch_record(commit.claim, commit.recorded)
            self._own = OwnBatch(self._generation, commit.record, commit.claim, value, commit.recorded, commit.hashes)
            self.log.expect_own(self._own)
            send(self.flight, value, headers)
        return commit.refused

    def _claim_or_yield(self, send: Send) -> Answers:
        """Claim when that was asked for, or after a failure when nobody else has; else tell whose the partition is."""
        if not self.is_busy or (self.state is State.BROKEN and self._must_see >= self.log.next_record):
            return []
        latest = self.log.claim
        others = self.log.claim_offset > self._claim_offset and latest is not None and latest != self._sent_claim
        if not self.waiters and (self.state is State.IDLE or others):
            self.state = State.IDLE
            return self._drain(self.not_owned())
        self._sent_claim = self._make_claim()
        self.state = State.CLAIMING
        self.flight = Flight(self.log.number, None)
        send(self.flight, *claim_record(self._sent_claim))
        return []

    def not_owned(self) -> PartitionNotOwned:
        """Whose the partition is; nobody's when this process itself claimed it last and released it."""
        claim, place = self.log.claim, f"{self.log.place.topic} partition {self.log.place.partition}"
        owner, address = (claim.owner, claim.address) if claim and claim != self._sent_claim else ("", "")
        return PartitionNotOwned(self.log.number, place, owner, address)

    def _tell_waiters(self, error: JournalError | None) -> None:
        waiters, self.waiters = self.waiters, []
        for waiter in waiters:
            if error is None:
                waiter.set_result(None)
            else:
                waiter.set_exception(error)


def _unknown(commit: Commit, reason: str) -> Answers:
    error: JournalUnavailable = OutcomeUnknown(
        f"whether the append was written is not known ({reason}); ask again with the same request id"
    )
    return [(append, error) for append, _ in commit.answers]

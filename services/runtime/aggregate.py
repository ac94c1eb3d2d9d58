"""Commands against one stream at a time: load, decide, append, answer.

Owns the states in memory. Promises: commands of one key run one after the other; a command is answered only after its
events are durable; the same request id gets the same answer again, also after a restart; after any failure, and after
somebody else may have written, the state is dropped and read anew from the journal, so memory is never ahead of the log nor
behind it. Does not know what the commands mean.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from services.game.authority import CommandContext, EventId
from services.game.rejections import Breach, Rejection
from services.journal.port import Journal, NewEvent, Recorded, StreamHead
from services.runtime.folding import Folded, Folding, Requests, extend, without_requests
from services.runtime.snapshots import CUT_EVENTS, AreaSnapshots, StateSnapshots
from services.runtime.table_key import stream_of
from services.wire.registry import EventTypes
from services.wire.state_snapshot import RequestPart

S = TypeVar("S")
C = TypeVar("C")
E = TypeVar("E")
A = TypeVar("A")

# States share most of what they hold, but each is some kilobytes; an older outcome is folded again from the journal.
OUTCOMES_REMEMBERED = 64


class RequestIdReused(Rejection):
    """A known request id with other content or from another actor."""

    rule = "DESIGN §3"
    remedy = "Give every command its own id; repeat an id only to repeat the command unchanged."


class RequestIdMissing(Rejection):
    """A command without a request id, or with one that is too long."""

    rule = "DESIGN §3"
    remedy = "Send a request id of 1 to 128 characters with every command."
    breach = Breach.FORM


@dataclass(frozen=True)
class Decider(Generic[S, C, E]):
    """An aggregate as three pure functions and the events it speaks.

    `area` names its streams; `initial` gives the state before the first event of a key; `round_of` the id of the round that
    an event belongs to ("" outside rounds), given the state before it.
    """

    area: str
    initial: Callable[[str], S]
    decide: Callable[[S, C, CommandContext], tuple[E, ...]]
    evolve: Callable[[S, E], S]
    events: EventTypes[E]
    round_of: Callable[[S, E], str]


@dataclass(frozen=True, slots=True)
class Outcome(Generic[S, E]):
    """What a command did: the state right after its last event, its events, and where they stand.

    `first_sequence` and `last_sequence` are 0 when nothing new was recorded.
    """

    stream: str
    state: S
    events: tuple[E, ...]
    first_sequence: int
    last_sequence: int


@dataclass(frozen=True, slots=True)
class Moment:
    """When an event happened, as whoever saw it says, and the gaming day that it counts for."""

    occurred_time_us: int
    gaming_day: str


@dataclass(slots=True)
class _Entry(Generic[S, E]):
    """One key in memory."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    state: S | None = None
    tenure: int = -1
    """The journal's tenure under which the state was read; under another one it may be old."""
    sequence: int = 0
    requests: Requests = field(default_factory=OrderedDict)
    outcomes: OrderedDict[str, Outcome[S, E]] = field(default_factory=OrderedDict)
    last: Recorded | None = None
    """The event that the state ends with."""
    base: Folded[S] | None = None
    """The state of the snapshot that was read or cut last, without its requests, to fold earlier outcomes from."""

    @property
    def cut_sequence(self) -> int:
        """Where the last snapshot ends, 0 without one."""
        return 0 if self.base is None else self.base.sequence

    def folded(self, stream: str) -> Folded[S] | None:
        """All of it that a snapshot holds; None while nothing is known."""
        if self.state is None or self.last is None:
            return None
        requests = tuple(
            RequestPart(name, one.digest, one.first_sequence, one.last_sequence) for name, one in self.requests.items()
        )
        return Folded(stream, self.sequence, self.last.hash, self.state, requests)


@dataclass(frozen=True, slots=True)
class _Loading(Generic[S, E]):
    """A key on its way into memory, its lock held: up to the sequence `last`, under the journal's tenure."""

    entry: _Entry[S, E]
    folding: Folding[S]
    last: int
    tenure: int


class Turn(Generic[S, C, E]):
    """The exclusive right to decide for one key, for as long as its `async with` block lasts."""

    def __init__(self, host: "AggregateHost[S, C, E]", key: str, entry: _Entry[S, E]) -> None:
        self._host = host
        self._entry = entry
        self.key = key
        self.stream = stream_of(host.decider.area, key)

    @property
    def state(self) -> S:
        """The state after everything that was recorded."""
        if self._entry.state is None:
            raise RuntimeError("a turn was used after its block ended or failed")
        return self._entry.state

    @property
    def last_event(self) -> EventId | None:
        """The stream's last event, to be named as the cause of what follows from it; None in an empty stream."""
        return EventId(self.stream, self._entry.sequence) if self._entry.sequence else None

    async def repeated(self, context: CommandContext) -> Outcome[S, E] | None:
        """The outcome of this request if it was carried out before; raises RequestIdReused, RequestIdMissing."""
        if not 1 <= len(context.request_id) <= 128:
            raise RequestIdMissing("a command needs a request id", length=len(context.request_id))
        known = self._entry.requests.get(context.request_id)
        if known is None:
            return None
        if known.digest != context.request_digest:
            raise RequestIdReused(
                f"request {context.request_id!r} was used before for something else", request_id=context.request_id
            )
        outcome = self._entry.outcomes.get(context.request_id)
        return outcome or await self._host.outcome_at(self.key, known.first_sequence, known.last_sequence)

    def decide(self, command: C, context: CommandContext) -> tuple[E, ...]:
        """The events of a command against the state as it is; raises Rejection."""
        return self._host.decider.decide(self.state, command, context)

    async def record(
        self, events: tuple[E, ...], context: CommandContext, moments: Sequence[Moment] = ()
    ) -> Outcome[S, E]:
        """Make `events` durable and the state follow; raises the journal's errors, after which the turn is over.

        The events' cause is the context's, else the event that this decision was based on. `moments` gives each event its
        own time, where they did not happen when the command was sent.
        """
        entry = self._entry
        if not events:
            return Outcome(self.stream, self.state, (), 0, 0)
        state, new = self.state, []
        decider = self._host.decider
        cause = context.cause or self.last_event
        for at, event in enumerate(events):
            type_name, version, payload = decider.events.encode(event)
            moment = moments[at] if moments else context
            new.append(
                NewEvent(
                    type=type_name,
                    schema_version=version,
                    payload=payload,
                    occurred_time_us=moment.occurred_time_us,
                    actor=context.actor,
                    request_id=context.request_id,
                    request_digest=context.request_digest,
                    cause=cause,
                    round_id=decider.round_of(state, event),
                    gaming_day=moment.gaming_day,
                )
            )
            state = decider.evolve(state, event)
        recorded = await _to_its_end(self._host.journal.append(self.stream, entry.sequence, new))
        first = entry.sequence + 1
        entry.sequence += len(new)
        entry.state, entry.last = state, recorded[-1]
        outcome = Outcome(self.stream, state, events, first, entry.sequence)
        _remember(entry, context, outcome)
        self._host.cut_when_due(self.stream, entry)
        return outcome


class AggregateHost(Generic[S, C, E]):
    """Every key of one area, each loaded from the journal, on top of its snapshot if there is one, when first asked for."""

    def __init__(self, journal: Journal, decider: Decider[S, C, E], snapshots: StateSnapshots | None = None) -> None:
        self.journal = journal
        self.decider = decider
        self._entries: dict[str, _Entry[S, E]] = {}
        self._snapshots: AreaSnapshots[S] | None = None
        if snapshots is not None:
            self._snapshots = snapshots.of(decider.area, type(decider.initial("")), self.cut_all)

    @asynccontextmanager
    async def turn(self, key: str) -> AsyncIterator[Turn[S, C, E]]:
        """Wait for the key's turn and hold it; any failure but a Rejection drops the state in memory."""
        entry = self._entries.setdefault(key, _Entry())
        async with entry.lock:
            try:
                tenure = await self.journal.tenure(stream_of(self.decider.area, key))
                if entry.state is None or entry.tenure != tenure:
                    await self._load(key, entry)
                    entry.tenure = tenure
                yield Turn(self, key, entry)
            except Rejection:
                raise
            except BaseException:
                # An append may have been in flight (cancelled, journal failed): only the log knows what stands.
                entry.state = None
                raise

    async def execute(
        self,
        key: str,
        command: C,
        context: CommandContext,
        answer: Callable[[Outcome[S, E]], A],
    ) -> A:
        """Carry out a command that needs nobody else, or repeat its answer; raises Rejection, changing nothing."""
        async with self.turn(key) as turn:
            outcome = await turn.repeated(context)
            if outcome is None:
                outcome = await turn.record(turn.decide(command, context), context)
            return answer(outcome)

    async def state(self, key: str) -> S:
        """The state as of the last durable event."""
        async with self.turn(key) as turn:
            return turn.state

    async def take_up(self, heads: Iterable[StreamHead]) -> None:
        """Load the keys of these streams in one passage over the journal; commands for a key wait until it is loaded.

        Streams of other areas are passed over, and so are keys that are in use or whose snapshot has everything: those are
        loaded when they are asked for, as is whatever is not loaded when this raises one of the journal's errors.
        """
        loading: dict[str, _Loading[S, E]] = {}
        try:
            for head in heads:
                if head.stream.startswith(stream_of(self.decider.area, "")):
                    await self._begin_loading(head, loading)
            async for recorded in self.journal.replay({name: one.folding.after for name, one in loading.items()}):
                one = loading.get(recorded.envelope.stream)
                if one is None:
                    continue
                fits = one.folding.take(recorded)
                if fits and one.folding.sequence >= one.last:
                    self._loaded(one.entry, one.folding)
                    one.entry.tenure = one.tenure
                if not fits or one.folding.sequence >= one.last:
                    loading.pop(recorded.envelope.stream).entry.lock.release()
        finally:
            for one in loading.values():
                one.entry.lock.release()

    async def _begin_loading(self, head: StreamHead, loading: "dict[str, _Loading[S, E]]") -> None:
        key = head.stream.removeprefix(stream_of(self.decider.area, ""))
        entry = self._entries.setdefault(key, _Entry())
        if entry.lock.locked() or entry.state is not None:
            return
        async with AsyncExitStack() as undo:
            await undo.enter_async_context(entry.lock)
            tenure = await self.journal.tenure(head.stream)
            kept = None if self._snapshots is None else await self._snapshots.load(head.stream)
            if kept is None or kept.sequence < head.sequence:
                loading[head.stream] = _Loading(entry, self._folding(key, kept), head.sequence, tenure)
                undo.pop_all()

    def tenure_of(self, key: str) -> int:
        """The journal's tenure under which the key was read last; -1 for one that never was."""
        entry = self._entries.get(key)
        return -1 if entry is None else entry.tenure

    def let_go(self, streams: Iterable[str]) -> None:
        """Drop what is in memory of those of these streams that are this area's and at rest: others own them now."""
        prefix = stream_of(self.decider.area, "")
        for key in [stream.removeprefix(prefix) for stream in streams if stream.startswith(prefix)]:
            entry = self._entries.get(key)
            if entry is not None and not entry.lock.locked():
                entry.state = None
                entry.requests.clear()
                entry.outcomes.clear()

    def states(self) -> list[S]:
        """The states that are in memory now, for measures only; safe to ask from any thread, and never waits."""
        return [entry.state for entry in list(self._entries.values()) if entry.state is not None]

    async def outcome_at(self, key: str, first_sequence: int, last_sequence: int) -> Outcome[S, E]:
        """An earlier command's outcome, folded again from the journal, or from the snapshot when that is older."""
        stream, entry = stream_of(self.decider.area, key), self._entries.get(key)
        base = None if entry is None else entry.base
        if base is not None and base.sequence >= first_sequence:
            base = None
        folding, events = self._folding(key, base), []
        async for recorded in self.journal.read(stream, folding.after):
            folding.take(recorded)
            envelope = recorded.envelope
            if envelope.sequence >= first_sequence:
                events.append(self.decider.events.decode(envelope.type, envelope.schema_version, envelope.payload))
            if envelope.sequence == last_sequence:
                break
        return Outcome(stream, folding.state, tuple(events), first_sequence, last_sequence)

    def cut_when_due(self, stream: str, entry: _Entry[S, E]) -> None:
        """Cut a snapshot in the background when enough has happened since the last one."""
        if self._snapshots is not None and entry.sequence - entry.cut_sequence >= CUT_EVENTS:
            self._cut(self._snapshots, stream, entry)

    async def cut_all(self) -> None:
        """Cut a snapshot of every state that has changed since its last one, letting commands in between."""
        for key, entry in list(self._entries.items()):
            if self._snapshots is not None and entry.sequence > entry.cut_sequence:
                self._cut(self._snapshots, stream_of(self.decider.area, key), entry)
                await asyncio.sleep(0)

    def _cut(self, snapshots: AreaSnapshots[S], stream: str, entry: _Entry[S, E]) -> None:
        folded = entry.folded(stream)
        if folded is not None:
            entry.base = without_requests(folded)
            snapshots.cut(folded)

    def _folding(self, key: str, kept: Folded[S] | None) -> Folding[S]:
        decider = self.decider
        return Folding(decider.initial(key), decider.evolve, decider.events.decode, kept)

    async def _load(self, key: str, entry: _Entry[S, E]) -> None:
        stream = stream_of(self.decider.area, key)
        kept = None if self._snapshots is None else await self._snapshots.load(stream)
        folding = await self._folded(stream, self._folding(key, kept))
        if not folding.fits:
            if self._snapshots is not None:
                self._snapshots.doubt(stream)
            folding = await self._folded(stream, self._folding(key, None))
        self._loaded(entry, folding)

    def _loaded(self, entry: _Entry[S, E], folding: Folding[S]) -> None:
        entry.state, entry.sequence, entry.requests = folding.state, folding.sequence, folding.requests
        entry.last, entry.base = folding.last, None if folding.kept is None else without_requests(folding.kept)
        entry.outcomes.clear()

    async def _folded(self, stream: str, folding: Folding[S]) -> Folding[S]:
        async for recorded in self.journal.read(stream, folding.after):
            if not folding.take(recorded):
                break
        return folding


async def _to_its_end(append: Coroutine[Any, Any, A]) -> A:
    """Wait for an append even when its task is cancelled: the key's next turn must find it in the log or not at all."""
    task = asyncio.ensure_future(append)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise


def _remember(entry: _Entry[S, E], context: CommandContext, outcome: Outcome[S, E]) -> None:
    request_id = context.request_id
    extend(entry.requests, request_id, context.request_digest, outcome.first_sequence, outcome.last_sequence)
    known = entry.requests[request_id]
    if known.first_sequence == outcome.first_sequence:
        entry.outcomes[request_id] = outcome
        if len(entry.outcomes) > OUTCOMES_REMEMBERED:
            entry.outcomes.popitem(last=False)
    else:
        # The request recorded in several steps: its outcome is folded again when somebody asks.
        entry.outcomes.pop(request_id, None)

"""Commands against one stream at a time: load, decide, append, answer.

Owns the states in memory. Promises: commands of one key run one after the other; a command is answered only after its
events are durable; the same request id gets the same answer again, also after a restart; after any failure, and after
somebody else may have written, the state is dropped and read anew from the journal, so memory is never ahead of the log nor
behind it. A request that recorded nothing is remembered while the process lives; where its command, repeated after a
restart, could act after all, its room records an event that says so (`NothingChanged`). Does not know what commands mean.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Generic, TypeVar

from services.game.authority import CommandContext, EventId
from services.game.rejections import Rejection
from services.journal.port import Journal, NewEvent, StreamHead
from services.runtime.finishing import to_its_end
from services.runtime.folding import Folded, Folding, without_requests
from services.runtime.remembered import Entry, Loading, Outcome, remember, remember_idle
from services.runtime.request_ids import RequestIdMissing, RequestIdReused
from services.runtime.snapshots import AreaSnapshots, StateSnapshots, is_due
from services.runtime.table_key import stream_of
from services.wire.registry import EventTypes

__all__ = ["AggregateHost", "Decider", "Moment", "Outcome", "Turn"]

S = TypeVar("S")
C = TypeVar("C")
E = TypeVar("E")
A = TypeVar("A")


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
class Moment:
    """When an event happened, as whoever saw it says, and the gaming day that it counts for."""

    occurred_time_us: int
    gaming_day: str


class Turn(Generic[S, C, E]):
    """The exclusive right to decide for one key, for as long as its `async with` block lasts."""

    def __init__(self, host: "AggregateHost[S, C, E]", key: str, entry: Entry[S, E]) -> None:
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
        known = self._entry.requests.get(context.request_id) or self._entry.idle.get(context.request_id)
        if known is None:
            return None
        if known.digest != context.request_digest:
            raise RequestIdReused(
                f"request {context.request_id!r} was used before for something else", request_id=context.request_id
            )
        outcome = self._entry.outcomes.get(context.request_id)
        if outcome is None and context.request_id not in self._entry.requests:
            state = await self._host.state_at(self.key, known.last_sequence)
            return Outcome(self.stream, state, (), 0, 0)
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
            nothing: Outcome[S, E] = Outcome(self.stream, self.state, (), 0, 0)
            remember_idle(entry, context, nothing)
            return nothing
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
        recorded = await to_its_end(self._host.journal.append(self.stream, entry.sequence, new))
        first = entry.sequence + 1
        entry.sequence += len(new)
        entry.state, entry.last = state, recorded[-1]
        outcome = Outcome(self.stream, state, events, first, entry.sequence)
        remember(entry, context, outcome)
        self._host.cut_when_due(self.stream, entry)
        return outcome


class AggregateHost(Generic[S, C, E]):
    """Every key of one area, each loaded from the journal, on top of its snapshot if there is one, when first asked for."""

    def __init__(self, journal: Journal, decider: Decider[S, C, E], snapshots: StateSnapshots | None = None) -> None:
        self.journal = journal
        self.decider = decider
        self._entries: dict[str, Entry[S, E]] = {}
        self._snapshots: AreaSnapshots[S] | None = None
        if snapshots is not None:
            self._snapshots = snapshots.of(decider.area, type(decider.initial("")), self.cut_all)

    @asynccontextmanager
    async def turn(self, key: str) -> AsyncIterator[Turn[S, C, E]]:
        """Wait for the key's turn and hold it; any failure but a Rejection drops the state in memory."""
        entry = self._entries.setdefault(key, Entry())
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
        loading: dict[str, Loading[S, E]] = {}
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

    async def _begin_loading(self, head: StreamHead, loading: "dict[str, Loading[S, E]]") -> None:
        key = head.stream.removeprefix(stream_of(self.decider.area, ""))
        entry = self._entries.setdefault(key, Entry())
        if entry.lock.locked() or entry.state is not None:
            return
        async with AsyncExitStack() as undo:
            await undo.enter_async_context(entry.lock)
            tenure = await self.journal.tenure(head.stream)
            kept = None if self._snapshots is None else await self._snapshots.load(head.stream)
            if kept is None or kept.sequence < head.sequence:
                loading[head.stream] = Loading(entry, self._folding(key, kept), head.sequence, tenure)
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
                entry.idle.clear()
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

    def cut_when_due(self, stream: str, entry: Entry[S, E]) -> None:
        """Cut a snapshot in the background when enough has happened since the last one."""
        if self._snapshots is not None and is_due(entry.sequence - entry.cut_sequence, monotonic() - entry.cut_s):
            self._cut(self._snapshots, stream, entry)

    async def cut_all(self) -> None:
        """Cut a snapshot of every state that has changed since its last one, letting commands in between."""
        for key, entry in list(self._entries.items()):
            if self._snapshots is not None and entry.sequence > entry.cut_sequence:
                self._cut(self._snapshots, stream_of(self.decider.area, key), entry)
                await asyncio.sleep(0)

    def _cut(self, snapshots: AreaSnapshots[S], stream: str, entry: Entry[S, E]) -> None:
        folded = entry.folded(stream)
        if folded is not None:
            entry.base, entry.cut_s = without_requests(folded), monotonic()
            snapshots.cut(folded)

    def _folding(self, key: str, kept: Folded[S] | None) -> Folding[S]:
        decider = self.decider
        return Folding(decider.initial(key), decider.evolve, decider.events.decode, kept)

    async def state_at(self, key: str, sequence: int) -> S:
        """The state right after that event, folded again from the journal; 0 is the state before the first one."""
        if not sequence:
            return self.decider.initial(key)
        return (await self.outcome_at(key, sequence, sequence)).state

    async def _load(self, key: str, entry: Entry[S, E]) -> None:
        stream = stream_of(self.decider.area, key)
        kept = None if self._snapshots is None else await self._snapshots.load(stream)
        folding = await self._folded(stream, self._folding(key, kept))
        if not folding.fits:
            if self._snapshots is not None:
                self._snapshots.doubt(stream)
            folding = await self._folded(stream, self._folding(key, None))
        self._loaded(entry, folding)

    def _loaded(self, entry: Entry[S, E], folding: Folding[S]) -> None:
        entry.state, entry.sequence, entry.requests = folding.state, folding.sequence, folding.requests
        entry.last, entry.base = folding.last, None if folding.kept is None else without_requests(folding.kept)
        entry.outcomes.clear()

    async def _folded(self, stream: str, folding: Folding[S]) -> Folding[S]:
        async for recorded in self.journal.read(stream, folding.after):
            if not folding.take(recorded):
                break
        return folding

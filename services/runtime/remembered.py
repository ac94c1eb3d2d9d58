"""What a host keeps of one key in memory: its state, what was answered to whom, and what a snapshot takes of it.

Owns the sizes of these windows. Promises: what a request did is told again as long as it is remembered. Reads and decides
nothing.
"""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from services.game.authority import CommandContext
from services.journal.port import Recorded
from services.runtime.folding import IDLE_REMEMBERED, Folded, Folding, Request, Requests, extend
from services.wire.state_snapshot import RequestPart

S = TypeVar("S")
E = TypeVar("E")

# States share most of what they hold, but each is some kilobytes; an older outcome is folded again from the journal.
OUTCOMES_REMEMBERED = 64


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


@dataclass(slots=True)
class Entry(Generic[S, E]):
    """One key in memory."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    state: S | None = None
    tenure: int = -1
    """The journal's tenure under which the state was read; under another one it may be old."""
    sequence: int = 0
    requests: Requests = field(default_factory=OrderedDict)
    idle: Requests = field(default_factory=OrderedDict)
    """Requests that recorded nothing; both sequences are that of the last event then."""
    outcomes: OrderedDict[str, Outcome[S, E]] = field(default_factory=OrderedDict)
    last: Recorded | None = None
    """The event that the state ends with."""
    base: Folded[S] | None = None
    """The state of the snapshot that was read or cut last, without its requests, to fold earlier outcomes from."""

    cut_s: float = 0.0
    """When a snapshot was cut last, by the monotonic clock."""

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
class Loading(Generic[S, E]):
    """A key on its way into memory, its lock held: up to the sequence `last`, under the journal's tenure."""

    entry: Entry[S, E]
    folding: Folding[S]
    last: int
    tenure: int


def remember(entry: Entry[S, E], context: CommandContext, outcome: Outcome[S, E]) -> None:
    """Note what a request recorded."""
    request_id = context.request_id
    extend(entry.requests, request_id, context.request_digest, outcome.first_sequence, outcome.last_sequence)
    known = entry.requests[request_id]
    if known.first_sequence == outcome.first_sequence:
        _keep(entry, request_id, outcome)
    else:
        # The request recorded in several steps: its outcome is folded again when somebody asks.
        entry.outcomes.pop(request_id, None)


def remember_idle(entry: Entry[S, E], context: CommandContext, outcome: Outcome[S, E]) -> None:
    """Note a request that recorded nothing."""
    request_id = context.request_id
    if request_id in entry.requests or request_id in entry.idle:
        return
    entry.idle[request_id] = Request(context.request_digest, entry.sequence, entry.sequence)
    if len(entry.idle) > IDLE_REMEMBERED:
        entry.idle.popitem(last=False)
    _keep(entry, request_id, outcome)


def _keep(entry: Entry[S, E], request_id: str, outcome: Outcome[S, E]) -> None:
    entry.outcomes[request_id] = outcome
    if len(entry.outcomes) > OUTCOMES_REMEMBERED:
        entry.outcomes.popitem(last=False)

"""Folding a stream into its state, from its beginning or from a snapshot that its log agrees with.

Owns what is remembered of requests. Promises: the state, the sequence and the requests are those that folding every event
gives; a snapshot counts only when the very event that it ends with is in the stream. Does not read.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from services.journal.port import Recorded
from services.wire.state_snapshot import RequestPart

S = TypeVar("S")

# A client that retries does so within seconds, and a full table makes about 25 requests a round; after this many later ones
# the business identities (round, seat, hand, kind) still keep an effect from happening twice. Half a kilobyte each.
REQUESTS_REMEMBERED = 2_000
# Requests that recorded nothing are remembered apart, so that many of them never push out one that had an effect.
IDLE_REMEMBERED = 500


@dataclass(slots=True)
class Request:
    """Where the events of a request stand, and the digest of what it asked."""

    digest: bytes
    first_sequence: int
    last_sequence: int


Requests = OrderedDict[str, Request]


def extend(requests: Requests, request_id: str, digest: bytes, first: int, last: int) -> None:
    """Note that events of a request stand from `first` to `last`; the oldest request is forgotten when they are too many."""
    known = requests.get(request_id)
    if known is not None:
        known.last_sequence = last
        return
    requests[request_id] = Request(digest, first, last)
    if len(requests) > REQUESTS_REMEMBERED:
        requests.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Folded(Generic[S]):
    """A stream's state after its event `sequence`, which has the hash `hash`, and its requests, oldest first."""

    stream: str
    sequence: int
    hash: bytes
    state: S
    requests: tuple[RequestPart, ...]


def without_requests(folded: Folded[S]) -> Folded[S]:
    """The state alone, which takes little room: it shares most of what it holds with later ones."""
    return Folded(folded.stream, folded.sequence, folded.hash, folded.state, ())


class Folding(Generic[S]):
    """Feed it the events after `after` with `take`; False means that the snapshot is not of this stream."""

    def __init__(
        self,
        initial: S,
        evolve: Callable[[S, Any], S],
        decode: Callable[[str, int, bytes], Any],
        kept: Folded[S] | None,
    ) -> None:
        self.state = initial
        self.sequence = 0
        self.requests: Requests = OrderedDict()
        self.last: Recorded | None = None
        self._evolve = evolve
        self._decode = decode
        self.kept = kept

    @property
    def after(self) -> int:
        """After which sequence to read: the snapshot's last event is read again, to compare it."""
        return 0 if self.kept is None else self.kept.sequence - 1

    @property
    def fits(self) -> bool:
        """Whether the snapshot's last event was met; True without a snapshot."""
        return self.kept is None or self.sequence >= self.kept.sequence

    def take(self, recorded: Recorded) -> bool:
        """Fold the next event."""
        envelope, kept = recorded.envelope, self.kept
        self.last = recorded
        if kept is not None and not self.sequence:
            if envelope.sequence != kept.sequence or recorded.hash != kept.hash:
                return False
            self.state, self.sequence = kept.state, kept.sequence
            for one in kept.requests:
                self.requests[one.id] = Request(one.digest, one.first_sequence, one.last_sequence)
            return True
        self.sequence = envelope.sequence
        event = self._decode(envelope.type, envelope.schema_version, envelope.payload)
        self.state = self._evolve(self.state, event)
        extend(self.requests, envelope.request_id, envelope.request_digest, self.sequence, self.sequence)
        return True

"""The laws of the log itself: L4 unbroken, L5 nothing lost, L11 causes first, and of L7 the one effect per request.

Each law folds facts in log order and keeps a bounded memory per stream. Does not look into what the events mean.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator

from services.game.authority import EventId
from services.surveillance.facts import Fact
from services.surveillance.findings import Finding, found
from services.surveillance.scene import TableScene
from services.wire.envelope import HASH_BYTES

REQUESTS_REMEMBERED = 2_000
"""How many earlier requests of a stream are still recognised: as many as the services promise to answer again."""

_NO_HASH = bytes(HASH_BYTES)


class UnbrokenLog:
    """L4: sequences contiguous from 1, each event carries the hash of the one before it, and every payload can be read."""

    def __init__(self) -> None:
        self._heads: dict[str, tuple[int, bytes]] = {}

    def observe(self, fact: Fact, _scene: TableScene) -> Iterator[Finding]:
        """Compare one event with the one before it in its stream."""
        envelope = fact.envelope
        last, head = self._heads.get(envelope.stream, (0, _NO_HASH))
        if envelope.sequence != last + 1:
            kind = "a gap" if envelope.sequence > last + 1 else "a repetition or a fork"
            yield found("L4", fact, f"sequence {envelope.sequence} follows {last}: {kind}")
        elif envelope.previous_hash != head:
            yield found("L4", fact, f"does not carry the hash of event {last}: altered, or a fork")
        if fact.unreadable:
            yield found("L4", fact, f"cannot be read: {fact.unreadable}")
        if envelope.sequence >= last:
            self._heads[envelope.stream] = (envelope.sequence, fact.hash)

    def finish(self) -> Iterator[Finding]:
        """Nothing is left open at the end."""
        return iter(())


class EarlierCauses:
    """L11: every event names an earlier cause; only what a stream's first request recorded may have none.

    Streams of one table share a partition, so their log order is known: a cause in them has been read before. A cause
    in another table's stream may lie in another partition, so it is waited for until the end.
    """

    def __init__(self) -> None:
        self._last: dict[str, int] = {}
        self._first: dict[str, str] = {}
        self._awaited: dict[EventId, Fact] = {}

    def observe(self, fact: Fact, _scene: TableScene) -> Iterator[Finding]:
        """Look for the cause among what was read."""
        envelope, cause = fact.envelope, fact.envelope.cause
        if cause is None:
            first = self._first.setdefault(envelope.stream, envelope.request_id if envelope.sequence == 1 else "")
            if envelope.request_id != first:
                yield found("L11", fact, "names no cause, and is not of the request that began the stream")
        elif cause.sequence < 1:
            yield found("L11", fact, f"names the cause {cause.stream} {cause.sequence}, which no event can be")
        elif cause.stream == envelope.stream:
            if cause.sequence >= envelope.sequence:
                yield found("L11", fact, f"names event {cause.sequence} of its own stream, which is not earlier")
        elif cause.sequence > self._last.get(cause.stream, 0):
            if cause.stream.partition(":")[2] == fact.key:
                yield found("L11", fact, f"names the cause {cause.stream} {cause.sequence}, which is not earlier")
            else:
                self._awaited.setdefault(cause, fact)
        self._last[envelope.stream] = max(envelope.sequence, self._last.get(envelope.stream, 0))
        self._awaited.pop(EventId(envelope.stream, envelope.sequence), None)

    def finish(self) -> Iterator[Finding]:
        """What was waited for and never came."""
        for cause, fact in self._awaited.items():
            yield found("L11", fact, f"names the cause {cause.stream} {cause.sequence}, which is nowhere in the log")


class OneEffectPerRequest:
    """L7, its first half: the events of a request stand together in their stream, under one digest and one actor.

    A request that was answered a second time by acting a second time shows as a second, separate group of events.
    """

    def __init__(self) -> None:
        self._current: dict[str, tuple[str, bytes, str]] = {}
        self._ended: dict[str, OrderedDict[int, int]] = {}

    def observe(self, fact: Fact, _scene: TableScene) -> Iterator[Finding]:
        """Compare one event's request with the requests before it."""
        envelope = fact.envelope
        request = (envelope.request_id, envelope.request_digest, f"{envelope.actor.role} {envelope.actor.id}")
        current = self._current.get(envelope.stream)
        if current == request:
            return
        ended = self._ended.setdefault(envelope.stream, OrderedDict())
        if current is not None and current[0] == request[0]:
            yield found("L7", fact, f"request {request[0]!r} goes on with another content or actor")
        else:
            earlier = ended.get(hash(request[0]))
            if earlier is not None:
                yield found("L7", fact, f"request {request[0]!r} had its effect before, up to event {earlier}")
        if current is not None:
            ended[hash(current[0])] = envelope.sequence - 1
            if len(ended) > REQUESTS_REMEMBERED:
                ended.popitem(last=False)
        self._current[envelope.stream] = request

    def finish(self) -> Iterator[Finding]:
        """Nothing is left open at the end."""
        return iter(())


def missing_acknowledged(facts: Iterable[Fact], acknowledged: Iterable[EventId]) -> list[Finding]:
    """L5: every acknowledged event is there. What a client was told is durable, and the log does not hold."""
    wanted = set(acknowledged)
    for fact in facts:
        wanted.discard(EventId(fact.stream, fact.sequence))
    return [
        Finding("L5", gone.stream, gone.sequence, "", "was acknowledged as durable and is not in the log")
        for gone in sorted(wanted, key=lambda event: (event.stream, event.sequence))
    ]

"""Journals rewritten by a forger who has the file: any content he likes, and every hash and chain made to fit it again."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from services.game.authority import EventId
from services.game.quick import replace
from services.journal.port import NewEvent, Recorded
from services.journal.sqlite import SqliteJournal
from services.runtime.clock import SystemClock
from services.surveillance.facts import FactReader
from services.wire.messages import message_class


class Forger:
    """A log on its way to another journal: `change` a message, `drop` an event, `add` one behind another."""

    def __init__(self, rows: Sequence[Recorded]) -> None:
        reader = FactReader()
        self.facts = [reader.read(row) for row in rows]
        self._events: list[list[NewEvent]] = [[_new(row)] for row in rows]

    def change(self, index: int, change: Callable[[Any], object]) -> None:
        """Let `change` alter the message of an event."""
        event = self._events[index][0]
        message = cast("Any", message_class(event.type).FromString(event.payload))
        change(message)
        self._events[index][0] = _with(event, message.SerializeToString())

    def drop(self, index: int) -> None:
        """Leave an event out."""
        self._events[index] = []

    def repeat(self, index: int, after: int, request_id: str = "") -> None:
        """Put an event there a second time behind another, under its own or a new request id."""
        event = self._events[index][0]
        self._events[after].append(_with(event, event.payload, request_id))

    async def write(self, path: Path, *, causes_move: bool = True) -> None:
        """Write it as a journal that is in order; the causes follow the events that they name unless told otherwise."""
        moved = self._moved() if causes_move else {}
        journal = SqliteJournal.open(path, clock=SystemClock())
        heads: dict[str, int] = {}
        waiting: list[NewEvent] = []
        stream = ""

        async def flush() -> None:
            if waiting:
                await journal.append(stream, heads.get(stream, 0), waiting)
                heads[stream] = heads.get(stream, 0) + len(waiting)
                waiting.clear()

        try:
            for fact, events in zip(self.facts, self._events, strict=True):
                if fact.stream != stream or len(waiting) > 50:
                    await flush()
                    stream = fact.stream
                waiting += [_caused(event, moved) for event in events]
            await flush()
        finally:
            await journal.close()

    def _moved(self) -> dict[EventId, EventId]:
        """Where each event stands now, by where it stood: the causes that name it are made to fit too."""
        heads: dict[str, int] = {}
        moved: dict[EventId, EventId] = {}
        for fact, events in zip(self.facts, self._events, strict=True):
            before = heads.get(fact.stream, 0)
            moved[EventId(fact.stream, fact.sequence)] = EventId(fact.stream, max(before + bool(events), 1))
            heads[fact.stream] = before + len(events)
        return moved


def _caused(event: NewEvent, moved: dict[EventId, EventId]) -> NewEvent:
    cause = None if event.cause is None else moved.get(event.cause, event.cause)
    return replace(event, cause=cause)


def _new(row: Recorded) -> NewEvent:
    e = row.envelope
    return NewEvent(
        e.type, e.schema_version, e.payload, e.occurred_time_us, e.actor, e.request_id, e.request_digest, e.cause,
        e.round_id, e.gaming_day,
    )  # fmt: skip


def _with(event: NewEvent, payload: bytes, request_id: str = "") -> NewEvent:
    return replace(event, payload=payload, request_id=request_id or event.request_id)

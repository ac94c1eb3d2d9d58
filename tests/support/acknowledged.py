"""What clients were told is durable, and whether the log holds it (law L5), counted by an outsider's means.

`Acknowledging` is a caller that keeps every answer to a command. `unkept` compares them with the events of a journal.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from services.game.authority import CommandContext, EventId
from services.runtime.caller import Caller
from services.surveillance.facts import Fact
from services.surveillance.laws import missing_acknowledged
from services.wire.rpc import Kind, Rpc

Q = TypeVar("Q")
A = TypeVar("A")

BUSINESS_IDS = ("receipt", "slip", "shuffle_id", "burn_id", "draw_id", "buy_in", "cash_out", "tip", "opening")
"""Fields of commands that name an effect; the event that records it has the same text in one of its own fields."""


@dataclass
class Acknowledged:
    """Answers that clients got: events by stream and sequence, effects by business id."""

    events: set[EventId] = field(default_factory=set)
    effects: dict[str, str] = field(default_factory=dict)
    commands: int = 0

    def take(self, rpc: Rpc[Any, Any], request: Any, reply: Any) -> None:
        """Keep what one answer promises."""
        self.commands += 1
        first, last = getattr(reply, "first_sequence", 0), getattr(reply, "last_sequence", 0)
        if last:
            self.events.update(EventId(reply.stream, sequence) for sequence in range(first, last + 1))
        for name in BUSINESS_IDS:
            if value := getattr(request, name, ""):
                self.effects[value] = rpc.name

    def unkept(self, facts: Sequence[Fact]) -> list[str]:
        """Every promise that the log does not keep."""
        lost = [str(finding) for finding in missing_acknowledged(facts, self.events)]
        payloads = b"\x00".join(fact.envelope.payload for fact in facts)
        # Protobuf puts a text's length before it, so that no id is taken for the beginning of a longer one.
        missing = [value for value in self.effects if bytes([len(value)]) + value.encode() not in payloads]
        return lost + [f"{self.effects[value]} {value} was acknowledged and is not in the log" for value in missing]


class Acknowledging:
    """A caller that keeps what it was told."""

    def __init__(self, inner: Caller, kept: Acknowledged) -> None:
        self._inner = inner
        self._kept = kept

    async def call(self, rpc: Rpc[Q, A], table: str, context: CommandContext | None, request: Q) -> A:
        """See Caller."""
        reply = await self._inner.call(rpc, table, context, request)
        if rpc.kind is Kind.COMMAND:
            self._kept.take(rpc, request, reply)
        return reply

    def stream(self, rpc: Rpc[Q, A], table: str, request: Q) -> AsyncIterator[A]:
        """See Caller."""
        return self._inner.stream(rpc, table, request)

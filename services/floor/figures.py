"""What a simulated floor counts: rounds, money, latencies, refusals by rule, and invalid commands that were not refused.

Owns counters only; `Timed` is the caller through which every request of a simulation goes.
"""

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import TypeVar

from services.game.authority import CommandContext
from services.runtime.caller import Caller
from services.runtime.failures import ServiceUnavailable
from services.wire.refusal import Refused
from services.wire.rpc import Rpc

Q = TypeVar("Q")
A = TypeVar("A")

PERCENTILES = (50, 95, 99)


@dataclass(slots=True)
class Figures:
    """The counts of one simulation. Latencies are in seconds, from request to answer, retries included.

    `events` is what the play left in the journal, None where no surveillance counted it.
    """

    rounds: int = 0
    hands: int = 0
    events: int | None = None
    stakes_cents: int = 0
    returned_cents: int = 0
    refusals: Counter[str] = field(default_factory=Counter)
    surprises: Counter[str] = field(default_factory=Counter)
    mischief: int = 0
    accepted_mischief: Counter[str] = field(default_factory=Counter)
    outages: int = 0
    latencies: dict[str, list[float]] = field(default_factory=dict)

    def percentile_ms(self, procedure: str, percent: int) -> float:
        """The latency in ms that `percent` of the calls stayed within; 0 without calls."""
        ordered = sorted(self.latencies.get(procedure, ()))
        if not ordered:
            return 0.0
        return 1_000 * ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]

    def as_json(self) -> dict[str, object]:
        """Everything that was counted, for --json."""
        return {
            "rounds": self.rounds,
            "hands": self.hands,
            "events": self.events,
            "stakes_cents": self.stakes_cents,
            "returned_cents": self.returned_cents,
            "requests": sum(map(len, self.latencies.values())),
            "latency_ms": {
                name: {"count": len(times)} | {f"p{p}": round(self.percentile_ms(name, p), 2) for p in PERCENTILES}
                for name, times in sorted(self.latencies.items())
            },
            "refusals": dict(self.refusals.most_common()),
            "unexpected_refusals": dict(self.surprises.most_common()),
            "invalid_commands": self.mischief,
            "invalid_commands_accepted": dict(self.accepted_mischief.most_common()),
            "outages": self.outages,
        }


class Timed:
    """A caller that measures every request and counts every refusal."""

    def __init__(self, caller: Caller, figures: Figures) -> None:
        self._caller = caller
        self._figures = figures

    async def call(self, rpc: Rpc[Q, A], table: str, context: CommandContext | None, request: Q) -> A:
        """See Caller."""
        started = perf_counter()
        try:
            return await self._caller.call(rpc, table, context, request)
        except Refused as refused:
            self._figures.refusals[refused.name] += 1
            raise
        except ServiceUnavailable:
            self._figures.outages += 1
            raise
        finally:
            self._figures.latencies.setdefault(rpc.name, []).append(perf_counter() - started)

    def stream(self, rpc: Rpc[Q, A], table: str, request: Q) -> AsyncIterator[A]:
        """See Caller; a stream is not measured."""
        return self._caller.stream(rpc, table, request)

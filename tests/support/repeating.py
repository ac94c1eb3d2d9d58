"""Callers that treat every command badly: sent five times at once, sent again under a new id, answers lost on the way."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TypeVar

from services.game.authority import Actor, CommandContext
from services.runtime.caller import Caller
from services.runtime.failures import ServiceUnavailable
from services.wire.refusal import Refused
from services.wire.rpc import Kind, Rpc

Q = TypeVar("Q")
A = TypeVar("A")


class Repeating:
    """Sends each command five times at once and again under a new id; `seen` counts the procedures, `wrong` what went wrong.

    Whether an effect happened twice is for the log to say; here only answers are compared.
    """

    def __init__(self, inner: Caller, chance: random.Random) -> None:
        self._inner = inner
        self._chance = chance
        self._sent = 0
        self.seen: Counter[str] = Counter()
        self.wrong: list[str] = []

    async def call(self, rpc: Rpc[Q, A], table: str, context: CommandContext | None, request: Q) -> A:
        """See Caller; raises what the first of the five raised."""
        if rpc.kind is not Kind.COMMAND or context is None:
            return await self._inner.call(rpc, table, context, request)
        self.seen[rpc.name] += 1
        answers = await asyncio.gather(
            *(self._inner.call(rpc, table, context, request) for _ in range(5)), return_exceptions=True
        )
        if len({str(answer) for answer in answers}) > 1:
            self.wrong.append(f"five times {rpc.name} gave {answers}")
        first = answers[0]
        if isinstance(first, BaseException):
            raise first
        await self._again(rpc, table, context, request)
        if getattr(first, "last_sequence", 0):
            await self._reuse(rpc, table, context, request)
        return first

    async def _again(self, rpc: Rpc[Q, A], table: str, context: CommandContext, request: Q) -> None:
        """The same under a new id, as a client does that makes its ids anew for each try (C08)."""
        self._sent += 1
        other = replace(context, request_id=f"{context.request_id}/again-{self._sent}")
        try:
            await self._inner.call(rpc, table, other, request)
        except Refused as refused:
            self.seen[f"{rpc.name} again: {refused.name}"] += 1

    async def _reuse(self, rpc: Rpc[Q, A], table: str, context: CommandContext, request: Q) -> None:
        """The id of a command that was recorded, from somebody else: never an answer."""
        other = replace(context, actor=Actor(context.actor.role, "somebody-else"))
        try:
            answer = await self._inner.call(rpc, table, other, request)
        except Refused as refused:
            if refused.name != "RequestIdReused":
                self.wrong.append(f"{rpc.name} under a used id: {refused}")
        else:
            self.wrong.append(f"{rpc.name} under a used id gave {answer}")

    def stream(self, rpc: Rpc[Q, A], table: str, request: Q) -> AsyncIterator[A]:
        """See Caller."""
        return self._inner.stream(rpc, table, request)


class Lossy:
    """Loses requests before they are sent, and answers after the deed; `lost` counts the answers by procedure.

    Each procedure loses at least its first answer.
    """

    def __init__(self, inner: Caller, chance: random.Random, *, requests: float = 0.1, answers: float = 0.25) -> None:
        self._inner = inner
        self._chance = chance
        self._requests = requests
        self._answers = answers
        self.lost: Counter[str] = Counter()

    async def call(self, rpc: Rpc[Q, A], table: str, context: CommandContext | None, request: Q) -> A:
        """See Caller."""
        if self._chance.random() < self._requests:
            raise ServiceUnavailable("the request was lost")
        answer = await self._inner.call(rpc, table, context, request)
        if rpc.kind is Kind.COMMAND and (not self.lost[rpc.name] or self._chance.random() < self._answers):
            self.lost[rpc.name] += 1
            raise ServiceUnavailable("the answer was lost")
        return answer

    def stream(self, rpc: Rpc[Q, A], table: str, request: Q) -> AsyncIterator[A]:
        """See Caller."""
        return self._inner.stream(rpc, table, request)

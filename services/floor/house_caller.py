"""The way from a floor to the house, whose services may listen at different addresses: each call to its own service."""

from collections.abc import AsyncIterator, Mapping
from typing import Any, TypeVar

from services.game.authority import CommandContext
from services.runtime.caller import Caller
from services.runtime.failures import ServiceUnavailable
from services.wire.rpc import Rpc

Q = TypeVar("Q")
A = TypeVar("A")


class HouseCaller:
    """Callers by the name of their service; see Caller."""

    def __init__(self, callers: Mapping[str, Caller]) -> None:
        self._callers = dict(callers)

    async def call(self, rpc: Rpc[Q, A], table: str, context: CommandContext | None, request: Q) -> A:
        """See Caller."""
        return await self._caller(rpc).call(rpc, table, context, request)

    def stream(self, rpc: Rpc[Q, A], table: str, request: Q) -> AsyncIterator[A]:
        """See Caller."""
        return self._caller(rpc).stream(rpc, table, request)

    def _caller(self, rpc: Rpc[Any, Any]) -> Caller:
        caller = self._callers.get(rpc.service)
        if caller is None:
            raise ServiceUnavailable(f"nobody said where {rpc.service} listens")
        return caller

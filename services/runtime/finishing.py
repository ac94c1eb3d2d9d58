"""What was begun and must be waited for, whoever has lost patience with it."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

A = TypeVar("A")


async def to_its_end(append: Coroutine[Any, Any, A]) -> A:
    """Wait for an append even when its task is cancelled: the key's next turn must find it in the log or not at all."""
    task = asyncio.ensure_future(append)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise

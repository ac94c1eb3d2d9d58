"""Live pages: from a stream of readings to the few fragments that changed, as server-sent events.

Promises that a slow browser or a fast table costs nothing: only the newest reading counts, at most one in
`INTERVAL_SECONDS`, and a fragment is sent only when it differs from the one sent before. A service that goes away is said
so on the page and asked again.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from sse_starlette.event import ServerSentEvent

from services.runtime.failures import ServiceUnavailable

T = TypeVar("T")

INTERVAL_SECONDS = 0.25
RETRY_SECONDS = 1.0


async def newest(source: AsyncIterator[T], interval_seconds: float = INTERVAL_SECONDS) -> AsyncIterator[T]:
    """The newest item of `source` whenever there is one, with a pause after each; older ones are dropped.

    Ends as the source ends and raises what it raises, after its last item was given.
    """
    latest: list[T] = []
    changed = asyncio.Event()

    async def read() -> None:
        try:
            async for item in source:
                latest[:] = [item]
                changed.set()
        finally:
            changed.set()

    reading = asyncio.create_task(read())
    try:
        while True:
            await changed.wait()
            changed.clear()
            if latest:
                yield latest.pop()
                await asyncio.sleep(interval_seconds)
            elif reading.done():
                break
            if reading.done():
                changed.set()
        await reading
    finally:
        reading.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await reading


async def merged(*sources: AsyncIterator[Any]) -> AsyncIterator[tuple[int, Any]]:
    """The items of all sources as they come, each with its source's number; ends by the first that ends or fails."""
    queue: asyncio.Queue[tuple[int, Any]] = asyncio.Queue(maxsize=1)

    async def read(number: int, source: AsyncIterator[Any]) -> None:
        async for item in source:
            await queue.put((number, item))

    readers = [asyncio.create_task(read(number, source)) for number, source in enumerate(sources)]
    try:
        while True:
            waiting = asyncio.create_task(queue.get())
            done, _ = await asyncio.wait({waiting, *readers}, return_when=asyncio.FIRST_COMPLETED)
            if waiting not in done:
                waiting.cancel()
                for reader in done:
                    await reader
                return
            yield waiting.result()
    finally:
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)


async def fragments(
    watch: Callable[[], AsyncIterator[T]],
    render: Callable[[T], Mapping[str, str]],
    *,
    interval_seconds: float = INTERVAL_SECONDS,
    retry_seconds: float = RETRY_SECONDS,
) -> AsyncIterator[ServerSentEvent]:
    """Events for one browser: `render` gives HTML by element id. Goes on until the browser leaves."""
    sent: dict[str, str] = {}
    while True:
        try:
            async for reading in newest(watch(), interval_seconds):
                for name, html in render(reading).items():
                    if sent.get(name) != html:
                        sent[name] = html
                        yield ServerSentEvent(json.dumps({"id": name, "html": html}), event="fragment")
        except ServiceUnavailable:
            yield ServerSentEvent("The service does not answer, trying again", event="waiting")
        await asyncio.sleep(retry_seconds)

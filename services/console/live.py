"""Live pages: from a stream of readings to the few fragments that changed, as server-sent events.

Promises that a slow browser or a fast table costs nothing: only the newest reading counts, at most one in
`INTERVAL_SECONDS`, and a fragment is sent only when it differs from the one sent before. A service that goes away is said
so on the page and asked again.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, suppress
from typing import Any, TypeVar

from sse_starlette.event import ServerSentEvent

from services.runtime.failures import CallFailed, ServiceUnavailable

T = TypeVar("T")

INTERVAL_SECONDS = 0.25
RETRY_SECONDS = 1.0


async def newest(source: AsyncIterator[T], interval_seconds: float = INTERVAL_SECONDS) -> AsyncGenerator[T]:
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


async def until(ended: asyncio.Event, stream: AsyncIterator[T]) -> AsyncIterator[T]:
    """The items of `stream` up to its end or to the moment that `ended` is set."""
    waiting = asyncio.ensure_future(ended.wait())
    coming: asyncio.Future[T] | None = None
    try:
        while True:
            coming = asyncio.ensure_future(anext(stream))
            await asyncio.wait({coming, waiting}, return_when=asyncio.FIRST_COMPLETED)
            if not coming.done():
                return
            try:
                item = coming.result()
            except StopAsyncIteration:
                return
            yield item
    finally:
        waiting.cancel()
        if coming is not None:
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)


async def merged(*sources: AsyncIterator[Any]) -> AsyncIterator[tuple[int, Any]]:
    """The items of all sources as they come, each with its source's number; ends by the first that ends or fails."""
    queue: asyncio.Queue[tuple[int, Any]] = asyncio.Queue(maxsize=1)

    async def read(number: int, source: AsyncIterator[Any]) -> None:
        async for item in source:
            await queue.put((number, item))

    tasks: list[asyncio.Task[Any]] = [
        asyncio.create_task(read(number, source)) for number, source in enumerate(sources)
    ]
    try:
        while True:
            waiting = asyncio.create_task(queue.get())
            tasks.append(waiting)
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if waiting not in done:
                for reader in done:
                    await reader
                return
            tasks.remove(waiting)
            yield waiting.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


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
            async with aclosing(newest(watch(), interval_seconds)) as readings:
                async for reading in readings:
                    for name, html in render(reading).items():
                        if sent.get(name) != html:
                            sent[name] = html
                            yield ServerSentEvent(json.dumps({"id": name, "html": html}), event="fragment")
        except (ServiceUnavailable, CallFailed):
            yield ServerSentEvent("The service does not answer, trying again", event="waiting")
        await asyncio.sleep(retry_seconds)

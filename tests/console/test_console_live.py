"""Live streams: newest only, changes only, and a service that goes away is asked again."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from services.console.live import fragments, merged, newest, until
from services.runtime.failures import ServiceUnavailable


async def test_a_slow_reader_gets_the_newest_and_the_last() -> None:
    async def source() -> AsyncIterator[int]:
        for number in range(100):
            yield number

    seen = [number async for number in newest(source(), 0)]
    assert seen[-1] == 99
    assert len(seen) < 100


async def test_the_sources_failure_comes_after_its_last_item() -> None:
    async def source() -> AsyncIterator[int]:
        yield 7
        raise ServiceUnavailable("gone")

    stream = newest(source(), 0)
    assert await anext(stream) == 7
    with pytest.raises(ServiceUnavailable):
        await anext(stream)


async def test_leaving_ends_the_source() -> None:
    ended = asyncio.Event()

    async def source() -> AsyncIterator[int]:
        try:
            while True:
                yield 1
                await asyncio.sleep(0)
        finally:
            ended.set()

    stream = newest(source(), 0)
    assert await anext(stream) == 1
    await stream.aclose()
    await ended.wait()


async def test_a_stream_ends_when_the_server_does() -> None:
    async def source() -> AsyncIterator[int]:
        yield 1
        await asyncio.Event().wait()

    ended = asyncio.Event()
    stream = until(ended, source())
    assert await anext(stream) == 1
    ended.set()
    assert [item async for item in stream] == []


async def test_a_stream_that_ends_by_itself_just_ends() -> None:
    async def source() -> AsyncIterator[int]:
        yield 1
        yield 2

    assert [item async for item in until(asyncio.Event(), source())] == [1, 2]


async def test_two_sources_come_as_one_and_a_failure_ends_both() -> None:
    ended = asyncio.Event()

    async def endless() -> AsyncIterator[str]:
        try:
            yield "a"
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def failing() -> AsyncIterator[str]:
        yield "b"
        raise ServiceUnavailable("gone")

    seen = set()

    async def read() -> None:
        async for item in merged(endless(), failing()):
            seen.add(item)

    with pytest.raises(ServiceUnavailable):
        await read()
    assert seen == {(0, "a"), (1, "b")}
    await ended.wait()


async def test_only_what_changed_is_sent() -> None:
    states = [{"a": "1", "b": "1"}, {"a": "1", "b": "2"}, {"a": "1", "b": "2"}]
    turn = asyncio.Semaphore(1)

    async def watch() -> AsyncIterator[dict[str, str]]:
        for state in states:
            await turn.acquire()
            yield state
        await asyncio.Event().wait()

    stream = fragments(watch, lambda state: state, interval_seconds=0, retry_seconds=0)
    first = [json.loads(str((await anext(stream)).data)) for _ in range(2)]
    assert first == [{"id": "a", "html": "1"}, {"id": "b", "html": "1"}]
    turn.release()
    assert json.loads(str((await anext(stream)).data)) == {"id": "b", "html": "2"}
    turn.release()
    waiting = asyncio.ensure_future(anext(stream))
    done, _ = await asyncio.wait({waiting}, timeout=0.05)
    assert not done
    waiting.cancel()


async def test_a_service_that_goes_away_is_said_so_and_asked_again() -> None:
    tries = 0

    async def watch() -> AsyncIterator[str]:
        nonlocal tries
        tries += 1
        yield f"try {tries}"
        raise ServiceUnavailable("gone")

    stream = fragments(watch, lambda word: {"x": word}, interval_seconds=0, retry_seconds=0)
    kinds = [(await anext(stream)).event for _ in range(4)]
    assert kinds == ["fragment", "waiting", "fragment", "waiting"]

"""What is published is shown at once, unless the table plays on by itself: then once at the end of it, or soon."""

import asyncio
from contextlib import aclosing

import pytest

from services.table import board as boards
from services.table.board import Board
from services.table.table import empty
from services.table.words import WaitingFor

KEY = "black-hawk/BJ-07"


async def seen(board: Board, after_sequence: int) -> int:
    """The sequence of the next view after that one."""
    async with aclosing(board.watch(KEY, after_sequence)) as views:  # type: ignore[type-var]  # a generator
        return (await anext(views)).sequence


async def test_a_settled_state_is_told_at_once_and_the_steps_before_it_are_not() -> None:
    board = Board()
    board.publish(empty(KEY), 1)
    watching = asyncio.ensure_future(seen(board, 1))
    await asyncio.sleep(0)
    for sequence in (2, 3, 4):
        board.publish(empty(KEY), sequence, more_follows=True)
        await asyncio.sleep(0)
        assert not watching.done()
        view = board.view(KEY)
        assert view is not None
        assert view.sequence == sequence
    board.publish(empty(KEY), 5)
    assert await watching == 5


async def test_a_step_that_nothing_follows_is_told_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boards, "HELD_SECONDS", 0.001)
    board = Board()
    board.publish(empty(KEY), 1)
    watching = asyncio.ensure_future(seen(board, 1))
    await asyncio.sleep(0)
    board.publish(empty(KEY), 2, more_follows=True)
    assert await asyncio.wait_for(watching, 60) == 2


async def test_whom_the_table_waits_for_is_told_at_once() -> None:
    board = Board()
    board.publish(empty(KEY), 1)
    watching = asyncio.ensure_future(seen(board, 1))
    await asyncio.sleep(0)
    board.publish(empty(KEY), 2, more_follows=True)
    board.wait_for(KEY, WaitingFor.SHOE, "no answer")
    assert await watching == 2
    view = board.view(KEY)
    assert view is not None
    assert view.waiting_for is WaitingFor.SHOE

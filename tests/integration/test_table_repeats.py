"""A command whose effect stood already, repeated later under the same id, never acts: also after a restart (DESIGN §3)."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from services.game.authority import CommandContext
from services.shoe import client as shoe
from services.table import client as tables
from tests.support.table_house import DEALER, RULES, SUPERVISOR, TABLE, House, broken_laws

Sent = Callable[[House, CommandContext], Awaitable[object]]


async def suspended(house: House) -> None:
    await house.table.suspend(TABLE, house.context(), "a card fell")


async def resumed(house: House) -> None:
    await house.table.resume(TABLE, house.context(SUPERVISOR), tables.Resume("30-828(1)", "picked up"))


async def nothing(_: House) -> None:
    """The effect stands from the start."""


async def other_dealer(house: House) -> None:
    await house.table.set_dealer(TABLE, house.context(), tables.SetDealer("D-18"))


async def other_rules(house: House) -> None:
    text = RULES.replace("version = 1", "version = 2")
    await house.table.post_rules(TABLE, house.context(SUPERVISOR), tables.PostRules(text))


async def betting(house: House) -> None:
    await house.table.open_betting(TABLE, house.context())


async def round_over(house: House) -> None:
    view = await house.table.get_table(TABLE)
    assert view.round is not None
    void = tables.VoidRound(view.round.round_id, "a test")
    await house.table.void_round(TABLE, house.context(SUPERVISOR), void)


async def left(house: House) -> None:
    (seat,) = (await house.table.get_table(TABLE)).seats
    await house.table.leave_seat(TABLE, house.context(), tables.LeaveSeat(seat.session))


async def unloaded(house: House) -> None:
    status = await house.shoe.get_shoe(TABLE)
    retire = shoe.RetireShoe(status.shoe_id, shoe.RetireReason.TABLE_CLOSED)
    await house.shoe.retire_shoe(TABLE, house.context(), retire)
    await house.shoe.unload_decks(TABLE, house.context(), shoe.UnloadDecks("night"))


async def other_device(house: House) -> None:
    await unloaded(house)
    device = shoe.RegisterDevice("SH-2", shoe.DeviceKind.DEALING_SHOE, electronic=True, approval="CDG-2")
    await house.shoe.register_device(TABLE, house.context(SUPERVISOR), device)


def seat_player(house: House, context: CommandContext) -> Awaitable[object]:
    return house.table.seat_player(TABLE, context, tables.SeatPlayer("ann", 1, 100_000))


def register(house: House, context: CommandContext) -> Awaitable[object]:
    device = shoe.RegisterDevice("SH-1", shoe.DeviceKind.DEALING_SHOE, electronic=True, approval="CDG-1")
    return house.shoe.register_device(TABLE, context, device)


CASES: tuple[tuple[str, Callable[[House], Awaitable[None]], Sent, Callable[[House], Awaitable[None]]], ...] = (
    ("Suspend", suspended, lambda h, c: h.table.suspend(TABLE, c, "again"), resumed),
    ("SetDealer", nothing, lambda h, c: h.table.set_dealer(TABLE, c, tables.SetDealer(DEALER.id)), other_dealer),
    ("PostRules", nothing, lambda h, c: h.table.post_rules(TABLE, c, tables.PostRules(RULES)), other_rules),
    ("OpenBetting", betting, lambda h, c: h.table.open_betting(TABLE, c), round_over),
    ("SeatPlayer", nothing, seat_player, left),
    ("RegisterDevice", nothing, register, other_device),
)


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize(("name", "before", "send", "meanwhile"), CASES, ids=[name for name, *_ in CASES])
async def test_a_command_that_changed_nothing_never_acts_when_it_is_repeated(
    tmp_path: Path,
    name: str,
    before: Callable[[House], Awaitable[None]],
    send: Sent,
    meanwhile: Callable[[House], Awaitable[None]],
    *,
    restarted: bool,
) -> None:
    path = tmp_path / "journal.db"
    async with House(path) as house:
        await house.prepare_shoe()
        await house.open_table()
        await house.seat("ann", 1)
        await before(house)
        first = await send(house, house.context(SUPERVISOR, f"once/{name}"))
        await meanwhile(house)
        stood = await house.table.get_table(TABLE), await house.shoe.get_shoe(TABLE)
        if not restarted:
            assert await send(house, house.context(SUPERVISOR, f"once/{name}")) == first
            assert (await house.table.get_table(TABLE), await house.shoe.get_shoe(TABLE)) == stood
    if not restarted:
        return
    async with House(path) as house:
        assert await send(house, house.context(SUPERVISOR, f"once/{name}")) == first
        assert (await house.table.get_table(TABLE), await house.shoe.get_shoe(TABLE)) == stood
        assert await broken_laws(house) == []

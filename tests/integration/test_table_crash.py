"""A process that dies at any call or append comes back to the same cards and the same cents (DESIGN §5, L7, L9).

Two rounds with insurance, peek, split, double, hit and surrender, played by three patrons; the table's process is killed at
every downstream call and every append, before and after it took effect, and started again on the same journal.
"""

from pathlib import Path

import pytest

from services.runtime.failures import ServiceUnavailable
from tests.support.table_house import RULES, TABLE, Fault, House, broken_laws
from tests.support.table_play import Player, outcome_of

SEED = "58"
ROUNDS = 2
PATRONS = ("ann", "bob", "cyd")
SURRENDER_RULES = RULES.replace('surrender = "none"', 'surrender = "late"')
POINTS = 64
"""Calls and appends of an undisturbed run; `test_the_undisturbed_run…` holds the number."""
PARTS = 6
STREAMS = (f"table:{TABLE}", f"wager:{TABLE}")


def a_player(*, fresh_ids: bool = False) -> Player:
    return Player(PATRONS, ROUNDS, SURRENDER_RULES, fresh_ids=fresh_ids)


async def what_happened(house: House) -> dict[str, list[tuple[str, bytes]]]:
    logs = {stream: outcome_of(await house.log(stream)) for stream in STREAMS}
    # A sealed card is other bytes each time; that no card was drawn twice shows in their number.
    logs["shoe"] = [(envelope.type, b"") for envelope in await house.log(f"shoe:{TABLE}")]
    return logs


async def undisturbed(path: Path, fault: Fault) -> dict[str, list[tuple[str, bytes]]]:
    async with House(path, seed=SEED, fault=fault) as house:
        await house.prepare_shoe()
        await a_player().play(house)
        return await what_happened(house)


async def killed_at(path: Path, point: int, *, before: bool, fresh_ids: bool) -> dict[str, list[tuple[str, bytes]]]:
    """Play with a death at that point, then a second life to the end."""
    fault = Fault(at=point, before=before)
    player = a_player(fresh_ids=fresh_ids)
    async with House(path, seed=SEED, fault=fault) as first_life:
        await first_life.prepare_shoe()
        with pytest.raises(ServiceUnavailable):
            await player.play(first_life)
    async with House(path) as second_life:
        await player.play(second_life)
        assert await broken_laws(second_life) == []
        return await what_happened(second_life)


async def test_the_undisturbed_run_uses_every_kind_of_stake(tmp_path: Path) -> None:
    fault = Fault()
    logs = await undisturbed(tmp_path / "journal.db", fault)
    kinds = {name.rpartition(".")[2] for name, _ in logs[STREAMS[0]]}
    assert {"InsurancePlaced", "HoleChecked", "HandSplit", "HandDoubled", "HandHit", "HandSurrendered"} <= kinds
    assert fault.count == POINTS
    assert {"OpenLedger", "OpenSeatSession", "HoldStakes", "DrawCards", "PeekCard", "RevealCard", "SettleRound"} <= set(
        fault.names
    )


@pytest.mark.parametrize("part", range(PARTS))
async def test_a_death_after_any_call_or_append_changes_no_card_and_no_cent(tmp_path: Path, part: int) -> None:
    expected = await undisturbed(tmp_path / "undisturbed.db", Fault())
    for point in range(part + 1, POINTS + 1, PARTS):
        path = tmp_path / f"killed-{point}.db"
        assert await killed_at(path, point, before=False, fresh_ids=False) == expected, f"killed after point {point}"


@pytest.mark.parametrize("part", range(PARTS))
async def test_a_death_before_any_call_changes_no_card_and_no_cent(tmp_path: Path, part: int) -> None:
    counting = Fault()
    expected = await undisturbed(tmp_path / "undisturbed.db", counting)
    # Before an append is after the call whose answer it records, which is the test above.
    calls = [point for point, name in enumerate(counting.names, start=1) if name != "append"]
    for point in calls[part::PARTS]:
        path = tmp_path / f"killed-{point}.db"
        assert await killed_at(path, point, before=True, fresh_ids=False) == expected, f"killed before point {point}"


@pytest.mark.parametrize("part", range(3))
async def test_c08_who_comes_back_with_new_request_ids_has_one_effect(tmp_path: Path, part: int) -> None:
    expected = await undisturbed(tmp_path / "undisturbed.db", Fault())
    # Deaths after the effect are those after which a client cannot know; one in two is enough beside the test above.
    for point in range(2 * part + 1, POINTS + 1, 6):
        path = tmp_path / f"killed-{point}.db"
        happened = await killed_at(path, point, before=False, fresh_ids=True)
        assert happened == expected, f"killed after point {point}"

"""A continuous shuffler gets its cards back after every round, each once; no cut, no shuffle due (30-816, 30-822)."""

from pathlib import Path

import pytest

from services.runtime.failures import ServiceUnavailable
from services.table.client import TablePhase
from tests.support.table_house import RULES, TABLE, Fault, House, broken_laws
from tests.support.table_play import Player

ONE_DECK = RULES.replace("decks = 6", "decks = 1").replace('shuffle = "hand"', 'shuffle = "continuous"')


async def test_30_822_all_cards_of_a_round_are_back_in_the_machine_before_the_next(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db", seed="11") as house:
        await house.prepare_machine(decks=1)
        await Player(("ann", "bob", "cyd"), 6, ONE_DECK).play(house)
        view = await house.table.get_table(TABLE)
        assert (view.phase, view.rounds, view.shuffle_due) == (TablePhase.IDLE, 6, False)
        status = await house.shoe.get_shoe(TABLE)
        assert status.left == 52
        assert await broken_laws(house) == []


@pytest.mark.parametrize("before", [True, False])
async def test_a_death_around_the_return_gives_every_card_back_once(tmp_path: Path, *, before: bool) -> None:
    player = Player(("ann", "bob"), 2, ONE_DECK)
    fault = Fault()
    async with House(tmp_path / "counted.db", seed="11", fault=fault) as house:
        await house.prepare_machine(decks=1)
        await player.play(house)
    at = fault.names.index("ReturnDiscards") + 1
    path = tmp_path / "journal.db"
    async with House(path, seed="11", fault=Fault(at=at, before=before)) as house:
        await house.prepare_machine(decks=1)
        with pytest.raises(ServiceUnavailable):
            await player.play(house)
    async with House(path, seed="12") as house:
        await player.play(house)
        assert (await house.shoe.get_shoe(TABLE)).left == 52
        assert await broken_laws(house) == []

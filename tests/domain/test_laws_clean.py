"""A house that keeps the laws gives no finding, whatever its cards and rules are; and the registry is whole."""

import asyncio
import tempfile
from pathlib import Path

import pytest

from services.shoe import client as s
from services.surveillance import laws
from services.surveillance.laws import LAWS
from tests.support.law_logs import log
from tests.support.watched_house import TABLE, rules_text, watched_house

GAMES = {
    "six decks": {},
    "s17, early surrender": {"soft17": '"stand"', "surrender": '"early"', "hole_card": '"peek-ace"'},
    "no hole card, all wagers": {"hole_card": '"no-hole-card"', "dealer_blackjack_takes": '"all"'},
    "no peek, rounding down": {"hole_card": '"no-peek"', "rounding": '"down-to-chip"', "surrender": '"late"'},
    "doubles face down": {
        "surrender": '"early-vs-ten"',
        "double_card_face": '"down"',
        "rounding": '"up-to-chip"',
        "double_on": '"nine-to-eleven"',
    },
    "single deck": {"max_hands": "2", "resplit_aces": "false", "hit_split_aces": "true"},
    "continuous": {"double_on": '"ten-eleven"', "blackjack_pays": '"6:5"', "even_money": "false"},
}


@pytest.mark.parametrize("game", GAMES)
def test_a_house_that_keeps_the_laws_gives_no_finding(game: str) -> None:
    async def play(folder: str) -> None:
        async with watched_house(Path(folder), game) as house:
            continuous = game == "continuous"
            kind = s.DeviceKind.CONTINUOUS_SHUFFLER if continuous else s.DeviceKind.DEALING_SHOE
            await house.open(rules=rules_text(**GAMES[game]), kind=kind, decks=1 if game == "single deck" else 6)
            await house.play(25)
            await house.shuffle(TABLE)
            facts = await house.facts()
            assert len(facts) > 500
            assert [str(finding) for finding in laws.check(facts)] == []

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(folder))


def test_every_prefix_of_a_clean_log_is_clean_while_it_grows() -> None:
    auditor = laws.Auditor()
    for fact in log():
        assert auditor.observe(fact) == []


def test_the_twelve_laws_are_all_in_the_registry() -> None:
    assert [law.id for law in LAWS] == [f"L{number}" for number in range(1, 13)]
    assert all(law.title and law.source for law in LAWS)


def test_a_finding_has_the_same_id_in_every_run() -> None:
    broken = log()[:50] + log()[51:]
    once, again = laws.check(broken), laws.check(broken)
    assert once
    assert [finding.id for finding in once] == [finding.id for finding in again]
    assert len({finding.id for finding in once}) == len(once)

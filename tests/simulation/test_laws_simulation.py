"""A pit on a bad day: voids, stops, time-outs, dealer changes, corrections, people coming and going. The laws stay silent.

An auditor that cries wolf is switched off, so this matters as much as that it finds what is wrong.
"""

import random
from collections import Counter
from collections.abc import Awaitable
from contextlib import suppress
from pathlib import Path
from typing import Any

from services.shoe import client as s
from services.surveillance import laws
from services.table import client as t
from services.wager import client as w
from services.wire.refusal import Refused
from tests.support.seeds import seeded
from tests.support.watched_house import SUPERVISOR, TABLE, WatchedHouse, rules_text, watched_house

ROUNDS = 45


async def tried(act: Awaitable[Any]) -> None:
    """A refusal changes nothing, and that is all right here."""
    with suppress(Refused):
        await act


async def between_rounds(house: WatchedHouse, chance: random.Random, number: int) -> None:
    seat, session = chance.choice(list(house.sessions[TABLE].items()))
    match chance.randrange(12):
        case 0:
            await tried(house.tables.set_dealer(TABLE, house.context(SUPERVISOR), t.SetDealer(f"D-{number}")))
        case 1:
            limits = t.ChangeLimits(500, chance.choice((50_000, 100_000)), 100)
            await tried(house.tables.change_limits(TABLE, house.context(SUPERVISOR), limits))
            house.clock.advance(2_000)
        case 2:
            await house.tables.leave_seat(TABLE, house.context(), t.LeaveSeat(session))
            await house.seat(TABLE, seat)
        case 3:
            chips = (w.Count(10_000, 3),)
            await tried(house.ledgers.fill_tray(TABLE, house.context(SUPERVISOR), w.FillTray(f"F-{number}", chips)))
        case 4:
            chips = (w.Count(10_000, 2),)
            await tried(house.ledgers.credit_tray(TABLE, house.context(SUPERVISOR), w.CreditTray(f"C-{number}", chips)))
        case 5:
            await tried(house.tables.give_tip(TABLE, house.context(), t.GiveTip(f"T-{number}", session, 100)))
        case 6:
            await tried(house.tables.cash_out(TABLE, house.context(), t.CashOut(f"O-{number}", session, 5_000)))
        case 7 if number:
            await correct(house, f"{TABLE}#{number}", number)
        case _:
            pass


async def correct(house: WatchedHouse, round_id: str, number: int) -> None:
    """A supervisor pays two dollars more on the round's first line (30-828(1))."""
    money = await house.ledgers.read_round(TABLE, round_id)
    if money.settlements:
        line = money.settlements[-1].lines[0]
        correction = w.CorrectPayment(
            f"K-{number}", money.settlements[-1].settlement, round_id, line.holds[0], w.Direction.PAY, 200, "mistake"
        )
        await tried(house.ledgers.correct_payment(TABLE, house.context(SUPERVISOR), correction))


async def in_the_round(house: WatchedHouse, chance: random.Random, round_id: str) -> None:
    supervisor = house.context(SUPERVISOR)
    while True:
        view = await house.tables.get_table(TABLE)
        if view.round is None or view.round.complete:
            return
        seat = chance.choice([hand.seat for hand in view.round.hands])
        luck = chance.random()
        supervisor = house.context(SUPERVISOR)
        if view.suspended:
            if luck < 0.3:
                await tried(house.tables.void_hand(TABLE, supervisor, t.VoidHand(round_id, seat, 0, "a card fell")))
            elif luck < 0.4:
                await tried(house.tables.void_round(TABLE, supervisor, t.VoidRound(round_id, "the shoe jammed")))
            await tried(house.tables.resume(TABLE, house.context(SUPERVISOR), t.Resume("828(1)", "no action")))
        elif luck < 0.05:
            await tried(house.tables.suspend(TABLE, house.context(), "a card fell"))
        elif luck < 0.08:
            await tried(house.tables.void_hand(TABLE, supervisor, t.VoidHand(round_id, seat, 0, "a card fell")))
        elif luck < 0.09:
            await tried(house.tables.void_round(TABLE, supervisor, t.VoidRound(round_id, "the shoe jammed")))
        elif luck < 0.14 and view.round.deadline_us:
            house.clock.advance(30)
            await house.service.service.expire(TABLE)
        elif view.round.questions:
            await house.answer(TABLE, view)


async def test_a_bad_day_in_the_pit_breaks_no_law(tmp_path: Path) -> None:
    chance = seeded("tests/simulation/test_laws_simulation.py::test_a_bad_day_in_the_pit_breaks_no_law")
    rules = rules_text(
        surrender=chance.choice(('"none"', '"late"', '"early"', '"early-vs-ten"')),
        hole_card=chance.choice(('"peek-ace-ten"', '"peek-ace"', '"no-peek"', '"no-hole-card"')),
        action_timeout_seconds=chance.choice(("0", "10")),
        double_card_face=chance.choice(('"up"', '"down"')),
        rounding=chance.choice(('"exact"', '"down-to-chip"', '"up-to-chip"')),
        dealer_blackjack_takes=chance.choice(('"original"', '"all"')),
    )
    continuous = chance.random() < 0.25
    kind = s.DeviceKind.CONTINUOUS_SHUFFLER if continuous else s.DeviceKind.DEALING_SHOE
    async with watched_house(tmp_path, f"day {chance.random()}") as house:
        await house.open(rules=rules, kind=kind, decks=chance.choice((1, 2, 6)), seats=chance.choice((1, 3, 5)))
        for number in range(ROUNDS):
            await between_rounds(house, chance, number)
            await in_the_round(house, chance, await house.begin())
        if chance.random() < 0.5:
            await house.close()
        await house.shuffle(TABLE)
        facts = await house.facts()
    happened = Counter(fact.name for fact in facts)
    print(dict(happened))
    assert happened["RoundCompleted"] == ROUNDS
    assert [str(finding) for finding in laws.check(facts)] == []

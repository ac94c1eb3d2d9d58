"""D01: a wager near the closing is accepted and dealt, or refused and not charged; the order of the log decides."""

import asyncio
import os
import random

from services.runtime.failures import ServiceUnavailable
from services.table import client as tables
from services.table.client import TablePhase
from services.wire.refusal import Refused
from tests.support.seeds import seeded
from tests.support.slow_journal import SlowJournal
from tests.support.table_house import SUPERVISOR, TABLE, House, broken_laws, player

ROUNDS = int(os.environ.get("HOLECARD_INTERLEAVINGS", "150"))
PATRONS = ("ann", "bob", "cyd")
STAKE = 500


async def tried(house: House, chance: random.Random, session: str, patron: str, seat: int, round_id: str) -> str:
    """Wager at some moment; "accepted", or the name of the refusal."""
    for _ in range(chance.randrange(12)):
        await asyncio.sleep(0)
    context = house.context(player(patron))
    # The sender's clock is off by up to an hour either way, and must not matter.
    context = type(context)(
        context.request_id, context.actor, context.occurred_time_us + chance.randrange(-(10**9) * 3, 10**9 * 3), ""
    )
    wager = tables.PlaceWagers(round_id, (tables.SeatWager(session, seat, "main", STAKE),))
    try:
        await house.table.place_wagers(TABLE, context, wager)
    except Refused as refused:
        return refused.name
    return "accepted"


async def closed(house: House, chance: random.Random, round_id: str) -> str:
    """Close betting at some moment; "accepted", or the name of the refusal."""
    for _ in range(chance.randrange(12)):
        await asyncio.sleep(0)
    try:
        await house.table.close_betting(TABLE, house.context(), round_id)
    except Refused as refused:
        return refused.name
    return "accepted"


async def racks(house: House, sessions: list[str]) -> list[int]:
    return [(await house.wager.read_statement(TABLE, session)).rack_cents for session in sessions]


async def test_d01_a_wager_is_dealt_or_not_charged() -> None:
    chance = seeded("tests/properties/test_table_interleavings.py")
    late = dealt = 0
    async with House(SlowJournal(chance), seed=str(chance.random())) as house:
        sessions = await house.ready(*PATRONS)
        for _ in range(ROUNDS):
            before = await racks(house, sessions)
            round_id = (await house.table.open_betting(TABLE, house.context())).round_id
            attempts = [
                tried(house, chance, session, patron, seat, round_id)
                for seat, (session, patron) in enumerate(zip(sessions, PATRONS, strict=True), start=1)
            ]
            *answers, closing = await asyncio.gather(*attempts, closed(house, chance, round_id))
            assert closing in {"accepted", "NoWagers"}
            view = await house.table.get_table(TABLE)
            assert view.round is not None
            hands = {hand.seat: len(hand.cards) for hand in view.round.hands}
            lines = {line.seat: line.returned_cents for line in view.round.lines}
            after = await racks(house, sessions)
            for seat, answer in enumerate(answers, start=1):
                if answer == "accepted":
                    assert seat in hands
                    if closing == "accepted":
                        dealt += 1
                        assert hands[seat] >= 2
                    paid = lines.get(seat, 0) if view.phase is TablePhase.IDLE else 0
                    assert after[seat - 1] == before[seat - 1] - STAKE + paid
                else:
                    late += 1
                    assert answer in {"BettingClosed", "NoRoundInProgress"}
                    assert seat not in hands
                    assert after[seat - 1] == before[seat - 1]
            if view.phase is not TablePhase.IDLE:
                await house.table.void_round(TABLE, house.context(SUPERVISOR), tables.VoidRound(round_id, "next try"))
            if (await house.table.get_table(TABLE)).shuffle_due:
                await house.prepare_shoe(shuffle=round_id)
        assert await broken_laws(house) == []
    assert late
    assert dealt


async def test_b18_c12_many_at_once_never_stake_more_than_there_is() -> None:
    chance = seeded("tests/properties/test_table_interleavings.py")
    async with House(SlowJournal(chance), seed="7") as house:
        await house.ready()
        session = await house.seat("ann", 1, 1_000)
        round_id = (await house.table.open_betting(TABLE, house.context())).round_id

        async def all_in(seat: int) -> str:
            wager = tables.PlaceWagers(round_id, (tables.SeatWager(session, seat, "main", 1_000),))
            for _ in range(chance.randrange(20)):
                await asyncio.sleep(0)
            try:
                answer = await house.table.place_wagers(TABLE, house.context(player("ann")), wager)
            except (Refused, ServiceUnavailable) as failure:
                return type(failure).__name__
            return "new" if answer.first_sequence else "known"

        answers = await asyncio.gather(*(all_in(1 + number % 2) for number in range(100)))
        assert answers.count("new") == 1
        assert set(answers) == {"new", "known", "Refused"}
        assert await racks(house, [session]) == [0]
        view = await house.table.get_table(TABLE)
        assert view.round is not None
        assert sum(hand.wager_cents for hand in view.round.hands) == 1_000

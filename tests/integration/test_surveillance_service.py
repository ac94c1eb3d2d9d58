"""The second opinion over a house that plays: found, replayed, searched, rebuilt, never in the way."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from services.runtime.caller import GrpcCaller, LocalCaller, open_channel
from services.runtime.failures import NotFound
from services.runtime.server import GrpcServer
from services.runtime.telemetry import Telemetry
from services.surveillance import client as v
from services.surveillance.server import Surveillance
from services.wire.refusal import Refused
from tests.support.watched_house import TABLE, WatchedHouse, watched_house


@asynccontextmanager
async def surveillance(house: WatchedHouse, path: Path) -> AsyncIterator[tuple[v.SurveillanceClient, Surveillance]]:
    watch = Surveillance(house.journal, path, clock=house.clock, telemetry=Telemetry())
    await watch.start()
    try:
        yield v.SurveillanceClient(LocalCaller({watch.dispatcher.service: watch.dispatcher})), watch
    finally:
        await watch.stop()


async def caught_up(client: v.SurveillanceClient) -> v.Lag:
    """Wait until both readers have everything."""
    async with asyncio.timeout(90):
        while True:
            lag = await client.get_lag()
            if lag.healthy and all(p.projected_offset == p.audited_offset == p.end_offset for p in lag.partitions):
                return lag
            await asyncio.sleep(0.01)


async def test_a_played_round_is_listed_replayed_and_clean(tmp_path: Path) -> None:
    async with watched_house(tmp_path) as house, surveillance(house, tmp_path / "projection.db") as (client, _):
        await house.open()
        await house.play(12)
        lag = await caught_up(client)
        assert lag.findings == 0, (await client.list_findings(v.ListFindings())).findings

        rounds = (await client.list_rounds(v.ListRounds(), TABLE)).rounds
        assert [one.number for one in rounds] == list(range(12, 0, -1))
        newest = rounds[0]
        found = await client.get_round(newest.round_id)
        record = found.record

        assert found.previous == f"{TABLE}#11"
        assert found.next == ""
        assert record.complete
        assert (
            record.staked_cents == newest.staked_cents == sum(h.staked_cents + h.insurance_cents for h in newest.hands)
        )
        assert record.returned_cents == newest.returned_cents
        last = record.steps[-1]
        assert last.event == "RoundCompleted"
        assert [card.card for card in last.dealer.cards] == list(newest.dealer_cards)
        replayed = [(s.seat, h.hand, tuple(c.card for c in h.cards)) for s in last.seats for h in s.hands]
        assert replayed == [(h.seat, h.hand, h.cards) for h in newest.hands]
        assert record.rules_text.startswith('name = "colorado"')
        assert {line.reason for line in record.ledger} >= {"stake-held"}
        assert [e.sequence for e in record.events if e.stream == f"table:{TABLE}"] == [s.sequence for s in record.steps]


async def test_no_step_shows_the_hole_card_before_it_is_revealed(tmp_path: Path) -> None:
    async with watched_house(tmp_path) as house, surveillance(house, tmp_path / "projection.db") as (client, _):
        await house.open()
        await house.play(6)
        await caught_up(client)
        for one in (await client.list_rounds(v.ListRounds(), TABLE)).rounds:
            steps = (await client.get_round(one.round_id)).record.steps
            hole = next(s.card.position for s in steps if s.event == "CardDealt" and s.card and s.card.card is None)
            shown = next((s.number for s in steps if s.event == "HoleRevealed"), len(steps) + 1)
            for step in steps:
                faces = {card.position: card.card for card in step.dealer.cards}
                if hole in faces and step.number < shown:
                    assert faces[hole] is None, f"{one.round_id} step {step.number}"


async def test_rounds_are_found_by_what_people_ask(tmp_path: Path) -> None:
    async with watched_house(tmp_path) as house, surveillance(house, tmp_path / "projection.db") as (client, _):
        await house.open()
        await house.open("denver/BJ-01", seats=2)
        await house.play(15)
        await house.play(3, "denver/BJ-01")
        await caught_up(client)
        everything = (await client.list_rounds(v.ListRounds(limit=500))).rounds
        assert len(everything) == 18

        async def ids(query: v.ListRounds, table: str = "") -> set[str]:
            return {one.round_id for one in (await client.list_rounds(query, table)).rounds}

        def those(fits: Callable[[v.HandSummary], bool]) -> set[str]:
            return {one.round_id for one in everything if any(fits(hand) for hand in one.hands)}

        hand = everything[4].hands[0]
        assert await ids(v.ListRounds(floor="denver")) == {f"denver/BJ-01#{n}" for n in (1, 2, 3)}
        assert await ids(v.ListRounds(limit=500), "denver/BJ-01") == {f"denver/BJ-01#{n}" for n in (1, 2, 3)}
        assert await ids(v.ListRounds(seat=3, limit=500)) == those(lambda h: h.seat == 3)
        assert await ids(v.ListRounds(patron=hand.patron, limit=500)) == those(lambda h: h.patron == hand.patron)
        assert await ids(v.ListRounds(outcome="bust", limit=500)) == those(lambda h: h.outcome == "bust")
        assert await ids(v.ListRounds(minimum_stake_cents=2_000, limit=500)) == those(lambda h: h.staked_cents >= 2_000)
        wanted = await ids(v.ListRounds(cards=tuple(map(str, hand.cards[:2])), seat=hand.seat, limit=500))
        assert wanted == those(lambda h: h.seat == hand.seat and set(hand.cards[:2]) <= set(h.cards))
        dealers = tuple(map(str, everything[0].dealer_cards[:2]))
        assert everything[0].round_id in await ids(v.ListRounds(cards=dealers, limit=500))
        middle = everything[9].opened_time_us
        assert await ids(v.ListRounds(from_time_us=middle, limit=500)) == {
            one.round_id for one in everything if one.opened_time_us >= middle
        }
        assert await ids(v.ListRounds(cards=("As",) * 3, patron="nobody")) == set()


async def test_cards_are_found_as_often_as_they_are_named_and_by_rank(tmp_path: Path) -> None:
    async with watched_house(tmp_path) as house, surveillance(house, tmp_path / "projection.db") as (client, _):
        await house.open()
        await house.play(25)
        await caught_up(client)
        everything = await client.list_rounds(v.ListRounds(limit=500))
        assert everything.total == 25

        async def ids(*cards: str, seat: int = 0) -> set[str]:
            return {one.round_id for one in (await client.list_rounds(v.ListRounds(cards=cards, seat=seat))).rounds}

        def those(fits: Callable[[str], bool], *, dealer: bool = False) -> set[str]:
            return {
                one.round_id
                for one in everything.rounds
                if any(fits(" ".join(map(str, hand.cards))) for hand in one.hands)
                or (dealer and fits(" ".join(map(str, one.dealer_cards))))
            }

        for rank in "A5TK":
            assert await ids(rank) == those(lambda text, rank=rank: rank in text, dealer=True)  # type: ignore[misc]  # bound
            pair = those(lambda text, rank=rank: text.count(rank) >= 2, dealer=True)  # type: ignore[misc]  # bound
            assert await ids(rank, rank) == pair
        held = next(hand for one in everything.rounds for hand in one.hands if hand.cards)
        first = str(held.cards[0])
        assert await ids(first, first) == those(lambda text: text.count(first) >= 2, dealer=True)
        # "A As" is two aces, one of them of spades: the exact card must not be counted for both.
        assert await ids(first[0], first) == those(
            lambda text: first in text and text.count(first[0]) >= 2, dealer=True
        )
        # A question about hands says nothing of the dealer's.
        assert await ids("K", seat=held.seat) <= those(lambda text: "K" in text)


@pytest.mark.parametrize(
    ("wrong", "table"),
    [
        (v.ListRounds(outcome="won"), ""),
        (v.ListRounds(gaming_day="yesterday"), ""),
        (v.ListRounds(gaming_day="2026-02-30"), ""),
        (v.ListRounds(floor="Black Hawk"), ""),
        (v.ListRounds(), "BJ-07"),
        (v.ListRounds(seat=8), ""),
        (v.ListRounds(cards=("1s",)), ""),
        (v.ListRounds(cards=("",)), ""),
        (v.ListRounds(cards=("A",) * 22), ""),
        (v.ListRounds(minimum_stake_cents=-1), ""),
        (v.ListRounds(minimum_stake_cents=500, maximum_stake_cents=100), ""),
        (v.ListRounds(from_time_us=2, to_time_us=1), ""),
    ],
)
async def test_a_search_that_nothing_could_fit_is_refused_and_not_answered_by_none(
    tmp_path: Path, wrong: v.ListRounds, table: str
) -> None:
    async with watched_house(tmp_path) as house, surveillance(house, tmp_path / "projection.db") as (client, _):
        with pytest.raises(Refused, match=r"SearchNotUnderstood|UnknownCard"):
            await client.list_rounds(wrong, table)


async def test_pages_follow_one_another_without_gap_or_repetition(tmp_path: Path) -> None:
    async with watched_house(tmp_path) as house, surveillance(house, tmp_path / "projection.db") as (client, _):
        await house.open(seats=1)
        await house.play(11)
        await caught_up(client)
        seen: list[int] = []
        cursor = ""
        while True:
            page = await client.list_rounds(v.ListRounds(limit=4, cursor=cursor))
            seen += [one.number for one in page.rounds]
            if not page.next_cursor:
                break
            cursor = page.next_cursor
        assert seen == list(range(11, 0, -1))
        assert [one.number for one in (await client.list_rounds(v.ListRounds(limit=2, skip=3))).rounds] == [8, 7]
        for wrong in (v.ListRounds(limit=501), v.ListRounds(limit=-1), v.ListRounds(cursor="x"), v.ListRounds(skip=-1)):
            with pytest.raises(Refused, match="QueryOutOfRange"):
                await client.list_rounds(wrong)


async def test_an_unknown_round_is_not_found(tmp_path: Path) -> None:
    async with watched_house(tmp_path) as house, surveillance(house, tmp_path / "projection.db") as (client, _):
        await house.open()
        await caught_up(client)
        for name in ("", "x", f"{TABLE}#1", "black-hawk/BJ-07#99999999999999999999", "'; drop table rounds; --"):
            with pytest.raises(NotFound):
                await client.get_round(name)


async def test_the_floor_shows_money_as_the_ledger_has_it(tmp_path: Path) -> None:
    async with watched_house(tmp_path) as house, surveillance(house, tmp_path / "projection.db") as (client, _):
        await house.open()
        await house.play(10)
        await house.begin()
        await caught_up(client)
        table = (await client.list_tables("black-hawk")).tables[0]
        money = await house.ledgers.read_table_money(TABLE)

        assert table.tray_cents == money.tray_cents
        assert table.racks_cents == money.racks_cents == sum(seat.rack_cents for seat in table.seats)
        assert table.escrow_cents == money.escrow_cents == sum(seat.in_play_cents for seat in table.seats)
        assert table.drop_cents == money.drop_cents
        rounds = [one for one in (await client.list_rounds(v.ListRounds(), TABLE)).rounds if one.status == "complete"]
        assert table.rounds == len(rounds)
        assert table.win_cents == sum(one.win_cents for one in rounds)
        assert table.handle_cents == sum(one.staked_cents for one in rounds)
        shoe = await house.shoes.get_shoe(TABLE)
        assert (table.shoe_left, table.shoe_cards) == (shoe.left, 312)
        assert table.rounds_per_hour > 0
        assert table.phase != "IDLE"


async def test_watching_gives_every_table_once_and_then_what_changes(tmp_path: Path) -> None:
    async with watched_house(tmp_path) as house, surveillance(house, tmp_path / "projection.db") as (client, _):
        await house.open()
        await house.open("denver/BJ-01", seats=1)
        await caught_up(client)
        changes = client.watch_floor()
        first = await anext(changes)
        assert [one.table for one in first.tables] == [TABLE, "denver/BJ-01"]
        await house.play(1, "denver/BJ-01")
        ended: list[str] = []
        async with asyncio.timeout(90):
            while not ended:
                change = await anext(changes)
                assert {one.table for one in change.tables} <= {"denver/BJ-01"}
                ended += change.ended_rounds
        assert ended == ["denver/BJ-01#1"]
        await changes.aclose()  # type: ignore[attr-defined]  # an async generator, which the port does not say


async def test_it_answers_over_the_wire_as_in_the_process(tmp_path: Path) -> None:
    async with watched_house(tmp_path) as house, surveillance(house, tmp_path / "projection.db") as (client, watch):
        await house.open()
        await house.play(3)
        await caught_up(client)
        server = GrpcServer([watch.dispatcher], "127.0.0.1:0")
        await server.start()
        async with open_channel(f"127.0.0.1:{server.port}") as channel:
            remote = v.SurveillanceClient(GrpcCaller(channel))
            assert await remote.get_round(f"{TABLE}#2") == await client.get_round(f"{TABLE}#2")
            assert await remote.list_rounds(v.ListRounds()) == await client.list_rounds(v.ListRounds())
            assert (await remote.list_tables()).tables == (await client.list_tables()).tables
            assert (await anext(remote.watch_floor())).tables[0].table == TABLE
            with pytest.raises(NotFound):
                await remote.get_round("black-hawk/BJ-07#77")
        await server.stop(grace_seconds=0)

"""The pages' readings over real services: the numbers of a page are those of the log."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from services.console.views import HandQuery
from services.runtime.failures import NotFound
from services.shoe.client import DeviceKind, RegisterDevice
from services.table.client import VoidRound
from tests.support.felt_from_log import felts_of
from tests.support.seen_house import SeenHouse, seen_house
from tests.support.watched_house import SUPERVISOR, TABLE

ROUNDS = 6


@pytest.fixture
async def seen(tmp_path: Path) -> AsyncIterator[SeenHouse]:
    async with seen_house(tmp_path, "readings") as seen:
        await seen.house.open(seats=4)
        await seen.house.play(ROUNDS)
        await seen.caught_up()
        yield seen


async def test_the_overview_shows_tables_with_their_day(seen: SeenHouse) -> None:
    (floor,) = await seen.readings.floors()
    (row,) = floor.tables
    statement = [await seen.readings.round(f"{TABLE}#{number}") for number in range(1, ROUNDS + 1)]
    assert (floor.name, floor.zone) == ("black-hawk", "America/Denver")
    assert (row.key, row.status, row.phase, row.game) == (TABLE, "open", "between rounds", "colorado v1")
    assert (row.rounds, row.seats_in_play, row.seats_open) == (ROUNDS, 4, 7)
    assert row.handle_cents == sum(page.handle_cents for page in statement)
    assert row.win_cents == sum(page.win_cents for page in statement)
    assert row.drop_cents >= 4 * 200_000
    assert row.shoe is not None
    shoe = await seen.house.shoes.get_shoe(TABLE)
    assert (row.shoe.size, row.shoe.dealt) == (shoe.size, shoe.drawn + shoe.burned)
    assert row.findings == 0


async def test_a_live_table_shows_the_round_in_play(seen: SeenHouse) -> None:
    round_id = await seen.house.begin()
    await seen.caught_up()
    page = await seen.readings.table(TABLE)
    assert page.felt.round == round_id
    log = await seen.house.recorded()
    shown = [
        (seat, [card.text or "face-down" for card in hand.cards])
        for seat, hands in [(0, page.felt.dealer), *((seat.number, seat.hands) for seat in page.felt.seats)]
        for hand in hands
    ]
    assert shown == [(row["seat"], row["cards"]) for row in felts_of(log, round_id)[-1]]
    assert all(seat.rack_cents is not None for seat in page.felt.seats)
    assert page.felt.lettering.startswith("Blackjack pays 3 to 2")
    assert page.rules is not None
    assert len(page.rules.notices) == 9
    assert [row.number for row in page.recent][:2] == [str(ROUNDS + 1), str(ROUNDS)]
    assert dict(page.money)["In play"] == sum(hand.stake_cents for seat in page.felt.seats for hand in seat.hands)


async def test_a_watched_table_follows_a_suspension(seen: SeenHouse) -> None:
    changes = seen.readings.watch_table(TABLE)
    first = await anext(changes)
    assert first.row.status == "open"
    await seen.house.tables.suspend(TABLE, seen.house.context(SUPERVISOR), "a card was exposed")
    words = set()
    async for page in changes:
        words.add(page.felt.turn)
        if page.row.status == "suspended" and page.felt.turn == "Stopped: a card was exposed":
            break
    await changes.aclose()  # type: ignore[attr-defined]  # an async generator
    assert "Stopped: a card was exposed" in words


async def test_a_table_that_only_got_its_shoe_is_shown_as_not_opened(seen: SeenHouse) -> None:
    key = "black-hawk/BJ-08"
    device = RegisterDevice("SH-8", DeviceKind.DEALING_SHOE, electronic=True, approval="CDG-78")
    await seen.house.shoes.register_device(key, seen.house.context(SUPERVISOR), device)
    await seen.caught_up()
    changes = seen.readings.watch_table(key)
    page = await anext(changes)
    assert (page.row.status, page.felt.phase, page.felt.seats) == ("closed", "not opened yet", ())
    await seen.house.open(key, seats=2)
    async for page in changes:
        assert page.felt.phase == "not opened yet"
    assert (await seen.readings.table(key)).felt.phase == "between rounds"


async def test_the_watched_floor_follows_the_game(seen: SeenHouse) -> None:
    changes = seen.readings.watch_floors()
    (floor,) = await anext(changes)
    await seen.house.play(1)
    async for floors in changes:
        if floors[0].rounds == floor.rounds + 1:
            break
    await changes.aclose()  # type: ignore[attr-defined]  # an async generator


async def test_rounds_are_found_by_what_is_remembered_of_them(seen: SeenHouse) -> None:
    pages = [await seen.readings.round(f"{TABLE}#{number}") for number in range(ROUNDS, 0, -1)]

    async def found(**asked: Any) -> list[str]:
        return [row.id for row in (await seen.readings.search(HandQuery(**asked))).rounds]

    assert await found() == [page.id for page in pages]
    assert await found(table=TABLE, seat=2) == [page.id for page in pages]
    assert await found(seat=6) == []
    seat = pages[0].steps[-1].felt.seats[0]
    cards = tuple(card.text for card in seat.hands[0].cards[:2] if card.text)
    assert pages[0].id in await found(cards=cards, patron=seat.patron)
    for outcome in ("win", "lose"):
        expected = [
            page.id
            for page in pages
            if any(hand.outcome == outcome for seat in page.steps[-1].felt.seats for hand in seat.hands)
        ]
        assert await found(outcome=outcome) == expected
    middle = pages[2]
    assert await found(from_us=middle.started_us, to_us=middle.started_us + 1) == [middle.id]


async def test_a_round_names_its_neighbours_and_every_event(seen: SeenHouse) -> None:
    page = await seen.readings.round(f"{TABLE}#3")
    assert (page.previous, page.next) == (f"{TABLE}#2", f"{TABLE}#4")
    log = [one.envelope for one in await seen.house.recorded() if one.envelope.round_id == page.id]
    assert [(event.stream, event.sequence) for event in page.events] == [(e.stream, e.sequence) for e in log]
    assert [event.request_id for event in page.events] == [e.request_id for e in log]
    assert all(0 <= event.step < len(page.steps) for event in page.events)
    assert page.ledger
    assert {line.position for line in page.shoe} == {
        card.position for seat in page.steps[-1].felt.seats for hand in seat.hands for card in hand.cards
    } | {card.position for hand in page.steps[-1].felt.dealer for card in hand.cards}


async def test_no_page_shows_a_card_that_lies_face_down(seen: SeenHouse) -> None:
    round_id = await seen.house.begin()
    await seen.caught_up()
    page = await seen.readings.round(round_id)
    hidden = [card for card in page.steps[-1].felt.dealer[0].cards if card.text is None]
    if page.steps[-1].felt.phase in {"dealing", "insurance", "players"}:
        assert len(hidden) == 1
        assert all(line.card is None for line in page.shoe if line.position == hidden[0].position)


async def test_every_page_opens_over_real_services(seen: SeenHouse) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(seen.application), base_url="http://console") as browser:
        for address in (
            "/",
            f"/tables/{TABLE}",
            "/hands",
            f"/hands?table={TABLE}&cards=As&min=5&outcome=win",
            f"/rounds/{TABLE}/2",
            f"/rounds/{TABLE}/2/frames",
            "/findings",
            "/health",
            "/meters",
            "/healthz",
        ):
            answer = await browser.get(address)
            assert answer.status_code == 200, f"{address}: {answer.text}"
        for address in ("/tables/black-hawk/BJ-99", f"/rounds/{TABLE}/999"):
            assert (await browser.get(address)).status_code == 404
        assert (await browser.get("/tables/black-hawk/..%2f..")).status_code in {400, 404}


async def test_what_does_not_exist_is_not_found(seen: SeenHouse) -> None:
    with pytest.raises(NotFound):
        await seen.readings.table("black-hawk/BJ-99")
    with pytest.raises(NotFound):
        await seen.readings.round(f"{TABLE}#999")
    assert (await seen.readings.findings()).total == 0
    health = await seen.readings.health()
    assert health.available
    assert health.lag_events == 0


async def test_a_voided_round_says_so(tmp_path: Path) -> None:
    async with seen_house(tmp_path, "voided") as seen:
        await seen.house.open(seats=2)
        round_id = await seen.house.begin()
        supervisor = seen.house.context(SUPERVISOR)
        await seen.house.tables.void_round(TABLE, supervisor, VoidRound(round_id, "two cards stuck together"))
        await seen.caught_up()
        page = await seen.readings.round(round_id)
        assert page.status == "voided"
        found = await seen.readings.search(HandQuery(outcome="voided"))
        assert [row.id for row in found.rounds] == [round_id]
        assert found.total == 1

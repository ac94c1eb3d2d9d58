"""What can go wrong under a house that plays: a full disk, a key that is gone, events of a newer build, late answers."""

import asyncio
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from services.game.authority import Actor, CommandContext, EventId, Role
from services.house import House
from services.journal.fsck import fsck
from services.journal.port import NewEvent
from services.journal.sqlite import SqliteJournal
from services.runtime.failures import ServiceUnavailable
from services.runtime.sealing import KeyUnusable
from services.shoe.client import BURN_CARDS, BurnCards, BurnReason, ShoeClient
from services.table.client import PlaceWagers, SeatWager, TableClient, TablePhase, WaitingFor
from services.wager.client import WagerClient
from services.wire.refusal import Refused
from tests.support.acknowledged import Acknowledged, Acknowledging
from tests.support.audit import facts_of, wrong
from tests.support.hosted import TABLE, hosted, play_rounds, settings_in
from tests.support.seeds import seeded

DEALER = Actor(Role.DEALER, "D-BJ-01")


def by_dealer(request_id: str) -> CommandContext:
    return CommandContext(request_id, DEALER, 1_796_000_000_000_000, "")


def burn(burn_id: str) -> BurnCards:
    return BurnCards(burn_id, "", 1, BurnReason.DEALER_CHANGE, face_up=False)


def fill_disk(house: House) -> None:
    """From now on SQLite says of the journal's file what it says when the disk is full."""
    journal: Any = house.journal
    writer = journal._writer
    pages = writer._connection.execute("PRAGMA page_count").fetchone()[0]
    writer._connection.execute(f"PRAGMA max_page_count = {pages}")


async def test_a_full_disk_is_said_aloud_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    kept = Acknowledged()
    async with hosted(tmp_path) as house:
        told = asyncio.Event()
        house.house.on_failure(told.set)
        await play_rounds(house, 2)
        shoe = ShoeClient(Acknowledging(house.house.caller("shoe"), kept))
        fill_disk(house.house)
        with pytest.raises(ServiceUnavailable, match="the disk is full: free some space"):
            await _burn_on(shoe)
        # Every other command is told so too: nothing is decided on memory that the disk does not hold.
        with pytest.raises(ServiceUnavailable, match="must be opened again"):
            await TableClient(house.house.caller("table")).suspend(TABLE, by_dealer("suspend"), "why not")
        await told.wait()
        assert "disk is full" in str(house.house.failure)
        # What is durable can still be read.
        assert (await WagerClient(house.caller).read_balances(TABLE)).accounts
    assert wrong(settings_in(tmp_path).journal_path, kept) == []
    async with hosted(tmp_path) as house:
        await play_rounds(house, 2, seed=3)
    assert wrong(settings_in(tmp_path).journal_path, kept) == []


async def _burn_on(shoe: ShoeClient) -> None:
    """Burn one card after the other until something stops it."""
    for number in range(10_000):
        await shoe.burn_cards(TABLE, by_dealer(f"burn-{number}"), burn(f"burn-{number}"))


async def test_without_its_key_the_house_does_not_start_and_with_another_its_shoe_waits(tmp_path: Path) -> None:
    async with hosted(tmp_path) as house:
        await play_rounds(house, 2)
    path = settings_in(tmp_path).sealing_key_path
    right = path.read_bytes()
    path.unlink()
    with pytest.raises(KeyUnusable, match="is missing, and this journal holds shoes"):
        async with hosted(tmp_path):
            pass
    assert not path.exists(), "no key is made in silence"
    path.write_bytes(bytes(32))
    path.chmod(0o600)
    async with hosted(tmp_path) as house:
        with pytest.raises(Refused, match=r"ShoeCannotBeOpened.*put the key back"):
            await ShoeClient(house.caller).burn_cards(TABLE, by_dealer("burn"), burn("burn"))
        await _bet_and_close(house.house)
        view = await TableClient(house.caller).get_table(TABLE)
        assert (view.phase, view.waiting_for) == (TablePhase.DEALING, WaitingFor.SHOE)
        assert "put the key back" in view.waiting_reason
    path.write_bytes(right)
    async with hosted(tmp_path) as house:
        # The round that waited is dealt and played on by itself.
        await play_rounds(house, 2, seed=3)
    assert wrong(settings_in(tmp_path).journal_path) == []


async def _bet_and_close(house: House) -> None:
    """One wager by whoever sits there, and the betting closed."""
    table = TableClient(house.caller("table"))
    opened = await table.open_betting(TABLE, by_dealer("open"))
    view = await table.get_table(TABLE)
    seat = next(seat for seat in view.seats if seat.may_wager)
    wager = PlaceWagers(opened.round_id, (SeatWager(seat.session, seat.seat, "main", 500),))
    player = CommandContext("bet", Actor(Role.PLAYER, seat.patron), 1_796_000_000_000_000, "")
    await table.place_wagers(TABLE, player, wager)
    await table.close_betting(TABLE, by_dealer("close"), opened.round_id)


async def test_an_event_of_a_newer_build_stops_its_table_and_no_other(tmp_path: Path) -> None:
    async with hosted(tmp_path) as house:
        await play_rounds(house, 4, tables=2)
    journal = SqliteJournal.open(settings_in(tmp_path).journal_path)
    stream = f"wager:{TABLE}"
    head = next(head for head in await journal.streams() if head.stream == stream)
    newer = NewEvent(
        "holecard.wager.v1.StakesHeld", 2, b"\x0a\x05later", 0, DEALER, "from-the-future", bytes(32), None, "", ""
    )
    await journal.append(stream, head.sequence, (newer,))
    await journal.close()
    async with hosted(tmp_path) as house:
        with pytest.raises(Refused, match="StakesHeld version 2 is not known to this build") as refused:
            await WagerClient(house.caller).read_balances(TABLE)
        assert refused.value.name == "UnknownEventType"
        assert (await WagerClient(house.caller).read_balances(TABLE.replace("BJ-01", "BJ-02"))).accounts
    assert fsck(settings_in(tmp_path).journal_path).is_sound
    assert any("unknown schema version 2" in line for line in wrong(settings_in(tmp_path).journal_path))


@pytest.mark.parametrize(
    "cause",
    [
        EventId(f"table:{TABLE}", 10**9),
        EventId(f"shoe:{TABLE}", 10**9),
        EventId("table:black-hawk/BJ-99", 1),
        EventId(f"case:{TABLE}", 1),
        EventId("", 1),
        EventId(f"table:{TABLE}", 0),
    ],
    ids=str,
)
async def test_a_cause_that_never_happened_is_refused_before_it_stands_in_the_log_for_ever(
    tmp_path: Path, cause: EventId
) -> None:
    async with hosted(tmp_path, ("shoe", "table", "wager")) as house:
        await play_rounds(house, 1)
        context = replace(by_dealer("forged"), cause=cause)
        with pytest.raises(Refused) as refused:
            await ShoeClient(house.caller).burn_cards(TABLE, context, burn("forged"))
        assert refused.value.name in {"MalformedHeader", "MalformedMessage"}
        right = replace(by_dealer("right"), cause=EventId(f"table:{TABLE}", 1))
        await ShoeClient(house.caller).burn_cards(TABLE, right, burn("right"))
    assert wrong(settings_in(tmp_path).journal_path) == []


async def test_c10_a_command_whose_deadline_passes_is_done_whole_or_not_at_all_and_a_retry_answers(
    tmp_path: Path,
) -> None:
    chance = seeded("tests/integration/test_house_faults.py")
    late = 0
    async with hosted(tmp_path, ("shoe", "table", "wager")) as house:
        await play_rounds(house, 1)
        shoe = ShoeClient(house.caller)
        for number in range(60):
            context, command = by_dealer(f"late-{number}"), burn(f"late-{number}")
            data = BURN_CARDS.encode_request(TABLE, context, command)
            # Every third has passed when it is sent, so that some are late on the fastest machine too.
            seconds = chance.uniform(0, 0.006) if number % 3 else -1.0
            code, _ = await house.send(BURN_CARDS, data, seconds=seconds)
            late += code.name == "DEADLINE_EXCEEDED"
            first = await shoe.burn_cards(TABLE, context, command)
            assert await shoe.burn_cards(TABLE, context, command) == first
            assert first.burn_id == command.burn_id
    assert late >= 20
    burned = [fact for fact in facts_of(settings_in(tmp_path).journal_path) if fact.name == "CardBurned"]
    ids = [fact.envelope.request_id for fact in burned if fact.envelope.request_id.startswith("late-")]
    assert sorted(ids) == sorted(f"late-{number}" for number in range(60))
    assert wrong(settings_in(tmp_path).journal_path) == []


async def test_c14_a_client_that_goes_away_in_the_middle_does_not_tear_a_command_off(tmp_path: Path) -> None:
    chance = random.Random(7)
    async with hosted(tmp_path, ("shoe", "table", "wager")) as house:
        await play_rounds(house, 1)
        for number in range(40):
            context, command = by_dealer(f"gone-{number}"), burn(f"gone-{number}")
            call = asyncio.create_task(ShoeClient(house.caller).burn_cards(TABLE, context, command))
            await asyncio.sleep(chance.uniform(0, 0.004))
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
        await play_rounds(house, 1, seed=2)
    assert wrong(settings_in(tmp_path).journal_path) == []

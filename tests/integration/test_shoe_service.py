"""The shoe as its callers meet it: through the client, in process and over gRPC, with retries and restarts."""

import asyncio
import itertools
from pathlib import Path

import pytest

from services.game.authority import Actor, Role
from services.shoe import client as s
from services.shoe.client import SERVICE
from services.wire.refusal import Refused
from services.wire.rpc import Kind, Rpc
from tests.support.shoe_house import ShoeHouse, open_house
from tests.support.shoe_outsider import verify
from tests.support.shoe_table import DEALER, PLAYER, ROUND, SUPERVISOR, TABLE
from tests.support.shoe_transcript import as_json


def draw(draw_id: str, faces: str, round_id: str = ROUND) -> s.DrawCards:
    return s.DrawCards(draw_id, round_id, tuple(face == "d" for face in faces))


async def test_a_whole_shoe_over_grpc_is_dealt_proved_retired_and_checked_by_an_outsider(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house, house.over_grpc() as client:
        assert (await house.prepare(client=client)).phase is s.ShoePhase.INSPECTED
        shoe = await house.new_shoe("shuffle-1", client=client)
        assert shoe.phase is s.ShoePhase.DEALING
        burn = s.BurnCards("burn-1", "", 1, s.BurnReason.AFTER_SHUFFLE, face_up=False)
        assert (await client.burn_cards(TABLE, house.context(DEALER), burn)).cards[0].card is None
        for number in itertools.count(1):
            drawn = await client.draw_cards(TABLE, house.context(), draw(f"r{number}", "uuuud", f"{TABLE}#{number}"))
            shown = await client.reveal_card(
                TABLE, house.context(), s.RevealCard(shoe.shoe_id, drawn.cards[-1].position)
            )
            assert shown == await client.prove_card(TABLE, shoe.shoe_id, drawn.cards[-1].position)
            assert shown.proof.root == shoe.root
            assert (drawn.decks, drawn.shoe_id) == (6, shoe.shoe_id)
            if drawn.last_round:
                break
        with pytest.raises(Refused) as refusal:
            await client.draw_cards(TABLE, house.context(), draw("late", "uu", f"{TABLE}#99"))
        assert (refusal.value.name, refusal.value.rule) == ("ShuffleDue", "30-816")
        retire = s.RetireShoe(shoe.shoe_id, s.RetireReason.CUT_CARD_REACHED)
        closed = await client.retire_shoe(TABLE, house.context(DEALER), retire)
        assert (closed.balanced, closed.drawn, closed.burned, closed.undealt) == (True, 235, 1, 76)
        transcript = await client.get_transcript(TABLE, shoe.shoe_id)
        assert verify(as_json(transcript)) == []
        assert transcript.stacks[0].seed_hash == shoe.seed_hash


async def test_a_retried_draw_gets_the_same_cards_under_the_same_or_another_request_id(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await house.prepare()
        await house.new_shoe("shuffle-1")
        context = house.context()
        first = await house.client.draw_cards(TABLE, context, draw("d-1", "uuud"))
        await house.client.draw_cards(TABLE, house.context(), draw("d-2", "u"))
        assert await house.client.draw_cards(TABLE, context, draw("d-1", "uuud")) == first
        assert await house.client.draw_cards(TABLE, house.context(), draw("d-1", "uuud")) == first
        with pytest.raises(Refused) as refusal:
            await house.client.draw_cards(TABLE, house.context(), draw("d-1", "uuuu"))
        assert refusal.value.name == "IdReused"
        with pytest.raises(Refused) as refusal:
            await house.client.draw_cards(TABLE, context, draw("d-9", "u"))
        assert refusal.value.name == "RequestIdReused"
        assert (await house.client.get_shoe(TABLE)).drawn == 5


async def test_b18_five_identical_draws_at_once_are_one_draw(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await house.prepare()
        await house.new_shoe("shuffle-1")
        calls = (house.client.draw_cards(TABLE, house.context(), draw("d-1", "uud")) for _ in range(5))
        answers = await asyncio.gather(*calls)
        assert len(set(answers)) == 1
        assert (await house.client.get_shoe(TABLE)).drawn == 3


@pytest.mark.parametrize("kind", [s.DeviceKind.DEALING_SHOE, s.DeviceKind.CONTINUOUS_SHUFFLER])
async def test_after_a_restart_the_same_cards_come_as_without_it(tmp_path: Path, kind: s.DeviceKind) -> None:
    dealt: list[s.CardsDrawn] = []
    for folder, restart in ((tmp_path / "one", False), (tmp_path / "two", True)):
        folder.mkdir()
        async with open_house(folder) as house:
            await house.prepare(2, kind)
            shoe = await house.new_shoe("shuffle-1")
            first = await house.client.draw_cards(TABLE, house.context(), draw("d-1", "uuud"))
            if shoe.continuous:
                back = s.ReturnDiscards("r-1", (1, 2))
                await house.client.return_discards(TABLE, house.context(), back)
            if not restart:
                dealt.append(await house.client.draw_cards(TABLE, house.context(), draw("d-2", "uuuu")))
        if restart:
            async with open_house(folder, "after the restart") as house:
                assert await house.client.draw_cards(TABLE, house.context(), draw("d-1", "uuud")) == first
                dealt.append(await house.client.draw_cards(TABLE, house.context(), draw("d-2", "uuuu")))
                shown = await house.client.reveal_card(TABLE, house.context(), s.RevealCard(shoe.shoe_id, 4))
                assert shown.proof.leaf == first.cards[3].leaf
                closed = await house.client.retire_shoe(
                    TABLE, house.context(), s.RetireShoe(shoe.shoe_id, s.RetireReason.TABLE_CLOSED)
                )
                assert closed.balanced
                assert verify(as_json(await house.client.get_transcript(TABLE, shoe.shoe_id))) == []
    assert dealt[0] == dealt[1]


async def first_ace_or_ten(house: ShoeHouse, client: s.ShoeClient) -> tuple[s.CardFromShoe, s.CardFromShoe]:
    """Deal an up card and a hole card again and again until the up card calls for a peek."""
    for number in range(1, 40):
        drawn = await client.draw_cards(TABLE, house.context(), draw(f"r{number}", "ud", f"{TABLE}#{number}"))
        up, hole = drawn.cards
        if up.card is not None and (up.card.is_ace or up.card.is_ten):
            return up, hole
    raise AssertionError("39 rounds without an ace or ten up")


async def test_a_peek_over_grpc_carries_one_bit(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house, house.over_grpc() as client:
        await house.prepare(client=client)
        shoe = await house.new_shoe("shuffle-1", client=client)
        up, hole = await first_ace_or_ten(house, client)
        peek = s.PeekCard(shoe.shoe_id, hole.position, up.position)
        answer = await client.peek_card(TABLE, house.context(), peek)
        assert answer == await client.peek_card(TABLE, house.context(), peek)
        shown = await client.reveal_card(TABLE, house.context(), s.RevealCard(shoe.shoe_id, hole.position))
        assert up.card is not None
        natural = (up.card.is_ace and shown.card.is_ten) or (up.card.is_ten and shown.card.is_ace)
        assert answer.makes_blackjack is natural


@pytest.mark.parametrize("role", [Role.PLAYER, Role.DEALER, Role.SUPERVISOR, Role.SURVEILLANCE, Role.LICENSEE])
async def test_e10_a_forged_draw_from_a_wager_client_is_refused_and_changes_nothing(tmp_path: Path, role: Role) -> None:
    async with open_house(tmp_path) as house, house.over_grpc() as client:
        await house.prepare(client=client)
        await house.new_shoe("shuffle-1", client=client)
        before = [head async for head in house.journal.read(f"shoe:{TABLE}")]
        with pytest.raises(Refused) as refusal:
            await client.draw_cards(TABLE, house.context(Actor(role, "wager-client")), draw("forged", "u"))
        assert refusal.value.name == "NotAuthorised"
        burn = s.BurnCards("forged", "", 1, s.BurnReason.BOXED, face_up=True)
        with pytest.raises(Refused) as refusal:
            await client.burn_cards(TABLE, house.context(Actor(Role.DEVICE, "tray-7")), burn)
        assert refusal.value.name == "DeviceNotRegistered"
        assert [head async for head in house.journal.read(f"shoe:{TABLE}")] == before


async def test_tables_do_not_share_shoes(tmp_path: Path) -> None:
    other = "black-hawk/BJ-08"
    async with open_house(tmp_path) as house:
        for table in (TABLE, other):
            await house.prepare(table=table)
            await house.new_shoe("shuffle-1", table=table)
        one, two = [
            await house.client.draw_cards(table, house.context(), draw("d-1", "u" * 20)) for table in (TABLE, other)
        ]
        assert (one.shoe_id, two.shoe_id) == (f"{TABLE}/shoe-1", f"{other}/shoe-1")
        assert [card.card for card in one.cards] != [card.card for card in two.cards]


async def test_30_805_the_gaming_day_is_the_floors_and_turns_at_its_hour(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        day = (await house.prepare()).inspected_day
        house.clock.advance(24 * 3600)
        shuffle = s.ShuffleCards("x", 10, s.CutCardFirst.PLAY_ONE_MORE, s.ShuffleReason.TABLE_OPENED)
        with pytest.raises(Refused) as refusal:
            await house.client.shuffle_cards(TABLE, house.context(DEALER), shuffle)
        assert refusal.value.name == "DeviceNotInspected"
        assert refusal.value.facts["gaming_day"] > day
        inspect = s.InspectDevice("SH-1", passed=True, note="")
        await house.client.inspect_device(TABLE, house.context(SUPERVISOR), inspect)
        assert (await house.client.shuffle_cards(TABLE, house.context(DEALER), shuffle)).shoe.size == 312


async def test_questions_about_tables_that_do_not_exist_are_answered_or_refused(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        assert (await house.client.get_shoe("black-hawk/BJ-99")).phase is s.ShoePhase.NO_DEVICE
        with pytest.raises(Refused) as refusal:
            await house.client.get_shoe("nowhere")
        assert refusal.value.name == "MalformedTableKey"
        with pytest.raises(Refused) as refusal:
            await house.client.prove_card(TABLE, f"{TABLE}/shoe-1", 1)
        assert refusal.value.name == "WrongShoe"
        cut = s.CutCards(f"{TABLE}/shoe-1", 40, "seat 1")
        with pytest.raises(Refused) as refusal:
            await house.client.cut_cards(TABLE, house.context(PLAYER), cut)
        assert refusal.value.name == "CardsNotShuffled"


async def test_ops_see_cards_and_shoes_counted_once(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await house.prepare()
        shoe = await house.new_shoe("shuffle-1")
        burn = s.BurnCards("burn-1", "", 1, s.BurnReason.AFTER_SHUFFLE, face_up=False)
        for _ in range(2):
            await house.client.burn_cards(TABLE, house.context(DEALER), burn)
            await house.client.draw_cards(TABLE, house.context(), draw("d-1", "uuu"))
        retire = s.RetireShoe(shoe.shoe_id, s.RetireReason.HOUSE_CHOICE)
        await house.client.retire_shoe(TABLE, house.context(DEALER), retire)
        value = house.telemetry.registry.get_sample_value
        assert value("holecard_shoe_cards_total", {"to": "table"}) == 3
        assert value("holecard_shoe_cards_total", {"to": "rack"}) == 1
        assert [value("holecard_shoes_total", {"step": step}) for step in ("shuffled", "retired")] == [1, 1]
        assert value("holecard_shoes_unbalanced_total") == 0


async def test_e04_seven_seats_and_five_cards_left_are_finished_from_the_discards(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await house.prepare(1)
        shuffle = s.ShuffleCards("shuffle-1", 10, s.CutCardFirst.PLAY_ONE_MORE, s.ShuffleReason.TABLE_OPENED)
        shoe = (await house.client.shuffle_cards(TABLE, house.context(DEALER), shuffle)).shoe
        await house.client.cut_cards(TABLE, house.context(PLAYER), s.CutCards(shoe.shoe_id, 20, "seat 3"))
        await house.client.place_cut_card(TABLE, house.context(DEALER), s.PlaceCutCard(shoe.shoe_id, 1))
        await house.client.draw_cards(TABLE, house.context(), draw("r1", "u" * 32, f"{TABLE}#1"))
        await house.client.draw_cards(TABLE, house.context(), draw("r2", "u" * 15, f"{TABLE}#2"))
        deal = draw("r2/hits", "u" * 7, f"{TABLE}#2")
        with pytest.raises(Refused) as refusal:
            await house.client.draw_cards(TABLE, house.context(), deal)
        assert (refusal.value.name, refusal.value.facts["left"]) == ("ShoeExhausted", "5")
        reshuffle = s.ReshuffleDiscards("r2/reshuffle", f"{TABLE}#2", 7)
        answer = await house.client.reshuffle_discards(TABLE, house.context(SUPERVISOR), reshuffle)
        assert (answer.shoe.phase, answer.shoe.size, answer.shoe.left) == (s.ShoePhase.SHUFFLED, 32, 37)
        await house.client.cut_cards(TABLE, house.context(PLAYER), s.CutCards(shoe.shoe_id, 12, "seat 1"))
        drawn = await house.client.draw_cards(TABLE, house.context(), deal)
        assert [card.position for card in drawn.cards] == list(range(48, 55))
        assert drawn.last_round
        retire = s.RetireShoe(shoe.shoe_id, s.RetireReason.CUT_CARD_REACHED)
        assert (await house.client.retire_shoe(TABLE, house.context(), retire)).balanced
        assert verify(as_json(await house.client.get_transcript(TABLE, shoe.shoe_id))) == []


def test_every_procedure_matches_its_messages() -> None:
    procedures = [value for value in vars(s).values() if isinstance(value, Rpc)]
    assert len(procedures) == 26
    for rpc in procedures:
        rpc.check()
        assert rpc.service == SERVICE
    assert {rpc.name for rpc in procedures if rpc.kind is Kind.QUERY} == {
        "GetShoe",
        "GetDraw",
        "ProveCard",
        "GetTranscript",
    }

"""A shoe in play: draw, burn, peek, reveal, last round, discards, retirement (30-816, 30-818, 30-819, 30-823, 30-828)."""

from dataclasses import replace

import pytest

from services.game.authority import Actor, Role
from services.game.cards import Card
from services.game.composition import Composition
from services.game.rejections import NotAuthorised
from services.game.rule_options import CutCardFirst
from services.shoe import commands as c
from services.shoe import events as e
from services.shoe import rejections as r
from services.shoe import replies
from services.shoe.commitment import leaf_hash, root_of_path
from services.shoe.dealing import RESEED_AFTER
from services.shoe.enriched import Opened
from services.shoe.hidden import Hidden
from services.shoe.order import new_stack
from services.shoe.reconcile import reconcile
from services.shoe.words import BurnReason, CardProof, RetireReason, ShoePhase
from tests.support.shoe_table import DEALER, PLAYER, ROUND, SUPERVISOR, SYSTEM, TABLE, ShoeTable, machine, ready

NEXT_ROUND = f"{TABLE}#2"


def opens(card: Card, proof: CardProof) -> bool:
    leaf = leaf_hash(proof.stack_position, card, proof.salt)
    return leaf == proof.leaf and root_of_path(leaf, proof.stack_position - 1, proof.size, proof.path) == proof.root


def hole_and_up(table: ShoeTable, *, up: str, hole: str) -> tuple[int, int]:
    """Deal until a round has this kind of hole card under this kind of up card; give both positions."""
    kinds = {"ace": lambda card: card.is_ace, "ten": lambda card: card.is_ten, "small": lambda card: card.value < 10}
    for number in range(1, 2_000):
        if table.live.last_round:
            for position in table.live.face_down:
                table.do(c.RevealCard(table.live.id, position))
            table.retire()
            table.shuffle().cut()
        ahead = table.vault._next_cards(table.state, c.DrawCards("ahead", "ahead", (True, True)))
        first, second = (card.card.open() for card in ahead)
        table.draw_faces("ud", round_id=f"{TABLE}#{number}")
        if kinds[up](first) and kinds[hole](second):
            return len(table.live.out), len(table.live.out) - 1
    raise AssertionError("no such pair of cards in 2,000 rounds")


def test_30_818_cards_leave_in_order_one_event_each_and_prove_themselves() -> None:
    table = ready()
    events = table.draw(5)
    assert [event.position for event in events if isinstance(event, e.CardDrawn)] == [1, 2, 3, 4, 5]
    for event in events:
        assert isinstance(event, e.CardDrawn)
        assert event.card is not None
        proof = table.vault.proof(table.live, event.position)
        assert (proof.salt, proof.leaf) == (event.salt, event.leaf)
        assert opens(event.card, proof)
        other = next(card for card in new_stack(1) if card is not event.card)
        assert not opens(other, proof)


def test_e02_every_draw_names_its_shoe_and_how_many_decks_it_holds() -> None:
    table = ready(decks=8)
    (event,) = table.draw(draw_id="d")
    assert isinstance(event, e.CardDrawn)
    assert (event.shoe_id, event.decks) == (table.live.id, 8)
    answer = replies.cards_drawn(table.state, "d")
    assert (answer.shoe_id, answer.decks) == (table.live.id, 8)
    table.retire()
    transcript = replies.transcript(table.state, event.shoe_id)
    assert (transcript.shoe_id, transcript.decks) == (event.shoe_id, 8)


def test_a_known_draw_id_gives_the_first_cards_again_even_after_the_shoe_ended() -> None:
    table = ready()
    draw = c.DrawCards("d-1", ROUND, (False, True, False))
    table.do(draw)
    first = replies.cards_drawn(table.state, "d-1")
    table.draw(3)
    table.do(c.RevealCard(table.live.id, 2))
    assert table.do(draw) == ()
    assert replies.cards_drawn(table.state, "d-1") == first
    table.retire()
    assert table.do(draw) == ()
    assert replies.cards_drawn(table.state, "d-1") == first


@pytest.mark.parametrize(
    "other",
    [
        c.DrawCards("d-1", ROUND, (False, True)),
        c.DrawCards("d-1", ROUND, (False, True, True)),
        c.DrawCards("d-1", NEXT_ROUND, (False, True, False)),
        c.BurnCards("d-1", ROUND, 3, BurnReason.BOXED, face_up=True),
    ],
)
def test_a_known_draw_id_with_other_content_is_refused(other: c.DrawCards | c.BurnCards) -> None:
    table = ready()
    table.do(c.DrawCards("d-1", ROUND, (False, True, False)))
    before = table.state
    with pytest.raises(r.IdReused):
        table.do(other)
    assert table.state is before


@pytest.mark.parametrize("count", [0, 65, 100_000])
def test_30_818_a_draw_is_of_1_to_64_cards(count: int) -> None:
    table = ready()
    with pytest.raises(r.DrawSizeRefused):
        table.draw(count)
    with pytest.raises(r.DrawSizeRefused):
        table.do(c.BurnCards("b", "", count, BurnReason.AFTER_SHUFFLE, face_up=False))


@pytest.mark.parametrize(("draw_id", "round_id"), [("", ROUND), ("d", ""), ("d" * 129, ROUND)])
def test_a_draw_names_itself_and_its_round(draw_id: str, round_id: str) -> None:
    with pytest.raises(r.IdMissing):
        ready().do(c.DrawCards(draw_id, round_id, (False,)))


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.SYSTEM])
def test_e10_the_table_alone_takes_cards_and_asks_about_them(role: Role) -> None:
    table = ready()
    table.draw_faces("ud")
    actor = Actor(role, "SH-1")
    for command in (
        c.DrawCards("forged", ROUND, (False,)),
        c.PeekCard(table.live.id, 2, 1),
        c.ReturnDiscards("forged", (1,)),
    ):
        with pytest.raises(NotAuthorised):
            table.do(command, actor)
    assert len(table.live.out) == 2


def test_e10_a_device_that_is_not_enrolled_here_moves_no_card() -> None:
    table = ready()
    burn = c.BurnCards("forged", "", 1, BurnReason.BOXED, face_up=True)
    with pytest.raises(r.DeviceNotRegistered):
        table.do(burn, Actor(Role.DEVICE, "SH-99"))
    assert len(table.do(burn, Actor(Role.DEVICE, "SH-1"))) == 1


def test_30_816_a_round_never_goes_on_from_another_shoe() -> None:
    table = ready()
    table.draw_faces("uu")
    table.do(c.RetireShoe(table.live.id, RetireReason.DEVICE_FAULT), DEALER)
    table.shuffle().cut()
    with pytest.raises(r.RoundOfAnotherShoe):
        table.do(c.DrawCards("later", ROUND, (False,)), SYSTEM)
    assert len(table.do(c.DrawCards("next", f"{TABLE}#2", (False,)), SYSTEM)) == 1


def test_30_819_a_burned_card_keeps_its_place_and_nobody_sees_it() -> None:
    table = ready()
    burn = c.BurnCards("b-1", "", 1, BurnReason.AFTER_SHUFFLE, face_up=False)
    (event,) = table.do(burn, DEALER)
    assert isinstance(event, e.CardBurned)
    assert (event.position, event.card, event.salt, event.left) == (1, None, b"", 311)
    assert event.sealed_card
    assert table.do(burn, DEALER) == ()
    with pytest.raises(r.PositionNotDrawn):
        table.do(c.RevealCard(table.live.id, 1))
    (drawn,) = table.draw()
    assert isinstance(drawn, e.CardDrawn)
    assert drawn.position == 2


def test_30_819_a_burned_card_may_be_shown() -> None:
    table = ready()
    table.do(c.BurnCards("b-1", "", 2, BurnReason.DEALER_CHANGE, face_up=True), DEALER)
    answer = replies.cards_burned(table.state, "b-1")
    assert all(card.card is not None for card in answer.cards)
    assert (answer.reason, answer.left) == (BurnReason.DEALER_CHANGE, 310)


def test_30_823_a_face_down_card_is_in_no_event_and_no_answer() -> None:
    table = ready()
    events = table.draw_faces("ud")
    hole = events[1]
    assert isinstance(hole, e.CardDrawn)
    assert (hole.card, hole.salt) == (None, b"")
    plain = table.sealer.unseal(hole.sealed_card, f"{table.live.id}/card/2".encode())
    assert plain[:2].decode() == str(table.vault._card(table.live, 2))
    answer = replies.cards_drawn(table.state, hole.draw_id)
    assert (answer.cards[1].card, answer.cards[1].salt) == (None, b"")
    with pytest.raises(r.CardStillFaceDown):
        replies.seen_card(table.state, table.live.id, 2)


@pytest.mark.parametrize(
    ("up", "hole", "makes_blackjack"),
    [
        ("ace", "ten", True),
        ("ten", "ace", True),
        ("ace", "small", False),
        ("ten", "ten", False),
        ("ten", "small", False),
    ],
)
def test_30_823_the_peek_answers_yes_or_no(up: str, hole: str, makes_blackjack: bool) -> None:
    table = ready(seed=f"peek {up} {hole}")
    position, up_position = hole_and_up(table, up=up, hole=hole)
    events = table.do(c.PeekCard(table.live.id, position, up_position))
    round_id = table.live.out[-1].round_id
    assert events == (e.HoleCardChecked(table.live.id, round_id, position, up_position, makes_blackjack),)
    assert table.do(c.PeekCard(table.live.id, position, up_position)) == ()
    assert replies.hole_answer(table.state, table.live.id, position).makes_blackjack is makes_blackjack


def test_30_823_the_peek_answers_one_question_a_hole_card() -> None:
    table = ready(seed="two questions")
    position, up_position = hole_and_up(table, up="ten", hole="small")
    table.do(c.PeekCard(table.live.id, position, up_position))
    with pytest.raises(r.AlreadyPeeked):
        table.do(c.PeekCard(table.live.id, position, up_position - 1))


def test_30_823_the_peek_needs_an_up_card_of_its_own_round_and_a_hole_card() -> None:
    table = ready(seed="which up card")
    position, up_position = hole_and_up(table, up="small", hole="small")
    with pytest.raises(r.NotAnUpCard):
        table.do(c.PeekCard(table.live.id, position, up_position))
    with pytest.raises(r.CardAlreadyFaceUp):
        table.do(c.PeekCard(table.live.id, up_position, position))
    table.draw(64, round_id="later")
    ace = next(card.position for card in table.live.out[position:] if card.card is not None and card.card.is_ace)
    with pytest.raises(r.NotAnUpCard):
        table.do(c.PeekCard(table.live.id, position, ace))
    with pytest.raises(r.PositionNotDrawn):
        table.do(c.PeekCard(table.live.id, position, 300))


def test_30_823_the_reveal_proves_that_the_card_lay_there_all_along() -> None:
    table = ready()
    table.draw_faces("ud")
    (event,) = table.do(c.RevealCard(table.live.id, 2))
    assert isinstance(event, e.CardRevealed)
    assert opens(event.card, event.proof)
    assert event.proof.root == table.live.stacks[0].root
    assert event.proof.leaf == table.live.out[1].leaf
    assert table.do(c.RevealCard(table.live.id, 2)) == ()
    assert table.do(c.RevealCard(table.live.id, 1)) == ()
    assert replies.seen_card(table.state, table.live.id, 2)[1] is event.card


def test_30_816_the_cutting_card_ends_the_shoe_after_the_round_in_play() -> None:
    table = ready(decks=1, behind=26)
    table.draw(26)
    assert not table.live.last_round
    (event,) = table.draw(1)
    assert isinstance(event, e.CardDrawn)
    assert event.last_round
    assert table.state.phase is ShoePhase.LAST_ROUND
    table.draw(5)
    with pytest.raises(r.ShuffleDue):
        table.draw(4, round_id=NEXT_ROUND)


def test_30_816_play_one_more_deals_the_round_that_the_cutting_card_comes_first_in() -> None:
    table = ready(decks=1, behind=26, first=CutCardFirst.PLAY_ONE_MORE)
    table.draw(26)
    events = table.draw(4, round_id=NEXT_ROUND)
    assert all(isinstance(event, e.CardDrawn) and event.last_round for event in events)
    with pytest.raises(r.ShuffleDue):
        table.draw(4, round_id=f"{TABLE}#3")


def test_30_816_shuffle_now_does_not() -> None:
    table = ready(decks=1, behind=26, first=CutCardFirst.SHUFFLE_NOW)
    events = table.draw(26)
    assert isinstance(events[-1], e.CardDrawn)
    assert [event.last_round for event in events if isinstance(event, e.CardDrawn)] == [False] * 25 + [True]
    with pytest.raises(r.ShuffleDue):
        table.draw(4, round_id=NEXT_ROUND)


def test_e04_too_few_cards_to_finish_a_round_reshuffle_the_discards_only() -> None:
    table = ready(decks=1, behind=1)
    for number in range(1, 12):
        table.draw(4, round_id=f"{TABLE}#{number}")
    last = f"{TABLE}#12"
    table.draw(3, round_id=last)
    draw = c.DrawCards("seven seats", last, (False,) * 7)
    with pytest.raises(r.ShoeExhausted) as refusal:
        table.do(draw)
    assert (refusal.value.facts["left"], refusal.value.facts["needed"]) == (5, 7)

    reshuffle = c.ReshuffleDiscards("reshuffle-1", last, 7)
    (event,) = table.do(reshuffle, SUPERVISOR)
    assert isinstance(event, e.DiscardsReshuffled)
    assert event.recycled == tuple(range(1, 45))
    assert (event.stack, event.first_position, event.size) == (1, 53, 44)
    assert table.do(reshuffle, SUPERVISOR) == ()
    assert table.state.phase is ShoePhase.SHUFFLED
    with pytest.raises(r.CardsNotCut):
        table.do(draw)
    with pytest.raises(r.CutTooCloseToEnd):
        table.do(c.CutCards(table.live.id, 9, "seat 1"), PLAYER)
    table.do(c.CutCards(table.live.id, 22, "seat 1"), PLAYER)

    events = table.do(draw)
    assert [event.position for event in events if isinstance(event, e.CardDrawn)] == [48, 49, 50, 51, 52, 53, 54]
    out = table.live.out
    in_play = {card.position for card in out if card.round_id == last and card.position <= 52}
    recycled = Composition.of(card.seen for card in out if card.position <= 44 and card.seen)
    again = [card.seen for card in out if card.position > 52 and card.seen]
    recycled.remove(again)  # every card of the new stack came from the discards
    assert in_play == set(range(45, 53))
    for card in out[52:]:
        proof = table.vault.proof(table.live, card.position)
        assert proof.stack == 1
        assert proof.root == event.root
        assert card.seen is not None
        assert opens(card.seen, proof)
    with pytest.raises(r.ShuffleDue):
        table.draw(4, round_id=f"{TABLE}#13")
    end = table.retire()
    assert (end.drawn, end.burned, end.undealt, end.recycled) == (54, 0, 42, 44)
    assert end.drawn + end.burned + end.undealt - end.recycled == 52
    assert (end.missing, end.extra, end.broken_roots) == ((), (), ())


def test_30_828_discards_are_reshuffled_only_when_the_round_cannot_be_finished_otherwise() -> None:
    table = ready(decks=1, behind=1)
    table.draw(10)
    with pytest.raises(r.EnoughCards):
        table.do(c.ReshuffleDiscards("x", ROUND, 7), SUPERVISOR)
    with pytest.raises(r.IdMissing):
        table.do(c.ReshuffleDiscards("x", "", 60), SUPERVISOR)
    with pytest.raises(NotAuthorised):
        table.do(c.ReshuffleDiscards("x", ROUND, 60), DEALER)
    with pytest.raises(r.NoDiscards):
        table.do(c.ReshuffleDiscards("x", ROUND, 60), SUPERVISOR)


def test_30_828_a_round_may_run_short_on_its_very_first_cards() -> None:
    table = ready(decks=1, behind=1)
    table.draw(48)
    with pytest.raises(r.ShoeExhausted):
        table.draw(15, round_id=NEXT_ROUND)
    (event,) = table.do(c.ReshuffleDiscards("x", NEXT_ROUND, 15), SYSTEM)
    assert isinstance(event, e.DiscardsReshuffled)
    assert event.size == 48
    table.do(c.CutCards(table.live.id, 20, "dealer"), DEALER)
    with pytest.raises(r.ShuffleDue):
        table.draw(4, round_id=f"{TABLE}#3")
    table.draw(15, round_id=NEXT_ROUND)
    with pytest.raises(r.ShuffleDue):
        table.draw(1, round_id=ROUND)
    with pytest.raises(r.ShuffleDue):
        table.do(c.ReshuffleDiscards("y", ROUND, 64), SYSTEM)
    assert table.retire().missing == ()


def test_a_handful_of_discards_is_cut_at_its_middle() -> None:
    table = ready(decks=1, behind=1)
    table.do(c.BurnCards("b", "", 1, BurnReason.AFTER_SHUFFLE, face_up=False))
    table.draw(50)
    table.do(c.ReshuffleDiscards("x", ROUND, 2), SYSTEM)
    table.do(c.CutCards(table.live.id, 0, "dealer"), DEALER)
    table.draw(2)
    with pytest.raises(r.ShoeExhausted):
        table.draw(1)
    with pytest.raises(r.NoDiscards):
        table.do(c.ReshuffleDiscards("y", ROUND, 1), SYSTEM)
    end = table.retire()
    assert (end.drawn, end.burned, end.undealt, end.recycled, end.missing) == (52, 1, 0, 1, ())


def test_30_816_a_retired_shoe_adds_up_and_reveals_its_seed() -> None:
    table = ready()
    table.do(c.BurnCards("b", "", 1, BurnReason.AFTER_SHUFFLE, face_up=False))
    table.draw(20)
    shoe_id = table.live.id
    retire = c.RetireShoe(shoe_id, RetireReason.CUT_CARD_REACHED)
    (event,) = table.do(retire, DEALER)
    assert isinstance(event, e.ShoeRetired)
    assert (event.drawn, event.burned, event.undealt, event.recycled) == (20, 1, 291, 0)
    assert (event.missing, event.extra, event.broken_roots) == ((), (), ())
    assert len(event.seeds[0]) == 32
    assert table.do(retire, DEALER) == ()
    assert replies.shoe_closed(table.state, shoe_id).balanced
    assert table.state.phase is ShoePhase.INSPECTED


def test_30_823_a_shoe_is_not_opened_while_a_hole_card_lies_face_down() -> None:
    table = ready()
    table.draw_faces("ud")
    with pytest.raises(r.CardStillFaceDown) as refusal:
        table.retire()
    assert refusal.value.facts == {"position": 2}
    table.do(c.RevealCard(table.live.id, 2), SUPERVISOR)
    assert table.retire().drawn == 2


def test_the_transcript_of_a_shoe_in_play_is_refused() -> None:
    table = ready()
    with pytest.raises(r.ShoeNotRetired):
        replies.transcript(table.state, table.live.id)
    with pytest.raises(r.WrongShoe):
        replies.transcript(table.state, "black-hawk/BJ-07/shoe-9")


def test_reconciling_names_missing_and_extra_cards_and_broken_commitments() -> None:
    table = ready(decks=2)
    table.draw(3)
    live = table.live
    opened = table.vault.open(live)
    swapped = next(card for card in new_stack(1) if card is not opened.undealt[0])
    wrong = Opened(opened.seeds, opened.out, (swapped, *opened.undealt[1:]), (bytes(32),), opened.seed_hashes)
    end = reconcile(live, RetireReason.HOUSE_CHOICE, wrong)
    assert (end.missing, end.extra, end.broken_roots) == ((opened.undealt[0],), (swapped,), (0,))
    short = Opened(opened.seeds, opened.out, opened.undealt[1:], opened.roots, opened.seed_hashes)
    assert reconcile(live, RetireReason.HOUSE_CHOICE, short).missing == (opened.undealt[0],)
    seen = live.out[0].card
    assert seen is not None
    other = next(card for card in new_stack(1) if card is not seen)
    cheated = replace(live, out=(replace(live.out[0], card=other), *live.out[1:]))
    end = reconcile(cheated, RetireReason.HOUSE_CHOICE, opened)
    assert (end.missing, end.extra) == ((seen,), (other,))


def test_30_816_a_continuous_shuffler_takes_its_discards_back_and_conserves_its_content() -> None:
    table = machine(decks=1)
    table.draw(20)
    with pytest.raises(r.CardNotReturnable):
        table.do(c.ReturnDiscards("r-1", (19, 20, 21)))
    (event,) = table.do(c.ReturnDiscards("r-1", (3, 1, 2)))
    assert event == e.DiscardsReturned(table.live.id, "r-1", (1, 2, 3), 20)
    assert table.do(c.ReturnDiscards("r-1", (1, 2, 3))) == ()
    with pytest.raises(r.IdReused):
        table.do(c.ReturnDiscards("r-1", (4,)))
    with pytest.raises(r.CardNotReturnable):
        table.do(c.ReturnDiscards("r-2", (3,)))
    assert table.live.left == 35
    for number in range(2, 40):
        table.draw(10, round_id=f"{TABLE}#{number}")
        first = len(table.live.out) - 9
        table.do(c.ReturnDiscards(f"r-{number}", tuple(range(first, first + 10))))
    end = table.retire()
    assert end.drawn + end.burned + end.undealt - end.recycled == 52
    assert (end.missing, end.extra, end.broken_roots) == ((), (), ())


def test_30_816_a_card_may_come_again_from_a_continuous_shuffler_after_its_return_only() -> None:
    table = machine(decks=1)
    table.draw(52)
    assert Composition.of(card.seen for card in table.live.out if card.seen).is_decks(1)
    with pytest.raises(r.ShoeExhausted):
        table.draw(1)
    table.do(c.ReturnDiscards("r-1", (7,)))
    table.draw(1)
    assert table.live.out[52].seen is table.live.out[6].seen


def test_30_823_a_continuous_shuffler_takes_no_hole_card_back_unseen() -> None:
    table = machine()
    table.draw_faces("ud")
    with pytest.raises(r.CardStillFaceDown):
        table.do(c.ReturnDiscards("r-1", (1, 2)))
    (event,) = table.do(c.RevealCard(table.live.id, 2))
    assert isinstance(event, e.CardRevealed)
    assert leaf_hash(2, event.card, event.proof.salt) == table.live.out[1].leaf
    table.do(c.ReturnDiscards("r-1", (1, 2)))
    assert table.live.left == 52


def test_discards_return_into_a_continuous_shuffler_only() -> None:
    table = ready()
    table.draw(2)
    with pytest.raises(r.NotContinuous):
        table.do(c.ReturnDiscards("r-1", (1,)))
    with pytest.raises(r.NoCutInContinuousShuffler):
        machine().do(c.ReshuffleDiscards("x", ROUND, 60), SYSTEM)


def test_n17_a_continuous_shuffler_asks_for_a_fresh_seed() -> None:
    table = machine(decks=2)
    ended = False
    for number in range(1, RESEED_AFTER // 50 + 1):
        events = table.draw(50, round_id=f"{TABLE}#{number}")
        first = len(table.live.out) - 49
        table.do(c.ReturnDiscards(f"r-{number}", tuple(range(first, first + 50))))
        ended = any(isinstance(event, e.CardDrawn) and event.last_round for event in events)
    assert ended
    with pytest.raises(r.ShuffleDue):
        table.draw(1, round_id="next")
    assert table.retire().missing == ()


def test_hidden_values_show_nowhere() -> None:
    hidden = Hidden(Card.parse("As"))
    assert [repr(hidden), str(hidden), f"{hidden:>10}", f"{(hidden,)}"] == ["<hidden>"] * 3 + ["(<hidden>,)"]
    assert hidden == Hidden(Card.parse("As"))
    assert hidden != Card.parse("As")
    with pytest.raises(TypeError):
        hash(hidden)
    with pytest.raises(TypeError):
        hidden.__reduce__()


def test_enriched_commands_and_the_vault_show_no_secret() -> None:
    table = ready()
    ahead = table.vault.enrich(table.state, c.DrawCards("d", ROUND, (True, True)), Hidden(b""))
    opened = table.vault.open(table.live)
    for text in (repr(ahead), repr(table.vault), repr(opened), repr(table.vault._stacks)):
        assert not [card for card in new_stack(1) if f"Card({card})" in text or f"'{card}'" in text]
        assert repr(opened.seeds[0]) not in text

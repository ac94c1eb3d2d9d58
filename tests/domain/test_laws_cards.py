"""L2, L3 and L12 catch cards that are dealt wrongly, committed wrongly, or shown before their time."""

from dataclasses import replace

import pytest

from services.game.cards import Card
from services.surveillance import round_facts as r
from services.surveillance import shoe_facts as s
from services.surveillance import shoe_opening as opening
from tests.support.law_logs import at, broken, caught, changed, log, moved, repeated, with_payload, without


def other(card: Card) -> Card:
    return Card.parse("2c") if str(card) != "2c" else Card.parse("3d")


def face_up(event: s.CardDrawn) -> bool:
    return not event.face_down


def face_down(event: s.CardDrawn) -> bool:
    return event.face_down


def retired() -> int:
    return at(log(), s.ShoeRetired)


def test_l2_a_card_drawn_twice_or_out_of_order_is_found() -> None:
    drawn = at(log(), s.CardDrawn, face_up, skip=10)
    caught(repeated(log(), drawn, drawn), "L2", log()[drawn], "is next")
    swapped = at(log(), s.CardDrawn, face_up, skip=11)
    caught(moved(log(), drawn, swapped), "L2", log()[swapped], "is next")


def test_l2_a_card_that_is_passed_over_is_found() -> None:
    drawn = at(log(), s.CardDrawn, face_up, skip=10)
    following = next(fact for fact in log()[drawn + 1 :] if isinstance(fact.event, s.CardDrawn))
    caught(without(log(), drawn), "L2", following, "each is drawn once and in order")


def test_l2_another_card_than_was_committed_is_found_when_it_is_dealt() -> None:
    drawn = at(log(), s.CardDrawn, face_up, skip=4)
    card = other(log()[drawn].event.card)
    caught(changed(log(), drawn, card=card), "L2", log()[drawn], "does not open its leaf")


def test_l2_another_card_with_a_leaf_to_match_is_found_when_the_shoe_is_opened() -> None:
    drawn = at(log(), s.CardDrawn, face_up, skip=4)
    event = log()[drawn].event
    card = other(event.card)
    shuffled, cut = log()[at(log(), s.CardsShuffled)].event, log()[at(log(), s.CardsCut)].event
    place = opening.place_before_cut(event.position, 52 * shuffled.decks, cut.depth)
    mutated = changed(log(), drawn, card=card, leaf=opening.leaf(place, card, event.salt))
    caught(mutated, "L2", log()[retired()], f"position {event.position} was dealt as {card}")


def test_l2_a_card_revealed_as_another_is_found() -> None:
    shown = at(log(), s.CardRevealed)
    mutated = changed(log(), shown, card=other(log()[shown].event.card))
    caught(mutated, "L2", log()[shown], "does not open the leaf")
    caught(mutated, "L2", log()[shown], "does not lead to the published root")


def test_l2_a_false_proof_is_found() -> None:
    shown = at(log(), s.CardRevealed)
    proof = log()[shown].event.proof
    for wrong in (
        replace(proof, path=proof.path[:-1]),
        replace(proof, path=(bytes(32), *proof.path[1:])),
        replace(proof, salt=bytes(32)),
    ):
        caught(changed(log(), shown, proof=wrong), "L2", log()[shown], "does not")


def test_l2_a_card_more_often_than_there_are_decks_is_found_at_once() -> None:
    mutated = log()
    same = Card.parse("As")
    seen = 0
    for index, fact in enumerate(log()):
        if isinstance(fact.event, s.CardDrawn) and face_up(fact.event):
            mutated = changed(mutated, index, card=same)
            seen += 1
            if seen == 7:
                caught(mutated, "L2", fact, "As is out 7 times in a shoe of 6 decks")
                return


@pytest.mark.parametrize("field", ["drawn", "burned", "undealt", "recycled"])
def test_l2_a_count_at_the_end_that_is_off_by_one_is_found(field: str) -> None:
    index = retired()
    mutated = changed(log(), index, **{field: getattr(log()[index].event, field) + 1})
    caught(mutated, "L2", log()[index], "drawn, burned, undealt, recycled")


def test_l2_a_shoe_that_reports_itself_broken_is_found() -> None:
    index = retired()
    caught(changed(log(), index, missing=(Card.parse("Kd"),)), "L2", log()[index], "missing Kd")


def test_l2_another_seed_does_not_open_the_fingerprint() -> None:
    index = retired()
    caught(changed(log(), index, seeds=(bytes(32),)), "L2", log()[index], "fingerprint")
    caught(changed(log(), index, seeds=()), "L2", log()[index], "0 seeds are revealed for 1 stacks")


def test_l2_a_root_that_was_not_that_of_the_order_is_found() -> None:
    shuffled = at(log(), s.CardsShuffled)
    caught(changed(log(), shuffled, root=bytes(32)), "L2", log()[retired()], "does not open the published root")


def test_l2_another_cut_than_was_made_is_found() -> None:
    cut = at(log(), s.CardsCut)
    mutated = changed(log(), cut, depth=log()[cut].event.depth + 1)
    caught(mutated, "L2", log()[retired()], "the committed order has")
    drawn = at(log(), s.CardDrawn)
    caught(moved(log(), cut, drawn), "L2", log()[cut], "after its first card is out")


def test_l2_cards_that_are_not_whole_decks_are_found() -> None:
    shuffled = at(log(), s.CardsShuffled)
    caught(changed(log(), shuffled, composition=bytes(32)), "L2", log()[shuffled], "is not that of 6 decks")
    caught(changed(log(), shuffled, seed_hash=b""), "L2", log()[shuffled], "is not committed to")


def test_l2_a_shoe_that_is_not_in_play_is_found() -> None:
    index = retired()
    drawn = at(log(), s.CardDrawn, skip=20)
    caught(repeated(log(), drawn, index), "L2", log()[drawn], "is not in play")


def test_l2_e04_the_discards_that_finish_a_round_open_their_own_commitment() -> None:
    short = log("short1", 8, decks=1, seats=7)
    reshuffled = [index for index, fact in enumerate(short) if isinstance(fact.event, s.DiscardsReshuffled)]
    if not reshuffled:
        pytest.fail("no round of this seed ran short of cards: choose another seed")
    event = short[reshuffled[0]].event
    retired_after = next(fact for fact in short[reshuffled[0] :] if isinstance(fact.event, s.ShoeRetired))
    caught(changed(short, reshuffled[0], root=bytes(32)), "L2", retired_after, "does not open the published root")
    twice = changed(short, reshuffled[0], recycled=(*event.recycled[:-1], event.recycled[0]))
    caught(twice, "L2", short[reshuffled[0]], "goes back")


def test_l2_a_continuous_shuffler_is_opened_too() -> None:
    machine = log("machine", 12, continuous=True)
    drawn = at(machine, s.CardDrawn, face_up, skip=30)
    event = machine[drawn].event
    card = other(event.card)
    end = next(fact for fact in machine[drawn:] if isinstance(fact.event, s.ShoeRetired))
    mutated = changed(machine, drawn, card=card, leaf=opening.leaf(event.position, card, event.salt))
    caught(mutated, "L2", end, f"position {event.position} was dealt as {card}")
    returned = at(machine, s.DiscardsReturned, skip=1)
    caught(repeated(machine, returned, returned), "L2", machine[returned], "a second time")


def test_l3_a_card_on_the_table_that_is_not_the_shoes_is_found() -> None:
    dealt = at(log(), r.CardDealt, lambda e: not e.face_down, skip=5)
    event = log()[dealt].event
    caught(changed(log(), dealt, card=other(event.card)), "L3", log()[dealt], "the shoe gave")
    caught(changed(log(), dealt, position=event.position + 200), "L3", log()[dealt], "which the shoe never gave")
    caught(changed(log(), dealt, face_down=True), "L3", log()[dealt], "differ in whether")


def test_l3_a_card_in_two_hands_is_found() -> None:
    dealt = at(log(), r.CardDealt, skip=5)
    caught(repeated(log(), dealt, dealt), "L3", log()[dealt], "a second time")


def test_l3_a_card_of_an_earlier_round_is_found() -> None:
    first = at(log(), r.CardDealt)
    later = at(log(), r.CardDealt, lambda e: not e.face_down, skip=60)
    old = log()[first].event
    caught(changed(log(), later, position=old.position, card=old.card), "L3", log()[later], "a second time")


def test_l3_a_card_that_was_drawn_and_lies_nowhere_is_found() -> None:
    dealt = at(log(), r.CardDealt, skip=5)
    complete = next(fact for fact in log()[dealt:] if isinstance(fact.event, r.RoundCompleted))
    picked = next(index for index in range(dealt, len(log())) if isinstance(log()[index].event, r.CardsPickedUp))
    order = tuple(place for place in log()[picked].event.order if place != log()[dealt].event.position)
    mutated = without(changed(log(), picked, order=order), dealt)
    caught(mutated, "L3", complete, "in no hand and not in the rack")
    caught(without(log(), dealt), "L3", log()[picked], "on the felt lie")


def test_l3_a_pickup_that_leaves_a_card_is_found() -> None:
    picked = at(log(), r.CardsPickedUp)
    caught(changed(log(), picked, order=log()[picked].event.order[1:]), "L3", log()[picked], "on the felt lie")


def test_l3_a_hole_card_turned_over_as_another_is_found() -> None:
    shown = at(log(), r.HoleRevealed)
    caught(changed(log(), shown, card=other(log()[shown].event.card)), "L3", log()[shown], "the shoe has")


def test_l3_a_check_that_was_answered_wrongly_is_found() -> None:
    checked = at(log(), r.HoleChecked)
    wrong = not log()[checked].event.makes_blackjack
    caught(changed(log(), checked, makes_blackjack=wrong), "L3", log()[checked], "the shoe answered")
    asked = at(log(), s.HoleCardChecked)
    revealed = next(
        fact
        for fact in log()[asked:]
        if isinstance(fact.event, s.CardRevealed) and fact.event.position == log()[asked].event.position
    )
    caught(
        changed(log(), asked, makes_blackjack=not log()[asked].event.makes_blackjack), "L3", revealed, "the check said"
    )


def test_l3_cards_shuffled_back_while_they_lie_on_the_felt_are_found() -> None:
    machine = log("machine", 12, continuous=True)
    returned = at(machine, s.DiscardsReturned, skip=2)
    event = machine[returned].event
    early = at(machine, r.CardDealt, lambda e: e.position == event.positions[0]) + 1
    found = broken(moved(machine, returned, early), "L3")
    assert any("while it lies on the felt" in finding.reason for finding in found)


def test_l12_a_face_down_card_published_with_its_face_is_found() -> None:
    drawn = at(log(), s.CardDrawn, face_down)
    caught(changed(log(), drawn, card=Card.parse("Kd")), "L12", log()[drawn], "is published with it")
    caught(changed(log(), drawn, salt=bytes(32)), "L12", log()[drawn], "is published with it")
    dealt = at(log(), r.CardDealt, lambda e: e.face_down)
    caught(changed(log(), dealt, card=Card.parse("Kd")), "L12", log()[dealt], "which lies face down")


def test_l12_the_salt_of_a_hidden_card_in_any_event_is_found() -> None:
    revealed = at(log(), s.CardRevealed)
    event = log()[revealed].event
    drawn = at(log(), s.CardDrawn, lambda e: e.position == event.position)

    def leak(message: object) -> None:
        message.sealed_card = b"nonce" + str(event.card).encode() + event.proof.salt  # type: ignore[attr-defined]

    caught(with_payload(log(), drawn, leak), "L12", log()[drawn], "holds the salt")


def test_l12_a_message_that_names_the_hole_card_by_its_position_is_found() -> None:
    revealed = at(log(), s.CardRevealed)
    event = log()[revealed].event
    between = next(
        index
        for index, fact in enumerate(log())
        if index < revealed
        and isinstance(fact.event, r.CardDealt)
        and fact.event.face_down
        and fact.event.position == event.position
    )

    def leak(message: object) -> None:
        message.card = str(event.card)  # type: ignore[attr-defined]

    caught(with_payload(log(), between, leak), "L12", log()[between], "names")


def test_l12_the_table_shows_the_hole_card_before_the_shoe_does() -> None:
    shown = at(log(), r.HoleRevealed)
    revealed = at(log(), s.CardRevealed, lambda e: e.position == log()[shown].event.position)
    caught(moved(log(), shown, revealed), "L12", log()[shown], "before the shoe has revealed it")


def test_l12_a_seed_that_is_published_before_the_end_is_found() -> None:
    seed = log()[retired()].event.seeds[0]
    index = at(log(), s.CardsShuffled)

    def leak(message: object) -> None:
        message.sealed_seed = b"\x00" * 12 + seed + b"\x00" * 16  # type: ignore[attr-defined]

    caught(with_payload(log(), index, leak), "L12", log()[index], "holds the seed")


def test_the_tree_hash_is_that_of_rfc_9162() -> None:
    leaves = [bytes([number]) * 32 for number in range(13)]

    def plain(part: list[bytes]) -> bytes:
        import hashlib

        if len(part) == 1:
            return part[0]
        half = 1
        while half * 2 < len(part):
            half *= 2
        return hashlib.sha256(b"\x01" + plain(part[:half]) + plain(part[half:])).digest()

    for size in range(1, 14):
        assert opening.root_over(leaves[:size]) == plain(leaves[:size])

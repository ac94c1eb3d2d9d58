"""A round's record: every step is the felt as the log has it, pure, and it shows what was logged, right or wrong."""

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise

import pytest

from services.game.cards import Card
from services.surveillance import counting, narration
from services.surveillance import round_facts as r
from services.surveillance.facts import FactReader, plain
from services.surveillance.hand_history import history, seat_of_hold, table_of
from services.surveillance.records import RoundRecord
from tests.support.law_logs import at, changed, log, recorded, without
from tests.support.watched_house import TABLE


@cache
def record(number: int) -> RoundRecord:
    found = history(log(), f"{TABLE}#{number}")
    assert found is not None
    return found


def rounds_with(kind: type) -> int:
    """The number of a round in which such an event happened."""
    fact = log()[at(log(), kind)]
    return int(fact.envelope.round_id.rpartition("#")[2])


def test_the_same_facts_give_the_same_record() -> None:
    assert history(log(), f"{TABLE}#3") == record(3)
    reader = FactReader()
    again = history(
        [reader.read(one) for one in recorded("laws", 40, continuous=False, decks=6, seats=3)], f"{TABLE}#3"
    )
    assert again == record(3)


def test_the_record_of_a_round_does_not_need_the_rest_of_the_log() -> None:
    mine = [
        fact for fact in log() if fact.envelope.round_id == f"{TABLE}#5" or fact.name in {"RulesPosted", "TableOpened"}
    ]
    alone, whole = history(mine, f"{TABLE}#5"), record(5)
    assert alone is not None
    assert [step.note for step in alone.steps] == [step.note for step in whole.steps]
    assert alone.steps[-1].seats == whole.steps[-1].seats
    assert alone.rules_text == whole.rules_text


def test_b08_b14_every_stake_shows_stake_due_and_what_came_back_apart() -> None:
    for number in range(1, 41):
        last = record(number).steps[-1]
        stakes = [stake for seat in last.seats for hand in seat.hands for stake in hand.stakes]
        stakes += [stake for seat in last.seats for stake in seat.beside]
        assert stakes
        assert all(stake.outcome and stake.cause and stake.due is not None for stake in stakes)
        assert sum(stake.amount_cents for stake in stakes) == record(number).staked_cents == last.staked_cents
        assert sum(stake.returned_cents for stake in stakes) == record(number).returned_cents
        assert all(isinstance(stake.due, Fraction) for stake in stakes)


def test_chips_lie_where_they_lie_at_every_step() -> None:
    """What a seat has in its rack and on the felt is the same before and after a stake moves from one to the other."""
    for step in record(2).steps:
        if step.event == "WagerPlaced":
            seat = next(seat for seat in step.seats if seat.seat == step.seat)
            assert seat.rack_cents is not None
            assert seat.hands[0].stakes[0].amount_cents > 0


def test_a_split_hand_stands_right_after_the_one_it_came_from() -> None:
    whole = record(rounds_with(r.HandSplit))
    for before, after in pairwise(whole.steps):
        if after.event != "HandSplit":
            continue
        hands = {seat.seat: seat.hands for seat in before.seats}, {seat.seat: seat.hands for seat in after.seats}
        old, new = hands[0][after.seat], hands[1][after.seat]
        assert len(new) == len(old) + 1
        assert new[after.hand].cards[0] == old[after.hand].cards[0]
        assert new[after.hand + 1].cards == (old[after.hand].cards[1],)
        assert new[after.hand + 1].stakes[0].kind == "split"


def test_whose_turn_it_is_is_the_hand_that_acts_next() -> None:
    acts = {"HandHit", "HandStood", "HandDoubled", "HandSplit", "HandSurrendered"}
    checked = 0
    for number in range(1, 41):
        steps = record(number).steps
        for before, after in pairwise(steps):
            turn = [(seat.seat, hand.hand) for seat in before.seats for hand in seat.hands if hand.in_turn]
            assert len(turn) <= 1
            if after.event in acts and before.phase == "PLAYERS":
                assert turn == [(after.seat, after.hand)], f"round {number} step {after.number}"
                checked += 1
    assert checked > 50


def test_a_doubled_hand_has_the_turn_until_its_card_lies_there() -> None:
    steps = record(rounds_with(r.HandDoubled)).steps
    doubled = next(step for step in steps if step.event == "HandDoubled")
    marked = [(seat.seat, hand.hand) for seat in doubled.seats for hand in seat.hands if hand.in_turn]
    assert marked == [(doubled.seat, doubled.hand)]
    card = next(step for step in steps[doubled.number :] if step.event == "CardDealt")
    assert (card.seat, card.hand) == (doubled.seat, doubled.hand)
    assert not any(
        hand.in_turn for seat in card.seats if seat.seat == card.seat for hand in seat.hands[: card.hand + 1]
    )


def test_money_and_cards_count_in_the_step_that_follows_from_them() -> None:
    whole = record(4)
    first = next(step for step in whole.steps if step.event == "WagerPlaced")
    held = next(line for line in whole.ledger if line.reason == "stake-held")
    assert held.step <= first.number
    drawn = [line for line in whole.shoe if line.event == "CardDrawn"]
    dealt = {step.card.position: step.number for step in whole.steps if step.event == "CardDealt" and step.card}
    assert all(line.step <= dealt[line.position] for line in drawn)
    assert [line.sequence for line in whole.events if line.stream.startswith("table:")] == [
        s.sequence for s in whole.steps
    ]


def test_a_round_that_broke_rules_is_shown_as_it_was_logged() -> None:
    dealt = at(log(), r.CardDealt, lambda e: not e.face_down)
    odd = history(changed(log(), dealt, seat=6, hand=3), log()[dealt].envelope.round_id)
    assert odd is not None
    assert any(seat.seat == 6 for seat in odd.steps[-1].seats)
    end = at(log(), r.RoundCompleted) + 1
    for index in range(at(log(), r.RoundOpened), end):
        history(without(log()[:end], index), f"{TABLE}#1")


def test_a_round_in_progress_is_shown_as_far_as_it_is() -> None:
    closed = at(log(), r.BettingClosed, skip=3)
    part = history(log()[: closed + 4], log()[closed].envelope.round_id)
    assert part is not None
    assert not part.complete
    assert (part.ended_time_us, part.win_cents) == (0, 0)
    assert history(log()[:closed], f"{TABLE}#77") is None


def test_a_record_goes_into_json_and_back_without_a_float() -> None:
    text = json.dumps(plain(record(6)))
    assert json.loads(text, parse_float=lambda number: pytest.fail(f"a float: {number}"))["round_id"] == f"{TABLE}#6"


def test_every_event_of_a_round_has_words() -> None:
    for fact in log():
        if type(fact.event) in r.VIEWS:
            words = next(
                s.note
                for s in record(int(fact.envelope.round_id.rpartition("#")[2])).steps
                if s.sequence == fact.sequence
            )
            assert words != fact.name


@pytest.mark.parametrize(
    ("cards", "words"),
    [
        ("5c Ad Ah 5s", "12"),
        ("Ac Ad", "soft 12"),
        ("Ac Ad Ah As Tc", "14"),
        ("Ac Ad 9h", "soft 21"),
        ("Ac Ad Ah 6s", "soft 19"),
        ("Ac 4d 7h", "12"),
        ("Ac 2d 4h", "soft 17"),
        ("Ks Qs 2d", "22"),
    ],
)
def test_a01_a03_surveillance_counts_by_itself(cards: str, words: str) -> None:
    assert counting.total_text([Card.parse(card) for card in cards.split()]) == words


def test_30_802_an_ace_and_a_ten_are_a_blackjack_only_as_the_first_two_cards() -> None:
    ace, king, ten = Card.parse("As"), Card.parse("Kd"), Card.parse("Tc")
    assert counting.is_natural([ace, king], from_split=False)
    assert not counting.is_natural([ace, king], from_split=True)
    assert not counting.is_natural([ace, king, ten], from_split=False)
    assert not counting.is_natural([king, ten], from_split=False)


@pytest.mark.parametrize(
    ("cents", "words"),
    [(0, "$0"), (500, "$5"), (129_050, "$1,290.50"), (-7, "-$0.07"), (12_345_678_900, "$123,456,789")],
)
def test_c16_money_is_shown_to_the_cent(cents: int, words: str) -> None:
    assert narration.money(cents) == words


def test_ids_are_taken_apart_without_trust() -> None:
    assert table_of("black-hawk/BJ-07#12") == "black-hawk/BJ-07"
    assert table_of("nothing") == ""
    assert seat_of_hold("black-hawk/BJ-07#12/3/main/1") == 3
    assert seat_of_hold("black-hawk/BJ-07#12") == 0
    assert replace(record(1), number=1).number == 1

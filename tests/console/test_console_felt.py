"""The picture is a function of its record, shows all of it, and lets nothing in that is not drawn by us."""

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from services.console.felt import describe, draw_felt
from services.console.felt_chips import MOST_SHOWN, chips_for, draw_stack
from services.console.felt_hands import fan, outcome_class, total_label
from services.console.felt_seats import HEIGHT, WIDTH, place_of
from services.console.views import CardView, FeltView, HandView, SeatView, StakeView
from services.game.cards import standard_deck
from tests.console.sample_readings import sample_round

SVG = "{http://www.w3.org/2000/svg}"
STEPS = sample_round().steps


def drawn(felt: FeltView) -> ET.Element:
    return ET.fromstring(draw_felt(felt))  # noqa: S314 - our own picture, and that it parses is the point


def cards_in(picture: ET.Element, seat: int, hand: int) -> list[str]:
    found = picture.find(f".//{SVG}g[@class='hand'][@data-seat='{seat}'][@data-hand='{hand}']")
    return (
        []
        if found is None
        else [card.attrib["data-card"] for card in found.iter(f"{SVG}g") if "data-card" in card.attrib]
    )


@pytest.mark.parametrize("step", STEPS, ids=lambda step: f"step{step.index}")
def test_every_step_shows_exactly_the_cards_totals_and_stakes_of_its_record(step) -> None:  # type: ignore[no-untyped-def]  # StepView
    picture = drawn(step.felt)
    expected = {}
    for seat, hands in [(0, step.felt.dealer), *((seat.number, seat.hands) for seat in step.felt.seats)]:
        for hand in hands:
            if hand.cards:
                total = (f"soft {hand.total}" if hand.soft else str(hand.total)) if hand.cards else ""
                cards = [card.text or "face-down" for card in hand.cards]
                expected[seat, hand.number] = (cards, total, str(hand.stake_cents), hand.outcome)
    found = {
        (int(group.attrib["data-seat"]), int(group.attrib["data-hand"])): (
            [card.attrib["data-card"] for card in group.iter(f"{SVG}g") if "data-card" in card.attrib],
            group.attrib["data-total"],
            group.attrib["data-stake-cents"],
            group.attrib.get("data-outcome", ""),
        )
        for group in picture.iter(f"{SVG}g")
        if group.attrib.get("class") == "hand"
    }
    assert found == expected


def test_the_same_record_is_the_same_picture() -> None:
    assert [draw_felt(step.felt) for step in STEPS] == [draw_felt(step.felt) for step in sample_round().steps]


def test_each_of_the_52_cards_shows_its_rank_and_suit() -> None:
    for card in standard_deck():
        hand = HandView(0, (CardView(str(card), 5),), card.value)
        picture = drawn(FeltView("f/t", seats=(SeatView(1, hands=(hand,)),)))
        drawing = picture.find(f".//{SVG}g[@data-card='{card}']")
        assert drawing is not None
        texts = [text.text for text in drawing.iter(f"{SVG}text")]
        assert texts == ["10" if card.rank == "T" else card.rank]
        assert {use.attrib["href"] for use in drawing.iter(f"{SVG}use")} == {f"#suit-{card.suit}"}
        assert drawing.attrib["data-position"] == "5"


def test_a_face_down_card_says_nothing_but_where_it_lies() -> None:
    hand = HandView(0, (CardView("6h", 61), CardView(None, 66)), 6)
    picture = drawn(FeltView("f/t", dealer=(hand,)))
    assert cards_in(picture, 0, 0) == ["6h", "face-down"]
    back = picture.find(f".//{SVG}g[@data-card='face-down']")
    assert back is not None
    assert not list(back.iter(f"{SVG}text"))
    assert [title.text for title in back.iter(f"{SVG}title")] == ["face-down card, shoe position 66"]


@pytest.mark.parametrize("count", range(1, 22))
@pytest.mark.parametrize("room", [80.0, 164.0, 420.0])
def test_a_fan_stays_in_its_room_and_every_corner_can_be_read(count: int, room: float) -> None:
    laid = fan(count, 74, room)
    assert laid.width <= room + 1e-9 or count == 1
    if count > 1:
        assert laid.step >= 0.33 * laid.card_width


@pytest.mark.parametrize("seats", [1, 5, 6, 7])
def test_seats_lie_on_the_table_and_seat_one_is_at_the_right(seats: int) -> None:
    places = [place_of(number, seats) for number in range(1, seats + 1)]
    assert all(60 < x < WIDTH - 60 and 200 < y < HEIGHT - 90 for x, y in places)
    assert [x for x, _ in places] == sorted((x for x, _ in places), reverse=True)


def test_chips_make_up_the_amount_exactly() -> None:
    for cents in (1, 50, 99, 500, 7_550, 123_456, 5_000_000):
        assert sum(chips_for(cents)) == cents
        assert chips_for(cents) == sorted(chips_for(cents), reverse=True)


def test_a_stack_is_bounded_and_no_money_is_no_stack() -> None:
    high = draw_stack(99_999_999, 0, 0)
    assert high.count('stroke-dasharray="7 6"') == MOST_SHOWN
    assert 'data-cents="99999999"' in high
    assert draw_stack(0, 0, 0) == ""


def test_the_words_say_what_the_picture_shows() -> None:
    said = describe(STEPS[-1].felt)
    assert "Seat 1, P-1001: ace of spades, king of diamonds; blackjack; stake $25.00; blackjack +$37.50." in said
    assert "Dealer: 6 of hearts, queen of clubs, 2 of hearts; 18." in said
    hidden = describe(STEPS[14].felt)
    assert "face-down card" in hidden
    assert "queen of clubs" not in hidden


def test_totals_read_as_a_dealer_says_them() -> None:
    assert total_label(HandView(0, total=17, soft=True)) == "Soft 17"
    assert total_label(HandView(0, total=24)) == "Bust 24"
    assert total_label(HandView(0, total=21, blackjack=True)) == "Blackjack"
    assert total_label(HandView(0)) == ""


def test_every_outcome_wears_a_known_badge() -> None:
    assert outcome_class("BUST") == "lose"
    assert outcome_class("even-money") == "win"
    assert outcome_class("natural") == "blackjack"
    assert outcome_class("something new") == "push"


HOSTILE = '<script>alert("x")</script>&\'"]]>'


def test_hostile_words_stay_words() -> None:
    hand = HandView(0, (CardView(HOSTILE, 1),), 5, stakes=(StakeView(HOSTILE, 500),), outcome=HOSTILE, note=HOSTILE)
    dealer = replace(hand, outcome="")
    felt = FeltView(
        HOSTILE, HOSTILE, HOSTILE, HOSTILE, 7, (dealer,), (SeatView(1, HOSTILE, 5, (hand,)),), None, HOSTILE
    )
    assert "<script" not in draw_felt(felt)
    assert not [node for node in drawn(felt).iter() if node.tag.endswith("script")]


def test_split_hands_lie_side_by_side_with_a_stake_each() -> None:
    hands = tuple(
        HandView(number, (CardView("8s", number + 1),), 8, stakes=(StakeView("split", 2_500),)) for number in range(4)
    )
    picture = drawn(FeltView("f/t", seats=(SeatView(3, "P-1", 0, hands),)))
    texts = [text.text for text in picture.iter(f"{SVG}text")]
    assert texts.count("8 · $25") == 4
    assert "$100 · split" in texts

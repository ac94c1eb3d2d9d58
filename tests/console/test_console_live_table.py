"""A table's own view becomes a picture: what lies where, who is asked, and no card that nobody may see."""

from dataclasses import replace
from fractions import Fraction

import pytest

from services.console.felt import draw_felt
from services.console.from_table import live_felt, turn_words
from services.console.rule_words import rules_view
from services.console.views import StakeView
from services.game.cards import Card
from services.game.profiles import profile_names, profile_text
from services.game.round_words import Action, Cause, HandStatus, Outcome, SettlementLine, Stake
from services.table.client import (
    DealerView,
    HandView,
    Limits,
    Question,
    RoundView,
    SeatPhase,
    SeatView,
    TablePhase,
    TableView,
    WaitingFor,
)

KEY = "black-hawk/BJ-07"


def cards(text: str) -> tuple[Card, ...]:
    return tuple(Card.parse(word) for word in text.split())


HAND = HandView(
    seat=3,
    hand=0,
    session="s-3",
    patron="P-1003",
    cards=cards("8s 3d"),
    hidden=0,
    total=11,
    soft=False,
    status=HandStatus.PLAYING,
    wager_cents=2_500,
    stakes=(Stake("main", 1, 2_500),),
)
SECOND = replace(HAND, hand=1, cards=cards("8d Ts"), total=18, stakes=(Stake("split", 1, 2_500),))
INSURED = replace(HAND, seat=1, patron="P-1001", stakes=(Stake("main", 1, 5_000), Stake("insurance", 1, 2_500)))
ROUND = RoundView(
    f"{KEY}#12",
    "shoe-3",
    6,
    "d" * 64,
    4,
    0,
    (Question(3, 0, "s-3", "P-1003", (Action.HIT, Action.STAND)),),
    (INSURED, HAND, SECOND),
    (DealerView(cards("Ah"), 1, 11, soft=True),),
    (),
    complete=False,
    staked_cents=0,
    returned_cents=0,
)
VIEW = TableView(
    KEY,
    431,
    TablePhase.PLAYERS,
    False,  # noqa: FBT003 - not suspended
    "",
    WaitingFor.NOBODY,
    "",
    "colorado",
    1,
    "d" * 64,
    Limits(500, 50_000, 500),
    "d-17",
    shuffle_due=False,
    rounds=12,
    seats=(
        SeatView(1, "s-1", "P-1001", SeatPhase.SEATED, may_wager=False),
        SeatView(3, "s-3", "P-1003", SeatPhase.SEATED, may_wager=False),
        SeatView(6, "s-6", "P-1006", SeatPhase.SEATED, may_wager=False),
    ),
    round=ROUND,
)


def test_hands_lie_at_their_seats_and_the_asked_one_is_marked() -> None:
    felt = live_felt(VIEW, racks={3: 7_500})
    assert [(seat.number, seat.patron, seat.rack_cents, len(seat.hands)) for seat in felt.seats] == [
        (1, "P-1001", None, 1),
        (3, "P-1003", 7_500, 2),
        (6, "P-1006", None, 0),
    ]
    assert [hand.active for hand in felt.seats[1].hands] == [True, False]
    assert felt.turn == "Seat 3 to act"
    assert felt.phase == "players"


def test_a_hidden_card_is_a_back() -> None:
    dealer = live_felt(VIEW, racks={}).dealer[0]
    assert [card.text for card in dealer.cards] == ["Ah", None]
    assert not dealer.blackjack
    assert 'data-card="face-down"' in draw_felt(live_felt(VIEW, racks={}))


def test_insurance_lies_beside_the_hand() -> None:
    seat = live_felt(VIEW, racks={}).seats[0]
    assert seat.hands[0].stakes == (StakeView("main", 5_000),)
    assert seat.beside == (StakeView("insurance", 2_500),)


def test_a_decided_hand_wears_its_outcome_and_what_it_brought() -> None:
    lines = (
        SettlementLine(
            1, 0, "P-1001", "main", 1, Outcome.LOSE, Cause.DEALER_BLACKJACK, 5_000, Fraction(0), 0, Fraction(0)
        ),
        SettlementLine(
            1,
            0,
            "P-1001",
            "insurance",
            1,
            Outcome.WIN,
            Cause.DEALER_BLACKJACK,
            2_500,
            Fraction(7_500),
            7_500,
            Fraction(0),
        ),
    )
    over = replace(VIEW, phase=TablePhase.SETTLING, round=replace(ROUND, questions=(), lines=lines))
    seat = live_felt(over, racks={}).seats[0]
    assert (seat.hands[0].outcome, seat.hands[0].net_cents) == ("lose", -5_000)
    assert seat.beside == (StakeView("insurance", 2_500, "win", 5_000),)
    assert live_felt(over, racks={}).seats[1].hands[0].outcome == ""


def test_an_idle_table_shows_who_sits() -> None:
    felt = live_felt(replace(VIEW, phase=TablePhase.IDLE, round=None), racks={})
    assert [seat.number for seat in felt.seats] == [1, 3, 6]
    assert felt.dealer == ()
    assert felt.round == ""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"suspended": True, "suspension_reason": "a card was exposed"}, "Stopped: a card was exposed"),
        ({"waiting_for": WaitingFor.SHOE}, "Waiting for the shoe service"),
        ({"round": replace(ROUND, questions=())}, ""),
        ({"round": None, "shuffle_due": True}, "Shuffle is due"),
        (
            {
                "phase": TablePhase.INSURANCE,
                "round": replace(
                    ROUND,
                    questions=tuple(Question(seat, 0, "s", "p", (Action.INSURE,)) for seat in (4, 1)),
                ),
            },
            "Insurance: seats 1, 4",
        ),
        ({"round": replace(ROUND, questions=(replace(ROUND.questions[0], hand=1),))}, "Seat 3 hand 2 to act"),
    ],
)
def test_whose_move_it_is_in_words(change: dict[str, object], words: str) -> None:
    assert turn_words(replace(VIEW, **change)) == words  # type: ignore[arg-type]  # a table of changes


@pytest.mark.parametrize("name", profile_names())
def test_a_rule_set_shows_nine_notices_and_every_option(name: str) -> None:
    view = rules_view(profile_text(name))
    assert view is not None
    assert len(view.notices) == 9
    assert {"decks", "soft17", "limits: minimum_cents"} <= {option for option, _ in view.options}
    assert view.lettering.startswith("Blackjack pays ")
    assert len(view.digest) == 64


def test_rules_that_cannot_be_read_are_named_at_least() -> None:
    view = rules_view("no rules at all", "house", 3, "ab")
    assert view is not None
    assert (view.name, view.version, view.digest, view.notices) == ("house", 3, "ab", ())
    assert rules_view("") is None

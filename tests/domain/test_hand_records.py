"""Hand records: 4,000 rounds of five other engines come to the same end here, and a bad record says where it is bad."""

import contextlib
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.game.hand_record import HandRecordRefused, read_record, written
from services.game.hand_record_play import differences, play_record, played_events
from services.game.profiles import profile
from services.game.round_events import CardDealt, HoleRevealed
from tests.support.round_records import PEER_HANDS

HOUSE = profile("colorado")
RECORD: dict[str, Any] = {
    "format": "holecard-hand/1",
    "id": "test-1",
    "rules": {"decks": 2, "insurance": True},
    "cards": ["8c", "6d", "8h", "Ts", "3c", "2h", "9h", "9c", "Tc"],
    "seats": [{"seat": 1, "wager": 1000}],
    "actions": [
        {"seat": 1, "hand": 0, "do": "split"},
        {"seat": 1, "hand": 0, "do": "hit"},
        {"seat": 1, "hand": 0, "do": "stand"},
        {"seat": 1, "hand": 1, "do": "stand"},
    ],
}
RESULT = {
    "dealer": ["6d", "Ts", "9c"],
    "seats": [
        {
            "seat": 1,
            "hands": [
                {"cards": ["8c", "3c", "2h"], "outcome": "win", "stake": 1000, "returned": 2000},
                {"cards": ["8h", "9h"], "outcome": "win", "stake": 1000, "returned": 2000},
            ],
            "insurance": None,
            "net": 2000,
        }
    ],
}


def record(**changes: Any) -> dict[str, Any]:
    whole = {**RECORD, "cards": RECORD["cards"][:-1], **changes}
    return {key: value for key, value in whole.items() if value is not ...}


def play(source: dict[str, Any]) -> dict[str, Any]:
    return play_record(read_record(json.dumps(source), HOUSE))


def test_all_peer_hands_come_to_the_result_that_their_engines_had() -> None:
    played: Counter[str] = Counter()
    wrong: list[str] = []
    with PEER_HANDS.open(encoding="utf-8") as lines:
        for line in lines:
            found = read_record(line, HOUSE)
            assert found.expect is not None
            if differing := differences(found.expect, play_record(found)):
                wrong.append(f"{found.source['id']}: {'; '.join(differing)}")
            played[found.source["engine"].split()[0]] += 1
    assert wrong == []
    assert (played.total(), len(played)) == (4000, 5)


def test_a_record_is_played_and_printed_in_its_own_shape() -> None:
    found = read_record(json.dumps(record()), HOUSE)
    assert play_record(found) == RESULT
    whole = written(found, play_record(found))
    assert list(whole) == [*record(), "expect"]
    assert differences(RESULT, play_record(read_record(json.dumps(whole), HOUSE))) == []


def test_the_hole_card_is_known_from_its_reveal_on_only() -> None:
    events = played_events(read_record(json.dumps(record()), HOUSE))
    hole = [event for event in events if isinstance(event, CardDealt) and event.position == 3]
    assert [event.card for event in hole] == [None]
    assert [str(event.card) for event in events if isinstance(event, HoleRevealed)] == ["Ts"]


def test_insurance_and_what_is_not_said_about_it() -> None:
    shoe = ["Tc", "Ad", "9h", "Ks"]
    insured = play(record(cards=shoe, actions=[{"seat": 1, "hand": 0, "do": "insure"}]))
    assert insured["seats"][0]["insurance"] == {"stake": 500, "returned": 1500}
    assert insured["seats"][0]["net"] == 0
    silent = play(record(cards=shoe, actions=[]))
    assert (silent["seats"][0]["insurance"], silent["seats"][0]["net"]) == (None, -1000)


def test_early_surrender_before_the_check_with_a_peek() -> None:
    rules = {"surrender": "early", "peek": "ace-ten"}
    shoe = ["Tc", "9c", "Kd", "6h", "9h", "As"]
    seats = [{"seat": 1, "wager": 1000}, {"seat": 2, "wager": 1000}]
    result = play(record(rules=rules, cards=shoe, seats=seats, actions=[{"seat": 1, "hand": 0, "do": "surrender"}]))
    assert [seat["net"] for seat in result["seats"]] == [-500, -1000]


def test_original_bets_only_gives_a_late_found_blackjacks_double_back() -> None:
    rules = {"peek": "none", "dealer_blackjack_takes": "original"}
    result = play(
        record(rules=rules, cards=["5c", "Kd", "6h", "As", "9c"], actions=[{"seat": 1, "hand": 0, "do": "double"}])
    )
    assert result["seats"][0]["hands"][0] == {
        "cards": ["5c", "6h", "9c"],
        "outcome": "lose",
        "stake": 2000,
        "returned": 1000,
    }


def test_every_difference_is_named_by_its_path() -> None:
    other = json.loads(json.dumps(RESULT))
    other["seats"][0]["hands"][1]["returned"] = 1000
    other["seats"][0]["net"] = 2000.0
    other["dealer"] = ["6d"]
    other["extra"] = 1
    assert differences(RESULT, other) == [
        "dealer: expected ['6d', 'Ts', '9c'], got ['6d']",
        "seats[0].hands[1].returned: expected 2000, got 1000",
        "seats[0].net: expected 2000, got 2000.0",
        "extra: expected nothing, got 1",
    ]


def wager(amount: Any) -> dict[str, Any]:
    return record(seats=[{"seat": 1, "wager": amount}])


def acts(*steps: tuple[int, int, str]) -> dict[str, Any]:
    return record(actions=[{"seat": seat, "hand": hand, "do": do} for seat, hand, do in steps])


BAD: list[tuple[str, dict[str, Any], str, str]] = [
    ("unknown key", record(colour="red"), "colour", "unknown key"),
    ("unknown rule", record(rules={"deck": 6}), "rules.deck", "unknown key"),
    ("unknown key of a seat", record(seats=[{"seat": 1, "wager": 5, "bet": 5}]), "seats[0].bet", "unknown key"),
    (
        "unknown key of an action",
        record(actions=[{"seat": 1, "hand": 0, "do": "hit", "x": 1}]),
        "actions[0].x",
        "unknown",
    ),
    ("no format", record(format=...), "format", "missing"),
    ("another format", record(format="holecard-hand/2"), "format", "must be"),
    ("no cards", record(cards=...), "cards", "missing"),
    ("cards no list", record(cards="As"), "cards", "must be a list"),
    ("id no text", record(id=7), "id", "must be text"),
    ("unknown card", record(cards=["8c", "1x"]), "cards[1]", "no card"),
    ("card no text", record(cards=[8]), "cards[0]", "must be a card"),
    ("lower-case card", record(cards=["as"]), "cards[0]", "no card"),
    ("card too often", record(cards=["8c", "8c", "8c"]), "cards[2]", "3 times out of 2"),
    ("cards left over", record(cards=RECORD["cards"]), "cards[8]", "left over"),
    ("too few cards", record(cards=RECORD["cards"][:-2]), "cards", "too few"),
    ("no card at all", record(cards=[]), "cards", "too few"),
    ("float wager", wager(1000.0), "seats[0].wager", "whole number"),
    ("negative wager", wager(-1000), "seats[0].wager", "must be 1 to"),
    ("zero wager", wager(0), "seats[0].wager", "must be 1 to"),
    ("huge wager", wager(10**15), "seats[0].wager", "must be 1 to"),
    ("wager as text", wager("1000"), "seats[0].wager", "whole number"),
    ("wager true", record(seats=[{"seat": 1, "wager": True}]), "seats[0].wager", "whole number"),
    ("wager null", wager(None), "seats[0].wager", "whole number"),
    ("no wager", record(seats=[{"seat": 1}]), "seats[0].wager", "missing"),
    ("no seats", record(seats=[]), "seats", "needs a seat"),
    ("seat twice", record(seats=[{"seat": 1, "wager": 5}] * 2), "seats[1].seat", "once each"),
    ("seat 8", record(seats=[{"seat": 8, "wager": 5}]), "seats[0].seat", "must be 1 to 7"),
    (
        "unknown side wager",
        record(seats=[{"seat": 1, "wager": 5, "side": {"luck": 5}}]),
        "seats[0]",
        "WagerKindNotOffered",
    ),
    ("side wager float", record(seats=[{"seat": 1, "wager": 5, "side": {"luck": 0.5}}]), "seats[0].side.luck", "whole"),
    ("unknown act", acts((1, 0, "fold")), "actions[0].do", "must be one of"),
    ("act of another seat", acts((2, 0, "hit")), "actions[0]", "UnknownHand"),
    ("act out of turn", acts((1, 0, "split"), (1, 1, "stand")), "actions[1]", "NotYourTurn"),
    ("split of a non-pair", acts((1, 0, "split"), (1, 0, "split")), "actions[1]", "NotAPair"),
    ("surrender that is not offered", acts((1, 0, "surrender")), "actions[0]", "SurrenderNotOffered"),
    ("insurance without an ace", acts((1, 0, "insure")), "actions[0]", "NoAceUp"),
    ("actions end too soon", acts((1, 0, "split"), (1, 0, "hit")), "actions", "still to act"),
    (
        "act after the end",
        record(actions=[*RECORD["actions"], {"seat": 1, "hand": 1, "do": "hit"}]),
        "actions[4]",
        "RoundOver",
    ),
    ("negative hand", record(actions=[{"seat": 1, "hand": -1, "do": "hit"}]), "actions[0].hand", "must be 0"),
    ("no decks", record(rules={"decks": 0}), "rules.decks", "must be 1"),
    ("decks as float", record(rules={"decks": 2.0}), "rules.decks", "whole number"),
    ("odds below the floor", record(rules={"blackjack_pays": "1:1"}), "rules", "6:5"),
    ("odds as float", record(rules={"blackjack_pays": 1.5}), "rules.blackjack_pays", "odds like"),
    ("odds over nothing", record(rules={"blackjack_pays": "3:0"}), "rules.blackjack_pays", "odds like"),
    ("unknown choice", record(rules={"soft17": "maybe"}), "rules.soft17", "must be one of"),
    ("switch as text", record(rules={"insurance": "yes"}), "rules.insurance", "true or false"),
    ("too many hands", record(rules={"max_hands": 9}), "rules", "max_hands"),
]


@pytest.mark.parametrize(("source", "field", "says"), [bad[1:] for bad in BAD], ids=[bad[0] for bad in BAD])
def test_a_bad_record_is_refused_with_the_field(source: dict[str, Any], field: str, says: str) -> None:
    with pytest.raises(HandRecordRefused) as caught:
        play(source)
    assert caught.value.field == field
    assert says in caught.value.message


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[]", "must be an object"),
        ("null", "must be an object"),
        ('{"format": "holecard-hand/1", "format": "holecard-hand/1"}', "stands twice"),
        ('{"format": NaN}', "NaN"),
        ('{"format": Infinity}', "Infinity"),
        ("[" * 100_000, "not JSON"),
        ("1" * 5_000, "not JSON"),
    ],
)
def test_text_that_is_no_record(text: str, says: str) -> None:
    with pytest.raises(HandRecordRefused, match=says):
        read_record(text, HOUSE)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
PLACES: list[Callable[[Any], dict[str, Any]]] = [
    lambda value: record(rules=value),
    lambda value: record(rules={"decks": value}),
    lambda value: record(rules={"blackjack_pays": value}),
    lambda value: record(cards=value),
    lambda value: record(cards=[value]),
    lambda value: record(seats=value),
    lambda value: record(seats=[value]),
    lambda value: record(seats=[{"seat": value, "wager": 5}]),
    lambda value: record(actions=value),
    lambda value: record(actions=[{"seat": 1, "hand": value, "do": "hit"}]),
    lambda value: record(actions=[{"seat": 1, "hand": 0, "do": value}]),
    lambda value: value,
]


@given(VALUES, st.sampled_from(PLACES))
def test_whatever_stands_in_a_field_is_played_or_refused_never_a_crash(
    value: Any, place: Callable[[Any], dict[str, Any]]
) -> None:
    with contextlib.suppress(HandRecordRefused):
        assert set(play(place(value))) == {"dealer", "seats"}

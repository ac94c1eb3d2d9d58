"""The deal, the play, the dealer and the pickup (30-820 to 30-826)."""

from itertools import pairwise

import pytest

from services.game import round_commands as ask
from services.game import round_rejections as no
from services.game.cards import Card
from services.game.hand import total
from services.game.round import allowed_actions, can, decide, verify
from services.game.round_events import (
    CardDealt,
    CardsPickedUp,
    HandStood,
    HoleChecked,
    HoleRevealed,
    RoundCompleted,
    WagersSettled,
)
from services.game.round_flow import must_draw
from services.game.round_steps import AwaitDecision, CheckHoleCard, DrawCards, RevealHoleCard, RoundComplete
from services.game.round_words import (
    Action,
    DealtCard,
    DecidedBy,
    HoleQuestion,
    Phase,
)
from services.game.rule_options import Soft17
from tests.support.round_game import Game, cards, house, player


def test_30_820_one_card_to_each_seat_from_the_dealers_left_then_the_dealer_twice() -> None:
    game = Game("Tc 9c 6d 3h 2h Ts", {2: 1000, 5: 1000})
    assert game.dealt_to() == [(2, 0), (5, 0), (0, 0), (2, 0), (5, 0), (0, 0)]
    faces = [event.face_down for event in game.of(CardDealt)]
    assert faces == [False] * 5 + [True]


def test_30_820_without_a_hole_card_the_dealers_second_comes_last() -> None:
    game = Game("Tc 6d 9h Ts 5c", {1: 1000}, hole_card="no-hole-card")
    assert game.dealt_to() == [(1, 0), (0, 0), (1, 0)]
    game.stand(1)
    assert game.dealer == "6d Ts 5c"


def test_30_820_cards_may_come_in_several_draws_but_never_more_than_are_due() -> None:
    game = Game("", {1: 1000})
    step = game.step()
    assert isinstance(step, DrawCards)
    dealt = [DealtCard(at, card) for at, card in enumerate(cards("Tc 6d 9h"))]
    game.send(ask.DealCards(tuple(dealt[:1])))
    game.refused(ask.DealCards(()), no.CardsNotDue)
    game.refused(ask.DealCards((*dealt[1:], DealtCard(3, None), DealtCard(4, None))), no.CardsNotDue)
    game.send(ask.DealCards((*dealt[1:], DealtCard(3, None))))
    assert game.round.phase is Phase.PLAYERS
    game.refused(ask.DealCards((DealtCard(4, Card.parse("As")),)), no.CardsNotDue)


def test_30_818_faces_are_as_the_step_says() -> None:
    game = Game("", {1: 1000})
    shown = tuple(DealtCard(at, card) for at, card in enumerate(cards("Tc 6d 9h Ts")))
    game.refused(ask.DealCards(shown), no.CardMustStayHidden)
    game.refused(ask.DealCards((DealtCard(0, None),)), no.CardNotShown)


def test_30_823_no_event_before_the_reveal_holds_the_hole_card() -> None:
    game = Game("Tc Kd 9h 7s", {1: 1000})
    before = str(game.events) + str(game.round)
    assert "7s" not in before
    assert game.round.dealers[0].hole == 3
    game.stand(1)
    assert game.of(HoleRevealed) == [HoleRevealed(3, Card.parse("7s"), 0)]


@pytest.mark.parametrize(
    ("rule", "up", "asked"),
    [
        ("peek-ace-ten", "Ad", HoleQuestion.IS_TEN_VALUE),
        ("peek-ace-ten", "Kd", HoleQuestion.IS_ACE),
        ("peek-ace-ten", "9d", None),
        ("peek-ace", "Ad", HoleQuestion.IS_TEN_VALUE),
        ("peek-ace", "Kd", None),
        ("no-peek", "Ad", None),
        ("no-peek", "Kd", None),
    ],
)
def test_30_823_when_the_hole_card_is_checked(rule: str, up: str, asked: HoleQuestion | None) -> None:
    game = Game(f"Tc {up} 9h 7s", {1: 1000}, hole_card=rule, insurance="off", even_money=False)
    assert [event.question for event in game.of(HoleChecked)] == ([asked] if asked else [])
    assert game.round.phase is Phase.PLAYERS


def test_30_823_a_check_that_is_not_due_and_a_reveal_that_is_not_due() -> None:
    game = Game("Tc 9d 9h 7s", {1: 1000})
    game.refused(ask.RecordHoleCheck(makes_blackjack=False), no.NoHoleCheckDue)
    game.refused(ask.RevealHole(3, Card.parse("7s")), no.NothingToReveal)
    Game().refused(ask.RecordHoleCheck(makes_blackjack=True), no.NoHoleCheckDue)


def test_30_823_a_reveal_of_another_card_or_against_the_check() -> None:
    game = Game("", {1: 1000})
    for event in decide(game.round, ask.DealCards((*map(DealtCard, range(3), cards("Tc Kd 9h")), DealtCard(3, None)))):
        game._record((event,))
    assert game.step() == CheckHoleCard(3, HoleQuestion.IS_ACE)
    game._record(decide(game.round, ask.RecordHoleCheck(makes_blackjack=False)))
    game._record(decide(game.round, ask.Stand(1, 0)))
    assert game.step() == RevealHoleCard(3)
    game.refused(ask.RevealHole(2, Card.parse("7s")), no.NothingToReveal)
    game.refused(ask.RevealHole(3, Card.parse("As")), no.HoleContradictsCheck)


def test_30_821_clockwise_and_each_hand_is_completed_before_the_next() -> None:
    game = Game("Tc 9c 6d 2h 2c Ts 5c", {1: 1000, 2: 1000})
    game.refused(ask.Hit(2, 0), no.NotYourTurn)
    game.hit(1)
    assert game.step() == AwaitDecision(1, 0, frozenset({Action.HIT, Action.STAND}))
    game.stand(1)
    game.refused(ask.Hit(1, 0), no.HandClosed)
    assert game.step() == AwaitDecision(2, 0, frozenset({Action.HIT, Action.STAND, Action.DOUBLE}))


def test_30_824_a_player_cannot_act_on_anothers_hand() -> None:
    game = Game("Tc 9c 6d 2h 2c Ts", {1: 1000, 2: 1000})
    for command in (ask.Hit, ask.Stand, ask.DoubleDown, ask.Split, ask.SurrenderHand):
        game.refused(command(1, 0, player(2)), no.NotYourHand)
    game.send(ask.Stand(1, 0, player(1)))
    assert game.of(HandStood)[0].by is DecidedBy.PLAYER


def test_30_821_acts_before_the_cards_after_the_end_and_on_no_hand() -> None:
    betting = Game()
    betting.refused(ask.Hit(1, 0), no.BettingStillOpen)
    dealing = Game("", {1: 1000})
    dealing.refused(ask.Stand(1, 0), no.CardsDue)
    game = Game("Tc 6d 9h Ts 5c", {1: 1000})
    game.refused(ask.Hit(3, 0), no.UnknownHand)
    game.refused(ask.Hit(1, 1), no.UnknownHand)
    game.stand(1)
    assert game.step() == RoundComplete()
    for command in (ask.Hit(1, 0), ask.Stand(1, 0), ask.DoubleDown(1, 0), ask.Split(1, 0), ask.SurrenderHand(1, 0)):
        game.refused(command, no.RoundOver)
    game.refused(ask.SettleWagers(), no.SettlementNotDue)
    game.refused(ask.PickUpHands(), no.PickupNotDue)
    game.refused(ask.StandByTimeout(1, 0), no.RoundOver)
    game.refused(ask.VoidRound("super-1", "late"), no.RoundOver)


def test_30_826_a_hand_with_21_gets_no_more_cards() -> None:
    game = Game("Tc 9c 6d 5h 2c Ts 6c", {1: 1000, 2: 1000}).hit(1)
    assert game.round.turn == 1
    game.refused(ask.Hit(1, 0), no.HitOn21)


def test_30_825_totals_are_recomputed_from_the_cards() -> None:
    game = Game("5c Ad Ah 5s 2c 5d 9s 3c Tc", {1: 1000}).send(ask.CloseInsurance()).hit(1).hit(1).stand(1)
    assert game.hand(1).total == total(game.hand(1).cards)


@pytest.mark.parametrize(
    ("held", "stands", "hits"),
    [
        ("Ac 6d", False, True),
        ("Ac 2d 4h", False, True),
        ("Ac Ad 5h", False, True),
        ("Tc 6d Ah", False, False),
        ("Ac 4d 7h", True, True),
        ("Tc 6d", True, True),
        ("Tc 7d", False, False),
        ("Ac 7d", False, False),
    ],
)
def test_a05_and_a03_the_dealer_draws_by_the_posted_rule(held: str, *, stands: bool, hits: bool) -> None:
    assert must_draw(total(cards(held)), house(soft17=Soft17.STAND)) is stands
    assert must_draw(total(cards(held)), house(soft17=Soft17.HIT)) is hits


@pytest.mark.parametrize(("rule", "dealer", "net"), [("stand", "Ad 6s", 1000), ("hit", "Ad 6s 5c 8h Ts", 1000)])
def test_a05_the_outcome_follows_the_rule_of_the_round(rule: str, dealer: str, net: int) -> None:
    game = Game("Tc Ad 8h 6s 5c 8h Ts", {1: 1000}, soft17=rule).send(ask.CloseInsurance()).stand(1)
    assert (game.dealer, game.net(1)) == (
        dealer if rule == "stand" else "Ad 6s 5c 8h",
        net if rule == "stand" else -1000,
    )


def test_a01_several_aces_do_not_bust_a_hand() -> None:
    game = Game("5c 6d Ah Ts Ac 5d", {1: 1000}).hit(1).hit(1)
    assert (game.hand(1).total.value, game.round.phase) == (12, Phase.PLAYERS)


def test_a03_dealer_ace_four_seven_is_hard_12_and_draws() -> None:
    game = Game("Tc Ad 8h 4s 7c 9c", {1: 1000}).send(ask.CloseInsurance()).stand(1)
    assert (game.dealer, game.net(1)) == ("Ad 4s 7c 9c", -1000)


@pytest.mark.parametrize("rule", [False, True])
@pytest.mark.parametrize("way", ["bust", "surrender", "natural"])
def test_a07_the_dealer_draws_only_when_some_hand_needs_it_or_the_rule_says_so(way: str, *, rule: bool) -> None:
    shoe = {"bust": "Tc 6d 6h Ts Tc 9c", "surrender": "Tc 6d 6h Ts 9c", "natural": "Tc 6d Ah Ts 9c"}[way]
    game = Game(shoe, {1: 1000}, dealer_draws_when_decided=rule, surrender="late")
    if way == "bust":
        game.hit(1)
    elif way == "surrender":
        game.surrender(1)
    assert game.round.phase is Phase.COMPLETE
    assert game.dealer == ("6d Ts 9c" if rule else "6d Ts")


def test_30_823_a_dealer_without_a_hole_card_takes_none_when_every_hand_is_decided() -> None:
    game = Game("Tc Kd 6h Tc", {1: 1000}, hole_card="no-hole-card").hit(1)
    assert (game.dealer, game.net(1)) == ("Kd", -1000)


def test_30_822_pickup_from_the_dealers_right_the_dealers_last_so_that_each_hand_can_be_rebuilt() -> None:
    game = Game("8c Tc 6d 8h 9h Ts 3c 2h 9c 5h", {1: 1000, 2: 1000}).split(1).stand(1).stand(1, 1).stand(2)
    (picked_up,) = game.of(CardsPickedUp)
    holders = {event.position: (event.seat, event.hand) for event in game.of(CardDealt)}
    runs = [holders[position] for position in picked_up.order]
    assert sorted(picked_up.order) == list(range(game.next_card))
    assert runs[0] == (2, 0)
    assert runs[-1] == (0, 0)
    by_hand = {id(hand): hand.positions for hand in game.round.hands}
    for positions in [*by_hand.values(), game.round.dealers[0].positions]:
        at = [picked_up.order.index(position) for position in positions]
        assert all(right == left + 1 for left, right in pairwise(at))


def test_30_822_a_bust_hand_leaves_the_layout_at_once() -> None:
    game = Game("Tc 9c 6d 6h 9h Ts Tc Tc", {1: 1000, 2: 1000}).hit(1).stand(2)
    assert game.of(CardsPickedUp)[0].order[:3] == game.hand(1).positions


def test_the_round_ends_with_what_was_staked_and_what_came_back() -> None:
    game = Game("Tc 9c 6d 6h 9h Ts Tc Tc", {1: 1000, 2: 1000}).hit(1).stand(2)
    assert game.events[-1] == RoundCompleted(staked_cents=2000, returned_cents=2000)
    assert [event.revision for event in game.of(WagersSettled)] == [1, 2]


def test_a_rule_is_asked_three_ways_with_one_answer() -> None:
    game = Game("8c 6d 8h Ts", {1: 1000})
    for command in (ask.Hit(1, 0), ask.Stand(1, 0), ask.DoubleDown(1, 0), ask.Split(1, 0)):
        verify(game.round, command)
        assert can(game.round, command)
    assert not can(game.round, ask.SurrenderHand(1, 0))
    with pytest.raises(no.SurrenderNotOffered):
        verify(game.round, ask.SurrenderHand(1, 0))
    assert allowed_actions(game.round) == allowed_actions(game.round, 1)
    assert allowed_actions(game.round, 2) == frozenset()

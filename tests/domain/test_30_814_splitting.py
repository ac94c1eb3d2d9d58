"""Splitting pairs (30-814): which pairs, how often, in which order the hands are played, and what aces get."""

import pytest

from services.game import round_commands as ask
from services.game import round_rejections as no
from services.game.round import allowed_actions
from services.game.round_events import HandSplit
from services.game.round_words import Action, Outcome, Phase
from tests.support.round_game import Game


def test_30_814_by_value_king_and_queen_are_a_pair_by_rank_not() -> None:
    assert Action.SPLIT in allowed_actions(Game("Kc 6d Qh Ts", {1: 1000}).round)
    Game("Kc 6d Qh Ts", {1: 1000}, split_by="rank").refused(ask.Split(1, 0), no.NotAPair)
    assert Action.SPLIT in allowed_actions(Game("Kc 6d Kh Ts", {1: 1000}, split_by="rank").round)


def test_30_814_a_non_pair_and_a_pair_after_a_hit() -> None:
    Game("9c 6d 8h Ts", {1: 1000}).refused(ask.Split(1, 0), no.NotAPair)
    Game("4c 6d 4h Ts 2c", {1: 1000}).hit(1).refused(ask.Split(1, 0), no.NotAPair)


def test_30_814_the_second_wager_equals_the_first() -> None:
    game = Game("8c 6d 8h Ts 3c", {1: 1000})
    for amount in (999, 1001, -1000):
        game.refused(ask.Split(1, 0, amount_cents=amount), no.SplitWagerNotEqual)
    game.send(ask.Split(1, 0, amount_cents=1000))
    assert game.of(HandSplit)[0].amount_cents == 1000


def test_30_814_the_first_hand_is_finished_before_the_second_gets_its_card() -> None:
    game = Game("8c 6d 8h Ts 3c 2h 9h Td 7c", {1: 1000}).split(1).hit(1).stand(1)
    assert game.dealt_to()[4:] == [(1, 0), (1, 0), (1, 1)]
    game.stand(1, 1)
    assert [str(card) for card in game.hand(1, 0).cards] == ["8c", "3c", "2h"]
    assert [str(card) for card in game.hand(1, 1).cards] == ["8h", "9h"]


def test_30_814_a_resplit_puts_the_new_hand_right_after_and_moves_the_later_ones() -> None:
    game = Game("8c 6d 8h Ts 8d 3c Tc 2c Tc 9c", {1: 1000}).split(1).split(1)
    assert [[str(card) for card in hand.cards] for hand in game.round.hands] == [["8c", "3c"], ["8d"], ["8h"]]
    assert [(hand.number, hand.stakes[0].kind, hand.stakes[0].ordinal) for hand in game.round.hands] == [
        (0, "main", 1),
        (1, "split", 2),
        (2, "split", 1),
    ]


@pytest.mark.parametrize("most", [2, 3, 4])
def test_30_814_up_to_the_house_number_of_hands(most: int) -> None:
    game = Game("8c 6d 8h Ts 8d 8s 8c 8d", {1: 1000}, max_hands=most)
    for _ in range(most - 1):
        game.split(1)
    assert len(game.round.hands) == most
    game.refused(ask.Split(1, 0), no.SplitLimit)


def test_30_814_another_seats_hands_do_not_count() -> None:
    game = Game("8c 8d 6d 8h 8s Ts 3c 2c 3d", {1: 1000, 2: 1000}, max_hands=2).split(1).stand(1).stand(1, 1)
    game.split(2)
    assert [(hand.seat, hand.number) for hand in game.round.hands] == [(1, 0), (1, 1), (2, 0), (2, 1)]


def test_30_814_split_aces_get_one_card_each_and_stand_by_themselves() -> None:
    game = Game("Ac 6d Ah Ts 5c 9h 2c 5h", {1: 1000}).split(1)
    assert [str(hand.cards[1]) for hand in game.round.hands] == ["5c", "9h"]
    assert game.round.phase is Phase.COMPLETE


def test_b02_after_splitting_aces_with_a_21_the_second_hand_gets_its_card_and_each_is_settled() -> None:
    game = Game("Ac 9d Ah Ts Tc 6h", {1: 1000}).split(1)
    assert [line.outcome for line in game.lines] == [Outcome.WIN, Outcome.LOSE]
    assert [line.returned_cents for line in game.lines] == [2000, 0]
    assert game.net(1) == 0


def test_b02_one_split_hand_busts_and_only_the_other_is_paid() -> None:
    game = Game("8c 6d 8h Ts 7c Tc Tc Th", {1: 1000}).split(1).hit(1).stand(1, 1)
    assert [(line.hand, line.outcome) for line in game.lines] == [(0, Outcome.BUST), (1, Outcome.WIN)]
    assert game.net(1) == 0


def test_30_814_split_ace_and_ten_is_21_paid_one_to_one() -> None:
    game = Game("Ac 9d Ah Ts Tc Kh", {1: 1000}).split(1)
    assert [(line.outcome, line.returned_cents) for line in game.lines] == [(Outcome.WIN, 2000)] * 2


def test_30_814_resplitting_aces_where_the_house_allows_it() -> None:
    game = Game("Ac 6d Ah Ts Ad 5c 6c 7c 9c", {1: 1000}, resplit_aces=True).split(1)
    assert allowed_actions(game.round) == {Action.STAND, Action.SPLIT}
    game.refused(ask.Hit(1, 0), no.HitSplitAces)
    game.split(1)
    assert [len(hand.cards) for hand in game.round.hands] == [2, 2, 2]


def test_30_814_resplitting_aces_where_the_house_does_not() -> None:
    playing = Game("Ac 6d Ah Ts Ad", {1: 1000}, resplit_aces=False, hit_split_aces=True).split(1)
    playing.refused(ask.Split(1, 0), no.ResplitAces)
    standing = Game("Ac Tc 6d Ah 9h Ts Ad 5c", {1: 1000, 2: 1000}, resplit_aces=False).split(1)
    standing.refused(ask.Hit(1, 0), no.HitSplitAces)
    assert standing.round.turn == 2


def test_30_814_hitting_split_aces_where_the_house_allows_it() -> None:
    game = Game("Ac 6d Ah Ts 5c 2h 3c 4c 9h 9s", {1: 1000}, hit_split_aces=True).split(1).hit(1).stand(1)
    assert [str(card) for card in game.hand(1).cards] == ["Ac", "5c", "2h"]


def test_30_814_a_21_after_a_split_stands_by_itself() -> None:
    game = Game("Tc 6d Th Ts Ac", {1: 1000}).split(1)
    assert game.round.turn == 1
    game.refused(ask.Hit(1, 0), no.HitOn21)

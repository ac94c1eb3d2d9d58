"""Wagers: how they are won and lost, when they stand, what may be staked, what is paid (30-807 to 30-811, 30-827)."""

from fractions import Fraction
from typing import Any

import pytest

from services.game import round_commands as ask
from services.game import round_rejections as no
from services.game.rejections import Rejection
from services.game.round import begin, decide, evolve_all, open_round
from services.game.round_events import BettingClosed, WagerPlaced, WagersSettled
from services.game.round_words import Cause, Outcome, Phase, SeatedPlayer, Wager
from services.game.rule_options import Limits, MidShoeEntry, Rounding, Surrender
from services.game.wager_kinds import BY_DEALER_BLACKJACK, MAIN, Moment, PlacedOn, WagerKind
from tests.support.round_game import Game, house, player

POSTED = Limits(minimum_cents=1000, maximum_cents=50_000, increment_cents=500)


def place(*wagers: tuple[int, int], who: str = "", kind: str = MAIN) -> ask.PlaceWagers:
    return ask.PlaceWagers(tuple(Wager(seat, who or player(seat), kind, amount) for seat, amount in wagers))


def test_30_807_player_wins_when_the_dealer_busts_and_he_has_not() -> None:
    game = Game("Tc 6d 3h Ts Tc", {1: 1000}).stand(1)
    assert (game.line(1).outcome, game.line(1).cause, game.line(1).returned_cents) == (
        Outcome.WIN,
        Cause.DEALER_BUST,
        2000,
    )


def test_30_807_player_wins_with_the_higher_total() -> None:
    game = Game("Tc 8d Th Ts", {1: 1000}).stand(1)
    assert (game.line(1).outcome, game.line(1).cause, game.net(1)) == (Outcome.WIN, Cause.HIGHER_TOTAL, 1000)


def test_30_807_player_wins_with_a_blackjack_that_the_dealer_has_not() -> None:
    game = Game("Ac 8d Th Ts", {1: 1000})
    assert (game.line(1).outcome, game.net(1)) == (Outcome.BLACKJACK, 1500)


def test_30_807_bust_loses_at_once_even_if_the_dealer_busts_later() -> None:
    game = Game("Tc 9c 6d 6h 9h Ts Tc Tc", {1: 1000, 2: 1000}).hit(1)
    assert (game.line(1).outcome, game.line(1).cause) == (Outcome.BUST, Cause.PLAYER_BUST)
    assert game.round.phase is Phase.PLAYERS
    game.stand(2)
    assert (game.net(1), game.net(2)) == (-1000, 1000)


@pytest.mark.parametrize(
    ("shoe", "acts", "cause"),
    [
        ("Tc Td Th Ts", 1, Cause.TIE),
        ("Tc Td 7h 7s", 1, Cause.TIE),
        ("Ac Td Th As", 0, Cause.BJ_TIE),
    ],
)
def test_b10_push_returns_the_stake_exactly_once(shoe: str, acts: int, cause: Cause) -> None:
    game = Game(shoe, {1: 1500})
    for _ in range(acts):
        game.stand(1)
    assert (game.line(1).outcome, game.line(1).cause, game.line(1).returned_cents) == (Outcome.PUSH, cause, 1500)
    assert game.net(1) == 0


def test_b10_push_after_split_and_double_returns_every_stake_once() -> None:
    game = Game("8c Td 8h 7s 3c 6c 9h", {1: 1000}).split(1).double(1).stand(1, 1)
    assert [(line.kind, line.outcome, line.returned_cents) for line in game.lines] == [
        ("main", Outcome.PUSH, 1000),
        ("double", Outcome.PUSH, 1000),
        ("split", Outcome.PUSH, 1000),
    ]


def test_b12_dealer_natural_beats_a_three_card_21_and_with_peek_the_player_never_acts() -> None:
    game = Game("7c Ad 7h Ks", {1: 1000}).send(ask.CloseInsurance())
    assert (game.line(1).outcome, game.line(1).cause) == (Outcome.LOSE, Cause.DEALER_BLACKJACK)
    game.refused(ask.Hit(1, 0), no.RoundOver)


def test_b12_dealer_natural_found_last_beats_a_three_card_21() -> None:
    game = Game("7c Kd 7h As 7s", {1: 1000}, hole_card="no-peek").hit(1)
    assert (game.line(1).outcome, game.line(1).cause) == (Outcome.LOSE, Cause.DEALER_BLACKJACK)


def test_30_808_blackjack_is_not_tied_by_the_dealers_21() -> None:
    game = Game("Ac Tc 7d Kh 9c 7s 7h", {1: 1000, 2: 1000}).stand(2)
    assert game.dealer == "7d 7s 7h"
    assert (game.line(1).outcome, game.line(2).outcome) == (Outcome.BLACKJACK, Outcome.LOSE)


def test_30_808_split_ace_and_ten_is_21_and_loses_to_a_natural_found_last() -> None:
    game = Game("Ac Kd Ah As Tc Th", {1: 1000}, hole_card="no-peek", dealer_blackjack_takes="all").split(1)
    assert [line.outcome for line in game.lines] == [Outcome.LOSE, Outcome.LOSE]


def test_30_809_wager_after_the_first_card_is_refused() -> None:
    game = Game("Tc 6d 3h Ts", {1: 1000})
    game.refused(place((2, 1000)), no.BettingClosed)
    game.refused(ask.CloseBetting(), no.BettingClosed)


def test_30_809_same_wager_again_changes_nothing_and_another_amount_is_locked() -> None:
    game = Game().send(place((1, 1000)))
    assert decide(game.round, place((1, 1000))) == ()
    game.refused(place((1, 1500)), no.WagerLocked)
    game.refused(place((1, 500)), no.WagerLocked)
    game.send(place((2, 1000), (1, 1000)))
    assert [event.seat for event in game.of(WagerPlaced)] == [1, 2]


def test_b18_five_identical_wagers_are_one_even_when_the_last_come_after_the_close() -> None:
    game = Game("Tc 6d 3h Ts")
    for _ in range(4):
        game.send(place((1, 1000)))
    game.send(ask.CloseBetting())
    assert decide(game.round, place((1, 1000))) == ()
    assert len(game.of(WagerPlaced)) == 1


def test_30_809_a_command_of_many_wagers_stands_whole_or_not_at_all() -> None:
    game = Game(limits=POSTED)
    game.refused(place((1, 1000), (2, 999)), no.StakeBelowMinimum)
    assert game.round.hands == ()


@pytest.mark.parametrize(
    ("amount", "rejection"),
    [
        (0, no.StakeBelowMinimum),
        (-1000, no.StakeBelowMinimum),
        (500, no.StakeBelowMinimum),
        (50_500, no.StakeAboveMaximum),
        (10**30, no.StakeAboveMaximum),
        (1250, no.StakeNotInIncrement),
        (1000.0, no.StakeNotWhole),
        (5.6e-14, no.StakeNotWhole),
        (float("nan"), no.StakeNotWhole),
        (float("inf"), no.StakeNotWhole),
        ("1000", no.StakeNotWhole),
        (True, no.StakeNotWhole),
        (None, no.StakeNotWhole),
    ],
)
def test_30_809_and_c02_amounts_that_no_table_takes(amount: Any, rejection: type[Rejection]) -> None:
    Game(limits=POSTED).refused(place((1, amount)), rejection)


@pytest.mark.parametrize("amount", [1000, 1500, 50_000])
def test_30_809_amounts_within_the_posted_limits_stand(amount: int) -> None:
    assert Game(limits=POSTED).send(place((1, amount))).round.staked_cents == amount


def test_30_803_a_seat_that_the_table_has_not() -> None:
    for seat in (0, 8, -1, 99):
        Game().refused(place((seat, 1000), who="ann"), no.SeatLimit)


def test_30_807_wager_on_anothers_seat_or_nobodys_player_is_in_the_wrong_area() -> None:
    game = Game(seats=(SeatedPlayer(1, "ann"),))
    game.refused(place((1, 1000), who="bob"), no.WrongArea)
    game.send(place((1, 1000), who="ann"))
    game.refused(place((1, 1000), who="bob"), no.WrongArea)
    game.refused(ask.PlaceWagers((Wager(2, "", MAIN, 1000),)), no.WrongArea)


def test_30_809_late_entry_takes_a_free_seat_while_betting_is_open_and_seats_are_dealt_in_order() -> None:
    game = Game("Tc 9c 6d 3h 2h Ts", seats=(SeatedPlayer(5, "ann"),))
    game.send(place((5, 1000), who="ann"), place((2, 1000), who="late"), ask.CloseBetting())
    assert game.of(BettingClosed)[0].seats == (2, 5)


@pytest.mark.parametrize(
    ("entry", "limit", "amount", "allowed"),
    [
        (MidShoeEntry.OPEN, 0, 5000, True),
        (MidShoeEntry.CLOSED, 0, 1000, False),
        (MidShoeEntry.LIMITED, 2000, 2000, True),
        (MidShoeEntry.LIMITED, 2000, 2500, False),
    ],
)
def test_30_809_mid_shoe_entry(entry: MidShoeEntry, limit: int, amount: int, *, allowed: bool) -> None:
    seats = (SeatedPlayer(1, "regular"), SeatedPlayer(2, "pausing", sat_out=True))
    rules: dict[str, Any] = {"mid_shoe_entry": entry, "mid_shoe_limit_cents": limit, "limits": POSTED}
    game = Game(seats=seats, first_of_shoe=False, **rules)
    for seat, who in ((2, "pausing"), (3, "new")):
        if allowed:
            game.send(place((seat, amount), who=who))
        else:
            game.refused(place((seat, amount), who=who), no.NoMidShoeEntry)
    game.send(place((1, 5000), who="regular"))
    Game(seats=seats, first_of_shoe=True, **rules).send(place((2, 5000), who="pausing"))


def test_30_820_betting_cannot_close_without_a_wager() -> None:
    Game().refused(ask.CloseBetting(), no.NoWagers)


def test_30_827_two_adjacent_hands_at_twice_the_minimum() -> None:
    game = Game(limits=POSTED)
    game.refused(place((1, 1000), (2, 1000), who="ann"), no.MultiSpotMinimum)
    game.refused(place((1, 2000), (3, 2000), who="ann"), no.SpotNotAdjacent)
    game.refused(place((1, 2000), (2, 2000), (3, 2000), who="ann"), no.MultiSpot)
    game.send(place((1, 2000), (2, 2000), who="ann"))
    assert game.round.staked_cents == 4000


def test_30_827_a_second_hand_later_needs_the_first_at_the_higher_minimum_too() -> None:
    game = Game(limits=POSTED).send(place((4, 1000), who="ann"))
    game.refused(place((5, 2000), who="ann"), no.MultiSpotMinimum)


def test_30_827_house_without_adjacency_and_with_three_spots() -> None:
    game = Game(limits=POSTED, spot_adjacent=False, spots_per_player=3)
    game.send(place((1, 2000), (4, 2000), (7, 2000), who="ann"))
    assert len(game.round.hands) == 3


def test_30_827_hands_of_one_player_are_completed_one_after_another() -> None:
    game = Game("Tc 9c 6d 3h 2h Ts 2c 3c Tc", limits=POSTED)
    game.send(place((1, 2000), (2, 2000), who="ann"), ask.CloseBetting())
    game.refused(ask.Hit(2, 0, "ann"), no.NotYourTurn)
    game.send(ask.Hit(1, 0, "ann"), ask.Stand(1, 0, "ann"), ask.Hit(2, 0, "ann"), ask.Stand(2, 0, "ann"))
    assert game.round.phase is Phase.COMPLETE


def test_30_807_unknown_kind_of_wager_and_one_without_its_main() -> None:
    game = Game()
    for kind in ("lucky-ladies", "insurance", "double", ""):
        game.refused(place((1, 100), kind=kind), no.WagerKindNotOffered)


def test_a_declared_side_wager_is_placed_bounded_and_settled_by_its_evaluator() -> None:
    kind = WagerKind(
        "dealer-natural",
        Moment.BETTING,
        PlacedOn.HAND,
        Moment.AFTER_PEEK,
        BY_DEALER_BLACKJACK,
        requires=MAIN,
        most=Fraction(1, 2),
    )
    kinds = (*house().wager_kinds, kind)
    game = Game("Tc Kd Th As", wager_kinds=kinds)
    game.refused(place((1, 100), kind="dealer-natural"), no.WagerNeedsAnother)
    game.send(place((1, 1000)))
    game.refused(place((1, 501), kind="dealer-natural"), no.StakeAboveMaximum)
    game.refused(place((1, 0), kind="dealer-natural"), no.StakeBelowMinimum)
    game.send(place((1, 500), kind="dealer-natural"))
    game.refused(place((1, 400), kind="dealer-natural"), no.WagerLocked)
    game.send(ask.CloseBetting())
    assert (game.line(1, kind="dealer-natural").returned_cents, game.line(1, kind=MAIN).returned_cents) == (1500, 0)


@pytest.mark.parametrize(
    ("odds", "stake", "due"),
    [
        (Fraction(3, 2), 100, Fraction(250)),
        (Fraction(3, 2), 12_900, Fraction(32_250)),
        (Fraction(3, 2), 129, Fraction(645, 2)),
        (Fraction(6, 5), 100, Fraction(220)),
        (Fraction(6, 5), 1, Fraction(11, 5)),
        (Fraction(6, 5), 1250, Fraction(2750)),
        (Fraction(6, 5), 7, Fraction(77, 5)),
        (Fraction(2), 300, Fraction(900)),
        (Fraction(7, 5), 11, Fraction(132, 5)),
    ],
)
def test_b14_blackjack_odds_are_exact_and_what_is_not_paid_stays_visible(
    odds: Fraction, stake: int, due: Fraction
) -> None:
    line = Game("Ac 8d Th Ts", {1: stake}, blackjack_pays=odds).line(1)
    assert line.due == due
    assert line.due == line.returned_cents + line.breakage
    assert 0 <= line.breakage < 1


@pytest.mark.parametrize(
    ("rounding", "returned", "breakage"),
    [(Rounding.EXACT, 1250, 0), (Rounding.DOWN_TO_CHIP, 1200, 50), (Rounding.UP_TO_CHIP, 1300, -50)],
)
def test_b14_half_of_an_odd_wager_by_the_posted_rounding_rule(rounding: Rounding, returned: int, breakage: int) -> None:
    limits = Limits(minimum_cents=100, maximum_cents=100_000, increment_cents=100)
    rules: dict[str, Any] = {"rounding": rounding, "chip_cents": 100, "limits": limits, "surrender": Surrender.LATE}
    line = Game("Tc Td 6h 8s", {1: 2500}, **rules).surrender(1).line(1)
    assert (line.outcome, line.returned_cents, line.breakage) == (Outcome.SURRENDER, returned, Fraction(breakage))
    assert line.due == Fraction(1250)


def test_30_810_blackjack_is_paid_at_once_when_the_up_card_can_make_none() -> None:
    game = Game("Ac 9c 8d Th 2h Ts", {1: 1000, 2: 1000})
    assert game.round.phase is Phase.PLAYERS
    assert (game.line(1).outcome, game.of(WagersSettled)[0].revision) == (Outcome.BLACKJACK, 1)


def test_30_810_blackjack_is_paid_after_the_check_when_the_up_card_could_make_one() -> None:
    game = Game("Ac 9c Kd Th 2h 9s", {1: 1000, 2: 1000})
    assert game.round.phase is Phase.PLAYERS
    assert game.line(1).outcome is Outcome.BLACKJACK


def test_30_810_blackjack_waits_for_the_reveal_where_nobody_peeks() -> None:
    game = Game("Ac 9c Kd Th 2h 9s Kc", {1: 1000, 2: 1000}, hole_card="no-peek")
    assert game.lines == []
    game.hit(2)
    assert game.line(1).outcome is Outcome.BLACKJACK


def test_a09_one_seats_natural_does_not_end_the_others_turn_and_is_paid_once() -> None:
    game = Game("Ac 8c 6d Th 6h Ts 5c 9c", {1: 1000, 2: 1000})
    assert game.hand(2).total.value == 14
    game.hit(2).stand(2)
    assert (game.net(1), len([line for line in game.lines if line.seat == 1])) == (1500, 1)
    assert game.line(2).outcome is Outcome.WIN


def test_30_804_a_round_is_folded_only_under_the_rules_it_was_opened_under() -> None:
    opened = open_round("black-hawk/BJ-07#1", house())
    with pytest.raises(no.RulesMismatch):
        begin(opened, house(decks=8))


def test_30_803_a_round_opens_only_with_seats_that_the_table_has() -> None:
    for seats in ((SeatedPlayer(8, "ann"),), (SeatedPlayer(1, "ann"), SeatedPlayer(1, "bob"))):
        with pytest.raises(no.SeatLimit):
            open_round("black-hawk/BJ-07#1", house(), seats)


def test_evolving_leaves_the_round_before_as_it_was() -> None:
    game = Game()
    before = game.round
    events = decide(before, place((1, 1000), (2, 2000)))
    after = evolve_all(before, events)
    assert before.hands == ()
    assert [hand.wager_cents for hand in after.hands] == [1000, 2000]
    with pytest.raises(AttributeError):
        after.phase = Phase.COMPLETE
    with pytest.raises(AttributeError):
        after.hands[0].settled = True

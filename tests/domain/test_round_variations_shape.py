"""What variations need is in the round without a game's name (DESIGN §5): pay rules as data, both dealer cards shown."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from services.game import round_commands as ask
from services.game.round_events import HoleChecked, HoleRevealed
from services.game.round_rejections import RoundOver
from services.game.round_words import Cause, Outcome, Phase
from services.game.wager_kinds import STANDARD_MAIN_PAYS, MainResult, PayRule
from tests.support.round_game import Game

FIVE_CARD_21 = PayRule(MainResult.WIN, Fraction(3, 2), hand_total=21, least_cards=5, doubled=False)


def test_a_pay_rule_with_conditions_pays_the_hands_that_fit_it_and_no_others() -> None:
    pays = (FIVE_CARD_21, *STANDARD_MAIN_PAYS)
    five = Game("2c 9d 3h Ts 4c 5h 7c", {1: 1000}, main_pays=pays).hit(1).hit(1).hit(1)
    assert (five.hand(1).total.value, five.net(1)) == (21, 1500)
    three = Game("2c 9d 9h Ts Tc", {1: 1000}, main_pays=pays).hit(1)
    assert (three.hand(1).total.value, three.net(1)) == (21, 1000)


def test_ties_may_lose_by_the_pay_rules_alone() -> None:
    pays = tuple(
        replace(rule, net=Fraction(-1)) if rule.result is MainResult.TIE else rule for rule in STANDARD_MAIN_PAYS
    )
    line = Game("Tc Td Th Ts", {1: 1000}, main_pays=pays).stand(1).line(1)
    assert (line.outcome, line.cause, line.returned_cents) == (Outcome.LOSE, Cause.TIE, 0)


def test_with_both_dealer_cards_shown_nothing_is_checked_or_revealed() -> None:
    rules: dict[str, Any] = {"dealer_shows": "both-cards", "insurance": "off", "even_money": False}
    game = Game("Tc Ad 9h 7s", {1: 1000}, **rules)
    assert (game.dealer, game.round.phase) == ("Ad 7s", Phase.PLAYERS)
    game.stand(1)
    assert (game.net(1), game.of(HoleChecked), game.of(HoleRevealed)) == (1000, [], [])
    blackjack = Game("Tc Ad 9h Ks", {1: 1000}, **rules)
    assert (blackjack.round.phase, blackjack.line(1).cause) == (Phase.COMPLETE, Cause.DEALER_BLACKJACK)
    blackjack.refused(ask.Hit(1, 0), RoundOver)

"""Tip bets: a toke that rides on a wager and is decided with its hand (30-803(3)(i), 30-809, 30-810)."""

from fractions import Fraction

import pytest

from services.game import round as game
from services.game import round_commands as rc
from services.game import round_events as re
from services.game.cards import Card
from services.game.round_rejections import (
    StakeAboveMaximum,
    StakeBelowMinimum,
    StakeNotInIncrement,
    WagerKindNotOffered,
    WagerLocked,
    WagerNeedsAnother,
)
from services.game.round_steps import CheckHoleCard, DrawCards, RevealHoleCard, SettleHands
from services.game.round_words import Cause, DealtCard, Outcome, SettlementLine, Wager
from services.game.rules import Face, HoleCard, HouseRules, Limits, Rounding, Surrender
from tests.support.table_desk import rules_with


class Deal:
    """One round played from a list of cards; the lines it settled."""

    def __init__(self, rules: HouseRules, *wagers: Wager) -> None:
        opened = game.open_round("f/T#1", rules)
        self.play = game.RoundPlay(opened, rules)
        self.lines: list[SettlementLine] = []
        self.do(rc.PlaceWagers(wagers))

    def do(self, command: rc.Command) -> None:
        for event in self.play.do(command):
            if isinstance(event, re.WagersSettled):
                self.lines += event.lines

    def cards(self, text: str) -> "Deal":
        """Close betting and lay these cards on whatever asks for one; the hole card is shown when it is asked for."""
        cards = [Card.parse(name) for name in text.split()]
        if self.play.state.phase.value == "betting":
            self.do(rc.CloseBetting())
        position, hole = 0, self.hole
        while True:
            step = self.play.next_step()
            match step:
                case DrawCards(targets) if cards:
                    position += 1
                    card = cards.pop(0)
                    if targets[0].face_down:
                        hole = card
                    self.do(rc.DealCards((DealtCard(self.seen + position, None if targets[0].face_down else card),)))
                case CheckHoleCard():
                    assert hole is not None
                    self.do(rc.RecordHoleCheck(self.play.state.dealers[0].cards[0].value + hole.value == 21))
                case RevealHoleCard(at):
                    assert hole is not None
                    self.do(rc.RevealHole(at, hole))
                case SettleHands():
                    self.do(rc.SettleWagers())
                case _:
                    self.seen += position
                    self.hole = hole or self.hole
                    return self

    seen = 0
    hole: Card | None = None

    def tips(self) -> list[tuple[Outcome, Cause, int, int]]:
        """Outcome, cause, stake and return of every tip line."""
        return [(x.outcome, x.cause, x.stake_cents, x.returned_cents) for x in self.lines if x.kind == "tip"]


def wager(kind: str = "main", cents: int = 1_000, seat: int = 1, player: str = "ann") -> Wager:
    return Wager(seat, player, kind, cents)


PLAIN = rules_with(burn_after_shuffle=0)


@pytest.mark.parametrize(
    ("cards", "stand", "expected"),
    [
        ("Ts 9d 9h 8c", True, (Outcome.WIN, Cause.HIGHER_TOTAL, 500, 1_000)),
        ("Ts 9d 7h 8c", True, (Outcome.PUSH, Cause.TIE, 500, 500)),
        ("Ts 9d 6h 8c", True, (Outcome.LOSE, Cause.HIGHER_TOTAL, 500, 0)),
        ("As 9d Th 8c", False, (Outcome.BLACKJACK, Cause.NATURAL, 500, 1_250)),
        ("Ts Ad 9h Kc", False, (Outcome.LOSE, Cause.DEALER_BLACKJACK, 500, 0)),
        ("As Kd Th Ac", False, (Outcome.PUSH, Cause.BJ_TIE, 500, 500)),
    ],
)
def test_30_810_a_tip_bet_is_paid_as_the_hand_that_it_rides_on(
    cards: str, *, stand: bool, expected: tuple[Outcome, Cause, int, int]
) -> None:
    deal = Deal(rules_with(insurance=PLAIN.insurance.OFF, even_money=False), wager(), wager("tip", 500))
    deal.cards(cards)
    if stand:
        deal.do(rc.Stand(1, 0))
        settle(deal)
    assert deal.tips() == [expected]
    main = next(line for line in deal.lines if line.kind == "main")
    tip = next(line for line in deal.lines if line.kind == "tip")
    assert tip.due == Fraction(main.due, 2)


def settle(deal: Deal) -> None:
    """Let the dealer finish without another card, then settle."""
    while True:
        match deal.play.next_step():
            case RevealHoleCard(at):
                assert deal.hole is not None
                deal.do(rc.RevealHole(at, deal.hole))
            case SettleHands():
                deal.do(rc.SettleWagers())
            case _:
                return


def test_30_807_a_bust_takes_the_tip_bet_at_once() -> None:
    deal = Deal(PLAIN, wager(), wager("tip", 500)).cards("Ts 9d 9h 8c")
    deal.do(rc.Hit(1, 0))
    deal.cards("Kh")
    assert deal.tips() == [(Outcome.BUST, Cause.PLAYER_BUST, 500, 0)]


def test_30_826_a_tip_bet_asks_for_no_dealers_card_that_its_hand_does_not_need() -> None:
    deal = Deal(rules_with(hole_card=HoleCard.NO_HOLE_CARD), wager(), wager("tip", 500)).cards("Ts 9d 9h")
    deal.do(rc.Hit(1, 0))
    deal.cards("Kh")
    assert deal.play.state.phase.value == "pickup"
    assert len(deal.play.state.dealers[0].cards) == 1


def test_30_829_half_of_a_surrendered_tip_bet_goes_back() -> None:
    rules = rules_with(surrender=Surrender.LATE)
    deal = Deal(rules, wager(), wager("tip", 500)).cards("Ts 9d 6h 8c")
    deal.do(rc.SurrenderHand(1, 0))
    assert deal.tips() == [(Outcome.SURRENDER, Cause.SURRENDERED, 500, 250)]


def test_30_814_after_a_split_it_rides_on_the_hand_that_kept_the_first_card() -> None:
    deal = Deal(PLAIN, wager(), wager("tip", 500)).cards("8s 9d 8h 8c")
    deal.do(rc.Split(1, 0))
    deal.cards("Ts")
    deal.do(rc.Stand(1, 0))
    deal.cards("2s")
    deal.do(rc.Stand(1, 1))
    settle(deal)
    assert deal.tips() == [(Outcome.WIN, Cause.HIGHER_TOTAL, 500, 1_000)]
    assert {(x.kind, x.hand, x.outcome) for x in deal.lines} == {
        ("tip", 0, Outcome.WIN),
        ("main", 0, Outcome.WIN),
        ("split", 1, Outcome.LOSE),
    }


def test_30_828_a_voided_hand_gives_its_tip_bet_back() -> None:
    deal = Deal(PLAIN, wager(), wager("tip", 500)).cards("Ts 9d 6h 8c")
    deal.do(rc.VoidHand(1, 0, "P-1", "a card fell"))
    assert deal.tips() == [(Outcome.PUSH, Cause.VOIDED, 500, 500)]


def test_30_803_no_tip_bet_where_none_is_posted() -> None:
    for rules in (rules_with(tip_bets=False), rules_with(tips=False, tip_bets=False)):
        with pytest.raises(WagerKindNotOffered):
            Deal(rules, wager(), wager("tip", 500))


def test_30_809_a_tip_bet_rides_on_a_wager_and_is_at_most_as_much() -> None:
    with pytest.raises(WagerNeedsAnother):
        Deal(PLAIN, wager("tip", 500))
    with pytest.raises(StakeAboveMaximum):
        Deal(PLAIN, wager(), wager("tip", 1_001))
    with pytest.raises(StakeBelowMinimum):
        Deal(PLAIN, wager(), wager("tip", 0))
    deal = Deal(PLAIN, wager(), wager("tip", 500))
    with pytest.raises(WagerLocked):
        deal.do(rc.PlaceWagers((wager("tip", 600),)))


def test_30_810_a_tip_bet_is_laid_in_whole_chips_where_payments_are() -> None:
    rules = rules_with(rounding=Rounding.DOWN_TO_CHIP, chip_cents=250, limits=Limits(500, 100_000, 250))
    with pytest.raises(StakeNotInIncrement):
        Deal(rules, wager(), wager("tip", 300))
    assert Deal(rules, wager(), wager("tip", 250)).play.state.staked_cents == 1_250


def test_30_813_a_tip_bet_waits_for_the_doubled_card_that_lies_face_down() -> None:
    rules = rules_with(double_card_face=Face.DOWN, hole_card=HoleCard.NO_PEEK, insurance=PLAIN.insurance.OFF)
    deal = Deal(rules, wager(), wager("tip", 500)).cards("6s Td 5h 9c")
    deal.do(rc.DoubleDown(1, 0))
    hole, hidden = deal.hole, Card.parse("9s")
    assert hole is not None
    deal.do(rc.DealCards((DealtCard(5, None),)))
    while not isinstance(deal.play.next_step(), SettleHands):
        step = deal.play.next_step()
        assert isinstance(step, RevealHoleCard)
        assert deal.tips() == []
        deal.do(rc.RevealHole(step.position, hidden if step.position == 5 else hole))
    deal.do(rc.SettleWagers())
    assert deal.tips() == [(Outcome.WIN, Cause.HIGHER_TOTAL, 500, 1_000)]


def test_l7_a_tip_bet_stands_in_the_same_settlement_as_its_wager() -> None:
    deal = Deal(rules_with(hole_card=HoleCard.NO_PEEK, insurance=PLAIN.insurance.OFF), wager(), wager("tip", 500))
    deal.cards("Ts Td 9h 8c")
    deal.do(rc.Stand(1, 0))
    settle(deal)
    assert deal.play.state.revision == 1
    assert [line.kind for line in deal.lines] == ["tip", "main"]

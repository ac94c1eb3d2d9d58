"""What holds in every round: random legal play, and illegal commands in between, under random rule sets."""

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from services.game import round_commands as ask
from services.game.cards import standard_deck
from services.game.hand import total
from services.game.house_rules import HouseRules
from services.game.rejections import Rejection
from services.game.round import RoundPlay, begin, can, decide, evolve, evolve_all, next_step, open_round
from services.game.round_events import CardDealt, HandDoubled, HandSplit, InsurancePlaced, WagerPlaced, WagersSettled
from services.game.round_state import DealerHandState, HandState, Round
from services.game.round_steps import (
    AwaitDecision,
    AwaitInsurance,
    AwaitWagers,
    CheckHoleCard,
    DrawCards,
    PickUpCards,
    RevealHoleCard,
    RoundComplete,
    SettleHands,
)
from services.game.round_words import Action, Cause, DealtCard, Phase, Recipient, Wager
from services.game.rule_options import (
    DealerBlackjackTakes,
    DoubleOn,
    Face,
    HoleCard,
    InsuranceRule,
    Limits,
    Rounding,
    Soft17,
    SplitBy,
    Surrender,
)
from tests.support.round_game import house

STEPS_AT_MOST = 400


@st.composite
def rule_sets(draw: st.DrawFn) -> HouseRules:
    surrender = draw(st.sampled_from(Surrender))
    after_split = draw(st.booleans())
    rounding = draw(st.sampled_from(Rounding))
    return house(
        soft17=draw(st.sampled_from(Soft17)),
        insurance=draw(st.sampled_from(InsuranceRule)),
        even_money=draw(st.booleans()),
        double_on=draw(st.sampled_from(DoubleOn)),
        double_for_less=draw(st.booleans()),
        double_after_split=after_split,
        double_after_split_aces=after_split and draw(st.booleans()),
        double_card_face=draw(st.sampled_from(Face)),
        split_by=draw(st.sampled_from(SplitBy)),
        max_hands=draw(st.integers(2, 4)),
        resplit_aces=draw(st.booleans()),
        hit_split_aces=draw(st.booleans()),
        surrender=surrender,
        surrender_after_split=surrender is not Surrender.NONE and draw(st.booleans()),
        hole_card=draw(st.sampled_from(HoleCard)),
        dealer_blackjack_takes=draw(st.sampled_from(DealerBlackjackTakes)),
        dealer_draws_when_decided=draw(st.booleans()),
        rounding=rounding,
        chip_cents=100,
        limits=Limits(minimum_cents=100, maximum_cents=100_000, increment_cents=100)
        if rounding is not Rounding.EXACT
        else Limits(minimum_cents=1, maximum_cents=100_000, increment_cents=1),
    )


# Low in variety on purpose: pairs, aces and tens make the rare branches common.
RANKS = st.sampled_from("AAATTTT88855569742JQ")
SHOES = st.lists(st.builds(lambda rank, suit: rank + suit, RANKS, st.sampled_from("cdhs")), min_size=90, max_size=90)
CARD = {str(card): card for card in standard_deck()}
COMMANDS: dict[Action, Any] = {
    Action.HIT: ask.Hit,
    Action.STAND: ask.Stand,
    Action.DOUBLE: ask.DoubleDown,
    Action.SPLIT: ask.Split,
    Action.SURRENDER: ask.SurrenderHand,
    Action.DECLINE_SURRENDER: ask.DeclineSurrender,
}


class Walk:
    """One random round, played on the immutable round and in memory beside it."""

    def __init__(self, data: st.DataObject, rules: HouseRules, shoe: list[str]) -> None:
        self.data = data
        self.shoe = [CARD[text] for text in shoe]
        self.opened = open_round("black-hawk/BJ-07#1", rules)
        self.round: Round = begin(self.opened, rules)
        self.play = RoundPlay(self.opened, rules)
        self.rules = rules
        self.events: list[Any] = []
        self.next_card = 0

    def command(self) -> ask.Command | None:
        """A legal command for the step that the round names."""
        step = next_step(self.round)
        if isinstance(step, AwaitWagers):
            return self._wagers()
        if isinstance(step, DrawCards):
            return self._cards(step)
        if isinstance(step, AwaitInsurance):
            return self._insurance(step)
        if isinstance(step, CheckHoleCard):
            hole, up_card = self.shoe[step.position], self.round.dealers[0].cards[0]
            return ask.RecordHoleCheck(hole.is_ten if up_card.is_ace else hole.is_ace)
        if isinstance(step, AwaitDecision):
            chosen = self.data.draw(st.sampled_from(sorted(step.allowed)))
            made: ask.Command = COMMANDS[chosen](step.seat, step.hand)
            return made
        if isinstance(step, RevealHoleCard):
            return ask.RevealHole(step.position, self.shoe[step.position])
        if isinstance(step, SettleHands):
            return ask.SettleWagers()
        return ask.PickUpHands() if isinstance(step, PickUpCards) else None

    def _wagers(self) -> ask.Command:
        if self.round.hands:
            return ask.CloseBetting()
        seats = self.data.draw(st.lists(st.integers(1, 7), min_size=1, max_size=4, unique=True))
        step = self.rules.limits.increment_cents
        amounts = st.integers(1, 1000).map(lambda units: max(units * step, self.rules.limits.minimum_cents))
        return ask.PlaceWagers(tuple(Wager(seat, f"player-{seat}", "main", self.data.draw(amounts)) for seat in seats))

    def _cards(self, step: DrawCards) -> ask.Command:
        count = self.data.draw(st.integers(1, len(step.targets)))
        first = self.next_card
        self.next_card += count
        return ask.DealCards(
            tuple(
                DealtCard(first + at, None if target.face_down else self.shoe[first + at])
                for at, target in enumerate(step.targets[:count])
            )
        )

    def _insurance(self, step: AwaitInsurance) -> ask.Command:
        seat = self.data.draw(st.sampled_from(step.seats))
        offers: list[ask.Command] = [
            ask.DeclineInsurance(seat),
            ask.TakeInsurance(seat),
            ask.TakeEvenMoney(seat),
            ask.CloseInsurance(),
        ]
        chosen: ask.Command = self.data.draw(st.sampled_from([offer for offer in offers if can(self.round, offer)]))
        return chosen

    def illegal(self) -> None:
        """Some command out of the blue: refused, it changes nothing; legal, it is left alone too."""
        seat, hand = self.data.draw(st.integers(0, 8)), self.data.draw(st.integers(0, 4))
        amount = self.data.draw(st.sampled_from([0, -5, 1, 10**9]))
        commands: list[ask.Command] = [
            ask.Hit(seat, hand),
            ask.Stand(seat, hand, "stranger"),
            ask.DoubleDown(seat, hand, "", amount),
            ask.Split(seat, hand),
            ask.SurrenderHand(seat, hand),
            ask.DeclineSurrender(seat, hand),
            ask.TakeInsurance(seat, "", amount),
            ask.TakeEvenMoney(seat),
            ask.CloseInsurance(),
            ask.CloseBetting(),
            ask.DealCards((DealtCard(900, self.shoe[0]),)),
            ask.RecordHoleCheck(makes_blackjack=True),
            ask.RevealHole(3, self.shoe[3]),
            ask.SettleWagers(),
            ask.PickUpHands(),
            ask.PlaceWagers((Wager(seat, "stranger", "main", amount),)),
            ask.VoidHand(seat, hand, "", ""),
            ask.StandByTimeout(seat, hand),
        ]
        tried: ask.Command = self.data.draw(st.sampled_from(commands))
        before = self.play.as_round()
        try:
            decide(self.round, tried)
        except Rejection:
            try:
                self.play.do(tried)
            except Rejection:
                assert self.play.as_round() == before
            else:
                raise AssertionError("the round in memory took what decide refused")
        assert self.round == before

    def send(self, command: ask.Command) -> None:
        happened = decide(self.round, command)
        folded = self.round
        for event in happened:
            folded = evolve(folded, event)
        assert evolve_all(self.round, happened) == folded
        assert self.play.do(command) == happened
        assert self.play.as_round() == folded
        self.round = folded
        self.events += happened

    def until_complete(self) -> None:
        for _ in range(STEPS_AT_MOST):
            command = self.command()
            if command is None:
                return
            if self.data.draw(st.integers(0, 9)) == 0:
                self.illegal()
            self.send(command)
        raise AssertionError(f"stuck at {next_step(self.round)}")


def check_money(walk: Walk) -> None:
    """Every stake is settled exactly once, and what comes back is what the lines say."""
    stakes: dict[tuple[int, str, int], int] = {}
    for event in walk.events:
        if isinstance(event, WagerPlaced | InsurancePlaced | HandDoubled | HandSplit):
            key = (event.seat, event.kind, event.ordinal)
            assert key not in stakes
            stakes[key] = event.amount_cents
    settlements = [event for event in walk.events if isinstance(event, WagersSettled)]
    lines = [line for event in settlements for line in event.lines]
    assert [event.revision for event in settlements] == list(range(1, len(settlements) + 1))
    assert sorted((line.seat, line.kind, line.ordinal) for line in lines) == sorted(stakes)
    for line in lines:
        assert line.stake_cents == stakes[line.seat, line.kind, line.ordinal]
        assert line.due == line.returned_cents + line.breakage
        assert line.returned_cents >= 0
    assert walk.round.staked_cents == sum(stakes.values())
    assert walk.round.returned_cents == sum(line.returned_cents for line in lines)


def check_cards(walk: Walk) -> None:
    """Every dealt card lies in one hand, totals are those of the cards, and all are picked up once."""
    state = walk.round
    lying: list[HandState | DealerHandState] = [*state.hands, *state.dealers]
    for hand in lying:
        assert hand.total == total(hand.cards)
        # A card that nobody had to turn over, in a voided round, stays unknown.
        assert len(hand.cards) <= len(hand.positions)
    held = [position for hand in lying for position in hand.positions]
    dealt = [event.position for event in walk.events if isinstance(event, CardDealt)]
    assert sorted(held) == sorted(dealt) == sorted(state.rack) == list(range(walk.next_card))


@settings(max_examples=120, deadline=None)
@given(st.data(), rule_sets(), SHOES)
def test_random_legal_play_always_ends_with_every_stake_settled_once(
    data: st.DataObject, rules: HouseRules, shoe: list[str]
) -> None:
    walk = Walk(data, rules, shoe)
    walk.until_complete()
    assert walk.round.phase is Phase.COMPLETE
    assert next_step(walk.round) == RoundComplete()
    check_money(walk)
    check_cards(walk)
    assert evolve_all(begin(walk.opened, rules), walk.events) == walk.round


@settings(max_examples=60, deadline=None)
@given(st.data(), rule_sets(), SHOES, st.integers(0, 40))
def test_a_round_voided_at_any_moment_gives_every_open_stake_back(
    data: st.DataObject, rules: HouseRules, shoe: list[str], moment: int
) -> None:
    walk = Walk(data, rules, shoe)
    for _ in range(moment):
        command = walk.command()
        if command is None:
            return
        walk.send(command)
    if walk.round.phase in {Phase.PICKUP, Phase.COMPLETE}:
        return
    settled = {
        (line.seat, line.hand) for event in walk.events if isinstance(event, WagersSettled) for line in event.lines
    }
    walk.send(ask.VoidRound("super-7", "power loss"))
    walk.until_complete()
    check_money(walk)
    late = [line for event in walk.events if isinstance(event, WagersSettled) for line in event.lines]
    assert all(line.cause is Cause.VOIDED for line in late if (line.seat, line.hand) not in settled)


@settings(max_examples=80, deadline=None)
@given(st.data(), rule_sets(), SHOES)
def test_hands_voided_one_by_one_never_leave_a_round_stuck(
    data: st.DataObject, rules: HouseRules, shoe: list[str]
) -> None:
    walk = Walk(data, rules, shoe)
    for _ in range(STEPS_AT_MOST):
        open_hands = [hand for hand in walk.round.hands if not hand.settled]
        if open_hands and walk.round.phase is not Phase.BETTING and data.draw(st.integers(0, 5)) == 0:
            hand = data.draw(st.sampled_from(open_hands))
            void = ask.VoidHand(hand.seat, hand.number, "super-7", "misdeal")
            if can(walk.round, void):
                walk.send(void)
        command = walk.command()
        if command is None:
            break
        walk.send(command)
    assert walk.round.phase is Phase.COMPLETE
    check_money(walk)


@settings(max_examples=30, deadline=None)
@given(st.data(), rule_sets(), SHOES)
def test_a_round_reaches_its_reveal_without_ever_being_told_the_hole_card(
    data: st.DataObject, rules: HouseRules, shoe: list[str]
) -> None:
    """All that was sent before the reveal is the same for every hole card that answers the check alike (L12)."""
    walk = Walk(data, replace(rules, double_card_face=Face.UP), shoe)
    sent: list[ask.Command] = []
    while (command := walk.command()) is not None and not isinstance(command, ask.RevealHole):
        walk.send(command)
        sent.append(command)
    again = begin(walk.opened, walk.rules)
    happened: list[Any] = []
    for command in sent:
        events = decide(again, command)
        happened += events
        again = evolve_all(again, events)
    assert happened == walk.events
    hidden = [event for event in walk.events if isinstance(event, CardDealt) and event.face_down]
    assert all(event.card is None and event.to is Recipient.DEALER for event in hidden)

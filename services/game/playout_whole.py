"""The rest of a simulated round by the round's own state and functions, one hand and one card after the other.

Owns the order of the calls for what the fast lane does not keep tables of: split hands, surrender, a dealer's blackjack,
a hole card that is not checked. Owns no rule.
"""

from typing import Final, Protocol

from services.game.cards import Card
from services.game.playout_chart import PlayoutChart
from services.game.round_commands import PickUpHands, SettleWagers
from services.game.round_dealer import apply_hole_revealed, pick_up_hands
from services.game.round_events import (
    CardDealt,
    HandDoubled,
    HandHit,
    HandSplit,
    HandStood,
    HandSurrendered,
    HoleRevealed,
    RoundEvent,
)
from services.game.round_flow import continue_dealer
from services.game.round_legality import hands_of, may_act_on_split_aces
from services.game.round_marks import (
    AT_DEALER,
    AT_SETTLING,
    BUST,
    BY_PLAYER,
    DOUBLE_DOWN,
    HIT,
    PLAYING,
    STAND,
    STOOD,
    SURRENDER,
    SURRENDERED,
    TO_DEALER,
    TO_PLAYER,
)
from services.game.round_players import apply_hand_doubled, apply_hand_split
from services.game.round_settlement import settle_ripe, settle_wagers
from services.game.round_state import HandState, RoundState
from services.game.round_words import Action
from services.game.wager_kinds import DOUBLE, SPLIT

_SETTLE: Final = SettleWagers()
_PICK_UP: Final = PickUpHands()


class CardSource(Protocol):
    """A shoe to draw from."""

    def draw(self, count: int) -> tuple[int, list[Card]]:
        """Draw cards: the shoe position of the first, and all of them in order."""


class WholeWay:
    """The end of one round: `draft` is where it stands, with every card of the first deal out; events are added."""

    def __init__(self, draft: RoundState, chart: PlayoutChart, events: list[RoundEvent], shoe: CardSource) -> None:
        self._draft = draft
        self._chart = chart
        self._up = draft.dealers[0].cards[0].value
        self._events = events
        self._shoe = shoe

    def play(self, *, blackjack: bool) -> None:
        """Play every hand that is still open, in order; with a dealer's blackjack nobody is asked any more."""
        draft = self._draft
        at = 0
        while at < len(draft.hands):
            hand = draft.hands[at]
            if hand.status is PLAYING:
                if blackjack:
                    hand.status = STOOD
                else:
                    self._play(hand)
            at += 1

    def settle_ripe(self) -> None:
        """Settle what the dealer cannot change any more."""
        self._events += settle_ripe(self._draft)

    def end(self, hole: Card) -> None:
        """Turn over the hole card, draw while the round says so, settle and pick up."""
        draft, events = self._draft, self._events
        dealer = draft.dealers[0]
        draft.phase = AT_DEALER
        revealed = HoleRevealed(dealer.positions[1], hole, 0)
        apply_hole_revealed(draft, revealed)
        events.append(revealed)
        if draft.hole_checked is None and self._up >= 10:
            self.settle_ripe()
        while draft.pending:
            position, (card,) = self._shoe.draw(1)
            events.append(CardDealt(position, card, TO_DEALER, 0, 0, 0, face_down=False))
            dealer.positions += (position,)
            dealer.cards += (card,)
            dealer.total = dealer.total.plus(card)
            continue_dealer(draft)
        if draft.phase is AT_SETTLING:
            events += settle_wagers(draft, _SETTLE)
        events += pick_up_hands(draft, _PICK_UP)

    def _play(self, hand: HandState) -> None:
        """Play one hand by the chart until it is closed."""
        seat, number = hand.seat, hand.number
        if len(hand.cards) == 1:
            self._card(hand)
        while hand.status is PLAYING:
            action = self._chart.choose(self._draft, hand, self._up)
            if action is STAND:
                self._events.append(HandStood(seat, number, BY_PLAYER))
                hand.status = STOOD
            elif action is SURRENDER:
                self._events.append(HandSurrendered(seat, number, BY_PLAYER))
                hand.status = SURRENDERED
                self.settle_ripe()
            else:
                if action is HIT:
                    self._events.append(HandHit(seat, number, BY_PLAYER))
                else:
                    self._raise_stake(hand, action)
                self._card(hand)

    def _raise_stake(self, hand: HandState, action: Action) -> None:
        """Double or split, for the whole wager."""
        draft, seat, number, wager = self._draft, hand.seat, hand.number, hand.wager_cents
        if action is DOUBLE_DOWN:
            ordinal = 1 + sum([other.doubled for other in draft.hands if other.seat == seat])
            doubled = HandDoubled(seat, number, DOUBLE, ordinal, wager, BY_PLAYER)
            apply_hand_doubled(draft, doubled)
            self._events.append(doubled)
        else:
            split = HandSplit(seat, number, number + 1, SPLIT, hands_of(draft, seat), wager, BY_PLAYER)
            apply_hand_split(draft, split)
            self._events.append(split)

    def _card(self, hand: HandState) -> None:
        """Give a hand one card; a bust is collected at once, a 21, a double and a split ace's card end it."""
        position, (card,) = self._shoe.draw(1)
        self._events.append(CardDealt(position, card, TO_PLAYER, hand.seat, hand.number, 0, face_down=False))
        hand.positions += (position,)
        hand.cards += (card,)
        hand.total = count = hand.total.plus(card)
        if count.value > 21:
            hand.status = BUST
            self.settle_ripe()
        elif count.value == 21 or hand.doubled or (hand.split_aces and not may_act_on_split_aces(self._draft, hand)):
            hand.status = STOOD

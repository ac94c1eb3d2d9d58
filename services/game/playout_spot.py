"""One player's place in the fast lane: the same wager every round, and so the same events and payments again and again.

Owns what lies there in this round, and what a place keeps from round to round: the events that say only which hand, and
how a hand ended by its total and the dealer's. Works out nothing by itself: each ending is asked of the round once, for
this hand alone, and holds as long as pay depends on nothing but totals and on whether the hand was doubled.
"""

from typing import Final

from services.game.cards import Card
from services.game.playout_chart import Count
from services.game.round_commands import SettleWagers
from services.game.round_events import HandDoubled, HandHit, HandStood, WagersSettled
from services.game.round_marks import BUST, BY_PLAYER, NATURAL, PLAYING, STOOD
from services.game.round_players import apply_hand_doubled
from services.game.round_settlement import settle_ripe, settle_wagers
from services.game.round_state import HandState, RoundState, thaw
from services.game.round_words import Action, SettlementLine
from services.game.wager_kinds import DOUBLE

Ended = tuple[tuple[SettlementLine, ...], int]
"""The lines of one hand's settlement, and what they give back in cents."""
BUST_END: Final = 0
NATURAL_END: Final = 1
"""Where the end of a bust and of a blackjack is kept; of a hand that stood by 32 times the dealer's total plus its own."""
_SETTLE: Final = SettleWagers()


class Spot:
    """A place with its wager: what lies there (`action` is what its two cards ask for), and what is remembered of it."""

    __slots__ = (
        "_first", "_stakes_doubled", "action", "cards", "count", "double", "doubled", "ends", "ends_doubled", "hit",
        "positions", "seat", "stood", "wager_cents",
    )  # fmt: skip

    def __init__(self, hand: HandState, draft: RoundState) -> None:
        self._first = hand
        self.seat = hand.seat
        self.wager_cents = hand.wager_cents
        self.hit = HandHit(hand.seat, hand.number, BY_PLAYER)
        self.stood = HandStood(hand.seat, hand.number, BY_PLAYER)
        self.double = HandDoubled(hand.seat, hand.number, DOUBLE, 1, hand.wager_cents, BY_PLAYER)
        alone = thaw(draft)
        alone.hands = tuple([hand for hand in alone.hands if hand.seat == self.seat])
        apply_hand_doubled(alone, self.double)
        self._stakes_doubled = alone.hands[0].stakes
        self.ends: dict[int, Ended] = {}
        self.ends_doubled: dict[int, Ended] = {}
        self.action: Action | None = None
        self.cards: tuple[Card, ...] = ()
        self.positions: tuple[int, ...] = ()
        self.count: Count
        self.doubled = False

    def as_hand(self, *, acted: bool) -> HandState:
        """What lies there as the round has it, before or after its turn."""
        first = self._first
        status = PLAYING
        if self.action is None:
            status = NATURAL
        elif acted:
            status = BUST if self.count.value > 21 else STOOD
        return HandState(
            first.seat, first.number, first.player, self._stakes_doubled if self.doubled else first.stakes,
            first.wager_cents, self.cards, self.positions, self.count.total, status, doubled=self.doubled,
            settled=status is NATURAL or status is BUST,
        )  # fmt: skip

    def ask_end(self, end: int, draft: RoundState) -> Ended:
        """Ask the round, whose `draft` is given up for it, how this place's hand ends, and keep the answer."""
        hand = self.as_hand(acted=True)
        hand.settled = False
        draft.hands = (hand,)
        lines: tuple[SettlementLine, ...] = ()
        for event in settle_ripe(draft) if end in (BUST_END, NATURAL_END) else settle_wagers(draft, _SETTLE):
            if isinstance(event, WagersSettled):
                lines += event.lines
        ended = lines, sum([line.returned_cents for line in lines])
        (self.ends_doubled if self.doubled else self.ends)[end] = ended
        return ended

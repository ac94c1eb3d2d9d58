"""Whole rounds by basic strategy in one go: the fast lane for simulations and odds.

Owns the order in which a round's events follow each other when nobody has to be asked, and no rule: hands, legality,
splits, dealer, payment and pickup are those of the round itself. Promises the very events that the round gives for the
same cards and choices by its commands, which a test compares. The same wagers are placed every round; insurance is not
taken. Not for play: it sees the hole card from the start, as a simulation may.
"""

from collections.abc import Callable
from typing import Final, Protocol

from services.game.cards import Card, standard_deck
from services.game.hand import Total, total
from services.game.house_rules import HouseRules
from services.game.rejections import Rejection
from services.game.round import RoundPlay, open_round
from services.game.round_commands import CloseBetting, PickUpHands, PlaceWagers, SettleWagers
from services.game.round_dealer import hole_question, pick_up_hands
from services.game.round_events import (
    CardDealt,
    HandDoubled,
    HandHit,
    HandSplit,
    HandStood,
    HandSurrendered,
    HoleChecked,
    HoleRevealed,
    InsuranceClosed,
    RoundEvent,
    RoundOpened,
)
from services.game.round_flow import continue_dealer, half_of, will_peek
from services.game.round_legality import RULES, hands_of, may_act_on_split_aces
from services.game.round_marks import (
    AT_DEALER,
    AT_PLAYERS,
    AT_SETTLING,
    BUST,
    BY_DEALER,
    BY_PLAYER,
    DOUBLE_DOWN,
    HIT,
    NATURAL,
    PLAYING,
    STAND,
    STOOD,
    SURRENDER,
    SURRENDERED,
    TO_DEALER,
    TO_PLAYER,
)
from services.game.round_players import apply_hand_doubled, apply_hand_split
from services.game.round_rejections import GameNotPlayable
from services.game.round_settlement import settle_ripe, settle_wagers
from services.game.round_state import DealerHandState, HandState, RoundState
from services.game.round_words import Action, SeatedPlayer
from services.game.rule_options import DealerShows, Face, HoleCard, InsuranceRule, Surrender
from services.game.strategy import Choices, basic_strategy
from services.game.wager_kinds import DOUBLE, SPLIT

_INSURANCE_CLOSED: Final = InsuranceClosed(BY_DEALER)
_FACE_UP: Final = False
_FACE_DOWN: Final = True
_SETTLE: Final = SettleWagers()
_PICK_UP: Final = PickUpHands()


Add = Callable[[RoundEvent], None]
Plan = tuple[tuple[Action, Callable[[RoundState, HandState], type[Rejection] | None] | None], ...]
_NO_CARDS: Final = total(())
_BY_POINTS: Final = {card.points: card for card in standard_deck()}
_ONE_CARD: Final = [total([_BY_POINTS[one]]) if one else _NO_CARDS for one in range(11)]
_TWO_CARDS: Final = [
    [total([_BY_POINTS[one], _BY_POINTS[two]]) if one and two else _NO_CARDS for two in range(11)] for one in range(11)
]


def _plan(choices: Choices) -> Plan:
    """Give each choice the rule that it could break; standing breaks none."""
    return tuple((action, RULES.get(action)) for action in choices)


class CardSource(Protocol):
    """A shoe to draw from."""

    def draw(self, count: int) -> tuple[int, list[Card]]:
        """Draw cards: the shoe position of the first, and all of them in order."""


class Playout:
    """A table where the same wagers are made every round and everybody plays the chart.

    Raises the round's own `Rejection` for wagers that it would refuse, and `GameNotPlayable` for rules with a step that
    needs asking between the cards: early surrender, no hole card, face-down doubles, an open hole card.
    """

    def __init__(self, rules: HouseRules, seats: tuple[SeatedPlayer, ...], wagers: PlaceWagers) -> None:
        odd = (
            (rules.hole_card, HoleCard.NO_HOLE_CARD),
            (rules.surrender, Surrender.EARLY),
            (rules.surrender, Surrender.EARLY_VS_TEN),
            (rules.double_card_face, Face.DOWN),
            (rules.dealer_shows, DealerShows.BOTH_CARDS),
        )
        if broken := [option.value for option, refused in odd if option is refused]:
            raise GameNotPlayable("this game cannot be played in one go", options=" ".join(broken))
        start = RoundPlay(open_round("", rules, seats), rules)
        self._before_cards = (*start.do(wagers), *start.do(CloseBetting()))
        self._opening = (rules.name, rules.version, rules.digest, seats, True)
        self._spots = [(h.seat, h.player, h.stakes, h.wager_cents) for h in start.state.hands]
        if any(hand.side for hand in start.state.hands):
            raise GameNotPlayable("this game cannot be played in one go", options="side wagers")
        self._staked_cents = start.state.staked_cents
        self._draft = start.state
        self._rules = rules
        # Events that say nothing but which hand, made once: they never change.
        self._stands = [
            [HandStood(seat, hand, BY_PLAYER) for hand in range(rules.max_hands)] for seat in range(rules.max_seats + 1)
        ]
        self._hits = [
            [HandHit(seat, hand, BY_PLAYER) for hand in range(rules.max_hands)] for seat in range(rules.max_seats + 1)
        ]
        chart = basic_strategy(rules)
        self._hard, self._soft = (
            [[_plan(chart.choices(Total(value, soft), 0, up)) for up in range(12)] for value in range(22)]
            for soft in (False, True)
        )
        self._pairs = [[_plan(chart.choices_of_pair(value, up)) for up in range(12)] for value in range(12)]
        self._insures = rules.insurance is not InsuranceRule.OFF and any(
            half_of(rules, hand) for hand in start.state.hands
        )

    def round(self, round_id: str, shoe: CardSource) -> list[RoundEvent]:
        """Play one round and give all its events."""
        draft = self._draft
        events: list[RoundEvent] = [RoundOpened(round_id, *self._opening), *self._before_cards]
        natural, hole, hole_position = self._first_cards(draft, events.append, shoe)
        up_card = draft.dealers[0].cards[0]
        if up_card.is_ace and (self._insures or (natural and self._rules.even_money)):
            events.append(_INSURANCE_CLOSED)
        blackjack = False
        if up_card.value >= 10 and will_peek(draft):
            blackjack = hole.is_ten if up_card.is_ace else hole.is_ace
            draft.hole_checked = blackjack
            events.append(HoleChecked(hole_position, hole_question(draft), blackjack))
        if natural:
            events += settle_ripe(draft)
        at = 0
        while at < len(draft.hands):
            hand = draft.hands[at]
            if hand.status is PLAYING:
                if blackjack:
                    hand.status = STOOD
                else:
                    self._play(draft, hand, events, shoe)
            at += 1
        self._dealer(draft, events, shoe, hole)
        events += pick_up_hands(draft, _PICK_UP)
        return events

    def _first_cards(self, draft: RoundState, add: Add, shoe: CardSource) -> tuple[bool, Card, int]:
        """Deal two cards to everyone; tell whether there is a natural, and the hole card with its position."""
        count = len(self._spots)
        first, cards = shoe.draw(2 * count + 2)
        position = first
        for seat, _, _, _ in self._spots:
            add(CardDealt(position, cards[position - first], TO_PLAYER, seat, 0, 0, _FACE_UP))
            position += 1
        up_card, hole, hole_position = cards[count], cards[-1], first + 2 * count + 1
        add(CardDealt(position, up_card, TO_DEALER, 0, 0, 0, _FACE_UP))
        hands: list[HandState] = []
        natural = False
        for at, (seat, player, stakes, wager) in enumerate(self._spots):
            one, two = cards[at], cards[count + 1 + at]
            position += 1
            add(CardDealt(position, two, TO_PLAYER, seat, 0, 0, _FACE_UP))
            total = _TWO_CARDS[one.points][two.points]
            hand = HandState(seat, 0, player, stakes, wager, (one, two), (first + at, position), total)
            if total.value == 21:
                hand.status = NATURAL
                natural = True
            hands.append(hand)
        add(CardDealt(hole_position, None, TO_DEALER, 0, 0, 0, _FACE_DOWN))
        draft.phase = AT_PLAYERS
        draft.hands = tuple(hands)
        draft.dealers = (
            DealerHandState((up_card,), (first + count, hole_position), _ONE_CARD[up_card.points], hole_position),
        )
        draft.hole_checked = None
        draft.revision = draft.returned_cents = 0
        draft.staked_cents = self._staked_cents
        draft.rack = ()
        return natural, hole, hole_position

    def _play(self, draft: RoundState, hand: HandState, events: list[RoundEvent], shoe: CardSource) -> None:
        """Play one hand by the chart until it is closed."""
        seat, number = hand.seat, hand.number
        up = draft.dealers[0].cards[0].value
        if len(hand.cards) == 1:
            self._card(draft, hand, events, shoe)
        while hand.status is PLAYING:
            action = STAND
            for choice, breaks in self._plan(hand, up):
                if breaks is None or breaks(draft, hand) is None:
                    action = choice
                    break
            if action is STAND:
                events.append(self._stands[seat][number])
                hand.status = STOOD
                return
            if action is HIT:
                events.append(self._hits[seat][number])
            elif action is SURRENDER:
                events.append(HandSurrendered(seat, number, BY_PLAYER))
                hand.status = SURRENDERED
                events += settle_ripe(draft)
                return
            else:
                self._raise_stake(draft, hand, action, events)
            self._card(draft, hand, events, shoe)

    def _plan(self, hand: HandState, up: int) -> Plan:
        """The chart's choices for a hand, from the best down, each with the rule that it could break."""
        cards = hand.cards
        if len(cards) == 2 and cards[0].value == cards[1].value:
            plan = self._pairs[cards[0].value][up]
            if plan:
                return plan
        count = hand.total
        return (self._soft if count.soft else self._hard)[count.value][up]

    def _raise_stake(self, draft: RoundState, hand: HandState, action: Action, events: list[RoundEvent]) -> None:
        """Double or split, for the whole wager."""
        seat, number, wager = hand.seat, hand.number, hand.wager_cents
        if action is DOUBLE_DOWN:
            ordinal = 1 + sum([other.doubled for other in draft.hands if other.seat == seat])
            doubled = HandDoubled(seat, number, DOUBLE, ordinal, wager, BY_PLAYER)
            apply_hand_doubled(draft, doubled)
            events.append(doubled)
        else:
            split = HandSplit(seat, number, number + 1, SPLIT, hands_of(draft, seat), wager, BY_PLAYER)
            apply_hand_split(draft, split)
            events.append(split)

    def _card(self, draft: RoundState, hand: HandState, events: list[RoundEvent], shoe: CardSource) -> None:
        """Give a hand one card; a bust is collected at once, a 21, a double and a split ace's card end it."""
        position, (card,) = shoe.draw(1)
        events.append(CardDealt(position, card, TO_PLAYER, hand.seat, hand.number, 0, _FACE_UP))
        hand.positions += (position,)
        hand.cards += (card,)
        hand.total = count = hand.total.plus(card)
        if count.value > 21:
            hand.status = BUST
            events += settle_ripe(draft)
        elif count.value == 21 or hand.doubled or (hand.split_aces and not may_act_on_split_aces(draft, hand)):
            hand.status = STOOD

    def _dealer(self, draft: RoundState, events: list[RoundEvent], shoe: CardSource, hole: Card) -> None:
        """Turn over the hole card, draw while the round says so, and settle."""
        dealer = draft.dealers[0]
        events.append(HoleRevealed(dealer.positions[1], hole, 0))
        dealer.hole = None
        dealer.cards += (hole,)
        dealer.total = dealer.total.plus(hole)
        draft.phase = AT_DEALER
        continue_dealer(draft)
        if draft.hole_checked is None and dealer.cards[0].value >= 10:
            events += settle_ripe(draft)
        while draft.pending:
            position, (card,) = shoe.draw(1)
            events.append(CardDealt(position, card, TO_DEALER, 0, 0, 0, _FACE_UP))
            dealer.positions += (position,)
            dealer.cards += (card,)
            dealer.total = dealer.total.plus(card)
            continue_dealer(draft)
        if draft.phase is AT_SETTLING:
            events += settle_wagers(draft, _SETTLE)

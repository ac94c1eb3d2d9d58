"""Whole rounds by basic strategy in one go: the fast lane for simulations and odds.

Owns the order in which a round's events follow each other when nobody has to be asked, and no rule: hands, legality,
splits, dealer, payment and pickup are those of the round itself, choices are looked up in `playout_chart`. Promises the
very events that the round gives for the same cards and choices by its commands, which a test compares. The same wagers
are placed every round; insurance is not taken. Not for play: it sees the hole card from the start, as a simulation may.
"""

from itertools import repeat
from typing import Final, Protocol

from services.game.cards import Card
from services.game.house_rules import HouseRules
from services.game.playout_chart import Count, Facing, Opening, PlayoutChart, first_legal
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
from services.game.round_legality import hands_of, may_act_on_split_aces
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
from services.game.round_state import DealerHandState, HandState
from services.game.round_words import Action, SeatedPlayer
from services.game.rule_options import DealerShows, Face, HoleCard, InsuranceRule, Surrender
from services.game.wager_kinds import DOUBLE, SPLIT

_INSURANCE_CLOSED: Final = InsuranceClosed(BY_DEALER)
_SETTLE: Final = SettleWagers()
_PICK_UP: Final = PickUpHands()
_FACE_UP: Final = False


class CardSource(Protocol):
    """A shoe to draw from."""

    def draw(self, count: int) -> tuple[int, list[Card]]:
        """Draw cards: the shoe position of the first, and all of them in order."""


class Spot:
    """One player's place: what is staked there every round, its hand, and the events that say only which hand."""

    __slots__ = ("_player", "_stakes", "_wager_cents", "hand", "hit", "seat", "stood")

    def __init__(self, hand: HandState) -> None:
        self.seat = hand.seat
        self._player, self._stakes, self._wager_cents = hand.player, hand.stakes, hand.wager_cents
        self.hand = hand
        self.hit = HandHit(hand.seat, hand.number, BY_PLAYER)
        self.stood = HandStood(hand.seat, hand.number, BY_PLAYER)

    def give(self, one: Card, two: Card, positions: tuple[int, int], count: Count) -> HandState:
        """Lay two cards there as a new hand: the old object again, unless it was doubled or split."""
        hand = self.hand
        if hand.doubled or hand.from_split:
            hand = self.hand = HandState(self.seat, 0, self._player, self._stakes, self._wager_cents)
        hand.cards = (one, two)
        hand.positions = positions
        hand.total = count.total
        hand.settled = False
        hand.status = NATURAL if count.value == 21 else PLAYING
        return hand


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
        self._draft = draft = start.state
        if any(hand.side for hand in draft.hands):
            raise GameNotPlayable("this game cannot be played in one go", options="side wagers")
        self._rules = rules
        self._chart = PlayoutChart(rules)
        self._staked_cents = draft.staked_cents
        self._insures = rules.insurance is not InsuranceRule.OFF and any(half_of(rules, hand) for hand in draft.hands)
        self._spots = [Spot(hand) for hand in draft.hands]
        self._dealer = DealerHandState()
        draft.dealers = (self._dealer,)
        self._size = len(draft.pending)
        # What the events of the first deal say beside position and card.
        faces = [target.face_down for target in draft.pending]
        recipients = [(target.to, target.seat) for target in draft.pending]
        self._deal = ([to for to, _ in recipients], [seat for _, seat in recipients], repeat(0), repeat(0), faces)

    def round(self, round_id: str, shoe: CardSource) -> list[RoundEvent]:
        """Play one round and give all its events."""
        draft, size = self._draft, self._size
        first, cards = shoe.draw(size)
        up_card, hole, hole_position = cards[len(self._spots)], cards[-1], first + size - 1
        shown: list[Card | None] = [*cards[:-1], None]
        events: list[RoundEvent] = [RoundOpened(round_id, *self._opening), *self._before_cards]
        events += map(CardDealt, range(first, first + size), shown, *self._deal)
        facing = self._chart.facing[up_card]
        openings, natural = self._lay_out(first, cards, facing)
        if up_card.is_ace and (self._insures or (natural and self._rules.even_money)):
            events.append(_INSURANCE_CLOSED)
        blackjack = False
        if up_card.value >= 10 and will_peek(draft):
            blackjack = hole.is_ten if up_card.is_ace else hole.is_ace
            draft.hole_checked = blackjack
            events.append(HoleChecked(hole_position, hole_question(draft), blackjack))
        if natural:
            events += settle_ripe(draft)
        up = up_card.value
        for spot, (count, action) in zip(self._spots, openings, strict=True):
            hand = spot.hand
            if hand.status is NATURAL:
                continue
            if blackjack:
                hand.status = STOOD
            elif action is STAND:
                events.append(spot.stood)
                hand.status = STOOD
            elif action is HIT:
                self._draw(spot, count, up, events, shoe)
            else:
                self._act(hand, action, up, events, shoe)
        self._end(facing, hole, events, shoe)
        return events

    def _lay_out(self, first: int, cards: list[Card], facing: Facing) -> tuple[list[Opening], bool]:
        """Give everyone his two cards; the choices that follow, and whether there is a natural."""
        draft, dealer, openings = self._draft, self._dealer, facing.openings
        count = len(self._spots)
        hands: list[HandState] = []
        chosen: list[Opening] = []
        natural = False
        position, second = first, first + count + 1
        for spot, one, two in zip(self._spots, cards, cards[count + 1 :], strict=False):
            opening = openings[one][two]
            hand = spot.give(one, two, (position, second), opening[0])
            if hand.status is NATURAL:
                natural = True
            hands.append(hand)
            chosen.append(opening)
            position += 1
            second += 1
        dealer.cards = (cards[count],)
        dealer.positions = (position, second)
        dealer.total = facing.count.total
        dealer.hole = second
        draft.phase = AT_PLAYERS
        draft.hands = tuple(hands)
        draft.hole_checked = None
        draft.revision = draft.returned_cents = 0
        draft.staked_cents = self._staked_cents
        draft.rack = ()
        return chosen, natural

    def _draw(self, spot: Spot, count: Count, up: int, events: list[RoundEvent], shoe: CardSource) -> None:
        """Hit a hand that was not split until the chart stands, or it has 21 or more."""
        hand, seat = spot.hand, spot.seat
        cards, positions = hand.cards, hand.positions
        hits = True
        while hits:
            position, (card,) = shoe.draw(1)
            events += (spot.hit, CardDealt(position, card, TO_PLAYER, seat, 0, 0, _FACE_UP))
            cards += (card,)
            positions += (position,)
            count = count.after[card.points]
            hits = count.hits[up]
        hand.cards, hand.positions, hand.total = cards, positions, count.total
        if count.value > 21:
            hand.status = BUST
            events += settle_ripe(self._draft)
        else:
            hand.status = STOOD
            if count.value < 21:
                events.append(spot.stood)

    def _act(self, hand: HandState, action: Action, up: int, events: list[RoundEvent], shoe: CardSource) -> None:
        """Surrender, double or split; after a split, play every hand that came of it."""
        draft, seat, number, wager = self._draft, hand.seat, hand.number, hand.wager_cents
        if action is SURRENDER:
            events.append(HandSurrendered(seat, number, BY_PLAYER))
            hand.status = SURRENDERED
            events += settle_ripe(draft)
        elif action is DOUBLE_DOWN:
            ordinal = 1 + sum([other.doubled for other in draft.hands if other.seat == seat])
            doubled = HandDoubled(seat, number, DOUBLE, ordinal, wager, BY_PLAYER)
            apply_hand_doubled(draft, doubled)
            events.append(doubled)
            self._card(hand, events, shoe)
        else:
            first = not hand.from_split
            split = HandSplit(seat, number, number + 1, SPLIT, hands_of(draft, seat), wager, BY_PLAYER)
            apply_hand_split(draft, split)
            events.append(split)
            self._card(hand, events, shoe)
            at = draft.hands.index(hand)
            while first and at < len(draft.hands) and draft.hands[at].seat == seat:
                self._play_split(draft.hands[at], up, events, shoe)
                at += 1

    def _play_split(self, hand: HandState, up: int, events: list[RoundEvent], shoe: CardSource) -> None:
        """Play one hand of a split pair until it is closed."""
        draft, seat, number = self._draft, hand.seat, hand.number
        if len(hand.cards) == 1:
            self._card(hand, events, shoe)
        while hand.status is PLAYING:
            action = first_legal(draft, hand, self._chart.choices(hand, up))
            if action is STAND:
                events.append(HandStood(seat, number, BY_PLAYER))
                hand.status = STOOD
            elif action is HIT:
                events.append(HandHit(seat, number, BY_PLAYER))
                self._card(hand, events, shoe)
            else:
                self._act(hand, action, up, events, shoe)

    def _card(self, hand: HandState, events: list[RoundEvent], shoe: CardSource) -> None:
        """Give a hand one card; a bust is collected at once, a 21, a double and a split ace's card end it."""
        draft = self._draft
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

    def _end(self, facing: Facing, hole: Card, events: list[RoundEvent], shoe: CardSource) -> None:
        """Turn over the hole card, draw while the round says so, settle and pick up."""
        draft, dealer = self._draft, self._dealer
        events.append(HoleRevealed(dealer.positions[1], hole, 0))
        dealer.hole = None
        dealer.cards += (hole,)
        count = facing.count.after[hole.points]
        dealer.total = count.total
        draft.phase = AT_DEALER
        continue_dealer(draft)
        if draft.hole_checked is None and dealer.cards[0].value >= 10:
            events += settle_ripe(draft)
        if draft.pending:
            # Some hand needs the dealer's total, and goes on needing it: only the total can end the drawing now.
            while count.draws:
                position, (card,) = shoe.draw(1)
                events.append(CardDealt(position, card, TO_DEALER, 0, 0, 0, _FACE_UP))
                dealer.positions += (position,)
                dealer.cards += (card,)
                count = count.after[card.points]
            dealer.total = count.total
            continue_dealer(draft)
        if draft.phase is AT_SETTLING:
            events += settle_wagers(draft, _SETTLE)
        events += pick_up_hands(draft, _PICK_UP)

"""Whole rounds by basic strategy in one go: the fast lane for simulations and odds.

Owns the order in which a round's events follow each other when nobody has to be asked, and no rule: what everybody does
is looked up in `playout_chart`, how a hand ends was asked of the round before and is kept by its `playout_spot`, and what
neither knows goes the round's own way in `playout_whole`. Promises the very events that the round gives for the same
cards and choices by its commands, which a test compares. The same wagers are placed every round; insurance is not
taken. Not for play: it sees the hole card from the start, as a simulation may.
"""

from typing import Final

from services.game.cards import Card
from services.game.house_rules import HouseRules
from services.game.playout_chart import Count, Facing, PlayoutChart
from services.game.playout_spot import BUST_END, NATURAL_END, Spot
from services.game.playout_whole import CardSource, WholeWay
from services.game.round import RoundPlay, open_round
from services.game.round_commands import CloseBetting, PlaceWagers
from services.game.round_dealer import pickup_order
from services.game.round_events import (
    CardDealt,
    CardsPickedUp,
    HoleChecked,
    HoleRevealed,
    InsuranceClosed,
    RoundCompleted,
    RoundEvent,
    RoundOpened,
    WagersSettled,
)
from services.game.round_flow import half_of
from services.game.round_marks import (
    AT_PLAYERS,
    AT_SETTLING,
    BY_DEALER,
    DOUBLE_DOWN,
    HIT,
    STAND,
    TO_DEALER,
    TO_PLAYER,
)
from services.game.round_rejections import GameNotPlayable
from services.game.round_state import DealerHandState, RoundState, thaw
from services.game.round_words import SeatedPlayer, SettlementLine
from services.game.rule_options import DealerShows, Face, HoleCard, InsuranceRule, Surrender

__all__ = ["CardSource", "Playout"]

_INSURANCE_CLOSED: Final = InsuranceClosed(BY_DEALER)
_FACE_UP: Final = False
_BLACKJACK: Final = 32 * 32
"""Stands for 32 times the dealer's total where he has a blackjack, which beats every other 21."""


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
        self._start = start.state
        hands = start.state.hands
        if any(hand.side for hand in hands):
            raise GameNotPlayable("this game cannot be played in one go", options="side wagers")
        self._rules = rules
        self._insures = rules.insurance is not InsuranceRule.OFF and any(half_of(rules, hand) for hand in hands)
        # Pay that asks for more than totals is worked out anew each time.
        self._remembers = all(rule.is_plain for rule in rules.main_pays)
        self._always_draws = rules.dealer_draws_when_decided
        self._chart = PlayoutChart(rules)
        self._facing = self._chart.facing
        self._spots = [Spot(hand, start.state) for hand in hands]
        self._places = [(spot, at, at + len(hands) + 1) for at, spot in enumerate(self._spots)]
        targets = start.state.pending
        self._size = len(targets)
        self._deal = [(at, target.to, target.seat, target.face_down) for at, target in enumerate(targets)]
        # The round that is being played: its first position and cards, and its sums.
        self._first = 0
        self._cards: list[Card] = []
        self._checked: bool | None = None
        self._rack: tuple[int, ...] = ()
        self._revision = self._staked_cents = self._returned_cents = 0
        self._changed = True

    def round(self, round_id: str, shoe: CardSource) -> list[RoundEvent]:
        """Play one round and give all its events."""
        size, spots = self._size, self._spots
        self._first, self._cards = first, cards = shoe.draw(size)
        if self._changed:
            self._begin_anew()
        facing = self._facing[cards[len(spots)]]
        events: list[RoundEvent] = [RoundOpened(round_id, *self._opening), *self._before_cards]
        for at, to, seat, face_down in self._deal:
            events.append(CardDealt(first + at, None if face_down else cards[at], to, seat, 0, 0, face_down))
        openings = facing.openings
        naturals: list[Spot] = []
        for spot, at, later in self._places:
            one, two = spot.cards = cards[at], cards[later]
            spot.positions = first + at, first + later
            spot.count, spot.action = openings[one.points][two.points]
            if spot.action is None:
                naturals.append(spot)
        unclear = facing.up >= 10 and self._ask_of_dealer(facing, naturals, events)
        if unclear or not self._remembers:
            return self._whole(0, events, shoe)
        if self._checked:
            self._end(facing.count, spots, events, shoe)
            return events
        if naturals:
            self._collect(naturals, NATURAL_END, events)
        return self._turns(facing, events, shoe)

    def _turns(self, facing: Facing, events: list[RoundEvent], shoe: CardSource) -> list[RoundEvent]:
        """Let every place act, then end the round."""
        up = facing.up
        waiting: list[Spot] = []
        for spot in self._spots:
            action = spot.action
            if action is STAND:
                events.append(spot.stood)
                waiting.append(spot)
            elif action is HIT:
                self._hit(spot, up, waiting, events, shoe)
            elif action is DOUBLE_DOWN:
                self._double(spot, waiting, events, shoe)
            elif action is not None:
                return self._whole(self._spots.index(spot), events, shoe)
        self._end(facing.count, waiting, events, shoe)
        return events

    def _begin_anew(self) -> None:
        """Forget what the last round changed beside cards and choices."""
        self._changed = False
        self._checked = None
        self._rack = ()
        self._revision = self._returned_cents = 0
        self._staked_cents = self._start.staked_cents
        for spot in self._spots:
            spot.doubled = False

    def _ask_of_dealer(self, facing: Facing, naturals: list[Spot], events: list[RoundEvent]) -> bool:
        """With an ace or a ten up: insurance passes, and the hole card is checked where the house does that.

        Tells whether it stays open whether the dealer has a blackjack.
        """
        hole = self._cards[-1]
        is_ace = facing.up == 11
        if is_ace and (self._insures or (naturals and self._rules.even_money)):
            events.append(_INSURANCE_CLOSED)
        if not facing.peeks:
            return True
        self._changed = True
        self._checked = checked = hole.is_ten if is_ace else hole.is_ace
        events.append(HoleChecked(self._first + self._size - 1, facing.question, checked))
        return False

    def _hit(self, spot: Spot, up: int, waiting: list[Spot], events: list[RoundEvent], shoe: CardSource) -> None:
        """Hit until the chart stands, or the hand has 21 or more."""
        count, cards, positions, seat, hit = spot.count, spot.cards, spot.positions, spot.seat, spot.hit
        hits = True
        while hits:
            position, (card,) = shoe.draw(1)
            events += (hit, CardDealt(position, card, TO_PLAYER, seat, 0, 0, _FACE_UP))
            cards += (card,)
            positions += (position,)
            count = count.after[card.points]
            hits = count.hits[up]
        spot.count, spot.cards, spot.positions = count, cards, positions
        if count.value > 21:
            self._collect([spot], BUST_END, events)
            return
        if count.value < 21:
            events.append(spot.stood)
        waiting.append(spot)

    def _double(self, spot: Spot, waiting: list[Spot], events: list[RoundEvent], shoe: CardSource) -> None:
        """Double for the whole wager and give one card."""
        position, (card,) = shoe.draw(1)
        events += (spot.double, CardDealt(position, card, TO_PLAYER, spot.seat, 0, 0, _FACE_UP))
        self._changed = spot.doubled = True
        spot.cards += (card,)
        spot.positions += (position,)
        spot.count = spot.count.after[card.points]
        self._staked_cents += spot.wager_cents
        if spot.count.value > 21:
            self._collect([spot], BUST_END, events)
        else:
            waiting.append(spot)

    def _collect(self, spots: list[Spot], end: int, events: list[RoundEvent]) -> None:
        """Settle hands that the dealer's cards cannot change any more; they leave the layout at once."""
        lines: tuple[SettlementLine, ...] = ()
        for spot in spots:
            ended = (spot.ends_doubled if spot.doubled else spot.ends).get(end) or spot.ask_end(end, self._state(0))
            lines += ended[0]
            self._returned_cents += ended[1]
            self._rack += spot.positions
        self._changed = True
        self._revision += 1
        events.append(WagersSettled(self._revision, lines))

    def _end(self, count: Count, waiting: list[Spot], events: list[RoundEvent], shoe: CardSource) -> None:
        """Turn over the hole card, draw by the dealer's rule while some hand waits, settle and pick up."""
        hole, hole_position = self._cards[-1], self._first + self._size - 1
        events.append(HoleRevealed(hole_position, hole, 0))
        positions: tuple[int, ...] = (self._first + len(self._spots), hole_position)
        count = count.after[hole.points]
        if waiting or self._always_draws:
            while count.draws:
                position, (card,) = shoe.draw(1)
                events.append(CardDealt(position, card, TO_DEALER, 0, 0, 0, _FACE_UP))
                positions += (position,)
                count = count.after[card.points]
        returned = self._returned_cents
        if waiting:
            lines: tuple[SettlementLine, ...] = ()
            dealer = _BLACKJACK if self._checked else 32 * count.value
            for spot in waiting:
                end = dealer + spot.count.value
                ended = (spot.ends_doubled if spot.doubled else spot.ends).get(end)
                if ended is None:
                    ended = spot.ask_end(end, self._settling(positions, count, events))
                lines += ended[0]
                returned += ended[1]
            events.append(WagersSettled(self._revision + 1, lines))
        picked_up = CardsPickedUp(pickup_order(self._rack, self._spots, positions))
        events += (picked_up, RoundCompleted(self._staked_cents, returned))

    def _settling(self, positions: tuple[int, ...], count: Count, events: list[RoundEvent]) -> RoundState:
        """The round as it stands when the dealer has drawn."""
        state = self._state(0)
        drawn = [event.card for event in events if isinstance(event, CardDealt) and event.position in positions[2:]]
        cards = (*state.dealers[0].cards, self._cards[-1], *[card for card in drawn if card is not None])
        state.dealers = (DealerHandState(cards, positions, count.total),)
        state.phase = AT_SETTLING
        return state

    def _state(self, acted: int) -> RoundState:
        """The round as it stands with the turn of the place at that index, for whoever has no table to look into."""
        first, cards, players = self._first, self._cards, len(self._spots)
        state = thaw(self._start)
        state.phase = AT_PLAYERS
        state.pending = ()
        state.hands = tuple([spot.as_hand(acted=at < acted) for at, spot in enumerate(self._spots)])
        hole = first + self._size - 1
        up_card = cards[players]
        count = self._chart.facing[up_card].count
        state.dealers = (DealerHandState((up_card,), (first + players, hole), count.total, hole=hole),)
        state.hole_checked = self._checked
        state.rack, state.revision = self._rack, self._revision
        state.staked_cents, state.returned_cents = self._staked_cents, self._returned_cents
        return state

    def _whole(self, acted: int, events: list[RoundEvent], shoe: CardSource) -> list[RoundEvent]:
        """Go on the round's own way from the turn of the place at that index."""
        state = self._state(acted)
        rest = WholeWay(state, self._chart, events, shoe)
        if not self._revision:
            # Blackjacks were not settled yet, if there are any.
            for hand in state.hands:
                hand.settled = False
            rest.settle_ripe()
        rest.play(blackjack=bool(self._checked))
        rest.end(self._cards[-1])
        return events

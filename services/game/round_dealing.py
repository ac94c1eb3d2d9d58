"""Cards on the layout: each drawn card goes where the next step said (30-818, 30-820).

Owns laying cards and what a card does to the hand that gets it. A card that lies face down has no value here.
"""

from services.game.quick import quick
from services.game.round_commands import DealCards
from services.game.round_events import CardDealt, RoundEvent
from services.game.round_flow import after_first_cards, continue_dealer, seek_turn
from services.game.round_legality import may_act_on_split_aces
from services.game.round_rejections import CardMustStayHidden, CardNotShown, CardsNotDue
from services.game.round_settlement import settle_ripe
from services.game.round_state import HandState, RoundState, hand_at
from services.game.round_words import DealtCard, HandStatus, Phase, Recipient, Target

_dealt = quick(CardDealt)


def deal_cards(draft: RoundState, command: DealCards) -> tuple[RoundEvent, ...]:
    """Lay the cards on the due targets, in order; settle at once what they decide."""
    targets = draft.pending
    cards = command.cards
    if not cards or len(cards) > len(targets):
        raise CardsNotDue(f"{len(targets)} cards are due, {len(cards)} came", due=len(targets), came=len(cards))
    for card, target in zip(cards, targets, strict=False):
        if (card.card is None) is not target.face_down:
            _refuse_face(card, target)
    events: list[RoundEvent] = []
    ripe = False
    for card, target in zip(cards, targets, strict=False):
        event = _dealt(
            card.position, card.card, target.to, target.seat, target.hand, target.dealer_hand, target.face_down
        )
        ripe = _lay(draft, event)
        events.append(event)
    if ripe:
        events += settle_ripe(draft)
    return tuple(events)


def apply_card_dealt(draft: RoundState, event: CardDealt) -> None:
    """Fold: the card lies where it was dealt, and the round goes on from there."""
    _lay(draft, event)


def _refuse_face(card: DealtCard, target: Target) -> None:
    facts: dict[str, int | str] = {"position": card.position, "to": target.to.value}
    if target.face_down:
        raise CardMustStayHidden(f"the card at position {card.position} is to lie face down", **facts)
    raise CardNotShown(f"the card at position {card.position} is to lie face up", **facts)


def _lay(draft: RoundState, event: CardDealt) -> bool:
    """Lay one card; tell whether some stake may be decided by it."""
    draft.pending = draft.pending[1:]
    if event.to is Recipient.DEALER:
        if _lay_on_dealer(draft, event):
            return True
    else:
        hand = _hand_for(draft, event)
        hand.positions += (event.position,)
        card = event.card
        if card is None:
            hand.hidden = event.position
        else:
            hand.cards += (card,)
            hand.total = hand.total.plus(card)
        if draft.phase is Phase.PLAYERS:
            return _after_card(draft, hand)
    if not draft.pending and draft.phase is Phase.DEALING:
        after_first_cards(draft)
        return True
    return False


def _lay_on_dealer(draft: RoundState, event: CardDealt) -> bool:
    """Lay a card on the dealer's hand; tell whether it shows for the first time whether the dealer has a blackjack."""
    dealer = draft.dealers[event.dealer_hand]
    dealer.positions += (event.position,)
    card = event.card
    if card is None:
        dealer.hole = event.position
    else:
        dealer.cards += (card,)
        dealer.total = dealer.total.plus(card)
    if draft.phase is not Phase.DEALER:
        return False
    continue_dealer(draft)
    return len(dealer.cards) == 2


def _hand_for(draft: RoundState, event: CardDealt) -> HandState:
    hands = draft.hands
    if draft.turn < len(hands):
        hand = hands[draft.turn]
        if hand.seat == event.seat and hand.number == event.hand:
            return hand
    found = hand_at(draft, event.seat, event.hand)
    if found is None:
        raise LookupError(f"a card was dealt to no hand: seat {event.seat} hand {event.hand}")
    return found


def _after_card(draft: RoundState, hand: HandState) -> bool:
    """A hand got a card in its turn: bust and 21 end it by themselves, so does the one card of a double or a split ace."""
    value = hand.total.value
    if value > 21:
        hand.status = HandStatus.BUST
    elif value == 21 or hand.doubled or (hand.split_aces and not may_act_on_split_aces(draft, hand)):
        hand.status = HandStatus.STOOD
    else:
        return False
    seek_turn(draft)
    return value > 21

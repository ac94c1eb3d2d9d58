"""Cards on the layout: each drawn card goes where the next step said (30-818, 30-820).

Owns laying cards and what a card does to the hand that gets it. A card that lies face down has no value here.
"""

from services.game.round_commands import DealCards
from services.game.round_events import CardDealt, RoundEvent
from services.game.round_flow import after_first_cards, continue_dealer, seek_turn
from services.game.round_legality import may_act_on_split_aces
from services.game.round_marks import AT_DEALER, AT_PLAYERS, BUST, STOOD, TO_DEALER
from services.game.round_rejections import CardMustStayHidden, CardNotShown, CardsNotDue
from services.game.round_settlement import settle_ripe
from services.game.round_state import HandState, RoundState, hand_at
from services.game.round_words import DealtCard, Target


def deal_cards(draft: RoundState, command: DealCards) -> tuple[RoundEvent, ...]:
    """Lay the cards on the due targets, in order; settle at once what they decide."""
    targets = draft.pending
    cards = command.cards
    if not cards or len(cards) > len(targets):
        raise CardsNotDue(f"{len(targets)} cards are due, {len(cards)} came", due=len(targets), came=len(cards))
    pairs = list(zip(cards, targets, strict=False))
    for card, target in pairs:
        if (card.card is None) is not target.face_down:
            _refuse_face(card, target)
    events: list[RoundEvent] = []
    ripe = False
    draft.pending = targets[len(cards) :]
    missing = len(targets)
    for card, target in pairs:
        event = CardDealt(
            card.position, card.card, target.to, target.seat, target.hand, target.dealer_hand, target.face_down
        )
        missing -= 1
        ripe = _lay(draft, event, last=not missing)
        events.append(event)
    if ripe:
        events += settle_ripe(draft)
    return tuple(events)


def apply_card_dealt(draft: RoundState, event: CardDealt) -> None:
    """Fold: the card lies where it was dealt, and the round goes on from there."""
    draft.pending = draft.pending[1:]
    _lay(draft, event, last=not draft.pending)


def _refuse_face(card: DealtCard, target: Target) -> None:
    facts: dict[str, int | str] = {"position": card.position, "to": target.to.value}
    if target.face_down:
        raise CardMustStayHidden(f"the card at position {card.position} is to lie face down", **facts)
    raise CardNotShown(f"the card at position {card.position} is to lie face up", **facts)


def _lay(draft: RoundState, event: CardDealt, *, last: bool) -> bool:
    """Lay one card, the last one due or not; tell whether some stake may be decided by it."""
    card = event.card
    if event.to is TO_DEALER:
        dealer = draft.dealers[event.dealer_hand]
        dealer.positions += (event.position,)
        if card is None:
            dealer.hole = event.position
        else:
            dealer.cards += (card,)
            dealer.total = dealer.total.plus(card)
        if draft.phase is AT_DEALER:
            continue_dealer(draft)
            # The second card shows whether the dealer has a blackjack.
            return len(dealer.cards) == 2
    else:
        hands, turn = draft.hands, draft.turn
        hand = hands[turn] if turn < len(hands) else hands[0]
        if hand.seat != event.seat or hand.number != event.hand:
            hand = _hand_for(draft, event)
        hand.positions += (event.position,)
        if card is None:
            hand.hidden = event.position
        else:
            hand.cards += (card,)
            hand.total = hand.total.plus(card)
        if draft.phase is AT_PLAYERS:
            return _after_card(draft, hand)
        # In the first deal the cards go round the table.
        draft.turn = turn + 1 if turn < len(hands) else 1
    return last and after_first_cards(draft)


def _hand_for(draft: RoundState, event: CardDealt) -> HandState:
    """Find the hand that gets the card when it is not the next one, since a hand was voided."""
    found = hand_at(draft, event.seat, event.hand)
    if found is None:
        raise LookupError(f"a card was dealt to no hand: seat {event.seat} hand {event.hand}")
    return found


def _after_card(draft: RoundState, hand: HandState) -> bool:
    """A hand got a card in its turn: bust and 21 end it by themselves, so does the one card of a double or a split ace."""
    value = hand.total.value
    if value > 21:
        hand.status = BUST
    elif value == 21 or hand.doubled or (hand.split_aces and not may_act_on_split_aces(draft, hand)):
        hand.status = STOOD
    else:
        return False
    seek_turn(draft)
    return value > 21

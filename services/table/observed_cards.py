"""Cards that devices saw at an observed table: to which hand each belongs, or that it belongs to none.

Owns this fold, pure. Promises that every card of the shoe is somewhere: in a hand, burned, or set aside with a reason.
"""

from services.game import round as game
from services.game import round_commands as rc
from services.game import round_steps as steps
from services.game.cards import Card
from services.game.rejections import Rejection
from services.game.round_words import DealtCard
from services.table import events as e
from services.table.observed_look import Events, Look, Place, overplayed
from services.table.readings import IrregularityKind as Irregular
from services.table.table import Play


def drawn(look: Look) -> Events:
    """Lay the card on the hand that is due, or set it aside with the reason."""
    place, card = look.known.place, look.observation.reading.card
    if place is None:
        return look.irregular(Irregular.SHOE_OUT_OF_ORDER, look.known.refusal, card=card)
    aside = (e.CardSetAside(place.round_id, place.shoe_id, place.position, card),)
    if look.table.suspended:
        return (*aside, *overplayed(look))
    play = look.play
    if play is None or not play.round.pending or place.round_id != play.id:
        return (*aside, *look.irregular(Irregular.CARD_OUT_OF_TURN, _not_due(play), place=place, card=card))
    assigned: Events = ()
    if play.shoe is None or play.shoe.shoe_id != place.shoe_id:
        if play.cards or play.shoe is None:
            message = "the shoe was changed within the round"
            return (*aside, *look.irregular(Irregular.SHOE_OUT_OF_ORDER, message, place=place, card=card))
        assigned = (e.ShoeAssigned(play.id, place.shoe_id, play.shoe.decks, continuous=False),)
    try:
        dealt = game.decide(play.round, rc.DealCards((DealtCard(place.position, card),)))
    except Rejection as rejection:
        wrong = look.irregular(
            Irregular.CARD_FACE_WRONG, rejection.message, rejection=rejection, place=place, card=card
        )
        return (*aside, *wrong)
    return (*assigned, *dealt, *_impossible(look, place, card))


def _not_due(play: Play | None) -> str:
    if play is None:
        return "a card is drawn and no round is in play"
    step = game.next_step(play.round)
    waits = "a decision" if isinstance(step, steps.AwaitDecision) else type(step).__name__
    return f"a card is drawn and {play.id} waits for {waits}"


def _impossible(look: Look, place: Place, card: Card | None) -> Events:
    if not place.impossible:
        return ()
    return look.irregular(Irregular.CARD_IMPOSSIBLE, f"the shoe holds no further {card}", place=place, card=card)


def burned(look: Look) -> Events:
    """A card in the rack; only that it cannot be may be wrong with it."""
    place, card = look.known.place, look.observation.reading.card
    if place is None:
        return look.irregular(Irregular.SHOE_OUT_OF_ORDER, look.known.refusal, card=card)
    return _impossible(look, place, card)


def turned(look: Look) -> Events:
    """The hole card, or a doubled hand's card, shows its face in its time."""
    play, place, card = look.play, look.known.place, look.observation.reading.card
    if play is None or place is None or card is None:
        message = look.known.refusal or "a card is turned over and none lies face down"
        return look.irregular(Irregular.CARD_OUT_OF_TURN, message, card=card)
    step = game.next_step(play.round)
    if not isinstance(step, steps.RevealHoleCard) or step.position != place.position:
        message = f"the card at {place.position} is turned over before its time"
        return look.irregular(Irregular.CARD_OUT_OF_TURN, message, place=place, card=card)
    try:
        shown = game.decide(play.round, rc.RevealHole(place.position, card))
    except Rejection as rejection:
        return look.irregular(
            Irregular.HOLE_CHECK_WRONG, rejection.message, rejection=rejection, place=place, card=card
        )
    return (*shown, *_impossible(look, place, card))


def shoe_started(look: Look) -> Events:
    """Fresh cards between rounds, or before the first card of one."""
    play, started = look.play, look.known.shoe
    if started is None:
        return look.irregular(Irregular.SHOE_OUT_OF_ORDER, look.known.refusal)
    if play is None:
        return ()
    if play.cards:
        return look.irregular(Irregular.SHOE_OUT_OF_ORDER, f"cards are shuffled while {play.id} is dealt")
    return (e.ShoeAssigned(play.id, started[0], started[1], continuous=False),)


def cut_card(look: Look) -> Events:
    """No other round from this shoe (30-816)."""
    play, shoe = look.play, look.known.shoe
    if shoe is None or not shoe[0] or look.table.spent_shoe == shoe[0]:
        return ()
    return (e.ShuffleBecameDue(play.id if play is not None else "", shoe[0]),)

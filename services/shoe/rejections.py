"""Why a shoe refuses, each named after the broken rule. No refusal ever names a card that is not face up."""

from services.game.rejections import Breach, Rejection


class DeviceNotRegistered(Rejection):
    """No such device is enrolled at this table; cards come from enrolled devices only (30-805)."""

    rule = "30-805"
    remedy = "Register the device first, or use the one that is registered here."


class ApprovalMissing(Rejection):
    """A shuffler or an electronic shoe without the Division's written approval (30-805, Rule 12)."""

    rule = "30-805"
    remedy = "Give the reference of the Division's approval."


class DeviceNotInspected(Rejection):
    """The device has not passed an inspection this gaming day (30-805)."""

    rule = "30-805"
    remedy = "Inspect the device, record the pass, then go on."


class DeviceInUse(Rejection):
    """The device still holds cards, so it can be neither replaced nor loaded again."""

    rule = "30-805"
    remedy = "Retire the shoe and unload the decks first."


class DeckCountRefused(Rejection):
    """Fewer than one or more than sixteen decks, or one set twice (30-806)."""

    rule = "30-806"
    remedy = "Load one to sixteen deck sets, each once."


class DeckIncomplete(Rejection):
    """A deck set is not the standard 52 cards (30-806(2))."""

    rule = "30-806"
    remedy = "Pull the set, replace it by a whole one and report the missing or foreign card."


class DeckSetWithdrawn(Rejection):
    """The deck set was found defective at this table before (30-815)."""

    rule = "30-815"
    remedy = "Use another deck set."


class DecksNotLoaded(Rejection):
    """There are no cards in the device."""

    rule = "30-806"
    remedy = "Load decks first."


class CardsNotInspected(Rejection):
    """The cards have not been inspected since they were loaded (30-815)."""

    rule = "30-815"
    remedy = "Let the dealer check the cards and a supervisor verify it."


class InspectionNotVerified(Rejection):
    """Dealer and supervisor are not two persons, or the sender is not the supervisor (30-815)."""

    rule = "30-815"
    remedy = "Let a supervisor who is not the dealer verify and send the inspection."


class UnknownDeckSet(Rejection):
    """The inspection names a deck set that is not in the device."""

    rule = "30-815"
    remedy = "Name one of the loaded deck sets."


class ShoeNotRetired(Rejection):
    """The shoe before is still in play (30-816)."""

    rule = "30-816"
    remedy = "Retire the shoe first."


class CardsNotShuffled(Rejection):
    """No shoe is in play: the cards have not been shuffled and committed (30-816)."""

    rule = "30-816"
    remedy = "Shuffle the cards first."


class RoundOfAnotherShoe(Rejection):
    """A round goes on from the shoe that it began with; only discards are shuffled within a round (30-816, 30-828)."""

    rule = "30-816"
    remedy = "Let a supervisor void the round, since its shoe has been retired."


class WrongShoe(Rejection):
    """The command names a shoe that is not in play at this table."""

    rule = "DESIGN §5"
    remedy = "Ask for the shoe in play and name it."


class CutTooCloseToEnd(Rejection):
    """The cut leaves too few cards in front of or behind the cutting card (30-817)."""

    rule = "30-817"
    remedy = "Cut deeper into the stack."


class CardsNotCut(Rejection):
    """The stack has not been cut (30-817)."""

    rule = "30-817"
    remedy = "Offer the cut to a player; if nobody cuts, the dealer does."


class CardsAlreadyCut(Rejection):
    """The stack was cut before; only a supervisor orders a second cut, and only before the first card (30-817)."""

    rule = "30-817"
    remedy = "Deal on, or let a supervisor order a new cut before the first card."


class CutCardMisplaced(Rejection):
    """The cutting card is not between the centre of the stack and its back (30-817)."""

    rule = "30-817"
    remedy = "Place it with at least one card and at most half of the cards behind it."


class CutCardNotPlaced(Rejection):
    """Cards were asked for before the cutting card was placed (30-817)."""

    rule = "30-817"
    remedy = "Place the cutting card first."


class CutCardAlreadyPlaced(Rejection):
    """The cutting card is in the stack already (30-817)."""

    rule = "30-817"
    remedy = "Leave it where it is until the next shuffle."


class NoCutInContinuousShuffler(Rejection):
    """A continuous shuffler has neither a cut nor a cutting card nor a reshuffle (30-816)."""

    rule = "30-816"
    remedy = "Deal without a cut; discards go back into the machine."


class NotContinuous(Rejection):
    """Discards return only into a continuous shuffler (30-816, 30-822)."""

    rule = "30-822"
    remedy = "Keep discards in the rack until the shuffle."


class DrawSizeRefused(Rejection):
    """A draw or burn of no card or of more than 64 (30-818)."""

    rule = "30-818"
    remedy = "Ask for 1 to 64 cards."


class IdMissing(Rejection):
    """An id that the command needs is empty or longer than 128 characters."""

    rule = "DESIGN §3"
    remedy = "Give an id of 1 to 128 characters."


class IdMalformed(Rejection):
    """An id with characters that cannot be told apart, or not be seen, on a screen or in print."""

    rule = "DESIGN §3"
    remedy = "Use printable ASCII characters, with no blank at either end."


class TextUnprintable(Rejection):
    """A note or name with control or direction characters, which could show something else than what was written."""

    rule = "DESIGN §3"
    remedy = "Send it as one line of printable characters."


class TextTooLong(Rejection):
    """A note or name of more than 500 characters; events are kept for ever and hold no documents."""

    rule = "DESIGN §3"
    remedy = "Shorten it, or name the document that says it all."


class IdReused(Rejection):
    """The id was used before with other content; the first answer stands (DESIGN §5)."""

    rule = "DESIGN §5"
    remedy = "Ask again with the same content, or use a new id."


class ShuffleDue(Rejection):
    """The cutting card has come out: no further round from this shoe (30-816)."""

    rule = "30-816"
    remedy = "Retire the shoe, shuffle and cut; then deal the round."


class ShoeExhausted(Rejection):
    """Fewer cards are left than are asked for (30-828)."""

    rule = "30-828"
    remedy = "Within a round reshuffle the discards and cut them; otherwise shuffle."


class NoDiscards(Rejection):
    """No discards can be reshuffled: every card is in play or still undealt (30-828)."""

    rule = "30-828"
    remedy = "Let the supervisor decide; the hands may be pushed."


class EnoughCards(Rejection):
    """Discards are reshuffled only within a round that cannot be finished otherwise (30-816, 30-828)."""

    rule = "30-816"
    remedy = "Deal on; shuffle after the round."


class CardsOnFelt(Rejection):
    """Cards of a round without a hole card lie on the felt: opening the shoe would show what its players still draw."""

    rule = "30-822"
    remedy = "Finish the round; its pickup clears the felt. A supervisor may send RackCards when the table cannot."


class ShoeCannotBeOpened(Rejection):
    """The sealing key here is not the one that this shoe was sealed under, so none of its cards can be read."""

    rule = "DESIGN §6"
    remedy = (
        "Put the key file back and start again. If it is lost for good, a pit supervisor sends AbandonShoe, voids the round "
        "in play, has the cards counted and a new shoe shuffled."
    )


class ShoeStillOpens(Rejection):
    """The shoe can be opened: an order that was committed to is never withheld (DESIGN §6)."""

    rule = "DESIGN §6"
    remedy = "Finish the round, then retire the shoe."


class ShoeGivenUp(Rejection):
    """The shoe was abandoned: its cards cannot be shown any more."""

    rule = "DESIGN §6"
    remedy = "Settle the round without them: a pit supervisor voids it. Count the cards and shuffle anew."


class ReasonMissing(Rejection):
    """An act that needs a supervisor's reason came without one (30-828(1))."""

    rule = "30-828"
    remedy = "Say why."
    breach = Breach.FORM


class PositionNotDrawn(Rejection):
    """No card of the shoe in play was drawn at this position, or it was burned."""

    rule = "30-818"
    remedy = "Name the position of a drawn card."


class CardStillFaceDown(Rejection):
    """The act needs a card that is still face down (30-823)."""

    rule = "30-823"
    remedy = "Reveal the card first."


class CardAlreadyFaceUp(Rejection):
    """The card lies face up: there is nothing to peek at (30-823)."""

    rule = "30-823"
    remedy = "Read the card."


class NotAnUpCard(Rejection):
    """The up card is no face-up ace or ten of the same round: no hole card makes blackjack with it (30-823)."""

    rule = "30-823"
    remedy = "Peek only under the dealer's ace or ten-value card."


class AlreadyPeeked(Rejection):
    """The hole card was checked before against another up card; a second answer would tell more (30-823)."""

    rule = "30-823"
    remedy = "Use the first answer."


class CardNotReturnable(Rejection):
    """A card that is in the machine already, or was never drawn, cannot go back into it (30-816)."""

    rule = "30-816"
    remedy = "Return drawn cards that are still out, each once."


class DigitalShoeInPlay(Rejection):
    """Cards were seen at a table whose shoe this house deals itself."""

    rule = "DESIGN §5"
    remedy = "Retire the digital shoe before a physical one is used."


class ObservedShoeInPlay(Rejection):
    """A physical shoe is in play: its cards come from the dealer's hand, and nobody here knows them before."""

    rule = "DESIGN §5"
    remedy = "End the observed shoe first."


class NothingCommitted(Rejection):
    """There is no proof of a physical card: its order was never committed to."""

    rule = "DESIGN §6"
    remedy = "Look at the observations: they say which device saw it, and when."

"""The refusals of a round, each named after the broken rule; nothing has changed when one is raised.

Their names are stable: they travel as typed details and are counted by name. A test holds them against the REFUSE list
of the reference sheet.
"""

from services.game.rejections import Rejection

# Betting (30-807, 30-809, 30-811, 30-827)


class BettingClosed(Rejection):
    """A wager after the first card of the round (30-807)."""

    rule = "30-807"
    remedy = "Wait for the next round."


class BettingStillOpen(Rejection):
    """Cards or choices before betting was closed (30-807)."""

    rule = "30-807"
    remedy = "Close betting first."


class NoWagers(Rejection):
    """Betting cannot close, since nobody has a wager (30-820: a spot without a wager gets no card)."""

    rule = "30-820"
    remedy = "Wait for a wager, or void the round."


class StakeNotWhole(Rejection):
    """An amount that is no whole number of cents."""

    rule = "DESIGN §7"
    remedy = "Give the amount as an integer number of cents."


class StakeBelowMinimum(Rejection):
    """Less than the posted minimum; zero and negative amounts too (30-809)."""

    rule = "30-809"
    remedy = "Wager at least the posted minimum."


class StakeAboveMaximum(Rejection):
    """More than the posted maximum (30-809)."""

    rule = "30-809"
    remedy = "Wager at most the posted maximum."


class StakeNotInIncrement(Rejection):
    """Not a multiple of the posted increment (30-809)."""

    rule = "30-809"
    remedy = "Wager a multiple of the posted increment."


class WrongArea(Rejection):
    """A wager where this player has none to make: another's area, or nobody's (30-803, 30-807)."""

    rule = "30-807"
    remedy = "Put the wager on the player's own area."


class SeatLimit(Rejection):
    """A seat that the table does not have (30-803: at most seven places)."""

    rule = "30-803"
    remedy = "Use one of the table's seats."


class WagerKindNotOffered(Rejection):
    """A kind of wager that the rule set does not take at this moment (30-807)."""

    rule = "30-807"
    remedy = "Use a kind of wager that the house rules declare."


class WagerNeedsAnother(Rejection):
    """A wager that may only stand beside another one, which is not there (30-807)."""

    rule = "30-807"
    remedy = "Place the wager that it belongs to first, or in the same command."


class WagerLocked(Rejection):
    """A wager that stands is neither raised, lowered nor taken back (30-809, 30-811)."""

    rule = "30-811"
    remedy = "Leave the wager as it is until it is decided."


class NoMidShoeEntry(Rejection):
    """One who sat out joins before the shuffle, or for more than the house allows until then (30-809)."""

    rule = "30-809"
    remedy = "Wait for the shuffle, or wager at most the posted mid-shoe limit."


class MultiSpot(Rejection):
    """More hands than the house allows one player (30-827)."""

    rule = "30-827"
    remedy = "Play fewer hands."


class SpotNotAdjacent(Rejection):
    """A player's hands must lie side by side (30-827)."""

    rule = "30-827"
    remedy = "Use neighbouring seats."


class MultiSpotMinimum(Rejection):
    """A player of several hands must wager a multiple of the minimum on each (30-827)."""

    rule = "30-827"
    remedy = "Wager the posted minimum for several hands on each, all in one command."


# Turns and cards (30-818, 30-820, 30-821)


class UnknownHand(Rejection):
    """No such hand in this round."""

    rule = "30-821"
    remedy = "Name a seat with a wager and one of its hands, counted from 0."


class NotYourHand(Rejection):
    """A player acts on another's hand (30-821, 30-824)."""

    rule = "30-824"
    remedy = "Act on the player's own hand."


class NotYourTurn(Rejection):
    """A hand acts before or after its turn (30-821)."""

    rule = "30-821"
    remedy = "Wait for the hand's turn."


class RoundOver(Rejection):
    """The hands are played, or the round has ended."""

    rule = "30-821"
    remedy = "Wait for the next round."


class CardsDue(Rejection):
    """Cards must come before anything else (30-820, 30-826)."""

    rule = "30-820"
    remedy = "Deal the cards that the next step names."


class CardsNotDue(Rejection):
    """A card that no hand is to get now (30-820)."""

    rule = "30-820"
    remedy = "Deal only the cards that the next step names."


class CardNotShown(Rejection):
    """A face-up card came without its value (30-818)."""

    rule = "30-818"
    remedy = "Give the card."


class CardMustStayHidden(Rejection):
    """The value of a card that is to lie face down was given away (30-823)."""

    rule = "30-823"
    remedy = "Give only the card's position."


class NothingToReveal(Rejection):
    """No card lies face down there, or it is not its time yet (30-823)."""

    rule = "30-823"
    remedy = "Reveal the card that the next step names, at its step."


class HoleContradictsCheck(Rejection):
    """The revealed card does not agree with what the check answered (30-823)."""

    rule = "30-823"
    remedy = "Stop the table: the shoe or its reader is wrong, and a supervisor decides."


class NoHoleCheckDue(Rejection):
    """The hole card is not to be checked now (30-823)."""

    rule = "30-823"
    remedy = "Check when the next step says so."


class SettlementNotDue(Rejection):
    """The round is not ready to be settled, or is settled (30-810)."""

    rule = "30-810"
    remedy = "Settle when the next step says so."


class PickupNotDue(Rejection):
    """The cards stay on the layout until every wager is settled (30-822)."""

    rule = "30-822"
    remedy = "Settle first."


# Insurance and even money (30-812)


class NoAceUp(Rejection):
    """Insurance without an ace as the up card (30-812)."""

    rule = "30-812"
    remedy = "Insure only against an ace."


class InsuranceOverHalf(Rejection):
    """Insurance of more than half the wager, or of another amount where exactly half is the rule (30-812)."""

    rule = "30-812"
    remedy = "Insure for at most half of the wager."


class InsuranceClosed(Rejection):
    """The offer has ended, or was answered (30-812)."""

    rule = "30-812"
    remedy = "Insure before the dealer closes the offer."


class InsuranceNotOffered(Rejection):
    """This house or this hand has no insurance (30-812)."""

    rule = "30-812"
    remedy = "Play on without insurance."


class EvenMoneyNotOffered(Rejection):
    """Even money needs a blackjack against an ace, and a house that gives it (30-812)."""

    rule = "30-812"
    remedy = "Play on, or insure."


# Doubling (30-813)


class DoubleNotFirstTwo(Rejection):
    """Only the first two cards of a hand can be doubled (30-813)."""

    rule = "30-813"
    remedy = "Hit or stand."


class DoubleTotalNotAllowed(Rejection):
    """The house does not double on this total (30-813)."""

    rule = "30-813"
    remedy = "Hit or stand."


class DoubleAfterSplit(Rejection):
    """The house does not double after a split (30-813)."""

    rule = "30-813"
    remedy = "Hit or stand."


class DoubleOverOriginal(Rejection):
    """A double of more than the original wager, or of less where the house wants it equal (30-813)."""

    rule = "30-813"
    remedy = "Double for the original wager, or for less where that is posted."


class HitAfterDouble(Rejection):
    """A doubled hand gets exactly one card (30-813)."""

    rule = "30-813"
    remedy = "Wait for the dealer."


# Splitting (30-814)


class NotAPair(Rejection):
    """Only two cards of equal value, or rank where that is posted, can be split (30-814)."""

    rule = "30-814"
    remedy = "Play the hand as it is."


class SplitLimit(Rejection):
    """The seat has as many hands as the house allows (30-814)."""

    rule = "30-814"
    remedy = "Play the hands that are there."


class SplitWagerNotEqual(Rejection):
    """The second wager must equal the first (30-814)."""

    rule = "30-814"
    remedy = "Wager the same on the second hand."


class ResplitAces(Rejection):
    """The house does not split aces again (30-814)."""

    rule = "30-814"
    remedy = "Let the hand stand."


class HitSplitAces(Rejection):
    """Split aces get one card each (30-814)."""

    rule = "30-814"
    remedy = "Let the hand stand."


# Drawing (30-826) and surrender (30-829)


class HitOn21(Rejection):
    """A hand with 21 gets no more cards (30-826)."""

    rule = "30-826"
    remedy = "Wait for the dealer."


class HandClosed(Rejection):
    """The hand takes no further action: it stood, is bust, surrendered, paid or voided (30-826)."""

    rule = "30-826"
    remedy = "Wait for the dealer."


class SurrenderLateInHand(Rejection):
    """Surrender comes before any other choice on the first two cards (30-829)."""

    rule = "30-829"
    remedy = "Play the hand."


class SurrenderNotOffered(Rejection):
    """The house does not offer surrender for this hand (30-829)."""

    rule = "30-829"
    remedy = "Play the hand."


# Voiding and opening


class HandAlreadySettled(Rejection):
    """A hand that was paid or collected is corrected by a payment, not voided (30-828(1))."""

    rule = "30-828"
    remedy = "Have the supervisor correct the payment."


class SupervisorMissing(Rejection):
    """Voiding needs a pit supervisor and a reason on record (30-828(1))."""

    rule = "30-828"
    remedy = "Name the supervisor and the reason."


class GameNotPlayable(Rejection):
    """The game has a step that the fast lane for simulations cannot play in one go."""

    rule = "30-830"
    remedy = "Play it by commands, step by step."


class RulesMismatch(Rejection):
    """The rule set at hand is not the one that the round was opened under (30-804)."""

    rule = "30-804"
    remedy = "Use the rule set with the recorded digest."

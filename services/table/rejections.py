"""Why a table refuses a command, each named after the broken rule; the round's own refusals are in services/game.

A refusal records nothing, moves no chip and draws no card.
"""

from services.game.rejections import NotAuthorised, Rejection


class NotSupervisor(NotAuthorised):
    """Only a pit supervisor resumes play, voids hands and decides disputes, never the dealer (30-828(1))."""

    rule = "30-828(1)"
    remedy = "Call the pit supervisor, who sends it himself."


class NotYourSession(NotAuthorised):
    """A player acts for another patron's seat (30-824)."""

    rule = "30-824"
    remedy = "Act in the player's own session."


class RulesNotPosted(Rejection):
    """A table without a rule set on display (30-803(3))."""

    rule = "30-803(3)"
    remedy = "Post the house rules first."


class TableNotOpen(Rejection):
    """The table is closed, or was never opened."""

    rule = "30-803"
    remedy = "Open the table first."


class TableAlreadyOpen(Rejection):
    """A second opening without a closing between."""

    rule = "30-803"
    remedy = "Go on with the open table, or close it first."


class RoundInProgress(Rejection):
    """Rules, limits, dealer and tray change only between rounds (30-804, 30-809)."""

    rule = "30-804"
    remedy = "Wait until the round is over."


class NoRoundInProgress(Rejection):
    """There is no round that this could be part of."""

    rule = "30-807"
    remedy = "Wait until betting is open."


class WrongRound(Rejection):
    """Meant for another round than the one in play: late, or for another table."""

    rule = "30-807"
    remedy = "Name the round in play, and only if the command is still meant."


class PlaySuspended(Rejection):
    """Play stopped for a pit supervisor's decision (30-828(1))."""

    rule = "30-828(1)"
    remedy = "Wait until a pit supervisor resumes play."


class NotSuspended(Rejection):
    """There is nothing to resume."""

    rule = "30-828(1)"
    remedy = "Play on."


class ShoeNotReady(Rejection):
    """No round can be dealt: a shuffle is due, or the shoe is not prepared (30-805, 30-816)."""

    rule = "30-816"
    remedy = "Prepare the shoe: retire, shuffle, cut and place the cutting card."


class ShoeNotAsPosted(Rejection):
    """The shoe holds other decks than the posted rules say, or ends where they say that it never does (30-803, 30-804)."""

    rule = "30-804"
    remedy = "Load the decks that the posted rules name, or post the rules for these."


class LimitsNeedNotice(Rejection):
    """Posting other limits at once, while patrons are seated who were promised notice (30-809)."""

    rule = "30-809"
    remedy = "Announce the limits with ChangeLimits; post the rules with the limits that are in force."


class NoSuchSeat(Rejection):
    """A seat that this table does not have (30-803)."""

    rule = "30-803"
    remedy = "Use one of the table's seats, counted from 1."


class SeatTaken(Rejection):
    """Another patron holds the seat, or has a stake on it (30-803)."""

    rule = "30-803"
    remedy = "Choose a free seat."


class PatronAlreadySeated(Rejection):
    """One patron, one session at a table; a second hand is a wager on the next seat (30-827)."""

    rule = "30-827"
    remedy = "Go on in the session that is open."


class UnknownSession(Rejection):
    """No patron of this table has this session."""

    rule = "30-803"
    remedy = "Seat the patron, and use the session that is answered."


class SessionEnded(Rejection):
    """The patron has left, or is leaving (D05)."""

    rule = "30-803"
    remedy = "Seat the patron again."


class RackNotOpen(Rejection):
    """The wager service has not opened the session's rack yet."""

    rule = "DESIGN §5"
    remedy = "Try again in a moment."


class HandInPlay(Rejection):
    """Chips are bought and taken away only while the patron has no stake in play (30-831, 30-809)."""

    rule = "30-831"
    remedy = "Wait for the settlement, then send the same command again."


class TipsNotAccepted(Rejection):
    """The house posts that tips are not accepted (30-803(3)(i))."""

    rule = "30-803(3)(i)"
    remedy = "Keep the chips in the rack."


class CashPlayNotAccepted(Rejection):
    """The house takes no wager in cash: cash becomes chips first (30-809, 30-831)."""

    rule = "30-809"
    remedy = "Buy in, then wager the chips."


class ReceiptUsed(Rejection):
    """The receipt names a purchase that was noted before: its cash was counted once and is not on the layout again."""

    rule = "DESIGN §5"
    remedy = "Give each purchase a receipt of its own."


class VerbalWagerNotAccepted(Rejection):
    """The house takes no wager that is only spoken: chips lie on the marked area (30-809)."""

    rule = "30-809"
    remedy = "Put chips on the betting area."


class PlayersStillSeated(Rejection):
    """Closing a table at which patrons sit, or taking away the seat of one (30-803)."""

    rule = "30-803"
    remedy = "Let every patron leave first."


class AnswerOutOfTurn(Rejection):
    """The answer is to another question than the one that is open: it came too late, or too early (30-821)."""

    rule = "30-821"
    remedy = "Look at the table again and answer the question that is open."


class ReasonMissing(Rejection):
    """A decision that must say why, without a reason (30-828(1))."""

    rule = "30-828(1)"
    remedy = "Give a reason in 1 to 500 characters."


class IdMalformed(Rejection):
    """A patron, dealer or receipt id that is empty, too long or holds unusual characters."""

    rule = "DESIGN §3"
    remedy = 'Use 1 to 64 letters, digits and " ._:@+-".'


class AmountOutOfRange(Rejection):
    """Chips that are less than none, or more than a table can hold."""

    rule = "DESIGN §7"
    remedy = "Give an amount in whole cents within the bounds."


class TableIsObserved(Rejection):
    """A command that conducts a round, at a table whose devices tell what happens."""

    rule = "DESIGN §5"
    remedy = "Send what is seen as readings, through the floor's gateway."

"""Why the ledger refuses a command; each class is named after the broken rule. A refusal moves no money."""

from services.game.rejections import Rejection


class AmountNotWholeCents(Rejection):
    """An amount that is not an integer: a float, NaN, a text, a truth value (DESIGN §7)."""

    rule = "DESIGN §7"
    remedy = "Give money as whole cents in an integer."


class AmountOutOfRange(Rejection):
    """An amount below the least or above the greatest that the ledger moves at once."""

    rule = "DESIGN §7"
    remedy = "Give an amount within the stated bounds."


class CountMalformed(Rejection):
    """A list of notes, chips, stakes or lines that names one thing twice, nothing at all, or far too much."""

    rule = "30-831"
    remedy = "Name each thing once, and at least one."


class IdMalformed(Rejection):
    """An empty or overlong id, or one that does not belong where it is used."""

    rule = "DESIGN §5"
    remedy = "Use the id that the table derived for this purpose."


class WrongTable(Rejection):
    """A round of another table."""

    rule = "DESIGN §3"
    remedy = "Send the command to the table that the round belongs to."


class LedgerNotOpen(Rejection):
    """Money at a table whose tray was not counted in."""

    rule = "casino-operations §7"
    remedy = "Open the ledger with the tray's opening inventory."


class LedgerAlreadyOpen(Rejection):
    """A second opening without a closing between."""

    rule = "casino-operations §7"
    remedy = "Close the ledger first, or go on with the open one."


class SessionsOpen(Rejection):
    """Closing the ledger while patrons still have racks at the table."""

    rule = "casino-operations §7"
    remedy = "Let every patron leave the table first."


class BusinessIdReused(Rejection):
    """A known id of a buy-in, tip, cash-out, slip, correction, session or opening with other content (DESIGN §3)."""

    rule = "DESIGN §3"
    remedy = "Repeat the first command unchanged, or use a new id for a new act."


class HoldIdReused(Rejection):
    """A known hold id with another session, kind or amount (DESIGN §5)."""

    rule = "DESIGN §5"
    remedy = "Use the next ordinal for a further stake."


class SettlementIdReused(Rejection):
    """A known settlement id with other lines (L7: one settlement per hand)."""

    rule = "L7"
    remedy = "Read the recorded settlement; correct a payment with CorrectPayment."


class UnknownSeatSession(Rejection):
    """No such patron at this table, or one who left long ago."""

    rule = "DESIGN §7"
    remedy = "Open a seat session for the patron first."


class SeatSessionEnded(Rejection):
    """The patron has left the table."""

    rule = "DESIGN §7"
    remedy = "Open a new seat session when the patron comes back; what he is owed until then is the cage's."


class BuyInUnbalanced(Rejection):
    """Chips handed out that differ from the cash counted (30-831)."""

    rule = "30-831"
    remedy = "Count again; hand out chips for exactly the cash."


class InsufficientChips(Rejection):
    """A rack that does not cover what is to leave it."""

    rule = "DESIGN §7"
    remedy = "Stake less, or buy in between rounds."


class TrayShort(Rejection):
    """A tray that cannot pay."""

    rule = "casino-operations §7"
    remedy = "Fill the tray by at least the shortfall, then repeat the command."


class HoldingsOverLimit(Rejection):
    """More money than the ledger counts safely."""

    rule = "DESIGN §7"
    remedy = "Bring less."


class RoundIsPast(Rejection):
    """A round older than those that the ledger still has at hand; its money was decided."""

    rule = "L9"
    remedy = "Look the round up in the log; correct payments of recent rounds only."


class RoundAlreadySettled(Rejection):
    """A round whose stakes have all been decided (L7)."""

    rule = "L7"
    remedy = "Correct a wrong payment with CorrectPayment."


class UnknownRound(Rejection):
    """A round in which no stake was ever held."""

    rule = "L9"
    remedy = "Hold the stakes before they are settled."


class UnknownHold(Rejection):
    """A hold that was never made."""

    rule = "L9"
    remedy = "Name holds of this round."


class HoldAlreadyVoided(Rejection):
    """A stake that was given back."""

    rule = "L9"
    remedy = "Use the next ordinal for a further stake."


class HoldAlreadyPosted(Rejection):
    """A stake that was settled."""

    rule = "L9"
    remedy = "Correct a wrong payment with CorrectPayment."


class HoldSettledTwice(Rejection):
    """A hold in two lines of one settlement (L7)."""

    rule = "L7"
    remedy = "Put every hold in exactly one line."


class HoldNotSettled(Rejection):
    """A settlement that leaves a stake in play (L9: every hold ends)."""

    rule = "L9"
    remedy = "Settle or void every hold of the round."


class LineMixesSessions(Rejection):
    """A line with stakes of two patrons, or with none."""

    rule = "L7"
    remedy = "Make one line for each hand and wager of one patron."


class StakeMismatch(Rejection):
    """A line whose stake is not what was held for it."""

    rule = "L7"
    remedy = "Settle exactly the stakes that are held."


class PaymentNotRounded(Rejection):
    """A payment that the recorded rounding rule cannot have made of the amount due (30-810)."""

    rule = "30-810"
    remedy = "Pay the amount due, rounded by the posted rule; the rest is breakage."


class StakeInPlay(Rejection):
    """Leaving, buying chips, or closing the ledger, while a stake is undecided (30-809, 30-831, L9)."""

    rule = "30-809"
    remedy = "Wait for the round's settlement."


class CorrectionExceedsPayment(Rejection):
    """Taking back more than the line paid (30-828(1))."""

    rule = "30-828(1)"
    remedy = "Take back at most what the line returned."

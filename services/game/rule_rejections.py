"""The refusals of cards and house rules, each named after the broken rule.

A rule set that breaks a bound is never half accepted: parsing and construction raise one of these and nothing else.
"""

from services.game.rejections import Rejection


class UnknownCard(Rejection):
    """The text names no card of a standard deck (30-806(2))."""

    rule = "30-806"
    remedy = "Write a card as rank 23456789TJQKA and suit cdhs, for example As or Td."


class CompositionExceeded(Rejection):
    """More of one card than the decks hold, or a card removed that is not there (30-806(2))."""

    rule = "30-806"
    remedy = "Count the cards; a foreign or missing card stops the table."


class RuleFileRefused(Rejection):
    """What every refusal of a rule set has in common, so that a caller can catch them all."""

    rule = "30-804"
    remedy = "Correct the rule file and check it with `holecard rules check FILE`."


class RuleFileUnreadable(RuleFileRefused):
    """The text is not TOML; a key given twice is the usual cause."""

    remedy = "Correct the syntax; every key may stand once."


class RuleFileNotThere(RuleFileRefused):
    """Neither a profile nor a file that can be read."""

    remedy = "Give the name of a profile, or the path of a rule file in UTF-8."


class UnknownRuleKey(RuleFileRefused):
    """A key that no rule has; it is never ignored, since the house would believe that it holds."""

    remedy = "Use one of the known keys; `holecard rules show colorado` prints them all."


class MissingRuleKey(RuleFileRefused):
    """A key without which no rule set can be told from another (name, version, approval, limits, wagers)."""

    remedy = "Add the missing key."


class FloatInRules(RuleFileRefused):
    """A decimal fraction where money or odds must be exact."""

    rule = "DESIGN §7"
    remedy = "Write 3:2 or integer cents."


class WrongRuleType(RuleFileRefused):
    """A value of another kind than the key takes."""

    remedy = "Give a value of the kind that the message names."


class UnknownRuleChoice(RuleFileRefused):
    """A word that is not among an option's choices."""

    remedy = "Use one of the choices that the message lists."


class RuleOutOfRange(RuleFileRefused):
    """A number outside the range that its section or good sense allows; the message gives the range."""

    remedy = "Give a number inside the range that the message names."


class RulesUnidentified(RuleOutOfRange):
    """A name or version that cannot tell this rule set from another for ever."""

    rule = "30-804"
    remedy = "Name it with a-z, 0-9 and hyphens, and count versions from 1."


class DecksOutOfRange(RuleOutOfRange):
    """No deck at all, or more than any shoe holds (30-806(2) sets no upper limit; 16 is ours)."""

    rule = "30-806"
    remedy = "Play with 1 to 16 decks."


class PenetrationOutOfRange(RuleOutOfRange):
    """The cutting card would not stand between the centre and the back."""

    rule = "30-817"
    remedy = "Deal 50 to 95 percent of the shoe."


class BurnOutOfRange(RuleOutOfRange):
    """More burned cards than the procedure knows."""

    rule = "30-819"
    remedy = "Burn 0 to 10 cards after a shuffle, 0 or 1 when the dealer changes."


class SplitLimitOutOfRange(RuleOutOfRange):
    """Fewer than two or more than four hands after splits."""

    rule = "30-814"
    remedy = "Allow 2 to 4 hands."


class SpotsOutOfRange(RuleOutOfRange):
    """A number of spots, or a factor on their minimum, that no table offers."""

    rule = "30-827"
    remedy = "Allow 1 to 7 spots for a player, each for 1 to 10 times the minimum."


class NoticePeriodOutOfRange(RuleOutOfRange):
    """A notice of new limits that is negative or longer than a day."""

    rule = "30-809"
    remedy = "Give 0 to 1440 minutes of notice."


class TimeoutOutOfRange(RuleOutOfRange):
    """A time to act that is negative or longer than ten minutes."""

    rule = "30-821"
    remedy = "Give 0 (no limit) to 600 seconds."


class DealerHandsOutOfRange(RuleOutOfRange):
    """A number of dealer hands that no game here plays."""

    rule = "30-830"
    remedy = "Play one dealer hand."


class ChipOutOfRange(RuleOutOfRange):
    """A smallest chip of less than a cent or more than 100 dollars."""

    rule = "30-810"
    remedy = "Name the smallest chip in cents, 1 to 10000."


class OddsAboveCeiling(RuleOutOfRange):
    """Odds so high that they can only be a slip of the pen."""

    rule = "30-810"
    remedy = "Pay at most 10:1 on a blackjack or insurance, 1000:1 by a pay rule."


class OddsBelowFloor(RuleFileRefused):
    """Odds below what must be posted at least: blackjack 6 to 5, insurance 2 to 1 (30-803(3)(b), 30-810)."""

    rule = "30-810"
    remedy = "Pay blackjack at least 6:5 and insurance at least 2:1."


class TooManySeats(RuleFileRefused):
    """More than seven player places (30-803)."""

    rule = "30-803"
    remedy = "Allow at most 7 seats."


class CutTooCloseToEnd(RuleFileRefused):
    """The cut distance leaves no place to cut, or is no distance at all (30-817)."""

    rule = "30-817"
    remedy = "Let the cut stand at least 5 cards from either end."


class LimitsContradict(RuleFileRefused):
    """Minimum, maximum and increment do not agree (30-803(3)(c), 30-809)."""

    rule = "30-809"
    remedy = "Keep 0 < minimum <= maximum, with an increment that reaches both."


class WagerKindsContradict(RuleFileRefused):
    """The declared wagers do not fit together: a name twice, a missing requirement, no main wager (30-807)."""

    rule = "30-807"
    remedy = "Declare `main` first and let every other wager require one declared before it."


class PayRulesContradict(RuleFileRefused):
    """The main wager's pay rules leave a result without pay or can never be reached (30-810)."""

    rule = "30-810"
    remedy = "Give each result one rule without conditions, after those with conditions."


class RulesContradict(RuleFileRefused):
    """Two options that exclude each other; the message names both."""

    remedy = "Change one of the two options that the message names."


class RulesNotConducted(RuleFileRefused):
    """An option that is lawful where Rule 8 allows it and that no service of this house can hold a table to."""

    remedy = "Choose another value; what is posted is what is played."


class GameNotApproved(Rejection):
    """A table opened with a game that is neither approved nor in field trial (30-830)."""

    rule = "30-830"
    remedy = "Open the table with a rule set whose approval status is APPROVED or FIELD_TRIAL."


class UnknownProfile(Rejection):
    """No house profile has this name."""

    rule = "30-804"
    remedy = "Use one of the profiles that `holecard rules list` prints, or a file."

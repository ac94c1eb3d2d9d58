"""The choices that a house has, one enum an option, and the small records that house rules are made of.

Owns the words and what they mean. Which combinations are lawful is the business of `rule_bounds`.
"""

from dataclasses import dataclass
from enum import StrEnum


class ApprovalStatus(StrEnum):
    """How far a game has come with the Division (30-830)."""

    DRAFT = "draft"
    FIELD_TRIAL = "field-trial"
    APPROVED = "approved"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class Approval:
    """The Division's word on a rule set: its status, and the letter's or notice's reference ("" while a draft)."""

    status: ApprovalStatus
    ref: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """The posted betting limits of the main wager, in cents (30-803(3)(c), 30-809)."""

    minimum_cents: int
    maximum_cents: int
    increment_cents: int


class Soft17(StrEnum):
    """What the dealer does with a soft 17 (30-803(3)(a), 30-826)."""

    STAND = "stand"
    HIT = "hit"


class InsuranceRule(StrEnum):
    """Whether insurance is offered, and for how much of the main wager (30-812)."""

    OFF = "off"
    UP_TO_HALF = "up-to-half"
    EXACTLY_HALF = "exactly-half"


class DoubleOn(StrEnum):
    """The first two cards that may be doubled (30-813). HARD_ONLY bars soft totals; the ranges are hard or soft."""

    ANY_TWO = "any-two"
    NINE_TO_ELEVEN = "nine-to-eleven"
    TEN_ELEVEN = "ten-eleven"
    HARD_ONLY = "hard-only"


class Face(StrEnum):
    """How the card of a double is laid (30-813)."""

    UP = "up"
    DOWN = "down"


class SplitBy(StrEnum):
    """What makes a pair: equal value, so that king and queen split, or equal rank (30-814)."""

    VALUE = "value"
    RANK = "rank"


class Surrender(StrEnum):
    """When half the wager may be given up (30-829).

    LATE waits for the dealer's check, EARLY comes before it, EARLY_VS_TEN is early against a ten-value up card and late
    otherwise.
    """

    NONE = "none"
    LATE = "late"
    EARLY = "early"
    EARLY_VS_TEN = "early-vs-ten"


class HoleCard(StrEnum):
    """Whether the dealer has a hole card and under which up cards it is checked (30-823)."""

    PEEK_ACE_TEN = "peek-ace-ten"
    PEEK_ACE = "peek-ace"
    NO_PEEK = "no-peek"
    NO_HOLE_CARD = "no-hole-card"


class DealerShows(StrEnum):
    """What players see of the dealer's first two cards: the up card, or both (30-899.02)."""

    UP_CARD = "up-card"
    BOTH_CARDS = "both-cards"


class DealerBlackjackTakes(StrEnum):
    """What a dealer's blackjack that is found late collects: the original wager only, or doubles and splits too."""

    ORIGINAL = "original"
    ALL = "all"


class Shuffle(StrEnum):
    """Who shuffles (30-816): the dealer, a batch machine, or a shuffling shoe that never ends (30-802(10))."""

    HAND = "hand"
    BATCH = "batch"
    CONTINUOUS = "continuous"


class CutCardFirst(StrEnum):
    """What follows when the cutting card is the first card of a round (30-816)."""

    PLAY_ONE_MORE = "play-one-more"
    SHUFFLE_NOW = "shuffle-now"


class BurnCardVisible(StrEnum):
    """Whether players may see a burned card (30-819)."""

    NEVER = "never"
    ON_REQUEST = "on-request"
    ALWAYS = "always"


class DealStyle(StrEnum):
    """How the players' cards come (30-818)."""

    SHOE_UP = "shoe-up"
    HAND_DOWN = "hand-down"
    HAND_UP = "hand-up"
    ELECTRONIC = "electronic"


class MidShoeEntry(StrEnum):
    """Whether one who sat out may join before the shuffle; LIMITED caps his wager until then (30-809)."""

    OPEN = "open"
    CLOSED = "closed"
    LIMITED = "limited"


class Rounding(StrEnum):
    """The one recorded rounding rule of a payment (30-810); its value is the id that is kept with every payment."""

    EXACT = "exact"
    DOWN_TO_CHIP = "down-to-chip"
    UP_TO_CHIP = "up-to-chip"

"""The words of a round: phases, choices, outcomes, and the small records that its events and commands are made of.

Owns the vocabulary, decides nothing. Enum member names are the names on the wire, so they never change; money is
integer cents.
"""

from enum import StrEnum
from fractions import Fraction

from services.game.cards import Card
from services.game.record import Record


class Phase(StrEnum):
    """Where a round stands (DESIGN §5); COMPLETE after the cards are picked up."""

    BETTING = "betting"
    DEALING = "dealing"
    INSURANCE = "insurance"
    PEEK = "peek"
    PLAYERS = "players"
    DEALER = "dealer"
    SETTLING = "settling"
    PICKUP = "pickup"
    COMPLETE = "complete"


class Action(StrEnum):
    """What a player may be asked to choose between (30-812 to 30-814, 30-821, 30-829)."""

    HIT = "hit"
    STAND = "stand"
    DOUBLE = "double"
    SPLIT = "split"
    SURRENDER = "surrender"
    INSURE = "insure"
    DECLINE_INSURANCE = "decline-insurance"
    EVEN_MONEY = "even-money"
    DECLINE_SURRENDER = "decline-surrender"


class DecidedBy(StrEnum):
    """Who made a choice: the player, the dealer who heard him or closed the offer, or the system after a time-out."""

    PLAYER = "player"
    DEALER = "dealer"
    SYSTEM = "system"


class Recipient(StrEnum):
    """Whose card it is."""

    PLAYER = "player"
    DEALER = "dealer"


class HandStatus(StrEnum):
    """What became of a hand so far; everything but PLAYING takes no further card by itself."""

    PLAYING = "playing"
    STOOD = "stood"
    NATURAL = "natural"
    BUST = "bust"
    SURRENDERED = "surrendered"
    EVEN_MONEY = "even-money"
    VOIDED = "voided"


class HoleQuestion(StrEnum):
    """What the shoe is asked about the face-down card; it answers yes or no and never the card (30-823)."""

    IS_TEN_VALUE = "is-ten-value"
    IS_ACE = "is-ace"


class Outcome(StrEnum):
    """How one stake ended."""

    WIN = "win"
    LOSE = "lose"
    PUSH = "push"
    BLACKJACK = "blackjack"
    SURRENDER = "surrender"
    BUST = "bust"
    EVEN_MONEY = "even-money"


class Cause(StrEnum):
    """Why it ended so.

    A push is a TIE, a BJ_TIE, a VOIDED hand (30-808, 30-828(1)) or a wager that ORIGINAL_ONLY gives back.
    """

    HIGHER_TOTAL = "higher-total"
    DEALER_BUST = "dealer-bust"
    DEALER_BLACKJACK = "dealer-blackjack"
    NO_DEALER_BLACKJACK = "no-dealer-blackjack"
    NATURAL = "natural"
    PLAYER_BUST = "player-bust"
    SURRENDERED = "surrendered"
    EVEN_MONEY_TAKEN = "even-money-taken"
    TIE = "tie"
    BJ_TIE = "bj-tie"
    ORIGINAL_ONLY = "original-only"
    VOIDED = "voided"


class SeatedPlayer(Record, frozen=True):
    """Who holds a seat when the round opens; `sat_out` says that he did not play the round before (30-809)."""

    seat: int
    player: str
    sat_out: bool = False


class Wager(Record, frozen=True):
    """One wager that a player puts down before the cards: `kind` is a kind of the rule set, normally "main"."""

    seat: int
    player: str
    kind: str
    amount_cents: int


class Stake(Record, frozen=True):
    """A stake that is locked on a hand. With round and seat, (kind, ordinal) names its hold; ordinals count from 1."""

    kind: str
    ordinal: int
    amount_cents: int


class Target(Record, frozen=True):
    """Where a card goes.

    `seat` and `hand` say which player's hand (both 0 for the dealer); `hand` counts from 0 in playing order.
    `dealer_hand` counts from 0 and is 0 for players.
    """

    to: Recipient
    seat: int
    hand: int
    dealer_hand: int
    face_down: bool


class DealtCard(Record, frozen=True):
    """A card as the shoe gives it: its position in the shoe, and None as the card when it lies face down."""

    position: int
    card: Card | None


class SettlementLine(Record, frozen=True):
    """How one stake ended, in money.

    `due` is exactly what comes back for it in cents, the stake included; `returned_cents` is that after rounding;
    `breakage` = due - returned_cents. The house keeps stake_cents - returned_cents (negative when it pays).
    """

    seat: int
    hand: int
    player: str
    kind: str
    ordinal: int
    outcome: Outcome
    cause: Cause
    stake_cents: int
    due: Fraction
    returned_cents: int
    breakage: Fraction

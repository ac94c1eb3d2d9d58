"""Surveillance's own view of a round's events on the table's stream: the fields that the second opinion needs.

Owns dataclasses and the wire's words. `hand` counts from 0 in playing order at the time of the event; (seat, kind,
ordinal) names a stake for the whole round. Amounts are integer cents, `due` is exact.
"""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from services.game.cards import Card


class DecidedBy(StrEnum):
    """Who made a choice."""

    PLAYER = "player"
    DEALER = "dealer"
    SYSTEM = "system"


class Recipient(StrEnum):
    """Whose card it is."""

    PLAYER = "player"
    DEALER = "dealer"


class HoleQuestion(StrEnum):
    """What the shoe was asked about the hole card (30-823)."""

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
    """Why it ended so."""

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


@dataclass(frozen=True, slots=True)
class SeatedPlayer:
    """Who held a seat when the round opened."""

    seat: int
    player: str
    sat_out: bool = False


@dataclass(frozen=True, slots=True)
class RoundOpened:
    """Betting is open, under the rule set with this digest."""

    round_id: str
    rules_name: str
    rules_version: int
    rules_digest: str
    seats: tuple[SeatedPlayer, ...]
    first_of_shoe: bool


@dataclass(frozen=True, slots=True)
class WagerPlaced:
    """A wager made before the cards stands (30-807)."""

    seat: int
    player: str
    hand: int
    kind: str
    ordinal: int
    amount_cents: int


@dataclass(frozen=True, slots=True)
class BettingClosed:
    """No more wagers; cards go to these seats."""

    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CardDealt:
    """A card was laid down."""

    position: int
    card: Card | None
    to: Recipient
    seat: int
    hand: int
    dealer_hand: int
    face_down: bool


@dataclass(frozen=True, slots=True)
class InsurancePlaced:
    """A player insured (30-812)."""

    seat: int
    hand: int
    kind: str
    ordinal: int
    amount_cents: int
    by: DecidedBy


@dataclass(frozen=True, slots=True)
class InsuranceDeclined:
    """A player did without insurance."""

    seat: int
    hand: int
    by: DecidedBy


@dataclass(frozen=True, slots=True)
class EvenMoneyTaken:
    """A player with a blackjack took 1 to 1."""

    seat: int
    hand: int
    by: DecidedBy


@dataclass(frozen=True, slots=True)
class InsuranceClosed:
    """The offer ended."""

    by: DecidedBy


@dataclass(frozen=True, slots=True)
class HoleChecked:
    """Whether the hole card makes a blackjack is known (30-823)."""

    position: int
    question: HoleQuestion
    makes_blackjack: bool


@dataclass(frozen=True, slots=True)
class SurrenderDeclined:
    """A player kept the hand when surrender was offered before the check."""

    seat: int
    hand: int
    by: DecidedBy


@dataclass(frozen=True, slots=True)
class HandHit:
    """A player asked for a card (30-826)."""

    seat: int
    hand: int
    by: DecidedBy


@dataclass(frozen=True, slots=True)
class HandStood:
    """A hand takes no more cards."""

    seat: int
    hand: int
    by: DecidedBy


@dataclass(frozen=True, slots=True)
class HandDoubled:
    """A hand was doubled (30-813)."""

    seat: int
    hand: int
    kind: str
    ordinal: int
    amount_cents: int
    by: DecidedBy


@dataclass(frozen=True, slots=True)
class HandSplit:
    """A pair became two hands (30-814); the stake belongs to `new_hand`."""

    seat: int
    hand: int
    new_hand: int
    kind: str
    ordinal: int
    amount_cents: int
    by: DecidedBy


@dataclass(frozen=True, slots=True)
class HandSurrendered:
    """Half the wager was given up (30-829)."""

    seat: int
    hand: int
    by: DecidedBy


@dataclass(frozen=True, slots=True)
class HoleRevealed:
    """The dealer's face-down card was turned over."""

    position: int
    card: Card
    dealer_hand: int


@dataclass(frozen=True, slots=True)
class DoubleRevealed:
    """The face-down card of a doubled hand was turned over."""

    position: int
    card: Card
    seat: int
    hand: int


@dataclass(frozen=True, slots=True)
class HandVoided:
    """A pit supervisor called one hand a push (30-828(1))."""

    seat: int
    hand: int
    supervisor: str
    reason: str


@dataclass(frozen=True, slots=True)
class RoundVoided:
    """A pit supervisor called every open hand a push (30-828(1))."""

    supervisor: str
    reason: str


@dataclass(frozen=True, slots=True)
class SettlementLine:
    """How one stake ended, in money."""

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


@dataclass(frozen=True, slots=True)
class WagersSettled:
    """Stakes ended, one line each."""

    revision: int
    lines: tuple[SettlementLine, ...]


@dataclass(frozen=True, slots=True)
class CardsPickedUp:
    """The cards went to the discard rack (30-822)."""

    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RoundCompleted:
    """The round ended."""

    staked_cents: int
    returned_cents: int


VIEWS: tuple[type, ...] = (
    RoundOpened,
    WagerPlaced,
    BettingClosed,
    CardDealt,
    InsurancePlaced,
    InsuranceDeclined,
    EvenMoneyTaken,
    InsuranceClosed,
    HoleChecked,
    SurrenderDeclined,
    HandHit,
    HandStood,
    HandDoubled,
    HandSplit,
    HandSurrendered,
    HoleRevealed,
    DoubleRevealed,
    HandVoided,
    RoundVoided,
    WagersSettled,
    CardsPickedUp,
    RoundCompleted,
)

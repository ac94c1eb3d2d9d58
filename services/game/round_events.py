"""What happens in a round: its events, past tense, one screen. Carried on the table's stream as `holecard.table.v1.*`.

Events that raise a stake say seat, hand, kind, ordinal and amount, which with the round's id name the hold. What
follows from the rules alone (whose turn it is, a 21 that stands by itself, a bust) is not an event: folding works it
out; where it moves money, the `WagersSettled` beside it says so. Amounts are integer cents.
"""

from dataclasses import dataclass

from services.game.cards import Card
from services.game.round_words import DecidedBy, HoleQuestion, Recipient, SeatedPlayer, SettlementLine


@dataclass(frozen=True, slots=True)
class RoundOpened:
    """Betting is open, under the rule set with this digest; a round is settled under the rules it was dealt under."""

    round_id: str
    rules_name: str
    rules_version: int
    rules_digest: str
    seats: tuple[SeatedPlayer, ...]
    first_of_shoe: bool


@dataclass(frozen=True, slots=True)
class WagerPlaced:
    """A wager made before the cards stands and is locked (30-807, 30-809)."""

    seat: int
    player: str
    hand: int
    kind: str
    ordinal: int
    amount_cents: int


@dataclass(frozen=True, slots=True)
class BettingClosed:
    """No more wagers; cards go to these seats, in this order (30-820)."""

    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CardDealt:
    """A card was laid down (30-818). `card` is None while it lies face down: nobody at the table knows it."""

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
    """A player with a blackjack took 1 to 1 before the dealer's check (30-812)."""

    seat: int
    hand: int
    by: DecidedBy


@dataclass(frozen=True, slots=True)
class InsuranceClosed:
    """The offer ended; whoever had not answered declined."""

    by: DecidedBy


@dataclass(frozen=True, slots=True)
class HoleChecked:
    """The hole card was checked, and only whether it makes a blackjack is known (30-823)."""

    position: int
    question: HoleQuestion
    makes_blackjack: bool


@dataclass(frozen=True, slots=True)
class SurrenderDeclined:
    """A player kept the hand when surrender was offered before the check (30-829)."""

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
    """A hand takes no more cards; `by` SYSTEM after a time-out."""

    seat: int
    hand: int
    by: DecidedBy


@dataclass(frozen=True, slots=True)
class HandDoubled:
    """A hand was doubled, perhaps for less, and gets exactly one card (30-813)."""

    seat: int
    hand: int
    kind: str
    ordinal: int
    amount_cents: int
    by: DecidedBy


@dataclass(frozen=True, slots=True)
class HandSplit:
    """A pair became two hands (30-814).

    `hand` keeps the first card; the stake here belongs to `new_hand`, right after it.
    """

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
    """The dealer's face-down card was turned over (30-823)."""

    position: int
    card: Card
    dealer_hand: int


@dataclass(frozen=True, slots=True)
class DoubleRevealed:
    """The face-down card of a doubled hand was turned over (30-813)."""

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
    """A pit supervisor called every hand not yet settled a push; no more cards are dealt (30-828(1))."""

    supervisor: str
    reason: str


@dataclass(frozen=True, slots=True)
class WagersSettled:
    """Stakes ended, one line each. `revision` counts a round's settlements from 1 and with its id names this one."""

    revision: int
    lines: tuple[SettlementLine, ...]


@dataclass(frozen=True, slots=True)
class CardsPickedUp:
    """The cards went to the discard rack, in this order of shoe positions (30-822)."""

    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RoundCompleted:
    """The round ended: all that was staked, and all that came back for it."""

    staked_cents: int
    returned_cents: int


EVENTS: tuple[type, ...] = (
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

RoundEvent = (
    RoundOpened
    | WagerPlaced
    | BettingClosed
    | CardDealt
    | InsurancePlaced
    | InsuranceDeclined
    | EvenMoneyTaken
    | InsuranceClosed
    | HoleChecked
    | SurrenderDeclined
    | HandHit
    | HandStood
    | HandDoubled
    | HandSplit
    | HandSurrendered
    | HoleRevealed
    | DoubleRevealed
    | HandVoided
    | RoundVoided
    | WagersSettled
    | CardsPickedUp
    | RoundCompleted
)

"""What happens in a round: its events, past tense, one screen. Carried on the table's stream as `holecard.table.v1.*`.

Events that raise a stake say seat, hand, kind, ordinal and amount, which with the round's id name the hold. What
follows from the rules alone (whose turn it is, a 21 that stands by itself, a bust) is not an event: folding works it
out; where it moves money, the `WagersSettled` beside it says so. Amounts are integer cents.
"""

from services.game.cards import Card
from services.game.record import Record
from services.game.round_words import DecidedBy, HoleQuestion, Recipient, SeatedPlayer, SettlementLine


class RoundOpened(Record, frozen=True):
    """Betting is open, under the rule set with this digest; a round is settled under the rules it was dealt under."""

    round_id: str
    rules_name: str
    rules_version: int
    rules_digest: str
    seats: tuple[SeatedPlayer, ...]
    first_of_shoe: bool


class WagerPlaced(Record, frozen=True):
    """A wager made before the cards stands and is locked (30-807, 30-809)."""

    seat: int
    player: str
    hand: int
    kind: str
    ordinal: int
    amount_cents: int


class BettingClosed(Record, frozen=True):
    """No more wagers; cards go to these seats, in this order (30-820)."""

    seats: tuple[int, ...]


class CardDealt(Record, frozen=True):
    """A card was laid down (30-818). `card` is None while it lies face down: nobody at the table knows it."""

    position: int
    card: Card | None
    to: Recipient
    seat: int
    hand: int
    dealer_hand: int
    face_down: bool


class InsurancePlaced(Record, frozen=True):
    """A player insured (30-812)."""

    seat: int
    hand: int
    kind: str
    ordinal: int
    amount_cents: int
    by: DecidedBy


class InsuranceDeclined(Record, frozen=True):
    """A player did without insurance."""

    seat: int
    hand: int
    by: DecidedBy


class EvenMoneyTaken(Record, frozen=True):
    """A player with a blackjack took 1 to 1 before the dealer's check (30-812)."""

    seat: int
    hand: int
    by: DecidedBy


class InsuranceClosed(Record, frozen=True):
    """The offer ended; whoever had not answered declined."""

    by: DecidedBy


class HoleChecked(Record, frozen=True):
    """The hole card was checked, and only whether it makes a blackjack is known (30-823)."""

    position: int
    question: HoleQuestion
    makes_blackjack: bool


class SurrenderDeclined(Record, frozen=True):
    """A player kept the hand when surrender was offered before the check (30-829)."""

    seat: int
    hand: int
    by: DecidedBy


class HandHit(Record, frozen=True):
    """A player asked for a card (30-826)."""

    seat: int
    hand: int
    by: DecidedBy


class HandStood(Record, frozen=True):
    """A hand takes no more cards; `by` SYSTEM after a time-out."""

    seat: int
    hand: int
    by: DecidedBy


class HandDoubled(Record, frozen=True):
    """A hand was doubled, perhaps for less, and gets exactly one card (30-813)."""

    seat: int
    hand: int
    kind: str
    ordinal: int
    amount_cents: int
    by: DecidedBy


class HandSplit(Record, frozen=True):
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


class HandSurrendered(Record, frozen=True):
    """Half the wager was given up (30-829)."""

    seat: int
    hand: int
    by: DecidedBy


class HoleRevealed(Record, frozen=True):
    """The dealer's face-down card was turned over (30-823)."""

    position: int
    card: Card
    dealer_hand: int


class DoubleRevealed(Record, frozen=True):
    """The face-down card of a doubled hand was turned over (30-813)."""

    position: int
    card: Card
    seat: int
    hand: int


class HandVoided(Record, frozen=True):
    """A pit supervisor called one hand a push (30-828(1))."""

    seat: int
    hand: int
    supervisor: str
    reason: str


class RoundVoided(Record, frozen=True):
    """A pit supervisor called every hand not yet settled a push; no more cards are dealt (30-828(1))."""

    supervisor: str
    reason: str


class WagersSettled(Record, frozen=True):
    """Stakes ended, one line each. `revision` counts a round's settlements from 1 and with its id names this one."""

    revision: int
    lines: tuple[SettlementLine, ...]


class CardsPickedUp(Record, frozen=True):
    """The cards went to the discard rack, in this order of shoe positions (30-822)."""

    order: tuple[int, ...]


class RoundCompleted(Record, frozen=True):
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

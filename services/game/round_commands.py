"""What can be asked of a round: commands, imperative, one screen.

Cards come in as commands, since the round draws nothing itself. `player` is the id of who chooses; "" means that the
dealer acts for whoever is in turn, as at a physical table. Amounts are integer cents.
"""

from dataclasses import dataclass

from services.game.cards import Card
from services.game.round_marks import BY_DEALER, BY_PLAYER
from services.game.round_words import DealtCard, DecidedBy, Wager


def decided_by(player: str) -> DecidedBy:
    """A command with a player's id is his own choice; without one the dealer acted for him."""
    return BY_PLAYER if player else BY_DEALER


@dataclass(frozen=True, slots=True)
class PlaceWagers:
    """Put down wagers, one or many seats at once: all stand or none (30-807, 30-809, 30-827).

    The same again changes nothing.
    """

    wagers: tuple[Wager, ...]


@dataclass(frozen=True, slots=True)
class CloseBetting:
    """No more wagers; the cards come (30-807)."""


@dataclass(frozen=True, slots=True)
class DealCards:
    """Lay drawn cards on the targets of the `DrawCards` step, in its order; fewer than it names is allowed, more is not."""

    cards: tuple[DealtCard, ...]


@dataclass(frozen=True, slots=True)
class TakeInsurance:
    """Insure against a dealer's blackjack (30-812). `amount_cents` 0 means the half of the wager."""

    seat: int
    player: str = ""
    amount_cents: int = 0


@dataclass(frozen=True, slots=True)
class DeclineInsurance:
    """Do without insurance and even money."""

    seat: int
    player: str = ""


@dataclass(frozen=True, slots=True)
class TakeEvenMoney:
    """With a blackjack against an ace: be paid 1 to 1 now (30-812)."""

    seat: int
    player: str = ""


@dataclass(frozen=True, slots=True)
class CloseInsurance:
    """The dealer closes the offer: who has not answered declines. `by_timeout` marks it as the system's decision."""

    by_timeout: bool = False


@dataclass(frozen=True, slots=True)
class RecordHoleCheck:
    """The shoe's answer to `CheckHoleCard`, yes or no (30-823)."""

    makes_blackjack: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """Draw one more card (30-826)."""

    seat: int
    hand: int
    player: str = ""


@dataclass(frozen=True, slots=True)
class Stand:
    """Take no more cards (30-821)."""

    seat: int
    hand: int
    player: str = ""


@dataclass(frozen=True, slots=True)
class DoubleDown:
    """Raise the wager and take exactly one card (30-813). `amount_cents` 0 means as much as the hand's wager."""

    seat: int
    hand: int
    player: str = ""
    amount_cents: int = 0


@dataclass(frozen=True, slots=True)
class Split:
    """Make two hands of a pair with an equal wager (30-814). `amount_cents` 0 means just that wager."""

    seat: int
    hand: int
    player: str = ""
    amount_cents: int = 0


@dataclass(frozen=True, slots=True)
class SurrenderHand:
    """Surrender half the wager (30-829)."""

    seat: int
    hand: int
    player: str = ""


@dataclass(frozen=True, slots=True)
class DeclineSurrender:
    """Keep the hand when surrender is offered before the dealer's check (early surrender, 30-829)."""

    seat: int
    hand: int
    player: str = ""


@dataclass(frozen=True, slots=True)
class StandByTimeout:
    """The player did not act in time: the system lets the hand stand, or keeps it when early surrender was asked."""

    seat: int
    hand: int


@dataclass(frozen=True, slots=True)
class RevealHole:
    """Turn over the card that lies face down at this shoe position: the hole card, or a doubled hand's card."""

    position: int
    card: Card


@dataclass(frozen=True, slots=True)
class VoidHand:
    """A pit supervisor's decision: call one hand a push (30-828(1)). The table checks the supervisor's authority."""

    seat: int
    hand: int
    supervisor: str
    reason: str


@dataclass(frozen=True, slots=True)
class VoidRound:
    """A pit supervisor's decision: call every hand that is not yet settled a push and end the round (30-828(1))."""

    supervisor: str
    reason: str


@dataclass(frozen=True, slots=True)
class SettleWagers:
    """Settle every stake that is still open (30-807, 30-808, 30-810)."""


@dataclass(frozen=True, slots=True)
class PickUpHands:
    """Take the cards from the layout in an order that lets each hand be rebuilt (30-822); the round is complete."""


Command = (
    PlaceWagers
    | CloseBetting
    | DealCards
    | TakeInsurance
    | DeclineInsurance
    | TakeEvenMoney
    | CloseInsurance
    | RecordHoleCheck
    | Hit
    | Stand
    | DoubleDown
    | Split
    | SurrenderHand
    | DeclineSurrender
    | StandByTimeout
    | RevealHole
    | VoidHand
    | VoidRound
    | SettleWagers
    | PickUpHands
)

"""What a table can be asked to do, imperative, on one screen.

`session` is what SeatPlayer answered: players are known by it, never by their seat (D05). `round_id` says for which round a
command is meant, so that a late one never acts on the next. Amounts are integer cents. The commands at the end are the
table's own: no floor can send them.
"""

from dataclasses import dataclass

from services.game.round_commands import Command as RoundCommand
from services.game.round_words import Action
from services.table.readings import Observation
from services.table.words import ChipCount, RackChange, SeatWager


@dataclass(frozen=True, slots=True)
class PostRules:
    """Put a rule set on display, between rounds (30-803(3), 30-804). `rules_text` is a rule file's TOML."""

    rules_text: str


@dataclass(frozen=True, slots=True)
class OpenTable:
    """Open for play with the tray's counted chips. An empty `rules_text` keeps the rules that are posted already.

    `observed`: devices tell what happens at this table, and the backend conducts nothing (DESIGN §5).
    """

    rules_text: str
    tray: tuple[ChipCount, ...]
    dealer: str
    observed: bool = False


@dataclass(frozen=True, slots=True)
class CloseTable:
    """End the period: between rounds, with nobody seated."""


@dataclass(frozen=True, slots=True)
class ChangeLimits:
    """Announce other limits; they hold between rounds only, after the posted notice when players are seated (30-809)."""

    minimum_cents: int
    maximum_cents: int
    increment_cents: int


@dataclass(frozen=True, slots=True)
class SetDealer:
    """Another dealer takes the table, between rounds."""

    dealer: str


@dataclass(frozen=True, slots=True)
class SeatPlayer:
    """Seat a patron, who may bring `chips_cents` along; seats count from 1, from the dealer's left."""

    patron: str
    seat: int
    chips_cents: int = 0


@dataclass(frozen=True, slots=True)
class LeaveSeat:
    """The patron goes, with his whole rack: at once, or after the round in which he has a stake (D07)."""

    session: str


@dataclass(frozen=True, slots=True)
class BuyIn:
    """Cash, counted in the patron's view, for exactly as much in chips, while he has no stake in play (30-831)."""

    receipt: str
    session: str
    cash: tuple[ChipCount, ...]
    chips_cents: int


@dataclass(frozen=True, slots=True)
class CashOut:
    """The patron takes chips from his rack away, while he has no stake in play."""

    receipt: str
    session: str
    amount_cents: int


@dataclass(frozen=True, slots=True)
class GiveTip:
    """The patron gives chips from his rack to the dealers, where tips are accepted (30-803(3)(i))."""

    receipt: str
    session: str
    amount_cents: int


@dataclass(frozen=True, slots=True)
class PlayCash:
    """A wager in cash on the layout, where cash plays are accepted (30-809): counted, dropped for chips, and wagered whole.

    `receipt` names the purchase as in BuyIn; `kind` is the wager's, normally "main".
    """

    round_id: str
    session: str
    seat: int
    kind: str
    receipt: str
    cash: tuple[ChipCount, ...]


@dataclass(frozen=True, slots=True)
class OpenBetting:
    """Begin the next round: wagers may be placed."""


@dataclass(frozen=True, slots=True)
class PlaceWagers:
    """Put down wagers of one or many seats: all or none. The same again, under any request id, changes nothing."""

    round_id: str
    wagers: tuple[SeatWager, ...]


@dataclass(frozen=True, slots=True)
class CloseBetting:
    """No more wagers; the table deals."""

    round_id: str


@dataclass(frozen=True, slots=True)
class TakeInsurance:
    """Insure a seat's hand; 0 means half of its wager (30-812)."""

    round_id: str
    session: str
    seat: int
    amount_cents: int = 0


@dataclass(frozen=True, slots=True)
class DeclineInsurance:
    """Do without insurance and even money."""

    round_id: str
    session: str
    seat: int


@dataclass(frozen=True, slots=True)
class TakeEvenMoney:
    """With a blackjack against an ace: be paid 1 to 1 now (30-812)."""

    round_id: str
    session: str
    seat: int


@dataclass(frozen=True, slots=True)
class CloseInsurance:
    """The dealer closes the offer; who has not answered declines."""

    round_id: str


@dataclass(frozen=True, slots=True)
class Act:
    """Play a hand: hit, stand, double, split, surrender, or keep it when early surrender is asked (30-813 to 30-829).

    `amount_cents` is the extra stake of a double or split, 0 for as much as the hand's wager. `turn` is the number of the
    question that is answered (TableView.turn): an answer that was recorded already changes nothing, another one is refused.
    0 answers whatever is asked now, and then only the request id keeps it from acting twice.
    """

    round_id: str
    session: str
    seat: int
    hand: int
    action: Action
    amount_cents: int = 0
    turn: int = 0


@dataclass(frozen=True, slots=True)
class Suspend:
    """Stop play at once because something is wrong (30-828)."""

    reason: str


@dataclass(frozen=True, slots=True)
class Resume:
    """A pit supervisor lets play go on."""

    basis: str
    remedy: str


@dataclass(frozen=True, slots=True)
class VoidHand:
    """A pit supervisor calls one hand a push (30-828(1))."""

    round_id: str
    seat: int
    hand: int
    reason: str


@dataclass(frozen=True, slots=True)
class VoidRound:
    """A pit supervisor calls every hand not yet settled a push (30-828(1))."""

    round_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class RecordObservations:
    """Put on record what devices saw, in this order; sent by gateways, again and again until it is answered."""

    observations: tuple[Observation, ...]


# The table's own ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AnnounceLimits:
    """ChangeLimits, with the time by the table's clock."""

    limits: ChangeLimits
    now_us: int


@dataclass(frozen=True, slots=True)
class OpenRound:
    """OpenBetting, with the table's time and what the shoe says of itself. `refusal`: why it cannot deal, or ""."""

    now_us: int
    shoe_id: str
    decks: int
    continuous: bool
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class NoteRackChange:
    """What the wager service answered to a buy-in or cash-out."""

    session: str
    change: RackChange
    receipt: str
    amount_cents: int
    rack_cents: int


@dataclass(frozen=True, slots=True)
class ExpireDecision:
    """The deadline of a question passed by the table's clock."""

    round_id: str
    deadline_us: int
    now_us: int


@dataclass(frozen=True, slots=True)
class PlayOn:
    """What the conductor feeds into the round: cards, the shoe's answers, settlement, pickup."""

    command: RoundCommand


PublicCommand = (
    PostRules
    | OpenTable
    | CloseTable
    | ChangeLimits
    | SetDealer
    | SeatPlayer
    | LeaveSeat
    | BuyIn
    | CashOut
    | GiveTip
    | OpenBetting
    | PlaceWagers
    | PlayCash
    | CloseBetting
    | TakeInsurance
    | DeclineInsurance
    | TakeEvenMoney
    | CloseInsurance
    | Act
    | Suspend
    | Resume
    | VoidHand
    | VoidRound
)
Command = PublicCommand | AnnounceLimits | OpenRound | NoteRackChange | ExpireDecision | PlayOn

"""What the ledger can be asked to do. Every command names the business id of its effect, so that it happens once.

All amounts are integer cents. `kind`, `outcome` and `cause` are the round's own words (a letter, then letters, digits, "_"
or "-", at most 40): the ledger keeps them and never acts on them, so that no game's name is known here.
"""

from dataclasses import dataclass
from fractions import Fraction

from services.game.money import Rounding
from services.wager.accounts import Count
from services.wager.events import Direction


@dataclass(frozen=True, slots=True)
class OpenLedger:
    """Count the tray in, before the table's first round of a period: chips come from outside. Supervisor or system."""

    opening: str
    inventory: tuple[Count, ...]


@dataclass(frozen=True, slots=True)
class CloseLedger:
    """Send tray, drop box and tips away at the end of a period, when nobody is seated. Supervisor or system."""

    closing: str


@dataclass(frozen=True, slots=True)
class OpenSeatSession:
    """A patron sits down: his rack account begins, with `chips_cents` (0 or more) that he brought along.

    `seat` (1 to 7) is where he sits, for messages and statements; the rack belongs to the session, never to the seat.
    """

    session: str
    patron: str
    seat: int
    chips_cents: int = 0


@dataclass(frozen=True, slots=True)
class BuyIn:
    """Cash, counted note by note in the patron's view, for chips of exactly that sum (30-831)."""

    buy_in: str
    session: str
    cash: tuple[Count, ...]
    chips_cents: int


@dataclass(frozen=True, slots=True)
class BringChips:
    """Chips that a patron laid down at an observed table and that the ledger did not know he had: from his pocket."""

    sighting: str
    session: str
    amount_cents: int


@dataclass(frozen=True, slots=True)
class Stake:
    """One stake to be held: its id (round, seat, kind, ordinal), whose it is, what for, how much."""

    hold: str
    session: str
    kind: str
    amount_cents: int


@dataclass(frozen=True, slots=True)
class HoldStakes:
    """Put the stakes of any number of seats in escrow: all of them or none. The table (system) only."""

    round_id: str
    stakes: tuple[Stake, ...]


@dataclass(frozen=True, slots=True)
class VoidHolds:
    """Give stakes back undecided: a wager that the round never took. The table (system) or a supervisor."""

    round_id: str
    holds: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class SettlementLine:
    """One wager of one hand, decided.

    `due` is the exact amount in cents that goes back to the patron, stake included (0 lost; the stake for a push);
    `returned_cents` is `due` after the rounding rule, and `breakage` = due - returned_cents. `for_dealers`: all that comes
    back is a tip, as of a won toke that rode on a wager (30-803(3)(i)).
    """

    seat: int
    hand: int
    kind: str
    holds: tuple[str, ...]
    outcome: str
    cause: str
    stake_cents: int
    due: Fraction
    returned_cents: int
    breakage: Fraction
    for_dealers: bool = False


@dataclass(frozen=True, slots=True)
class SettleRound:
    """Decide stakes of a round, all lines in one call. The table (system) only.

    `revision` counts the round's settlements from 1, upwards. The `final` one must leave no stake in play (L9); those before
    it decide what is decided early, as insurance is.
    """

    settlement: str
    round_id: str
    revision: int
    rounding: Rounding
    chip_cents: int
    lines: tuple[SettlementLine, ...]
    final: bool = True


@dataclass(frozen=True, slots=True)
class GiveTip:
    """Chips from the patron's rack to the dealers."""

    tip: str
    session: str
    amount_cents: int


@dataclass(frozen=True, slots=True)
class CashOut:
    """The patron takes free chips away from the table, to the cage or his pocket. Stakes in play stay (C04)."""

    cash_out: str
    session: str
    amount_cents: int


@dataclass(frozen=True, slots=True)
class CloseSeatSession:
    """The patron leaves with his whole rack; refused while a stake of his is in play. Leaving twice is leaving once."""

    session: str


@dataclass(frozen=True, slots=True)
class FillTray:
    """Chips from the cage to the tray, by slip number. Supervisor only."""

    slip: str
    inventory: tuple[Count, ...]


@dataclass(frozen=True, slots=True)
class CreditTray:
    """Chips from the tray to the cage, by slip number. Supervisor only."""

    slip: str
    inventory: tuple[Count, ...]


@dataclass(frozen=True, slots=True)
class CorrectPayment:
    """Mend a wrong payment of a settled line, which `hold` names (30-828(1)). Supervisor only.

    The settlement stands as it was recorded; the correction is a further event that names it. A patron who left and came
    back is paid at his new seat session.
    """

    correction: str
    settlement: str
    round_id: str
    hold: str
    direction: Direction
    amount_cents: int
    reason: str


Command = (
    OpenLedger
    | CloseLedger
    | OpenSeatSession
    | BuyIn
    | BringChips
    | HoldStakes
    | VoidHolds
    | SettleRound
    | GiveTip
    | CashOut
    | CloseSeatSession
    | FillTray
    | CreditTray
    | CorrectPayment
)

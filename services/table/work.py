"""What a table has to do by itself next: the question that the conductor asks again and again.

Owns the order of work, no way of doing it. Pure: the same state always gives the same answer, so a conductor that starts in
the middle, after a crash or a failure, goes on exactly where the log ends.
"""

from dataclasses import dataclass

from services.game import round as game
from services.game import round_events as re
from services.game import round_steps as steps
from services.game.round_commands import SettleWagers
from services.game.round_words import Phase, Target
from services.game.rules import DealerShows, HoleCard
from services.table import events as e
from services.table.table import Play, SeatSession, Table
from services.table.words import SeatPhase


@dataclass(frozen=True, slots=True)
class OpenRack:
    """Have the wager service open the rack of a patron who sat down."""

    stay: SeatSession


@dataclass(frozen=True, slots=True)
class CloseRack:
    """Have the wager service close the rack of a patron who goes; no stake of his is in play."""

    stay: SeatSession


@dataclass(frozen=True, slots=True)
class CloseLedger:
    """Have the wager service close the ledger under this id."""

    closing: str


@dataclass(frozen=True, slots=True)
class BurnForDealer:
    """Have the shoe burn cards for a dealer change (30-819)."""

    change: int
    cards: int


@dataclass(frozen=True, slots=True)
class DrawForTargets:
    """Draw cards for these targets."""

    play: Play
    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class CheckHole:
    """Ask the shoe whether the face-down card makes a blackjack (30-823)."""

    play: Play
    position: int


@dataclass(frozen=True, slots=True)
class Reveal:
    """Have the shoe turn over the card at this position."""

    play: Play
    position: int


@dataclass(frozen=True, slots=True)
class Settle:
    """Decide every stake: the round's business alone."""


@dataclass(frozen=True, slots=True)
class PayAndPickUp:
    """Have the wager service move the money of all lines, then pick up the cards."""

    play: Play


@dataclass(frozen=True, slots=True)
class StartTimer:
    """Give whoever is asked the posted time to answer."""

    play: Play
    seconds: int


Work = (
    OpenRack
    | CloseRack
    | CloseLedger
    | BurnForDealer
    | DrawForTargets
    | CheckHole
    | Reveal
    | Settle
    | PayAndPickUp
    | StartTimer
)


def next_work(table: Table) -> Work | None:
    """What to do now, or None when the table waits for people."""
    for stay in table.seats:
        if stay.phase is SeatPhase.ARRIVING:
            return OpenRack(stay)
        if stay.phase is SeatPhase.LEAVING and not table.has_stake(stay.patron):
            return CloseRack(stay)
    if table.closing:
        return CloseLedger(table.closing)
    if table.suspended:
        return None
    if table.watch.observed:
        # A physical table is not conducted: what happens next is what its devices see next.
        return None
    if table.burn_due and (table.live is None or not table.live.cards):
        # The shoe may have been away at the change itself: the burn still comes before the next card.
        return BurnForDealer(table.dealer_changes, table.burn_due)
    return _round_work(table.live) if table.live is not None else None


def _round_work(play: Play) -> Work | None:
    if play.round.phase is Phase.BETTING:
        return None
    match game.next_step(play.round):
        case steps.DrawCards(targets):
            return DrawForTargets(play, targets)
        case steps.CheckHoleCard(position):
            return CheckHole(play, position)
        case steps.RevealHoleCard(position):
            return Reveal(play, position)
        case steps.SettleHands():
            return Settle()
        case steps.PickUpCards():
            return PayAndPickUp(play)
        case steps.AwaitDecision() | steps.AwaitInsurance():
            seconds = play.round.rules.action_timeout_seconds
            return StartTimer(play, seconds) if seconds and play.timer is None else None
        case _:
            return None


def settled(table: Table) -> tuple[e.TableEvent, ...]:
    """The settlement of every stake still open in the round in play."""
    if table.live is None:
        raise LookupError("a settlement is due without a round")
    return game.decide(table.live.round, SettleWagers())


def face_down(play: Play) -> tuple[int, ...]:
    """The positions of the round's cards that nobody has seen."""
    hidden = [hand.hidden for hand in play.round.hands] + [dealer.hole for dealer in play.round.dealers]
    return tuple(position for position in hidden if position is not None)


def lies_open(play: Play) -> bool:
    """Whether no face-down card of the dealer's keeps the shoe from being opened while the round is played (30-823)."""
    rules = play.round.rules
    return rules.hole_card is HoleCard.NO_HOLE_CARD or rules.dealer_shows is DealerShows.BOTH_CARDS


def picked_up(events: tuple[e.TableEvent, ...]) -> tuple[int, ...]:
    """The positions of the cards that these events take from the layout."""
    return tuple(position for event in events if isinstance(event, re.CardsPickedUp) for position in event.order)

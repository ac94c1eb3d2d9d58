"""What an observation means for an observed table: the round folds it, and what breaks the rules is an irregularity.

Owns the door to the folds, and people: seats, dealers, supervisors. Pure. Promises that every observation is taken as it
is: where the round would refuse a command, what was seen did happen all the same (30-828): it is recorded, play is
suspended, and only a supervisor lets it go on.
"""

from collections.abc import Callable, Mapping
from typing import Final

from services.game import round as game
from services.game import round_commands as rc
from services.game.rejections import Rejection
from services.table import commands as c
from services.table import events as e
from services.table import observed_cards as cards
from services.table import observed_play as play
from services.table import pit, seating
from services.table.observed_look import Events, Look, overplayed
from services.table.readings import IrregularityKind as Irregular
from services.table.readings import ReadingKind
from services.table.table import Table

_K = ReadingKind


def fold(look: Look) -> Events:
    """What follows from an observation at an observed table, after it was recorded as such."""
    kind = look.observation.reading.kind
    way = _FOLDS.get(kind)
    if way is None:
        return ()
    if look.table.suspended and kind not in _ALSO_SUSPENDED:
        return overplayed(look)
    return play.with_settlement(look.table, way(look))


def _seat_taken(look: Look) -> Events:
    reading = look.observation.reading
    patron = reading.person or anonymous(look.table, reading.seat)
    try:
        return seating.seat_player(look.table, c.SeatPlayer(patron, reading.seat), look.context)
    except Rejection as rejection:
        return look.refused(Irregular.SEAT_WRONG, rejection)


def _seat_left(look: Look) -> Events:
    stay = look.table.at(look.observation.reading.seat)
    if stay is None:
        return ()
    return seating.leave_seat(look.table, c.LeaveSeat(stay.session), look.context)


def _dealer_changed(look: Look) -> Events:
    try:
        return pit.set_dealer(look.table, c.SetDealer(look.observation.reading.person), look.context)
    except Rejection as rejection:
        return look.refused(Irregular.ACTION_NOT_ALLOWED, rejection)


def _supervisor_called(look: Look) -> Events:
    return () if look.table.suspended else (e.TableSuspended(look.observation.reading.note),)


def _resumed(look: Look) -> Events:
    if not look.table.suspended:
        return ()
    return (e.TableResumed(f"decided at the table: {look.table.suspended}"[:400], look.observation.reading.note),)


def _voided(look: Look) -> Events:
    reading, live = look.observation.reading, look.play
    resumed = _resumed(look)
    if live is None:
        return resumed
    try:
        voided = game.decide(live.round, rc.VoidRound(reading.person, reading.note))
    except Rejection:
        # Every wager is settled already: there is nothing left to void.
        return resumed
    return (*voided, *resumed)


def anonymous(table: Table, seat: int) -> str:
    """The name of a patron who showed no card: his stay's number makes it his alone."""
    return f"guest-{seat}-{table.sessions + 1}"


_FOLDS: Final[Mapping[ReadingKind, Callable[[Look], Events]]] = {
    **dict.fromkeys(play.CHOICES, play.choice),
    _K.SHOE_STARTED: cards.shoe_started,
    _K.CARD_DRAWN: cards.drawn,
    _K.CARD_BURNED: cards.burned,
    _K.CUT_CARD_SEEN: cards.cut_card,
    _K.CARD_TURNED: cards.turned,
    _K.ROUND_STARTED: play.round_started,
    _K.BET_SEEN: play.bet,
    _K.BETTING_CLOSED: play.betting_closed,
    _K.HOLE_CHECKED: play.hole_checked,
    _K.DEALER_DONE: play.dealer_done,
    _K.PAYMENT_SEEN: play.payment,
    _K.PICKED_UP: play.picked_up,
    _K.TRAY_COUNTED: play.tray,
    _K.SEAT_TAKEN: _seat_taken,
    _K.SEAT_LEFT: _seat_left,
    _K.DEALER_CHANGED: _dealer_changed,
    _K.SUPERVISOR_CALLED: _supervisor_called,
    _K.PLAY_RESUMED: _resumed,
    _K.ROUND_VOIDED: _voided,
}
_ALSO_SUSPENDED: Final = frozenset(
    {
        _K.SHOE_STARTED,
        _K.CARD_DRAWN,
        _K.CARD_BURNED,
        _K.CUT_CARD_SEEN,
        _K.TRAY_COUNTED,
        _K.SEAT_TAKEN,
        _K.SEAT_LEFT,
        _K.SUPERVISOR_CALLED,
        _K.PLAY_RESUMED,
        _K.ROUND_VOIDED,
    }
)
"""What has its meaning while play is suspended: cards are somewhere, people come and go, a supervisor rules."""

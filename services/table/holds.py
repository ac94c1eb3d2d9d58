"""Stakes and their holds: what an event puts at stake, under which id, and how a decided stake is told to the wager service.

Owns the ids of DESIGN §5 on the money's side. Pure. A hold id that was given back is never used again, so that the stake
gets the next free one (`StakesReleased`).
"""

from collections.abc import Iterable, Iterator

from services.game import round_events as re
from services.game.round_words import SettlementLine
from services.game.rules import TIP
from services.table import events as e
from services.table.table import Play, Table
from services.wager import client as wager


def new_stakes(table: Table, events: Iterable[e.TableEvent]) -> tuple[wager.Stake, ...]:
    """The stakes that these events of the round in play would lock, to be held before they are recorded."""
    play = table.live
    if play is None:
        return ()
    return tuple(
        wager.Stake(hold_id(play, seat, kind, ordinal), _session(table, patron), kind, amount_cents)
        for seat, patron, kind, ordinal, amount_cents in _raised(play, events)
    )


def recorded_holds(play: Play) -> frozenset[str]:
    """The holds of every stake that the round has locked, decided or not."""
    open_stakes = {
        hold_id(play, hand.seat, stake.kind, stake.ordinal)
        for hand in play.round.hands
        for stake in (*hand.stakes, *hand.side)
    }
    return frozenset(open_stakes | {hold_id(play, line.seat, line.kind, line.ordinal) for line in play.lines})


def hold_id(play: Play, seat: int, kind: str, ordinal: int) -> str:
    """`<round>/<seat>/<kind>/<ordinal>`; with `.2`, `.3` … when that one was given back undecided."""
    first = f"{play.id}/{seat}/{kind}/{ordinal}"
    if not play.released:
        return first
    name, attempt = first, 1
    while name in play.released:
        attempt += 1
        name = f"{first}.{attempt}"
    return name


def settlement_id(play: Play) -> str:
    """`<round>/settle/<revision>` of the round's last settlement: all its lines go to the ledger in one call."""
    return f"{play.id}/settle/{play.round.revision}"


def ledger_line(play: Play, line: SettlementLine) -> wager.SettlementLine:
    """A decided stake in the wager service's words."""
    return wager.SettlementLine(
        seat=line.seat,
        hand=line.hand,
        kind=line.kind,
        holds=(hold_id(play, line.seat, line.kind, line.ordinal),),
        outcome=line.outcome.value,
        cause=line.cause.value,
        stake_cents=line.stake_cents,
        due=line.due,
        returned_cents=line.returned_cents,
        breakage=line.breakage,
        # A tip bet that won is the dealers', with its pay; a push or half a surrender is the patron's again.
        for_dealers=line.kind == TIP and line.returned_cents > line.stake_cents,
    )


def _raised(play: Play, events: Iterable[e.TableEvent]) -> Iterator[tuple[int, str, str, int, int]]:
    for event in events:
        match event:
            case re.WagerPlaced():
                yield event.seat, event.player, event.kind, event.ordinal, event.amount_cents
            case re.InsurancePlaced() | re.HandDoubled() | re.HandSplit():
                yield event.seat, play.players[event.seat], event.kind, event.ordinal, event.amount_cents
            case _:
                pass


def _session(table: Table, patron: str) -> str:
    stay = table.of_patron(patron)
    if stay is None:
        # Nobody goes with a stake in play, so this is a fault of the program.
        raise LookupError(f"patron {patron} has a stake and no session")
    return stay.session

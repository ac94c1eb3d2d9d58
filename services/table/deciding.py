"""Every command of a table to the function that decides it; the table as one decider for the runtime."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from services.game.authority import CommandContext
from services.runtime.aggregate import Decider
from services.table import commands as c
from services.table import events as e
from services.table import pit, playing, seating
from services.table.rejections import TableIsObserved
from services.table.table import Table, empty, evolve, round_of
from services.wire.registry import EventTypes

_DECISIONS: Mapping[type, Callable[[Table, Any, CommandContext], tuple[e.TableEvent, ...]]] = {
    c.PostRules: pit.post_rules,
    c.OpenTable: pit.open_table,
    c.CloseTable: pit.close_table,
    c.AnnounceLimits: pit.announce_limits,
    c.SetDealer: pit.set_dealer,
    c.Suspend: pit.suspend,
    c.Resume: pit.resume,
    c.VoidHand: pit.void_hand,
    c.VoidRound: pit.void_round,
    c.SeatPlayer: seating.seat_player,
    c.LeaveSeat: seating.leave_seat,
    c.NoteRackChange: seating.note_rack_change,
    c.OpenRound: playing.open_round,
    c.PlaceWagers: playing.place_wagers,
    c.CloseBetting: playing.close_betting,
    c.TakeInsurance: playing.answer_insurance,
    c.DeclineInsurance: playing.answer_insurance,
    c.TakeEvenMoney: playing.answer_insurance,
    c.CloseInsurance: playing.close_insurance,
    c.Act: playing.act,
    c.ExpireDecision: playing.expire_decision,
    c.PlayOn: playing.play_on,
}


_CONDUCTING = (
    c.OpenRound
    | c.PlaceWagers
    | c.CloseBetting
    | c.TakeInsurance
    | c.DeclineInsurance
    | c.TakeEvenMoney
    | c.CloseInsurance
    | c.Act
)


def decide(table: Table, command: c.Command, context: CommandContext) -> tuple[e.TableEvent, ...]:
    """The events of a command, none when it changes nothing; raises Rejection."""
    if table.watch.observed and isinstance(command, _CONDUCTING):
        raise TableIsObserved(f"{table.key} is observed, not conducted", table=table.key)
    return _DECISIONS[type(command)](table, command, context)


@cache
def decider() -> Decider[Table, c.Command, e.TableEvent]:
    """The table as the runtime hosts it."""
    return Decider(
        area="table",
        initial=empty,
        decide=decide,
        evolve=evolve,
        events=EventTypes("holecard.table.v1", e.EVENTS),
        round_of=round_of,
    )

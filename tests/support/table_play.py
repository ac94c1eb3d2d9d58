"""Playing a table by its view alone: whoever comes back after a crash sees what is asked and goes on.

The players are eager: they insure, split and double whenever they may, so that few rounds use every kind of stake.
"""

from typing import Any

from services.game.authority import Actor, CommandContext
from services.runtime.failures import NotFound, ServiceUnavailable
from services.table import client as tables
from services.table.client import Action, TablePhase, TableView
from tests.support.table_house import DEALER, SUPERVISOR, TABLE, House, player

STAKES = {"ann": 1_500, "bob": 2_500, "cyd": 1_000}
_EAGERNESS = (Action.EVEN_MONEY, Action.INSURE, Action.SPLIT)


class Player:
    """Drives a table to `rounds` finished rounds; `fresh_ids` gives every try a request id of its own."""

    def __init__(self, patrons: tuple[str, ...], rounds: int, rules: str, *, fresh_ids: bool = False) -> None:
        self.patrons = patrons
        self.rounds = rounds
        self.rules = rules
        self.fresh_ids = fresh_ids

    async def arrive(self, house: House) -> None:
        """Open the table and seat everyone who is not seated yet."""
        try:
            view = await house.table.get_table(TABLE)
        except NotFound:
            view = None
        if view is None or view.phase is TablePhase.CLOSED:
            command = tables.OpenTable(self.rules, (tables.ChipCount(500, 4_000),), DEALER.id)
            await house.table.open_table(TABLE, self._context(house, "open", actor=SUPERVISOR), command)
        taken = {seat.patron for seat in view.seats} if view is not None else set()
        for seat, patron in enumerate(self.patrons, start=1):
            if patron not in taken:
                await house.table.seat_player(
                    TABLE, self._context(house, f"seat {patron}"), tables.SeatPlayer(patron, seat, 100_000)
                )

    async def play(self, house: House) -> None:
        """Go on from wherever the table stands; raises ServiceUnavailable when the process dies."""
        await self.arrive(house)
        while True:
            view = await house.table.get_table(TABLE)
            if house.fault.dead:
                raise ServiceUnavailable("the process is dead")
            if view.phase is TablePhase.IDLE and view.rounds == self.rounds:
                return
            await self.step(house, view)
            if house.fault.dead:
                raise ServiceUnavailable("the process is dead")

    async def step(self, house: House, view: TableView) -> None:
        """One command: whatever comes next."""
        round_ = view.round
        if view.phase is TablePhase.IDLE:
            await house.table.open_betting(TABLE, self._context(house, f"open {view.rounds + 1}"))
        elif round_ is not None and view.phase is TablePhase.BETTING:
            waiting = [seat for seat in view.seats if seat.may_wager]
            if not waiting:
                await house.table.close_betting(
                    TABLE, self._context(house, f"close {round_.round_id}"), round_.round_id
                )
                return
            wagers = tuple(tables.SeatWager(seat.session, seat.seat, "main", STAKES[seat.patron]) for seat in waiting)
            context = self._context(house, f"wagers {round_.round_id} {len(waiting)}")
            await house.table.place_wagers(TABLE, context, tables.PlaceWagers(round_.round_id, wagers))
        elif round_ is not None and round_.questions:
            question = round_.questions[0]
            hand = next(h for h in round_.hands if (h.seat, h.hand) == (question.seat, question.hand))
            act = tables.Act(
                round_.round_id,
                question.session,
                question.seat,
                question.hand,
                choice(question.actions, hand.total),
                turn=round_.turn,
            )
            context = self._context(house, f"act {round_.round_id} {round_.turn} {question.seat}", question.patron)
            await house.table.act(TABLE, context, act)

    def _context(self, house: House, request_id: str, patron: str = "", actor: Actor = DEALER) -> CommandContext:
        return house.context(player(patron) if patron else actor, "" if self.fresh_ids else request_id)


def choice(actions: tuple[Action, ...], total: int) -> Action:
    """Everything that costs chips first, then the next best thing."""
    for wanted in _EAGERNESS:
        if wanted in actions:
            return wanted
    if Action.DOUBLE in actions and total <= 11:
        return Action.DOUBLE
    if Action.SURRENDER in actions and total == 16:
        return Action.SURRENDER
    if Action.HIT in actions and total < 15:
        return Action.HIT
    return Action.STAND if Action.STAND in actions else actions[0]


def outcome_of(log: list[Any]) -> list[tuple[str, bytes]]:
    """What the table's stream says, without who recorded it when: types and payloads in order."""
    return [(envelope.type, envelope.payload) for envelope in log]

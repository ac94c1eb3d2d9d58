"""Holding stakes before a wager is recorded, and giving back those that no recorded wager stands behind.

Owns the calls that put chips at risk. Promises that a wager is recorded only after all its chips are held, and that every
hold ends (L9): one that was made for a wager which a crash kept from being recorded is taken up by the same wager when it
comes again, or voided when another one needs its place or its chips, when the patron leaves, or at the settlement.
"""

import hashlib
from collections.abc import Collection
from typing import Any

from services.runtime.aggregate import Turn
from services.runtime.failures import CallFailed, ServiceUnavailable
from services.table import commands as c
from services.table import events as e
from services.table.contexts import Contexts
from services.table.holds import recorded_holds
from services.table.table import Table
from services.table.words import WaitingFor
from services.wager import client as wager
from services.wire.refusal import Refused

TableTurn = Turn[Table, c.Command, e.TableEvent]
_MAY_BE_IN_THE_WAY = {"HoldIdReused", "HoldAlreadyVoided", "InsufficientChips"}


class Waiting(Exception):
    """The table cannot go on by itself now: without whom, and why. Nothing is lost; asking again goes on from here."""

    def __init__(self, whom: WaitingFor, reason: str) -> None:
        super().__init__(reason)
        self.whom = whom
        self.reason = reason


class Stakes:
    """Holds and releases stakes of the round in play."""

    def __init__(self, ledgers: wager.WagerClient, contexts: Contexts) -> None:
        self._ledgers = ledgers
        self._contexts = contexts

    async def hold(self, turn: TableTurn, stakes: tuple[wager.Stake, ...]) -> e.StakesReleased | None:
        """Hold all of them or none; raises Refused, ServiceUnavailable or CallFailed.

        Gives None when they are held, or what had to be given back first: record it, work the ids out anew and ask again.
        """
        play = turn.state.live
        if play is None or not stakes:
            return None
        command = wager.HoldStakes(play.id, stakes)
        try:
            await self._ledgers.hold_stakes(turn.key, self._contexts.call(turn, _id_of(command)), command)
        except Refused as refused:
            if refused.name not in _MAY_BE_IN_THE_WAY:
                raise
            wanted = {(stake.hold, stake.session, stake.kind, stake.amount_cents) for stake in stakes}
            released = await self._release(turn, "another wager takes its place", wanted, refused)
            if released is None:
                raise
            return released
        return None

    async def release_unrecorded(self, turn: TableTurn, reason: str) -> e.StakesReleased | None:
        """Give back what no recorded wager stands behind; None when there is nothing of the kind. Raises Waiting."""
        try:
            return await self._release(turn, reason, ())
        except (Refused, ServiceUnavailable, CallFailed) as failure:
            raise Waiting(WaitingFor.WAGER, str(failure)) from failure

    async def _release(
        self,
        turn: TableTurn,
        reason: str,
        wanted: Collection[tuple[str, str, str, int]],
        refused: Refused | None = None,
    ) -> e.StakesReleased | None:
        play = turn.state.live
        if play is None:
            return None
        try:
            money = await self._ledgers.read_round(turn.key, play.id)
        except Refused as unknown:
            if unknown.name == "UnknownRound":
                return None
            raise
        recorded = recorded_holds(play)
        gone = [
            held.hold
            for held in money.holds
            if held.hold not in recorded
            and held.hold not in play.released
            and (
                held.status is wager.HoldStatus.VOIDED
                or (held.hold, held.session, held.kind, held.amount_cents) not in wanted
            )
        ]
        if not gone:
            return None
        command = wager.VoidHolds(play.id, tuple(gone), reason if refused is None else f"{reason} ({refused.name})")
        await self._ledgers.void_holds(turn.key, self._contexts.call(turn, _id_of(command)), command)
        return e.StakesReleased(play.id, tuple(gone), reason)


def _id_of(command: Any) -> str:
    """The round, and a digest of what is asked: the same call has the same id, another one has another."""
    return f"{command.round_id}/{hashlib.sha256(repr(command).encode()).hexdigest()[:24]}"

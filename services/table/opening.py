"""Counting the tray in for a table that opens, also after an opening that died half-way (DESIGN §5).

Owns the calls to the ledger for it. Promises that opening again always goes on: with the same count, the first one stands;
with another, the chips of the first go back and the tray is counted anew. Nothing can have happened on the first count,
since no round and no rack is opened at a table that is closed.
"""

import hashlib
from typing import Any, Final

from services.runtime.aggregate import Turn
from services.table import commands as c
from services.table import events as e
from services.table.contexts import Contexts
from services.table.pit import opening_id
from services.table.table import Table
from services.wager import client as wager
from services.wire.refusal import Refused

TableTurn = Turn[Table, c.Command, e.TableEvent]
MOST_COUNTS: Final = 20
"""How often the tray of one opening may be counted before a person has to look."""
_COUNTED_BEFORE: Final = frozenset({"BusinessIdReused", "LedgerAlreadyOpen"})


async def counted_in(
    turn: TableTurn, tray: tuple[wager.Count, ...], ledgers: wager.WagerClient, contexts: Contexts
) -> str:
    """Have the ledger count the tray in; gives the opening's id. Raises Refused, ServiceUnavailable or CallFailed."""
    ours = [opening_id(turn.state, number) for number in range(1, MOST_COUNTS + 1)]
    refused: Refused | None = None
    for opening in ours:
        refused = await _count(turn, opening, tray, ledgers, contexts)
        # An answer may be an earlier life's: what counts is how the ledger stands now.
        money = await ledgers.read_table_money(turn.key)
        if refused is None and money.open and money.opening == opening:
            return opening
        if refused is not None and (refused.name not in _COUNTED_BEFORE or (money.open and money.opening not in ours)):
            raise refused
        if money.open and money.opening == opening:
            closing = f"{opening}/recount"
            await ledgers.close_ledger(turn.key, contexts.call(turn, closing), wager.CloseLedger(closing))
    raise refused or LookupError(f"the tray was counted {MOST_COUNTS} times and stands under none of them")


async def _count(
    turn: TableTurn, opening: str, tray: tuple[wager.Count, ...], ledgers: wager.WagerClient, contexts: Contexts
) -> Refused | None:
    command = wager.OpenLedger(opening, tray)
    try:
        # The digest keeps a corrected count, after a refused one, from being taken for the first one again.
        await ledgers.open_ledger(turn.key, contexts.call(turn, f"{opening}/{_digest(command)}"), command)
    except Refused as refused:
        return refused
    return None


def _digest(content: Any) -> str:
    return hashlib.sha256(repr(content).encode()).hexdigest()[:24]

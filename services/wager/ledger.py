"""The double-entry ledger of one table, as decide and evolve. Pure.

Owns who may move money, the answer to repeated commands, and the fold of events into state. Promises: after every event the
accounts of each currency sum to zero, no rack and no escrow is overdrawn, and a known business id never moves money twice.
The decisions themselves are in `racks` (patrons), `stakes` and `settlement` (rounds) and `tray` (the house).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from services.game.authority import CommandContext, Role
from services.game.quick import replace
from services.game.rejections import NotAuthorised
from services.wager import commands, events, racks, settlement, stakes, tray
from services.wager.accounts import apply_movements
from services.wager.books import (
    DEPARTED_REMEMBERED,
    LINES_REMEMBERED,
    RECEIPT_FIELDS,
    ROUNDS_REMEMBERED,
    Hold,
    HoldStatus,
    Ledger,
    PeriodMemory,
    PeriodTotals,
    RoundBook,
    SeatSession,
    answers,
    receipt_key,
    with_receipt,
)
from services.wager.commands import Command
from services.wager.events import Direction, WagerEvent
from services.wager.identity import check_id
from services.wager.rejections import BusinessIdReused, LedgerNotOpen, SeatSessionEnded

__all__ = ["Ledger", "decide", "evolve", "round_of"]

_TABLE = frozenset({Role.SYSTEM})
_PIT = frozenset({Role.SUPERVISOR})
_HOUSE = frozenset({Role.SYSTEM, Role.SUPERVISOR})
_DEALT = frozenset({Role.SYSTEM, Role.SUPERVISOR, Role.DEALER, Role.DEVICE})
_PATRON = _DEALT | {Role.PLAYER}

AUTHORITY: Mapping[type, frozenset[Role]] = {
    commands.OpenLedger: _HOUSE,
    commands.CloseLedger: _HOUSE,
    commands.OpenSeatSession: _TABLE,
    commands.BuyIn: _DEALT,
    commands.BringChips: _TABLE,
    commands.HoldStakes: _TABLE,
    commands.VoidHolds: _HOUSE,
    commands.SettleRound: _TABLE,
    commands.GiveTip: _TABLE,
    commands.CashOut: _PATRON,
    commands.CloseSeatSession: _HOUSE,
    commands.FillTray: _PIT,
    commands.CreditTray: _PIT,
    commands.CorrectPayment: _PIT,
}

_DECISIONS: Mapping[type, Callable[[Ledger, Any, CommandContext], tuple[WagerEvent, ...]]] = {
    commands.OpenLedger: tray.open_ledger,
    commands.CloseLedger: tray.close_ledger,
    commands.OpenSeatSession: racks.open_session,
    commands.BuyIn: racks.buy_in,
    commands.BringChips: racks.bring,
    commands.HoldStakes: stakes.hold,
    commands.VoidHolds: stakes.void,
    commands.SettleRound: settlement.settle,
    commands.GiveTip: racks.tip,
    commands.CashOut: racks.cash_out,
    commands.CloseSeatSession: racks.close_session,
    commands.FillTray: tray.fill,
    commands.CreditTray: tray.credit,
    commands.CorrectPayment: tray.correct,
}


def decide(ledger: Ledger, command: Command, context: CommandContext) -> tuple[WagerEvent, ...]:
    """The events that carry out `command`; none when its effect stands already. Raises a Rejection, moving nothing."""
    if context.actor.role not in AUTHORITY[type(command)]:
        raise NotAuthorised(
            f"{context.actor.role} may not send {type(command).__name__}",
            role=context.actor.role.value,
            command=type(command).__name__,
        )
    key = receipt_key(command)
    if key is not None:
        name = RECEIPT_FIELDS[type(command)][1]
        check_id(getattr(command, name), name)
        known = ledger.receipt(key)
        if known is not None:
            return _repeated(ledger, command, answers(known, command))
    if ledger.opened is None and not isinstance(command, commands.OpenLedger):
        raise LedgerNotOpen(f"the ledger of {ledger.table} is not open", table=ledger.table)
    return _DECISIONS[type(command)](ledger, command, context)


def _repeated(ledger: Ledger, command: Command, same: bool) -> tuple[WagerEvent, ...]:
    if not same:
        raise BusinessIdReused(
            f"the id of this {type(command).__name__} was used before for something else",
            command=type(command).__name__,
        )
    # "Opened" must not be the answer for a period that was closed since, nor "seated" for a patron who has left.
    if isinstance(command, commands.OpenLedger) and (ledger.opened is None or ledger.opened.opening != command.opening):
        raise BusinessIdReused(f"opening {command.opening} was closed since", command=type(command).__name__)
    if isinstance(command, commands.OpenSeatSession) and command.session not in ledger.seated:
        raise SeatSessionEnded(f"seat session {command.session!r} has ended", session=command.session)
    return ()


def round_of(_ledger: Ledger, event: WagerEvent) -> str:
    """The round that an event belongs to, "" outside rounds."""
    return getattr(event, "round_id", "")


def evolve(ledger: Ledger, event: WagerEvent) -> Ledger:
    """The ledger after `event`; raises LedgerDamaged when the event cannot be one of this ledger's."""
    moved = replace(ledger, balances=apply_movements(ledger.balances, event.movements))
    changed = _FOLDS[type(event)](moved, event)
    key = receipt_key(event)
    if key is None or isinstance(event, events.StakesHeld | events.HoldsVoided | events.RoundSettled):
        return changed
    return with_receipt(changed, key, event)


def _opened(ledger: Ledger, event: events.LedgerOpened) -> Ledger:
    return replace(
        ledger,
        opened=event,
        totals=PeriodTotals(opener_cents=event.opener_cents),
        memory=PeriodMemory(),
        earlier=ledger.memory,
    )


def _closed(ledger: Ledger, _event: events.LedgerClosed) -> Ledger:
    return replace(ledger, opened=None)


def _sat_down(ledger: Ledger, event: events.SeatSessionOpened) -> Ledger:
    session = SeatSession(event.session, event.patron, event.seat, event.chips_cents)
    return replace(ledger, seated={**ledger.seated, event.session: session})


def _left(ledger: Ledger, event: events.SeatSessionClosed) -> Ledger:
    seated = dict(ledger.seated)
    session = seated.pop(event.session)
    left = replace(session, cashed_out_cents=session.cashed_out_cents + event.chips_cents)
    departed, gone = {**ledger.departed, event.session: left}, ledger.memory.gone
    if len(departed) > DEPARTED_REMEMBERED:
        # Of him who left first only the id is kept, so that nothing of his can happen again.
        first = next(iter(departed))
        del departed[first]
        gone |= {first}
    return replace(ledger, seated=seated, departed=departed, memory=replace(ledger.memory, gone=gone))


def _with_session(ledger: Ledger, session: str, **added: int) -> Ledger:
    """The ledger with amounts added to the totals of one seat session."""
    old = ledger.seated[session]
    new = replace(old, **{name: getattr(old, name) + cents for name, cents in added.items()})
    return replace(ledger, seated={**ledger.seated, session: new})


def _bought(ledger: Ledger, event: events.ChipsBought) -> Ledger:
    return _with_session(ledger, event.session, bought_cents=event.chips_cents)


def _brought(ledger: Ledger, event: events.ChipsBrought) -> Ledger:
    return _with_session(ledger, event.session, brought_cents=event.amount_cents)


def _tipped(ledger: Ledger, event: events.TipGiven) -> Ledger:
    return _with_session(ledger, event.session, tipped_cents=event.amount_cents)


def _cashed_out(ledger: Ledger, event: events.ChipsCashedOut) -> Ledger:
    return _with_session(ledger, event.session, cashed_out_cents=event.amount_cents)


def _with_play(seated: Mapping[str, SeatSession], deltas: Iterable[tuple[str, int]]) -> dict[str, SeatSession]:
    """The seat sessions after stakes went into play (positive) or came back."""
    sums: dict[str, int] = {}
    for session, cents in deltas:
        sums[session] = sums.get(session, 0) + cents
    return {
        **seated,
        **{
            name: replace(seated[name], in_play_cents=seated[name].in_play_cents + cents)
            for name, cents in sums.items()
        },
    }


def _held(ledger: Ledger, event: events.StakesHeld) -> Ledger:
    book = ledger.rounds.get(event.round_id) or RoundBook(event.round_id, {})
    book = replace(book, holds={**book.holds, **{h.hold: Hold(h, HoldStatus.HELD) for h in event.holds}})
    rounds = {**ledger.rounds, event.round_id: book}
    if len(rounds) > ROUNDS_REMEMBERED:
        # Past rounds leave the memory oldest first, but never one with a stake in play.
        past = next((name for name, old in rounds.items() if name != event.round_id and not old.open_holds), None)
        if past is not None:
            del rounds[past]
    return replace(
        ledger,
        rounds=rounds,
        latest_round=max(ledger.latest_round, int(event.round_id.rpartition("#")[2])),
        seated=_with_play(ledger.seated, ((h.session, h.amount_cents) for h in event.holds)),
    )


def _voided(ledger: Ledger, event: events.HoldsVoided) -> Ledger:
    book = ledger.rounds[event.round_id]
    voided = {h.hold: Hold(book.holds[h.hold].stake, HoldStatus.VOIDED, h) for h in event.holds}
    return replace(
        ledger,
        rounds={**ledger.rounds, event.round_id: replace(book, holds={**book.holds, **voided})},
        seated=_with_play(ledger.seated, ((h.session, -h.amount_cents) for h in event.holds)),
    )


def _settled(ledger: Ledger, event: events.RoundSettled) -> Ledger:
    book = ledger.rounds[event.round_id]
    posted = {name: Hold(book.holds[name].stake, HoldStatus.POSTED) for line in event.lines for name in line.holds}
    by_session: dict[str, list[events.SettledLine]] = {}
    for line in event.lines:
        by_session.setdefault(line.session, []).append(line)
    seated = {**ledger.seated}
    for name, lines in by_session.items():
        seated[name] = _with_lines(seated[name], event.round_id, lines)
    stake, returned = sum(line.stake_cents for line in event.lines), sum(line.returned_cents for line in event.lines)
    totals = replace(
        ledger.totals,
        handle_cents=ledger.totals.handle_cents + stake,
        win_cents=ledger.totals.win_cents + stake - returned,
        rounds_settled=ledger.totals.rounds_settled + event.final,
    )
    book = replace(book, holds={**book.holds, **posted}, settlements=(*book.settlements, event))
    return replace(ledger, rounds={**ledger.rounds, event.round_id: book}, seated=seated, totals=totals)


def _with_lines(session: SeatSession, round_id: str, lines: list[events.SettledLine]) -> SeatSession:
    stake, returned = sum(line.stake_cents for line in lines), sum(line.returned_cents for line in lines)
    kept = session.lines + tuple((round_id, line) for line in lines)
    dropped = max(0, len(kept) - LINES_REMEMBERED)
    return replace(
        session,
        in_play_cents=session.in_play_cents - stake,
        staked_cents=session.staked_cents + stake,
        returned_cents=session.returned_cents + returned,
        tipped_cents=session.tipped_cents + sum(line.returned_cents for line in lines if line.for_dealers),
        pay_cents=session.pay_cents + sum(max(0, line.returned_cents - line.stake_cents) for line in lines),
        earlier_lines=session.earlier_lines + dropped,
        lines=kept[dropped:],
    )


def _filled(ledger: Ledger, event: events.TrayFilled) -> Ledger:
    return replace(ledger, totals=replace(ledger.totals, fills_cents=ledger.totals.fills_cents + event.amount_cents))


def _credited(ledger: Ledger, event: events.TrayCredited) -> Ledger:
    return replace(
        ledger, totals=replace(ledger.totals, credits_cents=ledger.totals.credits_cents + event.amount_cents)
    )


def _corrected(ledger: Ledger, event: events.PaymentCorrected) -> Ledger:
    given = event.amount_cents if event.direction is Direction.PAY else -event.amount_cents
    book = ledger.rounds[event.round_id]
    line = settlement.line_of(book, event.hold, event.settlement)
    corrected = {**book.corrected, line.holds[0]: book.corrected.get(line.holds[0], 0) + given}
    changed = _with_session(ledger, event.session, corrected_cents=given)
    return replace(
        changed,
        rounds={**ledger.rounds, event.round_id: replace(book, corrected=corrected)},
        totals=replace(ledger.totals, win_cents=ledger.totals.win_cents - given),
    )


_FOLDS: Mapping[type, Callable[[Ledger, Any], Ledger]] = {
    events.LedgerOpened: _opened,
    events.LedgerClosed: _closed,
    events.SeatSessionOpened: _sat_down,
    events.ChipsBought: _bought,
    events.ChipsBrought: _brought,
    events.StakesHeld: _held,
    events.HoldsVoided: _voided,
    events.RoundSettled: _settled,
    events.TipGiven: _tipped,
    events.ChipsCashedOut: _cashed_out,
    events.SeatSessionClosed: _left,
    events.TrayFilled: _filled,
    events.TrayCredited: _credited,
    events.PaymentCorrected: _corrected,
}

"""Who sits at the table: patrons come, buy in and go (30-803, 30-827, 30-831).

Owns these decisions, pure. Promises that a stay is known by its session for ever (D05), that nobody goes or takes chips away
with a stake in play, and that leaving twice is leaving once (D07). The racks themselves are the wager service's.
"""

from services.game.authority import CommandContext, Role
from services.game.rejections import NotAuthorised
from services.game.rules import HouseRules
from services.table import commands as c
from services.table import events as e
from services.table import rejections as r
from services.table.authority import FLOOR, check_name, require, require_own
from services.table.table import SeatSession, Table
from services.table.words import SeatPhase, SeatWager

MOST_CHIPS_CENTS = 10**12


def seat_player(table: Table, command: c.SeatPlayer, context: CommandContext) -> tuple[e.TableEvent, ...]:
    """A patron takes a free seat; the same patron on the same seat again changes nothing."""
    rules = open_rules(table)
    patron = check_name(command.patron, "patron")
    if context.actor.role is Role.PLAYER:
        if context.actor.id != patron:
            raise r.NotYourSession("a player seats only himself", patron=patron, actor=context.actor.id)
        if command.chips_cents:
            # The table opens the rack in its own name, so nobody after it asks who counted them.
            raise NotAuthorised("a dealer counts the chips that a patron brings along", actor=context.actor.id)
    else:
        require(context, FLOOR, "seat a player")
    if not 1 <= command.seat <= rules.max_seats:
        raise r.NoSuchSeat(f"the table has seats 1 to {rules.max_seats}", seat=command.seat, max_seats=rules.max_seats)
    if not 0 <= command.chips_cents <= MOST_CHIPS_CENTS:
        raise r.AmountOutOfRange("chips brought along", chips_cents=command.chips_cents, maximum_cents=MOST_CHIPS_CENTS)
    known = table.of_patron(patron)
    if known is not None:
        if (known.seat, known.chips_cents) == (
            command.seat,
            command.chips_cents,
        ) and known.phase is not SeatPhase.LEAVING:
            # Recorded, since the same command would seat him again once he has left (DESIGN §3).
            return (e.NothingChanged(c.SeatPlayer.__name__),)
        raise r.PatronAlreadySeated(f"patron {patron} holds seat {known.seat}", seat=known.seat, session=known.session)
    staked = table.live.players.get(command.seat) if table.live else None
    if table.at(command.seat) is not None or staked is not None:
        raise r.SeatTaken(f"seat {command.seat} is taken", seat=command.seat)
    session = f"{table.key}/session/{table.sessions + 1}"
    return (e.PlayerSeated(session, patron, command.seat, command.chips_cents),)


def leave_seat(table: Table, command: c.LeaveSeat, context: CommandContext) -> tuple[e.TableEvent, ...]:
    """A patron wants to go; the conductor lets him when no stake of his is in play."""
    stay = table.session(command.session)
    if stay is None:
        if _was_here(table, command.session):
            return ()
        raise unknown_session(table, command.session)
    require_own(context, stay)
    return () if stay.phase is SeatPhase.LEAVING else (e.PlayerLeaving(stay.session),)


def check_rack_change(table: Table, command: c.BuyIn | c.CashOut, context: CommandContext) -> SeatSession:
    """Whether chips may be bought or taken away now; gives the stay, raises the refusal (30-831)."""
    open_rules(table)
    stay = seated(table, command.session)
    if isinstance(command, c.BuyIn):
        require(context, FLOOR, "accept cash")
    else:
        require_own(context, stay)
    if table.has_stake(stay.patron):
        raise r.HandInPlay(
            "a stake of this patron is in play", session=stay.session, round=table.live.id if table.live else ""
        )
    return stay


def check_tip(table: Table, command: c.GiveTip, context: CommandContext) -> None:
    """Whether chips may go to the dealers, also during a round: raises TipsNotAccepted and who may not ask."""
    rules = open_rules(table)
    stay = seated(table, command.session)
    require_own(context, stay)
    if not rules.tips:
        raise r.TipsNotAccepted(f"{table.key} accepts no tips", table=table.key)


def cash_play_wager(table: Table, command: c.PlayCash, context: CommandContext) -> c.PlaceWagers:
    """The wager that the cash makes, where cash plays are accepted; a dealer counts the notes in the patron's view."""
    rules = open_rules(table)
    require(context, FLOOR, "accept cash")
    if not rules.accept_cash_plays:
        raise r.CashPlayNotAccepted(f"{table.key} takes no wagers in cash", table=table.key)
    cents = 0
    for notes in command.cash:
        cents += notes.denomination_cents * notes.quantity
        if notes.denomination_cents < 1 or notes.quantity < 1 or cents > MOST_CHIPS_CENTS:
            raise r.AmountOutOfRange("cash on the layout", maximum_cents=MOST_CHIPS_CENTS)
    wagers = (SeatWager(command.session, command.seat, command.kind, cents),)
    return c.PlaceWagers(command.round_id, wagers)


def note_rack_change(table: Table, command: c.NoteRackChange, _context: CommandContext) -> tuple[e.TableEvent, ...]:
    """What the wager service did, once for each receipt."""
    if command.receipt in table.receipts:
        return ()
    return (e.RackChanged(command.session, command.change, command.receipt, command.amount_cents, command.rack_cents),)


def seated(table: Table, session: str) -> SeatSession:
    """The stay, ready to play; raises UnknownSession, SessionEnded or RackNotOpen."""
    stay = table.session(session)
    if stay is None:
        if _was_here(table, session):
            raise r.SessionEnded(f"session {session} has ended", session=session)
        raise unknown_session(table, session)
    if stay.phase is SeatPhase.LEAVING:
        raise r.SessionEnded(f"session {session} is ending", session=session)
    if stay.phase is SeatPhase.ARRIVING:
        raise r.RackNotOpen(f"the rack of session {session} is not open yet", session=session)
    return stay


def unknown_session(table: Table, session: str) -> r.UnknownSession:
    """The refusal of a session that never was at this table."""
    return r.UnknownSession(f"{table.key} knows no session {session[:200]!r}", session=session[:200])


def open_rules(table: Table) -> HouseRules:
    """The rules in force at an open table; raises TableNotOpen."""
    if not table.is_open or table.rules is None:
        raise r.TableNotOpen(f"{table.key} is not open", table=table.key)
    return table.rules


def _was_here(table: Table, session: str) -> bool:
    head, _, number = session.rpartition("/session/")
    return (
        head == table.key
        and number.isascii()
        and number.isdigit()
        and len(number) < 18
        and 1 <= int(number) <= table.sessions
    )

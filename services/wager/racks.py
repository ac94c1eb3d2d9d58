"""What a patron does with his rack between and during rounds: sit down, buy in, tip, cash out, leave.

Owns the decisions on seat sessions. A session is a patron's stay, known by its id, never by its seat number, so that whoever
sits down next on that seat cannot reach the chips of the one before. Does not know stakes (see `stakes`).
"""

from services.game.authority import CommandContext, Role
from services.game.rejections import NotAuthorised
from services.wager import commands, events
from services.wager.accounts import (
    DROP,
    MAX_HOLDINGS_CENTS,
    OUTSIDE,
    TIPS,
    TRAY,
    Currency,
    Movement,
    Reason,
    check_amount,
    count_total,
    rack,
)
from services.wager.books import Ledger, SeatSession
from services.wager.identity import check_id
from services.wager.rejections import (
    BuyInUnbalanced,
    HoldingsOverLimit,
    InsufficientChips,
    SeatSessionEnded,
    StakeInPlay,
    TrayShort,
)


def open_session(
    ledger: Ledger, command: commands.OpenSeatSession, _context: CommandContext
) -> tuple[events.SeatSessionOpened]:
    """Begin a patron's rack."""
    check_id(command.patron, "patron")
    check_amount(command.seat, "seat", maximum=7)
    chips = check_amount(command.chips_cents, "chips brought along", minimum=0)
    if ledger.has_left(command.session):
        raise SeatSessionEnded(f"seat session {command.session!r} has ended", session=command.session)
    check_holdings(ledger, Currency.CHIPS, chips)
    movement = Movement(OUTSIDE, rack(command.session), Currency.CHIPS, chips, Reason.CARRIED_IN, command.session)
    return (
        events.SeatSessionOpened(
            command.session, command.patron, command.seat, chips, movements=(movement,) if chips else ()
        ),
    )


def buy_in(ledger: Ledger, command: commands.BuyIn, _context: CommandContext) -> tuple[events.ChipsBought]:
    """Cash to the drop box, chips of the same sum to the rack (30-831)."""
    session = ledger.at_seat(command.session)
    _check_no_stake(session)
    chips = check_amount(command.chips_cents, "chips of a buy-in")
    cash = count_total(command.cash, "cash of a buy-in")
    if cash != chips:
        raise BuyInUnbalanced(
            f"{cash} cents counted, {chips} cents in chips", cash_cents=cash, chips_cents=chips, seat=session.seat
        )
    check_tray(ledger, chips)
    check_holdings(ledger, Currency.CASH, cash)
    return (
        events.ChipsBought(
            command.buy_in,
            command.session,
            command.cash,
            chips,
            rack_cents=ledger.rack_cents(command.session) + chips,
            movements=(
                Movement(OUTSIDE, DROP, Currency.CASH, cash, Reason.CASH_DROPPED, command.buy_in),
                Movement(TRAY, rack(command.session), Currency.CHIPS, chips, Reason.CHIPS_SOLD, command.buy_in),
            ),
        ),
    )


def bring(ledger: Ledger, command: commands.BringChips, _context: CommandContext) -> tuple[events.ChipsBrought]:
    """Chips from the patron's pocket, also during a hand: a device has seen them on the layout, so they are there."""
    session = ledger.at_seat(command.session)
    amount = check_amount(command.amount_cents, "chips brought")
    check_holdings(ledger, Currency.CHIPS, amount)
    movement = Movement(OUTSIDE, rack(session.session), Currency.CHIPS, amount, Reason.CARRIED_IN, command.sighting)
    left = ledger.rack_cents(session.session) + amount
    return (events.ChipsBrought(command.sighting, session.session, amount, left, (movement,)),)


def tip(ledger: Ledger, command: commands.GiveTip, context: CommandContext) -> tuple[events.TipGiven]:
    """Free chips to the dealers; the table asks, which knows whether tips are accepted (30-803(3)(i))."""
    session, amount, left = _free_chips(ledger, command.session, command.amount_cents, context)
    movement = Movement(rack(session.session), TIPS, Currency.CHIPS, amount, Reason.TIP, command.tip)
    return (events.TipGiven(command.tip, session.session, amount, left, (movement,)),)


def cash_out(ledger: Ledger, command: commands.CashOut, context: CommandContext) -> tuple[events.ChipsCashedOut]:
    """Free chips away from the table; stakes in play are in escrow and stay there (C04)."""
    session, amount, left = _free_chips(ledger, command.session, command.amount_cents, context)
    movement = Movement(rack(session.session), OUTSIDE, Currency.CHIPS, amount, Reason.CASHED_OUT, command.cash_out)
    return (events.ChipsCashedOut(command.cash_out, session.session, amount, left, (movement,)),)


def close_session(
    ledger: Ledger, command: commands.CloseSeatSession, _context: CommandContext
) -> tuple[events.SeatSessionClosed]:
    """The patron leaves with everything that is his."""
    session = ledger.at_seat(command.session)
    _check_no_stake(session)
    chips = ledger.rack_cents(session.session)
    movement = Movement(rack(session.session), OUTSIDE, Currency.CHIPS, chips, Reason.CASHED_OUT, session.session)
    return (events.SeatSessionClosed(session.session, chips, (movement,) if chips else ()),)


def _check_no_stake(session: SeatSession) -> None:
    """Chips are bought, and the table is left, between a patron's hands only (30-809, 30-831)."""
    if session.in_play_cents:
        raise StakeInPlay(
            f"seat {session.seat} has {session.in_play_cents} cents in play",
            seat=session.seat,
            session=session.session,
            in_play_cents=session.in_play_cents,
        )


def insufficient(session: SeatSession, rack_cents: int, needed_cents: int) -> InsufficientChips:
    """The refusal that names the seat and what is missing."""
    return InsufficientChips(
        f"seat {session.seat} has {rack_cents} cents, {needed_cents - rack_cents} too few for {needed_cents}",
        seat=session.seat,
        session=session.session,
        rack_cents=rack_cents,
        needed_cents=needed_cents,
        shortfall_cents=needed_cents - rack_cents,
    )


def check_owner(patron: str, context: CommandContext) -> None:
    """A player acts for himself only; raises NotAuthorised."""
    if context.actor.role is Role.PLAYER and context.actor.id != patron:
        raise NotAuthorised("a player may use his own rack only", role=context.actor.role.value, actor=context.actor.id)


def check_tray(ledger: Ledger, needed_cents: int) -> None:
    """Raises TrayShort, naming the fill that is needed, when the tray holds less than `needed_cents`."""
    if needed_cents > ledger.tray_cents:
        raise TrayShort(
            f"the tray of {ledger.table} is {needed_cents - ledger.tray_cents} cents short",
            tray_cents=ledger.tray_cents,
            needed_cents=needed_cents,
            shortfall_cents=needed_cents - ledger.tray_cents,
        )


def check_holdings(ledger: Ledger, currency: Currency, added_cents: int) -> None:
    """Raises HoldingsOverLimit when the table would hold more of `currency` than 64-bit sums allow for."""
    if ledger.holdings_cents(currency) + added_cents > MAX_HOLDINGS_CENTS:
        raise HoldingsOverLimit(
            f"{ledger.table} would hold more than {MAX_HOLDINGS_CENTS} cents",
            holdings_cents=ledger.holdings_cents(currency),
            added_cents=added_cents,
            maximum_cents=MAX_HOLDINGS_CENTS,
        )


def _free_chips(
    ledger: Ledger, session_id: str, amount_cents: int, context: CommandContext
) -> tuple[SeatSession, int, int]:
    """The session, the checked amount and what the rack keeps; raises InsufficientChips."""
    session = ledger.at_seat(session_id)
    check_owner(session.patron, context)
    amount = check_amount(amount_cents, "amount")
    held = ledger.rack_cents(session_id)
    if amount > held:
        raise insufficient(session, held, amount)
    return session, amount, held - amount

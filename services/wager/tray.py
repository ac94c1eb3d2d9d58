"""What the house does with a table's money: count the tray in and out, fill, credit, and correct a payment.

Owns those decisions. All of them are a supervisor's (or the system's for him at opening and closing); `ledger` checks that.
"""

from services.game.authority import CommandContext
from services.wager import commands, events
from services.wager.accounts import (
    BREAKAGE,
    DROP,
    OUTSIDE,
    TIPS,
    TRAY,
    Currency,
    Movement,
    Reason,
    balance,
    check_amount,
    count_total,
    rack,
)
from services.wager.books import Ledger, SeatSession
from services.wager.identity import check_text
from services.wager.racks import check_holdings, check_tray, insufficient
from services.wager.rejections import (
    CorrectionExceedsPayment,
    LedgerAlreadyOpen,
    SessionsOpen,
    StakeInPlay,
)
from services.wager.settlement import line_of
from services.wager.stakes import book_of


def open_ledger(ledger: Ledger, command: commands.OpenLedger, _context: CommandContext) -> tuple[events.LedgerOpened]:
    """The opener: chips from outside to the tray."""
    if ledger.opened is not None:
        raise LedgerAlreadyOpen(
            f"the ledger of {ledger.table} is open since {ledger.opened.opening}", opening=ledger.opened.opening
        )
    total = count_total(command.inventory, "opening inventory")
    check_holdings(ledger, Currency.CHIPS, total)
    movement = Movement(OUTSIDE, TRAY, Currency.CHIPS, total, Reason.OPENING, command.opening)
    return (events.LedgerOpened(command.opening, command.inventory, total, (movement,) if total else ()),)


def close_ledger(ledger: Ledger, command: commands.CloseLedger, _context: CommandContext) -> tuple[events.LedgerClosed]:
    """The closer: tray, tips and drop box leave the table; every account is empty afterwards."""
    if ledger.escrow_cents:
        raise StakeInPlay(f"{ledger.escrow_cents} cents are in play", in_play_cents=ledger.escrow_cents)
    if ledger.seated:
        raise SessionsOpen(f"{len(ledger.seated)} patrons are still seated", sessions=len(ledger.seated))
    drop, tips = balance(ledger.balances, DROP, Currency.CASH), balance(ledger.balances, TIPS)
    tray, breakage = balance(ledger.balances, TRAY), balance(ledger.balances, BREAKAGE)
    steps = (
        # Breakage goes back first: the chips of both accounts are one pile.
        (BREAKAGE, TRAY, Currency.CHIPS, breakage),
        (TRAY, BREAKAGE, Currency.CHIPS, -breakage),
        (TRAY, OUTSIDE, Currency.CHIPS, tray + breakage),
        (TIPS, OUTSIDE, Currency.CHIPS, tips),
        (DROP, OUTSIDE, Currency.CASH, drop),
    )
    return (
        events.LedgerClosed(
            closing=command.closing,
            closer_cents=ledger.tray_cents,
            drop_cents=drop,
            tips_cents=tips,
            win_cents=ledger.totals.win_cents,
            handle_cents=ledger.totals.handle_cents,
            movements=tuple(
                Movement(source, target, currency, cents, Reason.CLOSING, command.closing)
                for source, target, currency, cents in steps
                if cents > 0
            ),
        ),
    )


def fill(ledger: Ledger, command: commands.FillTray, _context: CommandContext) -> tuple[events.TrayFilled]:
    """Chips from the cage."""
    amount = check_amount(count_total(command.inventory, "fill"), "fill")
    check_holdings(ledger, Currency.CHIPS, amount)
    movement = Movement(OUTSIDE, TRAY, Currency.CHIPS, amount, Reason.FILL, command.slip)
    return (
        events.TrayFilled(command.slip, command.inventory, amount, ledger.tray_cents + amount, movements=(movement,)),
    )


def credit(ledger: Ledger, command: commands.CreditTray, _context: CommandContext) -> tuple[events.TrayCredited]:
    """Chips to the cage."""
    amount = check_amount(count_total(command.inventory, "credit"), "credit")
    check_tray(ledger, amount)
    movement = Movement(TRAY, OUTSIDE, Currency.CHIPS, amount, Reason.CREDIT, command.slip)
    return (
        events.TrayCredited(command.slip, command.inventory, amount, ledger.tray_cents - amount, movements=(movement,)),
    )


def correct(
    ledger: Ledger, command: commands.CorrectPayment, context: CommandContext
) -> tuple[events.PaymentCorrected]:
    """A further payment, or taking back at most what the line returned, between tray and rack (30-828(1))."""
    amount = check_amount(command.amount_cents, "amount")
    check_text(command.reason, "reason")
    book = book_of(ledger, command.round_id)
    line = line_of(book, command.hold, command.settlement)
    session = _stay_of_patron(ledger, line.session)
    held = ledger.rack_cents(session.session)
    if command.direction is events.Direction.PAY:
        check_tray(ledger, amount)
        source, target, left = TRAY, rack(session.session), held + amount
    else:
        # What a tip bet won went to the dealers: the patron was given nothing that could be taken back from him.
        given = 0 if line.for_dealers else line.returned_cents
        returned = given + book.corrected.get(line.holds[0], 0)
        if amount > returned:
            raise CorrectionExceedsPayment(
                f"the line returned {returned} cents", returned_cents=returned, amount_cents=amount
            )
        if amount > held:
            raise insufficient(session, held, amount)
        source, target, left = rack(session.session), TRAY, held - amount
    return (
        events.PaymentCorrected(
            correction=command.correction,
            settlement=command.settlement,
            round_id=command.round_id,
            hold=command.hold,
            session=session.session,
            direction=command.direction,
            amount_cents=amount,
            reason=command.reason,
            authorised_by=context.actor.id,
            rack_cents=left,
            movements=(Movement(source, target, Currency.CHIPS, amount, Reason.CORRECTION, command.correction),),
        ),
    )


def _stay_of_patron(ledger: Ledger, session: str) -> SeatSession:
    """The session, or the one that its patron opened since; raises SeatSessionEnded when he is not at the table."""
    left = ledger.departed.get(session)
    for seated in ledger.seated.values() if left else ():
        if left and seated.patron == left.patron:
            return seated
    return ledger.at_seat(session)

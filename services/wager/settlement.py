"""Deciding the stakes of a round: one final settlement, and before it any that decide early (insurance).

Owns the settlement of a round. Promises: every hold of the round is in exactly one line or was voided (L7, L9), each line's
stake is what was held, and each payment is the amount due after the recorded rounding rule (30-810). Whether the amount due
is right is the round's business, and the auditor's.

Breakage is booked so that everything sums exactly. Of due = returned + breakage, the whole cents of breakage move between
`tray` and `breakage` (the chips stay in the tray: a count of it finds both accounts); a residual of less than one cent, as
of 3:2 on an odd stake, exists in no account, since no coin does, and is recorded as an exact ratio on the line.
"""

from fractions import Fraction

from services.game.authority import CommandContext
from services.game.money import Rounding
from services.wager import commands, events
from services.wager.accounts import (
    BREAKAGE,
    MAX_HOLDINGS_CENTS,
    TIPS,
    TRAY,
    Currency,
    Movement,
    Reason,
    check_amount,
    escrow,
    rack,
)
from services.wager.books import HoldStatus, Ledger, RoundBook
from services.wager.identity import check_of_round, check_word
from services.wager.racks import check_tray
from services.wager.rejections import (
    AmountNotWholeCents,
    AmountOutOfRange,
    HoldAlreadyPosted,
    HoldAlreadyVoided,
    HoldNotSettled,
    HoldSettledTwice,
    LineMixesSessions,
    PaymentNotRounded,
    RoundAlreadySettled,
    SettlementIdReused,
    StakeMismatch,
    UnknownHold,
)
from services.wager.stakes import MAX_IN_ONE_CALL, book_of, check_length, hold_of

# A ratio must fit two 64-bit integers on the wire; no pay rule has denominators anywhere near this one.
MAX_NUMERATOR = 10**18
MAX_DENOMINATOR = 10**6
_NO_RESIDUAL = Fraction(0)


def settle(ledger: Ledger, command: commands.SettleRound, _context: CommandContext) -> tuple[events.RoundSettled, ...]:
    """All lines of the command, or a refusal; nothing when this settlement is recorded already."""
    book = book_of(ledger, command.round_id)
    check_of_round(command.settlement, command.round_id, "settlement")
    check_amount(command.revision, "revision")
    check_amount(command.chip_cents, "chip")
    if len(command.lines) > MAX_IN_ONE_CALL:
        check_length(len(command.lines), "lines")
    lines = tuple(_settled_line(book, line, command) for line in command.lines)
    if _is_recorded(book, command, lines):
        return ()
    _check_every_hold(book, command)
    movements: list[Movement] = []
    racks: dict[str, int] = {}
    needed = 0
    for line in lines:
        movements += _movements(line, command.round_id)
        back = 0 if line.for_dealers else line.returned_cents
        racks[line.session] = racks.get(line.session, ledger.rack_cents(line.session)) + back
        needed += line.returned_cents - line.stake_cents
    check_tray(ledger, needed)
    return (
        events.RoundSettled(
            settlement=command.settlement,
            round_id=command.round_id,
            revision=command.revision,
            final=command.final,
            rounding=command.rounding,
            chip_cents=command.chip_cents,
            lines=lines,
            racks=tuple(events.RackBalance(session, cents) for session, cents in racks.items()),
            movements=tuple(movements),
        ),
    )


def line_of(book: RoundBook, hold: str, settlement: str) -> events.SettledLine:
    """The line of that settlement that decided `hold`; raises UnknownHold when none did."""
    for recorded in book.settlements:
        for line in recorded.lines:
            if recorded.settlement == settlement and hold in line.holds:
                return line
    raise UnknownHold(
        f"{settlement!r:.220} did not settle {hold!r:.220}", hold=str(hold)[:200], settlement=str(settlement)[:200]
    )


def _is_recorded(book: RoundBook, command: commands.SettleRound, lines: tuple[events.SettledLine, ...]) -> bool:
    """Whether this settlement stands already; raises when its id stands with other content, or the round is through."""
    for recorded in book.settlements:
        if recorded.settlement == command.settlement:
            content = (recorded.revision, recorded.final, recorded.rounding, recorded.chip_cents, recorded.lines)
            if content != (command.revision, command.final, command.rounding, command.chip_cents, lines):
                raise SettlementIdReused(
                    f"settlement {command.settlement} is recorded with other content", settlement=command.settlement
                )
            return True
    latest = book.settlements[-1] if book.settlements else None
    if latest is not None and (latest.final or command.revision <= latest.revision):
        raise RoundAlreadySettled(
            f"round {book.round_id} is settled up to revision {latest.revision}",
            round_id=book.round_id,
            settlement=latest.settlement,
            revision=latest.revision,
        )
    return False


def _settled_line(book: RoundBook, line: commands.SettlementLine, command: commands.SettleRound) -> events.SettledLine:
    """The line as it will be recorded, checked against what was held for it and against the rounding rule."""
    check_length(len(line.holds), "holds of a line")
    stakes = [hold_of(book, name).stake for name in line.holds]
    session = stakes[0].session
    if any(stake.session != session for stake in stakes):
        raise LineMixesSessions(f"a line of round {book.round_id} has stakes of several patrons", hold=line.holds[0])
    held = sum(stake.amount_cents for stake in stakes)
    if check_amount(line.stake_cents, "stake", maximum=MAX_HOLDINGS_CENTS) != held:
        raise StakeMismatch(
            f"{line.stake_cents} cents settled for {line.holds[0]}, {held} are held",
            hold=line.holds[0],
            stake_cents=line.stake_cents,
            held_cents=held,
        )
    breakage = _checked_breakage(line, command)
    # Towards zero, for breakage either way: the residual never exceeds what the patron or the house is owed.
    whole = int(breakage)
    residual = _NO_RESIDUAL if breakage == whole else Fraction(breakage - whole)
    return events.SettledLine(
        session=session,
        seat=check_amount(line.seat, "seat", maximum=7),
        hand=check_amount(line.hand, "hand", minimum=0, maximum=63),
        kind=check_word(line.kind, "kind"),
        holds=line.holds,
        outcome=check_word(line.outcome, "outcome"),
        cause=line.cause and check_word(line.cause, "cause"),
        stake_cents=line.stake_cents,
        due=line.due,
        returned_cents=line.returned_cents,
        breakage_cents=whole,
        residual=residual,
        for_dealers=line.for_dealers,
    )


def _checked_breakage(line: commands.SettlementLine, command: commands.SettleRound) -> Fraction | int:
    """The due less the returned, which the rounding rule must allow: less than one chip, on the rule's side."""
    check_amount(line.returned_cents, "returned", minimum=0, maximum=MAX_HOLDINGS_CENTS)
    for amount, what in ((line.due, "due"), (line.breakage, "breakage")):
        if not isinstance(amount, Fraction):
            raise AmountNotWholeCents(f"{what} must be an exact ratio, not {amount!r:.60}", what=what)
    if not 0 <= line.due.numerator <= MAX_NUMERATOR or line.due.denominator > MAX_DENOMINATOR:
        raise AmountOutOfRange("due is out of bounds", what="due", maximum_cents=MAX_HOLDINGS_CENTS)
    # Most amounts due are whole cents, and whole numbers are ten times as fast as ratios.
    whole = line.due.denominator == 1
    breakage = (line.due.numerator if whole else line.due) - line.returned_cents
    unit = 1 if command.rounding is Rounding.EXACT else command.chip_cents
    kept = -breakage if command.rounding is Rounding.UP_TO_CHIP else breakage
    if line.breakage != breakage or not 0 <= kept < unit:
        raise PaymentNotRounded(
            f"{line.returned_cents} cents returned of {line.due} due is not {command.rounding} by {unit} cents",
            hold=line.holds[0],
            due=str(line.due),
            returned_cents=line.returned_cents,
            rounding=str(command.rounding),
            unit_cents=unit,
        )
    return breakage


def _check_every_hold(book: RoundBook, command: commands.SettleRound) -> None:
    """Each hold in one line ever, none voided, and after the final settlement none left (L7, L9)."""
    named: set[str] = set()
    for line in command.lines:
        for name in line.holds:
            if name in named:
                raise HoldSettledTwice(f"hold {name} is in two lines", hold=name)
            status = book.holds[name].status
            if status is HoldStatus.VOIDED:
                raise HoldAlreadyVoided(f"hold {name} was given back", hold=name)
            if status is HoldStatus.POSTED:
                raise HoldAlreadyPosted(f"hold {name} is settled", hold=name)
            named.add(name)
    left = [stake.hold for stake in book.open_holds if stake.hold not in named]
    if left and command.final:
        raise HoldNotSettled(
            f"{len(left)} stakes of round {book.round_id} are in no line, {left[0]} first",
            round_id=book.round_id,
            hold=left[0],
            holds=len(left),
        )


def _movements(line: events.SettledLine, round_id: str) -> list[Movement]:
    """The two-sided lines of one settled wager: stake back or lost, pay, breakage."""
    stake, returned = line.stake_cents, line.returned_cents
    whom = TIPS if line.for_dealers else rack(line.session)
    back = min(stake, returned)
    kept = line.breakage_cents
    steps = (
        (escrow(round_id), whom, back, Reason.TIP if line.for_dealers else Reason.STAKE_RETURNED),
        (escrow(round_id), TRAY, stake - back, Reason.STAKE_LOST),
        (TRAY, whom, returned - back, Reason.TIP if line.for_dealers else Reason.PAID),
        (TRAY, BREAKAGE, kept, Reason.BREAKAGE),
        (BREAKAGE, TRAY, -kept, Reason.BREAKAGE),
    )
    return [
        Movement(source, target, Currency.CHIPS, cents, reason, line.holds[0])
        for source, target, cents, reason in steps
        if cents > 0
    ]

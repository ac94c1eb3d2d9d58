"""The answers to commands, read from the state right after them: the same for the first call and for every repeat."""

from typing import TypeVar

from services.wager import commands, events, replies
from services.wager.books import Ledger, Receipt, receipt_key
from services.wager.commands import Command

R = TypeVar("R", bound=Receipt)


def _receipt(ledger: Ledger, command: Command, kind: type[R]) -> R:
    """The event that carried out `command`, of which `decide` made sure that it is there."""
    found = ledger.receipt(receipt_key(command) or "")
    if not isinstance(found, kind):
        raise TypeError(f"{type(found).__name__} does not answer {type(command).__name__}")
    return found


def opening(ledger: Ledger, command: commands.OpenLedger) -> replies.OpeningReceipt:
    """The period that began."""
    event = _receipt(ledger, command, events.LedgerOpened)
    return replies.OpeningReceipt(event.opening, event.opener_cents)


def closing(ledger: Ledger, command: commands.CloseLedger) -> replies.ClosingReceipt:
    """The period that ended."""
    event = _receipt(ledger, command, events.LedgerClosed)
    return replies.ClosingReceipt(
        event.closing, event.closer_cents, event.drop_cents, event.tips_cents, event.win_cents, event.handle_cents
    )


def session(ledger: Ledger, command: commands.OpenSeatSession) -> replies.SessionReceipt:
    """The seat session that began."""
    event = _receipt(ledger, command, events.SeatSessionOpened)
    return replies.SessionReceipt(event.session, event.patron, event.seat, event.chips_cents)


def buy_in(ledger: Ledger, command: commands.BuyIn) -> replies.BuyInReceipt:
    """Cash for chips."""
    event = _receipt(ledger, command, events.ChipsBought)
    return replies.BuyInReceipt(
        event.buy_in,
        event.session,
        cash_cents=event.chips_cents,
        chips_cents=event.chips_cents,
        rack_cents=event.rack_cents,
    )


def sighting(ledger: Ledger, command: commands.BringChips) -> replies.SightingReceipt:
    """Chips from the patron's pocket."""
    event = _receipt(ledger, command, events.ChipsBrought)
    return replies.SightingReceipt(event.sighting, event.session, event.amount_cents, event.rack_cents)


def holds(ledger: Ledger, command: commands.HoldStakes) -> replies.HoldsReceipt:
    """The stakes as they were held, those too that were held before this call."""
    book = ledger.rounds[command.round_id]
    return replies.HoldsReceipt(command.round_id, tuple(book.holds[stake.hold].stake for stake in command.stakes))


def voids(ledger: Ledger, command: commands.VoidHolds) -> replies.VoidsReceipt:
    """The stakes as they were given back, those too that were given back before this call."""
    book = ledger.rounds[command.round_id]
    found = (book.holds[name].voided for name in command.holds)
    return replies.VoidsReceipt(command.round_id, tuple(voided for voided in found if voided is not None))


def settlement(ledger: Ledger, command: commands.SettleRound) -> replies.SettlementReceipt:
    """The recorded settlement of that id."""
    for event in ledger.rounds[command.round_id].settlements:
        if event.settlement == command.settlement:
            return settlement_receipt(event)
    raise KeyError(command.settlement)


def settlement_receipt(event: events.RoundSettled) -> replies.SettlementReceipt:
    """A recorded settlement as it is answered."""
    return replies.SettlementReceipt(
        event.settlement, event.round_id, event.revision, event.final, event.lines, event.racks
    )


def tip(ledger: Ledger, command: commands.GiveTip) -> replies.TipReceipt:
    """Chips to the dealers."""
    event = _receipt(ledger, command, events.TipGiven)
    return replies.TipReceipt(event.tip, event.session, event.amount_cents, event.rack_cents)


def cash_out(ledger: Ledger, command: commands.CashOut) -> replies.CashOutReceipt:
    """Chips taken away."""
    event = _receipt(ledger, command, events.ChipsCashedOut)
    return replies.CashOutReceipt(event.cash_out, event.session, event.amount_cents, event.rack_cents)


def departure(ledger: Ledger, command: commands.CloseSeatSession) -> replies.DepartureReceipt:
    """The patron who left."""
    event = _receipt(ledger, command, events.SeatSessionClosed)
    return replies.DepartureReceipt(event.session, event.chips_cents)


def fill(ledger: Ledger, command: commands.FillTray) -> replies.SlipReceipt:
    """Chips from the cage."""
    event = _receipt(ledger, command, events.TrayFilled)
    return replies.SlipReceipt(event.slip, event.amount_cents, event.tray_cents)


def credit(ledger: Ledger, command: commands.CreditTray) -> replies.SlipReceipt:
    """Chips to the cage."""
    event = _receipt(ledger, command, events.TrayCredited)
    return replies.SlipReceipt(event.slip, event.amount_cents, event.tray_cents)


def correction(ledger: Ledger, command: commands.CorrectPayment) -> replies.CorrectionReceipt:
    """The corrected payment."""
    event = _receipt(ledger, command, events.PaymentCorrected)
    return replies.CorrectionReceipt(
        correction=event.correction,
        settlement=event.settlement,
        hold=event.hold,
        session=event.session,
        direction=event.direction,
        amount_cents=event.amount_cents,
        authorised_by=event.authorised_by,
        rack_cents=event.rack_cents,
    )

"""What can be read off the ledger: balances, a table's money, a patron's statement, a round's stakes. Changes nothing."""

from fractions import Fraction

from services.wager import replies
from services.wager.accounts import BREAKAGE, DROP, RACK, TIPS, Currency, balance
from services.wager.books import Ledger
from services.wager.events import SettledLine
from services.wager.receipts import settlement_receipt
from services.wager.rejections import UnknownSeatSession
from services.wager.stakes import book_of


def balances(ledger: Ledger) -> replies.Balances:
    """Every account that is not at zero."""
    return replies.Balances(
        tuple(
            replies.AccountBalance(account, currency, cents)
            for currency, accounts in sorted(ledger.balances.items())
            for account, cents in sorted(accounts.items())
        )
    )


def table_money(ledger: Ledger) -> replies.TableMoney:
    """The table's money in its period so far; of the last period's handle and win while the ledger is closed."""
    totals = ledger.totals
    drop = balance(ledger.balances, DROP, Currency.CASH)
    chips = ledger.balances.get(Currency.CHIPS, {})
    return replies.TableMoney(
        open=ledger.opened is not None,
        opening="" if ledger.opened is None else ledger.opened.opening,
        tray_cents=ledger.tray_cents,
        breakage_cents=balance(ledger.balances, BREAKAGE),
        opener_cents=totals.opener_cents,
        fills_cents=totals.fills_cents,
        credits_cents=totals.credits_cents,
        drop_cents=drop,
        tips_cents=balance(ledger.balances, TIPS),
        racks_cents=sum(cents for account, cents in chips.items() if account.startswith(RACK)),
        seated=len(ledger.seated),
        escrow_cents=ledger.escrow_cents,
        open_holds=sum(len(book.open_holds) for book in ledger.rounds.values()),
        rounds_settled=totals.rounds_settled,
        handle_cents=totals.handle_cents,
        win_cents=totals.win_cents,
        hold=Fraction(totals.win_cents, drop) if drop else None,
        win_per_handle=Fraction(totals.win_cents, totals.handle_cents) if totals.handle_cents else None,
    )


def statement(ledger: Ledger, session_id: str) -> replies.Statement:
    """The stay of a patron, seated or gone; raises UnknownSeatSession."""
    session = ledger.seated.get(session_id) or ledger.departed.get(session_id)
    if session is None:
        raise UnknownSeatSession(
            f"there is no seat session {session_id!r:.220} at {ledger.table}", session=session_id[:200]
        )
    return replies.Statement(
        session=session.session,
        patron=session.patron,
        seat=session.seat,
        open=session_id in ledger.seated,
        rack_cents=ledger.rack_cents(session_id),
        in_play_cents=session.in_play_cents,
        brought_cents=session.brought_cents,
        bought_cents=session.bought_cents,
        staked_cents=session.staked_cents,
        pay_cents=session.pay_cents,
        returned_cents=session.returned_cents,
        corrected_cents=session.corrected_cents,
        net_cents=session.returned_cents - session.staked_cents + session.corrected_cents,
        tipped_cents=session.tipped_cents,
        cashed_out_cents=session.cashed_out_cents,
        earlier_lines=session.earlier_lines,
        lines=tuple(_statement_line(round_id, line) for round_id, line in session.lines),
    )


def _statement_line(round_id: str, line: SettledLine) -> replies.StatementLine:
    return replies.StatementLine(
        round_id=round_id,
        seat=line.seat,
        hand=line.hand,
        kind=line.kind,
        outcome=line.outcome,
        cause=line.cause,
        stake_cents=line.stake_cents,
        pay_cents=max(0, line.returned_cents - line.stake_cents),
        returned_cents=line.returned_cents,
        net_cents=line.returned_cents - line.stake_cents,
    )


def round_money(ledger: Ledger, round_id: str) -> replies.RoundMoney:
    """The stakes of a recent round and what became of them; raises UnknownRound or RoundIsPast."""
    book = book_of(ledger, round_id)
    return replies.RoundMoney(
        round_id=round_id,
        settled=book.settled,
        holds=tuple(
            replies.HoldState(
                hold.stake.hold, hold.stake.session, hold.stake.kind, hold.stake.amount_cents, hold.status
            )
            for hold in book.holds.values()
        ),
        settlements=tuple(settlement_receipt(event) for event in book.settlements),
    )

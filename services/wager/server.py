"""The wager service on the wire: which procedure is answered by which use case; and its own measure, the money at stake."""

from collections.abc import Mapping

from prometheus_client import Gauge

from services.journal.port import Journal
from services.runtime.clock import Clock, GamingCalendar
from services.runtime.dispatch import Dispatcher
from services.runtime.snapshots import StateSnapshots
from services.runtime.telemetry import Telemetry
from services.wager import client
from services.wager.service import WagerService


def wager_dispatcher(
    journal: Journal,
    *,
    clock: Clock,
    telemetry: Telemetry,
    calendars: Mapping[str, GamingCalendar] | None = None,
    snapshots: StateSnapshots | None = None,
) -> Dispatcher:
    """The wager service over `journal`, ready for a gRPC server and for callers in this process."""
    service = WagerService(journal, snapshots=snapshots)
    Gauge(
        "holecard_wager_escrow_cents",
        "Stakes in play at the tables whose ledgers this process has in memory.",
        registry=telemetry.registry,
    ).set_function(service.escrow_cents)
    return Dispatcher(
        {
            client.OPEN_LEDGER: service.open_ledger,
            client.CLOSE_LEDGER: service.close_ledger,
            client.OPEN_SEAT_SESSION: service.open_seat_session,
            client.BUY_IN: service.buy_in,
            client.BRING_CHIPS: service.bring_chips,
            client.HOLD_STAKES: service.hold_stakes,
            client.VOID_HOLDS: service.void_holds,
            client.SETTLE_ROUND: service.settle_round,
            client.GIVE_TIP: service.give_tip,
            client.CASH_OUT: service.cash_out,
            client.CLOSE_SEAT_SESSION: service.close_seat_session,
            client.FILL_TRAY: service.fill_tray,
            client.CREDIT_TRAY: service.credit_tray,
            client.CORRECT_PAYMENT: service.correct_payment,
            client.READ_BALANCES: service.read_balances,
            client.READ_TABLE_MONEY: service.read_table_money,
            client.READ_STATEMENT: service.read_statement,
            client.READ_ROUND: service.read_round,
        },
        clock=clock,
        telemetry=telemetry,
        calendars=calendars,
        load=service.load,
        let_go=service.let_go,
    )

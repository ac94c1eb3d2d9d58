"""The table service on the wire: which procedure is answered by which use case, and what the service needs to run.

Owns wiring only. The service has a life of its own (`start`, `stop`): who builds it must see to both.
"""

from collections.abc import Mapping
from typing import Any

from services.runtime.clock import Clock, GamingCalendar
from services.runtime.dispatch import Dispatcher, UseCase
from services.runtime.telemetry import Telemetry
from services.table import client
from services.table.service import TableService
from services.wire.rpc import Rpc


def use_cases(service: TableService) -> Mapping[Rpc[Any, Any], UseCase]:
    """Say which use case answers which procedure."""
    plain = (
        client.POST_RULES,
        client.CLOSE_TABLE,
        client.SET_DEALER,
        client.LEAVE_SEAT,
        client.PLACE_WAGERS,
        client.CLOSE_BETTING,
        client.TAKE_INSURANCE,
        client.DECLINE_INSURANCE,
        client.TAKE_EVEN_MONEY,
        client.CLOSE_INSURANCE,
        client.ACT,
        client.SUSPEND,
        client.RESUME,
        client.VOID_HAND,
        client.VOID_ROUND,
    )
    return {
        **dict.fromkeys(plain, service.plain),
        client.OPEN_TABLE: service.open_table,
        client.CHANGE_LIMITS: service.change_limits,
        client.SEAT_PLAYER: service.seat_player,
        client.BUY_IN: service.buy_in,
        client.CASH_OUT: service.cash_out,
        client.OPEN_BETTING: service.open_betting,
        client.GET_TABLE: service.get_table,
        client.WATCH_TABLE: service.watch_table,
        client.LIST_TABLES: service.list_tables,
    }


def dispatcher(
    service: TableService,
    *,
    clock: Clock,
    telemetry: Telemetry,
    calendars: Mapping[str, GamingCalendar] | None = None,
) -> Dispatcher:
    """Build the service's dispatcher, ready to be hosted."""
    return Dispatcher(use_cases(service), clock=clock, telemetry=telemetry, calendars=calendars)

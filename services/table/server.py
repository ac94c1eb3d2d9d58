"""The table service on the wire: which procedure is answered by which use case, and what the service needs to run.

Owns wiring only.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from services.journal.port import Journal
from services.runtime.clock import Clock, GamingCalendar
from services.runtime.dispatch import Dispatcher, UseCase
from services.runtime.snapshots import StateSnapshots
from services.runtime.telemetry import Telemetry
from services.shoe.client import ShoeClient
from services.table import client
from services.table.service import TableService
from services.wager.client import WagerClient
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
    )
    return {
        **dict.fromkeys(plain, service.plain),
        client.OPEN_TABLE: service.open_table,
        client.CHANGE_LIMITS: service.change_limits,
        client.SEAT_PLAYER: service.seat_player,
        client.BUY_IN: service.buy_in,
        client.CASH_OUT: service.cash_out,
        client.GIVE_TIP: service.give_tip,
        client.PLAY_CASH: service.play_cash,
        client.OPEN_BETTING: service.open_betting,
        client.VOID_HAND: service.void,
        client.VOID_ROUND: service.void,
        client.GET_TABLE: service.get_table,
        client.WATCH_TABLE: service.watch_table,
        client.LIST_TABLES: service.list_tables,
        client.RECORD_OBSERVATIONS: service.intake.record_observations,
        client.GET_DEVICES: service.intake.get_devices,
    }


def dispatcher(
    service: TableService,
    *,
    clock: Clock,
    telemetry: Telemetry,
    calendars: Mapping[str, GamingCalendar] | None = None,
) -> Dispatcher:
    """Build the service's dispatcher, ready to be hosted; who hosts it also calls the service's `start` and `stop`."""
    return Dispatcher(
        use_cases(service),
        clock=clock,
        telemetry=telemetry,
        calendars=calendars,
        load=service.load,
        let_go=service.let_go,
    )


class Tables:
    """The table service with all it needs: host `dispatcher`, call `start` once everything it asks is reachable, and `stop`.

    `shoes` and `ledgers` should give up after a few seconds: the table tries again by itself, and shows that it waits.
    """

    def __init__(
        self,
        journal: Journal,
        shoes: ShoeClient,
        ledgers: WagerClient,
        *,
        clock: Clock,
        telemetry: Telemetry,
        calendars: Mapping[str, GamingCalendar] | None = None,
        snapshots: StateSnapshots | None = None,
    ) -> None:
        self.service = TableService(
            journal, shoes, ledgers, clock=clock, telemetry=telemetry, calendars=calendars, snapshots=snapshots
        )
        self.dispatcher = dispatcher(self.service, clock=clock, telemetry=telemetry, calendars=calendars)

    async def start(self) -> None:
        """Take up every table where its log ends; open rounds go on by themselves."""
        await self.service.start()

    def take_up(self, streams: Iterable[str]) -> None:
        """The same for the tables among these streams, which this process has begun to own."""
        self.service.take_up(streams)

    async def stop(self) -> None:
        """End what runs in the background, after the commands in hand."""
        await self.dispatcher.drain()
        await self.service.stop()

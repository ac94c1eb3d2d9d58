"""The table service over real gRPC: the same answers and refusals as in process, and views that come as they change."""

from pathlib import Path

import pytest

from services.runtime.caller import GrpcCaller, open_channel
from services.runtime.failures import NotFound
from services.runtime.server import GrpcServer
from services.table import client as tables
from services.table.client import TablePhase
from services.wire.refusal import Refused
from tests.support.table_house import DEALER, TABLE, House, player


async def test_a_round_over_grpc(tmp_path: Path) -> None:
    async with House(tmp_path / "journal.db", seed="7") as house:
        (session,) = await house.ready("ann")
        server = GrpcServer([house.tables.dispatcher], "127.0.0.1:0")
        await server.start()
        channel = open_channel(f"127.0.0.1:{server.port}")
        table = tables.TableClient(GrpcCaller(channel))
        try:
            views = table.watch_table(TABLE)
            assert (await anext(views)).phase is TablePhase.IDLE
            opened = await table.open_betting(TABLE, house.context(DEALER, "open"))
            assert await table.open_betting(TABLE, house.context(DEALER, "open")) == opened
            assert (await anext(views)).phase is TablePhase.BETTING
            wager = tables.PlaceWagers(opened.round_id, (tables.SeatWager(session, 1, "main", 300),))
            with pytest.raises(Refused) as refused:
                await table.place_wagers(TABLE, house.context(player("ann")), wager)
            assert refused.value.name == "StakeBelowMinimum"
            assert refused.value.rule == "30-809"
            assert refused.value.facts["minimum_cents"] == "500"
            stranger = tables.PlaceWagers(opened.round_id, (tables.SeatWager(session, 1, "main", 500),))
            with pytest.raises(Refused) as refused:
                await table.place_wagers(TABLE, house.context(player("bob")), stranger)
            assert refused.value.name == "NotYourSession"
            await table.place_wagers(TABLE, house.context(player("ann")), stranger)
            await table.close_betting(TABLE, house.context(), opened.round_id)
            view = await table.get_table(TABLE)
            assert view == await house.table.get_table(TABLE)
            assert view.round is not None
            assert [len(hand.cards) for hand in view.round.hands] == [2]
            assert [(len(dealer.cards), dealer.hidden) for dealer in view.round.dealer] == [(1, 1)]
            assert [summary.table for summary in (await table.list_tables("black-hawk")).tables] == [TABLE]
            with pytest.raises(NotFound):
                await table.get_table("black-hawk/BJ-99")
        finally:
            await channel.close()
            await server.stop(0)

"""Several processes on one Kafka journal: tables are shared out, found, taken over and handed over (DESIGN §4)."""

import asyncio
import signal
from pathlib import Path
from typing import Any

import grpc
import pytest

from services.floor.simulation import Callers, Plan, Simulation
from services.game.profiles import profile
from services.runtime.caller import GrpcCaller, open_channel
from services.runtime.clock import SystemClock
from services.runtime.failures import NotOwner
from services.runtime.routing import Lines, RoutedCaller
from services.surveillance.client import Lag, SurveillanceClient
from services.table.client import GET_TABLE, GetTable, TableClient
from services.wire.redirect import decode_redirect
from services.wire.refusal import STATUS_DETAILS_KEY
from tests.support.audit import rounds_of, wrong_in_cluster
from tests.support.bots import Bots
from tests.support.cluster_houses import Ground, owned, until

pytestmark = pytest.mark.xdist_group("kafka")

PLAN = Plan(tables=4, seats=2, mischief=0.05)
EVERYTHING = {topic * 1000 + number for topic in range(3) for number in range(4)}


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


async def sound(ground: Ground, bots: Bots) -> None:
    """All that was acknowledged is there, lawful, once; and every round that was opened has ended."""
    faults, facts = await wrong_in_cluster(ground.broker.cluster, ground.layout, bots.acknowledged)
    assert faults == []
    opened, ended = rounds_of(facts)
    assert opened == ended
    assert len(opened) >= bots.figures.rounds > 0
    assert bots.figures.accepted_mischief == {}
    assert bots.figures.outages == 0, "a client was refused although it was patient"


async def test_two_houses_share_the_tables_in_cells_and_hand_them_over_without_a_refusal(ground: Ground) -> None:
    first, second = ground.house(), ground.house()
    async with second:
        async with first:
            addresses = f"{first.settings.grpc_address},{second.settings.grpc_address}"
            async with Bots(addresses, PLAN) as bots:
                await until(lambda: owned(first) | owned(second) == EVERYTHING)
                await until(lambda: len(owned(first)) == len(owned(second)) == 6)
                for house in (first, second):
                    assert {number % 1000 for number in owned(house)} == {
                        number % 1000 for number in owned(house) if number < 1000
                    }
                await bots.played(6)
                await first.__aexit__()
                # Who leaves has handed over before it ends.
                assert owned(second) == EVERYTHING
                await bots.played(bots.figures.rounds + 4)
                await bots.finish()
        assert bots.lines.redirects._value.get() > 0, "nobody ever asked the wrong house: the test shows nothing"
    await sound(ground, bots)


async def test_services_in_houses_of_their_own_find_each_other_over_the_wire(ground: Ground) -> None:
    shoes, wager = [ground.house(["shoe"]), ground.house(["shoe"])], ground.house(["wager"])
    async with shoes[0], shoes[1], wager:
        # The table is told of one shoe house only; that one knows of the other.
        at = {"shoe": shoes[0].settings.grpc_address, "wager": wager.settings.grpc_address}
        table, eyes = ground.house(["table"], **at), ground.house(["surveillance"])
        async with table, eyes:
            await until(lambda: len(owned(shoes[0])) == len(owned(shoes[1])) == 2)
            lines = Lines()
            callers = [RoutedCaller(lines, [one]) for one in (at["shoe"], table.settings.grpc_address, at["wager"])]
            plan = Plan(tables=4, seats=2, rounds=8)
            simulation = Simulation(plan, (profile("colorado"),), Callers(*callers), SystemClock())
            figures = await simulation.run(lambda _figures, _seconds: None)
            await lines.close()
            # The laws see the topics in an order in which nothing stands before what led to it.
            lag = await audited(SurveillanceClient(eyes.caller("surveillance")))
            assert (lag.findings, lag.gaps_mended) == (0, 0)
            addresses = {one.partition: one.address for one in lag.owners if one.partition in EVERYTHING}
            assert set(addresses.values()) == {
                *at.values(),
                shoes[1].settings.grpc_address,
                table.settings.grpc_address,
            }
            assert len(addresses) == len(EVERYTHING)
            assert {one.records_behind for one in lag.owners} == {0}
            assert table.lines.redirects._value.get() > 0
            assert table.lines.circuits == dict.fromkeys([*at.values(), shoes[1].settings.grpc_address], "closed")
    assert (figures.outages, figures.accepted_mischief, figures.surprises) == (0, {}, {})
    faults, facts = await wrong_in_cluster(ground.broker.cluster, ground.layout)
    assert faults == []
    assert len(rounds_of(facts)[1]) >= figures.rounds >= 8


async def audited(surveillance: SurveillanceClient) -> Lag:
    """How surveillance stands once it has projected and audited everything."""
    async with asyncio.timeout(120):
        while True:
            lag = await surveillance.get_lag()
            if all(one.projected_offset == one.end_offset == one.audited_offset for one in lag.partitions):
                return lag
            await asyncio.sleep(0.05)


async def test_a_killed_owner_is_replaced_and_the_rounds_go_on(ground: Ground) -> None:
    async with ground.process() as first, ground.process() as second:
        async with Bots(f"{first.address},{second.address}", PLAN) as bots:
            await bots.played(6)
            await first.kill()
            await bots.played(bots.figures.rounds + 8)
            await first.start()
            await bots.played(bots.figures.rounds + 4)
            await second.kill()
            await bots.played(bots.figures.rounds + 8)
            await bots.finish()
        assert await first.stop() == 0
    await sound(ground, bots)


async def test_a_paused_owner_answers_nobody_when_it_comes_back(ground: Ground) -> None:
    async with ground.process() as first:
        async with Bots(first.address, Plan(tables=1, seats=2)) as bots:
            await bots.played(2)
            await bots.finish()
        table = "black-hawk/BJ-01"
        channel = open_channel(first.address)
        asked = TableClient(GrpcCaller(channel, patience_seconds=0))
        assert (await asked.get_table(table)).table == table
        first.send(signal.SIGSTOP)
        async with ground.process() as second:
            other = open_channel(second.address)
            shown = await TableClient(GrpcCaller(other, patience_seconds=60)).get_table(table)
            waiting = asyncio.create_task(asked.get_table(table))
            first.send(signal.SIGCONT)
            # Whether asked during the pause or right after it: the old owner looks before it answers.
            with pytest.raises(NotOwner) as raised:
                await waiting
            assert raised.value.address == second.address
            assert (await TableClient(GrpcCaller(other)).get_table(table)) == shown
            await redirected(channel, table, second.address)
            await other.close()
        await channel.close()


async def redirected(channel: grpc.aio.Channel, table: str, address: str) -> None:
    """On the wire it is FAILED_PRECONDITION with the typed way to the owner."""
    method: Any = channel.unary_unary(GET_TABLE.path)
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await method(GET_TABLE.encode_request(table, None, GetTable()), timeout=10)
    assert raised.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    details = dict(raised.value.trailing_metadata() or ())[STATUS_DETAILS_KEY]
    redirect = decode_redirect(details if isinstance(details, bytes) else details.encode())
    assert redirect is not None
    assert (redirect.address, redirect.partition // 1000) == (address, 1)

"""What operators ask of every service of a running house: health, reflection, limits, deadlines, metrics, a graceful end."""

from pathlib import Path
from typing import Any

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from prometheus_client import generate_latest

from services.game.authority import Actor, CommandContext, Role
from services.house import House
from services.runtime.caller import MESSAGE_LIMIT_BYTES, GrpcCaller, open_channel
from services.runtime.failures import CallFailed, DeadlinePassed
from services.runtime.settings import Settings
from services.shoe import client as shoe
from services.surveillance import client as surveillance
from services.table import client as tables
from services.wager import client as wager

SERVICES = {module.SERVICE for module in (shoe, tables, wager, surveillance)}
TABLE = "black-hawk/BJ-07"
BOSS = Actor(Role.SUPERVISOR, "P-1")


def settings(tmp_path: Path) -> Settings:
    return Settings(
        data_dir=tmp_path, grpc_address="127.0.0.1:0", metrics_address="127.0.0.1:0", console_address="127.0.0.1:0"
    )


def by(request_id: str, actor: Actor = BOSS) -> CommandContext:
    return CommandContext(request_id, actor, 0, "")


async def test_every_service_tells_its_health_and_its_procedures(tmp_path: Path) -> None:
    async with House(settings(tmp_path), ("shoe", "table", "wager", "surveillance")) as house:
        channel = open_channel(f"127.0.0.1:{house.grpc_port}")
        health: Any = health_pb2_grpc.HealthStub(channel)
        for name in ("", *SERVICES):
            answer = await health.Check(health_pb2.HealthCheckRequest(service=name))
            assert answer.status == health_pb2.HealthCheckResponse.SERVING, name
        stub: Any = reflection_pb2_grpc.ServerReflectionStub(channel)  # type: ignore[arg-type]  # its stub knows no aio
        asked = reflection_pb2.ServerReflectionRequest(list_services="")
        answers = stub.ServerReflectionInfo(iter([asked]))
        listed = {service.name async for one in answers for service in one.list_services_response.service}
        assert listed >= SERVICES
        for name in SERVICES:
            symbol = reflection_pb2.ServerReflectionRequest(file_containing_symbol=name)
            described = [one async for one in stub.ServerReflectionInfo(iter([symbol]))]
            assert described[0].file_descriptor_response.file_descriptor_proto, name
        await channel.close()


async def test_a_message_over_the_limit_and_a_call_without_time_are_refused_and_change_nothing(tmp_path: Path) -> None:
    async with House(settings(tmp_path), ("shoe", "table", "wager")) as house:
        channel = open_channel(f"127.0.0.1:{house.grpc_port}")
        huge = tables.OpenTable("#" * (MESSAGE_LIMIT_BYTES + 1), (), "D-1")
        with pytest.raises(CallFailed, match="larger than max"):
            # Trying again, as with a service that has no room, would only be the same again.
            await tables.TableClient(GrpcCaller(channel)).open_table(TABLE, by("huge"), huge)
        hasty = GrpcCaller(channel, deadline_seconds=0.000_001, patience_seconds=0.0)
        opening = wager.OpenLedger("o-1", (wager.Count(500, 10),))
        with pytest.raises(DeadlinePassed):
            await wager.WagerClient(hasty).open_ledger(TABLE, by("hasty"), opening)
        # Whatever became of it, asking again with the same id has one effect.
        for _ in range(2):
            receipt = await wager.WagerClient(GrpcCaller(channel)).open_ledger(TABLE, by("hasty"), opening)
            assert receipt.opener_cents == 5_000
        await channel.close()


async def test_metrics_count_every_service_and_every_refusal(tmp_path: Path) -> None:
    async with House(settings(tmp_path), ("shoe", "table", "wager", "surveillance")) as house:
        channel = open_channel(f"127.0.0.1:{house.grpc_port}")
        caller = GrpcCaller(channel)
        await shoe.ShoeClient(caller).get_shoe(TABLE)
        await wager.WagerClient(caller).read_table_money(TABLE)
        with pytest.raises(Exception, match="never opened"):
            await tables.TableClient(caller).get_table(TABLE)
        with pytest.raises(Exception, match="NotAuthorised"):
            await tables.TableClient(caller).open_table(
                TABLE, by("x", Actor(Role.DEALER, "D")), tables.OpenTable("", (), "D")
            )
        text = generate_latest(house.telemetry.registry).decode()
        for name in SERVICES - {surveillance.SERVICE}:
            assert 'holecard_requests_total{procedure="' in text
            assert f'service="{name}"' in text
        assert 'holecard_refusals_total{rejection="NotAuthorised"' in text
        await channel.close()

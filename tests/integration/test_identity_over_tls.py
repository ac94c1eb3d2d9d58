"""Who is let in, over real TLS: each bad certificate is refused, logged and counted, and leaves nothing behind."""

from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from structlog.testing import capture_logs

from services.game.authority import Actor, CommandContext, Role
from services.game.profiles import profile
from services.game.rejections import Breach
from services.game.rules import canonical_text
from services.house import House
from services.runtime.caller import GrpcCaller, open_channel
from services.runtime.settings import Settings
from services.runtime.transport import Tls
from services.shoe import client as shoe
from services.table import client as tables
from services.wager import client as wager
from services.wire.refusal import Refused
from tests.support.certificates import Certificates, self_signed

TABLE = "black-hawk/BJ-07"
ELSEWHERE = "denver/BJ-01"
BOSS = Actor(Role.SUPERVISOR, "S-1")
DEALER = Actor(Role.DEALER, "D-17")
RULES = canonical_text(profile("colorado"))
OPENING = tables.OpenTable(RULES, (tables.ChipCount(500, 1_000),), "D-17")


@dataclass
class Guarded:
    """A house that speaks TLS, and the authority behind its certificate."""

    house: House
    certificates: Certificates

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.house.grpc_port}"

    @asynccontextmanager
    async def caller(self, tls: Tls) -> AsyncIterator[GrpcCaller]:
        channel = open_channel(self.address, tls)
        try:
            yield GrpcCaller(channel, patience_seconds=0)
        finally:
            await channel.close()

    def counted(self, name: str, **labels: str) -> float:
        return self.house.telemetry.registry.get_sample_value(name, labels) or 0.0

    async def recorded(self) -> int:
        assert self.house.journal is not None
        return sum((await self.house.journal.end()).values())


@asynccontextmanager
async def guarded(folder: Path) -> AsyncIterator[Guarded]:
    certificates = Certificates(folder / "pki")
    settings = Settings(
        folder / "data",
        grpc_address="127.0.0.1:0",
        metrics_address="127.0.0.1:0",
        tls=certificates.of("*/service/house").folder,
    )
    async with House(settings, ("shoe", "table", "wager", "surveillance")) as house:
        yield Guarded(house, certificates)


@pytest.fixture
async def door(tmp_path: Path) -> AsyncIterator[Guarded]:
    async with guarded(tmp_path) as made:
        yield made


def by(actor: Actor, request_id: str = "r-1") -> CommandContext:
    return CommandContext(request_id, actor, 0, "")


async def open_table(caller: GrpcCaller, table: str = TABLE, actor: Actor = BOSS) -> tables.Accepted:
    return await tables.TableClient(caller).open_table(table, by(actor), OPENING)


def told(log: list[MutableMapping[str, Any]]) -> list[str]:
    return [line["rejection"] for line in log if line["event"] == "turned away at the door"]


async def test_the_right_role_opens_a_table_and_a_gateway_speaks_for_the_floor(door: Guarded) -> None:
    async with door.caller(door.certificates.of("black-hawk/supervisor/S-1")) as caller:
        assert (await open_table(caller)).first_sequence == 1
    async with door.caller(door.certificates.of("black-hawk/gateway/gw-1")) as caller:
        at_table = tables.TableClient(caller)
        seated = await at_table.seat_player(TABLE, by(DEALER, "r-2"), tables.SeatPlayer("P-1", 1, 0))
        assert seated.session
        assert (await at_table.get_table(TABLE)).sequence >= 2


@dataclass(frozen=True)
class Wrong:
    """A certificate, a call with it, and the rule that it breaks."""

    grants: tuple[str, ...]
    rejection: str
    breach: Breach = Breach.AUTHORITY
    table: str = TABLE
    actor: Actor = BOSS
    enrol: bool = True


WRONG = {
    "a dealer as supervisor": Wrong(("black-hawk/dealer/D-17",), "ProcedureNotYours"),
    "a dealer, by his own name": Wrong(("black-hawk/dealer/D-17",), "ProcedureNotYours", actor=DEALER),
    "another supervisor": Wrong(("black-hawk/supervisor/S-2",), "ActorNotYours"),
    "a gateway as supervisor": Wrong(("black-hawk/gateway/gw-1",), "ProcedureNotYours"),
    "surveillance": Wrong(("*/surveillance/V-1",), "ProcedureNotYours"),
    "ops": Wrong(("*/ops/O-1",), "ProcedureNotYours"),
    "the console": Wrong(("*/console/c-1",), "ProcedureNotYours"),
    "a supervisor of another floor": Wrong(("denver/supervisor/S-1",), "FloorNotYours"),
    "a supervisor at another floor's table": Wrong(("black-hawk/supervisor/S-1",), "FloorNotYours", table=ELSEWHERE),
    "a floor's service elsewhere": Wrong(("denver/service/house",), "FloorNotYours"),
    "the system": Wrong(("black-hawk/supervisor/S-1",), "ActorNotYours", actor=Actor(Role.SYSTEM, "table")),
    "unenrolled": Wrong(("black-hawk/supervisor/S-1",), "CertificateNotEnrolled", Breach.IDENTITY, enrol=False),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
async def test_a_wrong_certificate_is_refused_logged_and_counted_and_nothing_is_recorded(
    door: Guarded, wrong: Wrong
) -> None:
    tls = door.certificates.of(*wrong.grants, enrol=wrong.enrol)
    with capture_logs() as log:
        async with door.caller(tls) as caller:
            with pytest.raises(Refused) as refused:
                await open_table(caller, wrong.table, wrong.actor)
    assert (refused.value.name, refused.value.breach) == (wrong.rejection, wrong.breach)
    assert refused.value.rule
    assert refused.value.remedy
    assert told(log) == [wrong.rejection]
    assert door.counted("holecard_refusals_total", service=tables.SERVICE, rejection=wrong.rejection) == 1
    assert await door.recorded() == 0
    assert not any("PRIVATE" in str(line) or "BEGIN" in str(line) for line in log)


async def test_a_certificate_revoked_while_connected_opens_nothing_more_and_ends_its_streams(door: Guarded) -> None:
    dealer = door.certificates.of("black-hawk/dealer/D-17")
    async with (
        door.caller(door.certificates.of("black-hawk/supervisor/S-1")) as boss,
        door.caller(dealer) as caller,
    ):
        await open_table(boss)
        at_table = tables.TableClient(caller)
        await at_table.seat_player(TABLE, by(DEALER, "r-2"), tables.SeatPlayer("P-1", 1, 0))
        watching = at_table.watch_table(TABLE)
        assert (await anext(watching)).sequence >= 2
        before = await door.recorded()
        with capture_logs() as log:
            door.certificates.pki.revoke(door.certificates.name_of(dealer))
            with pytest.raises(Refused, match="revoked") as refused:
                await at_table.seat_player(TABLE, by(DEALER, "r-3"), tables.SeatPlayer("P-2", 2, 0))
            assert refused.value.breach is Breach.IDENTITY
            assert await door.recorded() == before
            # What happens at the table from now on is not for him.
            await tables.TableClient(boss).suspend(TABLE, by(BOSS, "r-4"), "a certificate was revoked")
            with pytest.raises(Refused, match="revoked"):
                await anext(watching)
        assert told(log) == ["CertificateRevoked"] * 2


async def test_a_withdrawn_certificate_is_let_in_again_when_it_is_enrolled_again(door: Guarded) -> None:
    ops = door.certificates.of("*/ops/O-1")
    name = door.certificates.name_of(ops)
    async with door.caller(ops) as caller:
        assert (await tables.TableClient(caller).list_tables("black-hawk")).tables == ()
        door.certificates.pki.withdraw(name)
        with pytest.raises(Refused, match="not enrolled"):
            await tables.TableClient(caller).list_tables("black-hawk")
        door.certificates.pki.enrol_again(name)
        assert (await tables.TableClient(caller).list_tables("black-hawk")).tables == ()


async def test_a_broken_list_shuts_nobody_out_and_lets_nobody_in_again(door: Guarded) -> None:
    good = door.certificates.of("*/ops/O-1")
    bad = door.certificates.of("*/ops/O-2")
    door.certificates.pki.revoke(door.certificates.name_of(bad))
    folder = door.certificates.folder
    async with door.caller(good) as caller, door.caller(bad) as revoked:
        await tables.TableClient(caller).list_tables("black-hawk")
        for name in ("crl.pem", "enrolled.json"):
            whole = (folder / name).read_bytes()
            (folder / name).write_bytes(whole[: len(whole) // 2])
            with capture_logs() as log:
                await tables.TableClient(caller).list_tables("black-hawk")
                with pytest.raises(Refused, match="revoked"):
                    await tables.TableClient(revoked).list_tables("black-hawk")
            assert any("broken" in line["event"] for line in log)
            (folder / name).write_bytes(whole)


async def answered(channel: grpc.aio.Channel) -> grpc.StatusCode:
    """How a call ends that is sent through this channel as it is."""
    method: Any = channel.unary_unary(shoe.GET_SHOE.path)
    try:
        await method(shoe.GET_SHOE.encode_request(TABLE, None, shoe.GetShoe()), timeout=20)
    except grpc.aio.AioRpcError as error:
        return error.code()
    return grpc.StatusCode.OK


@pytest.mark.parametrize("what", ["expired", "self-signed", "of another authority", "none", "plain text"])
async def test_who_fails_in_the_handshake_gets_no_connection(
    door: Guarded, what: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    grant = "*/service/house"
    authority = (door.certificates.folder / "ca.crt").read_bytes()
    others = Certificates(tmp_path / "others")
    match what:
        case "expired":
            material = door.certificates.expired(grant)
            says = "certificate has expired"
        case "self-signed":
            material = self_signed(grant)
            says = "self signed certificate"
        case _:
            material = others.of(grant).material
            says = "unable to get" if what == "of another authority" else ""
    if what == "plain text":
        channel = grpc.aio.insecure_channel(door.address)
    elif what == "none":
        channel = grpc.aio.secure_channel(door.address, grpc.ssl_channel_credentials(authority))
    else:
        shown = grpc.ssl_channel_credentials(authority, material.key, material.certificate)
        channel = grpc.aio.secure_channel(door.address, shown)
    assert await answered(channel) is grpc.StatusCode.UNAVAILABLE
    await channel.close()
    # gRPC's library ends the connection before any of our code is asked, and says why on stderr.
    assert "Handshake failed" in (said := capfd.readouterr().err)
    assert says in said
    assert door.counted("holecard_tls_handshakes_total") >= 1
    assert door.counted("holecard_requests_total", service=shoe.SERVICE, procedure="GetShoe", status="ok") == 0
    assert await door.recorded() == 0


async def test_tls_to_a_server_that_speaks_plain_text_gets_no_connection(tmp_path: Path) -> None:
    certificates = Certificates(tmp_path / "pki")
    settings = Settings(tmp_path / "data", grpc_address="127.0.0.1:0", metrics_address="127.0.0.1:0")
    async with House(settings, ("shoe",)) as house:
        channel = open_channel(f"127.0.0.1:{house.grpc_port}", certificates.of("*/service/house"))
        assert await answered(channel) is grpc.StatusCode.UNAVAILABLE
        await channel.close()


async def test_a_dealers_certificate_cannot_pass_for_a_service(tmp_path: Path) -> None:
    """A client trusts servers of the authority only, and of them only those that were issued to serve."""
    certificates = Certificates(tmp_path / "pki")
    fake = certificates.of("black-hawk/dealer/D-17").material
    server = grpc.aio.server()
    credentials = grpc.ssl_server_credentials([(fake.key, fake.certificate)], fake.authority, True)  # noqa: FBT003 - its third parameter has no better name
    port = server.add_secure_port("127.0.0.1:0", credentials)
    await server.start()
    channel = open_channel(f"127.0.0.1:{port}", certificates.of("*/service/house"))
    assert await answered(channel) is grpc.StatusCode.UNAVAILABLE
    await channel.close()
    await server.stop(None)


async def test_health_is_told_to_every_good_certificate_and_to_no_other(door: Guarded) -> None:
    good, bad = door.certificates.of("black-hawk/player/P-1"), door.certificates.of("*/ops/O-1", enrol=False)
    for tls, code in ((good, None), (bad, grpc.StatusCode.UNAUTHENTICATED)):
        channel = open_channel(door.address, tls)
        stub: Any = health_pb2_grpc.HealthStub(channel)
        asked = health_pb2.HealthCheckRequest(service=tables.SERVICE)
        if code is None:
            assert (await stub.Check(asked)).status == health_pb2.HealthCheckResponse.SERVING
            async for answer in stub.Watch(asked):
                assert answer.status == health_pb2.HealthCheckResponse.SERVING
                break
        else:
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await stub.Check(asked)
            assert refused.value.code() is code
        await channel.close()


async def test_services_apart_reach_each_other_over_tls(tmp_path: Path) -> None:
    certificates = Certificates(tmp_path / "pki")

    def settings(name: str, **addresses: str) -> Settings:
        return Settings(
            tmp_path / name,
            grpc_address="127.0.0.1:0",
            metrics_address="127.0.0.1:0",
            addresses=addresses,
            tls=certificates.of(f"*/service/{name}").folder,
        )

    async with House(settings("shoe"), ("shoe",)) as cards, House(settings("wager"), ("wager",)) as money:
        at = {"shoe": f"127.0.0.1:{cards.grpc_port}", "wager": f"127.0.0.1:{money.grpc_port}"}
        async with House(settings("table", **at), ("table",)) as conductor:
            channel = open_channel(f"127.0.0.1:{conductor.grpc_port}", certificates.of("black-hawk/supervisor/S-1"))
            await open_table(GrpcCaller(channel, patience_seconds=0))
            await channel.close()
            asked = wager.WagerClient(conductor.caller("wager"))
            assert (await asked.read_table_money(TABLE)).tray_cents == 500_000

"""A floor's gateway over TLS: devices are themselves, the gateway speaks for its floor, and the house asks both."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from services.access import ACCESS
from services.cli.gateway import run
from services.floor.gateway import Gateway
from services.floor.gateway_client import GatewayClient, Report
from services.floor.gateway_log import GatewayLog
from services.game.authority import Actor, CommandContext, Role
from services.game.profiles import profile
from services.game.rejections import Breach
from services.game.rules import canonical_text
from services.house import House
from services.runtime.caller import GrpcCaller, open_channel
from services.runtime.clock import SystemClock
from services.runtime.door import Door
from services.runtime.server import GrpcServer
from services.runtime.settings import Settings
from services.runtime.telemetry import Telemetry
from services.runtime.transport import Tls, TlsUnusable
from services.table import client as tables
from services.wire.refusal import Refused
from tests.support.certificates import Certificates
from tests.support.devices import TABLE, Device

BOSS = Actor(Role.SUPERVISOR, "S-1")
DEALER = Actor(Role.DEALER, "D-17")
OPENING = tables.OpenTable(canonical_text(profile("colorado")), (tables.ChipCount(500, 1_000),), "D-17")


@dataclass
class Floor:
    """A house, a floor's gateway to it, and the authority of both."""

    house: House
    gateway: Gateway
    address: str
    certificates: Certificates
    own: Tls
    """The gateway's certificate."""

    @asynccontextmanager
    async def caller(self, *grants: str, enrol: bool = True, direct: bool = False) -> AsyncIterator[GrpcCaller]:
        """Somebody with a new certificate, at the gateway or direct at the house."""
        address = f"127.0.0.1:{self.house.grpc_port}" if direct else self.address
        channel = open_channel(address, self.certificates.of(*grants, enrol=enrol))
        try:
            yield GrpcCaller(channel, patience_seconds=0)
        finally:
            await channel.close()


@asynccontextmanager
async def floor(folder: Path, *gateway_grants: str) -> AsyncIterator[Floor]:
    certificates = Certificates(folder / "pki")
    settings = Settings(
        folder / "data",
        grpc_address="127.0.0.1:0",
        metrics_address="127.0.0.1:0",
        tls=certificates.of("*/service/house").folder,
    )
    own = certificates.of(*gateway_grants)
    async with House(settings, ("shoe", "table", "wager")) as house:
        kept = GatewayLog.open(folder / "gateway.db", "black-hawk")
        channel = open_channel(f"127.0.0.1:{house.grpc_port}", own)
        telemetry = Telemetry()
        caller = GrpcCaller(channel, deadline_seconds=5.0, patience_seconds=0.0)
        gateway = Gateway(kept, caller, clock=SystemClock(), telemetry=telemetry, name="gw-1")
        server = GrpcServer(gateway.dispatchers(), "127.0.0.1:0", Door(own, ACCESS, telemetry))
        gateway.forwarder.start()
        await server.start()
        await gateway.forwarder.ask_house()
        try:
            yield Floor(house, gateway, f"127.0.0.1:{server.port}", certificates, own)
        finally:
            await server.stop(0)
            await gateway.forwarder.stop()
            await channel.close()
            await kept.close()


async def until(reached: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not reached():  # noqa: ASYNC110 - what is waited for knows no event
            await asyncio.sleep(0.02)


def by(actor: Actor, request_id: str) -> CommandContext:
    return CommandContext(request_id, actor, 0, "")


async def test_a_device_reports_as_itself_and_its_readings_reach_the_house(tmp_path: Path) -> None:
    async with floor(tmp_path, "black-hawk/gateway/gw-1") as here:
        async with here.caller("black-hawk/device/shoe-7") as caller:
            device = Device(GatewayClient(caller), "shoe-7")
            for _ in range(3):
                device.see()
            assert (await device.send()).kept_through == 3
            await until(lambda: here.gateway.log.progress.queued == 0)
        async with here.caller("black-hawk/supervisor/S-1", direct=True) as boss:
            (known,) = (await tables.TableClient(boss).get_devices(TABLE)).devices
            assert known.device == "shoe-7"


@pytest.mark.parametrize(
    ("grant", "enrol", "rejection"),
    [
        ("black-hawk/device/tray-7", True, "ActorNotYours"),
        ("black-hawk/gateway/gw-2", True, "ActorNotYours"),
        ("denver/device/shoe-7", True, "FloorNotYours"),
        ("black-hawk/dealer/shoe-7", True, "ProcedureNotYours"),
        ("*/ops/shoe-7", True, "ProcedureNotYours"),
        ("black-hawk/device/shoe-7", False, "CertificateNotEnrolled"),
    ],
)
async def test_nobody_else_reports_in_a_devices_name(tmp_path: Path, grant: str, enrol: bool, rejection: str) -> None:
    async with floor(tmp_path, "black-hawk/gateway/gw-1") as here, here.caller(grant, enrol=enrol) as caller:
        device = Device(GatewayClient(caller), "shoe-7")
        device.see()
        with pytest.raises(Refused) as refused:
            await GatewayClient(caller).report(TABLE, Report("shoe-7", 0, tuple(device.kept)))
        assert refused.value.name == rejection
        assert here.gateway.log.progress.kept == 0


async def test_no_device_goes_past_the_gateway_to_the_house(tmp_path: Path) -> None:
    async with (
        floor(tmp_path, "black-hawk/gateway/gw-1") as here,
        here.caller("black-hawk/device/shoe-7", direct=True) as caller,
    ):
        context = by(Actor(Role.DEVICE, "shoe-7"), "r-1")
        with pytest.raises(Refused, match="ProcedureNotYours"):
            await tables.TableClient(caller).record_observations(TABLE, context, tables.RecordObservations(()))


async def test_30_828_a_supervisors_word_passes_only_where_the_house_gave_the_gateway_that_right(
    tmp_path: Path,
) -> None:
    async with floor(tmp_path / "plain", "black-hawk/gateway/gw-1") as here:
        async with here.caller("black-hawk/supervisor/S-1") as boss:
            with pytest.raises(Refused) as refused:
                await tables.TableClient(boss).open_table(TABLE, by(BOSS, "r-1"), OPENING)
            assert (refused.value.name, refused.value.breach) == ("ProcedureNotYours", Breach.AUTHORITY)
        # The same person goes to the house direct, with the same role.
        async with here.caller("black-hawk/supervisor/S-1", direct=True) as boss:
            await tables.TableClient(boss).open_table(TABLE, by(BOSS, "r-2"), OPENING)
        async with here.caller("black-hawk/dealer/D-17") as dealer:
            await tables.TableClient(dealer).seat_player(TABLE, by(DEALER, "r-3"), tables.SeatPlayer("P-1", 1, 0))
    async with floor(tmp_path / "trusted", "black-hawk/gateway/gw-1", "black-hawk/supervisor/*") as here:
        async with here.caller("black-hawk/supervisor/S-1") as boss:
            await tables.TableClient(boss).open_table(TABLE, by(BOSS, "r-1"), OPENING)
        # Its people it still asks itself.
        async with here.caller("black-hawk/dealer/D-17") as dealer:
            with pytest.raises(Refused, match="ActorNotYours"):
                await tables.TableClient(dealer).suspend(TABLE, by(BOSS, "r-2"), "a dealer says so")


async def test_a_gateway_that_is_withdrawn_keeps_everything_and_goes_on_when_it_is_enrolled_again(
    tmp_path: Path,
) -> None:
    async with floor(tmp_path, "black-hawk/gateway/gw-1") as here, here.caller("black-hawk/device/shoe-7") as caller:
        device = Device(GatewayClient(caller), "shoe-7")
        name = here.certificates.name_of(here.own)
        # The gateway's own list and the house's are the same file here; the device's certificate stays good on both.
        here.certificates.pki.withdraw(name)
        device.see()
        await device.send()
        await until(lambda: TABLE in here.gateway.forwarder.blocked)
        assert "CertificateNotEnrolled" in here.gateway.forwarder.blocked[TABLE]
        assert here.gateway.log.progress.queued == 1
        here.certificates.pki.enrol_again(name)
        await until(lambda: here.gateway.log.progress.queued == 0)
        assert not here.gateway.forwarder.blocked


@pytest.mark.parametrize("grant", ["denver/gateway/gw-1", "black-hawk/device/shoe-7", "*/service/house"])
def test_a_gateway_does_not_start_with_a_certificate_that_is_not_its_floors(tmp_path: Path, grant: str) -> None:
    tls = Certificates(tmp_path / "pki").of(grant)
    told = CliRunner().invoke(
        run, ["--floor", "black-hawk", "--tls", str(tls.folder), "--log", str(tmp_path / "log.db")]
    )
    assert isinstance(told.exception, TlsUnusable)
    assert "no gateway of black-hawk" in str(told.exception)
    assert not (tmp_path / "log.db").exists()

"""The console over HTTPS: who shows which certificate sees what, and is told why he does not see the rest."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from services.console.application import web
from services.console.server import ConsoleServer
from services.console.views import TablePage
from services.runtime.clock import ManualClock
from services.runtime.enrolment import ListUnusable
from services.runtime.identity import parse_grant
from services.runtime.settings import Settings, SettingsRefused
from services.runtime.transport import Material, Tls
from tests.console.sample_readings import START_US, SampleReadings
from tests.support.certificates import Certificates, self_signed

PAGES = {
    "floors": "/",
    "one floor": "/floors/black-hawk",
    "table": "/tables/black-hawk/BJ-07",
    "hands": "/hands",
    "round": "/rounds/black-hawk/BJ-07/12",
    "pictures": "/rounds/black-hawk/BJ-07/12/frames",
    "findings": "/findings",
    "findings of a table": "/findings?table=black-hawk/BJ-07",
    "health": "/health",
    "metrics": "/metrics",
}
ALL = frozenset(PAGES)
RUNNING = frozenset({"floors", "one floor", "table", "health", "metrics"})
SEES = {
    "*/surveillance/V-1": ALL,
    "*/regulator/R-1": ALL,
    "black-hawk/surveillance/V-1": ALL - {"findings"},
    "*/ops/O-1": RUNNING,
    "black-hawk/supervisor/S-1": RUNNING,
    "black-hawk/licensee/L-1": RUNNING,
    "black-hawk/dealer/D-1": frozenset({"metrics"}),
}


@dataclass
class Console:
    """A console that speaks TLS."""

    server: ConsoleServer
    certificates: Certificates
    registry: CollectorRegistry
    readings: SampleReadings

    @asynccontextmanager
    async def browser(self, shown: Tls | Material | None) -> AsyncIterator[httpx.AsyncClient]:
        context = ssl.create_default_context(cafile=str(self.certificates.folder / "ca.crt"))
        if isinstance(shown, Tls):
            context.load_cert_chain(shown.folder / "tls.crt", shown.folder / "tls.key")
        elif shown is not None:
            own = self.certificates.folder.with_name("shown.pem")
            own.write_bytes(shown.certificate + shown.key)
            context.load_cert_chain(own)
        async with httpx.AsyncClient(verify=context, base_url=f"https://127.0.0.1:{self.server.port}") as client:
            yield client

    def turned_away(self, rejection: str) -> float:
        labels = {"rejection": rejection}
        return self.registry.get_sample_value("holecard_console_turned_away_total", labels) or 0.0


@pytest.fixture
async def console(tmp_path: Path) -> AsyncIterator[Console]:
    certificates = Certificates(tmp_path / "pki")
    registry = CollectorRegistry()
    readings = SampleReadings()
    application = web(readings, clock=ManualClock(START_US), registry=registry)
    server = ConsoleServer(application, "127.0.0.1:0", tls=certificates.of("*/console/console"), registry=registry)
    await server.start()
    yield Console(server, certificates, registry, readings)
    await server.stop()


@pytest.mark.parametrize("grant", SEES)
async def test_each_role_sees_its_own_pages_and_is_told_that_others_are_not_its(console: Console, grant: str) -> None:
    async with console.browser(console.certificates.of(grant)) as browser:
        seen = {name: (await browser.get(address)) for name, address in PAGES.items()}
    assert {name for name, page in seen.items() if page.status_code == 200} == SEES[grant]
    for name, page in seen.items():
        if name not in SEES[grant]:
            assert page.status_code == 403, name
            assert "not yours to see" in page.text or "does not" in page.text, name


async def test_a_floors_surveillance_sees_its_own_floor_alone(console: Console) -> None:
    async with console.browser(console.certificates.of("cripple-creek/surveillance/V-2")) as browser:
        for address in ("/floors/black-hawk", "/tables/black-hawk/BJ-07", "/rounds/black-hawk/BJ-07/12"):
            assert (await browser.get(address)).status_code in {403, 404}, address
        for address in ("/hands?table=black-hawk/BJ-07", "/hands?floor=black-hawk", "/findings?table=black-hawk/BJ-07"):
            assert (await browser.get(address)).status_code == 403, address
        assert "BJ-07" not in (await browser.get("/")).text
        meters = await browser.get("/meters")
        assert meters.status_code == 200
        assert "black-hawk" not in meters.text
        await browser.get("/hands")
        assert console.readings.asked[-1].floor == "cripple-creek"


async def test_the_pit_is_not_told_what_was_found_at_its_tables(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = (await console.readings.findings()).findings
    plain = console.readings.table

    async def with_findings(key: str) -> TablePage:
        return replace(await plain(key), findings=found)

    monkeypatch.setattr(console.readings, "table", with_findings)
    texts = []
    for grant in ("*/surveillance/V-1", "black-hawk/supervisor/S-1"):
        async with console.browser(console.certificates.of(grant)) as browser:
            texts.append((await browser.get("/tables/black-hawk/BJ-07")).text)
    assert "All findings" in texts[0]
    assert "All findings" not in texts[1]


@pytest.mark.parametrize(
    ("what", "rejection"),
    [
        ("none", "CertificateNotShown"),
        ("expired", "CertificateExpired"),
        ("revoked", "CertificateRevoked"),
        ("unenrolled", "CertificateNotEnrolled"),
    ],
)
async def test_who_has_no_good_certificate_is_answered_in_words_and_counted(
    console: Console, what: str, rejection: str
) -> None:
    grant = "*/surveillance/V-1"
    shown: Tls | Material | None = None
    match what:
        case "expired":
            shown = console.certificates.expired(grant)
        case "revoked":
            shown = console.certificates.of(grant)
            console.certificates.pki.revoke(console.certificates.name_of(shown))
        case "unenrolled":
            shown = console.certificates.of(grant, enrol=False)
    with capture_logs() as log:
        async with console.browser(shown) as browser:
            for address in PAGES.values():
                page = await browser.get(address)
                assert page.status_code == 401, address
                assert "holecard pki" in page.text
                assert "BJ-07" not in page.text
            # A sign of life is no secret, and the pages' own files tell nothing.
            assert (await browser.get("/healthz")).status_code == 200
            assert (await browser.get("/static/page.css")).status_code in {200, 404}
    assert [line["rejection"] for line in log if line["event"] == "turned away at the console"] == [rejection] * len(
        PAGES
    )
    assert console.turned_away(rejection) == len(PAGES)


async def test_who_comes_with_a_certificate_of_nobody_or_without_tls_gets_no_connection(console: Console) -> None:
    async with console.browser(self_signed("*/surveillance/V-1")) as browser:
        with pytest.raises((httpx.TransportError, ssl.SSLError)):
            await browser.get("/")
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{console.server.port}") as browser:
        with pytest.raises(httpx.TransportError):
            await browser.get("/")


async def test_a_revocation_ends_a_live_page(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.console.visitors.LOOK_AGAIN_SECONDS", 0.01)
    reader = console.certificates.of("*/surveillance/V-1")
    with capture_logs() as log:
        async with console.browser(reader) as browser, browser.stream("GET", "/stream") as live:
            chunks = live.aiter_raw()
            assert b"figures-" in await anext(chunks)
            console.certificates.pki.revoke(console.certificates.name_of(reader))
            async with asyncio.timeout(60):
                async for _ in chunks:
                    pass
            assert (await browser.get("/")).status_code == 401
    assert [line["rejection"] for line in log if "rejection" in line] == ["CertificateRevoked"] * 2


async def test_a_renewed_certificate_is_shown_from_the_next_connection_on(console: Console, tmp_path: Path) -> None:
    reader = console.certificates.of("*/surveillance/V-1")
    pki = console.certificates.pki

    async def serial() -> int:
        reading, writing = await asyncio.open_connection(
            "127.0.0.1", console.server.port, ssl=ssl.create_default_context(cafile=str(pki.folder / "ca.crt"))
        )
        shown = writing.get_extra_info("peercert")["serialNumber"]
        writing.close()
        await writing.wait_closed()
        assert reading is not None
        return int(shown, 16)

    before = await serial()
    pki.issue("one-1", (parse_grant("*/console/console"),))
    async with console.browser(reader) as browser:
        assert (await browser.get("/")).status_code == 200
    assert await serial() != before


def test_a_console_for_others_needs_tls(tmp_path: Path) -> None:
    application = web(SampleReadings(), clock=ManualClock(START_US))
    for address in ("0.0.0.0:0", "192.0.2.7:443", "pit.casino.example:443", "[::]:0"):
        with pytest.raises(SettingsRefused, match="--tls DIR"):
            ConsoleServer(application, address)
        with pytest.raises(SettingsRefused, match="--tls DIR"):
            Settings(tmp_path, console_address=address)
        with pytest.raises(SettingsRefused, match="this machine alone"):
            Settings(tmp_path, console_address=address, tls=tmp_path, console_plain_text=True)


def test_a_console_without_lists_of_the_enrolled_does_not_start(tmp_path: Path) -> None:
    certificates = Certificates(tmp_path / "pki")
    tls = certificates.of("*/console/console")
    (certificates.folder / "enrolled.json").unlink()
    with pytest.raises(ListUnusable, match=r"enrolled\.json"):
        ConsoleServer(web(SampleReadings()), "127.0.0.1:0", tls=tls)

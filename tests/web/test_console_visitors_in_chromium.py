"""The console over HTTPS in a real browser: with a certificate the pages come and live on, without one they say why not."""

from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from playwright._impl._api_structures import ClientCertificate  # it has no other place
from playwright.async_api import Browser, expect

from services.console.application import web
from services.console.server import ConsoleServer
from services.runtime.clock import ManualClock
from services.runtime.transport import CERTIFICATE, KEY, Tls
from tests.console.sample_readings import START_US, SampleReadings, sample_row
from tests.support.certificates import Certificates

pytestmark = pytest.mark.asyncio(loop_scope="session")


def shown(origin: str, tls: Tls) -> list[ClientCertificate]:
    return [{"origin": origin, "certPath": tls.folder / CERTIFICATE, "keyPath": tls.folder / KEY}]


async def test_a_certificate_opens_the_live_pages_and_none_opens_nothing(chromium: Browser, tmp_path: Path) -> None:
    certificates = Certificates(tmp_path / "pki")
    readings = SampleReadings()
    application = web(readings, clock=ManualClock(START_US))
    async with AsyncExitStack() as stack:
        server = ConsoleServer(application, "127.0.0.1:0", tls=certificates.of("*/console/console"))
        await server.start()
        stack.push_async_callback(server.stop)
        origin = f"https://127.0.0.1:{server.port}"
        reader = certificates.of("*/surveillance/V-1")
        # The machine's browser does not know the authority of this test, and here it is not the server that is judged.
        known = await chromium.new_context(
            base_url=origin, ignore_https_errors=True, client_certificates=shown(origin, reader)
        )
        stack.push_async_callback(known.close)
        page = await known.new_page()
        await page.goto("/floors/black-hawk")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Black Hawk")
        readings.row_changes["black-hawk/BJ-07"] = replace(sample_row("black-hawk/BJ-07", 4), rounds=4_711)
        row = page.locator("#row-black-hawk--BJ-07")
        while "4,711" not in await row.inner_text():
            await readings.change()
            await page.wait_for_timeout(50)

        unknown = await chromium.new_context(base_url=origin, ignore_https_errors=True)
        stack.push_async_callback(unknown.close)
        stranger = await unknown.new_page()
        answer = await stranger.goto("/floors/black-hawk")
        assert answer is not None
        assert answer.status == 401
        await expect(stranger.locator("body")).to_contain_text("Import a certificate")
        await expect(stranger.locator("body")).not_to_contain_text("BJ-07")

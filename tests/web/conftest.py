"""A real browser for the console's tests: Debian's Chromium, driven by Playwright.

Where it is missing the tests fail and name the package, since a page that no browser has opened has not been tested.
"""

import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, ViewportSize, async_playwright
from starlette.applications import Starlette

from services.console.server import ConsoleServer

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SIZE: ViewportSize = {"width": 1280, "height": 800}

READ_FELT = """() => [...document.querySelectorAll("#felt .hand")].map((hand) => ({
  seat: Number(hand.dataset.seat), hand: Number(hand.dataset.hand), total: hand.dataset.total,
  stake: Number(hand.dataset.stakeCents), outcome: hand.dataset.outcome || "",
  cards: [...hand.querySelectorAll(".card")].map((card) => card.dataset.card),
}))"""

OpenPage = Callable[[Starlette, str], Awaitable[Page]]


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def chromium() -> AsyncIterator[Browser]:
    path = shutil.which("chromium")
    if path is None:
        pytest.fail(
            "Chromium is missing: install the Debian package `chromium` (apt-get install chromium)", pytrace=False
        )
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(chromium: Browser) -> AsyncIterator[OpenPage]:
    """Opens an address of a console of the given application; any error in the page fails the test."""
    errors: list[str] = []
    async with AsyncExitStack() as stack:

        async def opened(application: Starlette, address: str) -> Page:
            server = ConsoleServer(application, "127.0.0.1:0")
            await server.start()
            stack.push_async_callback(server.stop)
            context = await chromium.new_context(viewport=SIZE, base_url=f"http://127.0.0.1:{server.port}")
            stack.push_async_callback(context.close)
            page = await context.new_page()
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
            page.on("requestfailed", lambda request: _note_foreign(request.url, server.port, errors))
            await page.goto(address)
            return page

        yield opened
    assert not errors


def _note_foreign(url: str, port: int, errors: list[str]) -> None:
    if f"127.0.0.1:{port}" not in url:
        errors.append(f"the page asked for {url}")

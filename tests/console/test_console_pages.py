"""Pages over the sample house, as a browser without JavaScript gets them; and what every response says to the browser."""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest
from prometheus_client import CollectorRegistry, Counter

from services.console.application import web
from services.console.felt import draw_felt
from services.console.health_view import OwnerView
from services.console.server import ConsoleServer
from services.runtime.clock import ManualClock
from services.runtime.failures import CallFailed, ServiceUnavailable
from services.runtime.server import PortTaken
from services.wire.refusal import Refused
from tests.console.sample_readings import SAMPLE_DEAL, START_US, SampleReadings, sample_round

EVERY_PAGE = (
    "/",
    "/floors/black-hawk",
    "/tables/black-hawk/BJ-07",
    "/hands",
    "/rounds/black-hawk/BJ-07/12",
    "/findings",
    "/health",
    "/meters",
)


@pytest.fixture
def readings() -> SampleReadings:
    return SampleReadings()


@pytest.fixture
async def browser(readings: SampleReadings) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(web(readings, clock=ManualClock(START_US)), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://console") as client:
        yield client


@pytest.mark.parametrize("address", EVERY_PAGE)
async def test_every_page_runs_only_our_own_files(browser: httpx.AsyncClient, address: str) -> None:
    page = await browser.get(address)
    assert page.status_code == 200
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["x-frame-options"] == "DENY"
    assert page.headers["cache-control"] == "no-store"
    # The policy forbids inline scripts and styles, so a page that has one would be broken.
    assert not re.search(r"<script(?![^>]* src=)", page.text)
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=", page.text)
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", page.text)


@pytest.mark.parametrize("address", EVERY_PAGE)
async def test_every_page_has_one_heading_a_language_a_main_part_and_named_controls(
    browser: httpx.AsyncClient, address: str
) -> None:
    text = (await browser.get(address)).text
    assert len(re.findall(r"<h1[ >]", text)) == 1
    assert '<html lang="en">' in text
    assert '<main id="main"' in text
    for field in re.findall(r"<(?:input|select)[^>]*>", text):
        if 'type="hidden"' not in field:
            name = re.search(r'id="([^"]+)"', field)
            assert name is not None
            assert f'for="{name[1]}"' in text or "aria-label=" in field


async def test_the_overview_lists_every_floor_and_table(browser: httpx.AsyncClient) -> None:
    text = (await browser.get("/")).text
    assert "Black Hawk" in text
    assert "Cripple Creek" in text
    assert text.count('<tr id="row-') == 11
    assert "$41,253.50" in text
    assert 'title="2026-12-01 04:04:50' not in text  # local first, UTC behind it
    assert "2026-12-01 04:04:50.123456 UTC" in text


async def test_one_floor_alone(browser: httpx.AsyncClient) -> None:
    text = (await browser.get("/floors/cripple-creek")).text
    assert text.count('<tr id="row-') == 3
    assert "Black Hawk" not in text


async def test_a_house_without_tables_says_so(browser: httpx.AsyncClient, readings: SampleReadings) -> None:
    readings.no_floors = True
    assert "No floor has opened a table yet" in (await browser.get("/")).text


async def test_a_step_has_an_address_of_its_own(browser: httpx.AsyncClient) -> None:
    steps = sample_round().steps
    for asked, shown in [("0", 0), ("18", 18), ("9999", len(steps) - 1), ("-1", 0), ("x", 0), ("٣", 0)]:
        text = (await browser.get("/rounds/black-hawk/BJ-07/12", params={"step": asked})).text
        assert draw_felt(steps[shown].felt) in text
        assert f'value="{shown}"' in text


async def test_frames_are_the_same_pictures_as_the_pages(browser: httpx.AsyncClient) -> None:
    frames = (await browser.get("/rounds/black-hawk/BJ-07/12/frames")).json()
    steps = sample_round().steps
    assert [frame["svg"] for frame in frames] == [draw_felt(step.felt) for step in steps]
    assert [frame["sentence"] for frame in frames] == [step.sentence for step in steps]


async def test_a_picture_is_a_file(browser: httpx.AsyncClient) -> None:
    answer = await browser.get("/rounds/black-hawk/BJ-07/12/felt.svg?step=5")
    assert answer.headers["content-type"].startswith("image/svg+xml")
    assert answer.text == draw_felt(sample_round().steps[5].felt)


async def test_the_replay_names_sequence_times_actor_request_ledger_positions_and_rules(
    browser: httpx.AsyncClient,
) -> None:
    text = (await browser.get("/rounds/black-hawk/BJ-07/12")).text
    for words in (
        "request-0016",
        "21:04:07.127 MST",
        "dealer d-17",
        "escrow/black-hawk/BJ-07#12",
        "The dealer hits soft 17.",
        "One player may play two adjacent spots",
        "9f2c9f2c",
    ):
        assert words in text
    assert text.count("<li data-step=") >= len(SAMPLE_DEAL) + 17


async def test_the_search_asks_what_was_typed(browser: httpx.AsyncClient, readings: SampleReadings) -> None:
    text = (await browser.get("/hands?table=black-hawk/BJ-07&cards=As&min=25&outcome=win&page=2")).text
    query = readings.asked[-1]
    assert (query.table, query.cards, query.minimum_cents, query.outcome, query.page) == (
        "black-hawk/BJ-07",
        ("As",),
        2_500,
        "win",
        2,
    )
    assert 'href="/hands?table=black-hawk%2FBJ-07&amp;cards=As&amp;min=25&amp;outcome=win&amp;page=3"' in text


async def test_a_search_that_cannot_be_meant_is_not_run(browser: httpx.AsyncClient, readings: SampleReadings) -> None:
    answer = await browser.get("/hands?min=lots")
    assert answer.status_code == 400
    assert "Write dollars such as" in answer.text
    assert not readings.asked


async def test_findings_of_one_table(browser: httpx.AsyncClient) -> None:
    assert "Seat 4 was paid $50.00" in (await browser.get("/findings?table=black-hawk/BJ-07")).text
    assert "Nothing found" in (await browser.get("/findings?table=black-hawk/BJ-03")).text


HOSTILE = '"><script>alert(1)</script>'


@pytest.mark.parametrize("address", ["/hands", "/findings", "/nowhere"])
@pytest.mark.parametrize("name", ["table", "floor", "patron", "cards", "min", "seat", "step", "from"])
async def test_what_is_typed_never_becomes_markup(browser: httpx.AsyncClient, address: str, name: str) -> None:
    assert "<script>alert" not in (await browser.get(address, params={name: HOSTILE})).text


async def test_a_patrons_name_never_becomes_markup(browser: httpx.AsyncClient, readings: SampleReadings) -> None:
    readings.patron = HOSTILE
    for address in EVERY_PAGE:
        assert "<script>alert" not in (await browser.get(address)).text


@pytest.mark.parametrize(
    ("failure", "status", "words"),
    [
        (ServiceUnavailable("no answer"), 503, "Not available now"),
        (CallFailed("broke"), 502, "A service failed"),
        (Refused("MalformedTableKey", "DESIGN §3", "No such key.", "Name it so.", {}), 400, "Name it so."),
        (RuntimeError("secret text of a bug"), 502, "A service failed"),
    ],
)
async def test_a_failure_is_a_page_that_says_what_to_do(
    browser: httpx.AsyncClient, readings: SampleReadings, failure: Exception, status: int, words: str
) -> None:
    readings.failure = failure
    answer = await browser.get("/")
    assert answer.status_code == status
    assert words in answer.text
    assert "secret text" not in answer.text
    assert "content-security-policy" in answer.headers


@pytest.mark.parametrize(
    "address",
    ["/nowhere", "/floors/nowhere", "/tables/black-hawk/BJ-99", "/rounds/black-hawk/BJ-07/999", "/static/no.css"],
)
async def test_what_is_not_there_is_not_found(browser: httpx.AsyncClient, address: str) -> None:
    assert (await browser.get(address)).status_code == 404


async def test_nothing_can_be_posted(browser: httpx.AsyncClient) -> None:
    for address in EVERY_PAGE:
        assert (await browser.post(address)).status_code == 405


async def test_health_for_people_and_machines(browser: httpx.AsyncClient, readings: SampleReadings) -> None:
    assert "184,236" in (await browser.get("/health")).text
    assert (await browser.get("/healthz")).json() == {"serving": True, "reason": ""}
    readings.failure = ServiceUnavailable("no answer")
    assert "Surveillance does not answer" in (await browser.get("/health")).text
    assert (await browser.get("/healthz")).status_code == 503


async def test_health_shows_the_owner_of_every_partition_and_those_that_have_none(
    browser: httpx.AsyncClient, readings: SampleReadings
) -> None:
    owned = OwnerView("holecard.table.v1/3", "vm/7/ab", "127.0.0.1:8621", 41, 1_796_084_829_548_473, 5, 61_000_000, "")
    readings.owners = (
        owned,
        replace(owned, place="holecard.table.v1/4", owner="", address=""),
        replace(owned, place="holecard.table.v1/5", stopped="a fork <b>here</b>"),
    )
    page = (await browser.get("/health")).text
    for shown in ("holecard.table.v1/3", "vm/7/ab", "127.0.0.1:8621", "Nobody owns it", "Stopped: a fork &lt;b&gt;"):
        assert shown in page
    assert "184,236" not in page


async def test_metrics_are_those_of_the_process() -> None:
    registry = CollectorRegistry()
    Counter("holecard_pages", "Pages.", registry=registry).inc()
    transport = httpx.ASGITransport(web(SampleReadings(), registry=registry))
    async with httpx.AsyncClient(transport=transport, base_url="http://console") as client:
        assert "holecard_pages_total 1.0" in (await client.get("/metrics")).text


async def test_a_live_stream_sends_what_changed(readings: SampleReadings) -> None:
    server = ConsoleServer(web(readings), "127.0.0.1:0")
    await server.start()
    try:
        async with (
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}") as client,
            client.stream("GET", "/tables/black-hawk/BJ-07/stream") as answer,
        ):
            assert answer.headers["content-type"].startswith("text/event-stream")
            lines = answer.aiter_lines()
            seen: dict[str, str] = {}

            async def next_fragment() -> str:
                async for line in lines:
                    if line.startswith("data: "):
                        fragment = json.loads(line.removeprefix("data: "))
                        seen[fragment["id"]] = fragment["html"]
                        return str(fragment["id"])
                raise AssertionError("the stream ended")

            first = {await next_fragment() for _ in range(6)}
            assert first == {"felt", "table-findings", "table-status", "table-figures", "table-money", "recent"}
            before = seen["felt"]
            readings.table_step += 3
            await readings.change()
            assert await next_fragment() == "felt"
            assert seen["felt"] != before
            assert draw_felt(sample_round().steps[readings.table_step].felt) in seen["felt"]
    finally:
        await server.stop()


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:{port}", 200),
        ("localhost:{port}", 200),
        ("LOCALHOST.", 200),
        ("[::1]:{port}", 200),
        ("10.1.2.3", 200),
        ("pit.casino.example:{port}", 200),
        ("attacker.example:{port}", 421),
        ("attacker.example", 421),
        ("127.0.0.1.attacker.example", 421),
        ("localhost@attacker.example", 421),
        ("", 421),
    ],
)
async def test_a_name_that_is_not_the_consoles_is_not_answered(
    readings: SampleReadings, host: str, status: int
) -> None:
    server = ConsoleServer(web(readings), "127.0.0.1:0", names=["pit.casino.example"])
    await server.start()
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}") as client:
            for path in ("/", "/healthz", "/metrics", "/static/console.css"):
                answer = await client.get(path, headers={"Host": host.format(port=server.port)})
                assert answer.status_code == status, path
                assert "black-hawk" not in answer.text or status == 200
                assert "Content-Security-Policy" in answer.headers
    finally:
        await server.stop()


async def test_a_taken_port_is_said_so(readings: SampleReadings) -> None:
    first = ConsoleServer(web(readings), "127.0.0.1:0")
    await first.start()
    try:
        with pytest.raises(PortTaken, match=f"cannot listen on 127.0.0.1:{first.port}"):
            await ConsoleServer(web(readings), f"127.0.0.1:{first.port}").start()
    finally:
        await first.stop()


@pytest.mark.parametrize("address", ["8680", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:70000", ":80"])
async def test_an_address_that_is_none_is_refused(readings: SampleReadings, address: str) -> None:
    with pytest.raises(ValueError, match="is not an address"):
        await ConsoleServer(web(readings), address).start()


async def test_meters_show_floors_tables_dealers_and_what_does_not_go_on(
    browser: httpx.AsyncClient, readings: SampleReadings
) -> None:
    page = (await browser.get("/meters")).text
    for words in ("$42,500.00", "+$1,875.00", "15.6 %", "4.4 %", "D-11", "black-hawk/BJ-07", "Players", "74"):
        assert words in page, words
    assert "1 round does not go on." in (await browser.get("/")).text
    readings.failure = ServiceUnavailable("PostgreSQL is waited for")
    page = (await browser.get("/meters")).text
    assert "Surveillance does not answer" in page
    assert "PostgreSQL is waited for" in page

"""The console in a real browser: open, search, replay to the end, keyboard, live update, and pictures equal to the log."""

from dataclasses import replace

import pytest
from playwright.async_api import Page, expect

from services.console.application import web
from services.console.formatting import total_words
from services.runtime.clock import ManualClock
from tests.console.crowded_readings import CrowdedReadings
from tests.console.sample_readings import SAMPLE_DEAL, START_US, SampleReadings, sample_round, sample_row
from tests.web.conftest import READ_FELT, OpenPage

pytestmark = pytest.mark.asyncio(loop_scope="session")

LAST = len(SAMPLE_DEAL) - 1
REPLAY = "/rounds/black-hawk/BJ-07/12"


async def ready(page: Page) -> None:
    await expect(page.locator("body[data-replay=ready]")).to_have_count(1)


async def at_step(page: Page, step: int) -> None:
    await expect(page.locator("#felt")).to_have_attribute("data-shown", str(step))
    await expect(page.locator("#step-output")).to_have_text(f"{step} / {LAST}")
    assert page.url.endswith(f"?step={step}")


def folded(step: int) -> list[dict[str, object]]:
    """What the log says after `step`, in the order in which the picture shows it."""
    felt = sample_round().steps[step].felt
    hands = [(0, hand) for hand in felt.dealer] + [(seat.number, hand) for seat in felt.seats for hand in seat.hands]
    return [
        {
            "seat": seat,
            "hand": hand.number,
            "total": total_words(hand.total, soft=hand.soft),
            "stake": hand.stake_cents,
            "outcome": hand.outcome,
            "cards": [card.text or "face-down" for card in hand.cards],
        }
        for seat, hand in hands
        if hand.cards
    ]


async def test_from_the_floor_to_the_end_of_a_hand(open_page: OpenPage) -> None:
    page = await open_page(web(SampleReadings(), clock=ManualClock(START_US)), "/")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Black Hawk")
    await page.get_by_role("link", name="BJ-07").first.click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("BJ-07")
    await page.get_by_role("link", name="All rounds of BJ-07").click()
    await page.get_by_label("Cards in one hand").fill("As Kd")
    await page.get_by_role("button", name="Find").click()
    await expect(page.locator("#found tr")).to_have_count(5)
    await page.get_by_role("link", name="black-hawk/BJ-07 · 12").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Round 12")
    await ready(page)
    await page.get_by_role("link", name="Last step").click()
    await at_step(page, LAST)
    assert await page.evaluate(READ_FELT) == folded(LAST)


async def test_every_picture_equals_the_log(open_page: OpenPage) -> None:
    page = await open_page(web(SampleReadings(), clock=ManualClock(START_US)), REPLAY)
    await ready(page)
    for step in range(LAST + 1):
        await at_step(page, step) if step else await expect(page.locator("#step-output")).to_have_text(f"0 / {LAST}")
        assert await page.evaluate(READ_FELT) == folded(step)
        await page.keyboard.press("ArrowRight")
    await at_step(page, LAST)


async def test_the_keyboard_does_everything(open_page: OpenPage) -> None:
    page = await open_page(web(SampleReadings(), clock=ManualClock(START_US)), REPLAY)
    await ready(page)
    for key, step in [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", LAST), ("Home", 0)]:
        await page.keyboard.press(key)
        await at_step(page, step)
    await page.keyboard.press("ArrowLeft")
    await at_step(page, 0)
    # On the scrubber the arrows step once, not twice.
    await page.get_by_label("Step of the round").focus()
    await page.keyboard.press("ArrowRight")
    await at_step(page, 1)
    # Everything can be reached by Tab, and what has the focus shows it.
    await page.reload()
    await ready(page)
    reached = set()
    for _ in range(25):
        await page.keyboard.press("Tab")
        reached.add(await page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()"))
        width = await page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
        assert width not in {"0px", ""}
    assert {"Skip to the content", "Hands", "scrub", "play", "speed"} <= reached


async def test_space_plays_to_the_end_and_pauses(open_page: OpenPage) -> None:
    page = await open_page(web(SampleReadings(), clock=ManualClock(START_US)), f"{REPLAY}?step={LAST - 3}")
    await ready(page)
    await page.get_by_label("Speed of play").select_option("Very fast")
    await page.evaluate("document.activeElement.blur()")
    await page.keyboard.press("Space")
    await at_step(page, LAST)
    await expect(page.locator("#play")).to_have_attribute("aria-pressed", "false")
    await page.keyboard.press("Home")
    await page.get_by_label("Speed of play").select_option("Slow")
    await page.locator("#play").click()
    await expect(page.locator("#play")).to_have_attribute("aria-pressed", "true")
    await page.locator("#play").click()
    await expect(page.locator("#play")).to_have_text("Play")


async def test_scrubbing_marks_the_event_of_the_step(open_page: OpenPage) -> None:
    page = await open_page(web(SampleReadings(), clock=ManualClock(START_US)), REPLAY)
    await ready(page)
    await page.get_by_label("Step of the round").fill("16")
    await at_step(page, 16)
    current = page.locator(".events li[aria-current=step]")
    await expect(current).to_have_count(1)
    await expect(current).to_contain_text(sample_round().steps[16].sentence)
    await expect(current).to_be_in_viewport()
    await expect(page.locator(".events li.later")).to_have_count(LAST - 16)
    await expect(page.get_by_label("Step of the round")).to_have_attribute(
        "aria-valuetext", f"Step 16 of {LAST}: {sample_round().steps[16].sentence}"
    )


async def test_a_link_to_a_step_opens_it_and_survives_a_reload(open_page: OpenPage) -> None:
    page = await open_page(web(SampleReadings(), clock=ManualClock(START_US)), f"{REPLAY}?step=14")
    await ready(page)
    assert await page.evaluate(READ_FELT) == folded(14)
    await page.keyboard.press("ArrowRight")
    await at_step(page, 15)
    await page.reload()
    await ready(page)
    assert await page.evaluate(READ_FELT) == folded(15)


async def test_stepping_works_without_javascript(open_page: OpenPage) -> None:
    page = await open_page(web(SampleReadings(), clock=ManualClock(START_US)), "/health")
    browser = page.context.browser
    assert browser is not None
    origin = page.url.removesuffix("/health")
    plain = await browser.new_context(java_script_enabled=False)
    try:
        still = await plain.new_page()
        await still.goto(f"{origin}{REPLAY}")
        await still.get_by_role("link", name="One step on").click()
        await still.wait_for_url("**?step=1")
        await expect(still.locator("#step-output")).to_have_text(f"1 / {LAST}")
    finally:
        await plain.close()


async def test_a_live_table_follows_the_game(open_page: OpenPage) -> None:
    readings = SampleReadings()
    page = await open_page(web(readings, clock=ManualClock(START_US)), "/tables/black-hawk/BJ-07")
    await expect(page.locator("#live-state")).to_have_text("Live")
    assert await page.evaluate(READ_FELT) == folded(readings.table_step)
    readings.table_step += 4
    await readings.change()
    await expect(page.locator(f"#felt .card[data-card='{SAMPLE_DEAL[22][3]}']")).to_have_count(1)
    assert await page.evaluate(READ_FELT) == folded(readings.table_step)


async def test_a_live_floor_changes_one_row_and_keeps_the_focus(open_page: OpenPage) -> None:
    readings = SampleReadings()
    page = await open_page(web(readings, clock=ManualClock(START_US)), "/")
    await expect(page.locator("#live-state")).to_have_text("Live")
    await page.locator("#row-black-hawk--BJ-05 a").focus()
    changed = replace(sample_row("black-hawk/BJ-05", 2), rounds=999, handle_cents=1_234_567)
    readings.row_changes["black-hawk/BJ-05"] = changed
    await readings.change()
    await expect(page.locator("#row-black-hawk--BJ-05")).to_contain_text("$12,345.67")
    await expect(page.locator("#row-black-hawk--BJ-05 a")).to_be_focused()
    await expect(page.locator("#figures-black-hawk")).to_contain_text("2,589")


CONTRAST = """() => {
  const light = (text) => {
    const [r, g, b] = text.match(/[\\d.]+/g).slice(0, 3).map((v) => {
      const c = Number(v) / 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if (!/, 0\\)$|transparent/.test(colour)) return colour; }
    return "rgb(14, 17, 19)"; };
  const poor = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || element.closest("svg, datalist, .visually-hidden, .skip")) continue;
    if (element.closest("[aria-disabled=true], option, .later .card-text")) continue;
    const style = getComputedStyle(element);
    const [a, b] = [light(style.color), light(ground(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) poor.push(`${ratio.toFixed(2)} ${walker.currentNode.textContent.trim().slice(0, 30)}`);
  }
  return poor;
}"""


OVERHANG = """() => [document.documentElement, ...document.querySelectorAll(".scroll")]
  .map((box) => box.scrollWidth - box.clientWidth).filter((more) => more > 0)"""


@pytest.mark.parametrize(
    "address", ["/", "/tables/black-hawk/BJ-07", f"{REPLAY}?step=12", "/hands", "/findings", "/meters", "/health"]
)
async def test_words_stand_out_and_nothing_hangs_over_the_edge(open_page: OpenPage, address: str) -> None:
    page = await open_page(web(SampleReadings(), clock=ManualClock(START_US)), address)
    assert await page.evaluate(CONTRAST) == []
    for width in (1280, 1920):
        await page.set_viewport_size({"width": width, "height": 800})
        assert await page.evaluate(OVERHANG) == []


OVERLAPS = """() => {
  const seats = [...document.querySelectorAll("#felt .seat")].map((seat) =>
    [...seat.querySelectorAll(":scope > text, :scope > .stakes > text")].map((words) => words.getBoundingClientRect()));
  const felt = document.querySelector("#felt svg").getBoundingClientRect();
  const found = [];
  const dealer = document.querySelector("#felt .hand[data-seat='0']");
  const turn = document.querySelector("#felt .status").getBoundingClientRect();
  if (dealer && turn.right > dealer.getBoundingClientRect().left) found.push("whose turn it is over the dealer's cards");
  seats.forEach((mine, i) => mine.forEach((a) => {
    if (a.left < felt.left || a.right > felt.right) found.push(`${i} leaves the felt`);
    seats.forEach((others, j) => { if (j > i) others.forEach((b) => {
      if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)
        found.push(`${i} over ${j}`); }); }); }));
  return found;
}"""


@pytest.mark.parametrize("patron", ["W" * 80, "cautious-with-a-long-name", "P-1"])
async def test_a_crowded_felt_keeps_every_seats_words_apart(open_page: OpenPage, patron: str) -> None:
    page = await open_page(web(CrowdedReadings(patron), clock=ManualClock(START_US)), "/tables/black-hawk/BJ-07")
    assert await page.locator("#felt .seat").count() == 7
    assert await page.evaluate(OVERLAPS) == []
    await expect(page.locator("p.notice")).to_contain_text("x" * 300)
    assert await page.evaluate(OVERHANG) == []
    await page.goto("/")
    assert await page.evaluate(FIGURES_OVER) == []


FIGURES_OVER = """() => [...document.querySelectorAll(".figures dd")].filter((dd) => dd.scrollWidth > dd.clientWidth)
  .map((dd) => dd.textContent)"""

"""A real house in a real browser: the services deal, surveillance reads, the console shows; every picture equals the log."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.support.felt_from_log import felts_of
from tests.support.seen_house import seen_house
from tests.support.watched_house import TABLE, rules_text
from tests.web.conftest import READ_FELT, OpenPage

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROUNDS = 4


async def test_a_finished_hand_is_found_and_replayed_to_its_end(open_page: OpenPage, tmp_path: Path) -> None:
    async with seen_house(tmp_path, "browser") as seen:
        await seen.house.open(rules=rules_text(surrender='"late"'), seats=5)
        await seen.house.play(ROUNDS)
        await seen.caught_up()
        wanted = f"{TABLE}#{ROUNDS - 1}"
        felts = felts_of(await seen.house.recorded(), wanted)
        page = await open_page(seen.application, "/")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Black Hawk")
        await page.get_by_role("link", name="Hands", exact=True).click()
        card = felts[-1][1]["cards"]
        assert isinstance(card, list)
        await page.get_by_label("Cards in one hand").fill(" ".join(card[:2]))
        await page.get_by_role("button", name="Find").click()
        await page.get_by_role("link", name=f"{TABLE} · {ROUNDS - 1}").click()
        await expect(page.locator("body[data-replay=ready]")).to_have_count(1)
        for step, felt in enumerate(felts):
            await expect(page.locator("#step-output")).to_have_text(f"{step} / {len(felts) - 1}")
            assert await page.evaluate(READ_FELT) == felt
            await page.keyboard.press("ArrowRight")
        await page.keyboard.press("ArrowRight")
        await expect(page.locator("#step-output")).to_have_text(f"{len(felts) - 1} / {len(felts) - 1}")
        await expect(page.locator(".notices li")).to_have_count(9)


async def test_a_live_table_and_floor_follow_real_play(open_page: OpenPage, tmp_path: Path) -> None:
    async with seen_house(tmp_path, "live browser") as seen:
        await seen.house.open(seats=3)
        await seen.house.play(1)
        await seen.caught_up()
        table = await open_page(seen.application, f"/tables/{TABLE}")
        floor = await open_page(seen.application, "/")
        for page in (table, floor):
            await expect(page.locator("#live-state")).to_have_text("Live")
        round_id = await seen.house.begin()
        await expect(table.locator(f"#felt svg[data-round='{round_id}']")).to_have_count(1)
        await seen.house.finish()
        felt = felts_of(await seen.house.recorded(), round_id)[-1]
        await expect(table.locator("#felt .hand[data-outcome]")).to_have_count(
            sum(bool(hand["outcome"]) for hand in felt)
        )
        assert await table.evaluate(READ_FELT) == felt
        await expect(table.locator("#recent tr").first).to_contain_text("2")
        row = floor.locator(f"#row-{TABLE.replace('/', '--')}")
        (view,) = await seen.readings.floors()
        await expect(row).to_contain_text(f"${view.handle_cents // 100:,}.{view.handle_cents % 100:02d}")

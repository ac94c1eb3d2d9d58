"""Every picture of real rounds equals the log: played at random by the real services, drawn from surveillance's record,
compared with a fold of the stored events that shares no code with either.
"""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from services.console.felt import draw_felt
from services.console.from_records import round_page
from services.surveillance.hand_history import history
from tests.support.felt_from_log import Drawn, felts_of
from tests.support.watched_house import TABLE, rules_text, watched_house

SVG = "{http://www.w3.org/2000/svg}"
ROUNDS = 12


def shown(picture: str) -> list[Drawn]:
    """What a picture shows, read from its drawing."""
    return [
        {
            "seat": int(group.attrib["data-seat"]),
            "hand": int(group.attrib["data-hand"]),
            "total": group.attrib["data-total"],
            "stake": int(group.attrib["data-stake-cents"]),
            "outcome": group.attrib.get("data-outcome", ""),
            "cards": [card.attrib["data-card"] for card in group.iter(f"{SVG}g") if "data-card" in card.attrib],
        }
        for group in ET.fromstring(picture).iter(f"{SVG}g")  # noqa: S314 - our own picture
        if group.attrib.get("class") == "hand"
    ]


@pytest.mark.parametrize(
    ("seed", "changes"),
    [
        ("pictures", {"surrender": '"late"'}),
        ("face-down doubles", {"double_card_face": '"down"'}),
        ("no hole card", {"hole_card": '"no-hole-card"'}),
    ],
)
async def test_every_picture_of_real_rounds_equals_the_log(tmp_path: Path, seed: str, changes: dict[str, str]) -> None:
    print(f"seed {seed!r}")
    async with watched_house(tmp_path, seed) as house:
        await house.open(rules=rules_text(**changes), seats=6)
        await house.play(ROUNDS)
        facts, log = await house.facts(), await house.recorded()
    for number in range(1, ROUNDS + 1):
        round_id = f"{TABLE}#{number}"
        record = history(facts, round_id)
        assert record is not None
        page = round_page(record, "America/Denver")
        assert [shown(draw_felt(step.felt)) for step in page.steps] == felts_of(log, round_id)
        assert page.handle_cents - page.win_cents == record.returned_cents

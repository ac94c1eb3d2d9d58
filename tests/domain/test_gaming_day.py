"""Every instant falls in exactly one gaming day, also on the days on which clocks change."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from services.runtime.clock import MICROSECONDS, GamingCalendar

ZONES = ("America/Denver", "Europe/Berlin", "Australia/Lord_Howe")


def us(moment: datetime) -> int:
    return int(moment.timestamp()) * MICROSECONDS


@pytest.mark.parametrize(
    ("local", "day"),
    [
        ("2026-11-30T05:59:59", "2026-11-29"),
        ("2026-11-30T06:00:00", "2026-11-30"),
        ("2026-12-01T05:59:59", "2026-11-30"),
        ("2026-03-08T06:00:00", "2026-03-08"),
        ("2026-11-01T01:30:00", "2026-10-31"),
    ],
)
def test_the_day_is_cut_at_the_floors_hour(local: str, day: str) -> None:
    moment = datetime.fromisoformat(local).replace(tzinfo=ZoneInfo("America/Denver"))
    assert GamingCalendar().gaming_day(us(moment)) == day


@pytest.mark.parametrize("zone", ZONES)
def test_g15_a_year_of_instants_makes_days_of_23_24_and_25_hours_and_no_gap(zone: str) -> None:
    calendar = GamingCalendar(zone, 6)
    minutes: dict[str, int] = {}
    start = datetime(2026, 1, 1, tzinfo=UTC)
    previous = ""
    for step in range(365 * 24 * 4):
        day = calendar.gaming_day(us(start + timedelta(minutes=15 * step)))
        assert day >= previous, "a gaming day came back after it had ended"
        previous = day
        minutes[day] = minutes.get(day, 0) + 15
    whole = sorted(minutes)[1:-1]
    assert len(whole) == (datetime.fromisoformat(whole[-1]) - datetime.fromisoformat(whole[0])).days + 1
    lengths = {minutes[day] for day in whole}
    change = 30 if zone == "Australia/Lord_Howe" else 60
    assert lengths == {24 * 60, 24 * 60 - change, 24 * 60 + change}


@pytest.mark.parametrize(
    ("zone", "hour"), [("Mars/Olympus", 6), ("", 6), ("America/Denver", 24), ("America/Denver", -1)]
)
def test_a_calendar_that_cannot_be_followed_is_refused(zone: str, hour: int) -> None:
    with pytest.raises(ValueError, match=r"time zone|hour"):
        GamingCalendar(zone, hour)

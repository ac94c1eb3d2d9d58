"""The measures measure what they say: whole rounds of a real house, verified; how fast is not judged here."""

import pytest

from load import __main__ as bench
from load import rounds
from load.profiling import room_of
from load.tables import Plan


def test_whole_rounds_are_driven_measured_profiled_and_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "WARM_UP_SECONDS", 0.2)
    monkeypatch.setattr(rounds, "YARDSTICK_SECONDS", 0.2)
    found = rounds.measure(Plan(tables=2, seats=3, rate=8.0), 1.0, profile=True)
    assert found["verify"] == {"sound": True, "events": found["verify"]["events"], "findings": []}
    assert found["rounds"] >= 2
    # Six cards at least, three wagers, three settlements and the table's own events.
    assert found["events"] >= 25 * found["rounds"]
    assert found["verify"]["events"] > found["events"]
    assert found["act_ms"]["count"] > 0
    assert 0 < found["act_ms"]["p50"] <= found["act_ms"]["p95"] <= found["act_ms"]["p99"]
    assert found["unexpected_refusals"] == {}
    assert found["bare_echo"]["ms"]["p50"] > 0
    assert found["bare_commit"]["ms"]["p50"] > 0
    assert {"table", "shoe", "wager", "game", "wire", "runtime"} <= set(found["profile"]["cpu_by_room"])
    assert found["profile"]["hottest_functions"]


def test_an_aim_is_met_or_it_is_not() -> None:
    assert bench.Line("a", "1", "2", 3.0, 3.0).verdict == "met"
    assert bench.Line("a", "1", "2", 2.99, 3.0).verdict == "NOT MET"
    assert bench.Line("a", "1", "2", 0.1, None).verdict == ""


def test_a_file_belongs_to_a_room_or_to_its_callers() -> None:
    assert room_of("/anywhere/services/table/service.py") == "table"
    assert room_of("/anywhere/site-packages/google/protobuf/message.py") is None

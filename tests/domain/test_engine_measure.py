"""The engine measure plays whole rounds with every contestant and prints one ratio; how fast is not judged here."""

import json

import pytest

from load import engine
from services.game.round import begin, evolve_all
from services.game.round_events import RoundOpened
from services.game.round_words import Phase


@pytest.mark.parametrize("kind", [engine.Holecard, engine.HolecardByCommands])
def test_the_measured_rounds_are_real_rounds_with_all_their_events(kind: type[engine.HolecardByCommands]) -> None:
    contestant = kind(5, seed=1)
    for number in range(100):
        opened, *happened = contestant.round(f"bench/BJ-01#{number}")
        assert isinstance(opened, RoundOpened)
        ended = evolve_all(begin(opened, contestant.rules), happened)
        assert ended.phase is Phase.COMPLETE
        assert len(ended.hands) >= 5


def test_the_measure_prints_one_object_with_the_ratios(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert engine.main(["--json", "--rounds", "8", "--repeats", "1"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [result["hands"] for result in printed["results"]] == [1, 3, 5, 7]
    for result in printed["results"]:
        assert set(result["rounds_per_second"]) == {"holecard", "holecard by commands", "blackjack21", "blackjack-api"}
        assert result["ratio_to_faster"] > 0
        assert result["ratio_to_faster_by_commands"] > 0
        assert result["events_per_round"] > 12

"""`holecard settle`: a file of hand records in, results or differences out, with the exit status to match."""

import json
from pathlib import Path

from click.testing import CliRunner, Result

from services.cli.settle import settle
from tests.support.round_records import PEER_HANDS


def run(*arguments: str, given: str | None = None) -> Result:
    return CliRunner().invoke(settle, list(arguments), input=given)


def first_lines(count: int) -> list[str]:
    with PEER_HANDS.open(encoding="utf-8") as lines:
        return [line.rstrip("\n") for _, line in zip(range(count), lines, strict=False)]


def test_check_agrees_with_every_peer_hand_and_shows_progress_on_stderr() -> None:
    result = run(str(PEER_HANDS), "--check")
    assert result.exit_code == 0
    assert result.stdout == "4000 records: 4000 agree, 0 do not\n"
    assert "2000 records" in result.stderr


def test_printed_records_have_the_same_shape_and_can_be_checked_again(tmp_path: Path) -> None:
    stripped = [json.dumps({k: v for k, v in json.loads(line).items() if k != "expect"}) for line in first_lines(5)]
    printed = run("-", given="\n".join(stripped))
    assert printed.exit_code == 0
    again = tmp_path / "again.jsonl"
    again.write_text(printed.stdout)
    assert [json.loads(line)["expect"] for line in again.read_text().splitlines()] == [
        json.loads(line)["expect"] for line in first_lines(5)
    ]
    assert run(str(again), "--check").exit_code == 0


def test_a_difference_names_line_record_and_field_and_ends_with_status_1() -> None:
    lines = first_lines(3)
    wrong = json.loads(lines[1])
    wrong["expect"]["seats"][0]["net"] += 1
    result = run("-", "--check", given="\n".join([lines[0], json.dumps(wrong), lines[2]]))
    assert result.exit_code == 1
    assert result.stdout == "3 records: 2 agree, 1 do not\n"
    assert f"line 2 ({wrong['id']}): expect.seats[0].net: expected" in result.stderr


def test_json_gives_everything_in_one_object() -> None:
    lines = first_lines(2)
    checked = run("-", "--check", "--json", given="\n".join([lines[0], "{}", "", lines[1]]))
    assert checked.exit_code == 1
    report = json.loads(checked.stdout)
    assert (report["records"], report["bad"]) == (3, 1)
    assert report["problems"] == [{"line": 2, "id": "", "field": "format", "message": "format: is missing"}]
    played = json.loads(run("-", "--json", given=lines[0]).stdout)
    assert played["results"][0]["expect"] == json.loads(lines[0])["expect"]


def test_a_bad_line_does_not_hide_the_others_and_is_never_skipped() -> None:
    lines = first_lines(2)
    result = run("-", given="\n".join([lines[0], '{"format":"holecard-hand/1","rules":{},"colour":1}', lines[1]]))
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == 2
    assert "line 2: colour: unknown key" in result.stderr
    assert "1 of 3 records could not be played" in result.stderr


def test_a_record_without_expectation_cannot_be_checked() -> None:
    bare = json.dumps({k: v for k, v in json.loads(first_lines(1)[0]).items() if k != "expect"})
    result = run("-", "--check", given=bare)
    assert result.exit_code == 1
    assert "expect: is missing" in result.stderr


def test_an_empty_file_a_missing_file_an_unknown_house_and_bytes_that_are_no_text(tmp_path: Path) -> None:
    assert run("-", given="").exit_code == 1
    assert run(str(tmp_path / "none.jsonl")).exit_code == 2
    assert run("-", "--rules", "nowhere", given="").exit_code == 2
    noise = tmp_path / "noise.jsonl"
    noise.write_bytes(b"\xff\xfe\x00\n")
    result = run(str(noise), "--check")
    assert result.exit_code == 1
    assert "line 1" in result.stderr


def test_a_line_without_end_is_refused(tmp_path: Path) -> None:
    endless = tmp_path / "endless.jsonl"
    endless.write_bytes(b"[" * 1_200_000)
    result = run(str(endless))
    assert result.exit_code == 1
    assert "line 1 is longer than 1000000 bytes" in result.stderr

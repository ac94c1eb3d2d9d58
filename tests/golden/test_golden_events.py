"""Bytes that were stored once stay readable for ever, and mean what they meant (DESIGN §3).

A failure here means that journals in the field could not be read any more, or would be read as something else. Mend the
code; never the golden bytes. A new event class, or a new version of one, gets its bytes by
`python -m tests.support.golden_events`.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from services.game.authority import Actor, EventId, Role
from services.journal.chain import hash_of
from services.journal.port import Position, Recorded
from services.surveillance.facts import FactReader
from services.wire.envelope import NO_HASH, Envelope, decode, encode
from services.wire.registry import EventTypes, UnknownEventType
from tests.support import golden_events as g

GOLDEN = g.read()
ENVELOPES: dict[str, dict[str, str]] = json.loads(
    (Path(__file__).parent / "envelopes.json").read_text(encoding="utf-8")
)
FIRST = Envelope(
    stream="wager:black-hawk/BJ-07",
    sequence=1,
    type="holecard.wager.v1.LedgerOpened",
    payload=b"\x0a\x01x",
    schema_version=1,
    occurred_time_us=1_796_000_000_000_000,
    recorded_time_us=1_796_000_000_000_001,
    actor=Actor(Role.SYSTEM, "table"),
    request_id="black-hawk/BJ-07/opening/1",
    request_digest=bytes(range(32)),
    cause=None,
    round_id="",
    gaming_day="2026-11-30",
    writer_epoch=1,
    previous_hash=NO_HASH,
)
LATER = Envelope(
    stream="table:black-hawk/BJ-07",
    sequence=300,
    type="holecard.table.v1.CardDealt",
    payload=b"",
    schema_version=2,
    occurred_time_us=0,
    recorded_time_us=253_402_300_799_999_999,
    actor=Actor(Role.PLAYER, "P-é"),
    request_id="r",
    request_digest=b"\xff" * 32,
    cause=EventId("shoe:black-hawk/BJ-07", 77),
    round_id="black-hawk/BJ-07#12",
    gaming_day="",
    writer_epoch=2**63 - 1,
    previous_hash=b"\x07" * 32,
)


def test_every_event_class_of_every_area_has_golden_bytes_of_its_version() -> None:
    missing = sorted(set(g.current()) - set(GOLDEN))
    assert missing == [], "add them with `python -m tests.support.golden_events` and commit the file"


def _area_of(type_name: str) -> EventTypes[Any]:
    return next(area for area in g.AREAS if type_name.startswith(f"{area.package}."))


def _same_as_then(then: Any, now: Any) -> bool:
    """Whether a value says what it said; fields that were added since then are today's own business."""
    if isinstance(then, dict) and isinstance(now, dict):
        return all(name in now and _same_as_then(value, now[name]) for name, value in then.items())
    if isinstance(then, list) and isinstance(now, list):
        return len(then) == len(now) and all(map(_same_as_then, then, now))
    return bool(then == now)


@pytest.mark.parametrize("key", GOLDEN)
def test_golden_bytes_are_read_as_what_they_said(key: str) -> None:
    type_name, version, _ = key.split("/")
    event = _area_of(type_name).decode(type_name, int(version), bytes.fromhex(GOLDEN[key]["payload"]))
    assert type(event).__name__ == type_name.rpartition(".")[2]
    assert _same_as_then(GOLDEN[key]["says"], g.says(event)), g.says(event)
    assert _area_of(type_name).decode(*_area_of(type_name).encode(event)) == event


def test_the_second_opinion_reads_them_too() -> None:
    """Surveillance has views of its own: it must not lose sight of what the services once wrote."""
    reader, unreadable = FactReader(), []
    for key, entry in GOLDEN.items():
        type_name, version, form = key.split("/")
        if form == "bare":
            continue  # an event that says nothing was never written; the views may insist on ids and cards
        area = type_name.split(".")[1]
        envelope = Envelope(
            f"{area}:black-hawk/BJ-07", 1, type_name, bytes.fromhex(entry["payload"]), int(version), 0, 0,
            Actor(Role.SYSTEM, "table"), "r", bytes(32), None, "", "", 1, NO_HASH,
        )  # fmt: skip
        fact = reader.read(Recorded(Position(0, 1), envelope, b""))
        if fact.unreadable:
            unreadable.append(f"{key}: {fact.unreadable}")
    assert unreadable == []


@pytest.mark.parametrize(("name", "envelope"), [("first of a stream", FIRST), ("later, with a cause", LATER)])
def test_a_stored_envelope_is_read_as_it_was_and_hashes_to_what_its_successor_carries(
    name: str, envelope: Envelope
) -> None:
    stored = bytes.fromhex(ENVELOPES[name]["stored"])
    assert decode(stored) == envelope
    assert hash_of(stored).hex() == ENVELOPES[name]["hash"]
    assert decode(encode(envelope)) == envelope


def test_a_version_that_nobody_knows_is_refused_and_not_guessed_at() -> None:

    for area in g.AREAS:
        for cls in area.classes:
            name, version, payload = area.encode(g.full(cls))
            with pytest.raises(UnknownEventType):
                area.decode(name, version + 1, payload)

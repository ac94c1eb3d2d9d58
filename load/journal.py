"""How fast the embedded journal is, as ratios to the PyPI library `eventsourcing` in one run on the same disk.

`python -m load.journal [--json]`. Both sides keep one SQLite file with WAL and synchronous=FULL, so each append waits
for the disk alike; the rival's settings are read back and the run fails when they differ. The sides take turns in
blocks of twenty appends, and each figure is the median over its appends. The first quarter is thrown away: it grows
the log file, which costs the disk more than writing over it does from then on.

Compared is the natural use of each: ours encodes an event to protobuf, appends it through the journal port from
asyncio, and keeps the hash chain; the rival triggers an event on an aggregate and saves it. Replay folds every event
into the same state; ours checks each hash and link on the way, the rival keeps none. The rival's bare recorder, to
which ready-made bytes are handed and which keeps no chain, is printed beside it as a floor.

Appends are compared by the clock on the wall, as each waits for the disk. A replay waits for nothing but the processor,
so it is compared by processor time, of all threads: on a busy machine the clock on the wall also counts the other
programs. The result has both for each measure.
"""

import argparse
import json
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Any
from uuid import UUID, uuid4

import uvloop
from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event
from eventsourcing.persistence import StoredEvent
from eventsourcing.sqlite import SQLiteApplicationRecorder, SQLiteDatastore

from services.game.authority import Actor, EventId, Role
from services.game.round_events import WagerPlaced
from services.journal.port import NewEvent
from services.journal.sqlite import SqliteJournal
from services.wire.registry import EventTypes

STREAM = "table:black-hawk/BJ-07"
DIGEST = sha256(b"a command's content").digest()
GROUP = 100
BLOCK = 20
REPLAYED_EVENTS = 5_000
REPLAYS = 60
CLOCKS = ("wall", "processor")
COMPARED_BY = {"append_in_groups": "wall", "append_one_by_one": "wall", "replay_into_state": "processor"}
AIMS = {"append_in_groups": 2.5, "append_one_by_one": 1.2, "replay_into_state": 4.0}

Work = Callable[[], Awaitable[object]]


@dataclass(slots=True)
class Tally:
    """The state that both sides fold their events into."""

    wagers: int = 0
    handle_cents: int = 0


class Ours:
    """The embedded journal with the product's own encoding."""

    def __init__(self, place: Path) -> None:
        self.journal = SqliteJournal.open(place / "ours.db")
        self.types = EventTypes("holecard.table.v1", (WagerPlaced,))
        self.sequence = 0
        self.actor = Actor(Role.DEALER, "D-17")

    def new_events(self, count: int) -> list[NewEvent]:
        """Encode that many events, as one command's."""
        request_id = f"request-{self.sequence}"
        cause = EventId(STREAM, self.sequence) if self.sequence else None
        time_us, round_id, gaming_day = 1_796_000_000_000_000, "black-hawk/BJ-07#12", "2026-11-30"
        new = []
        for number in range(count):
            placed = WagerPlaced(number % 7 + 1, "patron-1207", 1, "MAIN", 1, 500 + number)
            name, version, payload = self.types.encode(placed)
            new.append(
                NewEvent(name, version, payload, time_us, self.actor, request_id, DIGEST, cause, round_id, gaming_day)
            )
        return new

    async def append(self, count: int) -> None:
        """One append of that many events."""
        await self.journal.append(STREAM, self.sequence, self.new_events(count))
        self.sequence += count

    async def replay(self) -> Tally:
        """Fold the whole stream, every hash and link checked."""
        state = Tally()
        async for recorded in self.journal.read(STREAM):
            envelope = recorded.envelope
            placed = self.types.decode(envelope.type, envelope.schema_version, envelope.payload)
            state.wagers += 1
            state.handle_cents += placed.amount_cents
        return state


class Table(Aggregate):
    """The rival's aggregate with the same events and the same state."""

    @event("Opened")
    def __init__(self) -> None:
        self.tally = Tally()

    @event("WagerPlaced")
    def place(self, seat: int, player: str, hand: int, kind: str, ordinal: int, amount_cents: int) -> None:
        """Count one wager."""
        del seat, player, hand, kind, ordinal
        self.tally.wagers += 1
        self.tally.handle_cents += amount_cents


class Rival:
    """`eventsourcing` on a SQLite file, out of the box."""

    def __init__(self, place: Path) -> None:
        path = place / "rival.db"
        self.app: Application[UUID] = Application(
            env={"PERSISTENCE_MODULE": "eventsourcing.sqlite", "SQLITE_DBNAME": str(path)}
        )
        self.table = Table()
        self.app.save(self.table)
        self.recorder = SQLiteApplicationRecorder(SQLiteDatastore(str(place / "bare.db")))
        self.recorder.create_table()
        self.bare_version = 0
        self.bare_id = uuid4()

    async def append(self, count: int) -> None:
        """One save of that many events."""
        for number in range(count):
            self.table.place(number % 7 + 1, "patron-1207", 1, "MAIN", 1, 500 + number)
        self.app.save(self.table)

    async def append_bare(self, count: int) -> None:
        """Hand that many ready-made records to the rival's recorder."""
        state = bytes(150)
        topic = "load.journal:Table.WagerPlaced"
        versions = range(self.bare_version, self.bare_version + count)
        self.recorder.insert_events([StoredEvent(self.bare_id, version, topic, state) for version in versions])
        self.bare_version += count

    async def replay(self) -> Tally:
        """Load the aggregate."""
        table: Table = self.app.repository.get(self.table.id)
        return table.tally

    def settings(self) -> tuple[str, int]:
        """The journal mode and the synchronous setting of the rival's connections."""
        assert isinstance(self.app.recorder, SQLiteApplicationRecorder)
        datastore = self.app.recorder.datastore
        with datastore.transaction(commit=False) as cursor:
            cursor.execute("PRAGMA journal_mode")
            mode = str(cursor.fetchone()[0])
            cursor.execute("PRAGMA synchronous")
            return mode, int(cursor.fetchone()[0])


def our_settings(journal: SqliteJournal) -> tuple[str, int]:
    """The same of our writing connection."""
    writer = journal._writer  # noqa: SLF001 - a benchmark must not take durability on trust
    assert writer is not None
    connection: sqlite3.Connection = writer._connection  # noqa: SLF001 - as above
    with (
        closing(connection.execute("PRAGMA journal_mode")) as mode,
        closing(connection.execute("PRAGMA synchronous")) as level,
    ):
        return str(mode.fetchone()[0]), int(level.fetchone()[0])


Taken = tuple[float, float]
"""Microseconds for each event: by the clock on the wall, and of processor time."""


async def _timed(work: Work, events: int) -> Taken:
    """Do it once."""
    start, start_cpu = time.perf_counter(), time.process_time()
    await work()
    return (time.perf_counter() - start) / events * 1e6, (time.process_time() - start_cpu) / events * 1e6


async def _alternate(sides: dict[str, tuple[Work, int]], appends: int, block: int) -> dict[str, Taken]:
    """The medians of each side; they take turns in short blocks, so that a slow moment meets all of them."""
    taken: dict[str, list[Taken]] = {side: [] for side in sides}
    for _ in range(appends // block):
        for side, (work, events) in sides.items():
            taken[side].extend([await _timed(work, events) for _ in range(block)])
    kept = {side: values[len(values) // 4 :] for side, values in taken.items()}
    return {side: (median(one[0] for one in values), median(one[1] for one in values)) for side, values in kept.items()}


async def _measure(place: Path, appends: int) -> dict[str, dict[str, Taken]]:
    ours, rival = Ours(place), Rival(place)
    if our_settings(ours.journal) != rival.settings():
        raise SystemExit(f"durability differs: ours {our_settings(ours.journal)}, rival {rival.settings()}")
    medians = {
        "replay_into_state": await _replay(place),
        "append_in_groups": await _alternate(
            {
                "ours": (lambda: ours.append(GROUP), GROUP),
                "rival": (lambda: rival.append(GROUP), GROUP),
                "bare": (lambda: rival.append_bare(GROUP), GROUP),
            },
            appends,
            BLOCK,
        ),
        "append_one_by_one": await _alternate(
            {
                "ours": (lambda: ours.append(1), 1),
                "rival": (lambda: rival.append(1), 1),
                "bare": (lambda: rival.append_bare(1), 1),
            },
            appends * 4,
            BLOCK,
        ),
    }
    assert await ours.replay() == await rival.replay()
    await ours.journal.close()
    rival.app.close()
    return medians


async def _replay(place: Path) -> dict[str, Taken]:
    """Both sides fold a stream of the same length again and again."""
    (place / "replay").mkdir()
    ours, rival = Ours(place / "replay"), Rival(place / "replay")
    for _ in range(REPLAYED_EVENTS // GROUP):
        await ours.append(GROUP)
        await rival.append(GROUP)
    medians = await _alternate(
        {"ours": (ours.replay, REPLAYED_EVENTS), "rival": (rival.replay, REPLAYED_EVENTS)}, REPLAYS, 1
    )
    await ours.journal.close()
    rival.app.close()
    return medians


def _result(medians: dict[str, dict[str, Taken]]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for name, by_side in medians.items():
        clock = CLOCKS.index(COMPARED_BY[name])
        ours, rival = by_side["ours"], by_side["rival"]
        found[name] = {
            "ours_us": round(ours[clock], 2),
            "rival_us": round(rival[clock], 2),
            **({"bare_recorder_us": round(by_side["bare"][clock], 2)} if "bare" in by_side else {}),
            "ratio": round(rival[clock] / ours[clock], 2),
            "aim": AIMS[name],
            "compared_by": COMPARED_BY[name],
            **{
                f"by_{each}_time": {
                    "ours_us": round(ours[at], 2),
                    "rival_us": round(rival[at], 2),
                    "ratio": round(rival[at] / ours[at], 2),
                }
                for at, each in enumerate(CLOCKS)
            },
        }
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="The embedded journal against PyPI eventsourcing.")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--appends",
        type=int,
        default=400,
        help="appends in groups, and a quarter of those one by one",
    )
    parser.add_argument("--place", type=Path, help="a directory on the disk to measure (default: the temporary one)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.place) as place:
        result = _result(uvloop.run(_measure(Path(place), arguments.appends)))
    if arguments.json:
        print(json.dumps({"durability": "WAL, synchronous=FULL on both sides", **result}))
        return
    print("Median µs per event; both sides: one SQLite file, WAL, synchronous=FULL. Ratio = eventsourcing / ours.")
    for name, row in result.items():
        bare = f"   (its bare recorder, no chain: {row['bare_recorder_us']:.1f})" if "bare_recorder_us" in row else ""
        print(
            f"{name:<20} ours {row['ours_us']:>8.1f}   eventsourcing {row['rival_us']:>8.1f}"
            f"   ratio {row['ratio']:>5.2f} (aim {row['aim']}; by wall time {row['by_wall_time']['ratio']},"
            f" by processor time {row['by_processor_time']['ratio']}){bare}"
        )


if __name__ == "__main__":
    main()

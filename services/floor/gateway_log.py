"""The gateway's own log: every reading of every device of one floor, on disk before its device is answered.

Owns the SQLite file, its writer thread and what is refused as a reading. Promises: a report is answered only after its
transaction is on disk (WAL, synchronous=FULL, one commit for all that waits); a reading is kept once, without gaps, in its
device's order; the order of a table's readings among its devices is the order in which they were kept. A full disk fails the
reports of that moment, whole, and nothing else. Does not forward (see `forwarding`), and does not know what a reading means.
"""

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from services.floor.gateway_file import GatewayLogUnusable, open_file
from services.floor.gateway_rejections import ReadingContested, ReadingSequenceGap
from services.floor.gateway_writer import GatewayDiskFailed, GroupWriter
from services.journal.writer_lock import WriterLock
from services.table.client import Observation, Reading, ReadingKind
from services.wire.mapping import Mapper, mapper

GATEWAY: Final = "gateway"
"""The device under whose name the gateway itself reports, for instance a device that contradicts itself."""
_READING: Mapper[Reading] = mapper(Reading, "holecard.table.v1.Reading")


@dataclass(frozen=True, slots=True)
class Report:
    """What one device sent at once. `clock_offset_us` is how far its clock is off, None when it sent no time."""

    table: str
    device: str
    readings: tuple[Reading, ...]
    received_time_us: int
    clock_offset_us: int | None


@dataclass(frozen=True, slots=True)
class Kept:
    """The device's last durable reading, and how many of the report had been kept before."""

    kept_through: int
    repeated_readings: int


@dataclass(frozen=True, slots=True)
class Queued:
    """A kept reading, with its place in the log."""

    position: int
    observation: Observation


@dataclass(slots=True)
class Progress:
    """How much waits to be forwarded, of all tables. Numbers in memory that follow the disk."""

    queued: int = 0
    kept: int = 0
    forwarded: int = 0
    oldest: dict[str, int] = field(default_factory=dict)
    """When the first waiting reading was kept, by table."""

    @property
    def oldest_queued_us(self) -> int:
        """When the oldest reading that waits was kept, 0 when none does."""
        # A copy: the writer thread changes it while a page is drawn.
        return min(list(self.oldest.values()), default=0)


class GatewayLog:
    """One floor's log; the only one that writes it. Open with `open`, end with `close`."""

    def __init__(self, path: Path, floor: str, connection: sqlite3.Connection, lock: WriterLock) -> None:
        self.path = path
        self.floor = floor
        self.progress = Progress()
        self._connection = connection
        self._lock = lock
        # What the disk holds, and within a transaction what it will hold after the commit.
        self._last: dict[tuple[str, str], int] = {}
        self._cursor: dict[str, int] = {}
        self._load()
        self._writer = GroupWriter(connection, path, self._remember)

    @classmethod
    def open(cls, path: Path, floor: str, *, limit_bytes: int = 0) -> "GatewayLog":
        """Open or create the log of `floor`; with `limit_bytes` it takes no more readings beyond that size.

        Raises GatewayLogOfAnotherFloor, GatewayLogUnusable, or JournalLocked when another gateway has it.
        """
        connection, lock = open_file(path, floor, limit_bytes)
        return cls(path, floor, connection, lock)

    def _load(self) -> None:
        rows = self._connection.execute("SELECT table_key, device, last_sequence FROM device")
        self._last = {(table, device): last for table, device, last in rows}
        self._cursor = dict(self._connection.execute("SELECT table_key, position FROM forwarded"))
        counted = "SELECT count(*) FROM reading r WHERE position > coalesce((SELECT position FROM forwarded f"
        counted += " WHERE f.table_key = r.table_key), 0)"
        self.progress.queued = self._connection.execute(counted).fetchone()[0]
        for table in self.tables():
            self._look_at_oldest(table)

    # For the event loop ---------------------------------------------------------------------------------------------

    async def keep(self, report: Report) -> Kept:
        """Keep a report whole; durable when this returns.

        Raises ReadingSequenceGap or ReadingContested (nothing was kept, the latter is also reported to the house), or
        GatewayDiskFailed.
        """
        try:
            return await self._writer.do(lambda: self._keep(report))
        except ReadingContested as contested:
            note = f"{report.device} sent {contested.facts['sequence']} again with other content"
            await self.keep_own(report.table, note, report.received_time_us)
            raise

    async def keep_own(self, table: str, note: str, now_us: int) -> None:
        """Keep a report of the gateway's own about a device of the table."""

        def keep() -> Kept:
            sequence = self._last.get((table, GATEWAY), 0) + 1
            reading = Reading(sequence, now_us, ReadingKind.DEVICE_REPORT, note=note[:300])
            return self._keep(Report(table, GATEWAY, (reading,), now_us, 0))

        await self._writer.do(keep)

    async def queued(self, table: str, most: int) -> list[Queued]:
        """The next readings of a table to be forwarded, in order."""
        return await self._writer.do(lambda: self._queued(table, most))

    async def forwarded(self, table: str, position: int, count: int) -> None:
        """Note that the house has the table's readings up to this place, `count` more than before."""
        await self._writer.do(lambda: self._forwarded(table, position, count))

    async def rewind(self, table: str, device: str, sequence: int) -> bool:
        """Forward again from this reading on; False when the log does not have it."""
        return await self._writer.do(lambda: self._rewind(table, device, sequence))

    async def forget(self, before_us: int) -> int:
        """Delete forwarded readings that were kept before this time; how many."""
        return await self._writer.do(lambda: self._forget(before_us))

    def tables(self) -> list[str]:
        """Every table that something was kept of."""
        return sorted({table for table, _ in list(self._last)})

    async def standing(self, table: str, device: str) -> tuple[int, int]:
        """The device's last durable reading, and the last of them that the house has."""
        return await self._writer.do(
            lambda: (self._last.get((table, device), 0), self._forwarded_through(table, device))
        )

    @property
    def failure(self) -> GatewayLogUnusable | None:
        """What made the log useless for good; None while all is well."""
        return self._writer.failure

    async def close(self) -> None:
        """Write what waits and let the file go."""
        await self._writer.close()
        self._lock.release()

    # In the writer thread -------------------------------------------------------------------------------------------

    def _remember(self) -> Callable[[], None]:
        last, cursor = dict(self._last), dict(self._cursor)

        def take_back() -> None:
            self._last, self._cursor = last, cursor

        return take_back

    def _keep(self, report: Report) -> Kept:
        key = (report.table, report.device)
        last = self._last.get(key, 0)
        fresh: list[Reading] = []
        for reading in report.readings:
            if reading.device_sequence <= last:
                if not fresh:
                    self._compare(report, reading)
                    continue
                raise _gap(report.device, last + 1, reading.device_sequence)
            if reading.device_sequence != last + 1 and reading.kind is not ReadingKind.HISTORY_LOST:
                raise _gap(report.device, last + 1, reading.device_sequence)
            fresh.append(reading)
            last = reading.device_sequence
        if fresh:
            self._insert(report, fresh, last)
        return Kept(last, len(report.readings) - len(fresh))

    def _insert(self, report: Report, fresh: Iterable[Reading], last: int) -> None:
        rows = [
            (
                report.table,
                report.device,
                reading.device_sequence,
                report.received_time_us,
                report.clock_offset_us,
                _READING.encode(reading),
            )
            for reading in fresh
        ]
        self._connection.executemany(
            "INSERT INTO reading (table_key, device, sequence, received_us, offset_us, content) VALUES (?, ?, ?, ?, ?, ?)",
            rows,
        )
        self._connection.execute(
            "INSERT INTO device VALUES (?, ?, ?)"
            " ON CONFLICT (table_key, device) DO UPDATE SET last_sequence = excluded.last_sequence",
            (report.table, report.device, last),
        )
        self._last[report.table, report.device] = last
        self._writer.after_commit(lambda: self._kept(report, len(rows)))

    def _kept(self, report: Report, count: int) -> None:
        self.progress.queued += count
        self.progress.kept += count
        self.progress.oldest.setdefault(report.table, report.received_time_us)

    def _moved(self, table: str, queued: int, forwarded: int) -> None:
        self.progress.queued += queued
        self.progress.forwarded += forwarded
        self._look_at_oldest(table)

    def _compare(self, report: Report, reading: Reading) -> None:
        """Raise ReadingContested when the reading of that number is known with other content."""
        row = self._connection.execute(
            "SELECT content FROM reading WHERE table_key = ? AND device = ? AND sequence = ?",
            (report.table, report.device, reading.device_sequence),
        ).fetchone()
        # One that was forwarded long ago is no longer here; the house compares the contents that it remembers.
        if row is not None and _READING.decode(row[0]) != reading:
            raise ReadingContested(
                f"{report.device} sent {reading.device_sequence} before with other content",
                device=report.device,
                sequence=reading.device_sequence,
            )

    def _queued(self, table: str, most: int) -> list[Queued]:
        rows = self._connection.execute(
            "SELECT position, device, received_us, offset_us, content FROM reading"
            " WHERE table_key = ? AND position > ? ORDER BY position LIMIT ?",
            (table, self._cursor.get(table, 0), most),
        )
        return [
            Queued(position, Observation(device, received, offset, _READING.decode(content)))
            for position, device, received, offset, content in rows
        ]

    def _forwarded(self, table: str, position: int, count: int) -> None:
        self._set_cursor(table, position)
        self._writer.after_commit(lambda: self._moved(table, -count, count))

    def _set_cursor(self, table: str, position: int) -> None:
        self._connection.execute(
            "INSERT INTO forwarded VALUES (?, ?) ON CONFLICT (table_key) DO UPDATE SET position = excluded.position",
            (table, position),
        )
        self._cursor[table] = position

    def _rewind(self, table: str, device: str, sequence: int) -> bool:
        row = self._connection.execute(
            "SELECT position FROM reading WHERE table_key = ? AND device = ? AND sequence = ?",
            (table, device, sequence),
        ).fetchone()
        cursor = self._cursor.get(table, 0)
        if row is None or row[0] > cursor:
            return False
        (again,) = self._connection.execute(
            "SELECT count(*) FROM reading WHERE table_key = ? AND position >= ? AND position <= ?",
            (table, row[0], cursor),
        ).fetchone()
        self._set_cursor(table, row[0] - 1)
        self._writer.after_commit(lambda: self._moved(table, again, 0))
        return True

    def _forget(self, before_us: int) -> int:
        deleted = 0
        for table, position in self._cursor.items():
            deleted += self._connection.execute(
                "DELETE FROM reading WHERE table_key = ? AND position <= ? AND received_us < ?",
                (table, position, before_us),
            ).rowcount
        return deleted

    def _look_at_oldest(self, table: str) -> None:
        row = self._connection.execute(
            "SELECT received_us FROM reading WHERE table_key = ? AND position > ? ORDER BY position LIMIT 1",
            (table, self._cursor.get(table, 0)),
        ).fetchone()
        if row is None:
            self.progress.oldest.pop(table, None)
        else:
            self.progress.oldest[table] = row[0]

    def _forwarded_through(self, table: str, device: str) -> int:
        (last,) = self._connection.execute(
            "SELECT max(sequence) FROM reading WHERE table_key = ? AND device = ? AND position <= ?",
            (table, device, self._cursor.get(table, 0)),
        ).fetchone()
        return last or 0


def _gap(device: str, expected: int, given: int) -> ReadingSequenceGap:
    return ReadingSequenceGap(
        f"{device} goes on with {expected}, not {given}", device=device, expected=expected, given=given
    )


__all__ = ["GATEWAY", "GatewayDiskFailed", "GatewayLog", "Kept", "Progress", "Queued", "Report"]

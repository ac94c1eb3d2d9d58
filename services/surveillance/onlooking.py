"""What changed in a read model that another process writes, for those who watch the floor here.

Owns the comparison of two looks. Promises that a change is told once; what changed and changed back between two looks is
not told at all.
"""

from dataclasses import dataclass, field

from sqlalchemy import Connection, func, select

from services.surveillance import findings_store, schema
from services.surveillance.findings import Finding


@dataclass(slots=True)
class Seen:
    """What is new since the look before: tables by key, rounds that ended, findings."""

    tables: set[str] = field(default_factory=set)
    ended_rounds: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


class Onlooker:
    """Looks again and again; the first look tells nothing, since whoever watches begins with a whole picture."""

    def __init__(self) -> None:
        self._sequences: dict[str, int] | None = None
        self._ended_us = 0
        self._findings: set[str] = set()

    def look(self, connection: Connection) -> Seen:
        """What is new."""
        streams, rounds = schema.streams.c, schema.rounds.c
        sequences = {stream: last for stream, last in connection.execute(select(streams.stream, streams.sequence))}  # noqa: C416 - a row is no pair for the type checker
        seen = Seen()
        first, before = self._sequences is None, self._sequences or {}
        changed = {stream for stream, last in sequences.items() if before.get(stream) != last}
        if changed or first:
            seen.tables = {stream.partition(":")[2] for stream in changed}
            ended = connection.execute(
                select(rounds.round_id, rounds.ended_time_us)
                .where(rounds.complete, rounds.ended_time_us > self._ended_us)
                .order_by(rounds.ended_time_us)
            ).all()
            seen.ended_rounds = [row.round_id for row in ended]
            self._ended_us = max([self._ended_us, *(row.ended_time_us for row in ended)])
        if connection.execute(select(func.count()).select_from(schema.findings)).scalar_one() != len(self._findings):
            kept = {finding.id: finding for finding in findings_store.all_kept(connection)}
            seen.findings = [finding for name, finding in kept.items() if name not in self._findings]
            self._findings = set(kept)
        self._sequences = sequences
        return Seen() if first else seen

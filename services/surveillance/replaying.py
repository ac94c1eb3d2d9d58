"""Reading one round out of a journal: with the read model's index in a moment, without it by looking through its table.

Owns which events are read and in which order they are folded. Works on any journal, also on the file of a house that is
not running. Does not know what a round is (see `hand_history`).
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from services.journal.port import Journal, Recorded
from services.surveillance.facts import Fact, FactReader
from services.surveillance.hand_history import RoundHistory, table_of
from services.surveillance.records import RoundRecord

CONTEXT = frozenset({"RulesPosted", "LimitsChanged", "TableOpened", "DealerChanged"})
"""Events of the table before a round that its record needs, the last of each: the rules in force, and who deals."""


@dataclass(slots=True)
class Whereabouts:
    """Where a round's events stand: the first and last sequence by stream, and its context in the table's stream."""

    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
    context: tuple[int, ...] = ()


async def read_round(
    journal: Journal, reader: FactReader, round_id: str, where: Whereabouts | None = None
) -> RoundRecord | None:
    """The record of a round, None when the journal holds nothing of it; raises the journal's errors.

    Without `where` the streams of its table are looked through from their beginning.
    """
    key = table_of(round_id)
    if not key:
        return None
    where = where or await _look_for(journal, round_id, key)
    if f"table:{key}" not in where.ranges:
        return None
    chosen = [one for sequence in where.context async for one in _range(journal, f"table:{key}", sequence, sequence)]
    for stream, (first, last) in where.ranges.items():
        chosen += [one async for one in _range(journal, stream, first, last) if one.envelope.round_id == round_id]
    # The streams of a table share a partition, so the log's own order puts cards and money beside what they belong to.
    facts: list[Fact] = [reader.read(one) for one in sorted(chosen, key=lambda one: one.position)]
    history = RoundHistory(round_id)
    for fact in facts:
        history.take(fact)
    return history.record() if history.found else None


async def _range(journal: Journal, stream: str, first: int, last: int) -> AsyncIterator[Recorded]:
    async for recorded in journal.read(stream, first - 1):
        yield recorded
        if recorded.envelope.sequence >= last:
            return


async def _look_for(journal: Journal, round_id: str, key: str) -> Whereabouts:
    where = Whereabouts()
    context: dict[str, int] = {}
    for area in ("table", "wager", "shoe"):
        stream = f"{area}:{key}"
        async for recorded in journal.read(stream):
            _note(recorded, round_id, where.ranges)
            name = recorded.envelope.type.rpartition(".")[2]
            if area == "table" and stream not in where.ranges and name in CONTEXT:
                context["RulesPosted" if name == "LimitsChanged" else name] = recorded.envelope.sequence
    where.context = tuple(sorted(context.values()))
    return where


def _note(recorded: Recorded, round_id: str, ranges: dict[str, tuple[int, int]]) -> None:
    envelope = recorded.envelope
    if envelope.round_id == round_id:
        first, _ = ranges.get(envelope.stream, (envelope.sequence, 0))
        ranges[envelope.stream] = (first, envelope.sequence)

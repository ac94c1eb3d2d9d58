"""Where findings are kept: written once each, never changed, never deleted.

Owns the rows of `findings`. Promises that a finding that comes again, in another run or from another reader, adds
nothing.
"""

from collections.abc import Sequence

from sqlalchemy import Engine, insert, select

from services.surveillance.findings import Finding
from services.surveillance.schema import findings as table


def keep(engine: Engine, findings: Sequence[Finding]) -> list[Finding]:
    """Write down what is new, and give it back."""
    by_id = {finding.id: finding for finding in findings}
    if not by_id:
        return []
    with engine.begin() as connection:
        known = set(connection.execute(select(table.c.id).where(table.c.id.in_(by_id))).scalars())
        fresh = [finding for name, finding in by_id.items() if name not in known]
        if fresh:
            connection.execute(insert(table), [row_of(finding) for finding in fresh])
    return fresh


def row_of(finding: Finding) -> dict[str, object]:
    """The row of a finding."""
    return {
        "id": finding.id,
        "law": finding.law,
        "stream": finding.stream,
        "sequence": finding.sequence,
        "table_key": finding.stream.partition(":")[2],
        "round_id": finding.round_id,
        "reason": finding.reason,
        "recorded_time_us": finding.recorded_time_us,
    }

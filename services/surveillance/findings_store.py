"""Where findings are kept: written once each, never changed, never deleted.

Owns the rows of `findings`. Promises that a finding that comes again, in another run or from another reader, adds
nothing.
"""

from collections.abc import Sequence

from sqlalchemy import Connection, Engine, select

from services.surveillance.findings import Finding
from services.surveillance.inserting import insert_new
from services.surveillance.schema import findings as table
from services.surveillance.store import hold_still


def keep(engine: Engine, findings: Sequence[Finding]) -> list[Finding]:
    """Write down what is new, and give it back."""
    by_id = {finding.id: finding for finding in findings}
    if not by_id:
        return []
    with engine.begin() as connection:
        hold_still(connection)
        known = set(connection.execute(select(table.c.id).where(table.c.id.in_(by_id))).scalars())
        fresh = [finding for name, finding in by_id.items() if name not in known]
        # Another process may find the same at the same moment: then both say so, and it is kept once.
        insert_new(connection, table, [row_of(finding) for finding in fresh])
    return fresh


def all_kept(connection: Connection) -> list[Finding]:
    """Every finding."""
    columns = (
        table.c.law,
        table.c.stream,
        table.c.sequence,
        table.c.round_id,
        table.c.reason,
        table.c.recorded_time_us,
    )
    return [Finding(*row) for row in connection.execute(select(*columns))]


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

"""The laws as a check that rides along with `holecard verify`: one pass over a journal, bounded memory.

Owns the adapter between the journal's observers and the auditor. Promises at most MOST findings in memory, the rest counted.
"""

from collections.abc import Iterator

from services.journal.findings import Finding as JournalFinding
from services.journal.port import Recorded
from services.surveillance.facts import FactReader
from services.surveillance.findings import Finding
from services.surveillance.laws import Auditor

MOST = 10_000


class LawsOfTheHouse:
    """Holds every event of a journal to L1 to L4 and L6 to L12 (services/surveillance/laws)."""

    def __init__(self) -> None:
        self._reader = FactReader()
        self._auditor = Auditor()
        self._found: list[Finding] = []
        self._uncounted = 0

    def see(self, recorded: Recorded) -> None:
        """Take the next event in log order."""
        self._keep(self._auditor.observe(self._reader.read(recorded)))

    def findings(self) -> Iterator[JournalFinding]:
        """What is broken, in log order; called once, after the last event."""
        self._keep(self._auditor.finish())
        for found in self._found:
            yield JournalFinding(found.law, found.stream, found.sequence, found.reason)
        if self._uncounted:
            yield JournalFinding("L", "", 0, f"{self._uncounted} more findings; mend the first ones and verify again")

    def _keep(self, found: list[Finding]) -> None:
        room = MOST - len(self._found)
        self._found += found[:room]
        self._uncounted += len(found) - len(found[:room])

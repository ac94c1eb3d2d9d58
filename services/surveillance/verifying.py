"""The laws as a check that rides along with `holecard verify`: one pass over a journal, bounded memory.

Owns the adapter between the journal's observers and the auditor, and what is said of a journal that holds only some of a
table's streams, as in a house that is split over several. Promises at most MOST findings in memory, the rest counted.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator

from services.journal.findings import Finding as JournalFinding
from services.journal.port import Recorded
from services.surveillance.facts import AREAS, FactReader
from services.surveillance.findings import Finding
from services.surveillance.laws import COMPARED, Auditor

MOST = 10_000


class LawsOfTheHouse:
    """Holds every event of a journal to L1 to L4 and L6 to L12 (services/surveillance/laws)."""

    def __init__(self) -> None:
        self._reader = FactReader()
        self._auditor = Auditor()
        self._found: list[tuple[type, Finding]] = []
        self._uncounted = 0
        self._here: defaultdict[str, set[str]] = defaultdict(set)

    def see(self, recorded: Recorded) -> None:
        """Take the next event in log order."""
        fact = self._reader.read(recorded)
        if fact.area in AREAS:
            self._here[fact.key].add(fact.area)
        self._keep(self._auditor.observe_each(fact))

    def findings(self) -> Iterator[JournalFinding]:
        """What is broken, in log order; called once, after the last event.

        What compares with a stream that is not in this journal at all cannot be told here, and is said once for the stream.
        """
        self._keep(self._auditor.finish_each())
        untold: Counter[str] = Counter()
        for check, found in self._found:
            missing = self._elsewhere(check, found)
            if missing:
                untold.update(missing)
                continue
            yield JournalFinding(found.law, found.stream, found.sequence, found.reason)
        for stream, count in sorted(untold.items()):
            yield JournalFinding("L11", stream, 0, _elsewhere(stream, count))
        if self._uncounted:
            yield JournalFinding("L", "", 0, f"{self._uncounted} more findings; mend the first ones and verify again")

    def _elsewhere(self, check: type, found: Finding) -> list[str]:
        """The streams that the finding rests on and that this journal does not hold."""
        key = found.stream.partition(":")[2]
        here = self._here.get(key, set())
        return [f"{area}:{key}" for area in sorted(COMPARED.get(check, frozenset()) - here)] if here else []

    def _keep(self, found: list[tuple[type, Finding]]) -> None:
        room = MOST - len(self._found)
        self._found += found[:room]
        self._uncounted += len(found) - len(found[:room])


def _elsewhere(stream: str, count: int) -> str:
    return (
        f"this journal does not hold the stream, and {count} times its events rest on it: it is in another journal of a "
        "split house, or it was taken out. What the journal says by itself was held to the laws; what the services say of "
        "each other can be checked only where their streams are together"
    )

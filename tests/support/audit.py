"""The verdict on a journal after a fault: sound, lawful, and every promise kept.

The laws are the auditor's own, who shares no code with the services.
"""

from dataclasses import dataclass, field
from pathlib import Path

from services.journal.findings import Finding
from services.journal.fsck import fsck
from services.journal.kafka_cluster import Cluster
from services.journal.kafka_fsck import fsck_kafka
from services.journal.kafka_layout import Layout
from services.journal.port import Recorded
from services.surveillance.facts import Fact, FactReader
from services.surveillance.laws import check
from tests.support.acknowledged import Acknowledged


@dataclass
class Facts:
    """An observer of fsck that keeps every event as surveillance reads it."""

    facts: list[Fact] = field(default_factory=list)
    _reader: FactReader = field(default_factory=FactReader)

    def see(self, recorded: Recorded) -> None:
        """Take the next event."""
        self.facts.append(self._reader.read(recorded))

    def findings(self) -> list[Finding]:
        """Nothing: it only listens."""
        return []


def facts_of(journal: Path) -> list[Fact]:
    """Every event of a sound journal in log order."""
    seen = Facts()
    report = fsck(journal, [seen])
    assert report.is_sound, report.findings
    return seen.facts


def wrong(journal: Path, acknowledged: Acknowledged | None = None) -> list[str]:
    """Everything that is wrong with a journal, in words; nothing when all is well. Rounds may be in play."""
    seen = Facts()
    report = fsck(journal, [seen])
    unsound = [str(finding) for finding in report.findings]
    unlawful = [str(finding) for finding in check(seen.facts)]
    return unsound + unlawful + (acknowledged.unkept(seen.facts) if acknowledged else [])


async def wrong_in_cluster(
    cluster: Cluster, layout: Layout, acknowledged: Acknowledged | None = None
) -> tuple[list[str], list[Fact]]:
    """The same of a cluster's journal, and its events in causal order."""
    seen = Facts()
    report = await fsck_kafka(cluster, layout, [seen])
    unsound = [str(finding) for finding in report.findings]
    unlawful = [str(finding) for finding in check(seen.facts)]
    return unsound + unlawful + (acknowledged.unkept(seen.facts) if acknowledged else []), seen.facts


def rounds_of(facts: list[Fact]) -> tuple[set[str], set[str]]:
    """The rounds that were opened, and those that came to their end."""
    opened = {fact.envelope.round_id for fact in facts if fact.area == "table" and fact.name == "RoundOpened"}
    ended = {fact.envelope.round_id for fact in facts if fact.area == "table" and fact.name == "RoundCompleted"}
    return opened, ended

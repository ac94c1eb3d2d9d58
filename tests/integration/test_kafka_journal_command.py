"""`holecard journal` as people and scripts see it: topics made and audited, owners and records shown, poison named."""

import asyncio
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from services.cli import main
from services.journal.kafka_journal import Claimant, KafkaJournal
from services.journal.kafka_layout import Layout
from services.wire.batch import Claim
from services.wire.owner import Owner, encode_owner
from tests.support.journal_events import STREAM, fill
from tests.support.kafka_broker import Broker, new_layout, shared_broker
from tests.support.kafka_records import put

pytestmark = pytest.mark.xdist_group("kafka")

TABLE = 1000


@dataclass(frozen=True)
class Run:
    returncode: int
    stdout: str
    stderr: str

    @property
    def objects(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.stdout.splitlines()]


Command = Callable[..., Run]


@pytest.fixture
def broker() -> Broker:
    return shared_broker()


@pytest.fixture
def layout(broker: Broker) -> Layout:
    """A journal in which two owners have written in turn, the first of them once too often."""
    layout = new_layout(broker.cluster)

    async def write() -> None:
        first = await KafkaJournal.open(broker.cluster, layout, Claimant("first", "first:7000", "a1"))
        await fill(first, STREAM, 2)
        second = await KafkaJournal.open(broker.cluster, layout, Claimant("second", "second:7000", "b2"))
        await fill(second, STREAM, 1, after=2)
        await first.close()
        await second.close()

    asyncio.run(write())
    return layout


@pytest.fixture
def journal(
    broker: Broker, layout: Layout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    prefix = layout.topics[0].removesuffix("holecard.shoe.v1")
    monkeypatch.setenv("HOLECARD_KAFKA", broker.cluster.bootstrap[0])

    def run(*arguments: str, partitions: int = 1, prefix: str = prefix) -> Run:
        call = ["holecard", "journal", "--partitions", str(partitions), "--prefix", prefix, *arguments]
        monkeypatch.setattr(sys, "argv", call)
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return Run(int(ended.value.code or 0), said.out, said.err)

    return run


def test_topics_are_made_once_and_audited(journal: Command, layout: Layout) -> None:
    prefix = f"new.{layout.topics[0][:13]}."
    refused = journal("audit", prefix=prefix)
    assert (refused.returncode, refused.stderr.count("is not there: run `holecard journal create-topics`")) == (1, 5)
    made = journal("create-topics", "--copies", "1", prefix=prefix)
    assert (made.returncode, made.stdout.count("created ")) == (0, 5)
    assert "Nothing to do" in journal("create-topics", "--copies", "1", prefix=prefix).stdout
    assert journal("audit", "--json", prefix=prefix).objects == [{"safe": True}]
    assert journal("audit", prefix=prefix, partitions=2).returncode == 1


def test_owners_shows_who_writes_each_partition(journal: Command) -> None:
    shown = {one["partition"]: one for one in journal("owners", "--replay", "--json").objects}
    assert sorted(map(str, shown)) == ["0", "1000", "2000", "3000"]
    claim, counts = shown[TABLE]["claim"], shown[TABLE]["counts"]
    assert isinstance(claim, dict)
    assert (claim["owner"], claim["address"], claim["build"]) == ("second", "second:7000", "b2")
    assert isinstance(counts, dict)
    assert (counts["events"], counts["batches"], counts["void"]) == (3, 2, 0)
    assert "second at second:7000 (build b2), epoch" in journal("owners", "--replay").stdout


def test_owners_are_found_without_reading_their_partitions(journal: Command, broker: Broker, layout: Layout) -> None:
    replayed = journal("owners", "--replay", "--json").objects
    noted = journal("owners", "--json").objects
    assert [one["claim"] for one in noted] == [one["claim"] for one in replayed]
    assert [one["epoch"] for one in noted] == [one["epoch"] for one in replayed]
    assert "second at second:7000 (build b2), epoch" in journal("owners").stdout
    # What is no note, or is of another partition, is passed over; a late one does not hide a later claim.
    late = encode_owner(Owner(0, Claim("older", "", "", 10**18)))
    key = f"{layout.topics[1]}/0"
    producer = broker.cluster.producer()
    for name, value in ((key, b"garbage"), ("else/7", b""), (key, late)):
        producer.send(layout.owners, value, key=name.encode(), partition=0).get(10)
    producer.close()
    assert journal("owners", "--json").objects == noted


def test_a_deleted_topic_of_owners_is_made_again_and_costs_only_finding_them(
    journal: Command, broker: Broker, layout: Layout
) -> None:
    admin = broker.cluster.admin()
    admin.delete_topics([layout.owners])
    admin.close()
    refused = journal("audit")
    assert refused.returncode == 1
    assert f"{layout.owners} is not there" in refused.stderr
    assert f"created {layout.owners}" in journal("create-topics", "--copies", "1").stdout
    assert "nobody has noted it" in journal("owners").stdout
    assert "second at second:7000" in journal("owners", "--replay").stdout


def test_cat_shows_claims_and_batches_with_their_events(journal: Command) -> None:
    records = journal("cat", "1000", "--json").objects
    verdicts = [record["verdict"] for record in records if record["verdict"] != "claim"]
    assert verdicts == ["counts", "counts"]
    events = [event for record in records for event in record["events"]]  # type: ignore[attr-defined]  # JSON
    assert [(event["stream"], event["sequence"]) for event in events] == [(STREAM, n) for n in (1, 2, 3)]
    assert records[-1]["batch_claim"] == records[-2]["offset"]
    text = journal("cat", "1000", "--from", str(records[-1]["offset"]), "--limit", "1").stdout
    assert text.splitlines()[1].strip().startswith(f"{STREAM} 3 holecard.table.v1.CardDealt v1 by dealer D-17")


def test_inspect_names_a_poison_record_and_shows_its_bytes(journal: Command, broker: Broker, layout: Layout) -> None:
    offset = put(broker.cluster, layout, TABLE, b"hello", [("from", b"elsewhere")])
    shown = journal("inspect", layout.topics[1], "0", str(offset))
    assert shown.returncode == 1
    assert "a foreign producer wrote here" in shown.stdout
    assert "header from: elsewhere" in shown.stdout
    assert "68 65 6c 6c 6f" in shown.stdout
    assert journal("inspect", layout.topics[1], "0", str(offset - 1)).returncode == 0
    assert f"has no record at {offset + 5}" in journal("inspect", layout.topics[1], "0", str(offset + 5)).stderr
    assert "STOPPED" in journal("owners", "--replay").stdout
    assert journal("cat", "1000", "--json").objects[-1]["verdict"] == "stops"


def test_a_partition_or_topic_that_is_none_of_the_journals_is_refused(journal: Command) -> None:
    assert journal("cat", "7").returncode == 2
    assert journal("inspect", "other", "0", "0").returncode == 2

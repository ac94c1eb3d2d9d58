"""What Prometheus is told by a house that plays: named as Prometheus wants it, and no label that tells of a table."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from services.floor.simulation import Callers, Plan, Simulation
from services.game.profiles import profile
from services.house import House
from services.journal.errors import EventRefused, SequenceConflict
from services.journal.kafka_errors import OutcomeUnknown, PartitionNotOwned
from services.journal.kafka_journal import Claimant, KafkaJournal
from services.journal.kafka_layout import AREAS as LAYOUT_AREAS
from services.journal.port import MAX_EVENT_BYTES, Journal
from services.journal.sqlite import SqliteJournal
from services.runtime import journal_metrics
from services.runtime.caller import LocalCaller
from services.runtime.clock import SystemClock
from services.runtime.journal_metrics import measured
from services.runtime.settings import Settings
from tests.support import table_house
from tests.support.journal_events import STREAM, new_event, new_events
from tests.support.kafka_broker import new_layout, shared_broker
from tests.support.kafka_records import forged, put, put_batch
from tests.support.metric_rules import complaints
from tests.support.table_house import TABLE
from tests.support.table_play import STAKES, Player


def total(registry: CollectorRegistry, name: str, **labels: str) -> float:
    """The sum of the samples with that name that carry these labels."""
    return sum(
        sample.value
        for family in registry.collect()
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    )


async def ids_of(journal: Journal) -> set[str]:
    """Every id that a played house's events carry: streams, tables, rounds, requests, people."""
    ids: set[str] = set()
    for head in await journal.streams():
        ids |= {head.stream, head.stream.partition(":")[2], head.stream.rpartition("/")[2]}
        async for recorded in journal.read(head.stream):
            envelope = recorded.envelope
            ids |= {envelope.round_id, envelope.request_id, envelope.actor.id, envelope.gaming_day}
    # One word alone, as the system's own name, is no id that grows.
    return {one for one in ids if any(not letter.isalpha() for letter in one)}


async def test_a_played_house_tells_nothing_unbounded_and_names_everything_as_prometheus_wants(tmp_path: Path) -> None:
    settings = Settings(tmp_path, "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0")
    async with House(settings, ("shoe", "table", "wager", "surveillance", "console")) as house:
        caller = LocalCaller(house.dispatchers)
        plan = Plan(tables=2, seats=3, rounds=8, mischief=0.5)
        simulation = Simulation(plan, (profile("colorado"),), Callers(caller, caller, caller, caller), SystemClock())
        async with asyncio.timeout(120):
            await simulation.run(lambda _figures, _seconds: None)
        registry = house.telemetry.registry
        assert house.journal is not None
        ids = await ids_of(house.journal)
        events = sum((await house.journal.end()).values())
        assert len(ids) > 50
        assert complaints(registry, ids) == []
        for area in ("shoe", "table", "wager"):
            assert total(registry, "holecard_journal_append_duration_seconds_count", area=area) > 8
        assert total(registry, "holecard_journal_commit_events_sum") == events
        commits = total(registry, "holecard_journal_commit_events_count")
        assert 0 < commits <= total(registry, "holecard_journal_append_duration_seconds_count")
        assert commits == total(registry, "holecard_journal_commit_duration_seconds_count")
        # An event is some hundred bytes with its envelope.
        assert total(registry, "holecard_journal_commit_bytes_sum") > 100 * events
        assert total(registry, "holecard_refusals_total") > 0
        assert total(registry, "process_resident_memory_bytes") > 10_000_000
        assert total(registry, "holecard_build_info") == 1


@pytest.fixture(params=["sqlite", pytest.param("kafka", marks=pytest.mark.xdist_group("kafka"))])
async def journal(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Journal]:
    """The journal that a house plays on, of each kind."""
    if request.param == "sqlite":
        yield SqliteJournal.open(tmp_path / "journal.db")
        return
    cluster = shared_broker().cluster
    opened = await KafkaJournal.open(cluster, new_layout(cluster, partitions=2), Claimant("metrics"))
    yield opened
    await opened.close()


async def test_what_stands_open_and_what_is_at_stake_is_told_as_it_is(journal: Journal) -> None:
    figures = CollectorRegistry()
    watched = measured(journal, figures)
    rules = table_house.RULES
    ann = Player(("ann",), 1, rules)
    async with table_house.House(watched) as house:
        registry = house.telemetry.registry

        def stands() -> tuple[float, float]:
            return total(registry, "holecard_table_open_rounds"), total(registry, "holecard_wager_escrow_cents")

        await house.prepare_shoe()
        await ann.arrive(house)
        assert stands() == (0, 0)
        for _ in range(2):
            await ann.step(house, await house.table.get_table(TABLE))
        assert stands() == (1, STAKES["ann"])
        await ann.play(house)
        assert stands() == (0, 0)
        before = total(figures, "holecard_journal_replayed_events_total", area="table")
        events = [recorded async for recorded in watched.read(f"table:{TABLE}")]
        assert len(events) > 5
        assert total(figures, "holecard_journal_replayed_events_total", area="table") == before + len(events)
        assert complaints(registry, await ids_of(watched)) == []
        assert complaints(figures, await ids_of(watched)) == []
        every = [head.sequence for head in await watched.streams()]
        assert total(figures, "holecard_journal_commit_events_sum") == sum(every)


async def test_an_append_that_fails_is_counted_by_its_error_and_not_timed(tmp_path: Path) -> None:
    figures = CollectorRegistry()
    watched = measured(SqliteJournal.open(tmp_path / "journal.db"), figures)
    await watched.append(STREAM, 0, new_events([2]))
    with pytest.raises(SequenceConflict):
        await watched.append(STREAM, 0, new_events([2]))
    with pytest.raises(EventRefused):
        await watched.append("nobody's:stream", 0, [new_event(2, payload=bytes(MAX_EVENT_BYTES))])
    failures = "holecard_journal_append_failures_total"
    assert total(figures, failures, area="table", error="SequenceConflict") == 1
    assert total(figures, failures, area="other", error="EventRefused") == 1
    assert total(figures, "holecard_journal_append_duration_seconds_count") == 1
    await watched.close()


@pytest.mark.xdist_group("kafka")
async def test_claims_void_batches_owners_and_stopped_partitions_are_told_of_every_partition() -> None:
    cluster = shared_broker().cluster
    layout = new_layout(cluster, one_topic=True)
    (topic,) = layout.topics
    figures = CollectorRegistry()
    journal = await KafkaJournal.open(cluster, layout, Claimant("first"))
    watched = measured(journal, figures)
    place = {"topic": topic, "partition": "0"}
    await watched.append(STREAM, 0, new_events([2, 4]))
    assert total(figures, "holecard_journal_partition_events_total", **place) == 2
    assert total(figures, "holecard_journal_partition_batches_total", **place) == 1
    assert total(figures, "holecard_journal_partition_owned", **place) == 1
    assert total(figures, "holecard_journal_partition_stopped", **place) == 0
    claims = total(figures, "holecard_journal_claims_total", **place)
    (status,) = journal.partitions()
    (head,) = [recorded async for recorded in journal.read(STREAM, 1)]
    second = await KafkaJournal.open(cluster, layout, Claimant("second"))
    late = forged(STREAM, 3, status.epoch, new_event(99), previous_hash=head.hash)
    await asyncio.to_thread(put_batch, cluster, layout, 0, status.epoch, [late])
    await watched.end()
    assert total(figures, "holecard_journal_claims_total", **place) == claims + 1
    assert total(figures, "holecard_journal_partition_owned", **place) == 0
    assert total(figures, "holecard_journal_void_batches_total", **place) == 1
    assert total(figures, "holecard_journal_duplicate_batches_total", **place) == 0
    with pytest.raises((PartitionNotOwned, OutcomeUnknown)):
        await watched.append(STREAM, 2, new_events([6]))
    assert total(figures, "holecard_journal_append_failures_total", area="table") == 1
    await asyncio.to_thread(put, cluster, layout, 0, b"no record of ours", [])
    await watched.end()
    assert total(figures, "holecard_journal_partition_stopped", **place) == 1
    assert complaints(figures, [STREAM]) == []
    await second.close()
    await journal.close()


def test_the_areas_of_the_labels_are_those_of_the_journal() -> None:
    assert set(LAYOUT_AREAS) == journal_metrics.AREAS


def test_the_rules_find_what_breaks_them() -> None:
    registry = CollectorRegistry()
    Gauge("holecard_lag_ms", "Lag.", registry=registry)
    Gauge("holecard_rounds_total", "Rounds.", registry=registry)
    Gauge("lag_seconds", "Lag.", registry=registry)
    Gauge("holecard_lagSeconds", "Lag.", registry=registry)
    Histogram("holecard_append_duration", "Time.", registry=registry)
    Counter("holecard_cards", " ", ("table",), registry=registry).labels("black-hawk/BJ-07")
    Counter("holecard_players", "Players.", ("who",), registry=registry).labels("P-1711")
    Gauge("holecard_many", "Many.", ("which",), registry=registry)
    found = "\n".join(complaints(registry, ["P-1711", "BJ-07"]))
    for complaint in (
        "holecard_lag_ms: is not in a base unit",
        "holecard_rounds_total: ends as only other types may",
        "lag_seconds: is not holecard_",
        "holecard_lagSeconds: is not holecard_",
        "holecard_append_duration: does not say its unit",
        "holecard_cards: has no help",
        "holecard_cards: has a value 'black-hawk/BJ-07' of table",
        "holecard_players: tells an id in who='P-1711'",
    ):
        assert complaint in found

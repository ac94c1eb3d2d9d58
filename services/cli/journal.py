"""`holecard journal`: make, audit and look into the journal of a cluster. Nothing here writes an event."""

import asyncio
import json
import tomllib
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import click

from services.cli.journal_text import as_json, as_lines, hex_lines
from services.journal.kafka_cluster import Cluster
from services.journal.kafka_journal import KafkaJournal, PartitionStatus
from services.journal.kafka_layout import Layout
from services.journal.kafka_scan import Scanned, Verdict, scan
from services.journal.kafka_topics import audit as audit_topics
from services.journal.kafka_topics import create


class _Where(NamedTuple):
    """The journal that a command is about."""

    cluster: Cluster
    layout: Layout


@click.group(context_settings={"auto_envvar_prefix": "HOLECARD"})
@click.option("--kafka", default="127.0.0.1:9092", show_default=True, help="The cluster's first addresses, by commas.")
@click.option("--partitions", type=click.IntRange(1, 1000), default=12, show_default=True, help="Of each topic.")
@click.option("--prefix", default="", help="What stands before each topic's name: two houses on one cluster.")
@click.option(
    "--security",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A TOML file with kafka-python's settings: security_protocol, ssl_cafile, sasl_mechanism, …",
)
@click.pass_context
def journal(context: click.Context, kafka: str, partitions: int, prefix: str, security: Path | None) -> None:
    """Make, audit and look into the journal of a cluster (Kafka).

    The options before the command's name say which journal; each can also be set in the environment, as HOLECARD_KAFKA.
    """
    settings = tomllib.loads(security.read_text(encoding="utf-8")) if security else {}
    context.obj = _Where(Cluster(tuple(kafka.split(",")), settings), Layout.standard(partitions, prefix))


_json_option = click.option("--json", "in_json", is_flag=True, help="Print JSON, one object a line.")


@journal.command("create-topics")
@click.option(
    "--copies", type=click.IntRange(1, 9), default=3, show_default=True, help="On how many brokers each event is."
)
@click.option("--mend", is_flag=True, help="Also bring the settings of topics that are there into order.")
@_json_option
@click.pass_obj
def create_topics(where: _Where, copies: int, mend: bool, in_json: bool) -> None:
    """Make the journal's topics with the settings that keep every event; what is there already stays."""
    done = create(where.cluster, where.layout, copies, mend=mend)
    if in_json:
        click.echo(json.dumps({"done": done}))
    else:
        click.echo("\n".join(done) or "Nothing to do: every topic is there and safe.")


@journal.command()
@_json_option
@click.pass_obj
def audit(where: _Where, in_json: bool) -> None:
    """Check that the topics are there and keep every event; exit status 1 and the settings' names when not."""
    audit_topics(where.cluster, where.layout)
    click.echo(json.dumps({"safe": True}) if in_json else f"Safe: {', '.join(where.layout.topics)}.")


@journal.command()
@_json_option
@click.pass_obj
def owners(where: _Where, in_json: bool) -> None:
    """Show for every partition who writes it, by the latest claim in its log, and what was counted in it."""

    async def look() -> tuple[PartitionStatus, ...]:
        reader = await KafkaJournal.open_read_only(where.cluster, where.layout)
        try:
            await reader.end()
            return reader.partitions()
        finally:
            await reader.close()

    for partition in asyncio.run(look()):
        click.echo(json.dumps(_owner_json(partition)) if in_json else _owner_text(partition))


@journal.command()
@click.argument("partition", type=int)
@click.option("--from", "first", type=int, default=0, help="Begin at this Kafka offset.")
@click.option("--limit", type=click.IntRange(1), help="End after so many records.")
@_json_option
@click.pass_obj
def cat(where: _Where, partition: int, first: int, limit: int | None, in_json: bool) -> None:
    """Print a partition's records: claims, batches with their events, and which of them count.

    PARTITION is 1000 × the topic's number (shoe 0, table 1, wager 2, surveillance 3) + Kafka's partition. The log is always
    read from its beginning, because only that tells which batches are void.
    """
    shown = 0
    for scanned in _scan(where, partition):
        if scanned.raw.offset < first:
            continue
        if limit is not None and shown >= limit:
            break
        shown += 1
        click.echo(json.dumps(as_json(scanned), ensure_ascii=False) if in_json else "\n".join(as_lines(scanned)))


@journal.command()
@click.argument("topic")
@click.argument("partition", type=int)
@click.argument("offset", type=int)
@_json_option
@click.pass_context
def inspect(context: click.Context, topic: str, partition: int, offset: int, in_json: bool) -> None:
    """Show one record as it is, headers and bytes, and why readers stop there if they do.

    TOPIC, PARTITION and OFFSET are Kafka's own, as the alarm of a stopped partition names them. Exit status 1 when
    the record stops its partition or there is none.
    """
    where: _Where = context.obj
    if topic not in where.layout.topics:
        raise click.BadParameter(f"{topic!r} is none of {', '.join(where.layout.topics)}", param_hint="TOPIC")
    number = where.layout.topics.index(topic) * 1000 + partition
    found = next((scanned for scanned in _scan(where, number) if scanned.raw.offset == offset), None)
    if found is None:
        click.echo(f"holecard: {topic} partition {partition} has no record at {offset}", err=True)
        context.exit(1)
    if in_json:
        click.echo(json.dumps(as_json(found, with_bytes=True), ensure_ascii=False))
    else:
        click.echo("\n".join([*as_lines(found), *hex_lines(found)]))
    context.exit(1 if found.verdict is Verdict.STOPS else 0)


def _scan(where: _Where, number: int) -> Iterator[Scanned]:
    try:
        where.layout.kafka_partition(number)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="PARTITION") from error
    return scan(where.cluster, where.layout, number)


def _owner_json(partition: PartitionStatus) -> dict[str, object]:
    return {
        "partition": partition.number,
        "topic": partition.topic,
        "kafka_partition": partition.kafka_partition,
        "epoch": partition.epoch,
        "claim": None if partition.claim is None else asdict(partition.claim),
        "counts": asdict(partition.counts),
        "records": partition.next_record,
        "stopped": partition.stopped,
    }


def _owner_text(partition: PartitionStatus) -> str:
    claim, counts = partition.claim, partition.counts
    owner = "nobody yet"
    if claim is not None:
        since = datetime.fromtimestamp(claim.claimed_time_us / 1e6, UTC)
        owner = f"{claim.owner} at {claim.address or '-'} (build {claim.build or '-'}), epoch {partition.epoch}"
        owner += f", since {since:%Y-%m-%d %H:%M:%S} UTC"
    text = (
        f"{partition.number:>4} {partition.topic}/{partition.kafka_partition}: {owner}; {counts.events} events in"
        f" {counts.batches} batches, {counts.claims} claims, {counts.void} void, {counts.duplicate} duplicate"
    )
    return f"{text}\n     STOPPED: {partition.stopped}" if partition.stopped else text

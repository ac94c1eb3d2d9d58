"""`holecard journal`: make, audit and look into the journal of a cluster. Nothing here writes an event."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import click

from services.cli.journal_text import as_json, as_lines, claim_text, hex_lines
from services.journal.kafka_acls import compare as compare_grants
from services.journal.kafka_acls import grant_all, read_grants
from services.journal.kafka_cluster import Cluster
from services.journal.kafka_journal import KafkaJournal, PartitionStatus
from services.journal.kafka_layout import Layout
from services.journal.kafka_owners import read_owners
from services.journal.kafka_scan import Scanned, Verdict, scan
from services.journal.kafka_topics import audit as audit_topics
from services.journal.kafka_topics import create
from services.runtime.kafka_settings import read_security
from services.wire.owner import Owner


class _Where(NamedTuple):
    """The journal that a command is about."""

    cluster: Cluster
    layout: Layout
    prefix: str


@click.group(context_settings={"auto_envvar_prefix": "HOLECARD"})
@click.option("--kafka", default="127.0.0.1:9092", show_default=True, help="The cluster's first addresses, by commas.")
@click.option("--partitions", type=click.IntRange(1, 1000), default=12, show_default=True, help="Of each topic.")
@click.option("--prefix", default="", help="What stands before each topic's name: two houses on one cluster.")
@click.option(
    "--security",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="TOML file of Kafka's security settings: security_protocol, ssl_cafile, sasl_mechanism, …",
)
@click.pass_context
def journal(context: click.Context, kafka: str, partitions: int, prefix: str, security: Path | None) -> None:
    """Make, audit and look into the journal of a cluster (Kafka).

    The options before the command's name say which journal; each can also be set in the environment, as HOLECARD_KAFKA.
    """
    cluster = Cluster(tuple(kafka.split(",")), read_security(security))
    context.obj = _Where(cluster, Layout.standard(partitions, prefix), prefix)


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
@click.option(
    "--replay", is_flag=True, help="Read every partition and count what is in it; takes as long as the log is."
)
@_json_option
@click.pass_obj
def owners(where: _Where, replay: bool, in_json: bool) -> None:
    """Show who owns each partition: as the owners have noted it, or with --replay by the claims in the logs themselves.

    A note may be late. With --replay what was counted in each partition is shown as well.
    """
    if not replay:
        notes = {note.number: note.owner for note in read_owners(where.cluster, where.layout)}
        for number in where.layout.numbers:
            shown = _noted_json(where.layout, number, notes.get(number))
            click.echo(json.dumps(shown) if in_json else _noted_text(shown, notes.get(number)))
        return

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
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--apply", "apply_them", is_flag=True, help="Grant what is missing.")
@_json_option
@click.pass_context
def acls(context: click.Context, file: Path, apply_them: bool, in_json: bool) -> None:
    """Compare the rights of the cluster's users with FILE (see deploy/kafka/acls.toml), and grant what is missing if asked.

    Exit status 1 when they differ afterwards. Rights beyond the file are told and left as they are.
    """
    where: _Where = context.obj
    grants = read_grants(file, where.prefix)
    difference = compare_grants(where.cluster, grants)
    granted = difference.missing if apply_them else ()
    if granted:
        grant_all(where.cluster, granted)
    missing = () if apply_them else difference.missing
    if in_json:
        names = {"granted": granted, "missing": missing, "beyond": difference.beyond}
        click.echo(json.dumps({name: [str(one) for one in those] for name, those in names.items()}))
    else:
        lines = [*(f"granted {one}" for one in granted), *(f"missing {one}" for one in missing)]
        lines += [f"beyond the file: {one}" for one in difference.beyond]
        click.echo("\n".join(lines) or f"All {len(grants)} rights are as the file says.")
    context.exit(1 if missing or difference.beyond else 0)


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


def _noted_json(layout: Layout, number: int, owner: Owner | None) -> dict[str, object]:
    place = layout.kafka_partition(number)
    return {
        "partition": number,
        "topic": place.topic,
        "kafka_partition": place.partition,
        "epoch": None if owner is None else owner.epoch,
        "claim": None if owner is None else asdict(owner.claim),
    }


def _noted_text(shown: dict[str, object], owner: Owner | None) -> str:
    who = "nobody has noted it" if owner is None else claim_text(owner.claim, owner.epoch)
    return f"{shown['partition']:>4} {shown['topic']}/{shown['kafka_partition']}: {who}"


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
        owner = claim_text(claim, partition.epoch)
    text = (
        f"{partition.number:>4} {partition.topic}/{partition.kafka_partition}: {owner}; {counts.events} events in"
        f" {counts.batches} batches, {counts.claims} claims, {counts.void} void, {counts.duplicate} duplicate"
    )
    return f"{text}\n     STOPPED: {partition.stopped}" if partition.stopped else text

"""`holecard worker`: a stream worker that folds the meters of its share of a cluster's tables."""

import asyncio
import signal
from pathlib import Path
from typing import Any

import click

from services.cli.address import Address, Addresses
from services.cli.kafka_options import DEFAULT_KAFKA, DEFAULT_PARTITIONS
from services.cli.surveillance import PROJECTION
from services.runtime.telemetry import configure_logging


@click.command()
@click.option(
    "--kafka",
    envvar="HOLECARD_KAFKA",
    type=Addresses(),
    default=DEFAULT_KAFKA,
    show_default=True,
    help="The Kafka cluster's first addresses.",
)
@click.option(
    "--partitions",
    envvar="HOLECARD_PARTITIONS",
    type=click.IntRange(1, 1000),
    default=DEFAULT_PARTITIONS,
    show_default=True,
    help="How many each topic of the journal has.",
)
@click.option("--prefix", envvar="HOLECARD_PREFIX", default="", help="What stands before each topic's name.")
@click.option(
    "--security",
    envvar="HOLECARD_SECURITY",
    type=click.Path(path_type=Path, dir_okay=False),
    help="TOML file of Kafka's security settings: security_protocol, ssl_cafile, sasl_mechanism, …",
)
@PROJECTION
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=Path(".data"),
    show_default=True,
    help="This worker's own folder; it may be deleted at any time. Without --projection also the read model's.",
)
@click.option(
    "--group",
    default="",
    metavar="NAME",
    help="Workers of one group share the partitions.  [default: holecard-meters after the prefix]",
)
@click.option(
    "--session-ms",
    type=click.IntRange(1_000, 300_000),
    default=10_000,
    show_default=True,
    help="How long a worker may be silent before others take its partitions over.",
)
@click.option(
    "--stall-seconds",
    type=click.IntRange(10, 3_600),
    default=60,
    show_default=True,
    help="End with status 75, to be started again, when it has not gone on for so long.",
)
@click.option(
    "--metrics",
    type=Address(),
    default="127.0.0.1:8690",
    show_default=True,
    help="Where Prometheus finds the metrics; also /live and /ready.",
)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="info",
    show_default=True,
    help="How much to say on stderr.",
)
@click.option("--log-json", is_flag=True, help="Log lines as JSON.")  # fmt: skip
def worker(**options: Any) -> None:
    """Fold the meters of a cluster's tables: handle, win, hold, pace, irregularities, and where open rounds stand.

    Start as many as you like, each with a --data folder of its own: they share the partitions, and when one dies the others
    take its share. What is counted lies in the read model's database with the place in the log up to which it is counted,
    so a worker that is killed, paused or started anew loses and doubles nothing.
    """
    configure_logging(options["log_level"], as_json=options["log_json"])
    asyncio.run(_work(options))


async def _work(options: dict[str, Any]) -> None:
    from services.cli.surveillance import read_model_place
    from services.journal.kafka_topics import audit
    from services.runtime.kafka_settings import KafkaSettings, read_security
    from services.runtime.ops_server import OpsServer
    from services.runtime.telemetry import Telemetry
    from services.surveillance.faust_worker import FaustSettings, faust_app, run
    from services.surveillance.folding_worker import FoldingWorker
    from services.surveillance.stall_watch import StallWatch

    security = read_security(options["security"])
    kafka = KafkaSettings(tuple(options["kafka"].split(",")), options["partitions"], options["prefix"], security)
    cluster, layout = kafka.cluster, kafka.layout
    # Compacted, deleted from, or with too few partitions, the topics would give other sums.
    await asyncio.to_thread(audit, cluster, layout)
    place = read_model_place(options["data"], options["projection"])
    telemetry = Telemetry()
    folding = FoldingWorker(cluster, layout, place, telemetry.registry)
    settings = FaustSettings(
        options["group"] or f"{options['prefix']}holecard-meters",
        options["data"] / "faust",
        options["session_ms"] / 1000,
    )
    app = faust_app(settings, kafka.bootstrap, security, layout, folding)
    told = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, told.set)
    ops = OpsServer(telemetry.registry, ["worker"], lambda: folding.trouble or "; ".join(folding.stops()))
    ops.start(options["metrics"])
    watch = StallWatch(lambda: folding.progress, options["stall_seconds"])
    watch.start()
    try:
        click.echo(f"worker:  {settings.group}, {place.name}", err=True)
        click.echo(f"metrics: http://{options['metrics'].rpartition(':')[0]}:{ops.port}/metrics", err=True)
        await run(app, folding, told)
    finally:
        watch.stop()
        await ops.stop()

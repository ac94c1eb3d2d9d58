"""The options by which a hosting command takes its journal from Kafka."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from services.cli.address import Address, Addresses, reached_at
from services.runtime.settings import read_address

if TYPE_CHECKING:
    from services.runtime.kafka_settings import KafkaSettings

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_KAFKA = "127.0.0.1:9092"
DEFAULT_PARTITIONS = 12


CLUSTER_OPTIONS = [
    click.option("--kafka", type=Addresses(), default=DEFAULT_KAFKA, show_default=True,
                 help="The Kafka cluster's first addresses."),
    click.option("--partitions", type=click.IntRange(1, 1000), default=DEFAULT_PARTITIONS, show_default=True,
                 help="How many each topic of the journal has."),
    click.option("--prefix", default="", help="What stands before each topic's name."),
    click.option("--security", type=click.Path(path_type=Path, dir_okay=False),
                 help="TOML file of Kafka's security settings: security_protocol, ssl_cafile, sasl_mechanism, …"),
]  # fmt: skip
"""Which cluster's journal a command is about."""


def kafka_options(command: F) -> F:
    """Which journal, and this process's part in a cluster; see `kafka_settings`."""
    options = [
        click.option("--journal", type=click.Choice(["sqlite", "kafka"]), default="sqlite", show_default=True,
                     help="The embedded journal in the data folder, or a cluster's."),
        *CLUSTER_OPTIONS,
        click.option("--advertise", type=Address(),
                     help="Where other processes reach this one's services.  [default: as --listen]"),
        click.option("--sealing-key", type=click.Path(path_type=Path, dir_okay=False),
                     help="The key that all shoe services share.  [default: keys/shoe.key in the data folder]"),
        click.option("--session-ms", type=click.IntRange(1_000, 300_000), default=10_000, show_default=True,
                     help="How long a process may be silent before others take its tables over."),
        click.option("--heartbeat-ms", type=click.IntRange(50, 30_000), default=300, show_default=True,
                     help="How often it reports."),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def kafka_settings(options: dict[str, Any]) -> "KafkaSettings":
    """The settings that these options say; raises SettingsRefused."""
    from services.runtime.kafka_settings import KafkaSettings, read_security

    _, port = read_address(options["listen"])
    advertise = options["advertise"] or (reached_at(options["listen"], port) if port else "")
    return KafkaSettings(
        bootstrap=tuple(options["kafka"].split(",")),
        partitions=options["partitions"],
        prefix=options["prefix"],
        security=read_security(options["security"]),
        advertise=advertise,
        session_ms=options["session_ms"],
        heartbeat_ms=options["heartbeat_ms"],
    )

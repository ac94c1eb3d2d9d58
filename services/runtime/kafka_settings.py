"""Which cluster a process takes its journal from, and how it takes part in owning it.

Owns the names and ranges of these settings. Does not connect; loads Kafka's libraries only when it is asked what they need.
"""

import os
import socket
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from services.runtime.settings import SettingsRefused, read_address

if TYPE_CHECKING:
    from services.journal.kafka_cluster import Cluster
    from services.journal.kafka_layout import Layout

MOST_PARTITIONS = 1_000
SESSION_MS = 10_000
"""How long a process may be silent before its partitions go to others: the longer part of every take-over after a crash."""
HEARTBEAT_MS = 300
"""How often a process reports; also how soon it hears that partitions move, so a hand-over takes hardly longer."""


@dataclass(frozen=True, slots=True)
class KafkaSettings:
    """A journal in Kafka topics, and this process's part in it.

    `bootstrap` are the cluster's first addresses; `partitions` (1 to 1,000) is the number each topic has, `prefix` what
    stands before the topics' names. `security` takes kafka-python's names. `advertise` is the "host:port" at which other
    processes reach this one's services; empty for one that hosts none. `session_ms` (at least three times `heartbeat_ms`)
    and `heartbeat_ms` are those of the group of owners. Raises SettingsRefused.
    """

    bootstrap: tuple[str, ...]
    partitions: int
    prefix: str = ""
    security: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    advertise: str = ""
    session_ms: int = SESSION_MS
    heartbeat_ms: int = HEARTBEAT_MS

    def __post_init__(self) -> None:
        for address in (*self.bootstrap, *([self.advertise] if self.advertise else [])):
            read_address(address)
        if not self.bootstrap:
            raise SettingsRefused("a cluster needs at least one address")
        if not 1 <= self.partitions <= MOST_PARTITIONS:
            raise SettingsRefused(f"a topic has 1 to {MOST_PARTITIONS} partitions, not {self.partitions}")
        if not 50 <= self.heartbeat_ms * 3 <= self.session_ms:
            raise SettingsRefused(
                f"a session of {self.session_ms} ms does not hold three heartbeats of {self.heartbeat_ms} ms"
            )

    @property
    def cluster(self) -> "Cluster":
        """How to reach it."""
        from services.journal.kafka_cluster import Cluster

        return Cluster(self.bootstrap, dict(self.security))

    @property
    def layout(self) -> "Layout":
        """Its topics."""
        from services.journal.kafka_layout import Layout

        return Layout.standard(self.partitions, self.prefix)


def owner_name() -> str:
    """The name under which this process claims partitions: where it runs, and a part that no other life of it has."""
    return f"{socket.gethostname()}/{os.getpid()}/{uuid4().hex[:8]}"


def read_security(path: Path | None) -> Mapping[str, Any]:
    """Kafka's security settings of a TOML file, none when there is no file; raises SettingsRefused."""
    if path is None:
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsRefused(f"{path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsRefused(f"{path} is not a TOML file: {error}") from error

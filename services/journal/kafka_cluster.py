"""How this process talks to its Kafka cluster: addresses, security, and clients with the settings that were measured.

Promises: every producer is idempotent, waits for all in-sync replicas, has one request in flight and gives up by
itself; what the client library raises becomes a JournalUnavailable that says what to do. Does not send or read.
"""

import contextlib
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.errors import (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    KafkaConfigurationError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)

from services.journal.errors import JournalUnavailable
from services.journal.kafka_security import check_security, client_settings, shake_hands, why_no_answer

MAX_RECORD_BYTES = 16 * 1024 * 1024
"""The largest record: one append of at most two events of the largest size."""
FETCH_BYTES = 4 * 1024 * 1024
"""How much a reader asks of one partition at a time."""


@dataclass(frozen=True)
class Cluster:
    """A cluster by its first addresses ("host:port"), and how to log in.

    `security` takes the names of `kafka_security.KNOWN`, which are kafka-python's: `security_protocol`, `ssl_cafile`,
    `sasl_mechanism`, `sasl_plain_username`, …; empty is plain text. Raises SecurityRefused. `request_timeout_ms` is
    how long one request may take, `delivery_timeout_ms` how long a record may be on its way before its outcome counts
    as unknown.
    """

    bootstrap: tuple[str, ...]
    security: Mapping[str, Any] = field(default_factory=dict, repr=False)
    request_timeout_ms: int = 4_000
    delivery_timeout_ms: int = 8_000
    client_id: str = "holecard"

    def __post_init__(self) -> None:
        check_security(self.security)

    def producer(self) -> KafkaProducer:
        """A new producer; raises JournalUnavailable. No transactions: the client can lose a committed one in silence."""
        with self.translated():
            self._reach()
            return KafkaProducer(
                **self._common(),
                acks="all",
                enable_idempotence=True,
                max_in_flight_requests_per_connection=1,
                request_timeout_ms=self.request_timeout_ms,
                delivery_timeout_ms=self.delivery_timeout_ms,
                max_block_ms=self.request_timeout_ms,
                # Room for the record's own headers and Kafka's framing.
                max_request_size=MAX_RECORD_BYTES + 64 * 1024,
            )

    def consumer(self, *, wait_ms: int = 500) -> KafkaConsumer:
        """A new consumer without a group, whose positions are set by hand; raises JournalUnavailable.

        `wait_ms` is how long the broker may hold a request at the log's end; meanwhile this consumer cannot ask for others.
        """
        with self.translated():
            self._reach()
            return KafkaConsumer(
                **self._common(),
                group_id=None,
                enable_auto_commit=False,
                auto_offset_reset="none",
                request_timeout_ms=self.request_timeout_ms,
                fetch_max_wait_ms=wait_ms,
                max_partition_fetch_bytes=FETCH_BYTES,
                max_poll_records=500,
            )

    def group_member(self, group: str, assignor: object, *, session_ms: int, heartbeat_ms: int) -> KafkaConsumer:
        """A new consumer in a group, which shares partitions out by `assignor`; raises JournalUnavailable."""
        with self.translated():
            self._reach()
            return KafkaConsumer(
                **self._common(),
                group_id=group,
                partition_assignment_strategy=[assignor],
                enable_auto_commit=False,
                auto_offset_reset="latest",
                # A request of the group may be held for as long as its slowest member takes to come back.
                request_timeout_ms=session_ms + self.request_timeout_ms * 2,
                session_timeout_ms=session_ms,
                heartbeat_interval_ms=heartbeat_ms,
                max_poll_interval_ms=max(session_ms, 10_000),
            )

    def admin(self) -> KafkaAdminClient:
        """A new client for topics and settings; raises JournalUnavailable."""
        with self.translated():
            self._reach()
            known = KafkaAdminClient.DEFAULT_CONFIG
            settings = {name: value for name, value in self._common().items() if name in known}
            return KafkaAdminClient(**settings, request_timeout_ms=self.request_timeout_ms)

    @contextlib.contextmanager
    def translated(self) -> Iterator[None]:
        """Turn what the client library raises inside the block into a JournalUnavailable."""
        try:
            yield
        except (KafkaError, OSError) as error:
            raise self.explained(error) from error

    def explained(self, error: BaseException) -> JournalUnavailable:
        """The error to raise for a failure of the client library: what happened and what to do."""
        if isinstance(error, JournalUnavailable):
            return error
        where = ",".join(self.bootstrap)
        advice = self._why_no_bootstrap(error) or _advice(error)
        return JournalUnavailable(f"Kafka at {where}: {advice} ({type(error).__name__}: {error})")

    def _why_no_bootstrap(self, error: BaseException) -> str:
        """What the client library does not tell when it gives up beginning: it only says that it has."""
        if not isinstance(error, KafkaTimeoutError) or "bootstrap" not in str(error):
            return ""
        host, port = self._first()
        return why_no_answer(host, port, self.security, self.request_timeout_ms / 1000)

    def _first(self) -> tuple[str, int]:
        host, _, port = self.bootstrap[0].rpartition(":")
        return host.strip("[]"), int(port)

    def _reach(self) -> None:
        """Raise OSError unless some address takes a connection, and LineRefused when its TLS cannot be trusted.

        The client library, made while no broker answers, leaves a thread and its sockets behind for good.
        """
        trouble: OSError = OSError("no address is given")
        for address in self.bootstrap:
            host, _, port = address.rpartition(":")
            try:
                with socket.create_connection((host.strip("[]"), int(port)), self.request_timeout_ms / 1000) as line:
                    shake_hands(line, host.strip("[]"), self.security)
            except ValueError as error:
                raise KafkaConfigurationError(f"{address!r} is not HOST:PORT") from error
            except OSError as error:
                trouble = error
            else:
                return
        raise trouble

    def _common(self) -> dict[str, Any]:
        return {
            "bootstrap_servers": list(self.bootstrap),
            "client_id": self.client_id,
            "bootstrap_timeout_ms": self.request_timeout_ms * 2,
            "reconnect_backoff_max_ms": 500,
            "allow_auto_create_topics": False,
            "metrics_enabled": False,
            **client_settings(self.security),
        }


def _advice(error: BaseException) -> str:
    match error:
        case UnknownTopicOrPartitionError():
            return "a topic of the journal is not there: run `holecard journal create-topics`"
        case TopicAuthorizationFailedError():
            return "this user may not use the journal's topics: deploy/kafka/acls.toml says what it needs"
        case GroupAuthorizationFailedError() | ClusterAuthorizationFailedError():
            return "this user may not do this: deploy/kafka/acls.toml says what it needs"
        case KafkaConnectionError() | KafkaTimeoutError() | OSError():
            return "no broker answers: start it, or check the address and the network, then try again"
        case KafkaConfigurationError():
            return "the client's settings are refused: check the security settings"
        case _:
            return "the broker reports an error; try again, and look into its log if it stays"

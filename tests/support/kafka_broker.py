"""A real broker for tests: fetched, formatted and started by deploy/kafka/broker on free ports, ended with the tests."""

import atexit
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from uuid import uuid4

from services.journal.kafka_cluster import Cluster
from services.journal.kafka_layout import AREAS, Layout
from services.journal.kafka_topics import create
from tests.support.kafka_security import make_security

_SCRIPT = Path(__file__).parents[2] / "deploy" / "kafka" / "broker"
_LIFETIME_SECONDS = "1800"
_START_SECONDS = 90


@dataclass(frozen=True)
class Node:
    """One broker of three: its ports, and what deploy/kafka/broker is told about all of them."""

    port: int
    controller_port: int
    environment: Mapping[str, str]


class Broker:
    """One broker in a folder of its own; it can be killed and started again on the same log and ports."""

    def __init__(self, *, secure: bool = False, node: "Node | None" = None) -> None:
        """Start it; a `secure` one takes TLS and passwords only, and lets nobody do what is not granted.

        `node` says which of three it is, and is not waited for: two must run before one of them answers.
        """
        self.folder = Path(tempfile.mkdtemp(prefix="holecard-kafka-"))
        self.passwords = make_security(self.folder / "security") if secure else {}
        self._node = node
        self.port, self._controller_port = free_ports(2) if node is None else (node.port, node.controller_port)
        self._process: subprocess.Popen[bytes] | None = None
        subprocess.run([_SCRIPT, "fetch"], check=True)
        self.start()

    @property
    def cluster(self) -> Cluster:
        """How to reach it."""
        return Cluster((f"127.0.0.1:{self.port}",))

    def cluster_as(self, user: str, password: str = "") -> Cluster:
        """How a user reaches a secure one."""
        security = {
            "security_protocol": "SASL_SSL",
            "ssl_cafile": str(self.folder / "security" / "ca.pem"),
            "sasl_mechanism": "SCRAM-SHA-512",
            "sasl_plain_username": user,
            "sasl_plain_password": password or self.passwords[user],
        }
        return Cluster((f"127.0.0.1:{self.port}",), security)

    def start(self) -> None:
        """Start it, and wait until it takes connections if it is alone."""
        log = (self.folder / "broker.log").open("ab")
        with log:
            # The lifetime ends it even when the tests are killed and can end nothing any more.
            self._process = subprocess.Popen(
                ["timeout", "-s", "KILL", _LIFETIME_SECONDS, "nice", _SCRIPT, "start", self.folder, str(self.port)],
                env={
                    **os.environ,
                    "CONTROLLER_PORT": str(self._controller_port),
                    **({"SECURITY": str(self.folder / "security")} if self.passwords else {}),
                    **({} if self._node is None else self._node.environment),
                },
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        if self._node is None:
            self.wait_until_it_answers()

    def wait_until_it_answers(self) -> None:
        """Wait until it takes connections; raises RuntimeError with its log when it does not."""
        assert self._process is not None
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the broker did not start:\n{(self.folder / 'broker.log').read_text()[-4000:]}")
            time.sleep(0.05)

    def kill(self) -> None:
        """End it as a power cut would."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def signal(self, number: signal.Signals) -> None:
        """Send SIGSTOP or SIGCONT to the broker."""
        assert self._process is not None
        os.killpg(self._process.pid, number)

    def remove(self) -> None:
        """End it and delete its log."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


class ThreeBrokers:
    """Three brokers that are controllers as well, everything on each of them; any one may be away."""

    def __init__(self) -> None:
        ports = free_ports(6)
        voters = ",".join(f"{number + 1}@127.0.0.1:{ports[number + 3]}" for number in range(3))
        subprocess.run([_SCRIPT, "fetch"], check=True)
        cluster_id = subprocess.run([_SCRIPT, "cluster-id"], check=True, capture_output=True, text=True).stdout.strip()
        self.brokers: list[Broker] = []
        try:
            for number in range(3):
                told = {"NODE": str(number + 1), "VOTERS": voters, "CLUSTER_ID": cluster_id, "JAVA_OPTS": "-Xmx320m"}
                self.brokers.append(Broker(node=Node(ports[number], ports[number + 3], told)))
            for broker in self.brokers:
                broker.wait_until_it_answers()
        except BaseException:
            self.remove()
            raise

    @property
    def cluster(self) -> Cluster:
        """How to reach them."""
        return Cluster(tuple(f"127.0.0.1:{broker.port}" for broker in self.brokers))

    def remove(self) -> None:
        """End them and delete their logs."""
        for broker in self.brokers:
            broker.remove()


@cache
def shared_broker() -> Broker:
    """The broker that the tests of this process share; each test makes topics of its own."""
    broker = Broker()
    atexit.register(broker.remove)
    return broker


def new_layout(cluster: Cluster, *, partitions: int = 1, one_topic: bool = False, copies: int = 1) -> Layout:
    """A journal's topics under new names, made on the cluster; `one_topic` puts every area into a single one."""
    prefix = f"t{uuid4().hex[:12]}"
    if one_topic:
        layout = Layout(partitions, (f"{prefix}.holecard.v1",), dict.fromkeys(AREAS, 0))
    else:
        layout = Layout.standard(partitions, f"{prefix}.")
    create(cluster, layout, copies)
    return layout


def place_of(cluster: Cluster, layout: Layout) -> str:
    """The journal's place as text, for a process of its own (`tests.support.journal_writer`)."""
    areas = ",".join(f"{area}={topic}" for area, topic in layout.areas.items())
    return " ".join([",".join(cluster.bootstrap), str(layout.partitions), ",".join(layout.topics), areas])


def from_place(place: str) -> tuple[Cluster, Layout]:
    """What `place_of` wrote."""
    bootstrap, partitions, topics, areas = place.split(" ")
    numbers = {area: int(topic) for area, _, topic in (one.partition("=") for one in areas.split(","))}
    return Cluster(tuple(bootstrap.split(","))), Layout(int(partitions), tuple(topics.split(",")), numbers)


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]
    finally:
        for one in sockets:
            one.close()

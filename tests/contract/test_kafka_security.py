"""A cluster with TLS, passwords and rights: each service can do what it must and nothing else, and refusals say why."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from kafka import TopicPartition
from kafka.errors import KafkaError

from services.cli.journal import journal as journal_command
from services.journal.errors import JournalUnavailable
from services.journal.kafka_acls import GrantsUnreadable, compare, grant_all, read_grants
from services.journal.kafka_cluster import Cluster
from services.journal.kafka_journal import Claimant, KafkaJournal
from services.journal.kafka_layout import Layout
from services.journal.kafka_owners import read_owners
from services.journal.kafka_security import LineRefused, SecurityRefused
from services.journal.kafka_topics import audit, create
from tests.contract.journal_suite import events_of
from tests.support.journal_events import fill
from tests.support.kafka_broker import Broker
from tests.support.kafka_records import put
from tests.support.kafka_security import make_authority

pytestmark = pytest.mark.xdist_group("kafka-secure")

ACLS = Path(__file__).parents[2] / "deploy" / "kafka" / "acls.toml"
PREFIX = "secure."
LAYOUT = Layout.standard(1, PREFIX)
AREAS = ("shoe", "table", "wager", "case")
"""An area of each topic, in the topics' order."""


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    """A secure broker with the journal's topics, made by `ops`, and all rights granted."""
    broker = Broker(secure=True)
    try:
        grants = read_grants(ACLS, PREFIX)
        assert compare(broker.cluster_as("broker"), grants).missing == grants
        grant_all(broker.cluster_as("broker"), grants)
        create(broker.cluster_as("ops"), LAYOUT, 1)
        yield broker
    finally:
        broker.remove()


def _ends(broker: Broker) -> dict[TopicPartition, int]:
    consumer = broker.cluster_as("broker").consumer()
    ends: dict[TopicPartition, int] = consumer.end_offsets(
        [LAYOUT.kafka_partition(number) for number in LAYOUT.numbers]
    )
    consumer.close()
    return ends


async def _writes(cluster: Cluster, area: int) -> None:
    """Open as the owner of one topic's partition, append, read it back."""
    number = LAYOUT.numbers[area]
    journal = await KafkaJournal.open(cluster, LAYOUT, Claimant("one"), following=[number])
    try:
        stream = f"{AREAS[area]}:black-hawk/BJ-08"
        events = len(await events_of(journal, stream))
        await fill(journal, stream, 2, after=events)
        assert len(await events_of(journal, stream)) == events + 2
    finally:
        await journal.close()


OWN = {
    "shoe": {0},
    "table": {1},
    "wager": {2},
    "cell": {0, 1, 2},
    "surveillance": {3},
    "auditor": set(),
    "nobody": set(),
}


@pytest.mark.parametrize("user", OWN)
async def test_each_service_writes_its_own_topics_and_no_others(broker: Broker, user: str) -> None:
    cluster = broker.cluster_as(user)
    for area in sorted(OWN[user]):
        await _writes(cluster, area)
    others = [LAYOUT.numbers[area] for area in sorted(set(range(4)) - OWN[user])]
    before = _ends(broker)
    for number in others:
        with pytest.raises(KafkaError):
            put(cluster, LAYOUT, number, b"forged", [])
    assert _ends(broker) == before
    if user == "nobody":
        with pytest.raises(JournalUnavailable, match="may not use the journal's topics: deploy/kafka/acls"):
            audit(cluster, LAYOUT)


async def test_who_only_reads_reads_everything_and_owners_are_noted(broker: Broker) -> None:
    await _writes(broker.cluster_as("wager"), 2)
    for user in ("surveillance", "auditor"):
        reader = await KafkaJournal.open_read_only(broker.cluster_as(user), LAYOUT)
        assert len(await events_of(reader, "wager:black-hawk/BJ-08")) >= 2
        await reader.close()
        assert [note.owner.claim.owner for note in read_owners(broker.cluster_as(user), LAYOUT) if note.number == 2000]


async def test_what_is_another_services_cannot_be_read_either(broker: Broker) -> None:
    await _writes(broker.cluster_as("wager"), 2)
    journal = await KafkaJournal.open_read_only(broker.cluster_as("table"), LAYOUT)
    with pytest.raises(JournalUnavailable, match="TopicAuthorizationFailedError"):
        await journal.end()
    await journal.close()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"sasl_plain_password": "wrong"}, "do not let user 'shoe' in: check name, password and sasl_mechanism"),
        ({"sasl_plain_username": "stranger"}, "do not let user 'stranger' in"),
        ({"sasl_mechanism": "PLAIN"}, "do not let user 'shoe' in"),
        ({"ssl_cafile": "other-ca.pem"}, "cannot be trusted"),
        (None, "speaks TLS: give security settings with security_protocol SASL_SSL"),
    ],
    ids=["password", "user", "mechanism", "authority", "plain text"],
)
def test_who_is_not_let_in_is_told_why(
    broker: Broker, tmp_path: Path, settings: dict[str, str] | None, said: str
) -> None:
    make_authority(tmp_path / "other-ca.pem")
    security = {} if settings is None else {**broker.cluster_as("shoe").security, **settings}
    if settings is not None and "ssl_cafile" in settings:
        security["ssl_cafile"] = str(tmp_path / settings["ssl_cafile"])
    with pytest.raises(JournalUnavailable, match=said) as refused:
        audit(Cluster(broker.cluster.bootstrap, security, request_timeout_ms=1_500), LAYOUT)
    assert broker.passwords["shoe"] not in str(refused.value)


def test_a_port_without_tls_is_not_talked_to_when_tls_is_asked_for(broker: Broker) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang_up_once() -> None:
            server.accept()[0].close()

        hang_up = threading.Thread(target=hang_up_once)
        hang_up.start()
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(LineRefused, match="does not speak TLS as it is asked to"):
            audit(Cluster((address,), broker.cluster_as("shoe").security, request_timeout_ms=1_500), LAYOUT)
        hang_up.join()


@pytest.mark.parametrize(
    ("security", "said"),
    [
        ({"securty_protocol": "SSL"}, "unknown security settings securty_protocol; known are security_protocol"),
        ({"security_protocol": "TLS"}, "security_protocol is 'TLS'; it may be SASL_SSL"),
        (
            {"security_protocol": "SSL", "ssl_cafile": "/not/there.pem"},
            "ssl_cafile names /not/there.pem, which is no file",
        ),
        ({"ssl_check_hostname": True}, "has no effect with security_protocol PLAINTEXT"),
        ({"security_protocol": "SSL", "sasl_plain_username": "shoe"}, "has no effect with security_protocol SSL"),
        ({"security_protocol": "SASL_SSL"}, "SASL_SSL needs a sasl_mechanism: SCRAM-SHA-512"),
        ({"security_protocol": "SASL_SSL", "sasl_mechanism": "SCRAM-SHA-512"}, "needs sasl_plain_username and either"),
    ],
)
def test_settings_that_cannot_be_followed_are_named_before_anything_is_tried(
    security: dict[str, Any], said: str
) -> None:
    with pytest.raises(SecurityRefused, match=said):
        Cluster(("127.0.0.1:1",), security)


def _command(broker: Broker, user: str, folder: Path) -> Callable[..., Any]:
    """`holecard journal` as a user with a file of settings, whose password lies in a file of its own."""
    (folder / "password").write_text(broker.passwords[user] + "\n")
    settings = {
        name: value for name, value in broker.cluster_as(user).security.items() if name != "sasl_plain_password"
    }
    settings["sasl_plain_password_file"] = str(folder / "password")
    (folder / "security.toml").write_text(
        "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())
    )
    where = ["--kafka", broker.cluster.bootstrap[0], "--partitions", "1", "--prefix", PREFIX]

    def run(*arguments: str) -> Any:
        return CliRunner().invoke(journal_command, [*where, "--security", str(folder / "security.toml"), *arguments])

    return run


def test_the_command_takes_settings_from_a_file_and_shows_and_grants_rights(broker: Broker, tmp_path: Path) -> None:
    command = _command(broker, "ops", tmp_path)
    assert json.loads(command("audit", "--json").stdout) == {"safe": True}
    shown = command("acls", str(ACLS))
    assert (shown.exit_code, shown.stdout.startswith("All ")) == (0, True)
    more = tmp_path / "more.toml"
    more.write_text(ACLS.read_text() + '\n[users.guest]\n"topic:holecard.owners.v1" = ["Read"]\n')
    differs = command("acls", str(more), "--json")
    missing = json.loads(differs.stdout)["missing"]
    assert differs.exit_code == 1
    assert "guest: Read on topic secure.holecard.owners.v1" in missing
    assert command("acls", str(more), "--apply").exit_code == 0
    assert command("acls", str(more)).exit_code == 0
    # What the brokers know beyond a file is told, and left for somebody to decide.
    fewer = tmp_path / "fewer.toml"
    fewer.write_text('[users.guest]\n"topic:holecard.owners.v1" = ["Read"]\n')
    beyond = command("acls", str(fewer))
    assert beyond.exit_code == 1
    assert "beyond the file: User:guest from *: allow DESCRIBE on topic secure.holecard.shoe.v1" in beyond.stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("users = 1", "has \\[everybody\\] and \\[users.<name>\\] tables"),
        ("[users.a]\n'topic' = ['Read']", "'a' has 'topic'; known are"),
        ("[users.a]\n'cluster:x' = ['Alter']", "'a' has 'cluster:x'; known are"),
        ("[users.a]\n'topic:x' = ['Reed']", "'a' has 'Reed'; known are Read"),
        ("[else]", "not \\['else'\\]"),
        ("nonsense", "cannot be read as TOML"),
    ],
)
def test_a_file_of_rights_that_cannot_be_followed_is_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "acls.toml").write_text(text)
    with pytest.raises(GrantsUnreadable, match=said):
        read_grants(tmp_path / "acls.toml")

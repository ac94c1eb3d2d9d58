"""Workers of the stream on Faust: which worker folds which partitions, and being woken when records come.

Owns the Faust application. Faust gives the assignment, the wake-up and the flow, nothing else: it keeps no table (they lose
events when a second worker joins), its committed offsets are a hint only, and every record it delivers goes through the
journal's own reading rules (`folding_worker`). Importing this module imports Faust.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import faust
import structlog
from faust.streams import Stream
from faust.types import TP, EventT, StreamT

from services.journal.kafka_layout import PARTITIONS_A_TOPIC, Layout
from services.journal.kafka_records import RawRecord
from services.runtime.settings import SettingsRefused
from services.surveillance.folding_worker import FoldingWorker

FOLDED = ("shoe", "table", "wager")
"""The areas whose topics workers read."""
AT_ONCE = 200
WITHIN_SECONDS = 0.05
FETCH_BYTES = 4 * 1024 * 1024

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class FaustSettings:
    """How a worker takes part in its group: the group's name, its own folder, and how soon it counts as dead when silent."""

    group: str
    folder: Path
    session_seconds: float = 10.0


def topics_of(layout: Layout) -> tuple[str, ...]:
    """The topics that workers read."""
    return tuple(dict.fromkeys(layout.topics[layout.areas[area]] for area in FOLDED))


def faust_app(
    settings: FaustSettings,
    bootstrap: Sequence[str],
    security: Mapping[str, Any],
    layout: Layout,
    worker: FoldingWorker,
) -> faust.App:
    """The application: start it in a running event loop. Raises SettingsRefused for security it cannot do."""
    app = faust.App(
        settings.group,
        broker=[f"kafka://{address}" for address in bootstrap],
        broker_credentials=_credentials(security),
        broker_session_timeout=settings.session_seconds,
        broker_heartbeat_interval=settings.session_seconds / 5,
        broker_commit_interval=1.0,
        consumer_auto_offset_reset="earliest",
        consumer_max_fetch_size=FETCH_BYTES,
        processing_guarantee="at_least_once",
        key_serializer="raw",
        value_serializer="raw",
        store="memory://",
        datadir=str(settings.folder),
        web_enabled=False,
        topic_allow_declare=False,
        topic_disable_leader=True,
        # Bounded by records, and a record has up to 16 MB: few are enough where each holds a group commit.
        stream_buffer_maxsize=64,
        # What is under way when partitions go counts once, whoever writes it: nobody need wait for it.
        stream_wait_empty=False,
    )
    topic = app.topic(*topics_of(layout), value_type=bytes, key_type=bytes)
    numbers = {name: layout.topics.index(name) * PARTITIONS_A_TOPIC for name in topics_of(layout)}

    @app.agent(topic)
    async def fold(stream: StreamT[bytes]) -> None:
        async for events in _batches(stream):
            for number, records in _by_partition(events, numbers).items():
                await worker.take(number, records)

    @app.on_partitions_assigned.connect(weak=False)
    async def assigned(_: Any, assigned: set[TP], **__: Any) -> None:
        mine = {numbers[place.topic] + place.partition for place in assigned if place.topic in numbers}
        log.info("partitions assigned", partitions=len(mine))
        worker.take_away(worker.partitions - mine)
        worker.give(mine)

    @app.on_partitions_revoked.connect(weak=False)
    async def revoked(_: Any, revoked: set[TP], **__: Any) -> None:
        worker.take_away(numbers[place.topic] + place.partition for place in revoked if place.topic in numbers)

    return app


async def run(app: faust.App, worker: FoldingWorker, told: asyncio.Event) -> None:
    """Work until told to stop; raises RuntimeError when Faust has crashed."""
    worker.start()
    stopping = asyncio.ensure_future(told.wait())
    try:
        async with app:
            ending = asyncio.ensure_future(app.wait_until_stopped())
            await asyncio.wait({stopping, ending}, return_when=asyncio.FIRST_COMPLETED)
            ending.cancel()
            await asyncio.gather(ending, return_exceptions=True)
        if not told.is_set():
            raise RuntimeError(f"the stream worker ended: {app.crash_reason!r}")
    finally:
        stopping.cancel()
        await worker.stop()


async def _batches(stream: StreamT[bytes]) -> AsyncIterator[Sequence[EventT[bytes]]]:
    # The published type of a stream lacks what every stream has.
    whole = cast("Stream[bytes]", stream)
    async for events in whole.take_events(AT_ONCE, within=WITHIN_SECONDS):
        yield events


def _by_partition(events: Sequence[EventT[bytes]], numbers: Mapping[str, int]) -> dict[int, list[RawRecord]]:
    found: dict[int, list[RawRecord]] = {}
    for event in events:
        message = event.message
        headers = message.headers.items() if isinstance(message.headers, Mapping) else message.headers or ()
        raw = RawRecord(message.offset, [(name, value) for name, value in headers], message.value)
        found.setdefault(numbers[message.topic] + message.partition, []).append(raw)
    for records in found.values():
        records.sort(key=lambda record: record.offset)
    return found


def _credentials(security: Mapping[str, Any]) -> Any:
    """Faust's form of the security settings that the journal's client takes."""
    protocol = str(security.get("security_protocol", "PLAINTEXT")).upper()
    if protocol == "PLAINTEXT":
        return None
    context: ssl.SSLContext | None = None
    if protocol in {"SSL", "SASL_SSL"}:
        context = ssl.create_default_context(cafile=security.get("ssl_cafile"))
        context.check_hostname = bool(security.get("ssl_check_hostname", True))
        if security.get("ssl_certfile"):
            context.load_cert_chain(security["ssl_certfile"], security.get("ssl_keyfile"))
    if protocol == "SSL":
        return faust.SSLCredentials(context=context)
    if protocol in {"SASL_PLAINTEXT", "SASL_SSL"}:
        return faust.SASLCredentials(
            username=security.get("sasl_plain_username"),
            password=security.get("sasl_plain_password"),
            mechanism=security.get("sasl_mechanism", "PLAIN"),
            ssl_context=context,
        )
    raise SettingsRefused(f"workers do not know the security protocol {protocol!r}")

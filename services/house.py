"""Which rooms a process hosts, and how they find each other: in this process, or at an address over gRPC.

The one place where every room's wiring meets. Owns starting and ending a process; holds no rule and no state of the game.
"""

import asyncio
from collections.abc import Callable, Collection
from contextlib import AsyncExitStack
from functools import partial
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from typing import TYPE_CHECKING, Protocol, Self

import structlog

from services.access import ACCESS
from services.journal.errors import JournalError, JournalUnavailable
from services.journal.port import Journal, StreamHead
from services.journal.sqlite import SqliteJournal
from services.journal.writer_lock import WriterLock
from services.runtime.caller import Caller, LocalCaller, open_channel
from services.runtime.clock import Clock, SystemClock
from services.runtime.dispatch import Dispatcher
from services.runtime.door import Door
from services.runtime.entropy import Entropy, SystemEntropy
from services.runtime.journal_metrics import measured
from services.runtime.ops_server import OpsServer
from services.runtime.routing import Lines, RoutedCaller
from services.runtime.sealing import AesGcmSealer, KeyUnusable, load_or_create_key
from services.runtime.server import GrpcServer
from services.runtime.settings import SERVICES, Settings, SettingsRefused
from services.runtime.snapshots import StateSnapshots
from services.runtime.telemetry import Telemetry
from services.runtime.transport import Tls
from services.shoe import server as shoe_server
from services.shoe.client import ShoeClient
from services.table.client import TableClient
from services.table.server import Tables
from services.wager import server as wager_server
from services.wager.client import WagerClient

if TYPE_CHECKING:
    from services.runtime.kafka_settings import KafkaSettings
    from services.runtime.membership import Membership
    from services.surveillance.server import Surveillance

# The libraries of the console, surveillance and Kafka take a second to load: a process that needs none starts without them.

log = structlog.get_logger(__name__)

# Short: tables and pages try again by themselves, and show meanwhile whom they wait for.
PATIENCE_SECONDS = 5.0
LOOK_AT_JOURNAL_SECONDS = 0.5
WRITERS = frozenset({"shoe", "table", "wager"})


def version() -> str:
    """This build's version, "" when it runs from a tree that was never installed."""
    try:
        return version_of("holecard")
    except PackageNotFoundError:
        return ""


class HouseJournal(Journal, Protocol):
    """What both journals give a house besides the port."""

    @property
    def failure(self) -> JournalUnavailable | None:
        """What ended it for good; None while all is well."""
        ...


class House:
    """A running process of the house: `async with House(settings, {"shoe", "table"}) as house: …`.

    Leaving the block drains: no new request is taken, what is in hand ends, then everything closes. Raises SettingsRefused,
    PortTaken, KeyUnusable or the journal's errors when it cannot start.
    """

    def __init__(
        self,
        settings: Settings,
        hosted: Collection[str],
        *,
        clock: Clock | None = None,
        entropy: Entropy | None = None,
    ) -> None:
        unknown = sorted(set(hosted) - set(SERVICES))
        if unknown or not hosted:
            raise SettingsRefused(f"the services are {', '.join(SERVICES)}, not {', '.join(unknown) or 'none at all'}")
        self.settings = settings
        self.hosted = frozenset(hosted)
        self.telemetry = Telemetry()
        self.dispatchers: dict[str, Dispatcher] = {}
        self.grpc_port = 0
        self.console_port = 0
        self.metrics_port = 0
        self.journal: HouseJournal | None = None
        self.membership: Membership | None = None
        """This process's part in the cluster; None with the embedded journal, or when it owns nothing."""
        self.failure: JournalUnavailable | None = None
        """What made this process useless; it must end and be started again."""
        self._on_failure: Callable[[], None] = lambda: None
        self._state = "it starts"
        self._clock = clock or SystemClock()
        self._entropy = entropy or SystemEntropy()
        self.snapshots = StateSnapshots(settings.snapshots_path) if self.hosted & WRITERS else None
        self._callers: dict[str, Caller] = {}
        self._tls = Tls(settings.tls) if settings.tls else None
        self.lines = Lines(self.telemetry.registry, partial(open_channel, tls=self._tls))
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        try:
            await self._open()
        except BaseException:
            await self._stack.aclose()
            raise
        self._state = ""
        return self

    async def __aexit__(self, *_: object) -> None:
        self._state = "it drains"
        await self._stack.aclose()

    def on_failure(self, tell: Callable[[], None]) -> None:
        """Call `tell` once when the process can go on no longer; `failure` says why."""
        self._on_failure = tell

    def caller(self, service: str) -> Caller:
        """The way to a service: in this process when it is hosted here, else over gRPC to whoever owns the table."""
        if service in self._callers:
            return self._callers[service]
        local = LocalCaller(self.dispatchers) if service in self.hosted else None
        seeds = self.settings.addresses.get(service, "")
        if local is not None and self.settings.kafka is None:
            self._callers[service] = local
        elif local is None and not seeds:
            raise SettingsRefused(f"{service} is not hosted here: give its address with --{service} HOST:PORT")
        else:
            addresses = seeds.split(",") if seeds else []
            self._callers[service] = RoutedCaller(self.lines, addresses, local, patience_seconds=PATIENCE_SECONDS)
        return self._callers[service]

    async def _open(self) -> None:
        self._stack.push_async_callback(self.lines.close)
        living: list[Tables | Surveillance] = []
        tables: Tables | None = None
        if self.hosted != {"console"}:
            journal = measured(await self._open_journal(), self.telemetry.registry)
            self._begin_snapshots()
            if "shoe" in self.hosted:
                await self._host_shoe(journal)
            if "wager" in self.hosted:
                self._host_wager(journal)
            if "surveillance" in self.hosted:
                living.append(self._host_surveillance(journal))
            if "table" in self.hosted:
                tables = self._host_table(journal)
                living.append(tables)
        await self._serve_ops()
        if self.dispatchers:
            await self._serve_grpc()
        # Only now, since open rounds go on at once and need the others.
        for room in living:
            self._stack.push_async_callback(room.stop)
            try:
                # In a cluster the tables to be taken up are those of the partitions that this process is given.
                if room is not tables or self.membership is None:
                    await room.start()
            except OSError as error:
                raise SettingsRefused(f"{error.filename or self.settings.data_dir}: {error.strerror}") from error
        if self.membership is not None:
            await self._take_part(self.membership, tables)
        if "console" in self.hosted:
            await self._serve_console()

    def _begin_snapshots(self) -> None:
        if self.snapshots is not None:
            self.snapshots.start()
            self._stack.push_async_callback(self.snapshots.close)

    async def _take_part(self, membership: "Membership", tables: Tables | None) -> None:
        loading: set[asyncio.Task[None]] = set()

        async def gained(partitions: frozenset[int]) -> None:
            heads = await membership.journal.streams(partitions)
            for dispatcher in self.dispatchers.values():
                loading.add(task := asyncio.create_task(_load(dispatcher, heads)))
                task.add_done_callback(loading.discard)
            # They hold the keys by the time that anybody asks for one.
            await asyncio.sleep(0)
            if tables is not None:
                tables.take_up([head.stream for head in heads])

        async def lost(partitions: frozenset[int]) -> None:
            streams = [head.stream for head in membership.journal.heads(partitions)]
            for dispatcher in self.dispatchers.values():
                dispatcher.let_go(streams)

        membership.listen(gained, lost)
        self._stack.push_async_callback(membership.leave)
        await membership.start()

    async def _serve_grpc(self) -> None:
        door = Door(self._tls, ACCESS, self.telemetry) if self._tls else None
        server = GrpcServer(list(self.dispatchers.values()), self.settings.grpc_address, door)
        self._stack.push_async_callback(server.stop)
        await server.start()
        self.grpc_port = server.port

    async def _serve_console(self) -> None:
        from services.console.server import ConsoleServer, app
        from services.surveillance.client import SurveillanceClient

        application = app(
            SurveillanceClient(self.caller("surveillance")),
            TableClient(self.caller("table")),
            calendars=self.settings.calendars,
            clock=self._clock,
            registry=self.telemetry.registry,
        )
        console = ConsoleServer(
            application,
            self.settings.console_address,
            names=self.settings.console_names,
            tls=None if self.settings.console_plain_text else self._tls,
            registry=self.telemetry.registry,
        )
        await console.start()
        self._stack.push_async_callback(console.stop)
        self.console_port = console.port

    async def _open_journal(self) -> HouseJournal:
        if self.hosted & (WRITERS | {"surveillance"}):
            try:
                self.settings.data_dir.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise SettingsRefused(f"{self.settings.data_dir} cannot be a data folder: {error.strerror}") from error
        journal: HouseJournal
        if self.settings.kafka is not None:
            journal = await self._open_kafka(self.settings.kafka)
        elif self.hosted & WRITERS:
            journal = SqliteJournal.open(self.settings.journal_path, clock=self._clock)
        else:
            journal = SqliteJournal.open_read_only(self.settings.journal_path)
        self._stack.push_async_callback(journal.close)
        self.journal = journal
        watch = asyncio.create_task(self._watch(journal))
        self._stack.callback(watch.cancel)
        return journal

    async def _open_kafka(self, kafka: "KafkaSettings") -> HouseJournal:
        from services.journal.kafka_journal import KafkaJournal
        from services.runtime.membership import Membership

        areas, folder = self.hosted & WRITERS, self.settings.snapshots_path
        if not areas:
            return await KafkaJournal.open_read_only(kafka.cluster, kafka.layout, folder=folder)
        if not kafka.advertise:
            raise SettingsRefused("who owns partitions must be found by others: give --advertise HOST:PORT")
        following = kafka.layout.areas if "surveillance" in self.hosted else areas
        membership = await Membership.open(
            kafka,
            areas,
            following=following,
            folder=folder,
            clock=self._clock,
            build=version(),
        )
        self.membership = membership
        return membership.journal

    async def _watch(self, journal: HouseJournal) -> None:
        """A writer that failed stays failed (crash-only): better to end loudly than to answer nobody for hours."""
        while journal.failure is None:  # noqa: ASYNC110 - the writer is a thread that knows no event loop
            await asyncio.sleep(LOOK_AT_JOURNAL_SECONDS)
        self.failure = journal.failure
        log.error("the journal cannot be written any more; this process ends", reason=str(self.failure))
        self._on_failure()

    async def _host_shoe(self, journal: Journal) -> None:
        path = self.settings.sealing_key_path
        if self.settings.kafka is not None and not path.exists():
            # Made in silence, each process would have a key of its own, and no other could open its shoes.
            raise KeyUnusable(
                f"the key file {path} is missing: all shoe services of a cluster share one, given with --sealing-key; make"
                " it once with `holecard sealing-key FILE`"
            )
        if not path.exists() and any(head.stream.startswith("shoe:") for head in await journal.streams()):
            # A new key made in silence would only show at the next card, and then look like damage.
            raise KeyUnusable(
                f"the key file {path} is missing, and this journal holds shoes that are sealed under it: put it back. If it"
                " is lost for good, put 32 new random bytes there (mode 0600); a pit supervisor then abandons each shoe"
            )
        key = load_or_create_key(path, self._entropy)
        self._add(
            shoe_server.dispatcher(
                journal,
                AesGcmSealer(key, self._entropy),
                self._entropy,
                clock=self._clock,
                telemetry=self.telemetry,
                calendars=self.settings.calendars,
                snapshots=self.snapshots,
            )
        )

    def _host_wager(self, journal: Journal) -> None:
        self._add(
            wager_server.wager_dispatcher(
                journal,
                clock=self._clock,
                telemetry=self.telemetry,
                calendars=self.settings.calendars,
                snapshots=self.snapshots,
            )
        )

    def _host_table(self, journal: Journal) -> Tables:
        tables = Tables(
            journal,
            ShoeClient(self.caller("shoe")),
            WagerClient(self.caller("wager")),
            clock=self._clock,
            telemetry=self.telemetry,
            calendars=self.settings.calendars,
            snapshots=self.snapshots,
        )
        self._add(tables.dispatcher)
        return tables

    def _host_surveillance(self, journal: Journal) -> "Surveillance":
        from services.surveillance.server import Surveillance

        if not self.settings.projection:
            # Two that write one file would each take the other's rows for their own; a database tells them apart itself.
            lock = WriterLock(self.settings.projection_path, "projection")
            self._stack.callback(lock.release)
        surveillance = Surveillance(
            journal,
            self.settings.read_model,
            clock=self._clock,
            telemetry=self.telemetry,
            calendars=self.settings.calendars,
        )
        self._add(surveillance.dispatcher)
        return surveillance

    def _add(self, dispatcher: Dispatcher) -> None:
        self.dispatchers[dispatcher.service] = dispatcher

    async def _serve_ops(self) -> None:
        server = OpsServer(self.telemetry.registry, sorted(self.hosted), self._why_not_ready, self._owners)
        server.start(self.settings.metrics_address)
        self._stack.push_async_callback(server.stop)
        self.metrics_port = server.port

    def _owners(self) -> dict[str, object]:
        """What this process owns, and how it stands with the addresses that it calls."""
        owned = self.membership.described() if self.membership is not None else {}
        return {**owned, "circuits": self.lines.circuits}

    def _why_not_ready(self) -> str:
        return self._state if self.failure is None else f"it has failed: {self.failure}"


async def _load(dispatcher: Dispatcher, heads: Collection[StreamHead]) -> None:
    """Read what a service has begun to own in one go; what that does not bring is read when somebody asks for it."""
    if dispatcher.load is None:
        return
    try:
        await dispatcher.load(heads)
    except JournalError as error:
        log.warning("streams are read one by one", service=dispatcher.service, reason=str(error))

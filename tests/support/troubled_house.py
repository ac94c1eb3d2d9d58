"""A metrics endpoint under test control: a house that is well, until it is told to have a trouble.

Its figures are counted by the classes that count a real house, so that alerts meet the names and labels of the real thing.
"""

import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from prometheus_client import Counter, Gauge, ProcessCollector, start_http_server

from services.journal.kafka_journal import PartitionStatus
from services.journal.kafka_partition import Counts
from services.runtime.journal_metrics import JournalMetrics, PartitionCollector
from services.runtime.telemetry import Telemetry
from services.shoe import client as shoe
from services.surveillance import client as surveillance
from services.surveillance.metrics import Metrics
from services.table import client as table
from services.table.board import Board
from services.table.metrics import TableMetrics
from services.table.words import WaitingFor
from services.wager import client as wager

SERVICES = (shoe.SERVICE, table.SERVICE, wager.SERVICE, surveillance.SERVICE)
TOPIC = "holecard.table.v1"
BEAT_SECONDS = 0.05


class _Scene(Board):
    """A board that shows what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.open = 1
        self.waits: set[WaitingFor] = set()

    def waiting(self, whom: WaitingFor) -> int:
        return int(whom in self.waits)

    def open_rounds(self) -> int:
        return self.open


class TroubledHouse:
    """`with TroubledHouse() as house:` serves at `house.address`; `house.troubles` are what it suffers now, by alert."""

    def __init__(self) -> None:
        self.troubles: set[str] = set()
        self.telemetry = telemetry = Telemetry()
        self.registry = registry = telemetry.registry
        for service in SERVICES:
            telemetry.host(service)
        self._journal = JournalMetrics(registry)
        self._surveillance = Metrics(registry)
        self._scene = _Scene()
        self._tables = TableMetrics(telemetry, self._scene)
        self._counts = Counts(claims=100, void=7)
        registry.register(PartitionCollector(self._partitions))
        # These two are made inside their rooms; test_alerts holds that a real house has metrics of these names.
        self._escrow = Gauge("holecard_wager_escrow_cents", "Stakes in play.", registry=registry)
        self._unbalanced = Counter("holecard_shoes_unbalanced_total", "Shoes that do not add up.", registry=registry)
        self._own_process()
        self._beats = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._live, daemon=True)

    def __enter__(self) -> Self:
        self._server, self._serving = start_http_server(0, "127.0.0.1", self.registry)
        self.address = f"127.0.0.1:{self._server.server_port}"
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()
        self._server.shutdown()
        self._server.server_close()
        self._serving.join()

    def _own_process(self) -> None:
        """Gauges in place of what the collector reads of this test's own process."""
        (collector,) = [one for one in self.registry._collector_to_names if isinstance(one, ProcessCollector)]
        self.registry.unregister(collector)
        self._started = Gauge("process_start_time_seconds", "Start.", registry=self.registry)
        self._files = Gauge("process_open_fds", "Files.", registry=self.registry)
        Gauge("process_max_fds", "Most files.", registry=self.registry).set(1_000)

    def _partitions(self) -> Sequence[PartitionStatus]:
        owned = "HolecardPartitionUnowned" not in self.troubles
        stopped = "a foreign record" if "HolecardPartitionStopped" in self.troubles else ""
        return [PartitionStatus(1_000, TOPIC, 0, 1, None, self._counts, 9, stopped, owned, 9, 1.0)]

    def _live(self) -> None:
        while not self._ended.wait(BEAT_SECONDS):
            self._beats += 1
            self._answer_requests()
            self._append()
            self._show()

    def _suffers(self, alert: str) -> bool:
        return alert in self.troubles

    def _answer_requests(self) -> None:
        for service, ill, status in (
            (shoe.SERVICE, "HolecardRequestsFailing", "failed"),
            (wager.SERVICE, "HolecardRequestsUnavailable", "unavailable"),
            (surveillance.SERVICE, "HolecardRefusalsHigh", "refused"),
            (table.SERVICE, "", ""),
        ):
            for turn in range(2):
                with self.telemetry.request(service, "Ask") as measure:
                    measure.status = status if self._suffers(ill) and turn else "ok"
        slow = self._suffers("HolecardRequestsSlow")
        self.telemetry.latency.labels(table.SERVICE, "Act").observe(0.6 if slow else 0.002)
        # A page that somebody looks at for an hour is nothing slow.
        self.telemetry.latency.labels(table.SERVICE, "WatchTable").observe(3_600)

    def _append(self) -> None:
        self._journal.appends.labels("table").observe(0.4 if self._suffers("HolecardAppendsSlow") else 0.002)
        # A lost race and an event that is too large are nothing wrong with the journal.
        self._journal.failures.labels("table", "SequenceConflict").inc()
        if self._suffers("HolecardAppendsFailing"):
            self._journal.failures.labels("table", "JournalUnavailable").inc()
        self._counts.claims += self._suffers("HolecardPartitionContested")
        self._counts.void += self._suffers("HolecardVoidBatches")

    def _show(self) -> None:
        play = self._tables._rounds.inc
        self._scene.waits = {
            whom
            for whom, alert in (
                (WaitingFor.SHOE, "HolecardTablesWait"),
                (WaitingFor.SUPERVISOR, "HolecardTablesWaitForSupervisor"),
            )
            if self._suffers(alert)
        }
        stakes_without_round = self._suffers("HolecardStakesWithoutRound")
        self._scene.open = 0 if stakes_without_round else 1
        self._escrow.set(2_500)
        if not self._suffers("HolecardPlayStands"):
            play()
        if self._suffers("HolecardLawBroken"):
            self._surveillance.findings.labels("L1").inc()
        if self._suffers("HolecardShoeUnbalanced"):
            self._unbalanced.inc()
        self._surveillance.lag_seconds.set(30 if self._suffers("HolecardSurveillanceBehind") else 0.1)
        self._files.set(900 if self._suffers("HolecardFilesRunningOut") else 100)
        self._started.set(self._beats // 20 if self._suffers("HolecardRestarting") else 1)

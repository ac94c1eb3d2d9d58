"""What ops sees of the tables: rounds, time-outs, and how many tables wait for whom.

Label values are bounded: never a table, patron or round.
"""

from collections.abc import Iterable
from functools import partial

from prometheus_client import Counter, Gauge

from services.game.round_events import RoundCompleted
from services.runtime.telemetry import Telemetry
from services.table import events as e
from services.table.board import Board
from services.table.words import WaitingFor


class TableMetrics:
    """The table service's own figures, in the process's registry; how things stand now is asked of `board`."""

    def __init__(self, telemetry: Telemetry, board: Board) -> None:
        registry = telemetry.registry
        self._rounds = Counter("holecard_table_rounds_total", "Rounds that were completed.", registry=registry)
        self._time_outs = Counter(
            "holecard_table_decision_timeouts_total", "Questions that the system answered.", registry=registry
        )
        self._suspensions = Counter("holecard_table_suspensions_total", "Times that play stopped.", registry=registry)
        self._released = Counter(
            "holecard_table_stakes_released_total", "Holds given back that no wager stood for.", registry=registry
        )
        gauge = Gauge(
            "holecard_tables_waiting", "Tables that cannot go on, by whom they wait for.", ("whom",), registry=registry
        )
        for whom in WaitingFor:
            if whom is not WaitingFor.NOBODY:
                gauge.labels(whom.value).set_function(partial(board.waiting, whom))
        Gauge("holecard_table_open_rounds", "Rounds in play now.", registry=registry).set_function(board.open_rounds)

    def count(self, events: Iterable[e.TableEvent]) -> None:
        """Take note of what was recorded."""
        for event in events:
            match event:
                case RoundCompleted():
                    self._rounds.inc()
                case e.DecisionTimedOut():
                    self._time_outs.inc()
                case e.TableSuspended():
                    self._suspensions.inc()
                case e.StakesReleased():
                    self._released.inc(len(event.holds))
                case _:
                    pass

"""Structured logs and Prometheus metrics, the same for every service.

Label values are bounded: procedures, status words and the names of rejections; never a table, patron or round.
"""

import logging
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter
from typing import Self, TextIO, cast

import structlog
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    Info,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)

_Series = tuple[Gauge, Histogram]
# When each series began is known from the process's start time; a second gauge for each would double what Prometheus keeps.
disable_created_metrics()  # type: ignore[no-untyped-call]  # prometheus_client has no types for it

LATENCY_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


def configure_logging(level: str = "info", *, as_json: bool = False) -> None:
    """Send structured lines to stderr, one event each; `level` is debug, info, warning or error."""
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if as_json
        else structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(),
            # The default one prints every local variable: it takes a second each, and would tell sealed cards and keys.
            exception_formatter=structlog.dev.plain_traceback,
        )
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(cast("TextIO", _Lasting(sys.stderr))),
        cache_logger_on_first_use=False,
    )


class _Lasting:
    """A stream whose end is nobody's failure: when stderr's reader has gone, the house plays on without a log."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write what can be written."""
        with suppress(OSError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Pass it on, if somebody is there."""
        with suppress(OSError, ValueError):
            self._stream.flush()


def running_version() -> str:
    """The version that is installed, "unknown" in a checkout that is run without being installed."""
    try:
        return version("holecard")
    except PackageNotFoundError:
        return "unknown"


class Telemetry:
    """The metrics of one process, in a registry of its own so that tests can run several houses.

    The process itself is among them: memory, processor time, open files, garbage collection, build.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        Info("holecard_build", "The Holecard that runs here.", registry=self.registry).info(
            {"version": running_version()}
        )
        self.requests = Counter(
            "holecard_requests_total",
            "Requests answered, by status word.",
            ("service", "procedure", "status"),
            registry=self.registry,
        )
        self.refusals = Counter(
            "holecard_refusals_total",
            "Commands refused, by the name of the broken rule.",
            ("service", "rejection"),
            registry=self.registry,
        )
        self.latency = Histogram(
            "holecard_request_duration_seconds",
            "Time from a request's arrival to its answer.",
            ("service", "procedure"),
            buckets=LATENCY_SECONDS,
            registry=self.registry,
        )
        self.in_flight = Gauge(
            "holecard_requests_in_flight", "Requests being worked on.", ("service",), registry=self.registry
        )

        self._series: dict[tuple[str, str], _Series] = {}
        self._counts: dict[tuple[str, str, str], Counter] = {}

    def host(self, service: str) -> None:
        """Show that this process hosts the service, before anybody has asked it anything."""
        self.in_flight.labels(service)

    def request(self, service: str, procedure: str) -> "Measure":
        """Measure one request in a `with` block; the block sets `status` on what it is given."""
        series = self._series.get((service, procedure))
        if series is None:
            in_flight = self.in_flight.labels(service)
            series = self._series[service, procedure] = (in_flight, self.latency.labels(service, procedure))
        return Measure(self, service, procedure, series)

    def count(self, service: str, procedure: str, status: str) -> None:
        """Count one answer."""
        # Looking a label set up costs more than counting, so each is looked up once.
        key = (service, procedure, status)
        counter = self._counts.get(key)
        if counter is None:
            counter = self._counts[key] = self.requests.labels(service, procedure, status)
        counter.inc()


class Measure:
    """One request being measured. `status` says how it went, in one word: ok, refused, redirected, unavailable, failed."""

    __slots__ = ("_procedure", "_series", "_service", "_started", "_telemetry", "status")

    def __init__(self, telemetry: Telemetry, service: str, procedure: str, series: _Series) -> None:
        self.status = "failed"
        self._telemetry = telemetry
        self._service = service
        self._procedure = procedure
        self._series = series
        self._started = 0.0

    def __enter__(self) -> Self:
        self._series[0].inc()
        self._started = perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        in_flight, latency = self._series
        in_flight.dec()
        latency.observe(perf_counter() - self._started)
        self._telemetry.count(self._service, self._procedure, self.status)

"""What surveillance tells Prometheus: how far it is, and what it found. Label values are the twelve laws, nothing else."""

from prometheus_client import CollectorRegistry, Counter, Gauge

from services.surveillance.laws import LAWS


class Metrics:
    """The metrics of one surveillance service in `registry`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.projected = Counter(
            "holecard_surveillance_events_projected_total", "Events written to the read model.", registry=registry
        )
        self.audited = Counter(
            "holecard_surveillance_events_audited_total", "Events held to the laws.", registry=registry
        )
        self.duplicates = Counter(
            "holecard_surveillance_duplicates_total", "Events that came again and were ignored.", registry=registry
        )
        self.gaps = Counter(
            "holecard_surveillance_gaps_total", "Gaps in a stream, seen and read again.", registry=registry
        )
        self.findings = Counter(
            "holecard_surveillance_findings_total", "New findings, by law.", ("law",), registry=registry
        )
        self.lag_events = Gauge(
            "holecard_surveillance_lag_events", "Events of the journal not in the read model.", registry=registry
        )
        self.lag_seconds = Gauge(
            "holecard_surveillance_lag_seconds",
            "For how long something has been in the journal that is not in the read model.",
            registry=registry,
        )
        self.leading = Gauge(
            "holecard_surveillance_leading", "1 when this process projects, 0 when it stands by.", registry=registry
        )
        self.open_rounds = Gauge(
            "holecard_surveillance_open_rounds", "Rounds in play, by phase.", ("phase",), registry=registry
        )
        self.stuck_rounds = Gauge(
            "holecard_surveillance_stuck_rounds", "Rounds that have not gone on for too long, by phase.", ("phase",),
            registry=registry,
        )  # fmt: skip
        for law in LAWS:
            self.findings.labels(law.id)

"""What the page on health shows: how far surveillance is behind the journal, and who owns its partitions."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class OwnerView:
    """A partition of a cluster's journal: its place, who owns it since when, what is behind; `stopped` is "" when well."""

    place: str
    owner: str
    address: str
    epoch: int
    claimed_time_us: int
    records_behind: int
    snapshot_age_us: int | None
    stopped: str


@dataclass(frozen=True, slots=True)
class HealthView:
    """How far surveillance is behind the journal. `lag_ms` and `lag_events` are None where unknown.

    `owners` are the partitions of a cluster's journal; with the embedded one `partitions` tell the positions. Times are
    shown in `zone`.
    """

    available: bool
    reason: str = ""
    applied_events: int = 0
    lag_events: int | None = None
    lag_ms: int | None = None
    facts: tuple[tuple[str, str], ...] = field(default=())
    partitions: tuple[tuple[int, int, int], ...] = field(default=())
    owners: tuple[OwnerView, ...] = field(default=())
    zone: str = "UTC"

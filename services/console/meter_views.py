"""What the page of meters shows, as plain records, filled from surveillance's reply.

Owns the shape of its rows. Money is integer cents, times µs. Computes nothing and calls nobody.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MeterLine:
    """The meters of a floor, of a table, or of a dealer at a table; `name` is what the line is of."""

    name: str
    gaming_day: str
    rounds: int
    hands: int
    rounds_per_hour: int
    dealing_us: int
    handle_cents: int = 0
    win_cents: int = 0
    drop_cents: int = 0
    irregularities: int = 0
    timeouts: int = 0
    table: str = ""


@dataclass(frozen=True, slots=True)
class StuckView:
    """A round that has been still for `still_us`, where its phase may last `limit_us`."""

    round_id: str
    table: str
    phase: str
    still_us: int
    limit_us: int


@dataclass(frozen=True, slots=True)
class MetersView:
    """Everything the page shows; `reason` says why nothing is known, "" when it is.

    `lag_ms` and `lag_events` are how far surveillance's read model is behind the log, None where unknown; `open_rounds` is
    None for a visitor who does not see all floors.
    """

    floors: tuple[MeterLine, ...] = ()
    tables: tuple[MeterLine, ...] = ()
    dealers: tuple[MeterLine, ...] = ()
    stuck: tuple[StuckView, ...] = ()
    open_rounds: int | None = 0
    lag_events: int | None = None
    lag_ms: int | None = None
    reason: str = ""

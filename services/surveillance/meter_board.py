"""The meters as people read them: by floor, table and dealer, with hold and pace worked out, and the stuck rounds.

Owns the reply of `GetMeters`. Each floor is shown on its own newest gaming day.
"""

from fractions import Fraction
from typing import Any

from sqlalchemy import Connection

from services.surveillance.meter_queries import figures_by, latest_days, open_rounds
from services.surveillance.meters import NAMES, Figures
from services.surveillance.replies import MeterBoard, MeterRow, StuckRoundView
from services.surveillance.stuck import stuck_rounds


def meter_board(connection: Connection, now_us: int, *, floor: str = "", table: str = "") -> MeterBoard:
    """The meters of a floor, of all floors, or of one table."""
    floors: list[MeterRow] = []
    tables: list[MeterRow] = []
    dealers: list[MeterRow] = []
    wanted = floor or table.partition("/")[0]
    for name, day in sorted(latest_days(connection).items()):
        if wanted and name != wanted:
            continue
        here: dict[str, Any] = {"floor": name, "gaming_day": day}
        floors += [
            _row(figures, **here) for figures in figures_by(connection, ("floor",), floor=name, gaming_day=day).values()
        ]
        for (key,), figures in figures_by(connection, ("table_key",), floor=name, gaming_day=day).items():
            if table in {"", key}:
                tables.append(_row(figures, table=key, **here))
        for (key, dealer), figures in figures_by(
            connection, ("table_key", "dealer"), floor=name, gaming_day=day
        ).items():
            if dealer and figures.rounds and table in {"", key}:
                dealers.append(_row(figures, table=key, dealer=dealer, **here))
    rounds = [one for one in open_rounds(connection, wanted) if table in {"", one.table}]
    stuck = tuple(
        StuckRoundView(one.round_id, one.table, one.phase, one.still_us, one.limit_us)
        for one in stuck_rounds(rounds, now_us)
    )
    return MeterBoard(tuple(floors), tuple(tables), tuple(dealers), stuck, len(rounds))


def _row(figures: Figures, *, floor: str, gaming_day: str, table: str = "", dealer: str = "") -> MeterRow:
    counted: dict[str, int] = {name: getattr(figures, name) for name in NAMES}
    hold: Fraction | None = figures.hold
    return MeterRow(
        floor=floor, gaming_day=gaming_day, table=table, dealer=dealer, **counted, hold=hold,
        win_per_handle=figures.win_per_handle, rounds_per_hour=figures.rounds_per_hour,
    )  # fmt: skip

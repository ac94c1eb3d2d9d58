"""Questions to the meters: of tables, floors and dealers on a gaming day, and the rounds in play.

Owns the SQL of reading them. Each function takes a connection and answers from one moment.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, func, select

from services.surveillance.meters import NAMES, Figures
from services.surveillance.schema import meter_streams, meters
from services.surveillance.stuck import SUSPENDED, OpenRound


def latest_days(connection: Connection) -> dict[str, str]:
    """The newest gaming day of each floor: two floors may be in different ones."""
    days = select(meters.c.floor, func.max(meters.c.gaming_day)).group_by(meters.c.floor)
    return {floor: day for floor, day in connection.execute(days)}  # noqa: C416 - a row is no pair for the type checker


def figures_by(
    connection: Connection, columns: Sequence[str], *, floor: str = "", gaming_day: str = ""
) -> dict[tuple[str, ...], Figures]:
    """The sums by these columns of `meters` ("floor", "table_key", "dealer", "gaming_day"), in their order."""
    keys = [meters.c[name] for name in columns]
    # PostgreSQL's sums are exact decimals; what is added up are whole cents.
    wanted = select(*keys, *(func.sum(meters.c[name]) for name in NAMES)).group_by(*keys).order_by(*keys)
    if floor:
        wanted = wanted.where(meters.c.floor == floor)
    if gaming_day:
        wanted = wanted.where(meters.c.gaming_day == gaming_day)
    return {
        tuple(row[: len(keys)]): Figures(*(int(value) for value in row[len(keys) :]))
        for row in connection.execute(wanted)
    }


def open_rounds(connection: Connection, floor: str = "") -> tuple[OpenRound, ...]:
    """Every round in play, by id."""
    wanted = select(meter_streams).where(meter_streams.c.round_id != "").order_by(meter_streams.c.round_id)
    if floor:
        wanted = wanted.where(meter_streams.c.floor == floor)
    return tuple(_open_round(row) for row in connection.execute(wanted).mappings())


def _open_round(row: Any) -> OpenRound:
    phase = SUSPENDED if row["suspended"] else row["phase"]
    return OpenRound(row["round_id"], row["table_key"], phase, row["moved_time_us"], row["seated"])

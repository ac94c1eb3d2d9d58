"""The page of meters from surveillance's replies."""

from services.console.meter_views import MeterLine, MetersView, StuckView
from services.surveillance import client as surveillance


def meters_view(board: surveillance.MeterBoard, lag: surveillance.Lag) -> MetersView:
    """What the page shows of these replies."""
    return MetersView(
        floors=tuple(_line(row, row.floor) for row in board.floors),
        tables=tuple(_line(row, row.table) for row in board.tables),
        dealers=tuple(_line(row, row.dealer) for row in board.dealers),
        stuck=tuple(StuckView(one.round_id, one.table, one.phase, one.still_us, one.limit_us) for one in board.stuck),
        open_rounds=board.open_rounds,
        lag_events=lag.lag_events,
        lag_ms=lag.lag_us // 1_000,
    )


def _line(row: surveillance.MeterRow, name: str) -> MeterLine:
    return MeterLine(
        name=name,
        gaming_day=row.gaming_day,
        rounds=row.rounds,
        hands=row.hands,
        rounds_per_hour=row.rounds_per_hour,
        dealing_us=row.dealing_us,
        handle_cents=row.handle_cents,
        win_cents=row.win_cents,
        drop_cents=row.drop_cents,
        irregularities=row.irregularities,
        timeouts=row.timeouts,
        table=row.table,
    )

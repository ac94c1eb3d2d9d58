"""Questions to the read model: rounds that fit, tables as they stand, findings.

Owns the SQL of reading. Pages go by keys, not by counting, so that rounds played meanwhile neither repeat nor hide a
row. Each function takes a connection and answers from one moment.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from sqlalchemy import Connection, Select, and_, func, or_, select

from services.game.cards import Card
from services.game.rejections import Rejection
from services.surveillance import schema
from services.surveillance.facts import AREAS
from services.surveillance.laws import LAWS
from services.surveillance.replaying import Whereabouts
from services.surveillance.replies import (
    FindingList,
    FindingView,
    HandSummary,
    ListFindings,
    ListRounds,
    RoundList,
    RoundSummary,
    SeatOverview,
    TableOverview,
)
from services.surveillance.round_search import conditions
from services.surveillance.scene import read_rules

LIMIT = 50
MOST = 500
MOST_COUNTED = 100_000
HOUR_US = 3_600_000_000
MINUTE_US = 60_000_000

_TITLES = {law.id: law.title for law in LAWS}


class QueryOutOfRange(Rejection):
    """A page size, cursor or number that a question cannot have."""

    rule = "surveillance"
    remedy = "Ask for 1 to 500 rows, and give the cursor of the page before unchanged."


def list_rounds(connection: Connection, table: str, query: ListRounds) -> RoundList:
    """One page of rounds, newest first; raises QueryOutOfRange or SearchNotUnderstood."""
    limit = _limit(query.limit)
    if query.skip < 0:
        raise QueryOutOfRange(f"{query.skip} rows cannot be passed over", skip=query.skip)
    rounds = schema.rounds
    fitting = conditions(table, query)
    some = select(rounds.c.round_id).where(*fitting).limit(MOST_COUNTED).subquery()
    total = connection.execute(select(func.count()).select_from(some)).scalar_one()
    wanted = select(rounds).where(*fitting)
    if query.cursor:
        time_us, round_id = _cursor(query.cursor)
        wanted = wanted.where(
            or_(
                rounds.c.opened_time_us < time_us,
                and_(rounds.c.opened_time_us == time_us, rounds.c.round_id < round_id),
            )
        )
    wanted = wanted.order_by(rounds.c.opened_time_us.desc(), rounds.c.round_id.desc()).offset(query.skip)
    found = connection.execute(wanted.limit(limit + 1)).mappings().all()
    page = found[:limit]
    more = len(found) > limit
    cursor = f"{page[-1]['opened_time_us']}|{page[-1]['round_id']}" if more else ""
    return RoundList(tuple(_summaries(connection, page)), cursor, total)


def round_row(connection: Connection, round_id: str) -> Any:
    """The row of a round, None when it is not known."""
    return connection.execute(select(schema.rounds).where(schema.rounds.c.round_id == round_id)).mappings().first()


def whereabouts(connection: Connection, row: Any) -> Whereabouts:
    """Where the events of a round stand, given its row."""
    events = schema.events.c
    ranges = connection.execute(
        select(events.stream, func.min(events.sequence), func.max(events.sequence))
        .where(events.round_id == row["round_id"])
        .group_by(events.stream)
    )
    stream = f"table:{row['table_key']}"
    before = (events.stream == stream, events.sequence < row["first_sequence"])
    last = (
        connection.execute(select(func.max(events.sequence)).where(*before, events.name.in_(names))).scalar()
        for names in (("RulesPosted", "LimitsChanged"), ("TableOpened", "DealerChanged"))
    )
    return Whereabouts(
        {stream: (first, last) for stream, first, last in ranges}, tuple(sorted(at for at in last if at is not None))
    )


def neighbours(connection: Connection, table: str, number: int) -> tuple[str, str]:
    """The ids of a table's rounds before and after the one with this number; "" where there is none."""
    rounds = schema.rounds
    of_table = select(rounds.c.round_id).where(rounds.c.table_key == table)
    before = of_table.where(rounds.c.number < number).order_by(rounds.c.number.desc()).limit(1)
    after = of_table.where(rounds.c.number > number).order_by(rounds.c.number).limit(1)
    return connection.execute(before).scalar() or "", connection.execute(after).scalar() or ""


def table_overviews(
    connection: Connection, now_us: int, *, floor: str = "", keys: Sequence[str] | None = None
) -> tuple[TableOverview, ...]:
    """Tables by key: of a floor, of all floors, or of the given keys."""
    tables = schema.tables
    wanted = select(tables).order_by(tables.c.table_key)
    if floor:
        wanted = wanted.where(tables.c.floor == floor)
    if keys is not None:
        wanted = wanted.where(tables.c.table_key.in_(keys))
    rows = connection.execute(wanted).mappings().all()
    names = [row["table_key"] for row in rows]
    seats: defaultdict[str, list[SeatOverview]] = defaultdict(list)
    taken = select(schema.seats).where(schema.seats.c.table_key.in_(names)).order_by(schema.seats.c.seat)
    for row in connection.execute(taken).mappings():
        seats[row["table_key"]].append(SeatOverview(**{name: row[name] for name in SeatOverview.__slots__}))
    pace = _pace(connection, names, now_us)
    events = _events(connection, names)
    findings = _counts(connection, schema.findings.c.table_key, names)
    return tuple(
        _overview(
            row,
            now_us,
            seats=tuple(seats[row["table_key"]]),
            rounds_per_hour=pace.get(row["table_key"], 0),
            findings=findings.get(row["table_key"], 0),
            events=events.get(row["table_key"], 0),
        )
        for row in rows
    )


def list_findings(connection: Connection, table: str, query: ListFindings) -> FindingList:
    """One page of findings, newest first; raises QueryOutOfRange."""
    limit = _limit(query.limit)
    findings = schema.findings
    conditions = [
        column == value
        for column, value in (
            (findings.c.table_key, table),
            (findings.c.law, query.law),
            (findings.c.round_id, query.round_id),
        )
        if value
    ]
    if query.floor:
        conditions.append(findings.c.table_key.like(f"{_escaped(query.floor)}/%", escape="\\"))
    total = connection.execute(select(func.count()).select_from(findings).where(*conditions)).scalar_one()
    wanted = select(findings).where(*conditions)
    if query.cursor:
        time_us, name = _cursor(query.cursor)
        wanted = wanted.where(
            or_(
                findings.c.recorded_time_us < time_us,
                and_(findings.c.recorded_time_us == time_us, findings.c.id < name),
            )
        )
    wanted = wanted.order_by(findings.c.recorded_time_us.desc(), findings.c.id.desc()).limit(limit + 1)
    found = connection.execute(wanted).mappings().all()
    page = found[:limit]
    cursor = f"{page[-1]['recorded_time_us']}|{page[-1]['id']}" if len(found) > limit else ""
    return FindingList(tuple(finding_view(row) for row in page), cursor, total)


def finding_view(row: Any) -> FindingView:
    """A row of `findings` with the law's title."""
    return FindingView(
        id=row["id"],
        law=row["law"],
        title=_TITLES.get(row["law"], ""),
        stream=row["stream"],
        sequence=row["sequence"],
        table=row["table_key"],
        round_id=row["round_id"],
        reason=row["reason"],
        recorded_time_us=row["recorded_time_us"],
    )


def _summaries(connection: Connection, page: Sequence[Any]) -> Iterable[RoundSummary]:
    names = [row["round_id"] for row in page]
    hands: defaultdict[str, list[HandSummary]] = defaultdict(list)
    wanted: Select[Any] = select(schema.hands).where(schema.hands.c.round_id.in_(names))
    for row in connection.execute(wanted.order_by(schema.hands.c.seat, schema.hands.c.hand)).mappings():
        values = {name: row[name] for name in HandSummary.__slots__}
        hands[row["round_id"]].append(HandSummary(**values | {"cards": cards_of(row["cards"])}))
    findings = _counts(connection, schema.findings.c.round_id, names)
    for row in page:
        status = "open" if not row["complete"] else "voided" if row["voided"] else "complete"
        values = {name: row[name] for name in RoundSummary.__slots__ if name in row}
        values |= {"table": row["table_key"], "status": status, "dealer_cards": cards_of(row["dealer_cards"])}
        values |= {"hands": tuple(hands[row["round_id"]]), "findings": findings.get(row["round_id"], 0)}
        yield RoundSummary(**values)


def cards_of(text: str) -> tuple[Card, ...]:
    """The cards of a searchable text."""
    return tuple(Card.parse(word) for word in text.split())


def _overview(row: Any, now_us: int, **beside: Any) -> TableOverview:
    rules = read_rules(row["rules_text"])
    win, drop, handle, hands = (
        row["day_win_cents"],
        row["day_drop_cents"],
        row["day_handle_cents"],
        row["day_hands"],
    )
    values = {name: row[name] for name in TableOverview.__slots__ if name in row}
    return TableOverview(
        **values
        | beside
        | {
            "table": row["table_key"],
            "seats_open": rules.max_seats if rules is not None else 0,
            "rounds": row["day_rounds"],
            "hands": hands,
            "handle_cents": handle,
            "win_cents": win,
            "drop_cents": drop,
            "hold": Fraction(win, drop) if drop else None,
            "win_per_handle": Fraction(win, handle) if handle else None,
            "average_wager_cents": handle // hands if hands else 0,
            "last_event_age_us": max(0, now_us - row["last_event_time_us"]),
        }
    )


def _pace(connection: Connection, names: Sequence[str], now_us: int) -> dict[str, int]:
    """Rounds an hour by table: of the last hour, or of the part of it since the first round in it."""
    rounds = schema.rounds
    rows = connection.execute(
        select(rounds.c.table_key, func.count(), func.min(rounds.c.opened_time_us))
        .where(rounds.c.table_key.in_(names), rounds.c.opened_time_us > now_us - HOUR_US)
        .group_by(rounds.c.table_key)
    )
    return {key: count * HOUR_US // max(now_us - first, MINUTE_US) for key, count, first in rows}


def _events(connection: Connection, names: Sequence[str]) -> dict[str, int]:
    """How many events each table's three streams hold: sequences have no gaps, so the last one counts them."""
    streams = schema.streams.c
    wanted = [f"{area}:{name}" for name in names for area in AREAS]
    found = dict.fromkeys(names, 0)
    for stream, sequence in connection.execute(
        select(streams.stream, streams.sequence).where(streams.stream.in_(wanted))
    ):
        found[stream.partition(":")[2]] += sequence
    return found


def _counts(connection: Connection, column: Any, names: Sequence[str]) -> dict[str, int]:
    rows = connection.execute(select(column, func.count()).where(column.in_(names)).group_by(column))
    return {name: count for name, count in rows}  # noqa: C416 - a row is no pair for the type checker


def _limit(asked: int) -> int:
    if not 0 <= asked <= MOST:
        raise QueryOutOfRange(f"{asked} rows at once", limit=asked)
    return asked or LIMIT


def _cursor(text: str) -> tuple[int, str]:
    time_us, bar, name = text.partition("|")
    if not bar or not time_us.isdecimal():
        raise QueryOutOfRange(f"{text[:80]!r} is not a cursor", cursor=text[:80])
    return int(time_us), name


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")

"""The read model's first shape under migrations: rounds, hands, tables, seats, findings, and where each stream stands.

Frozen: it says what this revision made, not what the build has now (that is `schema`).
"""

from alembic import op
from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, MetaData, String, Table, insert
from sqlalchemy.dialects.postgresql import VARCHAR

revision = "0001"
down_revision = None

Name = String().with_variant(VARCHAR(collation="C"), "postgresql")
_shape = MetaData()

_meta = Table("meta", _shape, Column("name", Name, primary_key=True), Column("value", Name, nullable=False))

Table(
    "positions",
    _shape,
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("offset", BigInteger, nullable=False),
)

Table(
    "streams",
    _shape,
    Column("stream", Name, primary_key=True),
    Column("sequence", BigInteger, nullable=False),
    Column("hash", Name, nullable=False),
    Column("recorded_time_us", BigInteger, nullable=False),
)

Table(
    "events",
    _shape,
    Column("stream", Name, primary_key=True),
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    Column("table_key", Name, nullable=False),
    Column("name", Name, nullable=False),
    Column("round_id", Name, nullable=False),
    Column("actor_role", Name, nullable=False),
    Column("actor_id", Name, nullable=False),
    Column("gaming_day", Name, nullable=False),
    Column("occurred_time_us", BigInteger, nullable=False),
    Column("recorded_time_us", BigInteger, nullable=False),
    Index("events_of_round", "round_id", "stream", "sequence"),
    Index("events_by_name", "stream", "name", "sequence"),
)

Table(
    "rounds",
    _shape,
    Column("round_id", Name, primary_key=True),
    Column("table_key", Name, nullable=False),
    Column("floor", Name, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("gaming_day", Name, nullable=False),
    Column("opened_time_us", BigInteger, nullable=False),
    Column("ended_time_us", BigInteger, nullable=False),
    Column("complete", Boolean, nullable=False),
    Column("voided", Boolean, nullable=False),
    Column("suspended", Boolean, nullable=False),
    Column("dealer", Name, nullable=False),
    Column("shoe_id", Name, nullable=False),
    Column("rules_name", Name, nullable=False),
    Column("rules_version", Integer, nullable=False),
    Column("rules_digest", Name, nullable=False),
    Column("dealer_cards", Name, nullable=False),
    Column("dealer_total", Integer, nullable=False),
    Column("seats", Integer, nullable=False),
    Column("hands", Integer, nullable=False),
    Column("staked_cents", BigInteger, nullable=False),
    Column("returned_cents", BigInteger, nullable=False),
    Column("win_cents", BigInteger, nullable=False),
    Column("first_sequence", BigInteger, nullable=False),
    Column("last_sequence", BigInteger, nullable=False),
    Index("rounds_by_time", "opened_time_us"),
    Index("rounds_of_table", "table_key", "number"),
    Index("rounds_of_day", "gaming_day", "table_key"),
)

Table(
    "hands",
    _shape,
    Column("round_id", Name, primary_key=True),
    Column("seat", Integer, primary_key=True, autoincrement=False),
    Column("hand", Integer, primary_key=True, autoincrement=False),
    Column("table_key", Name, nullable=False),
    Column("patron", Name, nullable=False),
    Column("cards", Name, nullable=False),
    Column("total", Integer, nullable=False),
    Column("status", Name, nullable=False),
    Column("outcome", Name, nullable=False),
    Column("wager_cents", BigInteger, nullable=False),
    Column("staked_cents", BigInteger, nullable=False),
    Column("returned_cents", BigInteger, nullable=False),
    Column("insurance_cents", BigInteger, nullable=False),
    Column("insurance_returned_cents", BigInteger, nullable=False),
    Index("hands_of_patron", "patron"),
    Index("hands_by_stake", "staked_cents"),
    Index("hands_by_outcome", "outcome"),
)

Table(
    "tables",
    _shape,
    Column("table_key", Name, primary_key=True),
    Column("floor", Name, nullable=False),
    Column("open", Boolean, nullable=False),
    Column("phase", Name, nullable=False),
    Column("suspension", Name, nullable=False),
    Column("dealer", Name, nullable=False),
    Column("rules_name", Name, nullable=False),
    Column("rules_version", Integer, nullable=False),
    Column("rules_digest", Name, nullable=False),
    Column("rules_text", Name, nullable=False),
    Column("minimum_cents", BigInteger, nullable=False),
    Column("maximum_cents", BigInteger, nullable=False),
    Column("round_id", Name, nullable=False),
    Column("round_first_sequence", BigInteger, nullable=False),
    Column("shoe_id", Name, nullable=False),
    Column("shoe_cards", Integer, nullable=False),
    Column("shoe_left", Integer, nullable=False),
    Column("shuffled_time_us", BigInteger, nullable=False),
    Column("gaming_day", Name, nullable=False),
    Column("opener_cents", BigInteger, nullable=False),
    Column("tray_cents", BigInteger, nullable=False),
    Column("racks_cents", BigInteger, nullable=False),
    Column("escrow_cents", BigInteger, nullable=False),
    Column("fills_cents", BigInteger, nullable=False),
    Column("credits_cents", BigInteger, nullable=False),
    Column("day_rounds", Integer, nullable=False),
    Column("day_hands", Integer, nullable=False),
    Column("day_handle_cents", BigInteger, nullable=False),
    Column("day_win_cents", BigInteger, nullable=False),
    Column("day_drop_cents", BigInteger, nullable=False),
    Column("rounds", BigInteger, nullable=False),
    Column("last_event_time_us", BigInteger, nullable=False),
)

Table(
    "seats",
    _shape,
    Column("table_key", Name, primary_key=True),
    Column("session", Name, primary_key=True),
    Column("seat", Integer, nullable=False),
    Column("patron", Name, nullable=False),
    Column("leaving", Boolean, nullable=False),
    Column("rack_cents", BigInteger, nullable=False),
    Column("in_play_cents", BigInteger, nullable=False),
    Column("since_time_us", BigInteger, nullable=False),
)

Table(
    "findings",
    _shape,
    Column("id", Name, primary_key=True),
    Column("law", Name, nullable=False),
    Column("stream", Name, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("table_key", Name, nullable=False),
    Column("round_id", Name, nullable=False),
    Column("reason", Name, nullable=False),
    Column("recorded_time_us", BigInteger, nullable=False),
    Index("findings_by_time", "recorded_time_us"),
    Index("findings_by_law", "law"),
)


def upgrade() -> None:
    """Make every table of this revision."""
    connection = op.get_bind()
    _shape.create_all(connection)
    connection.execute(insert(_meta), [{"name": "schema_version", "value": "2"}, {"name": "writer", "value": ""}])

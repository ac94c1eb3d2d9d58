"""The meters: what each stream adds to its table's figures by gaming day and dealer, and how far it is folded.

Frozen: it says what this revision made, not what the build has now (that is `schema`).
"""

from alembic import op
from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, MetaData, String, Table
from sqlalchemy.dialects.postgresql import VARCHAR

revision = "0002"
down_revision = "0001"

Name = String().with_variant(VARCHAR(collation="C"), "postgresql")
_shape = MetaData()

Table(
    "reader_positions",
    _shape,
    Column("reader", Name, primary_key=True),
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("offset", BigInteger, nullable=False),
)

Table(
    "meter_streams",
    _shape,
    Column("stream", Name, primary_key=True),
    Column("sequence", BigInteger, nullable=False),
    Column("hash", Name, nullable=False),
    Column("table_key", Name, nullable=False),
    Column("floor", Name, nullable=False),
    Column("recorded_time_us", BigInteger, nullable=False),
    Column("dealer", Name, nullable=False),
    Column("round_id", Name, nullable=False),
    Column("phase", Name, nullable=False),
    Column("seated", Integer, nullable=False),
    Column("hands", Integer, nullable=False),
    Column("opened_time_us", BigInteger, nullable=False),
    Column("moved_time_us", BigInteger, nullable=False),
    Column("ended_time_us", BigInteger, nullable=False),
    Column("suspended", Boolean, nullable=False),
    Index("meter_streams_of_table", "table_key"),
)

Table(
    "meters",
    _shape,
    Column("stream", Name, primary_key=True),
    Column("gaming_day", Name, primary_key=True),
    Column("dealer", Name, primary_key=True),
    Column("table_key", Name, nullable=False),
    Column("floor", Name, nullable=False),
    Column("rounds", BigInteger, nullable=False),
    Column("hands", BigInteger, nullable=False),
    Column("cards", BigInteger, nullable=False),
    Column("handle_cents", BigInteger, nullable=False),
    Column("win_cents", BigInteger, nullable=False),
    Column("drop_cents", BigInteger, nullable=False),
    Column("irregularities", BigInteger, nullable=False),
    Column("timeouts", BigInteger, nullable=False),
    Column("releases", BigInteger, nullable=False),
    Column("dealing_us", BigInteger, nullable=False),
    Index("meters_of_day", "gaming_day", "floor"),
)


def upgrade() -> None:
    """Make the tables of the meters; they fill by themselves from the journal's beginning."""
    _shape.create_all(op.get_bind())

"""The tables of surveillance's projection, in types that SQLite and PostgreSQL share.

Owns the shape of the read model. It is derived: `SCHEMA_VERSION` changes with every change of what rows mean, and rows of
another version are not used. `REVISION` changes with every change of shape, which a migration makes (`migrations/`).
Amounts are integer cents, times µs since 1970. There is no time of projecting in any row, so that two builds from the
same journal hold the same rows.
"""

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, MetaData, String, Table
from sqlalchemy.dialects.postgresql import VARCHAR

SCHEMA_VERSION = 2
REVISIONS = ("0001", "0002")
"""The migrations, oldest first; a database is of this build when it has had the last one."""
REVISION = REVISIONS[-1]

Name = String().with_variant(VARCHAR(collation="C"), "postgresql")
"""A text of any length, in the order of its bytes: both databases sort alike, and no log can hold one that is too long."""

metadata = MetaData()

meta = Table("meta", metadata, Column("name", Name, primary_key=True), Column("value", Name, nullable=False))
"""`schema_version`, and `writer`: the mark of who projects now, which every write looks at first."""

positions = Table(
    "positions",
    metadata,
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("offset", BigInteger, nullable=False),
)
"""How far each partition has been projected; written in the transaction of its effect."""

streams = Table(
    "streams",
    metadata,
    Column("stream", Name, primary_key=True),
    Column("sequence", BigInteger, nullable=False),
    Column("hash", Name, nullable=False),
    Column("recorded_time_us", BigInteger, nullable=False),
)
"""The last event of each stream that was projected: what comes again is ignored, a gap is seen."""

events = Table(
    "events",
    metadata,
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
"""Where each event stands and what it is; the journal has its content."""

rounds = Table(
    "rounds",
    metadata,
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
"""One row a round; `dealer_cards` is " Kd 7s ", a blank on both sides of each card that was seen."""

hands = Table(
    "hands",
    metadata,
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
"""One row a hand; cards as in `rounds`, the insurance stands with the seat's first hand."""

tables = Table(
    "tables",
    metadata,
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
"""One row a table as it is now; the `day_` columns are of `gaming_day`, the day of its last event."""

seats = Table(
    "seats",
    metadata,
    Column("table_key", Name, primary_key=True),
    Column("session", Name, primary_key=True),
    Column("seat", Integer, nullable=False),
    Column("patron", Name, nullable=False),
    Column("leaving", Boolean, nullable=False),
    Column("rack_cents", BigInteger, nullable=False),
    Column("in_play_cents", BigInteger, nullable=False),
    Column("since_time_us", BigInteger, nullable=False),
)
"""Who sits where now, and his chips."""

findings = Table(
    "findings",
    metadata,
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
"""Laws that were broken; never changed, never deleted. The time is that of the event that shows it."""

reader_positions = Table(
    "reader_positions",
    metadata,
    Column("reader", Name, primary_key=True),
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("offset", BigInteger, nullable=False),
)
"""How far the readers beside the projection are: "laws"."""

meter_streams = Table(
    "meter_streams",
    metadata,
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
"""How far the meters of each stream are folded, and what the fold must remember of it (`meters.StreamState`)."""

meters = Table(
    "meters",
    metadata,
    Column("stream", Name, primary_key=True),
    Column("gaming_day", Name, primary_key=True),
    Column("dealer", Name, primary_key=True),
    Column("table_key", Name, nullable=False),
    Column("floor", Name, nullable=False),
    *(
        Column(name, BigInteger, nullable=False)
        for name in (
            "rounds", "hands", "cards", "handle_cents", "win_cents", "drop_cents", "irregularities", "timeouts", "releases",
            "dealing_us",
        )
    ),
    Index("meters_of_day", "gaming_day", "floor"),
)  # fmt: skip
"""What one stream adds to a table's meters on a gaming day under a dealer (`meters.Figures`); meters are their sums."""

METERS = (meter_streams, meters)
DERIVED = (positions, streams, events, rounds, hands, tables, seats, findings)
"""Every table whose rows follow from the journal alone."""

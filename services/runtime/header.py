"""What a command's header may say, checked before any use case sees it.

Owns the ranges of `holecard.common.v1.CommandHeader`. Promises that whatever gets past here can be stored: a header that
the journal had to refuse would be answered as an outage, and its sender would ask again for ever.
"""

import re

from services.game.authority import Actor, EventId
from services.game.rejections import Breach, Rejection
from services.runtime.request_ids import RequestIdMissing
from services.wire.envelope import MAX_COUNT, MAX_ID_CHARACTERS, MAX_TIME_US
from services.wire.rpc import CommandHeader

AREAS = frozenset({"shoe", "table", "wager"})

# Printable ASCII: two ids that look alike on a screen are the same id.
_ID = re.compile(r"[!-~]([ -~]*[!-~])?")


class MalformedHeader(Rejection):
    """A header with a value that it cannot have; `field` names it."""

    rule = "DESIGN §3"
    remedy = "Send ids of 1 to 128 printable ASCII characters, and a time between 1970 and the year 9999."
    breach = Breach.FORM


def check_header(header: CommandHeader, table: str) -> CommandHeader:
    """`header` itself, sent for that table; raises RequestIdMissing or MalformedHeader."""
    if not 1 <= len(header.request_id) <= MAX_ID_CHARACTERS:
        raise RequestIdMissing("a command needs a request id", length=len(header.request_id))
    _check_id("request_id", header.request_id)
    _check_actor(header.actor)
    if not 0 <= header.occurred_time_us <= MAX_TIME_US:
        raise MalformedHeader(
            f"{header.occurred_time_us} is not a time in µs since 1970",
            field="occurred_time_us",
            occurred_time_us=header.occurred_time_us,
        )
    if header.cause is not None:
        _check_cause(header.cause, table)
    return header


def _check_actor(actor: Actor) -> None:
    if not 1 <= len(actor.id) <= MAX_ID_CHARACTERS:
        raise MalformedHeader("an actor needs an id", field="actor.id", length=len(actor.id))
    _check_id("actor.id", actor.id)


def _check_cause(cause: EventId, table: str) -> None:
    """What happens at a table follows from what happened at that table."""
    area, _, key = cause.stream.partition(":")
    if not 1 <= cause.sequence <= MAX_COUNT or area not in AREAS or key != table:
        raise MalformedHeader("the cause is not an event of this table", field="cause", sequence=cause.sequence)


def _check_id(field: str, text: str) -> None:
    if not _ID.fullmatch(text):
        raise MalformedHeader(f"{text[:100]!r} is not an id", field=field)

"""The key of a table, "<floor>/<table>": what names its streams, its partition and its place in every request."""

import re

from services.game.rejections import Breach, Rejection

_KEY = re.compile(r"[a-z0-9][a-z0-9-]{0,39}/[A-Za-z0-9][A-Za-z0-9-]{0,39}")


class MalformedTableKey(Rejection):
    """Not a floor and a table."""

    rule = "DESIGN §3"
    remedy = 'Name the table as "<floor>/<table>", e.g. "black-hawk/BJ-07".'
    breach = Breach.FORM


def check_table_key(key: str) -> str:
    """`key` itself; raises MalformedTableKey."""
    if not _KEY.fullmatch(key):
        raise MalformedTableKey(f"{key[:100]!r} is not the key of a table", key=key[:100])
    return key


def floor_of(key: str) -> str:
    """The floor's part of a table's key."""
    return key.partition("/")[0]


def stream_of(area: str, key: str) -> str:
    """The stream of `area` ("shoe", "table", "wager") for the table `key`."""
    return f"{area}:{key}"

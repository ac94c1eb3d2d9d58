"""What ids and words of the ledger look like. Business ids come from the table's own position (DESIGN §5)."""

import re

from services.wager.rejections import IdMalformed, WrongTable

MAX_ID = 200
MAX_TEXT = 500
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._:#/@+-]{0,199}")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
_ROUND = re.compile(r"(.+)#([1-9][0-9]{0,17})")


def check_id(value: object, what: str) -> str:
    """`value` itself: 1 to 200 letters, digits and " ._:#/@+-"; raises IdMalformed, naming `what`."""
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise IdMalformed(f"{what} is not an id: {value!r:.80}", what=what, given=f"{value!r:.80}")
    return value


def check_word(value: object, what: str) -> str:
    """`value` itself: a letter, then letters, digits, "_" or "-", at most 40; raises IdMalformed, naming `what`."""
    if not isinstance(value, str) or not _WORD.fullmatch(value):
        raise IdMalformed(f"{what} is not a word: {value!r:.80}", what=what, given=f"{value!r:.80}")
    return value


def check_text(value: object, what: str) -> str:
    """`value` itself: a reason in 1 to 500 printable characters; raises IdMalformed, naming `what`."""
    if not isinstance(value, str) or not 1 <= len(value) <= MAX_TEXT or not value.isprintable():
        raise IdMalformed(f"{what} must have 1 to {MAX_TEXT} printable characters", what=what)
    return value


def round_number(round_id: str, table: str) -> int:
    """The number of the round "<floor>/<table>#<number>"; raises IdMalformed, or WrongTable for a round of another table."""
    parts = _ROUND.fullmatch(check_id(round_id, "round"))
    if parts is None:
        raise IdMalformed(f"{round_id!r} is not the id of a round", what="round", given=round_id)
    if parts[1] != table:
        raise WrongTable(f"round {round_id} does not belong to {table}", round_id=round_id, table=table)
    return int(parts[2])


def check_of_round(business_id: object, round_id: str, what: str) -> str:
    """`business_id` itself, which must begin with its round's id and "/"; raises IdMalformed."""
    checked = check_id(business_id, what)
    if not checked.startswith(round_id + "/"):
        raise IdMalformed(
            f"{what} {checked} does not belong to round {round_id}", what=what, given=checked, round_id=round_id
        )
    return checked

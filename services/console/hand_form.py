"""The hand search's form: from what was typed to a query, with a sentence for everything that cannot be meant.

Owns the reading of dollars (exactly, never through a float), floor times and cards. Promises that a query is only made when
every field was understood. Searches nothing.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from services.console.views import HandQuery

T = TypeVar("T")

FIELDS = ("table", "floor", "from", "to", "seat", "patron", "cards", "min", "max", "outcome")
MOST_PAGES = 100_000
MOST_CARDS = 21
_DOLLARS = re.compile(r"\$?(\d{1,3}(?:,\d{3})+|\d{1,10})(?:\.(\d{1,2}))?", re.ASCII)
_CARD = re.compile(r"(10|[2-9TJQKA])([CDHS♣♦♥♠]?)", re.IGNORECASE)
_TABLE = re.compile(r"[a-z0-9][a-z0-9-]{0,39}/[A-Za-z0-9][A-Za-z0-9-]{0,39}")
_SUIT_SIGNS = {"♣": "c", "♦": "d", "♥": "h", "♠": "s"}


class NotUnderstood(ValueError):
    """A field that cannot be read; the text is for the person who typed it."""


@dataclass(frozen=True, slots=True)
class HandForm:
    """What was typed, field by field; the query, None with errors; a sentence for each field in error."""

    typed: Mapping[str, str]
    query: HandQuery | None
    errors: Mapping[str, str]

    def address(self, page: int) -> str:
        """The address of another page of the same search."""
        asked = {name: value for name, value in self.typed.items() if value}
        return "/hands?" + urlencode({**asked, "page": page})


def read_form(parameters: Mapping[str, str], zone: str, outcomes: tuple[str, ...]) -> HandForm:
    """Read the query string of a search; `zone` is that of the times, `outcomes` the words that may be chosen."""
    typed = {name: parameters.get(name, "").strip() for name in FIELDS}
    errors: dict[str, str] = {}

    def field(name: str, read: Callable[[str], T], empty: T) -> T:
        if not typed[name]:
            return empty
        try:
            return read(typed[name])
        except NotUnderstood as error:
            errors[name] = str(error)
            return empty

    query = HandQuery(
        table=field("table", lambda text: _table(text, typed["floor"]), ""),
        floor=typed["floor"],
        from_us=field("from", lambda text: _instant(text, zone), None),
        to_us=field("to", lambda text: _instant(text, zone), None),
        seat=field("seat", _seat, None),
        patron=typed["patron"][:128],
        cards=field("cards", read_cards, ()),
        minimum_cents=field("min", read_dollars, None),
        maximum_cents=field("max", read_dollars, None),
        outcome=field("outcome", lambda text: _outcome(text, outcomes), ""),
        page=_page(parameters.get("page", "1")),
    )
    if None not in (query.from_us, query.to_us) and query.from_us >= query.to_us:  # type: ignore[operator]  # not None
        errors["to"] = "The end lies before the beginning."
    if None not in (query.minimum_cents, query.maximum_cents) and query.minimum_cents > query.maximum_cents:  # type: ignore[operator]  # not None
        errors["max"] = "The largest stake is below the smallest."
    return HandForm(typed, None if errors else query, errors)


def read_dollars(text: str) -> int:
    """Read "25", "$1,250" or "12.50" as cents; raises NotUnderstood."""
    match = _DOLLARS.fullmatch(text)
    if match is None:
        raise NotUnderstood("Write dollars such as 25 or 1,250.50.")
    whole, rest = match.groups()
    return int(whole.replace(",", "")) * 100 + int((rest or "").ljust(2, "0"))


def read_cards(text: str) -> tuple[str, ...]:
    """Read "As Kd", "as,10♥" as cards, "A" as a rank; raises NotUnderstood."""
    cards = []
    for word in re.split(r"[\s,]+", text.strip()):
        match = _CARD.fullmatch(word)
        if match is None:
            raise NotUnderstood(f"“{word[:12]}” is no card. Write rank and suit, such as As or 10h, or a rank alone.")
        rank, suit = match.groups()
        cards.append(("T" if rank == "10" else rank.upper()) + _SUIT_SIGNS.get(suit, suit.lower()))
    if len(cards) > MOST_CARDS:
        raise NotUnderstood(f"A hand has at most {MOST_CARDS} cards.")
    return tuple(cards)


def _table(text: str, floor: str) -> str:
    key = text if "/" in text or not floor else f"{floor}/{text}"
    if not _TABLE.fullmatch(key):
        raise NotUnderstood("Write floor and table, such as black-hawk/BJ-07.")
    return key


def _instant(text: str, zone: str) -> int:
    try:
        when = datetime.fromisoformat(text)
    except ValueError as error:
        raise NotUnderstood("Write day and time, such as 2026-11-30T21:04.") from error
    if when.tzinfo is None:
        when = when.replace(tzinfo=ZoneInfo(zone))
    return int(when.timestamp()) * 1_000_000


def _seat(text: str) -> int:
    if not re.fullmatch(r"[1-7]", text):
        raise NotUnderstood("Seats are numbered 1 to 7.")
    return int(text)


def _outcome(text: str, outcomes: tuple[str, ...]) -> str:
    if text not in outcomes:
        raise NotUnderstood("Choose an outcome from the list.")
    return text


def _page(text: str) -> int:
    return min(int(text), MOST_PAGES) if re.fullmatch(r"[1-9][0-9]{0,6}", text) else 1

"""How amounts, times and shares are written on the pages.

Owns the one way of writing each. Promises exactness: cents are never rounded, a zone is always named. Reads no clock.
"""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

MICROSECONDS = 1_000_000
NOTHING = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"

SUITS = {"c": "clubs", "d": "diamonds", "h": "hearts", "s": "spades"}
RANKS = {"T": "10", "J": "jack", "Q": "queen", "K": "king", "A": "ace"}


def money(cents: int | None) -> str:
    """Write cents as dollars: 123450 is "$1,234.50", -50 is minus "$0.50"; a dash for None."""
    if cents is None:
        return NOTHING
    whole, rest = divmod(abs(cents), 100)
    return f"{MINUS if cents < 0 else ''}${whole:,}.{rest:02d}"


def signed_money(cents: int) -> str:
    """Write a gain or loss: "+$25.00", "$0.00"; a loss as `money` does."""
    return f"+{money(cents)}" if cents > 0 else money(cents)


def short_money(cents: int) -> str:
    """Write a limit or chips on the felt, without cents where there are none: "$5", "$12.50"."""
    text = money(cents)
    return text.removesuffix(".00")


def share(part: int, whole: int) -> str:
    """Write part/whole in percent with one decimal, halves away from zero; a dash where there is nothing to divide by."""
    if whole <= 0:
        return NOTHING
    tenths = (abs(part) * 2_000 + whole) // (2 * whole)
    sign = MINUS if part < 0 and tenths else ""
    return f"{sign}{tenths // 10}.{tenths % 10} %"


def count(number: int | None) -> str:
    """Write a count with separators; a dash for None."""
    return NOTHING if number is None else f"{number:,}"


def local(us: int, zone: str) -> datetime:
    """The instant on the floor's wall clock."""
    # Whole seconds and µs apart: a float of µs since 1970 would already be rounded.
    seconds, rest = divmod(us, MICROSECONDS)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest).astimezone(ZoneInfo(zone))


def clock_time(us: int, zone: str, *, fraction: bool = False) -> str:
    """Write the time of day with its zone, "21:04:07 MST", with ms where asked; a dash for 0."""
    if us == 0:
        return NOTHING
    when = local(us, zone)
    text = when.strftime("%H:%M:%S")
    if fraction:
        text += f".{when.microsecond // 1000:03d}"
    return f"{text} {when.tzname()}"


def date_time(us: int, zone: str) -> str:
    """Write day and time with the zone, "Nov 30, 21:04:07 MST"; a dash for 0."""
    if us == 0:
        return NOTHING
    when = local(us, zone)
    return f"{when.strftime('%b')} {when.day}, {when.strftime('%H:%M:%S')} {when.tzname()}"


def utc(us: int) -> str:
    """Write the instant in UTC to the µs, "2026-11-30 21:04:07.123456 UTC"; "" for 0."""
    if us == 0:
        return ""
    return local(us, "UTC").strftime("%Y-%m-%d %H:%M:%S.%f UTC")


def iso(us: int) -> str:
    """Write the instant for a machine, "2026-11-30T21:04:07.123456Z"; "" for 0."""
    if us == 0:
        return ""
    return local(us, "UTC").strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def duration(us: int) -> str:
    """Write a length of time in its two largest units: "850 ms", "42 s", "3 min 12 s", "2 h 5 min"."""
    if us < MICROSECONDS:
        return f"{max(us, 0) // 1000} ms"
    seconds = us // MICROSECONDS
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3_600:
        return f"{seconds // 60} min {seconds % 60} s"
    if seconds < 86_400:
        return f"{seconds // 3_600} h {seconds % 3_600 // 60} min"
    return f"{seconds // 86_400} d {seconds % 86_400 // 3_600} h"


def card_words(text: str | None) -> str:
    """Say a card: "ace of spades", "10 of hearts"; "face-down card" for None."""
    if text is None:
        return "face-down card"
    rank, suit = text[:-1], text[-1:]
    return f"{RANKS.get(rank, rank)} of {SUITS.get(suit, suit)}"


def total_words(total: int, *, soft: bool) -> str:
    """Say a total: "soft 17", "20"."""
    return f"soft {total}" if soft else str(total)


def words(name: str) -> str:
    """Turn a machine's word into a reader's: "even-money" and "EVEN_MONEY" become "Even money"."""
    text = name.replace("-", " ").replace("_", " ").strip()
    return text[:1].upper() + (text[1:].lower() if text.isupper() else text[1:])


def phase_words(phase: str) -> str:
    """Say a phase of a table or round: "IDLE" and "idle" are "between rounds"."""
    word = phase.lower().replace("-", " ")
    return "between rounds" if word == "idle" else word


def sentence_of(name: str) -> str:
    """Split an event's name into words: "WagersPlaced" becomes "Wagers placed"."""
    parts = "".join(f" {char.lower()}" if char.isupper() else char for char in name).strip()
    return parts[:1].upper() + parts[1:]

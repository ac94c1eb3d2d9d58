"""One hand as SVG: its cards fanned, its total, its outcome.

Owns how many cards fit a width and what a badge says. Promises `data-total`, `data-stake-cents` and `data-outcome` on
every hand, in the words of the record, so that a picture can be compared with the log.
"""

from dataclasses import dataclass
from html import escape

from services.console.felt_cards import FONT, RATIO, draw_card
from services.console.formatting import short_money, signed_money, total_words, words
from services.console.svg import element, group, text
from services.console.views import HandView

GOLD = "#e8c477"
# The share of a card that must stay uncovered for its rank and suit to be read.
_CORNER = 0.34
# Body and letters of a badge; every pair has a contrast of at least 4.5:1.
_BADGES = {
    "win": ("#1d6b45", "#ffffff"),
    "blackjack": ("#e8c477", "#23190a"),
    "push": ("#46525a", "#ffffff"),
    "lose": ("#7a2327", "#ffffff"),
    "surrender": ("#6a4a1c", "#ffffff"),
}
_BADGE_OF = {
    "natural": "blackjack",
    "even-money": "win",
    "tie": "push",
    "natural-tie": "push",
    "void": "push",
    "voided": "push",
    "bust": "lose",
    "loss": "lose",
    "surrendered": "surrender",
}


def outcome_class(outcome: str) -> str:
    """The badge that an outcome wears: win, blackjack, push, lose or surrender; "push" for an unknown word."""
    word = outcome.lower().replace("_", "-")
    word = _BADGE_OF.get(word, word)
    return word if word in _BADGES else "push"


@dataclass(frozen=True, slots=True)
class Fan:
    """How cards lie side by side: the width of one, how far apart they lie, the width of all."""

    card_width: float
    step: float
    width: float


def fan(count: int, card_width: float, room: float) -> Fan:
    """Lay `count` cards within `room`: closer together when they are many, and smaller before a corner is covered."""
    if count < 2:
        return Fan(card_width, 0, card_width * count)
    wide = min(card_width, room / (1 + _CORNER * (count - 1)))
    step = min(wide * 0.42, (room - wide) / (count - 1))
    return Fan(wide, step, wide + step * (count - 1))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a hand is drawn: its middle, the lower edge of its cards, the width of a card and of all of them at most.

    `with_stake` writes the hand's stake beside its total: for split hands, which share one betting circle.
    """

    centre: float
    bottom: float
    card_width: float
    room: float
    with_stake: bool = False


def draw_hand(hand: HandView, seat: int, place: Place) -> str:
    """Draw a hand at its place. Seat 0 is the dealer."""
    laid = fan(len(hand.cards), place.card_width, place.room)
    height = laid.card_width * RATIO
    left, top = place.centre - laid.width / 2, place.bottom - height
    parts = [
        _halo(left, top, laid.width, height) if hand.active else "",
        *(draw_card(card, left + laid.step * index, top, laid.card_width) for index, card in enumerate(hand.cards)),
    ]
    if hand.cards:
        parts.append(_total(hand, place, top - 15))
    if hand.outcome:
        parts.append(_badge(hand, place))
    return group(
        *parts,
        class_="hand",
        data_seat=seat,
        data_hand=hand.number,
        data_total=total_words(hand.total, soft=hand.soft) if hand.cards else "",
        data_stake_cents=hand.stake_cents,
        data_outcome=hand.outcome or None,
        data_net_cents=hand.net_cents if hand.outcome else None,
    )


def total_label(hand: HandView) -> str:
    """What stands over a hand: "Blackjack", "Bust 24", "Soft 17", "20"; "" with no open card."""
    if hand.blackjack:
        return "Blackjack"
    if hand.total > 21:
        return f"Bust {hand.total}"
    return words(total_words(hand.total, soft=hand.soft)) if hand.total else ""


def _halo(left: float, top: float, width: float, height: float) -> str:
    return element(
        "rect",
        x=left - 8,
        y=top - 8,
        width=width + 16,
        height=height + 16,
        rx=12,
        fill="#e8c477",
        fill_opacity=0.13,
        stroke=GOLD,
        stroke_width=2.5,
    )


def pill(label: str, x: float, y: float, body: str, letters: str, size: float = 19, opacity: float = 1) -> str:
    """Write words on a rounded plate centred at (x, y)."""
    width = len(label) * size * 0.56 + size * 1.1
    return element(
        "rect",
        x=x - width / 2,
        y=y - size * 0.72,
        width=width,
        height=size * 1.44,
        rx=size * 0.72,
        fill=body,
        fill_opacity=None if opacity == 1 else opacity,
    ) + text(
        label,
        x=x,
        y=y + size * 0.35,
        fill=letters,
        font_family=FONT,
        font_size=size,
        font_weight=650,
        text_anchor="middle",
    )


def _total(hand: HandView, place: Place, y: float) -> str:
    label = total_label(hand)
    size = 20.0
    if place.with_stake and hand.stake_cents:
        label = f"{label} · {short_money(hand.stake_cents)}" if label else short_money(hand.stake_cents)
        size = min(17.0, (place.room + 4) / (len(label) * 0.56 + 1.1))
    if not label:
        return ""
    if hand.blackjack:
        return pill(label, place.centre, y, GOLD, "#23190a", size)
    body = "#7a2327" if hand.total > 21 else "#071d15"
    return pill(label, place.centre, y, body, "#ffffff", size, opacity=0.92)


def _badge(hand: HandView, place: Place) -> str:
    body, letters = _BADGES[outcome_class(hand.outcome)]
    word = words(hand.outcome)
    label = word if place.with_stake else f"{word} {signed_money(hand.net_cents)}"
    size = min(19.0, (place.room + 6) / (len(label) * 0.56 + 1.1))
    title = element("title", escape(f"{word} {signed_money(hand.net_cents)}"))
    return group(title, pill(label, place.centre, place.bottom - 6, body, letters, size), class_="outcome")

"""A playing card as SVG: rank and suit in the corner and large, or its back.

Owns the look of cards; suits are paths, so that no font decides what a card is. Promises `data-card` on every card: its
text, or "face-down". Knows no hands.
"""

from functools import cache, lru_cache
from html import escape

from services.console.formatting import card_words
from services.console.svg import element, number, text
from services.console.views import CardView

# Drawn in a square of 20 by 20 with its centre at 0,0.
_SUIT_PATHS = {
    "h": "M0 9.2C-1.6 7.4-9.6 2.2-9.6-3.4C-9.6-6.6-7.3-8.6-4.8-8.6C-2.6-8.6-.9-7.3 0-5.4C.9-7.3 2.6-8.6 4.8-8.6"
    "C7.3-8.6 9.6-6.6 9.6-3.4C9.6 2.2 1.6 7.4 0 9.2Z",
    "d": "M0-10C1.8-6.4 4.4-3 7.6 0C4.4 3 1.8 6.4 0 10C-1.8 6.4-4.4 3-7.6 0C-4.4-3-1.8-6.4 0-10Z",
    "s": "M0-9.8C1.8-6.6 9.4-2.2 9.4 2.9C9.4 5.6 7.4 7.2 5.2 7.2C3.4 7.2 1.9 6.3 1.1 4.9C1.3 7.1 2 8.7 3.6 9.8L-3.6 9.8"
    "C-2 8.7-1.3 7.1-1.1 4.9C-1.9 6.3-3.4 7.2-5.2 7.2C-7.4 7.2-9.4 5.6-9.4 2.9C-9.4-2.2-1.8-6.6 0-9.8Z",
    "c": "M0-9.8C2.6-9.8 4.5-7.9 4.5-5.4C4.5-3.9 3.7-2.7 2.5-1.6C3.3-2 4.2-2.3 5.1-2.3C7.6-2.3 9.6-.4 9.6 2.2"
    "C9.6 4.8 7.6 6.7 5.1 6.7C3.4 6.7 1.9 5.9 1.1 4.6C1.2 7 1.9 8.6 3.6 9.8L-3.6 9.8C-1.9 8.6-1.2 7-1.1 4.6"
    "C-1.9 5.9-3.4 6.7-5.1 6.7C-7.6 6.7-9.6 4.8-9.6 2.2C-9.6-.4-7.6-2.3-5.1-2.3C-4.2-2.3-3.3-2-2.5-1.6"
    "C-3.7-2.7-4.5-3.9-4.5-5.4C-4.5-7.9-2.6-9.8 0-9.8Z",
}
RED = "#b3202a"
BLACK = "#16191c"
FACE = "#fbfaf6"
BACK = "#22405e"
FONT = "'Segoe UI', 'Helvetica Neue', 'Liberation Sans', Arial, system-ui, sans-serif"

RATIO = 1.4
"""Height of a card over its width."""


@cache
def card_defs() -> str:
    """The suits and the lattice of the back, which every card refers to; once in a picture."""
    suits = "".join(element("path", id=f"suit-{suit}", d=path) for suit, path in _SUIT_PATHS.items())
    lattice = element(
        "pattern",
        element("rect", width=8, height=8, fill=BACK),
        element("path", d="M0 4L4 0L8 4L4 8Z", fill="none", stroke="#7fa3c4", stroke_width=0.9),
        element("circle", cx=4, cy=4, r=0.9, fill="#a9c3da"),
        id="card-back",
        width=8,
        height=8,
        patternUnits="userSpaceOnUse",
    )
    return suits + lattice


def draw_card(card: CardView, x: float, y: float, width: float) -> str:
    """Draw one card with its upper left corner at (x, y)."""
    height = width * RATIO
    face = _face(card.text, width, height) if card.text else _back(width, height)
    glow = (
        element(
            "rect",
            x=-2.5,
            y=-2.5,
            width=width + 5,
            height=height + 5,
            rx=width * 0.1 + 2.5,
            fill="none",
            stroke="#e8c477",
            stroke_width=3,
        )
        if card.fresh
        else ""
    )
    transform = f"translate({number(x)} {number(y)})"
    if card.sideways:
        transform = f"translate({number(x + height)} {number(y + (height - width))}) rotate(90)"
    return element(
        "g",
        element("title", escape(_title(card))),
        glow,
        face,
        class_="card",
        transform=transform,
        data_card=card.text or "face-down",
        data_position=card.position or None,
    )


def _title(card: CardView) -> str:
    place = f", shoe position {card.position}" if card.position else ""
    return card_words(card.text) + place


def _paper(width: float, height: float, fill: str) -> str:
    return element("rect", width=width, height=height, rx=width * 0.1, fill=fill, stroke="#0a0d0b", stroke_opacity=0.45)


@lru_cache(maxsize=1024)
def _face(name: str, width: float, height: float) -> str:
    rank, suit = name[:-1], name[-1:]
    colour = RED if suit in {"h", "d"} else BLACK
    label = "10" if rank == "T" else rank
    size = width * (0.31 if label == "10" else 0.36)
    return "".join(
        (
            _paper(width, height, FACE),
            text(
                label,
                x=width * 0.2,
                y=width * 0.37,
                fill=colour,
                font_family=FONT,
                font_size=size,
                font_weight=700,
                text_anchor="middle",
                letter_spacing=-1.5 if label == "10" else None,
            ),
            _suit(suit, width * 0.2, width * 0.56, width * 0.0115, colour),
            _suit(suit, width * 0.68, height * 0.69, width * 0.0225, colour),
        )
    )


def _suit(suit: str, x: float, y: float, scale: float, colour: str) -> str:
    transform = f"translate({number(x)} {number(y)}) scale({scale:.3f})"
    return element("use", href=f"#suit-{suit}", transform=transform, fill=colour)


@lru_cache(maxsize=64)
def _back(width: float, height: float) -> str:
    inset = width * 0.08
    return _paper(width, height, FACE) + element(
        "rect",
        x=inset,
        y=inset,
        width=width - 2 * inset,
        height=height - 2 * inset,
        rx=width * 0.05,
        fill="url(#card-back)",
        stroke=BACK,
    )

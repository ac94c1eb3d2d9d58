"""Chips as SVG: a stack that shows which chips make up an amount, and never the amount alone by colour.

Owns the house's chip colours. The amount is always written beside the stack; the stack is bounded, so a stack that would
grow too high ends in a band and the written amount tells the rest.
"""

from functools import lru_cache
from itertools import islice

from services.console.svg import element, group

# Denomination in cents, body, edge.
_CHIPS = (
    (500_000, "#8a6d3b", "#f0dfb4"),
    (100_000, "#d9a21b", "#fff3cf"),
    (50_000, "#5b3f8c", "#d9cbf2"),
    (10_000, "#23282c", "#c9d1d6"),
    (2_500, "#1f7a4d", "#d3f0df"),
    (500, "#b02a30", "#f6d5d5"),
    (100, "#e9e6dc", "#3d5a80"),
    (50, "#7c8b96", "#e6ecf0"),
    (1, "#b87345", "#f3dfcf"),
)
MOST_SHOWN = 9
_THICKNESS = 5.0


def chips_for(cents: int) -> list[int]:
    """The fewest house chips, largest first, that make up at least 1 cent; the last ones are single cents."""
    chips = []
    for denomination, _, _ in _CHIPS:
        number, cents = divmod(cents, denomination)
        chips.extend([denomination] * min(number, 1_000))
    return chips


def draw_stack(cents: int, x: float, y: float, radius: float = 19) -> str:
    """Draw the stack for an amount, its lowest chip centred at (x, y); nothing for 0."""
    if cents <= 0:
        return ""
    shown = list(islice(chips_for(cents), MOST_SHOWN))
    colours = {denomination: (body, edge) for denomination, body, edge in _CHIPS}
    discs = [_disc(*colours[chip], -_THICKNESS * level, radius) for level, chip in enumerate(shown)]
    return group(*discs, x=x, y=y, class_="chips", data_cents=cents)


@lru_cache(maxsize=1024)
def _disc(body: str, edge: str, y: float, radius: float) -> str:
    height = radius * 0.42
    side = element(
        "path",
        d=f"M{-radius} {y}v{-_THICKNESS}h{2 * radius}v{_THICKNESS}a{radius} {height:.2f} 0 0 1 {-2 * radius} 0Z",
        fill=body,
        stroke="#000",
        stroke_opacity=0.35,
        stroke_width=0.7,
    )
    top = element(
        "ellipse",
        cx=0,
        cy=y - _THICKNESS,
        rx=radius,
        ry=height,
        fill=body,
        stroke=edge,
        stroke_width=2.4,
        stroke_dasharray="7 6",
    )
    inner = element(
        "ellipse",
        cx=0,
        cy=y - _THICKNESS,
        rx=radius * 0.58,
        ry=height * 0.56,
        fill="none",
        stroke=edge,
        stroke_opacity=0.8,
        stroke_width=0.9,
    )
    return side + top + inner

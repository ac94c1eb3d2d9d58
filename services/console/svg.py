"""Writing SVG: elements as text, every value escaped, numbers always written the same way.

Owns escaping and number format. Promises that the same arguments give the same text. Knows no shapes.
"""

from functools import cache
from html import escape

Value = str | int | float

SMALLEST = 0.78
_WIDE, _USUAL, _NARROW = 0.95, 0.62, 0.34


def number(value: float) -> str:
    """Write a coordinate with at most two decimals and no needless zeros."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def element(name: str, /, *children: str, **attributes: Value | None) -> str:
    """Write an element. `data_x` becomes `data-x`, `class_` `class`; attributes that are None are left out.

    Children are SVG text already; use `text` for words.
    """
    written = "".join(f' {_name(key)}="{_value(value)}"' for key, value in attributes.items() if value is not None)
    if not children:
        return f"<{name}{written}/>"
    return f"<{name}{written}>{''.join(children)}</{name}>"


def text(words: str, /, **attributes: Value | None) -> str:
    """Write a text element with escaped words."""
    return element("text", escape(words), **attributes)


def fitted(words: str, size: float, room: float) -> tuple[str, float]:
    """Give words and a font size at which they take at most `room`: smaller, down to SMALLEST of `size`, then cut short."""
    wide = width(words, size)
    if wide <= room:
        return words, size
    if wide * SMALLEST <= room:
        return words, size * room / wide
    size *= SMALLEST
    while len(words) > 1 and width(words + "…", size) > room:
        words = words[:-1]
    return words + "…", size


def width(words: str, size: float) -> float:
    """About how wide words are in a bold sans serif; never much less than they are."""
    return size * sum(_WIDE if c in "WMmw@%—" else _NARROW if c in " .,:;'|!ijlI·-()/" else _USUAL for c in words)


def group(*children: str, x: float = 0, y: float = 0, **attributes: Value | None) -> str:
    """Write a group, moved to (x, y)."""
    transform = f"translate({number(x)} {number(y)})" if x or y else None
    return element("g", *(children or ("",)), transform=transform, **attributes)


@cache
def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _value(value: Value) -> str:
    return number(value) if isinstance(value, int | float) else escape(value)

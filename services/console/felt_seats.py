"""A seat as SVG: betting circle with chips, hands above it, the patron's name and rack below.

Owns where seats lie. From behind the players, seat 1 (first base, at the dealer's left) is at the right end.
"""

from services.console.felt_cards import FONT
from services.console.felt_chips import draw_stack
from services.console.felt_hands import GOLD, Place, draw_hand
from services.console.formatting import short_money, signed_money
from services.console.svg import element, fitted, group, text
from services.console.views import SeatView, StakeView

WIDTH = 1260
HEIGHT = 706
SPOT = 35.0
ROOM = 166.0
"""What a line of words below a circle may take, so that it stays off the words of the seats beside it."""
PALE = "#dfeae4"
DIM = "#a9c4b6"


def place_of(seat: int, seat_count: int) -> tuple[float, float]:
    """The centre of a seat's betting circle."""
    middle = (seat_count + 1) / 2
    spread = 1030 / max(seat_count - 1, 4)
    dx = (middle - seat) * spread
    return WIDTH / 2 + dx, 536 - 176 * (abs(dx) / 515) ** 1.7


def draw_seat(seat: SeatView, seat_count: int) -> str:
    """Draw a seat; an empty one is its circle and number."""
    x, y = place_of(seat.number, seat_count)
    taken = bool(seat.patron or seat.hands)
    parts = [
        _spot(x, y, active=seat.active, taken=taken),
        *_hands(seat, x, y),
        _stakes(seat, x, y),
        _name(seat, x, y),
    ]
    return group(*parts, class_="seat", data_seat=seat.number, data_patron=seat.patron or None)


def _spot(x: float, y: float, *, active: bool, taken: bool) -> str:
    return element(
        "circle",
        cx=x,
        cy=y,
        r=SPOT,
        fill="#06231a",
        fill_opacity=0.5 if taken else 0.18,
        stroke=GOLD if active else "#9dbfae",
        stroke_width=3 if active else 1.6,
        stroke_opacity=1 if active else (0.8 if taken else 0.4),
    )


def _hands(seat: SeatView, x: float, y: float) -> list[str]:
    hands = [hand for hand in seat.hands if hand.cards]
    bottom = y - SPOT - 14
    if len(hands) <= 1:
        return [draw_hand(hand, seat.number, Place(x, bottom, 74, 164)) for hand in hands]
    # Split hands: two columns, the first hand at the dealer's left as the seats are, rows upwards.
    placed = []
    for index, hand in enumerate(hands):
        column, row = index % 2, index // 2
        alone = index == len(hands) - 1 and column == 0
        centre = x if alone else x + (42 if column == 0 else -42)
        placed.append(draw_hand(hand, seat.number, Place(centre, bottom - row * 116, 52, 80, with_stake=True)))
    return placed


def stakes_by_kind(seat: SeatView) -> dict[str, int]:
    """What is staked at the seat, in cents by wager kind, in the order in which the hands have them."""
    kinds: dict[str, int] = {}
    for stake in (*(stake for hand in seat.hands for stake in hand.stakes), *seat.beside):
        kinds[stake.kind] = kinds.get(stake.kind, 0) + stake.cents
    return kinds


def _stakes(seat: SeatView, x: float, y: float) -> str:
    """The chips in the circle, a stack for each kind of stake, and the amount below."""
    kinds = stakes_by_kind(seat)
    total = sum(kinds.values())
    if not total:
        return ""
    shown = list(kinds.items())[:3]
    radius = (19.0, 14.0, 10.0)[len(shown) - 1]
    gap = radius * 2 + 2
    start = x - gap * (len(shown) - 1) / 2
    stacks = [draw_stack(cents, start + gap * index, y + 15, radius) for index, (_, cents) in enumerate(shown)]
    extra = [kind for kind in kinds if kind != "main"]
    label = " · ".join([short_money(total), ", ".join(extra)] if extra else [short_money(total)])
    return group(
        *stacks,
        _line(label, x, y + SPOT + 23, "#ffffff", 21, 650),
        class_="stakes",
        data_seat=seat.number,
        data_cents=total,
    )


def _name(seat: SeatView, x: float, y: float) -> str:
    top = y + SPOT + (48 if stakes_by_kind(seat) else 24)
    if not seat.patron:
        return _line(f"Seat {seat.number}", x, top, GOLD if seat.active else DIM, 18, 600)
    lines = _line(f"{seat.number} · {seat.patron}", x, top, GOLD if seat.active else PALE, 19, 600)
    below = [] if seat.rack_cents is None else [f"rack {short_money(seat.rack_cents)}"]
    below += [_beside_words(stake) for stake in seat.beside]
    return lines + "".join(_line(words, x, top + 22 * (row + 1), DIM, 17.5, 400) for row, words in enumerate(below))


def _beside_words(stake: StakeView) -> str:
    """What became of a wager beside the hands: "insurance $5", "insurance +$10"."""
    return f"{stake.kind} {signed_money(stake.net_cents) if stake.outcome else short_money(stake.cents)}"


def _line(words: str, x: float, y: float, colour: str, size: float, weight: int) -> str:
    shown, size = fitted(words, size, ROOM)
    return text(
        shown,
        x=x,
        y=y,
        fill=colour,
        font_family=FONT,
        font_size=size,
        font_weight=weight,
        text_anchor="middle",
    )

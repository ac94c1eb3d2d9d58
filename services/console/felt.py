"""The picture of a table at one moment: one pure function from a FeltView to an SVG document.

Owns the cloth, the dealer's place, the shoe and the words for those who cannot see the picture. Promises that the picture is
a function of its record alone (the test "picture equals the log" rests on it) and that every word in it is escaped.
"""

from functools import cache, lru_cache
from html import escape

from services.console.felt_cards import FONT, card_defs
from services.console.felt_hands import GOLD, Place, draw_hand, fan, pill, total_label
from services.console.felt_seats import DIM, HEIGHT, PALE, WIDTH, draw_seat
from services.console.formatting import card_words, money, signed_money, words
from services.console.svg import element, fitted, group, text
from services.console.views import FeltView, HandView, SeatView, ShoeView

TURN_ROOM = 400.0
_CLOTH = "M22 20H1238V352C1238 566 972 684 630 684S22 566 22 352Z"


def draw_felt(felt: FeltView) -> str:
    """Draw the table as a complete `<svg>` element, 1260 by 706, that scales to its place."""
    taken = {seat.number: seat for seat in felt.seats}
    places = range(1, max(felt.seat_count, *taken, 1) + 1)
    body = [
        element("title", escape(f"Table {felt.table}" + (f", round {felt.round}" if felt.round else ""))),
        element("desc", escape(describe(felt))),
        element("defs", card_defs() + _cloth_defs()),
        _cloth(),
        _lettering(felt.lettering),
        _status(felt),
        _shoe(felt.shoe) if felt.shoe else "",
        _dealer(felt.dealer),
        *(draw_seat(taken.get(number, SeatView(number)), len(places)) for number in places),
    ]
    return element(
        "svg",
        *body,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        class_="felt",
        role="img",
        data_table=felt.table,
        data_round=felt.round or None,
        data_phase=felt.phase or None,
    )


def describe(felt: FeltView) -> str:
    """Say the whole picture in words."""
    said = [f"{words(felt.phase)}." if felt.phase else "", f"{felt.turn}." if felt.turn else ""]
    said += [f"Dealer: {_hand_words(hand)}." for hand in felt.dealer if hand.cards]
    for seat in felt.seats:
        who = f"Seat {seat.number}" + (f", {seat.patron}" if seat.patron else "")
        hands = [_hand_words(hand) for hand in seat.hands if hand.cards or hand.stakes]
        hands += [f"{stake.kind} {money(stake.cents)}" for stake in seat.beside]
        said.append(f"{who}: {' / '.join(hands) if hands else 'no hand'}.")
    return " ".join(part for part in said if part)


def _hand_words(hand: HandView) -> str:
    parts = [", ".join(card_words(card.text) for card in hand.cards) or "no cards"]
    if total_label(hand):
        parts.append(total_label(hand).lower())
    if hand.stake_cents:
        parts.append(f"stake {money(hand.stake_cents)}")
    if hand.outcome:
        parts.append(f"{words(hand.outcome).lower()} {signed_money(hand.net_cents)}")
    return "; ".join(parts)


@cache
def _cloth_defs() -> str:
    stops = [
        element("stop", offset="0", stop_color="#17694c"),
        element("stop", offset="0.62", stop_color="#0f4c37"),
        element("stop", offset="1", stop_color="#0a3527"),
    ]
    return element("radialGradient", *stops, id="cloth", cx=0.5, cy=0.2, r=0.85) + element(
        "path", id="arc", d="M220 192Q630 350 1040 192"
    )


@cache
def _cloth() -> str:
    return element(
        "path", d=_CLOTH, fill="#1b1411", stroke="#2a201b", stroke_width=26, stroke_linejoin="round"
    ) + element("path", d=_CLOTH, fill="url(#cloth)", stroke="#c9a86a", stroke_opacity=0.28, stroke_width=1.5)


@lru_cache(maxsize=64)
def _lettering(cloth_words: str) -> str:
    """Write words along the arc between dealer and players, small enough to fit it."""
    if not cloth_words:
        return ""
    size = min(19.0, 860 / (len(cloth_words) * 0.86))
    return element(
        "text",
        element("textPath", escape(cloth_words.upper()), href="#arc", startOffset="50%", text_anchor="middle"),
        fill="#d9c08a",
        fill_opacity=0.62,
        font_family=FONT,
        font_size=size,
        font_weight=600,
        letter_spacing=size * 0.14,
    )


def _status(felt: FeltView) -> str:
    """The phase and whose move it is, at the upper left."""
    parts = []
    if felt.phase:
        parts.append(
            text(
                words(felt.phase).upper(),
                x=60,
                y=66,
                fill=DIM,
                font_family=FONT,
                font_size=18,
                font_weight=650,
                letter_spacing=2.2,
            )
        )
    if felt.turn:
        # The dealer's cards begin to the right of it.
        shown, size = fitted(felt.turn, 22, TURN_ROOM)
        written = text(shown, x=60, y=94, fill="#ffffff", font_family=FONT, font_size=size, font_weight=600)
        parts.append(group(element("title", escape(felt.turn)), written))
    return group(*parts, class_="status", data_turn=felt.turn or None)


def _shoe(shoe: ShoeView) -> str:
    """How deep the shoe is dealt, at the upper right, with the cut card's place."""
    left, width = 1000, 196
    gone = min(shoe.dealt / shoe.size, 1) * width if shoe.size else 0
    parts = [
        text("DEALT", x=left, y=66, fill=DIM, font_family=FONT, font_size=18, font_weight=650, letter_spacing=2.2),
        text(
            f"{shoe.dealt} / {shoe.size}",
            x=left + width,
            y=66,
            fill="#ffffff",
            font_family=FONT,
            font_size=20,
            font_weight=600,
            text_anchor="end",
        ),
        element("rect", x=left, y=78, width=width, height=10, rx=5, fill="#06231a", fill_opacity=0.7),
        element("rect", x=left, y=78, width=gone, height=10, rx=5, fill=PALE, fill_opacity=0.85) if gone else "",
    ]
    if shoe.size and 0 < shoe.cut_at <= shoe.size:
        at = left + width * shoe.cut_at / shoe.size
        parts.append(element("rect", x=at - 1.5, y=73, width=3, height=20, rx=1.5, fill=GOLD))
    return group(
        element("title", escape(f"Shoe {shoe.shoe}: {shoe.dealt} of {shoe.size} cards gone")),
        *parts,
        class_="shoe",
        data_dealt=shoe.dealt,
        data_size=shoe.size,
    )


def _dealer(hands: tuple[HandView, ...]) -> str:
    """The dealer's hands side by side under the middle of the upper rail."""
    shown = [hand for hand in hands if hand.cards]
    if not shown:
        return group(
            text(
                "DEALER",
                x=WIDTH / 2,
                y=66,
                fill=DIM,
                font_family=FONT,
                font_size=18,
                font_weight=650,
                text_anchor="middle",
                letter_spacing=2.2,
            ),
            class_="dealer",
        )
    room = 420 / len(shown)
    parts = []
    for index, hand in enumerate(shown):
        centre = WIDTH / 2 + (index - (len(shown) - 1) / 2) * (room + 12)
        parts.append(draw_hand(hand, 0, Place(centre, 192, 84, room)))
        if hand.note and not hand.outcome:
            width = fan(len(hand.cards), 84, room).width
            parts.append(pill(hand.note, centre + width / 2 + 60, 134, "#071d15", "#ffffff", 17, 0.8))
    return group(*parts, class_="dealer")

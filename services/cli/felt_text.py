"""A round drawn with letters: the felt after a step, the steps, and on request money, cards and rules.

Owns the terminal's picture of a RoundRecord; nothing is worked out here.
"""

from datetime import UTC, datetime

from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from services.surveillance.narration import money
from services.surveillance.records import CardView, HandView, RoundRecord, SeatView, StakeView, Step

SUITS = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
RED = frozenset("dh")


def draw(console: Console, record: RoundRecord, at: int, *, ledger: bool, shoe: bool, rules: bool) -> None:
    """Print the felt after step `at` (from 1), then the steps with that one marked."""
    step = record.steps[at - 1]
    console.print(_head(record))
    console.print(Panel(_felt(step), title=f"step {at} of {len(record.steps)}: {step.note}", title_align="left"))
    console.print(_steps(record, at))
    if shoe:
        console.print(_shoe(record))
    if ledger:
        console.print(_ledger(record))
    if rules:
        console.print(Panel(Text(record.rules_text.rstrip()), title=f"rules {record.rules_digest}", title_align="left"))


def card_text(view: CardView) -> Text:
    """A card as "K♦", a face-down one as "▒▒"."""
    if view.card is None:
        return Text("▒▒", style="dim")
    suit = view.card.suit
    return Text(f"{view.card.rank}{SUITS[suit]}", style="red" if suit in RED else "bold")


def _head(record: RoundRecord) -> Text:
    state = "over" if record.complete else "in progress"
    result = f", house {money(record.win_cents)}" if record.complete else ""
    return Text.assemble(
        (record.round_id, "bold"),
        f"  {state}, gaming day {record.gaming_day}, dealer {record.dealer}\n",
        f"{record.rules_name} version {record.rules_version} ({record.rules_digest[:12]}), ",
        f"shoe {record.shoe_id}, {record.decks} decks\n",
        f"staked {money(record.staked_cents)}, returned {money(record.returned_cents)}{result}",
    )


def _felt(step: Step) -> Table:
    grid = Table(box=None, pad_edge=False, header_style="bold", expand=False)
    for heading in ("seat", "cards", "total", "staked", "result", "rack"):
        grid.add_column(heading, justify="right" if heading in {"staked", "rack"} else "left")
    grid.add_row("dealer", _cards(step.dealer.cards), step.dealer.total, "", step.phase, "")
    for seat in step.seats:
        rows = [_hand(seat, hand) for hand in seat.hands] or [(Text(""), "", "", "")]
        for number, row in enumerate(rows):
            first = number == 0
            rack = money(seat.rack_cents) if first and seat.rack_cents is not None else ""
            grid.add_row(f"{seat.seat} {seat.patron}" if first else "", *row, rack)
        for stake in seat.beside:
            grid.add_row("", "", stake.kind, money(stake.amount_cents), _result(stake), "")
    return grid


def _hand(seat: SeatView, hand: HandView) -> tuple[Text, str, str, str]:
    cards = _cards(hand.cards)
    if hand.in_turn:
        cards = Text.assemble(("▶ ", "bold green"), cards)
    elif len(seat.hands) > 1:
        cards = Text.assemble(("· ", "dim"), cards)
    staked = " + ".join(money(stake.amount_cents) for stake in hand.stakes)
    results = [_result(stake) for stake in hand.stakes if stake.outcome]
    total = "blackjack" if hand.status == "natural" else hand.total
    return cards, total, staked, "; ".join(results) or ("" if hand.status == "playing" else hand.status)


def _cards(cards: tuple[CardView, ...]) -> Text:
    return Text(" ").join(card_text(card) for card in cards)


def _result(stake: StakeView) -> str:
    if not stake.outcome:
        return ""
    exact = "" if stake.due is None or stake.due == stake.returned_cents else f" of {stake.due} cents due"
    return f"{stake.outcome}, {money(stake.returned_cents)} back{exact}"


def _steps(record: RoundRecord, at: int) -> Table:
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("", "step", "recorded (UTC)", "offset", "event", "actor", "what happened"):
        grid.add_column(heading, justify="right" if heading in {"step", "event", "offset"} else "left")
    for step in record.steps:
        offset_ms = (step.recorded_time_us - step.occurred_time_us) // 1000
        grid.add_row(
            "▶" if step.number == at else "",
            str(step.number),
            _clock(step.recorded_time_us),
            f"{offset_ms:+} ms" if offset_ms else "",
            str(step.sequence),
            f"{step.actor_role} {step.actor_id}",
            step.note,
            style="bold" if step.number == at else "",
        )
    return grid


def _ledger(record: RoundRecord) -> Table:
    grid = Table(box=None, pad_edge=False, header_style="bold", title="money", title_justify="left")
    for heading in ("event", "from", "to", "amount", "why", "for"):
        grid.add_column(heading, justify="right" if heading in {"event", "amount"} else "left")
    for line in record.ledger:
        grid.add_row(
            str(line.sequence), line.source, line.target, money(line.amount_cents), line.reason, line.reference
        )
    return grid


def _shoe(record: RoundRecord) -> Table:
    grid = Table(box=None, pad_edge=False, header_style="bold", title="shoe", title_justify="left")
    for heading in ("event", "name", "position", "card", "note"):
        grid.add_column(heading, justify="right" if heading in {"event", "position"} else "left")
    for line in record.shoe:
        card = card_text(CardView(line.position, line.card)) if line.position else Text("")
        grid.add_row(str(line.sequence), line.event, str(line.position or ""), card, line.note)
    return grid


def _clock(time_us: int) -> str:
    return (
        datetime.fromtimestamp(time_us // 1_000_000, UTC).strftime("%H:%M:%S") + f".{time_us % 1_000_000 // 1000:03d}"
    )

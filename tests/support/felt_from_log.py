"""What lies on the felt after each event of a round, folded from the table's stored events alone.

The third opinion that pictures are compared with: it shares no code with surveillance or the console, only the table's event
classes and the counting of 30-806.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from services.game import round_events as e
from services.game.cards import Card
from services.game.hand import total
from services.game.round_words import Recipient
from services.journal.port import Recorded
from services.table.events import EVENTS
from services.wire.registry import EventTypes

TYPES: EventTypes[Any] = EventTypes("holecard.table.v1", EVENTS)

Drawn = dict[str, object]


@dataclass
class _Hand:
    cards: list[tuple[int, Card | None]] = field(default_factory=list)
    stakes: list[tuple[str, int, int]] = field(default_factory=list)


class FeltFromLog:
    """The felt of one round; `drawn` is what a picture must show, in its order."""

    def __init__(self) -> None:
        self._dealer: dict[int, _Hand] = {}
        self._seats: dict[int, list[_Hand]] = {}
        self._ended: dict[tuple[int, str, int], str] = {}

    def apply(self, event: Any) -> None:
        """Fold one event in."""
        match event:
            case e.WagerPlaced():
                hands = self._seats.setdefault(event.seat, [])
                if event.hand == len(hands):
                    hands.append(_Hand())
                hands[event.hand].stakes.append((event.kind, event.ordinal, event.amount_cents))
            case e.CardDealt(to=Recipient.DEALER):
                self._dealer.setdefault(event.dealer_hand, _Hand()).cards.append((event.position, event.card))
            case e.CardDealt():
                self._seats[event.seat][event.hand].cards.append((event.position, event.card))
            case e.HandDoubled():
                stake = (event.kind, event.ordinal, event.amount_cents)
                self._seats[event.seat][event.hand].stakes.append(stake)
            case e.HandSplit():
                moved = self._seats[event.seat][event.hand].cards.pop()
                new = _Hand([moved], [(event.kind, event.ordinal, event.amount_cents)])
                self._seats[event.seat].insert(event.new_hand, new)
            case e.HoleRevealed():
                self._turn_up(self._dealer[event.dealer_hand], event.position, event.card)
            case e.DoubleRevealed():
                self._turn_up(self._seats[event.seat][event.hand], event.position, event.card)
            case e.WagersSettled():
                for line in event.lines:
                    self._ended[line.seat, line.kind, line.ordinal] = line.outcome.value
            case _:
                pass

    def drawn(self) -> list[Drawn]:
        """Every hand that has cards: the dealer's, then seat by seat."""
        rows = [(0, number, hand) for number, hand in sorted(self._dealer.items())]
        rows += [
            (seat, number, hand) for seat, hands in sorted(self._seats.items()) for number, hand in enumerate(hands)
        ]
        return [self._row(seat, number, hand) for seat, number, hand in rows if hand.cards]

    def _row(self, seat: int, number: int, hand: _Hand) -> Drawn:
        shown = [card for _, card in hand.cards if card is not None]
        outcomes = [self._ended.get((seat, kind, ordinal), "") for kind, ordinal, _ in hand.stakes]
        return {
            "seat": seat,
            "hand": number,
            "total": str(total(shown)),
            "stake": sum(cents for _, _, cents in hand.stakes),
            "outcome": outcomes[0] if outcomes and all(outcomes) else "",
            "cards": [str(card) if card is not None else "face-down" for _, card in hand.cards],
        }

    @staticmethod
    def _turn_up(hand: _Hand, position: int, card: Card) -> None:
        hand.cards = [(place, card if place == position else known) for place, known in hand.cards]


def felts_of(log: Iterable[Recorded], round_id: str) -> list[list[Drawn]]:
    """What is on the felt after each of the round's events on the table's stream."""
    felt, steps = FeltFromLog(), []
    for recorded in log:
        envelope = recorded.envelope
        if envelope.stream.startswith("table:") and envelope.round_id == round_id:
            felt.apply(TYPES.decode(envelope.type, envelope.schema_version, envelope.payload))
            steps.append(felt.drawn())
    return steps

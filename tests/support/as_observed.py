"""A conducted table's log retold as devices would have seen it: the same cards, bets and signals as readings."""

from collections.abc import Iterable, Iterator
from typing import Any

from services.floor.physical_table import CONSOLE, SHOE, TRAY, Said
from services.game import round_events as re
from services.table import events as e
from services.table.client import ReadingKind as K

_SIGNALS = {
    re.HandHit: K.HIT_SIGNALLED,
    re.HandStood: K.STAND_SIGNALLED,
    re.HandSplit: K.SPLIT_SIGNALLED,
    re.HandSurrendered: K.SURRENDER_SIGNALLED,
    re.SurrenderDeclined: K.HAND_KEPT,
    re.InsuranceDeclined: K.INSURANCE_DECLINED,
    re.EvenMoneyTaken: K.EVEN_MONEY_TAKEN,
}
_STAKES = {re.HandDoubled: K.DOUBLE_SIGNALLED, re.InsurancePlaced: K.INSURANCE_SEEN}


def retold(events: Iterable[Any], decks: int) -> Iterator[list[Said]]:
    """What devices say of a table, one list for each round and whatever came before it."""
    said: list[Said] = []
    shoe, places, sitting = "", dict[int, int](), dict[str, int]()
    for event in events:
        if isinstance(event, e.PlayerSeated):
            sitting[event.session] = event.seat
            said.append(Said(CONSOLE, K.SEAT_TAKEN, {"seat": event.seat, "person": event.patron}))
        elif isinstance(event, e.PlayerLeft):
            said.append(Said(CONSOLE, K.SEAT_LEFT, {"seat": sitting.pop(event.session)}))
        elif isinstance(event, e.ShoeAssigned) and event.shoe_id != shoe:
            shoe, places = event.shoe_id, {}
            # It was shuffled before the round began, of which this event is a part.
            said.insert(len(said) - 1, Said(SHOE, K.SHOE_STARTED, {"decks": decks}))
        elif isinstance(event, re.CardDealt):
            places[event.position] = len(places) + 1
            seen = {"face_down": True} if event.face_down else {"card": event.card}
            said.append(Said(SHOE, K.CARD_DRAWN, seen))
        elif isinstance(event, re.HoleRevealed | re.DoubleRevealed):
            said.append(Said(SHOE, K.CARD_TURNED, {"card": event.card, "position": places[event.position]}))
        else:
            said += _plain(event)
        if isinstance(event, re.CardsPickedUp):
            yield said
            said = []


def _plain(event: Any) -> Iterator[Said]:
    """What needs no memory of what came before."""
    kind: Any = type(event)
    if kind in _SIGNALS:
        yield Said(CONSOLE, _SIGNALS[kind], {"seat": event.seat})
    elif kind in _STAKES:
        yield Said(CONSOLE, _STAKES[kind], {"seat": event.seat, "amount_cents": event.amount_cents})
    elif kind is re.RoundOpened:
        yield Said(CONSOLE, K.ROUND_STARTED)
    elif kind is re.WagerPlaced:
        yield Said(TRAY, K.BET_SEEN, {"seat": event.seat, "amount_cents": event.amount_cents})
    elif kind is re.BettingClosed:
        yield Said(CONSOLE, K.BETTING_CLOSED)
    elif kind is re.HoleChecked:
        yield Said(CONSOLE, K.HOLE_CHECKED, {"makes_blackjack": event.makes_blackjack})
    elif kind is re.CardsPickedUp:
        yield Said(CONSOLE, K.PICKED_UP)

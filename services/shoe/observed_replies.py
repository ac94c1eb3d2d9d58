"""What the shoe answers about physical cards that devices watch, from the state alone."""

from collections.abc import Iterable
from dataclasses import dataclass

from services.game.cards import Card
from services.shoe.observing import where
from services.shoe.state import Shoe


@dataclass(frozen=True, slots=True)
class ObservedShoe:
    """The physical shoe in play, "" when there is none: its decks, how many cards left it, and whether it ends."""

    shoe_id: str
    decks: int
    drawn: int
    last_round: bool


@dataclass(frozen=True, slots=True)
class ObservedCard:
    """Where a card that was seen stands in its shoe; `impossible` when the decks hold no such card any more."""

    observation: str
    shoe_id: str
    decks: int
    round_id: str
    position: int
    impossible: bool
    last_round: bool


@dataclass(frozen=True, slots=True)
class ObservedCards:
    """The cards of a call, in its order."""

    cards: tuple[ObservedCard, ...]


@dataclass(frozen=True, slots=True)
class TurnedCard:
    """A card that was turned over; `impossible` as in `ObservedCard`."""

    shoe_id: str
    position: int
    card: Card
    impossible: bool


def observed_shoe(shoe: Shoe) -> ObservedShoe:
    """Answer with the physical shoe in play."""
    live = shoe.live
    if live is None or not live.observed:
        return ObservedShoe("", 0, 0, last_round=False)
    return ObservedShoe(live.id, live.decks, len(live.out), live.last_round)


def observed_cards(shoe: Shoe, observations: Iterable[str]) -> ObservedCards:
    """Answer with where these cards stand."""
    return ObservedCards(tuple(_observed(shoe, observation) for observation in observations))


def turned_card(shoe: Shoe, position: int) -> TurnedCard:
    """Answer a card that was turned over."""
    live = shoe.live
    card = None if live is None else live.card(position)
    if live is None or card is None or card.seen is None:
        raise ValueError(f"no card was turned over at {position}")
    return TurnedCard(live.id, position, card.seen, position in live.impossible)


def _observed(shoe: Shoe, observation: str) -> ObservedCard:
    found = where(shoe, observation)
    if found is None:
        raise ValueError(f"{observation} was not recorded")
    live, position = found
    card = live.out[position - 1]
    return ObservedCard(
        observation, live.id, live.decks, card.round_id, position, position in live.impossible, card.last_round
    )

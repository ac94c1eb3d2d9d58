"""The 52 cards of a standard deck (30-806), each one object for the whole process.

Owns a card's text, value and order. Promises that equal cards are the same object, so that comparing and counting cost
nothing, and that copies and pickles lead back to it. Knows no decks in use (`composition`) and no totals (`hand`).
"""

from typing import Final, Self

from services.game.rule_rejections import UnknownCard

RANKS: Final = "23456789TJQKA"
SUITS: Final = "cdhs"


class Card:
    """One card. `Card("A", "s")` and `Card.parse("As")` give the same object each time.

    `rank` is one of 23456789TJQKA and `suit` one of cdhs. `value` is 2 to 11 with the ace as 11; `points` is the same
    with the ace as 1, which is what totals add up. `order` is 0 to 51, by suit and then rank, the order of a new deck.
    """

    __slots__ = ("is_ace", "is_ten", "order", "points", "rank", "suit", "text", "value")

    rank: str
    suit: str
    text: str
    value: int
    points: int
    order: int
    is_ace: bool
    is_ten: bool

    def __new__(cls, rank: str, suit: str) -> Self:
        """Give the one object for this card; raise `UnknownCard` for any other rank or suit."""
        return cls.parse(f"{rank}{suit}")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read "As", "Td", "2c". Exactly so: no lower-case rank, no "10". Raises `UnknownCard` (30-806(2))."""
        found = _BY_TEXT.get(text)
        if found is None:
            raise UnknownCard(f"{text!r} is no card of a standard deck", card=str(text)[:20])
        return found  # type: ignore[return-value]  # Card is final in spirit: the table holds the only instances

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Card({self.text})"

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return _card_from_text, (self.text,)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a card never changes: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a card never changes: {name}")

    def __lt__(self, other: "Card") -> bool:
        return self.order < other.order

    def __le__(self, other: "Card") -> bool:
        return self.order <= other.order

    def __gt__(self, other: "Card") -> bool:
        return self.order > other.order

    def __ge__(self, other: "Card") -> bool:
        return self.order >= other.order


def _card_from_text(text: str) -> Card:
    return Card.parse(text)


def _new_deck() -> dict[str, Card]:
    """Make the 52 objects, by suit and then rank."""
    deck: dict[str, Card] = {}
    for suit in SUITS:
        for position, rank in enumerate(RANKS):
            value = 11 if rank == "A" else min(position + 2, 10)
            card = object.__new__(Card)
            for name, fact in (
                ("rank", rank),
                ("suit", suit),
                ("text", rank + suit),
                ("value", value),
                ("points", 1 if rank == "A" else value),
                ("order", len(deck)),
                ("is_ace", rank == "A"),
                ("is_ten", value == 10),
            ):
                object.__setattr__(card, name, fact)
            deck[card.text] = card
    return deck


_BY_TEXT: Final = _new_deck()
_STANDARD_DECK: Final = tuple(_BY_TEXT.values())


def standard_deck() -> tuple[Card, ...]:
    """Give the 52 cards of 30-806(2) in the order of a new deck: clubs, diamonds, hearts, spades, each 2 to ace."""
    return _STANDARD_DECK

"""The state of a round: what folding its events gives.

Owns the shape of the state, no rule. `Round`, `Hand` and `DealerHand` are immutable. Each has a mutable twin of the
same fields (`RoundState` …), the draft, which only code that owns it alone may change: `thaw` copies a round into a
draft, `freeze` turns a draft into a round without copying. So one command, or one simulated game, costs one copy
however many events it makes.
"""

from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import Any

from services.game.cards import Card
from services.game.hand import Total, total
from services.game.house_rules import HouseRules
from services.game.round_pay import PayTable
from services.game.round_words import HandStatus, Phase, SeatedPlayer, Stake, Target

NO_CARDS = total(())


class _Frozen:
    """Makes a twin immutable; adds no field, so that a draft can become it in place."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __setstate__(self, state: tuple[object, dict[str, object]]) -> None:
        for name, value in state[1].items():
            object.__setattr__(self, name, value)


@dataclass(slots=True)
class HandState:
    """One player's hand.

    `number` counts from 0 in the seat's playing order and moves up when a hand before it is split.
    """

    seat: int
    number: int
    player: str
    stakes: tuple[Stake, ...]
    """What is staked on the hand itself: main or split, and double."""
    wager_cents: int
    """The wager that doubles, splits and insurance are measured by."""
    cards: tuple[Card, ...] = ()
    positions: tuple[int, ...] = ()
    """Shoe positions of its cards; one more than the cards while a doubled hand's card lies face down."""
    total: Total = NO_CARDS
    status: HandStatus = HandStatus.PLAYING
    from_split: bool = False
    split_aces: bool = False
    doubled: bool = False
    hidden: int | None = None
    """The position of its face-down card."""
    side: tuple[Stake, ...] = ()
    """Open wagers beside the hand's own: insurance and, in variations, side wagers."""
    answered: bool = False
    """Whether the offer of insurance or even money was answered."""
    kept: bool = False
    """Whether surrender was declined before the dealer's check."""
    settled: bool = False


class Hand(_Frozen, HandState):
    """A hand that never changes."""

    __slots__ = ()


@dataclass(slots=True)
class DealerHandState:
    """One hand of the dealer's; the first card is the up card."""

    cards: tuple[Card, ...] = ()
    positions: tuple[int, ...] = ()
    total: Total = NO_CARDS
    hole: int | None = None
    """The position of the hole card while it lies face down; its value is known to nobody here (30-823)."""


class DealerHand(_Frozen, DealerHandState):
    """A dealer's hand that never changes."""

    __slots__ = ()


@dataclass(slots=True)
class RoundState:
    """Everything about a round that its events tell."""

    round_id: str
    rules: HouseRules
    pays: PayTable = field(compare=False, repr=False)
    holders: Mapping[int, str] = field(compare=False, repr=False)
    """The players of `seats` by seat."""
    seats: tuple[SeatedPlayer, ...]
    first_of_shoe: bool
    phase: Phase = Phase.BETTING
    hands: tuple[HandState, ...] = ()
    """In playing order: by seat from the dealer's left, a split hand right after the one that it came from."""
    dealers: tuple[DealerHandState, ...] = ()
    pending: tuple[Target, ...] = ()
    """Where the next cards go, in order; nothing else can happen before they came."""
    turn: int = 0
    """The index in `hands` of the hand that may act, or in the first deal gets the next card; their number once all have."""
    hole_checked: bool | None = None
    """The answer of the check for a blackjack, None when there was none."""
    revision: int = 0
    """How many settlements there were."""
    staked_cents: int = 0
    returned_cents: int = 0
    rack: tuple[int, ...] = ()
    """Shoe positions of cards that were already taken from the layout, in order."""


class Round(_Frozen, RoundState):
    """A round that never changes: what `evolve` takes and gives."""

    __slots__ = ()


_HAND: Any = attrgetter(*(f.name for f in fields(HandState)))
_DEALER: Any = attrgetter(*(f.name for f in fields(DealerHandState)))
_ROUND: Any = attrgetter(*(f.name for f in fields(RoundState)))


def thaw(round_: RoundState) -> RoundState:
    """Copy a round into a draft that the caller alone owns."""
    draft = RoundState(*_ROUND(round_))
    draft.hands = tuple([HandState(*_HAND(hand)) for hand in round_.hands])
    draft.dealers = tuple([DealerHandState(*_DEALER(hand)) for hand in round_.dealers])
    return draft


def freeze(draft: RoundState) -> Round:
    """Turn a draft into a round, in place: the caller must not use the draft as one any more."""
    for hand in draft.hands:
        hand.__class__ = Hand
    for dealer in draft.dealers:
        dealer.__class__ = DealerHand
    draft.__class__ = Round
    return draft  # type: ignore[return-value]  # it became one in the line above


def hand_at(round_: RoundState, seat: int, number: int) -> HandState | None:
    """Give the hand of this seat with this number, None when there is none."""
    for hand in round_.hands:
        if hand.seat == seat and hand.number == number:
            return hand
    return None

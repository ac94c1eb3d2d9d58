"""Wagers and their pay as data: what may be staked, when, how much, what decides it, and what the main wager returns.

Owns the records by which a rule set declares its game (DESIGN §5, "How variations fit"). The standard game is declared
by them too, so that nothing elsewhere knows a game's name. Evaluates nothing: the round asks, and `net_of` only looks
up.
"""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Final

MAIN: Final = "main"
INSURANCE: Final = "insurance"
DOUBLE: Final = "double"
SPLIT: Final = "split"
TIP: Final = "tip"

BY_MAIN_PAYS: Final = "main-pays"
BY_DEALER_BLACKJACK: Final = "dealer-blackjack"
BY_HAND: Final = "with-hand"
EVALUATORS: Final = frozenset({BY_MAIN_PAYS, BY_DEALER_BLACKJACK})
"""Every evaluator that a rule set may name; another one is refused, because nothing would pay it."""


class Moment(StrEnum):
    """A point of the round at which a wager is placed or resolved, in the order in which they come."""

    BETTING = "betting"
    FIRST_TWO_CARDS = "first-two-cards"
    UP_CARD_KNOWN = "up-card-known"
    AFTER_PEEK = "after-peek"
    HAND_TURN = "hand-turn"
    AFTER_SPLIT = "after-split"
    HAND_FINISHED = "hand-finished"
    DEALER_FINISHED = "dealer-finished"
    ROUND_END = "round-end"
    LATER_ROUND = "later-round"


class PlacedOn(StrEnum):
    """What a wager belongs to: the seat as a whole, or one hand of it."""

    SEAT = "seat"
    HAND = "hand"


@dataclass(frozen=True, slots=True)
class WagerKind:
    """One kind of wager that a game takes.

    `name` is its stable id, part of every hold id. `requires` names the wager that must already stand ("" for none),
    and `least` and `most` bound this one as a share of that one (None: no such bound). `minimum_cents` and
    `maximum_cents` are its own posted limits, 0 for none; the main wager's are `HouseRules.limits`. A house option may
    narrow a kind (double for less, exactly half) and never widens it. `resolved_by` names the pure evaluator:
    "main-pays" pays it with its hand by the rules' `main_pays`, "dealer-blackjack" pays `insurance_pays` if the dealer
    has a blackjack.
    """

    name: str
    placed_at: Moment
    placed_on: PlacedOn
    resolved_at: Moment
    resolved_by: str
    requires: str = ""
    least: Fraction | None = None
    most: Fraction | None = None
    minimum_cents: int = 0
    maximum_cents: int = 0


class MainResult(StrEnum):
    """How a hand ended against the dealer's, before any money (30-807, 30-808, 30-812, 30-829).

    NATURAL is a blackjack that the dealer has not; NATURAL_TIE is one that the dealer has too. BUST and SURRENDER need
    no dealer. A voided hand has no result: its stake goes back whatever the pay rules say (30-828(1)).
    """

    NATURAL = "natural"
    NATURAL_TIE = "natural-tie"
    EVEN_MONEY = "even-money"
    WIN = "win"
    TIE = "tie"
    LOSE = "lose"
    BUST = "bust"
    SURRENDER = "surrender"


@dataclass(frozen=True, slots=True)
class PayRule:
    """What one result of the main wager brings.

    `net` is the gain as a share of the stake: 1 wins it once over, 0 gives it back, -1 loses it, -1/2 is a surrender.
    None stands for the posted odds `HouseRules.blackjack_pays`. The conditions narrow the rule: the hand's total, its
    least number of cards, whether it was doubled, the dealer's total; None asks nothing. The first rule that fits is
    the one.
    """

    result: MainResult
    net: Fraction | None = None
    hand_total: int | None = None
    least_cards: int | None = None
    doubled: bool | None = None
    dealer_total: int | None = None

    @property
    def is_plain(self) -> bool:
        """Whether the rule has no condition beside the result."""
        return (
            self.hand_total is None and self.least_cards is None and self.doubled is None and self.dealer_total is None
        )


STANDARD_WAGER_KINDS: Final = (
    WagerKind(MAIN, Moment.BETTING, PlacedOn.HAND, Moment.DEALER_FINISHED, BY_MAIN_PAYS),
    WagerKind(
        INSURANCE,
        Moment.UP_CARD_KNOWN,
        PlacedOn.HAND,
        Moment.AFTER_PEEK,
        BY_DEALER_BLACKJACK,
        requires=MAIN,
        most=Fraction(1, 2),
    ),
    WagerKind(
        DOUBLE, Moment.HAND_TURN, PlacedOn.HAND, Moment.DEALER_FINISHED, BY_MAIN_PAYS, requires=MAIN, most=Fraction(1)
    ),
    WagerKind(
        SPLIT,
        Moment.HAND_TURN,
        PlacedOn.HAND,
        Moment.DEALER_FINISHED,
        BY_MAIN_PAYS,
        requires=MAIN,
        least=Fraction(1),
        most=Fraction(1),
    ),
)
"""The wagers of 30-807, 30-812, 30-813 and 30-814."""

TIP_BET: Final = WagerKind(
    TIP, Moment.BETTING, PlacedOn.HAND, Moment.DEALER_FINISHED, BY_HAND, requires=MAIN, most=Fraction(1)
)
"""A toke that rides on a wager (30-803(3)(i)): chips for the dealers, at most as much as the wager, settled with its hand.

It is not declared by a rule set but taken where `tip_bets` is posted. Won, it goes to the dealers with its pay; pushed or
surrendered, it goes back to the patron; lost, to the house. After a split it rides on the hand that kept the first card.
"""

STANDARD_MAIN_PAYS: Final = (
    PayRule(MainResult.NATURAL, None),
    PayRule(MainResult.NATURAL_TIE, Fraction(0)),
    PayRule(MainResult.EVEN_MONEY, Fraction(1)),
    PayRule(MainResult.WIN, Fraction(1)),
    PayRule(MainResult.TIE, Fraction(0)),
    PayRule(MainResult.LOSE, Fraction(-1)),
    PayRule(MainResult.BUST, Fraction(-1)),
    PayRule(MainResult.SURRENDER, Fraction(-1, 2)),
)
"""The pay of 30-808, 30-810, 30-812 and 30-829."""


@dataclass(frozen=True, slots=True)
class FinishedHand:
    """The facts of a finished hand that a pay rule may ask for; `dealer_total` None: the dealer does not matter."""

    result: MainResult
    total: int
    cards: int
    doubled: bool
    dealer_total: int | None


def net_of(pays: tuple[PayRule, ...], blackjack_pays: Fraction, hand: FinishedHand) -> Fraction:
    """Look up the gain of a finished hand as an exact share of its stake, -1 upwards.

    Raises `LookupError` when no rule fits, which cannot happen under a rule set that was checked.
    """
    for rule in pays:
        if rule.result is hand.result and (rule.is_plain or _fits(rule, hand)):
            return blackjack_pays if rule.net is None else rule.net
    raise LookupError(f"no pay rule fits {hand.result}")


def _fits(rule: PayRule, hand: FinishedHand) -> bool:
    return (
        rule.hand_total in (None, hand.total)
        and (rule.least_cards is None or hand.cards >= rule.least_cards)
        and rule.doubled in (None, hand.doubled)
        and rule.dealer_total in (None, hand.dealer_total)
    )

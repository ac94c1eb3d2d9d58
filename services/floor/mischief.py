"""Commands that break a rule on purpose, a small share of all: each must be refused and must change nothing.

Every prank knows which refusals are right for it. One that is accepted, or refused for another reason, is counted and makes
the simulation fail.
"""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from services.floor.desk import Desk
from services.floor.figures import Figures
from services.floor.patrons import Patron
from services.game.round_words import Action
from services.runtime.failures import CallFailed
from services.shoe.client import DrawCards
from services.table.client import Act, BuyIn, ChipCount, PlaceWagers, SeatWager, TableView, TakeInsurance, VoidRound
from services.wire.refusal import Refused

Send = Callable[[Desk, TableView, Patron], Awaitable[object]]
HUGE_CENTS = 10**15


class Occasion(StrEnum):
    """When in a round a prank makes sense."""

    BETTING = "betting"
    BETTING_CLOSED = "betting-closed"
    QUESTION = "question"
    ROUND_OVER = "round-over"


@dataclass(frozen=True, slots=True)
class Prank:
    """One way to break a rule, and the refusals that are right for it."""

    name: str
    occasion: Occasion
    send: Send
    refusals: frozenset[str]


class Mischief:
    """Tries a prank at `share` of all occasions (0 to 1)."""

    def __init__(self, desk: Desk, chance: random.Random, figures: Figures, share: float) -> None:
        self._desk = desk
        self._chance = chance
        self._figures = figures
        self._share = share

    async def attempt(self, occasion: Occasion, view: TableView, seated: dict[str, Patron]) -> None:
        """Perhaps break a rule, by one of the patrons at the table."""
        if view.round is None or not seated or self._chance.random() >= self._share:
            return
        prank = self._chance.choice([prank for prank in PRANKS if prank.occasion is occasion])
        patron = self._chance.choice(sorted(seated.values(), key=lambda p: p.id))
        self._figures.mischief += 1
        try:
            await prank.send(self._desk, view, patron)
        except Refused as refused:
            if refused.name not in prank.refusals:
                self._figures.accepted_mischief[f"{prank.name}: refused as {refused.name}"] += 1
        except CallFailed:
            self._figures.accepted_mischief[f"{prank.name}: failed"] += 1
        else:
            self._figures.accepted_mischief[prank.name] += 1


def _stake(amount: Callable[[TableView], int]) -> Send:
    async def send(desk: Desk, view: TableView, patron: Patron) -> object:
        wager = SeatWager(patron.session, patron.seat, "main", amount(view))
        command = PlaceWagers(_round_id(view), (wager,))
        return await desk.clients.table.place_wagers(desk.table, desk.by_player(patron.id), command)

    return send


async def _act_after_the_end(desk: Desk, view: TableView, patron: Patron) -> object:
    act = Act(_round_id(view), patron.session, patron.seat, 0, Action.HIT)
    return await desk.clients.table.act(desk.table, desk.by_player(patron.id), act)


async def _act_for_another(desk: Desk, view: TableView, patron: Patron) -> object:
    asked = view.round.questions[0] if view.round else None
    if asked is None:
        return await _act_after_the_end(desk, view, patron)
    act = Act(_round_id(view), asked.session, asked.seat, asked.hand, Action.STAND)
    return await desk.clients.table.act(desk.table, desk.by_player("P-stranger"), act)


async def _surrender_a_hand_that_is_not_there(desk: Desk, view: TableView, patron: Patron) -> object:
    act = Act(_round_id(view), patron.session, patron.seat, 9, Action.SURRENDER)
    return await desk.clients.table.act(desk.table, desk.by_player(patron.id), act)


async def _insure_late(desk: Desk, view: TableView, patron: Patron) -> object:
    insure = TakeInsurance(_round_id(view), patron.session, patron.seat, HUGE_CENTS)
    return await desk.clients.table.take_insurance(desk.table, desk.by_player(patron.id), insure)


async def _draw_a_card(desk: Desk, view: TableView, patron: Patron) -> object:
    draw = DrawCards(desk.fresh_id("forged"), _round_id(view), (False,))
    return await desk.clients.shoe.draw_cards(desk.table, desk.by_player(patron.id), draw)


async def _void_the_round(desk: Desk, view: TableView, patron: Patron) -> object:
    command = VoidRound(_round_id(view), "I did not like it")
    return await desk.clients.table.void_round(desk.table, desk.by_dealer(), command)


async def _buy_more_than_paid(desk: Desk, view: TableView, patron: Patron) -> object:
    cash = (ChipCount(denomination_cents=10_000, quantity=2),)
    command = BuyIn(desk.fresh_id("buy-in"), patron.session, cash, 30_000)
    return await desk.clients.table.buy_in(desk.table, desk.by_dealer(), command)


def _round_id(view: TableView) -> str:
    return view.round.round_id if view.round else ""


_NOT_NOW = {"BettingClosed", "RoundOver", "WrongRound", "NoRoundInProgress"}
# Who sits a round out has no hand at his seat in it.
_NOT_IN_IT = {"NotYourSession", "UnknownHand"}

PRANKS: tuple[Prank, ...] = (
    Prank(
        "stake below the minimum",
        Occasion.BETTING,
        _stake(lambda view: view.limits.minimum_cents - 1 if view.limits else 1),
        frozenset({"StakeBelowMinimum", "StakeNotInIncrement"}),
    ),
    Prank("stake above the maximum", Occasion.BETTING, _stake(lambda _: HUGE_CENTS), frozenset({"StakeAboveMaximum"})),
    Prank("stake of nothing", Occasion.BETTING, _stake(lambda _: 0), frozenset({"StakeNotWhole", "StakeBelowMinimum"})),
    Prank(
        "negative stake", Occasion.BETTING, _stake(lambda _: -500), frozenset({"StakeNotWhole", "StakeBelowMinimum"})
    ),
    Prank(
        # No habit stakes so much: the very wager that stands already would rightly be answered as accepted, once more.
        "bet after the close",
        Occasion.BETTING_CLOSED,
        _stake(lambda view: view.limits.maximum_cents if view.limits else HUGE_CENTS),
        frozenset(_NOT_NOW | {"WagerLocked"}),
    ),
    Prank("play another's hand", Occasion.QUESTION, _act_for_another, frozenset({"NotYourHand", "NotYourSession"})),
    Prank(
        "surrender a hand that is not there",
        Occasion.QUESTION,
        _surrender_a_hand_that_is_not_there,
        frozenset(_NOT_IN_IT | {"NotYourTurn", "NotYourHand", "AnswerOutOfTurn"}),
    ),
    Prank(
        "insure for more than half",
        Occasion.QUESTION,
        _insure_late,
        frozenset(_NOT_IN_IT | {"InsuranceOverHalf", "NoAceUp", "InsuranceClosed", "InsuranceNotOffered"}),
    ),
    Prank(
        "draw a card as a player", Occasion.QUESTION, _draw_a_card, frozenset({"NotAuthorised", "ProcedureNotYours"})
    ),
    Prank(
        "void the round as a dealer", Occasion.QUESTION, _void_the_round, frozenset({"NotSupervisor", "NotAuthorised"})
    ),
    Prank("act after the end", Occasion.ROUND_OVER, _act_after_the_end, frozenset(_NOT_NOW | _NOT_IN_IT)),
    Prank("chips for more than the cash", Occasion.ROUND_OVER, _buy_more_than_paid, frozenset({"BuyInUnbalanced"})),
)

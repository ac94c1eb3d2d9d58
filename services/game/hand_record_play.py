"""Playing a hand record through the real round, and comparing the result with what the record expects.

Owns how a record's cards and actions answer the round's steps. Promises that every card and every action is used
exactly, in order, or the record is refused with the field. Pure: the hole card comes from the record's cards, and the
round learns it at its reveal.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from services.game import round_commands as ask
from services.game.hand_record import HandRecord, HandRecordRefused, RecordedAction
from services.game.rejections import Rejection
from services.game.round import RoundPlay, open_round
from services.game.round_events import RoundEvent, WagersSettled
from services.game.round_rejections import RoundOver
from services.game.round_steps import (
    AwaitDecision,
    AwaitInsurance,
    AwaitWagers,
    CheckHoleCard,
    DrawCards,
    PickUpCards,
    RevealHoleCard,
    RoundComplete,
    SettleHands,
)
from services.game.round_words import Action, DealtCard, SettlementLine, Wager
from services.game.wager_kinds import DOUBLE, INSURANCE, MAIN, SPLIT

_INSURANCE: Final = ("insure", "decline-insurance")
_COMMANDS: Final[dict[str, Callable[[int, int], ask.Command]]] = {
    "hit": ask.Hit,
    "stand": ask.Stand,
    "double": ask.DoubleDown,
    "split": ask.Split,
    "surrender": ask.SurrenderHand,
    "insure": lambda seat, _hand: ask.TakeInsurance(seat),
    "decline-insurance": lambda seat, _hand: ask.DeclineInsurance(seat),
}


def play_record(record: HandRecord) -> dict[str, Any]:
    """Play a record and give its result in the shape of `expect`.

    Raises `HandRecordRefused`, naming the action or card.
    """
    player = _Player(record)
    player.play()
    return player.result()


def played_events(record: HandRecord) -> tuple[RoundEvent, ...]:
    """Play a record and give the round's events after its opening. Raises `HandRecordRefused`."""
    player = _Player(record)
    player.play()
    return tuple(player.events)


def differences(expected: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """Name every place where two results differ, one sentence each: empty when they are equal."""
    return _differences("", expected, found)


class _Player:
    """One record on its way through the round: the next card, the next action, and the events so far."""

    def __init__(self, record: HandRecord) -> None:
        self._record = record
        self._round = RoundPlay(open_round("record#1", record.rules), record.rules)
        self._next_card = 0
        self._next_action = 0
        self.events: list[RoundEvent] = []

    def play(self) -> None:
        """Answer every step from the record until the round is complete."""
        while not isinstance(step := self._round.next_step(), RoundComplete):
            if isinstance(step, DrawCards):
                self._draw(step)
            elif isinstance(step, AwaitDecision):
                self._decide(step)
            elif isinstance(step, AwaitInsurance):
                self._insure()
            elif isinstance(step, CheckHoleCard):
                card = self._record.cards[step.position]
                up_card = self._round.state.dealers[0].cards[0]
                self._do(ask.RecordHoleCheck(card.is_ten if up_card.is_ace else card.is_ace), "cards")
            elif isinstance(step, RevealHoleCard):
                self._do(ask.RevealHole(step.position, self._record.cards[step.position]), "cards")
            elif isinstance(step, AwaitWagers):
                self._wager()
            elif isinstance(step, SettleHands):
                self._do(ask.SettleWagers(), "")
            elif isinstance(step, PickUpCards):
                self._do(ask.PickUpHands(), "")
        self._check_all_used()

    def _do(self, command: ask.Command, field: str) -> None:
        try:
            self.events += self._round.do(command)
        except Rejection as refused:
            raise HandRecordRefused(f"{refused.name} ({refused.rule}): {refused.message}", field) from refused

    def _wager(self) -> None:
        for at, seat in enumerate(self._record.seats):
            player = f"seat-{seat.seat}"
            wagers = [Wager(seat.seat, player, MAIN, seat.wager_cents)]
            wagers += [Wager(seat.seat, player, kind, amount) for kind, amount in seat.side]
            self._do(ask.PlaceWagers(tuple(wagers)), f"seats[{at}]")
        self._do(ask.CloseBetting(), "seats")

    def _draw(self, step: DrawCards) -> None:
        cards = self._record.cards
        first = self._next_card
        last = first + len(step.targets)
        if last > len(cards):
            raise HandRecordRefused(f"too few: the round needs at least {last}, the record has {len(cards)}", "cards")
        self._next_card = last
        dealt = [
            DealtCard(first + at, None if target.face_down else cards[first + at])
            for at, target in enumerate(step.targets)
        ]
        self._do(ask.DealCards(tuple(dealt)), f"cards[{first}]")

    def _action(self) -> RecordedAction | None:
        actions = self._record.actions
        return actions[self._next_action] if self._next_action < len(actions) else None

    def _take(self, action: RecordedAction) -> None:
        field = f"actions[{self._next_action}]"
        self._next_action += 1
        self._do(_COMMANDS[action.do](action.seat, action.hand), field)

    def _insure(self) -> None:
        """Take the insurance decisions; a seat that the record says nothing about was not asked."""
        action = self._action()
        if action is not None and action.do in _INSURANCE:
            if action.hand != 0:
                raise HandRecordRefused("insurance is decided for hand 0", f"actions[{self._next_action}].hand")
            self._take(action)
        else:
            self._do(ask.CloseInsurance(), "actions")

    def _decide(self, step: AwaitDecision) -> None:
        action = self._action()
        mine = action is not None and (action.seat, action.hand) == (step.seat, step.hand)
        if Action.DECLINE_SURRENDER in step.allowed and not (mine and action is not None and action.do == "surrender"):
            # A record says nothing of an early surrender that was not taken.
            self._do(ask.DeclineSurrender(step.seat, step.hand), "actions")
        elif not mine and self._is_split_ace(step):
            # A split ace with one card needs no action, even where the house would let it be split again.
            self._do(ask.Stand(step.seat, step.hand), "actions")
        elif action is None:
            raise HandRecordRefused(f"they end, and seat {step.seat} hand {step.hand} is still to act", "actions")
        else:
            self._take(action)

    def _is_split_ace(self, step: AwaitDecision) -> bool:
        state = self._round.state
        return state.hands[state.turn].split_aces and Action.HIT not in step.allowed

    def _check_all_used(self) -> None:
        actions, cards = self._record.actions, self._record.cards
        if self._next_action < len(actions):
            left = actions[self._next_action]
            raise HandRecordRefused(
                f"{RoundOver.__name__}: seat {left.seat} hand {left.hand} cannot {left.do}, the round is over",
                f"actions[{self._next_action}]",
            )
        if self._next_card < len(cards):
            raise HandRecordRefused(
                f"left over: the round used {self._next_card} of {len(cards)}", f"cards[{self._next_card}]"
            )

    def result(self) -> dict[str, Any]:
        """Give the result in the shape of `expect`."""
        lines: dict[int, list[SettlementLine]] = {}
        for event in self.events:
            if isinstance(event, WagersSettled):
                for line in event.lines:
                    lines.setdefault(line.seat, []).append(line)
        state = self._round.state
        dealer = [str(card) for card in state.dealers[0].cards]
        seats = []
        for seat in self._record.seats:
            mine = lines[seat.seat]
            hands = [
                _hand_result([str(card) for card in hand.cards], hand.number, mine)
                for hand in state.hands
                if hand.seat == seat.seat
            ]
            insured = [line for line in mine if line.kind == INSURANCE]
            insurance = {"stake": insured[0].stake_cents, "returned": insured[0].returned_cents} if insured else None
            net = sum([line.returned_cents - line.stake_cents for line in mine])
            seats.append({"seat": seat.seat, "hands": hands, "insurance": insurance, "net": net})
        return {"dealer": dealer, "seats": seats}


def _hand_result(cards: list[str], number: int, lines: list[SettlementLine]) -> dict[str, Any]:
    own = [line for line in lines if line.hand == number and line.kind in (MAIN, SPLIT, DOUBLE)]
    return {
        "cards": cards,
        "outcome": own[0].outcome.value,
        "stake": sum([line.stake_cents for line in own]),
        "returned": sum([line.returned_cents for line in own]),
    }


def _differences(path: str, expected: object, found: object) -> list[str]:
    if isinstance(expected, dict) and isinstance(found, dict):
        names = [*expected, *(name for name in found if name not in expected)]
        nothing = object()
        return [
            difference
            for name in names
            for difference in _differences(
                f"{path}.{name}" if path else str(name), expected.get(name, nothing), found.get(name, nothing)
            )
        ]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found, strict=True))
        return [difference for at, (left, right) in pairs for difference in _differences(f"{path}[{at}]", left, right)]
    if expected == found and type(expected) is type(found):
        return []
    return [f"{path}: expected {_shown(expected)}, got {_shown(found)}"]


def _shown(value: object) -> str:
    return "nothing" if type(value) is object else repr(value)

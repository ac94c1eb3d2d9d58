"""A physical table as it would stand in a casino: a dealer, guests, a shoe full of real cards, and devices that watch.

Owns the simulated reality and what an honest dealer's devices say of it, in the words of the device protocol. It plays by
the public rules of the game (services/game) with cards of its own, which no service of the house knows before a device does.
"""

import random
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from services.floor.habits import HABITS, Habit, Sight
from services.game import round as game
from services.game import round_commands as rc
from services.game import round_steps as steps
from services.game.cards import Card, standard_deck
from services.game.hand import is_blackjack
from services.game.house_rules import HouseRules
from services.game.round_words import Action, DealtCard, SettlementLine, Target, Wager
from services.game.wager_kinds import MAIN
from services.table.client import IrregularityKind, ReadingKind

SHOE, CONSOLE, TRAY, TERMINAL = "shoe", "console", "tray", "terminal"
SUPERVISOR = "S-1"
CUT_AT_PERCENT = 75

Irregular = IrregularityKind
_K = ReadingKind
_SIGNALS = {
    Action.HIT: _K.HIT_SIGNALLED,
    Action.STAND: _K.STAND_SIGNALLED,
    Action.DOUBLE: _K.DOUBLE_SIGNALLED,
    Action.SPLIT: _K.SPLIT_SIGNALLED,
    Action.SURRENDER: _K.SURRENDER_SIGNALLED,
    Action.DECLINE_SURRENDER: _K.HAND_KEPT,
}
_ANSWERS = {
    Action.INSURE: _K.INSURANCE_SEEN,
    Action.DECLINE_INSURANCE: _K.INSURANCE_DECLINED,
    Action.EVEN_MONEY: _K.EVEN_MONEY_TAKEN,
}


@dataclass(frozen=True, slots=True)
class Said:
    """What one device (its place at the table: shoe, console, tray or supervisor's terminal) is to report."""

    device: str
    kind: ReadingKind
    fields: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class PhysicalRound:
    """One round as it really went: what the devices said, how it was settled, to the cent, and the dealer's mistakes."""

    said: list[Said]
    lines: tuple[SettlementLine, ...]
    mistakes: tuple[IrregularityKind, ...]

    @property
    def returned_cents(self) -> dict[int, int]:
        """What lies with each seat after paying."""
        seats: dict[int, int] = {}
        for line in self.lines:
            seats[line.seat] = seats.get(line.seat, 0) + line.returned_cents
        return seats


class PhysicalTable:
    """One table with `seats` guests. `chance` makes the cards, the guests' choices and their bets.

    `mistakes` is the share of occasions, 0 to 1, at which the dealer breaks a rule; a supervisor then looks at it and lets
    play go on, so that the round still ends as it should.
    """

    def __init__(self, rules: HouseRules, chance: random.Random, seats: int, mistakes: float = 0.0) -> None:
        self.rules = rules
        self._share = mistakes
        self._made: list[IrregularityKind] = []
        self._chance = chance
        self._habits: dict[int, Habit] = {
            seat: chance.choice(sorted(HABITS.values(), key=lambda habit: habit.name))
            for seat in range(1, min(seats, rules.max_seats) + 1)
        }
        self._cards: deque[Card] = deque()
        self._dealt = 0
        self._size = 0
        self._rounds = 0
        self.tray_cents = 0

    def play(self) -> PhysicalRound:
        """Play one round, with a fresh shoe before it when the cutting card has come."""
        said: list[Said] = []
        if self._dealt * 100 >= self._size * CUT_AT_PERCENT:
            said += self._shuffled()
        self._rounds += 1
        self._made = []
        return self._round(said)

    def _slips(self, kind: IrregularityKind, said: list[Said], *wrong: Said) -> bool:
        """Perhaps the dealer makes this mistake here; a supervisor is called and lets play go on."""
        if self._chance.random() >= self._share:
            return False
        self._made.append(kind)
        said += wrong
        ruling = {"person": SUPERVISOR, "note": f"{kind.value}: seen, explained, play goes on"}
        said.append(Said(TERMINAL, _K.PLAY_RESUMED, ruling))
        return True

    def _shuffled(self) -> Iterator[Said]:
        cards = [card for _ in range(self.rules.decks) for card in standard_deck()]
        self._chance.shuffle(cards)
        if self._size:
            yield Said(SHOE, _K.SHOE_ENDED)
        self._cards, self._dealt, self._size = deque(cards), 0, len(cards)
        yield Said(
            SHOE, _K.SHOE_STARTED, {"decks": self.rules.decks, "note": f"shuffle before round {self._rounds + 1}"}
        )
        for _ in range(self.rules.burn_after_shuffle):
            self._take()
            yield Said(SHOE, _K.CARD_BURNED, {"face_down": True})

    def _take(self) -> Card:
        self._dealt += 1
        return self._cards.popleft()

    def _round(self, said: list[Said]) -> PhysicalRound:
        rules = self.rules
        round_ = game.RoundPlay(game.open_round(f"physical#{self._rounds}", rules), rules)
        said.append(Said(CONSOLE, _K.ROUND_STARTED))
        for seat, habit in self._habits.items():
            cents = habit.stake_cents(rules.limits, rules.limits.maximum_cents, self._chance)
            said.append(Said(TRAY, _K.BET_SEEN, {"seat": seat, "amount_cents": cents}))
            round_.do(rc.PlaceWagers((Wager(seat, f"guest-{seat}", MAIN, cents),)))
        round_.do(rc.CloseBetting())
        said.append(Said(CONSOLE, _K.BETTING_CLOSED))
        seat = self._chance.choice(sorted(self._habits))
        late = {"seat": seat, "amount_cents": rules.limits.maximum_cents * 3}
        self._slips(Irregular.BET_AFTER_CLOSE, said, Said(TRAY, _K.BET_SEEN, late))
        lines = self._played(round_, said)
        return PhysicalRound(said, tuple(lines), tuple(self._made))

    def _played(self, round_: game.RoundPlay, said: list[Said]) -> list[SettlementLine]:
        hidden: dict[int, Card] = {}
        lines: list[SettlementLine] = []
        while True:
            events: tuple[game.RoundEvent, ...]
            match round_.next_step():
                case steps.DrawCards(targets):
                    events = self._deal(round_, targets[0], hidden, said)
                case steps.AwaitInsurance(seats):
                    events = self._insured(round_, seats[0], said)
                case steps.CheckHoleCard(position, _):
                    up = round_.state.dealers[0].cards[0]
                    answer = is_blackjack((up, hidden[position]), from_split=False)
                    said.append(Said(CONSOLE, _K.HOLE_CHECKED, {"makes_blackjack": answer}))
                    events = round_.do(rc.RecordHoleCheck(answer))
                case steps.AwaitDecision(seat, hand, allowed):
                    events = self._chosen(round_, seat, hand, tuple(sorted(allowed)), said)
                case steps.RevealHoleCard(position):
                    turned = {"card": hidden[position], "position": position}
                    said.append(Said(SHOE, _K.CARD_TURNED, turned))
                    events = round_.do(rc.RevealHole(position, hidden.pop(position)))
                case steps.SettleHands():
                    events = round_.do(rc.SettleWagers())
                case _:
                    break
            lines += [line for event in events for line in getattr(event, "lines", ())]
        self._pay(lines, said)
        for position, card in hidden.items():
            said.append(Said(SHOE, _K.CARD_TURNED, {"card": card, "position": position}))
        said.append(Said(CONSOLE, _K.PICKED_UP))
        return lines

    def _deal(
        self, round_: game.RoundPlay, target: Target, hidden: dict[int, Card], said: list[Said]
    ) -> tuple[game.RoundEvent, ...]:
        card = self._take()
        if target.face_down:
            hidden[self._dealt] = card
            said.append(Said(SHOE, _K.CARD_DRAWN, {"face_down": True}))
            return round_.do(rc.DealCards((DealtCard(self._dealt, None),)))
        said.append(Said(SHOE, _K.CARD_DRAWN, {"card": card}))
        return round_.do(rc.DealCards((DealtCard(self._dealt, card),)))

    def _sight(self, round_: game.RoundPlay, seat: int, hand: int, actions: tuple[Action, ...]) -> Sight:
        cards = next(one.cards for one in round_.state.hands if (one.seat, one.number) == (seat, hand))
        return Sight(cards, round_.state.dealers[0].cards[0], actions, self.rules)

    def _slip_at_decision(self, seat: int, said: list[Said]) -> None:
        """A card too many, a signal for a seat that is not in turn, a button pressed too early: one of them, perhaps."""
        slip = self._chance.randrange(4)
        if slip == 0 and self._chance.random() < self._share:
            card = self._take()
            self._made.append(Irregular.CARD_OUT_OF_TURN)
            ruling = {"person": SUPERVISOR, "note": f"{card} was drawn in error and is burned"}
            said += (Said(SHOE, _K.CARD_DRAWN, {"card": card}), Said(TERMINAL, _K.PLAY_RESUMED, ruling))
        elif slip == 1:
            other = next((one for one in self._habits if one != seat), seat % 7 + 1)
            self._slips(Irregular.ACTION_NOT_ALLOWED, said, Said(CONSOLE, _K.STAND_SIGNALLED, {"seat": other}))
        elif slip == 2:
            self._slips(Irregular.DEALER_ENDED_EARLY, said, Said(CONSOLE, _K.DEALER_DONE))
        else:
            self._slips(Irregular.ROUND_OUT_OF_ORDER, said, Said(CONSOLE, _K.ROUND_STARTED))

    def _insured(self, round_: game.RoundPlay, seat: int, said: list[Said]) -> tuple[game.RoundEvent, ...]:
        actions = tuple(sorted(game.allowed_actions(round_.state, seat)))
        action = self._habits[seat].choose(self._sight(round_, seat, 0, actions), self._chance)
        said.append(Said(CONSOLE, _ANSWERS[action], {"seat": seat}))
        order: dict[Action, rc.Command] = {
            Action.INSURE: rc.TakeInsurance(seat),
            Action.DECLINE_INSURANCE: rc.DeclineInsurance(seat),
            Action.EVEN_MONEY: rc.TakeEvenMoney(seat),
        }
        return round_.do(order[action])

    def _chosen(
        self, round_: game.RoundPlay, seat: int, hand: int, actions: tuple[Action, ...], said: list[Said]
    ) -> tuple[game.RoundEvent, ...]:
        self._slip_at_decision(seat, said)
        action = self._habits[seat].choose(self._sight(round_, seat, hand, actions), self._chance)
        said.append(Said(CONSOLE, _SIGNALS[action], {"seat": seat}))
        order: dict[Action, rc.Command] = {
            Action.HIT: rc.Hit(seat, hand),
            Action.STAND: rc.Stand(seat, hand),
            Action.DOUBLE: rc.DoubleDown(seat, hand),
            Action.SPLIT: rc.Split(seat, hand),
            Action.SURRENDER: rc.SurrenderHand(seat, hand),
            Action.DECLINE_SURRENDER: rc.DeclineSurrender(seat, hand),
        }
        return round_.do(order[action])

    def _pay(self, lines: list[SettlementLine], said: list[Said]) -> None:
        said.append(Said(CONSOLE, _K.DEALER_DONE))
        returned: dict[int, int] = {}
        for line in lines:
            returned[line.seat] = returned.get(line.seat, 0) + line.returned_cents
            self.tray_cents += line.stake_cents - line.returned_cents
        for seat, cents in sorted(returned.items()):
            wrong = {"seat": seat, "amount_cents": cents + self.rules.limits.minimum_cents}
            self._slips(Irregular.PAYMENT_WRONG, said, Said(TRAY, _K.PAYMENT_SEEN, wrong))
            said.append(Said(TRAY, _K.PAYMENT_SEEN, {"seat": seat, "amount_cents": cents}))

"""How simulated players decide: basic strategy, mimic the dealer, cautious, chaotic.

Each looks only at what a player at the table sees: his cards, the dealer's up card, and what he may answer.
"""

import random
from abc import ABC, abstractmethod
from dataclasses import dataclass

from services.game.cards import Card
from services.game.hand import total
from services.game.house_rules import HouseRules
from services.game.round_words import Action
from services.game.rule_options import Limits
from services.game.strategy import basic_strategy


@dataclass(frozen=True, slots=True)
class Sight:
    """What a player sees when he is asked: his cards, the dealer's up card (None: none yet), and what he may answer."""

    cards: tuple[Card, ...]
    up: Card | None
    actions: tuple[Action, ...]
    rules: HouseRules


class Habit(ABC):
    """A way to play. `name` is part of the ids of the patrons who have it."""

    name: str

    @abstractmethod
    def choose(self, sight: Sight, chance: random.Random) -> Action:
        """One of `sight.actions`."""

    def stake_cents(self, limits: Limits, rack_cents: int, chance: random.Random) -> int:
        """A lawful wager that the rack can pay, 0 to sit the round out."""
        top = min(limits.maximum_cents, rack_cents, limits.minimum_cents * 8)
        steps = (top - limits.minimum_cents) // limits.increment_cents
        if steps < 0:
            return 0
        return limits.minimum_cents + limits.increment_cents * min(steps, chance.randrange(0, steps + 1))


def first_of(actions: tuple[Action, ...], *wishes: Action) -> Action:
    """The first wish that is allowed, else whatever is."""
    return next((wish for wish in wishes if wish in actions), actions[0])


class Basic(Habit):
    """Plays basic strategy and never insures."""

    name = "basic"

    def choose(self, sight: Sight, chance: random.Random) -> Action:
        """One of `sight.actions`."""
        if sight.up is None or Action.DECLINE_INSURANCE in sight.actions:
            return first_of(sight.actions, Action.DECLINE_INSURANCE, Action.DECLINE_SURRENDER, Action.STAND)
        return basic_strategy(sight.rules).choose(sight.cards, sight.up, frozenset(sight.actions))


class Mimic(Habit):
    """Plays as the dealer must: hits to 16, stands on 17, takes whatever insurance he is offered."""

    name = "mimic"

    def choose(self, sight: Sight, chance: random.Random) -> Action:
        """One of `sight.actions`."""
        if Action.DECLINE_INSURANCE in sight.actions:
            return first_of(sight.actions, Action.EVEN_MONEY, Action.INSURE, Action.DECLINE_INSURANCE)
        if total(sight.cards).value < 17:
            return first_of(sight.actions, Action.HIT, Action.DECLINE_SURRENDER, Action.STAND)
        return first_of(sight.actions, Action.STAND, Action.DECLINE_SURRENDER)


class Cautious(Habit):
    """Never risks a bust and never raises his stake; gives up what looks lost."""

    name = "cautious"

    def choose(self, sight: Sight, chance: random.Random) -> Action:
        """One of `sight.actions`."""
        if Action.DECLINE_INSURANCE in sight.actions:
            return first_of(sight.actions, Action.EVEN_MONEY, Action.DECLINE_INSURANCE)
        count = total(sight.cards)
        if count.value in {15, 16} and not count.soft and Action.SURRENDER in sight.actions:
            return Action.SURRENDER
        if count.value < 12 or (count.soft and count.value < 18):
            return first_of(sight.actions, Action.HIT, Action.DECLINE_SURRENDER, Action.STAND)
        return first_of(sight.actions, Action.STAND, Action.DECLINE_SURRENDER)


class Chaotic(Habit):
    """Does anything that is allowed."""

    name = "chaotic"

    def choose(self, sight: Sight, chance: random.Random) -> Action:
        """One of `sight.actions`."""
        return chance.choice(sorted(sight.actions))


HABITS: dict[str, Habit] = {habit.name: habit for habit in (Basic(), Mimic(), Cautious(), Chaotic())}

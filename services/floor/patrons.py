"""The people of a simulated floor: who they are, how much they carry, when they sit down and go.

A patron's habit follows from his id, so that a simulation that starts again knows the people it finds at the tables.
"""

import itertools
import random
import secrets
from dataclasses import dataclass, field

from services.floor.habits import HABITS, Habit
from services.game.rule_options import Limits


@dataclass(slots=True)
class Patron:
    """One player: his id ("basic-3fa1"), habit, what is in his rack as last seen, and how long he means to stay."""

    id: str
    habit: Habit
    session: str = ""
    seat: int = 0
    rack_cents: int = 0
    rounds_left: int = 0
    bought_cents: int = field(default=0)

    @property
    def is_seated(self) -> bool:
        """Whether he has a session at the table."""
        return bool(self.session)


class Crowd:
    """The patrons of one floor, drawn with `chance`; habits in turn, so that each is there."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._habits = itertools.cycle(HABITS.values())
        self._ids: set[str] = set()
        self._away: list[Patron] = []

    def next(self) -> Patron:
        """Somebody who wants to play: every third time one who played before and comes back, else somebody new."""
        if self._away and self._chance.random() < 1 / 3:
            return self._away.pop(self._chance.randrange(len(self._away)))
        habit = next(self._habits)
        # Not from the seed: a simulation started again must not name its new people after those who sit there already.
        while (patron_id := f"{habit.name}-{secrets.token_hex(2)}") in self._ids:
            pass
        self._ids.add(patron_id)
        return self._staying(Patron(patron_id, habit))

    def known(self, patron_id: str) -> Patron:
        """The patron of that id, found at a table by a simulation that was started again."""
        habit = HABITS.get(patron_id.partition("-")[0], HABITS["basic"])
        self._ids.add(patron_id)
        return self._staying(Patron(patron_id, habit))

    def gone(self, patron: Patron) -> None:
        """He left his seat and may come back another day."""
        patron.session, patron.seat, patron.rack_cents = "", 0, 0
        self._away.append(self._staying(patron))

    def buy_in_cents(self, limits: Limits) -> int:
        """How much cash he puts on the table: 20 to 60 times the minimum, in whole hundreds of dollars where it can be."""
        amount = limits.minimum_cents * self._chance.randrange(20, 61)
        return max(limits.minimum_cents * 10, amount - amount % 10_000 or amount)

    def _staying(self, patron: Patron) -> Patron:
        patron.rounds_left = self._chance.randrange(8, 60)
        return patron

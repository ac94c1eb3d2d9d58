"""One table's desk on a simulated floor: the clients of its services, and the header of every command sent from there.

Request ids are new for every command and never come again in another run of the simulation.
"""

import secrets
from dataclasses import dataclass

from services.game.authority import Actor, CommandContext, Role
from services.runtime.clock import Clock
from services.shoe.client import ShoeClient
from services.table.client import TableClient
from services.wager.client import WagerClient


@dataclass(frozen=True, slots=True)
class Clients:
    """The services as a floor sees them."""

    shoe: ShoeClient
    table: TableClient
    wager: WagerClient


class Desk:
    """Makes command contexts for the people at one table. `table` is its key."""

    def __init__(self, table: str, clients: Clients, clock: Clock) -> None:
        self.table = table
        self.clients = clients
        self.dealer = Actor(Role.DEALER, f"D-{table.rpartition('/')[2]}")
        self.supervisor = Actor(Role.SUPERVISOR, f"S-{table.partition('/')[0]}")
        self._clock = clock
        self._run = secrets.token_hex(6)
        self._sent = 0

    def by(self, actor: Actor) -> CommandContext:
        """The context of a new command of that person; the services work out the gaming day themselves."""
        self._sent += 1
        return CommandContext(f"{self._run}-{self._sent}", actor, self._clock.now_us(), gaming_day="")

    def by_dealer(self) -> CommandContext:
        """The context of a new command of the dealer."""
        return self.by(self.dealer)

    def by_supervisor(self) -> CommandContext:
        """The context of a new command of the pit supervisor."""
        return self.by(self.supervisor)

    def by_player(self, patron: str) -> CommandContext:
        """The context of a new command of a player."""
        return self.by(Actor(Role.PLAYER, patron))

    def fresh_id(self, what: str) -> str:
        """A business id that was never used before, e.g. of a buy-in or a shuffle."""
        self._sent += 1
        return f"{what}-{self._run}-{self._sent}"

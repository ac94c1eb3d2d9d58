"""A table without any service: commands are decided and folded, cards are laid by the test. For the domain's tests."""

from dataclasses import replace
from pathlib import Path

from services.game import round_commands as rc
from services.game import round_steps as steps
from services.game.authority import Actor, CommandContext, Role
from services.game.cards import Card
from services.game.round import next_step
from services.game.round_words import Action, DealtCard
from services.game.rules import HouseRules, canonical_text, parse_rules
from services.table import commands as c
from services.table import events as e
from services.table.deciding import decide
from services.table.table import Table, empty, evolve
from services.table.words import ChipCount, SeatWager

TABLE = "black-hawk/BJ-07"
ROUND = f"{TABLE}#1"
COLORADO = parse_rules(Path("services/game/profiles/colorado.toml").read_text(encoding="utf-8"))
SUPERVISOR = Actor(Role.SUPERVISOR, "P-1")
LICENSEE = Actor(Role.LICENSEE, "L-1")
DEALER = Actor(Role.DEALER, "D-17")
DEVICE = Actor(Role.DEVICE, "T-3")
SYSTEM = Actor(Role.SYSTEM, "table")
NOW = 1_796_000_000_000_000


def rules_with(**options: object) -> HouseRules:
    """Colorado's profile with other options."""
    return replace(COLORADO, **options)  # type: ignore[arg-type]  # the names are checked by the dataclass


def player(patron: str) -> Actor:
    """A patron acting for himself."""
    return Actor(Role.PLAYER, patron)


class Desk:
    """One table and everything that happened to it."""

    def __init__(self) -> None:
        self.table: Table = empty(TABLE)
        self.log: list[e.TableEvent] = []

    def do(self, command: c.Command, actor: Actor = DEALER) -> tuple[e.TableEvent, ...]:
        """Decide and fold; raises the rejection, and then nothing has changed."""
        events = decide(self.table, command, CommandContext("r-1", actor, NOW, "2026-11-30"))
        for event in events:
            self.happened(event)
        return events

    def happened(self, event: e.TableEvent) -> None:
        """Fold an event that no command of the test decided."""
        self.table = evolve(self.table, event)
        self.log.append(event)

    def open(self, rules: HouseRules = COLORADO) -> None:
        """Open the table."""
        self.do(c.OpenTable(canonical_text(rules), (ChipCount(500, 100),), DEALER.id), SUPERVISOR)

    def seat(self, patron: str, seat: int) -> str:
        """Seat a patron, his rack open; gives the session."""
        self.do(c.SeatPlayer(patron, seat), DEALER)
        stay = self.table.of_patron(patron)
        assert stay is not None
        self.happened(e.RackOpened(stay.session))
        return stay.session

    def betting(self, *, shoe_id: str = "shoe-1", now_us: int = NOW, refusal: str = "") -> str:
        """Open the next round; gives its id."""
        self.do(c.OpenRound(now_us, shoe_id, 6, continuous=False, refusal=refusal))
        assert self.table.live is not None
        return self.table.live.id

    def wager(
        self, session: str, seat: int, amount_cents: int = 1_000, actor: Actor = DEALER
    ) -> tuple[e.TableEvent, ...]:
        """Place one main wager."""
        assert self.table.live is not None
        wagers = (SeatWager(session, seat, "main", amount_cents),)
        return self.do(c.PlaceWagers(self.table.live.id, wagers), actor)

    def deal(self, cards: str) -> None:
        """Lay cards, by name, on whatever is due; "?" lies face down."""
        assert self.table.live is not None
        first = self.table.live.cards + 1
        dealt = tuple(
            DealtCard(first + index, None if name == "?" else Card.parse(name))
            for index, name in enumerate(cards.split())
        )
        self.do(c.PlayOn(rc.DealCards(dealt)), SYSTEM)

    def dealt(self, cards: str, *patrons: str, rules: HouseRules = COLORADO) -> list[str]:
        """An open table, these patrons with a wager on seats 1, 2, …, and the first cards; gives the sessions."""
        self.open(rules)
        sessions = [self.seat(patron, seat) for seat, patron in enumerate(patrons, start=1)]
        self.betting()
        for seat, session in enumerate(sessions, start=1):
            self.wager(session, seat)
        self.do(c.CloseBetting(ROUND))
        self.deal(cards)
        return sessions

    def act(
        self, session: str, seat: int, action: Action, *, hand: int = 0, turn: int = 0, actor: Actor = DEALER
    ) -> tuple[e.TableEvent, ...]:
        """Answer a question of the round in play."""
        return self.do(c.Act(ROUND, session, seat, hand, action, turn=turn), actor)

    def step(self) -> steps.Step:
        """What the round waits for."""
        assert self.table.play is not None
        return next_step(self.table.play.round)

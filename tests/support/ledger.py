"""A ledger at work: commands go in, events are folded, and after every event money is counted.

For tests of the wager's domain. The count is done here once more from the movements alone, not by the ledger's own code.
"""

from collections import defaultdict
from fractions import Fraction

from services.game.authority import Actor, CommandContext, Role
from services.game.money import Rounding, pay
from services.wager.accounts import Count, Currency, Movement
from services.wager.books import Ledger
from services.wager.commands import (
    BuyIn,
    Command,
    HoldStakes,
    OpenLedger,
    OpenSeatSession,
    SettlementLine,
    SettleRound,
    Stake,
)
from services.wager.events import WagerEvent
from services.wager.ledger import decide, evolve

TABLE = "black-hawk/BJ-07"
ROUND = f"{TABLE}#1"
CHIP = 50


def context(role: Role = Role.SYSTEM, actor: str = "table-1", request_id: str = "r-1") -> CommandContext:
    return CommandContext(request_id, Actor(role, actor), 1_796_000_000_000_000, "2026-11-30")


class LedgerAtWork:
    """One table's ledger and everything that happened to it; opened with `tray_cents` in five-dollar and one-cent chips."""

    def __init__(self, tray_cents: int | None = 1_000_000) -> None:
        self.state = Ledger.of(TABLE)
        self.log: list[WagerEvent] = []
        self.accounts: dict[Currency, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        if tray_cents is not None:
            self.do(OpenLedger("open-1", counts(tray_cents)), Role.SUPERVISOR)

    def do(self, command: Command, role: Role = Role.SYSTEM, actor: str = "a-1") -> tuple[WagerEvent, ...]:
        """Decide and fold; raises the rejection, and then checks that nothing changed."""
        before = self.state
        events = decide(self.state, command, context(role, actor))
        assert self.state is before
        for event in events:
            self.state = evolve(self.state, event)
            self.log.append(event)
            self.count(event.movements)
        return events

    def count(self, movements: tuple[Movement, ...]) -> None:
        """Follow the movements independently, and hold the ledger to the result."""
        for movement in movements:
            self.accounts[movement.currency][movement.source] -= movement.amount_cents
            self.accounts[movement.currency][movement.target] += movement.amount_cents
        for currency, accounts in self.accounts.items():
            assert sum(accounts.values()) == 0
            mine = {name: cents for name, cents in accounts.items() if cents}
            assert mine == dict(self.state.balances.get(currency, {}))
            assert all(
                cents >= 0 for name, cents in mine.items() if name.startswith(("rack/", "escrow/", "tips", "drop"))
            )
        assert self.state.tray_cents >= 0

    def balance(self, account: str, currency: Currency = Currency.CHIPS) -> int:
        return self.accounts[currency][account]

    def sit(self, session: str, seat: int = 1, cents: int = 100_00) -> None:
        """A patron named like his session sits down and buys in."""
        self.do(OpenSeatSession(session, patron=f"patron-{session}", seat=seat), Role.SYSTEM)
        if cents:
            self.do(BuyIn(f"buy/{session}", session, counts(cents), cents), Role.DEALER)

    def hold(self, *stakes: Stake, round_id: str = ROUND) -> tuple[WagerEvent, ...]:
        return self.do(HoldStakes(round_id, stakes))

    def settle(self, *lines: SettlementLine, revision: int = 1, final: bool = True) -> tuple[WagerEvent, ...]:
        return self.do(settlement(*lines, revision=revision, final=final))


def counts(cents: int) -> tuple[Count, ...]:
    """`cents` in five-dollar pieces and the rest in single cents."""
    fives, rest = divmod(cents, 500)
    return tuple(count for count in (Count(500, fives), Count(1, rest)) if count.quantity)


def stake(
    session: str, cents: int, *, seat: int = 1, kind: str = "main", ordinal: int = 1, round_id: str = ROUND
) -> Stake:
    return Stake(f"{round_id}/{seat}/{kind}/{ordinal}", session, kind, cents)


def line(
    *stakes: Stake,
    due: Fraction | int,
    outcome: str = "win",
    cause: str = "",
    seat: int = 1,
    hand: int = 0,
    rounding: Rounding = Rounding.EXACT,
    chip_cents: int = CHIP,
) -> SettlementLine:
    """The line for `stakes`, with `due` rounded by the game's own rule."""
    payment = pay(Fraction(due), rounding, chip_cents)
    return SettlementLine(
        seat=seat,
        hand=hand,
        kind=stakes[0].kind,
        holds=tuple(each.hold for each in stakes),
        outcome=outcome,
        cause=cause,
        stake_cents=sum(each.amount_cents for each in stakes),
        due=payment.due,
        returned_cents=payment.paid_cents,
        breakage=payment.breakage,
    )


def settlement(
    *lines: SettlementLine,
    revision: int = 1,
    final: bool = True,
    rounding: Rounding = Rounding.EXACT,
    chip_cents: int = CHIP,
    round_id: str = ROUND,
) -> SettleRound:
    return SettleRound(f"{round_id}/settle/{revision}", round_id, revision, rounding, chip_cents, lines, final)

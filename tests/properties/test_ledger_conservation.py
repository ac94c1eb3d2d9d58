"""Whatever is asked of a ledger, in whatever order, money is neither made nor lost and every hold ends.

`LedgerAtWork.do` counts all accounts after every event by itself, so each step of these runs checks conservation at
that prefix of the log. To rerun one failure, use the @reproduce_failure line that hypothesis prints, or
`pytest tests/properties/test_ledger_conservation.py --hypothesis-seed=<the seed printed>`.
"""

from fractions import Fraction

from hypothesis import HealthCheck, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from services.game.authority import Role
from services.game.money import Rounding
from services.game.rejections import Rejection
from services.wager.books import HoldStatus, Ledger
from services.wager.commands import (
    BuyIn,
    CashOut,
    CloseSeatSession,
    Command,
    CorrectPayment,
    CreditTray,
    FillTray,
    GiveTip,
    HoldStakes,
    OpenSeatSession,
    Stake,
    VoidHolds,
)
from services.wager.events import Direction, RoundSettled
from services.wager.ledger import evolve
from services.wager.statements import statement, table_money
from tests.support.ledger import TABLE, LedgerAtWork, counts, line, settlement

PATRONS = ["ann", "bob", "cy"]
# Small enough that racks and trays really run short.
CENTS = st.integers(1, 30_00)
BETS = st.lists(st.tuples(st.sampled_from(PATRONS), st.sampled_from(["main", "double"]), CENTS), min_size=1, max_size=4)
PAYS = st.sampled_from(
    [Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(11, 5), Fraction(5, 2), Fraction(3)]
)


class LedgerMachine(RuleBasedStateMachine):
    """Three patrons, one table, every command there is, right and wrong."""

    def __init__(self) -> None:
        super().__init__()
        self.work = LedgerAtWork(tray_cents=300_00)
        self.stays = dict.fromkeys(PATRONS, 0)
        self.round = 1
        self.ids = 0
        self.refused = 0

    def ask(self, command: Command, role: Role = Role.SYSTEM) -> bool:
        """Whether the ledger carried it out; a second time must change nothing."""
        before = self.work.state
        try:
            self.work.do(command, role)
        except Rejection as rejection:
            note(f"{type(command).__name__}: {rejection.name}")
            assert self.work.state is before
            self.refused += 1
            return False
        assert self.work.do(command, role) == ()
        return True

    def session(self, patron: str) -> str:
        return f"{patron}-{self.stays[patron]}"

    def new_id(self) -> str:
        self.ids += 1
        return f"id-{self.ids}"

    @property
    def round_id(self) -> str:
        return f"{TABLE}#{self.round}"

    @initialize(chips=st.integers(0, 100_00))
    def sit(self, chips: int) -> None:
        for patron in PATRONS:
            self.sit_down(patron, chips)

    def sit_down(self, patron: str, chips: int) -> None:
        command = OpenSeatSession(self.session(patron), patron, 1 + PATRONS.index(patron), chips)
        assert self.ask(command, Role.SYSTEM)

    @rule(bets=BETS)
    def hold(self, bets: list[tuple[str, str, int]]) -> None:
        stakes = []
        for patron, kind, cents in bets:
            self.ids += 1
            hold = f"{self.round_id}/{1 + PATRONS.index(patron)}/{kind}/{self.ids}"
            stakes.append(Stake(hold, self.session(patron), kind, cents))
        self.ask(HoldStakes(self.round_id, tuple(stakes)))

    @precondition(lambda self: self.open_holds())
    @rule(data=st.data())
    def void(self, data: st.DataObject) -> None:
        hold = data.draw(st.sampled_from([stake.hold for stake in self.open_holds()]))
        assert self.ask(VoidHolds(self.round_id, (hold,), "taken back"))

    @rule(data=st.data(), bets=BETS)
    def play(self, data: st.DataObject, bets: list[tuple[str, str, int]]) -> None:
        self.hold(bets)
        if self.open_holds():
            self.settle(data)

    @precondition(lambda self: self.open_holds())
    @rule(data=st.data())
    def settle(self, data: st.DataObject) -> None:
        lines = []
        rounding, chip = data.draw(st.sampled_from(list(Rounding))), data.draw(st.sampled_from([1, 25, 50, 500]))
        for number, held in enumerate(self.open_holds()):
            stake = Stake(held.hold, held.session, held.kind, held.amount_cents)
            due = held.amount_cents * data.draw(PAYS)
            lines.append(line(stake, due=due, hand=number % 8, rounding=rounding, chip_cents=chip))
        partly = data.draw(st.sampled_from([0, 0, *range(1, len(lines))]))
        book = self.work.state.rounds[self.round_id]
        command = settlement(
            *(lines[:partly] if partly else lines),
            revision=len(book.settlements) + 1,
            final=partly in {0, len(lines)},
            rounding=rounding,
            chip_cents=chip,
            round_id=self.round_id,
        )
        if self.ask(command) and command.final:
            self.round += 1

    @rule(patron=st.sampled_from(PATRONS), cents=CENTS, what=st.sampled_from(["buy", "buy", "tip", "cash out"]))
    def use_rack(self, patron: str, cents: int, what: str) -> None:
        session = self.session(patron)
        if what == "buy":
            self.ask(BuyIn(self.new_id(), session, counts(cents), cents), Role.DEALER)
        else:
            act = GiveTip if what == "tip" else CashOut
            self.ask(act(self.new_id(), session, cents), Role.SYSTEM if what == "tip" else Role.DEALER)

    @rule(patron=st.sampled_from(PATRONS), chips=st.integers(0, 50_00))
    def leave_and_come_back(self, patron: str, chips: int) -> None:
        if self.ask(CloseSeatSession(self.session(patron)), Role.SYSTEM):
            self.stays[patron] += 1
            self.sit_down(patron, chips)

    @rule(cents=CENTS, fill=st.booleans())
    def slip(self, cents: int, fill: bool) -> None:
        kind = FillTray if fill else CreditTray
        self.ask(kind(self.new_id(), counts(cents)), Role.SUPERVISOR)

    @rule(data=st.data(), cents=CENTS, direction=st.sampled_from(list(Direction)))
    def correct(self, data: st.DataObject, cents: int, direction: Direction) -> None:
        done = [event for event in self.work.log if isinstance(event, RoundSettled) and event.lines]
        if done:
            event = data.draw(st.sampled_from(done[-5:]))
            hold = data.draw(st.sampled_from(event.lines)).holds[0]
            self.ask(
                CorrectPayment(
                    self.new_id(), event.settlement, event.round_id, hold, direction, cents, "counted again"
                ),
                Role.SUPERVISOR,
            )

    def open_holds(self) -> tuple[Stake, ...]:
        book = self.work.state.rounds.get(self.round_id)
        return tuple(Stake(h.hold, h.session, h.kind, h.amount_cents) for h in book.open_holds) if book else ()

    @invariant()
    def win_is_the_same_by_stakes_and_by_tray(self) -> None:
        money = table_money(self.work.state)
        by_tray = money.tray_cents + money.drop_cents + money.credits_cents - money.opener_cents - money.fills_cents
        assert money.win_cents == by_tray

    @invariant()
    def each_statement_adds_up_to_its_rack(self) -> None:
        for name in (*self.work.state.seated, *self.work.state.departed):
            read = statement(self.work.state, name)
            assert (
                read.rack_cents
                == self.work.balance(f"rack/{name}")
                == (
                    read.brought_cents
                    + read.bought_cents
                    + read.returned_cents
                    + read.corrected_cents
                    - read.staked_cents
                    - read.in_play_cents
                    - read.tipped_cents
                    - read.cashed_out_cents
                )
            )
            assert read.earlier_lines == 0
            assert sum(each.stake_cents for each in read.lines) == read.staked_cents
            assert sum(each.returned_cents for each in read.lines) == read.returned_cents
            assert sum(each.pay_cents for each in read.lines) == read.pay_cents

    @invariant()
    def escrow_is_what_is_held(self) -> None:
        for round_id, book in self.work.state.rounds.items():
            assert self.work.balance(f"escrow/{round_id}") == sum(stake.amount_cents for stake in book.open_holds)
            if book.settled:
                assert all(hold.status is not HoldStatus.HELD for hold in book.holds.values())

    def teardown(self) -> None:
        """L6: the log alone gives the same state; L9: the round in play can be ended."""
        folded = Ledger.of(TABLE)
        for event in self.work.log:
            folded = evolve(folded, event)
        assert folded == self.work.state
        left = tuple(stake.hold for stake in self.open_holds())
        if left:
            assert self.ask(VoidHolds(self.round_id, left, "the table closes"))
        assert self.work.state.escrow_cents == 0


LedgerMachine.TestCase.settings = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
test_money_is_conserved_at_every_prefix = LedgerMachine.TestCase

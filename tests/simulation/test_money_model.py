"""An auditor with his own books: from the cards and the choices alone he says what every rack and the tray must hold.

Real shoe, table and wager services play under random rules; patrons bet on one seat or two, insure, double for less, split,
surrender, tip, buy, cash out, leave in the middle and come back; supervisors void hands and fill a tray that is short. After
each round the oracle plays the same cards again, and racks, tray and tips are compared to the cent.
"""

import contextlib
import random
from dataclasses import dataclass, field

import pytest

from services.game.cards import Card
from services.game.house_rules import HouseRules
from services.game.rule_options import HoleCard, InsuranceRule, Rounding, Shuffle
from services.game.rule_text import canonical_text
from services.shoe import events as se
from services.shoe.service import EVENT_TYPES
from services.table import client as tables
from services.table.client import Action, SeatPhase, TablePhase, TableView
from services.wager import client as wager
from services.wire.refusal import Refused
from tests.support import settlement_oracle as oracle
from tests.support.random_rules import random_rules
from tests.support.seeds import seeded
from tests.support.slow_journal import SlowJournal
from tests.support.table_house import DEALER, SUPERVISOR, TABLE, House, broken_laws, player

HOUSES = 4
ROUNDS = 12
TRAY_CENTS = 2_000_000
PATRONS = ("ann", "bob", "cyd", "dot", "eve")


@dataclass
class Books:
    """What the auditor thinks that everyone has, in cents."""

    racks: dict[str, int] = field(default_factory=dict)
    tray: int = TRAY_CENTS
    tips: int = 0
    taken: dict[str, int] = field(default_factory=dict)
    """What each session has taken away so far."""
    extra: int = 0
    """Staked on top of the main wagers in the round in play."""
    wagers: dict[int, tuple[str, int]] = field(default_factory=dict)
    """Session and main wager by seat in the round in play."""
    answers: dict[tuple[int, int], list[tuple[str, int]]] = field(default_factory=dict)
    """Choices by seat and hand, in the order taken."""
    offers: dict[int, tuple[str, int]] = field(default_factory=dict)
    """Answers to the offer of insurance by seat."""

    def choose(self, seat: int, hand: int, allowed: frozenset[str]) -> tuple[str, int]:
        """Answer the oracle as the patron answered."""
        if "decline-insurance" in allowed:
            return self.offers.pop(seat)
        return self.answers[seat, hand].pop(0)


class Night:
    """One table's night: everything that happens is kept in the books at once."""

    def __init__(self, chance: random.Random, house: House, rules: HouseRules) -> None:
        self.chance = chance
        self.house = house
        self.rules = rules
        self.books = Books()
        self.seen: set[str] = set()
        self.shuffles = 0

    async def open(self) -> None:
        if self.rules.shuffle is Shuffle.CONTINUOUS:
            await self.house.prepare_machine(decks=self.rules.decks)
        else:
            await self.shuffle()
        tray = (tables.ChipCount(500, TRAY_CENTS // 500),)
        open_ = tables.OpenTable(canonical_text(self.rules), tray, DEALER.id)
        await self.house.table.open_table(TABLE, self.house.context(SUPERVISOR), open_)

    async def shuffle(self) -> None:
        self.shuffles += 1
        behind = 52 * self.rules.decks // 3
        await self.house.prepare_shoe(shuffle=str(self.shuffles), decks=self.rules.decks, behind=behind)

    async def between(self, view: TableView) -> None:
        """Patrons come, buy, cash out and go."""
        house, chance = self.house, self.chance
        seated = {seat.patron for seat in view.seats}
        for patron in PATRONS:
            if patron not in seated and chance.random() < 0.7:
                free = sorted(set(range(1, 8)) - {seat.seat for seat in view.seats})
                chips = self.chips(chance.choice((0, 5_000, 90_000)))
                sit = tables.SeatPlayer(patron, chance.choice(free), chips)
                session = (await house.table.seat_player(TABLE, house.context(), sit)).session
                self.books.racks[session] = chips
                view = await house.table.get_table(TABLE)
        for seat in view.seats:
            if chance.random() < 0.3 and seat.phase is SeatPhase.SEATED:
                bills = chance.randint(1, 9)
                buy = tables.BuyIn(
                    f"b-{chance.random()}", seat.session, (tables.ChipCount(10_000, bills),), bills * 10_000
                )
                with contextlib.suppress(Refused):
                    await house.table.buy_in(TABLE, house.context(), buy)
                    self.books.racks[seat.session] += bills * 10_000
                    self.books.tray -= bills * 10_000
            if chance.random() < 0.1:
                cents = self.chips(chance.randint(1, 60_000))
                away = tables.CashOut(f"c-{chance.random()}", seat.session, cents)
                with contextlib.suppress(Refused):
                    await house.table.cash_out(TABLE, house.context(player(seat.patron)), away)
                    self.books.racks[seat.session] -= cents
                    self.books.taken[seat.session] = self.books.taken.get(seat.session, 0) + cents

    async def wager(self, view: TableView) -> None:
        """Each patron on his own seat and sometimes on another one; absurd amounts are refused and change nothing."""
        house, chance = self.house, self.chance
        step = self.rules.limits.increment_cents
        assert view.round is not None
        for seat in view.seats:
            spots = [seat.seat]
            if chance.random() < 0.3:
                spots.append(seat.seat + chance.choice((-1, 1)))
            cents = (
                step * chance.choice((1, 2, 3, 17, 40, 60)) if chance.random() < 0.9 else chance.choice((-5, 0, 10**12))
            )
            wagers = tuple(tables.SeatWager(seat.session, spot, "main", cents) for spot in spots)
            with contextlib.suppress(Refused):
                await house.table.place_wagers(
                    TABLE, house.context(player(seat.patron)), tables.PlaceWagers(view.round.round_id, wagers)
                )
                self.books.wagers |= dict.fromkeys(spots, (seat.session, cents))
                self.books.racks[seat.session] -= cents * len(spots)
        if chance.random() < 0.1:
            await self.leave(chance.choice(view.seats).session)

    async def leave(self, session: str) -> None:
        with contextlib.suppress(Refused):
            await self.house.table.leave_seat(TABLE, self.house.context(), tables.LeaveSeat(session))
            self.seen.add("leave")

    async def tip(self, view: TableView) -> None:
        seat = self.chance.choice(view.seats)
        cents = self.chips(self.chance.randint(1, 2_000))
        with contextlib.suppress(Refused):
            give = tables.GiveTip(f"t-{self.chance.random()}", seat.session, cents)
            await self.house.table.give_tip(TABLE, self.house.context(player(seat.patron)), give)
            self.books.racks[seat.session] -= cents
            self.books.tips += cents

    async def answer(self, view: TableView) -> None:
        """One question, by chance; who has no chips for more does with less."""
        chance, house, books = self.chance, self.house, self.books
        assert view.round is not None
        question = chance.choice(view.round.questions)
        seat, hand, round_id = question.seat, question.hand, view.round.round_id
        offer = Action.DECLINE_INSURANCE in question.actions
        peeks = self.rules.hole_card in {HoleCard.PEEK_ACE, HoleCard.PEEK_ACE_TEN}
        # Where nobody peeks an insurance may be open, which goes back with a voided hand; the oracle does not know that.
        if peeks and Action.STAND in question.actions and chance.random() < 0.05:
            void = tables.VoidHand(round_id, seat, hand, "misdealt")
            await house.table.void_hand(TABLE, house.context(SUPERVISOR), void)
            self.keep(seat, hand, "void", 0, offer=False)
            return
        action = chance.choice(question.actions)
        amount = self.amount(view, seat, hand, action)
        patient = next(
            a for a in question.actions if a in {Action.STAND, Action.DECLINE_INSURANCE, Action.DECLINE_SURRENDER}
        )
        for do, cents in ((action, amount), (patient, 0)):
            act = tables.Act(round_id, question.session, seat, hand, do, cents, turn=0 if offer else view.round.turn)
            try:
                await house.table.act(TABLE, house.context(player(question.patron)), act)
            except Refused as refused:
                if refused.name != "InsufficientChips":
                    raise
                self.seen.add("no chips")
                continue
            self.keep(seat, hand, do.value, cents, offer=offer)
            books.racks[question.session] -= cents
            books.extra += cents
            return

    def keep(self, seat: int, hand: int, do: str, cents: int, *, offer: bool) -> None:
        self.seen.add(do)
        if offer:
            self.books.offers[seat] = (do, cents)
            return
        if do == "split":
            # The hands behind it move up by one; none of them has acted yet.
            assert not any(key[0] == seat and key[1] > hand for key in self.books.answers)
        self.books.answers.setdefault((seat, hand), []).append((do, cents))

    def chips(self, cents: int) -> int:
        unit = 1 if self.rules.rounding is Rounding.EXACT else self.rules.chip_cents
        return cents // unit * unit

    def amount(self, view: TableView, seat: int, hand: int, action: Action) -> int:
        assert view.round is not None
        whole = next(h.wager_cents for h in view.round.hands if (h.seat, h.hand) == (seat, hand))
        if action is Action.INSURE:
            half = self.chips(whole // 2)
            exactly = self.rules.insurance is InsuranceRule.EXACTLY_HALF
            return half if exactly else self.chips(self.chance.randint(1, half)) or self.chips(half)
        if action is Action.DOUBLE and self.rules.double_for_less:
            return self.chips(self.chance.randint(1, whole)) or whole
        return whole if action in {Action.DOUBLE, Action.SPLIT} else 0

    async def play(self) -> None:
        house = self.house
        view = await house.table.get_table(TABLE)
        await self.between(view)
        try:
            round_id = (await house.table.open_betting(TABLE, house.context())).round_id
        except Refused as refused:
            if refused.name != "ShoeNotReady":
                raise
            await self.shuffle()
            round_id = (await house.table.open_betting(TABLE, house.context())).round_id
        await self.wager(await house.table.get_table(TABLE))
        if not self.books.wagers or self.chance.random() < 0.05:
            await house.table.void_round(TABLE, house.context(SUPERVISOR), tables.VoidRound(round_id, "no deal"))
            for session, cents in self.books.wagers.values():
                self.books.racks[session] += cents
            self.books.wagers = {}
            await self.compare()
            return
        await house.table.close_betting(TABLE, house.context(), round_id)
        while (view := await house.table.get_table(TABLE)).phase is not TablePhase.IDLE:
            if view.waiting_for is tables.WaitingFor.WAGER:
                await self.fill()
            elif view.round is not None and view.round.questions:
                await (self.tip(view) if self.chance.random() < 0.1 else self.answer(view))
        await self.settle(round_id)

    async def fill(self) -> None:
        self.seen.add("fill")
        slip = wager.FillTray(f"f-{self.chance.random()}", (wager.Count(10_000, 100),))
        await self.house.wager.fill_tray(TABLE, self.house.context(SUPERVISOR), slip)
        self.books.tray += 1_000_000
        async for view in self.house.table.watch_table(TABLE):
            if view.waiting_for is not tables.WaitingFor.WAGER or view.phase is TablePhase.IDLE:
                return

    async def settle(self, round_id: str) -> None:
        """The oracle plays the round's cards again; what comes back goes to the racks, the rest to the tray."""
        books = self.books
        cards = await self.cards(round_id)
        played = oracle.play(
            self.rules, iter(cards), {seat: cents for seat, (_, cents) in books.wagers.items()}, books.choose
        )
        stakes = sum(cents for _, cents in books.wagers.values()) + books.extra
        for (seat, *_), cents in played.returned.items():
            books.racks[books.wagers[seat][0]] += cents
        books.tray += stakes - sum(played.returned.values())
        assert not any(books.answers.values())
        assert not books.offers
        books.wagers, books.answers, books.extra = {}, {}, 0
        await self.compare()

    async def cards(self, round_id: str) -> list[Card]:
        """Every card that the shoe gave this round, in shoe order, from the shoe's own record."""
        found: dict[int, Card | None] = {}
        current = ""
        async for recorded in self.house.journal.read(f"shoe:{TABLE}"):
            envelope = recorded.envelope
            event = EVENT_TYPES.decode(envelope.type, envelope.schema_version, envelope.payload)
            if isinstance(event, se.CardDrawn) and event.round_id == round_id:
                found[event.position] = event.card
                current = event.shoe_id
            elif isinstance(event, se.CardRevealed) and event.shoe_id == current and event.position in found:
                found[event.position] = event.card
        cards = [found[position] for position in sorted(found)]
        assert None not in cards
        return [card for card in cards if card is not None]

    async def compare(self) -> None:
        house, books = self.house, self.books
        view = await house.table.get_table(TABLE)
        here = {seat.session for seat in view.seats}
        for session in list(books.racks):
            statement = await house.wager.read_statement(TABLE, session)
            if session in here:
                assert statement.rack_cents == books.racks[session], session
                assert statement.in_play_cents == 0
            else:
                assert statement.cashed_out_cents == books.racks.pop(session) + books.taken.get(session, 0)
        money = await house.wager.read_table_money(TABLE)
        assert money.tray_cents == books.tray
        assert money.tips_cents == books.tips
        assert (money.escrow_cents, money.open_holds) == (0, 0)
        assert money.racks_cents == sum(books.racks.values())


@pytest.mark.parametrize("number", range(HOUSES))
async def test_racks_and_tray_are_what_the_auditor_says(number: int) -> None:
    chance = seeded(f"tests/simulation/test_money_model.py -k {number}")
    machine = chance.random() < 0.3
    rules = random_rules(
        chance,
        burn_after_shuffle=0,
        shuffle=Shuffle.CONTINUOUS if machine else Shuffle.HAND,
        decks=6 if machine else chance.choice((1, 2, 6)),
        spots_per_player=chance.choice((1, 2, 3)),
        spot_minimum_multiplier=chance.choice((1, 2)),
    )
    async with House(SlowJournal(chance, most_pauses=1), seed=str(chance.random())) as house:
        night = Night(chance, house, rules)
        await night.open()
        for _ in range(ROUNDS):
            await night.play()
        for seat in (await house.table.get_table(TABLE)).seats:
            await house.table.leave_seat(TABLE, house.context(), tables.LeaveSeat(seat.session))
        await house.table.close_table(TABLE, house.context(SUPERVISOR), tables.CloseTable())
        assert await broken_laws(house) == []
        print("seen:", " ".join(sorted(night.seen)))

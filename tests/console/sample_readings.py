"""A house made of records: what the pages are tested against without any service behind them.

`SAMPLE_DEAL` is the log of one round as plain facts; `sample_round` folds it into steps, so that a test can compare each
picture with the facts that led to it.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

from services.console.formatting import card_words
from services.console.health_view import HealthView, OwnerView
from services.console.meter_views import MeterLine, MetersView, StuckView
from services.console.views import (
    CardView,
    EventView,
    FeltView,
    FindingPage,
    FindingView,
    FloorView,
    HandPage,
    HandQuery,
    HandView,
    LedgerLine,
    RoundPage,
    RoundRow,
    RulesView,
    SeatView,
    ShoeLine,
    ShoeView,
    StakeView,
    StepView,
    TablePage,
    TableRow,
)
from services.game.cards import Card
from services.game.hand import is_blackjack, total
from services.runtime.failures import NotFound

ZONE = "America/Denver"
DAY = "2026-11-30"
START_US = 1_796_097_847_123_456  # 2026-12-01 04:04:07 UTC, 21:04:07 on November 30 in Denver
ROUND = "black-hawk/BJ-07#12"
LETTERING = "Blackjack pays 3 to 2 · Dealer hits soft 17 · Insurance pays 2 to 1"

# (what, seat, hand, detail): seat 0 is the dealer; detail is a card ("?As" face down), an amount in cents or a word.
SAMPLE_DEAL: tuple[tuple[str, int, int, str | int], ...] = (
    ("wager", 1, 0, 2_500),
    ("wager", 3, 0, 10_000),
    ("wager", 4, 0, 5_050),
    ("wager", 6, 0, 500),
    ("card", 1, 0, "As"),
    ("card", 3, 0, "8s"),
    ("card", 4, 0, "5h"),
    ("card", 6, 0, "Td"),
    ("card", 0, 0, "6h"),
    ("card", 1, 0, "Kd"),
    ("card", 3, 0, "8d"),
    ("card", 4, 0, "6c"),
    ("card", 6, 0, "6s"),
    ("card", 0, 0, "?Qc"),
    ("split", 3, 0, 10_000),
    ("card", 3, 0, "3d"),
    ("double", 3, 0, 10_000),
    ("card", 3, 0, "Ts"),
    ("card", 3, 1, "2c"),
    ("card", 3, 1, "9h"),
    ("stand", 3, 1, "stands"),
    ("double", 4, 0, 5_050),
    ("card", 4, 0, "7s"),
    ("card", 6, 0, "Js"),
    ("reveal", 0, 0, "Qc"),
    ("card", 0, 0, "2h"),
    ("settle", 1, 0, "blackjack:3750"),
    ("settle", 3, 0, "win:20000"),
    ("settle", 3, 1, "win:10000"),
    ("settle", 4, 0, "push:0"),
    ("settle", 6, 0, "bust:-500"),
)


@dataclass
class _Hand:
    cards: list[CardView] = field(default_factory=list)
    stakes: list[StakeView] = field(default_factory=list)
    from_split: bool = False
    outcome: str = ""
    net_cents: int = 0

    def view(self, number: int, *, active: bool) -> HandView:
        shown = [Card.parse(card.text) for card in self.cards if card.text]
        counted = total(shown)
        return HandView(
            number,
            tuple(self.cards),
            counted.value,
            counted.soft,
            blackjack=len(shown) == len(self.cards) and is_blackjack(shown, from_split=self.from_split),
            stakes=tuple(self.stakes),
            active=active,
            outcome=self.outcome,
            net_cents=self.net_cents,
        )


def _sentence(what: str, seat: int, hand: int, detail: str | int) -> str:
    who = "Dealer" if seat == 0 else f"Seat {seat}" + (f" hand {hand + 1}" if hand else "")
    if what == "card":
        card = None if str(detail).startswith("?") else str(detail)
        return f"{who} is dealt the {card_words(card)}"
    if what == "reveal":
        return f"Hole card turned up: {card_words(str(detail))}"
    return f"{who}: {what} {detail}"


def sample_round(round_id: str = ROUND, *, patron: str = "P-") -> RoundPage:
    """The sample round as the replay page gets it."""
    seats: dict[int, list[_Hand]] = {}
    dealer = _Hand()
    steps, events, ledger, shoe = [], [], [], []
    position = 57

    def picture(phase: str, turn: tuple[int, int] | None) -> FeltView:
        return FeltView(
            round_id.partition("#")[0],
            round_id,
            phase,
            f"Seat {turn[0]} to act" if turn else "",
            7,
            (dealer.view(0, active=False),) if dealer.cards else (),
            tuple(
                SeatView(
                    number,
                    f"{patron}{1000 + number}",
                    50_000 - sum(stake.cents for hand in hands for stake in hand.stakes),
                    tuple(hand.view(index, active=turn == (number, index)) for index, hand in enumerate(hands)),
                    active=turn is not None and turn[0] == number,
                )
                for number, hands in sorted(seats.items())
            ),
            ShoeView("3", position, 312, 234),
            LETTERING,
        )

    for index, (what, seat, hand, detail) in enumerate(SAMPLE_DEAL):
        hands = seats.setdefault(seat, []) if seat else [dealer]
        for each in (dealer, *(h for row in seats.values() for h in row)):
            each.cards[:] = [replace(card, fresh=False) for card in each.cards]
        turn = None
        area, sequence = "table", 400 + index
        if what in {"wager", "split", "double"}:
            assert isinstance(detail, int)
            if what == "wager":
                hands.append(_Hand())
            if what == "split":
                moved = hands[hand].cards.pop()
                hands.insert(hand + 1, _Hand([moved], [StakeView("split", detail)], from_split=True))
                hands[hand].from_split = True
            else:
                hands[hand].stakes.append(StakeView("main" if what == "wager" else what, detail))
            line = (
                f"rack/s-{seat}",
                f"escrow/{round_id}",
                "chips",
                detail,
                "stake-held",
                f"{round_id}/{seat}/{what}/1",
            )
            ledger.append(LedgerLine(index, 900 + index, *line))
        if what == "card":
            position += 1
            text = str(detail)
            hands[hand].cards.append(CardView(None if text.startswith("?") else text, position, fresh=True))
            shown_at = len(SAMPLE_DEAL) - 7 if text.startswith("?") else index
            shoe.append(ShoeLine(shown_at, position, text.removeprefix("?"), "dealer" if seat == 0 else f"seat {seat}"))
        if what == "reveal":
            hidden = next(i for i, card in enumerate(dealer.cards) if card.text is None)
            dealer.cards[hidden] = CardView(str(detail), dealer.cards[hidden].position, fresh=True)
        if what == "settle":
            word, _, net = str(detail).partition(":")
            hands[hand].outcome, hands[hand].net_cents = word, int(net)
        if seat and index > 13 and what != "settle":
            turn = (seat, hand)
        phase = "betting" if what == "wager" else "settling" if what == "settle" else "players" if turn else "dealing"
        at = START_US + index * 1_370_000
        sentence = _sentence(what, seat, hand, detail)
        steps.append(StepView(index, sentence, at, picture(phase, turn)))
        events.append(
            EventView(
                index,
                f"{area}:{round_id.partition('#')[0]}",
                sequence,
                f"holecard.{area}.v1.{what.title()}",
                sentence,
                at,
                at + 4_211,
                "player" if turn else "dealer",
                f"{patron}{1000 + seat}" if turn else "d-17",
                f"request-{index:04d}",
            )
        )
    return RoundPage(
        round_id,
        "complete",
        ZONE,
        DAY,
        START_US,
        START_US + 43_000_000,
        43_100,
        -33_250,
        tuple(steps),
        tuple(events),
        tuple(ledger),
        tuple(shoe),
        SAMPLE_RULES,
        previous="black-hawk/BJ-07#11",
        next="black-hawk/BJ-07#13",
    )


SAMPLE_RULES = RulesView(
    "colorado",
    1,
    "9f2c" * 16,
    (
        "The dealer hits soft 17.",
        "Doubling is allowed on any two cards.",
        "Betting limits: $5 to $500.",
        "Split by value, up to 4 hands.",
        "Insurance pays 2 to 1.",
        "Blackjack pays 3 to 2.",
        "Surrender is not offered.",
        "Mid-shoe entry is open.",
        "One player may play two adjacent spots at twice the minimum.",
    ),
    (("decks", "6"), ("penetration_percent", "75"), ("soft17", "hit"), ("double_on", "any-two")),
    LETTERING,
)


def sample_row(key: str, number: int = 0) -> TableRow:
    """A table in play."""
    return TableRow(
        key,
        "suspended" if number == 4 else "open",
        ("players", "dealing", "betting", "settling", "players", "pickup", "insurance", "dealer")[number % 8],
        "colorado v1",
        500 * (number % 3 + 1),
        50_000 * (number % 3 + 1),
        7,
        (4, 6, 2, 7, 3, 5, 1, 4)[number % 8],
        112 + 31 * number,
        74 + number,
        4_125_350 + 1_000_175 * number,
        (212_525, -33_250, 91_400, 0)[number % 4],
        850_000,
        ShoeView("3", 57 + 31 * number % 250, 312, 234),
        2 if number == 4 else 0,
        START_US + 43_000_000 - number * 17_000_000,
    )


def sample_rounds() -> tuple[RoundRow, ...]:
    """Some rounds of BJ-07, newest first."""
    return tuple(
        RoundRow(
            f"black-hawk/BJ-07#{number}",
            START_US - (12 - number) * 48_000_000,
            START_US - (12 - number) * 48_000_000 + 43_000_000,
            4,
            5,
            ("6h", "Qc", "2h"),
            18,
            43_100,
            -33_250 if number % 2 else 12_500,
            "complete",
            (("blackjack", 1), ("win", 2), ("push", 1), ("bust", 1)),
        )
        for number in range(12, 0, -1)
    )


class SampleReadings:
    """Readings over the sample. `change` makes the watchers see a new state; `failure` is raised by every reading."""

    def __init__(self) -> None:
        self.failure: Exception | None = None
        self.owners: tuple[OwnerView, ...] = ()
        self.patron = "P-"
        self.asked: list[HandQuery] = []
        self.row_changes: dict[str, TableRow] = {}
        self.table_step = len(SAMPLE_DEAL) - 12
        self.no_floors = False
        self._changed = asyncio.Condition()

    async def change(self) -> None:
        """Wake the watchers."""
        async with self._changed:
            self._changed.notify_all()

    def zone(self, key: str) -> str:
        return "America/New_York" if key.startswith("cripple-creek") else ZONE

    async def floors(self) -> tuple[FloorView, ...]:
        self._may_fail()
        if self.no_floors:
            return ()
        rows = [self._row(f"black-hawk/BJ-{number + 3:02d}", number) for number in range(8)]
        second = [self._row(f"cripple-creek/BJ-{number + 1:02d}", number + 1) for number in range(3)]
        return (
            FloorView("black-hawk", ZONE, DAY, tuple(rows)),
            FloorView("cripple-creek", "America/New_York", DAY, tuple(second)),
        )

    async def watch_floors(self) -> AsyncIterator[tuple[FloorView, ...]]:
        yield await self.floors()
        while True:
            await self._wait()
            yield await self.floors()

    async def table(self, key: str) -> TablePage:
        self._may_fail()
        if key != "black-hawk/BJ-07":
            raise NotFound(f"There is no table {key} in the log.")
        felt = sample_round(patron=self.patron).steps[self.table_step].felt
        money = (("Tray", 4_512_500), ("Drop", 850_000), ("Racks", 212_300), ("In play", 43_100), ("Tips", 1_500))
        return TablePage(self._row(key, 0), ZONE, DAY, felt, sample_rounds(), money, SAMPLE_RULES)

    async def watch_table(self, key: str) -> AsyncIterator[TablePage]:
        yield await self.table(key)
        while True:
            await self._wait()
            yield await self.table(key)

    async def search(self, query: HandQuery) -> HandPage:
        self._may_fail()
        self.asked.append(query)
        found = [row for row in sample_rounds() if not query.table or row.table == query.table]
        size = 5
        first = (query.page - 1) * size
        return HandPage(
            tuple(found[first : first + size]), query.page, more=first + size < len(found), total=len(found)
        )

    async def round(self, round_id: str) -> RoundPage:
        self._may_fail()
        if round_id not in {row.id for row in sample_rounds()}:
            raise NotFound(f"There is no round {round_id} in the log.")
        return sample_round(round_id, patron=self.patron)

    async def findings(self, table: str = "") -> FindingPage:
        self._may_fail()
        known = (
            FindingView(
                "f1",
                "L7",
                "black-hawk/BJ-07",
                ROUND,
                "Seat 4 was paid $50.00 where the rule gives $50.50.",
                START_US,
                "wager:black-hawk/BJ-07 921",
                "One settlement per hand, and the amount follows the pay rule",
            ),
        )
        found = tuple(finding for finding in known if table in {"", finding.table})
        return FindingPage(found, len(found))

    async def meters(self) -> MetersView:
        if self.failure is not None:
            return MetersView(reason=str(self.failure))
        table = MeterLine(
            "black-hawk/BJ-07", "2026-11-30", 212, 640, 74, 10_300_000_000, 4_250_000, 187_500, 1_200_000, 1, 3
        )
        return MetersView(
            floors=(replace(table, name="black-hawk"),),
            tables=(table,),
            dealers=(MeterLine("D-11", "2026-11-30", 212, 640, 74, 10_300_000_000, table="black-hawk/BJ-07"),),
            stuck=(StuckView("black-hawk/BJ-07#212", "black-hawk/BJ-07", "PLAYERS", 421_000_000, 300_000_000),),
            open_rounds=3,
            lag_events=3,
            lag_ms=12,
        )

    async def health(self) -> HealthView:
        if self.failure is not None:
            return HealthView(available=False, reason=str(self.failure))
        return HealthView(
            available=True,
            applied_events=184_233,
            lag_events=3,
            lag_ms=12,
            facts=(("Laws checked", "11"),),
            partitions=((0, 184_233, 184_236),),
            owners=self.owners,
        )

    def _row(self, key: str, number: int) -> TableRow:
        return self.row_changes.get(key, sample_row(key, number))

    async def _wait(self) -> None:
        async with self._changed:
            await self._changed.wait()

    def _may_fail(self) -> None:
        if self.failure is not None:
            raise self.failure

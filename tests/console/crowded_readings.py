"""The most that a felt and an overview may have to show: seven seats with four split hands each, long names, large money."""

from dataclasses import replace

from services.console.views import CardView, FeltView, FloorView, HandView, SeatView, StakeView, TablePage
from tests.console.sample_readings import SampleReadings

STAKE_CENTS = 1_234_567_00
CARDS = ("Th", "2c", "3d", "As", "Ad")


class CrowdedReadings(SampleReadings):
    """The sample house with `patron` on every seat of a table where everybody has split and doubled."""

    def __init__(self, patron: str) -> None:
        super().__init__()
        self._patron = patron

    async def table(self, key: str) -> TablePage:
        """See Readings."""
        page = await super().table(key)
        row = replace(page.row, status="suspended")
        return replace(page, row=row, felt=replace(self._crowded(page.felt), turn=f"Stopped: {'x' * 300}"))

    async def floors(self) -> tuple[FloorView, ...]:
        """See Readings."""
        first, *others = await super().floors()
        row, *rows = first.tables
        rich = replace(row, handle_cents=9_876_543_21, win_cents=-8_765_432_10)
        return replace(first, tables=(rich, *rows)), *others

    def _crowded(self, felt: FeltView) -> FeltView:
        hands = tuple(
            HandView(
                number,
                tuple(CardView(card, position) for position, card in enumerate(CARDS, 1)),
                17,
                stakes=(StakeView("main", STAKE_CENTS), StakeView("double", STAKE_CENTS)),
                active=number == 2,
            )
            for number in range(4)
        )
        seats = tuple(SeatView(seat, self._patron, 987_654_321_00, hands) for seat in range(1, 8))
        return replace(felt, seat_count=7, seats=seats)

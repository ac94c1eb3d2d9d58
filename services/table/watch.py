"""What an observed table remembers besides its round: the bets on the layout, its irregularities, the tray.

Owns this part of the table's state and its fold. Decides nothing (see `observed`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from services.game.quick import replace
from services.table import observation_events as o
from services.table.readings import IrregularityKind, Reading, ReadingKind


@dataclass(frozen=True, slots=True)
class Watch:
    """`bets` is what lies on each seat's betting area before the close, in cents.

    `overplayed` is set once play went on in a suspension. `tray_difference_cents` is what was said of the tray last.
    """

    observed: bool = False
    bets: Mapping[int, int] = field(default_factory=dict)
    irregularities: int = 0
    overplayed: bool = False
    tray_difference_cents: int = 0

    def seen(self, reading: Reading, *, betting: bool) -> "Watch":
        """A reading was recorded; `betting`: wagers may lie down now."""
        if not (self.observed and betting and reading.kind is ReadingKind.BET_SEEN):
            return self
        bets = {seat: cents for seat, cents in self.bets.items() if seat != reading.seat}
        if reading.amount_cents:
            bets[reading.seat] = reading.amount_cents
        return replace(self, bets=dict(sorted(bets.items())))

    def closed(self) -> "Watch":
        """Betting was closed: the next bets are another round's."""
        return replace(self, bets={}) if self.bets else self

    def resumed(self) -> "Watch":
        """Play goes on."""
        return replace(self, overplayed=False)

    def irregular(self, event: o.IrregularityFound) -> "Watch":
        """An irregularity was recorded."""
        tray = self.tray_difference_cents
        if event.kind is IrregularityKind.TRAY_DIFFERS:
            tray = event.amount_cents - event.due_cents
        overplayed = self.overplayed or event.kind is IrregularityKind.PLAYED_WHILE_SUSPENDED
        return replace(self, irregularities=event.irregularity, overplayed=overplayed, tray_difference_cents=tray)

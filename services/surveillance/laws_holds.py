"""L9: a stake is held once, and ends once: settled or given back, at the latest when its round is over.

Owns the fold of the holds of each table. Rounds of a table come one after the other, so memory is one round per table.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from services.surveillance import round_facts
from services.surveillance import wager_facts as w
from services.surveillance.facts import Fact
from services.surveillance.findings import Finding, found
from services.surveillance.scene import TableScene


@dataclass(slots=True)
class _Holds:
    """The holds of one table: those in play, and how the others of the last rounds ended."""

    open: dict[str, w.HeldStake] = field(default_factory=dict)
    ended: dict[str, str] = field(default_factory=dict)

    def of_round(self, round_id: str) -> list[str]:
        """The holds of a round that are still in play."""
        return [name for name in self.open if name.startswith(f"{round_id}/")]


class HoldsEnd:
    """L9, folded over wager and table streams together."""

    def __init__(self) -> None:
        self._tables: dict[str, _Holds] = {}

    def observe(self, fact: Fact, _scene: TableScene) -> Iterator[Finding]:
        """Follow the holds of one table."""
        event = fact.event
        holds = self._tables.setdefault(fact.key, _Holds())
        match event:
            case w.StakesHeld():
                for hold in event.holds:
                    if hold.hold in holds.open or hold.hold in holds.ended:
                        yield found("L9", fact, f"hold {hold.hold} was made before")
                    holds.open[hold.hold] = hold
            case w.HoldsVoided():
                for voided in event.holds:
                    yield from _end(fact, holds, voided.hold, "given back")
            case w.RoundSettled():
                yield from _settled(fact, holds, event)
            case round_facts.RoundCompleted():
                yield from _left_over(fact, holds, fact.envelope.round_id, "the round is complete")
            case w.LedgerClosed():
                for name in list(holds.open):
                    yield found("L9", fact, f"the ledger is closed and the hold {name} is still open")
                holds.open.clear()
            case round_facts.RoundOpened():
                holds.ended.clear()
            case _:
                pass

    def finish(self) -> Iterator[Finding]:
        """Holds of the round in play may be open at the end of the log; those of an earlier round may not."""
        for key, holds in self._tables.items():
            newest = max((_number(name) for name in holds.open), default=0)
            for name in holds.open:
                if _number(name) < newest:
                    yield Finding("L9", f"wager:{key}", 0, "", f"the hold {name} never ended")


def _settled(fact: Fact, holds: _Holds, event: w.RoundSettled) -> Iterator[Finding]:
    for line in event.lines:
        staked = sum(holds.open[name].amount_cents for name in line.holds if name in holds.open)
        if staked != line.stake_cents and all(name in holds.open for name in line.holds):
            yield found(
                "L9", fact, f"{line.stake_cents} cents are settled for {', '.join(line.holds)}, {staked} were held"
            )
        for name in line.holds:
            yield from _end(fact, holds, name, "settled")
    if event.final:
        yield from _left_over(fact, holds, event.round_id, "the final settlement is made")


def _left_over(fact: Fact, holds: _Holds, round_id: str, when: str) -> Iterator[Finding]:
    for name in holds.of_round(round_id):
        yield found("L9", fact, f"{when} and the hold {name} is still open")
        del holds.open[name]


def _end(fact: Fact, holds: _Holds, name: str, how: str) -> Iterator[Finding]:
    if holds.open.pop(name, None) is None:
        before = holds.ended.get(name)
        yield found("L9", fact, f"hold {name} is {how}, but it " + (f"was {before}" if before else "was never made"))
    holds.ended[name] = how


def _number(hold: str) -> int:
    """The number of the hold's round: "<table>#<n>/…"."""
    number = hold.rpartition("#")[2].partition("/")[0]
    return int(number) if number.isdecimal() else 0

"""What a service states beside its facts, held against the log: racks, who sat out, first of a shoe, final settlements.

Each such word decides something later (who may join before the shuffle, whether a round is through) without moving a card
or a cent, so no other law sees it. Shares no code with the services; memory is the stays and one round per table.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from services.game.rules import HouseRules
from services.surveillance import round_facts as r
from services.surveillance import table_facts as t
from services.surveillance import wager_facts as w
from services.surveillance.facts import Fact
from services.surveillance.findings import Finding, found
from services.surveillance.scene import TableScene, read_rules


@dataclass(slots=True)
class _Table:
    """One table: the racks of the ledger, the stays that wait for theirs, the last round's players, shoe and holds."""

    opening: str = ""
    """The opening under which the ledger is open."""
    racks: set[str] = field(default_factory=set)
    arriving: set[str] = field(default_factory=set)
    played: frozenset[str] = frozenset()
    shoe: str = ""
    opened: r.RoundOpened | None = None
    """The round that no shoe was assigned to yet."""
    open_holds: set[str] = field(default_factory=set)
    rules: HouseRules | None = None
    """The rules on display."""
    bought: dict[str, tuple[str, int]] = field(default_factory=dict)
    """The purchases of the round in play: session and chips by receipt."""
    spoken: dict[tuple[int, str], int] = field(default_factory=dict)
    """Wagers that were announced as spoken or in cash and do not stand yet, by seat and kind."""


class StatedRight:
    """L3, L6, L7 and L10 for words that other laws do not read, folded over all streams of a table."""

    def __init__(self) -> None:
        self._tables: dict[str, _Table] = {}

    def observe(self, fact: Fact, scene: TableScene) -> Iterator[Finding]:
        """Fold one event in."""
        if fact.event is None:
            return
        table = self._tables.setdefault(fact.key, _Table())
        if fact.area == "wager":
            yield from _in_ledger(fact, table, fact.event)
        elif fact.area == "table":
            yield from _wagered(fact, table, scene, fact.event)
            yield from _at_table(fact, table, scene, fact.event)

    def finish(self) -> Iterator[Finding]:
        """Nothing is left open at the end."""
        return iter(())


def _in_ledger(fact: Fact, table: _Table, event: Any) -> Iterator[Finding]:
    match event:
        case w.LedgerOpened():
            table.opening = event.opening
        case w.LedgerClosed():
            table.opening = ""
        case w.SeatSessionOpened():
            table.racks.add(event.session)
        case w.ChipsBought():
            table.bought[event.buy_in] = (event.session, event.chips_cents)
        case w.TipGiven() if table.rules is not None and not table.rules.tips:
            yield found(
                "L10", fact, f"{event.amount_cents} cents are given to the dealers, posted is: no tips (30-803(3)(i))"
            )
        case w.SeatSessionClosed():
            table.racks.discard(event.session)
        case w.StakesHeld():
            table.open_holds.update(hold.hold for hold in event.holds)
        case w.HoldsVoided():
            table.open_holds.difference_update(hold.hold for hold in event.holds)
        case w.RoundSettled():
            table.open_holds.difference_update(hold for line in event.lines for hold in line.holds)
            left = any(hold.startswith(f"{event.round_id}/") for hold in table.open_holds)
            # A final one that leaves stakes open is found by L9.
            if not event.final and not left:
                yield found(
                    "L7", fact, f"the settlement of {event.round_id} leaves no stake open and is not called final"
                )
        case _:
            pass


def _at_table(fact: Fact, table: _Table, scene: TableScene, event: Any) -> Iterator[Finding]:
    match event:
        case t.TableOpened() if event.opening != table.opening:
            yield found(
                "L6", fact, f"the table opens on {event.opening}, the ledger is open under {table.opening or 'nothing'}"
            )
        case t.PlayerSeated():
            table.arriving.add(event.session)
        case t.PlayerLeft():
            table.arriving.discard(event.session)
        case t.RackOpened():
            yield from _rack(fact, table, event)
        case t.RulesPosted() | t.LimitsChanged():
            table.rules = read_rules(event.rules_text)
        case r.RoundOpened():
            table.opened = event
            yield from _sat_out(fact, table, event)
        case r.BettingClosed():
            hands = scene.round.hands if scene.round is not None else {}
            table.played = frozenset(hand.player for row in hands.values() for hand in row)
        case t.ShoeAssigned():
            yield from _first(fact, table, event)
        case _:
            pass


def _wagered(fact: Fact, table: _Table, scene: TableScene, event: Any) -> Iterator[Finding]:
    """A wager in cash or by word only where the house posts that it takes such (30-809), and each followed by its wager."""
    rules = scene.rules
    match event:
        case r.RoundOpened():
            table.spoken.clear()
        case r.RoundCompleted():
            table.bought.clear()
        case t.CashPlayed():
            if rules is not None and not rules.accept_cash_plays:
                yield found(
                    "L10",
                    fact,
                    f"{event.amount_cents} cents are wagered in cash, which the house does not take (30-809)",
                )
            if table.bought.get(event.receipt) != (event.session, event.amount_cents):
                yield found(
                    "L6", fact, f"cash is played by the purchase {event.receipt}, the ledger has no such one (30-831)"
                )
            table.spoken[event.seat, event.kind] = event.amount_cents
        case t.WagerSpoken():
            if rules is not None and not rules.accept_verbal:
                yield found(
                    "L10",
                    fact,
                    f"a spoken {event.kind} wager on seat {event.seat}, which the house does not take (30-809)",
                )
            table.spoken[event.seat, event.kind] = event.amount_cents
        case r.WagerPlaced():
            said = table.spoken.pop((event.seat, event.kind), event.amount_cents)
            if said != event.amount_cents:
                yield found(
                    "L10",
                    fact,
                    f"{said} cents were called out or counted on seat {event.seat}, {event.amount_cents} stand",
                )
        case r.BettingClosed():
            for (seat, kind), cents in table.spoken.items():
                yield found(
                    "L10", fact, f"{cents} cents on {kind} of seat {seat} were called out or counted and never stood"
                )
            table.spoken.clear()
        case _:
            pass


def _rack(fact: Fact, table: _Table, event: t.RackOpened) -> Iterator[Finding]:
    if event.session not in table.arriving:
        yield found("L6", fact, f"a rack is opened for {event.session}, who did not sit down or has one already")
    if event.session not in table.racks:
        yield found("L6", fact, f"{event.session} is said to have a rack, the ledger keeps none")
    table.arriving.discard(event.session)


def _sat_out(fact: Fact, table: _Table, event: r.RoundOpened) -> Iterator[Finding]:
    """Who did not play the round before may have to wait for the shuffle, and nobody else (30-809)."""
    for seated in event.seats:
        if seated.sat_out is not (seated.player not in table.played):
            said = "sat out" if seated.sat_out else "played"
            yield found(
                "L10", fact, f"{seated.player} is said to have {said} the round before, which is not so (30-809)"
            )


def _first(fact: Fact, table: _Table, event: t.ShoeAssigned) -> Iterator[Finding]:
    opened, table.opened = table.opened, None
    if opened is not None and opened.first_of_shoe is not (event.shoe_id != table.shoe):
        said = "the first" if opened.first_of_shoe else "not the first"
        yield found("L10", fact, f"{opened.round_id} is said to be {said} of {event.shoe_id}, which is not so (30-809)")
    table.shoe = event.shoe_id

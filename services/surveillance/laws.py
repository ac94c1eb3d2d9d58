"""The laws of DESIGN §8 in one registry, and the auditor that holds a log to them, live or offline.

Owns the list and the order of work: each event is shown to every law as the table lay just before it, then folded in.
Promises bounded memory per table and the same findings for the same log. L5 is not in the registry: it needs to be told
what was acknowledged (`laws_log.missing_acknowledged`).

L6, that folding the log gives the live state, is held in three ways: every balance, sum and count that a service wrote
into its events from its own memory (racks, tray, drop, win, handle, cards left, a round's totals) equals our fold of
the log up to there; the read model equals a second derivation, row by row (`rederiving`); and the record of a round is
the same whether it is folded from the whole log or from its own events.

Of a physical shoe, which devices observe, L2 can count cards and L3 can follow them, but no order was committed to: there is
nothing to open, and no proof of a card is possible (`laws_observed`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from services.surveillance.facts import Fact
from services.surveillance.findings import Finding, found
from services.surveillance.laws_agreement import ServicesAgree
from services.surveillance.laws_device import DeviceReady
from services.surveillance.laws_handling import CardsHandled
from services.surveillance.laws_holds import HoldsEnd
from services.surveillance.laws_log import EarlierCauses, OneEffectPerRequest, UnbrokenLog, missing_acknowledged
from services.surveillance.laws_money import ChipsConserved
from services.surveillance.laws_movements import MovementsNamed
from services.surveillance.laws_observed import IrregularitiesStopPlay
from services.surveillance.laws_play import PlayedByTheRules
from services.surveillance.laws_secrecy import NothingShownEarly
from services.surveillance.laws_settlement import SettledRight
from services.surveillance.laws_shoe import ShoeWhole
from services.surveillance.laws_statements import StatedRight
from services.surveillance.laws_table import BettingWindow, CardsAgree
from services.surveillance.scene import TableScene

__all__ = ["CHECKS", "COMPARED", "LAWS", "Auditor", "Check", "Law", "LawOf", "check", "missing_acknowledged"]


class Check(Protocol):
    """One fold over the log that answers with what it finds broken."""

    def observe(self, fact: Fact, scene: TableScene) -> Iterator[Finding]:
        """Take the next event in log order; `scene` is the table just before it."""
        ...

    def finish(self) -> Iterator[Finding]:
        """What only the end of the log can tell."""
        ...


@dataclass(frozen=True, slots=True)
class LawOf:
    """A law: its number, what it says, where it comes from."""

    id: str
    title: str
    source: str


Law = LawOf

LAWS: tuple[LawOf, ...] = (
    LawOf("L1", "chips are conserved to the cent", "DESIGN §7, 30-831"),
    LawOf(
        "L2",
        "every shoe position is drawn once, in order, and the revealed order opens the commitment",
        "30-816 to 30-818",
    ),
    LawOf("L3", "each dealt card is in exactly one hand or the rack, and table and shoe agree", "30-820, 30-822"),
    LawOf("L4", "sequences are contiguous, hashes link, every event can be read", "DESIGN §3"),
    LawOf("L5", "every acknowledged event is there", "DESIGN §3"),
    LawOf("L6", "folding the log gives the live state", "DESIGN §4"),
    LawOf("L7", "one settlement per stake, one effect per request, and the amount is the pay rule", "30-807 to 30-812"),
    LawOf("L8", "no wager after betting closed, no card before", "30-807, 30-809"),
    LawOf("L9", "every hold ends", "DESIGN §5"),
    LawOf("L10", "the dealer followed the posted rule and every action was legal", "30-812 to 30-829"),
    LawOf("L11", "every event names an earlier cause", "DESIGN §3"),
    LawOf("L12", "nothing published depends on an unrevealed card", "DESIGN §6, 30-823"),
)

CHECKS: tuple[Callable[[], Check], ...] = (
    UnbrokenLog,
    EarlierCauses,
    OneEffectPerRequest,
    ChipsConserved,
    HoldsEnd,
    ShoeWhole,
    CardsAgree,
    BettingWindow,
    SettledRight,
    PlayedByTheRules,
    NothingShownEarly,
    ServicesAgree,
    DeviceReady,
    CardsHandled,
    MovementsNamed,
    StatedRight,
    IrregularitiesStopPlay,
)


COMPARED: Mapping[type, frozenset[str]] = MappingProxyType(
    {
        EarlierCauses: frozenset({"shoe", "table", "wager"}),
        ChipsConserved: frozenset({"wager"}),
        HoldsEnd: frozenset({"table", "wager"}),
        CardsAgree: frozenset({"shoe", "table"}),
        BettingWindow: frozenset({"table"}),
        SettledRight: frozenset({"table", "wager"}),
        ServicesAgree: frozenset({"shoe", "table", "wager"}),
        CardsHandled: frozenset({"shoe", "table"}),
        StatedRight: frozenset({"table", "wager"}),
    }
)
"""The streams of a table without which a check cannot tell anything, because it compares what services say of each other."""


class Auditor:
    """Holds a log to the laws, one event after the other."""

    def __init__(self, checks: Iterable[Callable[[], Check]] = CHECKS) -> None:
        self._checks = [check() for check in checks]
        self._scenes: dict[str, TableScene] = {}
        self.events = 0

    def observe(self, fact: Fact) -> list[Finding]:
        """Take the next event in log order; what it breaks."""
        return [finding for _, finding in self.observe_each(fact)]

    def observe_each(self, fact: Fact) -> list[tuple[type, Finding]]:
        """The same, each finding with the check that found it."""
        self.events += 1
        scene = self._scenes.get(fact.key)
        if scene is None:
            scene = self._scenes[fact.key] = TableScene(fact.key)
        findings: list[tuple[type, Finding]] = []
        for check in self._checks:
            try:
                findings += [(type(check), finding) for finding in check.observe(fact, scene)]
            except Exception as error:  # noqa: BLE001 - an auditor that stops at one event is blind to all that follow
                nonsense = found("L4", fact, f"{type(check).__name__} cannot make sense of it: {error!r}")
                findings.append((UnbrokenLog, nonsense))
        scene.apply(fact)
        return findings

    def finish(self) -> list[Finding]:
        """What the end of the log shows; for a log that has ended, not for a live one."""
        return [finding for _, finding in self.finish_each()]

    def finish_each(self) -> list[tuple[type, Finding]]:
        """The same, each finding with the check that found it."""
        return [(type(check), finding) for check in self._checks for finding in check.finish()]


def check(facts: Iterable[Fact], *, to_the_end: bool = True) -> list[Finding]:
    """Hold a whole log to the laws."""
    auditor = Auditor()
    findings = [finding for fact in facts for finding in auditor.observe(fact)]
    return findings + (auditor.finish() if to_the_end else [])

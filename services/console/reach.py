"""What a visitor of the console may see: which readings, of which floors.

Owns the rule by role. Wraps any source of readings, so that no page can forget to ask; without a visitor (a console on this
machine alone) everything is shown. Surveillance and the regulator see everything of their floors. Ops and the pit
(supervisor, licensee) see the tables of theirs and how much was found, but neither what was found nor hands of the past.
"""

from collections.abc import AsyncIterator, Collection
from dataclasses import replace

from services.console.health_view import HealthView
from services.console.meter_views import MetersView
from services.console.readings import Readings
from services.console.views import FindingPage, FloorView, HandPage, HandQuery, RoundPage, TablePage
from services.console.visitors import visitor
from services.game.rejections import Breach, Rejection
from services.runtime.identity import EVERY, CertificateRole
from services.runtime.table_key import floor_of

OVERSIGHT = frozenset({CertificateRole.SURVEILLANCE, CertificateRole.REGULATOR})
PIT = frozenset({CertificateRole.SUPERVISOR, CertificateRole.LICENSEE})
OPS = frozenset({CertificateRole.OPS})


class PageNotYours(Rejection):
    """The visitor's role does not see such pages."""

    rule = "DESIGN §1"
    remedy = "Ask somebody of surveillance."
    breach = Breach.AUTHORITY


class FloorNotVisible(Rejection):
    """The page is about a floor, or all floors, that the visitor's certificate does not reach."""

    rule = "DESIGN §1"
    remedy = "Ask for the pages of your own floor."
    breach = Breach.AUTHORITY


class ReachableReadings:
    """The readings behind it, as far as the visitor of the page in hand may see them; raises the refusals above."""

    def __init__(self, readings: Readings) -> None:
        self._readings = readings

    def zone(self, key: str) -> str:
        """See Readings."""
        return self._readings.zone(key)

    async def floors(self) -> tuple[FloorView, ...]:
        """See Readings."""
        return _seen(await self._readings.floors(), _floors(OVERSIGHT | PIT | OPS, "the floors"))

    async def watch_floors(self) -> AsyncIterator[tuple[FloorView, ...]]:
        """See Readings."""
        reached = _floors(OVERSIGHT | PIT | OPS, "the floors")
        async for floors in self._readings.watch_floors():
            yield _seen(floors, reached)

    async def table(self, key: str) -> TablePage:
        """See Readings."""
        _require(OVERSIGHT | PIT | OPS, "a table", key)
        return _without_findings(await self._readings.table(key))

    async def watch_table(self, key: str) -> AsyncIterator[TablePage]:
        """See Readings."""
        _require(OVERSIGHT | PIT | OPS, "a table", key)
        async for page in self._readings.watch_table(key):
            yield _without_findings(page)

    async def search(self, query: HandQuery) -> HandPage:
        """See Readings; whoever sees one floor alone searches that one."""
        reached = _floors(OVERSIGHT, "hands")
        named = {floor_of(name) for name in (query.table, query.floor) if name}
        if EVERY not in reached:
            if not named and len(reached) == 1:
                return await self._readings.search(replace(query, floor=next(iter(reached))))
            _check_floors(named or {""}, reached)
        return await self._readings.search(query)

    async def round(self, round_id: str) -> RoundPage:
        """See Readings."""
        _require(OVERSIGHT, "a hand", round_id)
        return await self._readings.round(round_id)

    async def findings(self, table: str = "") -> FindingPage:
        """See Readings; of all floors together only for who sees all."""
        _require(OVERSIGHT, "findings", table)
        return await self._readings.findings(table)

    async def meters(self) -> MetersView:
        """See Readings; of the visitor's floors."""
        reached = _floors(OVERSIGHT | PIT | OPS, "the meters")
        whole = await self._readings.meters()
        if EVERY in reached:
            return whole
        return replace(
            whole,
            floors=tuple(line for line in whole.floors if line.name in reached),
            tables=tuple(line for line in whole.tables if floor_of(line.name) in reached),
            dealers=tuple(line for line in whole.dealers if floor_of(line.table) in reached),
            stuck=tuple(one for one in whole.stuck if floor_of(one.table) in reached),
            open_rounds=None,
        )

    async def health(self) -> HealthView:
        """See Readings."""
        _floors(OVERSIGHT | PIT | OPS, "how far surveillance is")
        return await self._readings.health()


def _floors(roles: frozenset[CertificateRole], what: str) -> frozenset[str]:
    """The floors on which the visitor has one of the roles; raises PageNotYours when there is none."""
    identity = visitor.get()
    if identity is None:
        return frozenset({EVERY})
    reached = frozenset(grant.floor for grant in identity.grants if grant.role in roles)
    if not reached:
        words = " or ".join(dict.fromkeys(grant.role.value for grant in identity.grants))
        raise PageNotYours(f"the role {words} does not see {what}")
    return reached


def _require(roles: frozenset[CertificateRole], what: str, key: str) -> None:
    _check_floors({floor_of(key)}, _floors(roles, what))


def _check_floors(floors: Collection[str], reached: frozenset[str]) -> None:
    for floor in floors:
        if not reached & {EVERY, floor}:
            where = f"the floor {floor[:40]!r}" if floor else "all floors together"
            raise FloorNotVisible(f"your certificate does not reach {where}", floor=floor[:40])


def _seen(floors: tuple[FloorView, ...], reached: frozenset[str]) -> tuple[FloorView, ...]:
    return tuple(floor for floor in floors if reached & {EVERY, floor.name})


def _without_findings(page: TablePage) -> TablePage:
    """The page as its visitor may see it: what was found at a table is not told to those who run it."""
    identity = visitor.get()
    if identity is None or any(
        grant.role in OVERSIGHT and grant.reaches(floor_of(page.row.key)) for grant in identity.grants
    ):
        return page
    return replace(page, findings=())

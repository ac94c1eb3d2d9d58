"""The pages' readings over the clients of surveillance and the tables: the only place where the console asks other services.

Owns which question each page costs and how live changes are put together. Keeps rule sets by digest, since a rule set never
changes; keeps nothing else. Raises what the clients raise.
"""

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from services.console.formatting import phase_words
from services.console.from_meters import meters_view
from services.console.from_records import round_page
from services.console.from_table import live_felt
from services.console.health_view import HealthView, OwnerView
from services.console.live import merged
from services.console.meter_views import MetersView
from services.console.rule_words import rules_view
from services.console.views import (
    FeltView,
    FindingPage,
    FindingView,
    FloorView,
    HandPage,
    HandQuery,
    RoundPage,
    RoundRow,
    RulesView,
    ShoeView,
    TablePage,
    TableRow,
)
from services.runtime.clock import GamingCalendar
from services.runtime.failures import CallFailed, NotFound, ServiceUnavailable
from services.surveillance import client as surveillance
from services.table import client as tables

ROUNDS_ON_A_PAGE = 25
LATEST_ROUNDS = 12
FINDINGS_ON_A_PAGE = 200
FINDINGS_AT_A_TABLE = 3
MOST_SEATS = 7


class ClientReadings:
    """Readings over two clients; `calendars` gives the zone of each floor that has not the default one."""

    def __init__(
        self,
        watchers: surveillance.SurveillanceClient,
        tables_client: tables.TableClient,
        calendars: Mapping[str, GamingCalendar] | None = None,
    ) -> None:
        self._surveillance = watchers
        self._tables = tables_client
        self._calendars = dict(calendars or {})
        self._rules: dict[str, RulesView] = {}

    def zone(self, key: str) -> str:
        """See Readings."""
        return self._calendars.get(key.partition("/")[0], GamingCalendar()).zone

    async def floors(self) -> tuple[FloorView, ...]:
        """See Readings."""
        return self._by_floor((await self._surveillance.list_tables()).tables)

    async def watch_floors(self) -> AsyncIterator[tuple[FloorView, ...]]:
        """See Readings."""
        known: dict[str, surveillance.TableOverview] = {}
        async for change in self._surveillance.watch_floor():
            known |= {table.table: table for table in change.tables}
            yield self._by_floor(tuple(known.values()))

    async def table(self, key: str) -> TablePage:
        """See Readings."""
        return await self._page(await self._live(key))

    async def watch_table(self, key: str) -> AsyncIterator[TablePage]:
        """See Readings."""
        live = await self._live(key)
        yield await self._page(live)
        sources: list[AsyncIterator[Any]] = [self._surveillance.watch_floor(table=key)]
        if live.view is not None:
            sources.append(self._tables.watch_table(key))
        async for number, item in merged(*sources):
            if number == 1:
                live.view = item
            elif live.view is None and any(table.open for table in item.tables):
                # It has opened since: whoever watches asks anew and gets the table's own view too.
                return
            else:
                live.overview = item.tables[-1] if item.tables else live.overview
                if item.ended_rounds or item.findings:
                    live.latest = await self._latest(key)
                    live.findings = await self._newest_findings(live.overview)
            yield await self._page(live)

    async def search(self, query: HandQuery) -> HandPage:
        """See Readings."""
        asked = surveillance.ListRounds(
            floor=query.floor,
            from_time_us=query.from_us or 0,
            to_time_us=query.to_us or 0,
            seat=query.seat or 0,
            patron=query.patron,
            cards=query.cards,
            minimum_stake_cents=query.minimum_cents or 0,
            maximum_stake_cents=query.maximum_cents or 0,
            outcome=query.outcome,
            limit=ROUNDS_ON_A_PAGE,
            skip=(query.page - 1) * ROUNDS_ON_A_PAGE,
        )
        found = await self._surveillance.list_rounds(asked, query.table)
        return HandPage(
            tuple(map(_round_row, found.rounds)), query.page, more=bool(found.next_cursor), total=found.total
        )

    async def round(self, round_id: str) -> RoundPage:
        """See Readings."""
        found = await self._surveillance.get_round(round_id)
        return round_page(
            found.record,
            self.zone(round_id),
            findings=tuple(map(_finding, found.findings)),
            previous=found.previous,
            following=found.next,
        )

    async def findings(self, table: str = "") -> FindingPage:
        """See Readings."""
        found = await self._surveillance.list_findings(surveillance.ListFindings(limit=FINDINGS_ON_A_PAGE), table)
        return FindingPage(tuple(map(_finding, found.findings)), found.total)

    async def meters(self) -> MetersView:
        """See Readings."""
        try:
            return meters_view(await self._surveillance.get_meters(), await self._surveillance.get_lag())
        except (ServiceUnavailable, CallFailed) as error:
            return MetersView(reason=str(error))

    async def health(self) -> HealthView:
        """See Readings."""
        try:
            lag = await self._surveillance.get_lag()
        except (ServiceUnavailable, CallFailed) as error:
            return HealthView(available=False, reason=str(error))
        return HealthView(
            available=lag.healthy,
            reason=lag.reason,
            applied_events=lag.events_projected,
            lag_events=lag.lag_events,
            lag_ms=lag.lag_us // 1_000,
            facts=(
                ("Findings", f"{lag.findings:,}"),
                ("Events delivered twice", f"{lag.duplicates:,}"),
                ("Gaps mended from the journal", f"{lag.gaps_mended:,}"),
                ("Audited up to", _audited(lag)),
            ),
            partitions=tuple((part.partition, part.projected_offset, part.end_offset) for part in lag.partitions),
            owners=tuple(map(_owner, lag.owners)),
            zone=self.zone(""),
        )

    async def _live(self, key: str) -> "_Live":
        overview = await self._overview(key)
        try:
            view = await self._tables.get_table(key)
        except NotFound:
            # Its shoe or tray is being made ready; the table itself has not opened yet.
            view = None
        return _Live(overview, view, await self._latest(key), await self._newest_findings(overview))

    async def _newest_findings(self, overview: surveillance.TableOverview) -> tuple[FindingView, ...]:
        if not overview.findings:
            return ()
        asked = surveillance.ListFindings(limit=FINDINGS_AT_A_TABLE)
        return tuple(map(_finding, (await self._surveillance.list_findings(asked, overview.table)).findings))

    async def _overview(self, key: str) -> surveillance.TableOverview:
        found = (await self._surveillance.list_tables(table=key)).tables
        if not found:
            raise NotFound(f"There is no table {key} in the log.")
        return found[0]

    async def _latest(self, key: str) -> tuple[RoundRow, ...]:
        found = await self._surveillance.list_rounds(surveillance.ListRounds(limit=LATEST_ROUNDS), key)
        return tuple(map(_round_row, found.rounds))

    async def _page(self, live: "_Live") -> TablePage:
        overview = live.overview
        rules = await self._rules_of(overview)
        racks = {seat.seat: seat.rack_cents for seat in overview.seats}
        shoe, lettering = _shoe(overview), rules.lettering if rules is not None else ""
        seats = overview.seats_open or MOST_SEATS
        if live.view is None:
            felt = FeltView(overview.table, phase="not opened yet", seat_count=seats, shoe=shoe, lettering=lettering)
        else:
            felt = live_felt(live.view, racks=racks, shoe=shoe, lettering=lettering, seat_count=seats)
        return TablePage(
            row=_table_row(overview),
            zone=self.zone(overview.table),
            gaming_day=overview.gaming_day,
            felt=felt,
            recent=live.latest,
            money=_money(overview),
            rules=rules,
            findings=live.findings,
        )

    async def _rules_of(self, overview: surveillance.TableOverview) -> RulesView | None:
        """The posted rules; their text comes with the table's last round."""
        digest = overview.rules_digest
        if digest not in self._rules and overview.round_id:
            record = (await self._surveillance.get_round(overview.round_id)).record
            view = rules_view(record.rules_text, record.rules_name, record.rules_version, record.rules_digest)
            if view is not None and view.notices:
                self._rules[record.rules_digest] = view
        known = self._rules.get(digest)
        return known or rules_view("", overview.rules_name, overview.rules_version, digest)

    def _by_floor(self, overviews: tuple[surveillance.TableOverview, ...]) -> tuple[FloorView, ...]:
        floors: dict[str, list[surveillance.TableOverview]] = {}
        for overview in sorted(overviews, key=lambda each: each.table):
            floors.setdefault(overview.floor, []).append(overview)
        return tuple(
            FloorView(
                name,
                self.zone(name),
                max(overview.gaming_day for overview in of_floor),
                tuple(map(_table_row, of_floor)),
            )
            for name, of_floor in sorted(floors.items())
        )


@dataclass(slots=True)
class _Live:
    """A table's page while it is watched; `view` is None for a table that never opened."""

    overview: surveillance.TableOverview
    view: tables.TableView | None
    latest: tuple[RoundRow, ...]
    findings: tuple[FindingView, ...]


def _table_row(overview: surveillance.TableOverview) -> TableRow:
    status = "suspended" if overview.suspension else "open" if overview.open else "closed"
    return TableRow(
        key=overview.table,
        status=status,
        phase=phase_words(overview.phase) if overview.open else "",
        game=f"{overview.rules_name} v{overview.rules_version}" if overview.rules_name else "",
        minimum_cents=overview.minimum_cents,
        maximum_cents=overview.maximum_cents,
        seats_open=overview.seats_open,
        seats_in_play=len(overview.seats),
        rounds=overview.rounds,
        rounds_per_hour=overview.rounds_per_hour,
        handle_cents=overview.handle_cents,
        win_cents=overview.win_cents,
        drop_cents=overview.drop_cents,
        shoe=_shoe(overview),
        findings=overview.findings,
        last_event_us=overview.last_event_time_us,
        last_round=overview.round_id,
    )


def _shoe(overview: surveillance.TableOverview) -> ShoeView | None:
    if not overview.shoe_cards:
        return None
    return ShoeView(overview.shoe_id, overview.shoe_cards - overview.shoe_left, overview.shoe_cards)


def _money(overview: surveillance.TableOverview) -> tuple[tuple[str, int], ...]:
    return (
        ("Tray now", overview.tray_cents),
        ("Opener", overview.opener_cents),
        ("Fills", overview.fills_cents),
        ("Credits", overview.credits_cents),
        ("Drop", overview.drop_cents),
        ("Patrons' racks", overview.racks_cents),
        ("In play", overview.escrow_cents),
        ("Average wager", overview.average_wager_cents),
    )


def _round_row(found: surveillance.RoundSummary) -> RoundRow:
    outcomes = Counter(hand.outcome for hand in found.hands if hand.outcome)
    return RoundRow(
        id=found.round_id,
        started_us=found.opened_time_us,
        ended_us=found.ended_time_us,
        seats=found.seats,
        hands=len(found.hands),
        dealer=tuple(map(str, found.dealer_cards)),
        dealer_total=found.dealer_total,
        handle_cents=found.staked_cents,
        win_cents=found.win_cents,
        status=found.status,
        outcomes=tuple(outcomes.items()),
        findings=found.findings,
    )


def _finding(found: surveillance.FindingView) -> FindingView:
    return FindingView(
        id=found.id,
        law=found.law,
        table=found.table,
        round=found.round_id,
        sentence=found.reason,
        found_us=found.recorded_time_us,
        event=f"{found.stream} {found.sequence}" if found.sequence else found.stream,
        title=found.title,
    )


def _audited(lag: surveillance.Lag) -> str:
    if lag.owners:
        done = sum(part.audited_offset >= part.end_offset for part in lag.partitions)
        return f"the end in {done} of {len(lag.partitions)} partitions"
    return ", ".join(f"{part.audited_offset:,} of {part.end_offset:,}" for part in lag.partitions)


def _owner(one: surveillance.PartitionOwner) -> OwnerView:
    return OwnerView(
        place=f"{one.topic}/{one.kafka_partition}",
        owner=one.owner,
        address=one.address,
        epoch=one.epoch,
        claimed_time_us=one.claimed_time_us,
        records_behind=one.records_behind,
        snapshot_age_us=one.snapshot_age_us,
        stopped=one.stopped,
    )

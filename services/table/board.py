"""What everybody may look at: the last durable state of each table, and whom it waits for.

Owns the published states, in memory, made anew from the log at any time. Promises that a reader never waits for a
table's turn, that sequences never go back, and that a slow reader skips to the newest state and holds nothing up. While a
table plays on by itself, from one recorded step to the next within milliseconds, watchers are told once at the end of it,
or after HELD_SECONDS: to show every step to every watcher would cost more than playing it.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from services.runtime.failures import ServiceUnavailable
from services.table.replies import TableView
from services.table.table import Table
from services.table.views import view_of
from services.table.words import WaitingFor

HELD_SECONDS = 0.05


@dataclass(slots=True)
class _Posted:
    """One table's newest state. `version` counts what a reader could see change."""

    table: Table
    sequence: int
    waiting_for: WaitingFor = WaitingFor.NOBODY
    waiting_reason: str = ""
    version: int = 1
    view: TableView | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    held: asyncio.TimerHandle | None = None
    """Set while a newer state is posted that watchers have not been told of."""


class Board:
    """The published states by table key."""

    def __init__(self) -> None:
        self._posted: dict[str, _Posted] = {}

    def publish(self, table: Table, sequence: int, *, more_follows: bool = False) -> None:
        """Show a newer state; an older one is ignored. Recording something ends a wait.

        With `more_follows`, because the table goes on by itself at once, watchers are told a little later.
        """
        posted = self._posted.get(table.key)
        if posted is None:
            self._posted[table.key] = _Posted(table, sequence)
        elif sequence > posted.sequence:
            posted.table, posted.sequence = table, sequence
            posted.waiting_for, posted.waiting_reason = WaitingFor.NOBODY, ""
            posted.view = None
            if not more_follows:
                self._tell(posted)
            elif posted.held is None:
                posted.held = asyncio.get_running_loop().call_later(HELD_SECONDS, self._tell, posted)

    def wait_for(self, key: str, whom: WaitingFor, reason: str) -> None:
        """Show that the table waits for `whom`; NOBODY ends it."""
        posted = self._posted.get(key)
        if posted is not None and (posted.waiting_for, posted.waiting_reason) != (whom, reason):
            posted.waiting_for, posted.waiting_reason = whom, reason
            self._tell(posted)

    def forget(self, key: str) -> None:
        """Take the table down: another process shows it from now on; whoever watches it here is told to look there."""
        posted = self._posted.pop(key, None)
        if posted is not None:
            self._tell(posted)

    def knows(self, key: str) -> bool:
        """Whether the table was published."""
        return key in self._posted

    def view(self, key: str) -> TableView | None:
        """The table's newest view, None for one that was never published."""
        posted = self._posted.get(key)
        return None if posted is None else _view(posted)

    def waiting(self, whom: WaitingFor) -> int:
        """How many tables wait for `whom` now; a suspended table waits for its supervisor. Safe from any thread."""
        return sum(
            posted.waiting_for is whom
            or (
                whom is WaitingFor.SUPERVISOR
                and posted.waiting_for is WaitingFor.NOBODY
                and bool(posted.table.suspended)
            )
            for posted in list(self._posted.values())
        )

    def open_rounds(self) -> int:
        """How many tables have a round in play now. Safe from any thread."""
        return sum(posted.table.live is not None for posted in list(self._posted.values()))

    def keys(self) -> list[str]:
        """Every table published, by name."""
        return sorted(self._posted)

    async def watch(self, key: str, after_sequence: int) -> AsyncIterator[TableView]:
        """The newest view whenever there is one that the reader has not got, for ever.

        Begins with the first one after `after_sequence`; a reader who has it already waits for the next. One who claims to
        have seen more than there is remembers another journal: he is shown this one at once. Raises ServiceUnavailable when
        the table is taken down.
        """
        posted = self._posted[key]
        seen = posted.version if posted.sequence == after_sequence else 0
        while True:
            if posted.version == seen:
                await posted.changed.wait()
                continue
            if self._posted.get(key) is not posted:
                raise ServiceUnavailable(f"{key} has another owner now: watch it there")
            seen = posted.version
            yield _view(posted)

    @staticmethod
    def _tell(posted: _Posted) -> None:
        if posted.held is not None:
            posted.held.cancel()
            posted.held = None
        posted.version += 1
        posted.view = None
        # Whoever waits on the old event wakes up and finds the new version; nobody has to be waited for.
        posted.changed.set()
        posted.changed = asyncio.Event()


def _view(posted: _Posted) -> TableView:
    if posted.view is None:
        posted.view = view_of(posted.table, posted.sequence, posted.waiting_for, posted.waiting_reason)
    return posted.view

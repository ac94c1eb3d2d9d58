"""Who watches the floor, and what has changed since each looked last.

Owns the watchers. Promises bounded memory: a slow watcher has one set of changed tables, not a queue of pictures, and
skips to the newest. One event loop only.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

from services.surveillance.findings import Finding

ROUNDS_KEPT = 1_000


@dataclass(slots=True, eq=False)
class Watcher:
    """What one watcher has not seen yet."""

    tables: set[str] = field(default_factory=set)
    ended_rounds: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def next(self) -> tuple[set[str], list[str], list[Finding]]:
        """Wait for a change, and take everything that has changed."""
        await self.changed.wait()
        self.changed.clear()
        taken = self.tables, self.ended_rounds, self.findings
        self.tables, self.ended_rounds, self.findings = set(), [], []
        return taken


class Watchers:
    """Everyone who watches."""

    def __init__(self) -> None:
        self._watchers: set[Watcher] = set()

    def join(self) -> Watcher:
        """A new watcher; `leave` must follow."""
        watcher = Watcher()
        self._watchers.add(watcher)
        return watcher

    def leave(self, watcher: Watcher) -> None:
        """The watcher is gone."""
        self._watchers.discard(watcher)

    def tell(
        self, tables: Iterable[str] = (), ended_rounds: Iterable[str] = (), findings: Iterable[Finding] = ()
    ) -> None:
        """Something changed."""
        for watcher in self._watchers:
            watcher.tables.update(tables)
            watcher.ended_rounds = [*watcher.ended_rounds, *ended_rounds][-ROUNDS_KEPT:]
            watcher.findings = [*watcher.findings, *findings][-ROUNDS_KEPT:]
            watcher.changed.set()

"""What a table looks like just before an event: the posted rules and the round in progress, folded once for all laws.

Owns the fold of one table's context. Promises never to raise, whatever the log holds: rules that cannot be parsed are
None and the reason is kept. Has no opinion; the laws have.
"""

import hashlib
from collections import OrderedDict
from functools import lru_cache

from services.game.rejections import Rejection
from services.game.rules import HouseRules, recorded_rules
from services.surveillance import round_facts, table_facts
from services.surveillance.facts import Fact
from services.surveillance.observed_round import ObservedRound

RULES_REMEMBERED = 16


class TableScene:
    """One table. `round` is the last round that was opened, complete or not; `rules` is the set it is dealt under."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.round: ObservedRound | None = None
        self.rules: HouseRules | None = None
        self.rules_text = ""
        self.suspended = False
        self.opened = False
        self._posted: OrderedDict[str, str] = OrderedDict()
        self._named: dict[str, tuple[str, int]] = {}

    @property
    def in_play(self) -> bool:
        """Whether a round is open and not complete."""
        return self.round is not None and not self.round.completed

    def text_of(self, digest: str) -> str:
        """The posted text of that digest, "" when none was posted lately."""
        return self._posted.get(digest, "")

    def posted_as(self, digest: str) -> tuple[str, int] | None:
        """Name and version under which the set of that digest was posted, None when that is not known."""
        return self._named.get(digest)

    def apply(self, fact: Fact) -> None:
        """Fold one event of any of the table's streams in."""
        if fact.area != "table" or fact.event is None:
            return
        event = fact.event
        match event:
            case table_facts.RulesPosted() | table_facts.LimitsChanged():
                self._posted.pop(event.digest, None)
                self._posted[event.digest] = event.rules_text
                rules = read_rules(event.rules_text)
                if rules is not None:
                    self._named[event.digest] = (rules.name, rules.version)
                while len(self._posted) > RULES_REMEMBERED:
                    self._named.pop(self._posted.popitem(last=False)[0], None)
            case round_facts.RoundOpened():
                self.round = ObservedRound()
                self.rules_text = self.text_of(event.rules_digest)
                self.rules = read_rules(self.rules_text)
                self.round.apply(event)
            case table_facts.TableSuspended():
                self.suspended = True
            case table_facts.TableResumed():
                self.suspended = False
            case table_facts.TableOpened():
                self.opened = True
            case table_facts.TableClosed():
                self.opened = self.suspended = False
            case _:
                if self.round is not None:
                    self.round.apply(event)


@lru_cache(maxsize=64)
def read_rules(text: str) -> HouseRules | None:
    """The rule set of a canonical text, None when it cannot be read."""
    try:
        return recorded_rules(text) if text else None
    except Rejection:
        return None


def digest_of_text(text: str) -> str:
    """SHA-256 in hex of a canonical text, which is what a digest of rules is."""
    return hashlib.sha256(text.encode()).hexdigest()

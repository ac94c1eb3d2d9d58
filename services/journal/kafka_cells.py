"""How a cluster's partitions are shared out among the processes that could own them.

Owns the rule, and its form as an assignor of a Kafka consumer group. Promises: every partition has exactly one owner among
those that take its topic; numbers differ by one at most; the same partition number of several topics (a *cell*) goes to one
process where that is possible, because calls inside a cell skip the wire; beyond that everyone keeps what he has. The same
members give the same shares, whoever works them out. It says who should own; who does, only the claims in the log say.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kafka.coordinator.assignors.abstract import (
    AbstractPartitionAssignor,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

Place = tuple[str, int]
"""A topic and the number of a partition in it."""


@dataclass(frozen=True, slots=True)
class Member:
    """A process that takes part: the topics whose partitions it could own, and what it owns now with the claims' offsets."""

    id: str
    topics: frozenset[str]
    held: Mapping[Place, int] = field(default_factory=dict)


Shares = dict[str, dict[str, list[int]]]
"""For each member and topic the partitions that it should own."""


def share_out(members: Sequence[Member], topics: Sequence[str], partitions: int) -> Shares:
    """Share `partitions` partitions of each of `topics` out among the members; a topic that nobody takes has no owners."""
    shares: Shares = {member.id: {} for member in members}
    holders = _holders(members)
    cells: dict[int, Counter[str]] = {number: Counter() for number in range(partitions)}
    for (_, number), holder in holders.items():
        if number in cells:
            cells[number][holder] += 1
    for topic in topics:
        takers = sorted(member.id for member in members if topic in member.topics)
        if not takers:
            continue
        holding = {number: holder for (held, number), holder in holders.items() if held == topic and holder in takers}
        owners = _Topic(takers, holding, partitions).owners(cells)
        for number, owner in sorted(owners.items()):
            # What is given counts for more than all that was held before: that may still move.
            cells[number][owner] += len(topics) + 1
            shares[owner].setdefault(topic, []).append(number)
    return shares


def _holders(members: Sequence[Member]) -> dict[Place, str]:
    """Who has what now. Of two that believe to own it the later claim is right; the other has not heard of it yet."""
    latest: dict[Place, tuple[int, str]] = {}
    for member in members:
        for place, epoch in member.held.items():
            latest[place] = max(latest.get(place, (-1, "")), (epoch, member.id))
    return {place: holder for place, (_, holder) in latest.items()}


class _Topic:
    """One topic being shared out among `takers`, of whom `holders` have partitions of it now."""

    def __init__(self, takers: Sequence[str], holders: Mapping[int, str], partitions: int) -> None:
        self._room = dict.fromkeys(takers, partitions // len(takers))
        self._extra = partitions % len(takers)
        self._free = set(range(partitions))
        self._owners: dict[int, str] = {}
        self._holders = holders

    def owners(self, cells: Mapping[int, "Counter[str]"]) -> dict[int, str]:
        """The owner of every partition, given how much of each cell everybody has already."""
        wanted = {number: self._wanted(number, cells[number]) for number in self._free}
        # Those who need not move come first, lest one that does takes the room of one that need not.
        for number in sorted(self._free, key=lambda number: (self._holders.get(number) != wanted[number], number)):
            self._give(number, wanted[number])
        for number in sorted(self._free):
            self._give(number, self._holders.get(number))
        for number in sorted(self._free):
            loads = Counter(self._owners.values())
            self._give(
                number, min((id_ for id_ in self._room if self._has_room(id_)), key=lambda id_: (loads[id_], id_))
            )
        return self._owners

    def _wanted(self, number: int, cell: "Counter[str]") -> str | None:
        """Who has most of the cell and takes this topic too; of several the one who has the partition."""
        able = [id_ for id_ in sorted(cell) if id_ in self._room]
        return max(
            able, key=lambda id_: (cell[id_], self._holders.get(number) == id_), default=self._holders.get(number)
        )

    def _has_room(self, member: str) -> bool:
        return self._room[member] > 0 or (self._room[member] == 0 and self._extra > 0)

    def _give(self, number: int, member: str | None) -> None:
        if member is None or number in self._owners or not self._has_room(member):
            return
        if self._room[member] == 0:
            self._extra -= 1
        self._room[member] -= 1
        self._owners[number] = member
        self._free.discard(number)


@dataclass(frozen=True, slots=True)
class Assignment:
    """What the group has given this process: places, and for each topic how many processes take it."""

    places: frozenset[Place]
    takers: Mapping[str, int]


class CellAssignor(AbstractPartitionAssignor):  # type: ignore[misc]  # kafka-python ships no types
    """`share_out` for a kafka-python consumer; `held` is asked in the consumer's thread before each rebalance."""

    name = "holecard-cells-1"

    def __init__(self, topics: Sequence[str], partitions: int, held: Callable[[], Mapping[Place, int]]) -> None:
        self.assignment = Assignment(frozenset(), {})
        self._topics = topics
        self._partitions = partitions
        self._held = held

    def metadata(self, topics: Any) -> Any:
        """What this member tells of itself."""
        told = [[topic, number, epoch] for (topic, number), epoch in self._held().items()]
        return ConsumerProtocolSubscription(0, sorted(topics), json.dumps({"held": told}).encode())

    def assign(self, _cluster: Any, members: Any) -> dict[str, Any]:
        """Everybody's shares; asked only of the member that leads the group."""
        known = [
            Member(one.member_id, frozenset(one.metadata.topics), _told(one.metadata.user_data)) for one in members
        ]
        shares = share_out(known, self._topics, self._partitions)
        takers = {topic: sum(topic in member.topics for member in known) for topic in self._topics}
        told = json.dumps({"takers": takers}).encode()
        return {
            member: ConsumerProtocolAssignment(0, sorted(places.items()), told) for member, places in shares.items()
        }

    def on_assignment(self, assignment: Any, _generation: int) -> None:
        """Note this member's share."""
        places = frozenset((place.topic, place.partition) for place in assignment.partitions())
        self.assignment = Assignment(places, json.loads(assignment.user_data or b"{}").get("takers", {}))


def _told(user_data: bytes | None) -> dict[Place, int]:
    """What a member says it holds; nothing where it cannot be read, as from another version: it then only moves more."""
    try:
        return {(str(topic), int(number)): int(epoch) for topic, number, epoch in json.loads(user_data or b"")["held"]}
    except (ValueError, TypeError, KeyError):
        return {}

"""Clean logs of a real house, and ways to break them in one place, for the tests of the laws."""

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from services.game.quick import replace
from services.journal.port import Recorded
from services.shoe import client as s
from services.surveillance import laws
from services.surveillance.facts import Fact, FactReader
from services.surveillance.findings import Finding
from services.wire.messages import message_class
from tests.support.watched_house import TABLE, rules_text, watched_house

E = TypeVar("E")
Log = tuple[Fact, ...]


@cache
def recorded(
    seed: str = "laws", rounds: int = 40, *, continuous: bool = False, decks: int = 6, seats: int = 3
) -> tuple[Recorded, ...]:
    """A whole log: a table is opened, rounds are played at random, the shoe is retired; the same for the same arguments."""

    async def make(folder: str) -> tuple[Recorded, ...]:
        async with watched_house(Path(folder), seed) as house:
            kind = s.DeviceKind.CONTINUOUS_SHUFFLER if continuous else s.DeviceKind.DEALING_SHOE
            await house.open(rules=rules_text(surrender='"late"'), kind=kind, decks=decks, seats=seats)
            await house.play(rounds)
            await house.shuffle(TABLE)
            return tuple(await house.recorded())

    # In a thread of its own, so that tests may ask for it from inside an event loop too.
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(make(folder))).result()


@cache
def log(seed: str = "laws", rounds: int = 40, *, continuous: bool = False, decks: int = 6, seats: int = 3) -> Log:
    """The same as facts."""
    reader = FactReader()
    return tuple(reader.read(one) for one in recorded(seed, rounds, continuous=continuous, decks=decks, seats=seats))


@cache
def closed_log() -> Log:
    """A few rounds, then everybody leaves and the table is closed."""

    async def make(folder: str) -> list[Fact]:
        async with watched_house(Path(folder), "closing") as house:
            await house.open(seats=2)
            await house.play(4)
            await house.close()
            return await house.facts()

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as thread:
        return tuple(thread.submit(lambda: asyncio.run(make(folder))).result())


def at(log_: Sequence[Fact], kind: type[E], fits: Callable[[E], bool] = lambda _: True, *, skip: int = 0) -> int:
    """The index of an event of this kind that fits."""
    found = [index for index, fact in enumerate(log_) if isinstance(fact.event, kind) and fits(fact.event)]
    return found[skip]


def changed(log_: Sequence[Fact], index: int, **changes: Any) -> Log:
    """The log with other content in one event."""
    fact = log_[index]
    return with_fact(log_, index, replace(fact, event=replace(fact.event, **changes)))


def with_envelope(log_: Sequence[Fact], index: int, **changes: Any) -> Log:
    """The log with another envelope around one event."""
    fact = log_[index]
    return with_fact(log_, index, replace(fact, envelope=replace(fact.envelope, **changes)))


def with_fact(log_: Sequence[Fact], index: int, fact: Fact) -> Log:
    """The log with one fact exchanged."""
    return (*log_[:index], fact, *log_[index + 1 :])


def without(log_: Sequence[Fact], index: int) -> Log:
    """The log without one fact."""
    return (*log_[:index], *log_[index + 1 :])


def moved(log_: Sequence[Fact], index: int, to: int) -> Log:
    """The log with one fact at another place."""
    rest = [*log_[:index], *log_[index + 1 :]]
    return (*rest[:to], log_[index], *rest[to:])


def repeated(log_: Sequence[Fact], index: int, after: int) -> Log:
    """The log with one fact there twice, the second time after another."""
    return (*log_[: after + 1], log_[index], *log_[after + 1 :])


def with_payload(log_: Sequence[Fact], index: int, change: Callable[[Any], None]) -> Log:
    """The log with another message in one event, as the wire has it."""
    fact = log_[index]
    message = cast("Any", message_class(fact.envelope.type).FromString(fact.envelope.payload))
    change(message)
    envelope = replace(fact.envelope, payload=message.SerializeToString())
    read = FactReader().read(Recorded(fact.position, envelope, b""))
    return with_fact(log_, index, replace(read, hash=fact.hash))


def broken(log_: Sequence[Fact], law: str) -> list[Finding]:
    """What this law finds."""
    return [finding for finding in laws.check(log_) if finding.law == law]


def caught(log_: Sequence[Fact], law: str, fact: Fact, words: str) -> None:
    """Assert that the law names this event, and says so in these words."""
    findings = broken(log_, law)
    named = [finding for finding in findings if (finding.stream, finding.sequence) == (fact.stream, fact.sequence)]
    assert named, f"{law} does not name {fact.stream} {fact.sequence}: {[str(finding) for finding in findings[:5]]}"
    assert any(words in finding.reason for finding in named), [finding.reason for finding in named]

"""Devices for the tests of gateways: they number, keep and send again, as the protocol asks of a real one."""

import asyncio
import contextlib
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from services.floor.gateway_client import GatewayClient, Report, Reported
from services.journal.sqlite import SqliteJournal
from services.runtime.caller import GrpcCaller, open_channel
from services.runtime.failures import ServiceUnavailable
from services.table.client import Observation, Reading, ReadingKind
from services.table.deciding import decider
from services.table.observation_events import ObservationRecorded
from services.wire.envelope import Envelope

TABLE = "black-hawk/BJ-07"
NOON_US = 1_796_000_000_000_000


def reading(sequence: int, kind: ReadingKind = ReadingKind.TRAY_COUNTED, **said: Any) -> Reading:
    """A reading that any table takes, unless told otherwise."""
    if kind is ReadingKind.TRAY_COUNTED:
        said.setdefault("amount_cents", 1_000_000 + sequence)
    return Reading(sequence, NOON_US + sequence, kind, **said)


def readings(first: int, last: int) -> tuple[Reading, ...]:
    """Readings `first` to `last` of a tray."""
    return tuple(reading(sequence) for sequence in range(first, last + 1))


def observation(said: Reading, device: str = "tray-7", *, offset_us: int | None = 0) -> Observation:
    """What a gateway would make of it."""
    return Observation(device, NOON_US + said.device_sequence, offset_us, said)


@dataclass
class Device:
    """One device that keeps what it was not answered for."""

    gateway: GatewayClient
    name: str
    table: str = TABLE
    kept: list[Reading] = field(default_factory=list)
    sequence: int = 0
    told: int = 0
    """Every reading up to this one was acknowledged."""
    failures: int = 0

    def see(self, kind: ReadingKind = ReadingKind.TRAY_COUNTED, **said: Any) -> Reading:
        """Take a reading."""
        self.sequence += 1
        self.kept.append(reading(self.sequence, kind, **said))
        return self.kept[-1]

    async def send(self, most: int = 500) -> Reported:
        """Report what is kept, again and again until it is acknowledged."""
        while True:
            try:
                answer = await self.gateway.report(
                    self.table, Report(self.name, NOON_US + self.sequence, tuple(self.kept[:most]))
                )
            except ServiceUnavailable:
                self.failures += 1
                await asyncio.sleep(0.02)
                continue
            self.told = max(self.told, answer.kept_through)
            self.kept = [one for one in self.kept if one.device_sequence > answer.kept_through]
            return answer


class Devices:
    """Several devices of one table over one channel; `async with Devices(address, names) as devices:`."""

    def __init__(self, address: str, names: Sequence[str] = ("shoe-7", "tray-7", "console-7")) -> None:
        self._channel = open_channel(address)
        self.gateway = GatewayClient(GrpcCaller(self._channel, deadline_seconds=5.0, patience_seconds=0.0))
        self.all = [Device(self.gateway, name) for name in names]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._channel.close()

    async def see_and_send(self, random_: random.Random, count: int) -> None:
        """`count` readings of random devices, some sent twice on purpose."""
        for _ in range(count):
            device = random_.choice(self.all)
            for _ in range(random_.randint(1, 4)):
                device.see()
            before = list(device.kept)
            await device.send()
            if random_.random() < 0.2:
                with contextlib.suppress(ServiceUnavailable):
                    await self.gateway.report(device.table, Report(device.name, 0, tuple(before)))


_EVENTS = decider().events


async def events_at(journal: Path, table: str = TABLE) -> list[tuple[Envelope, Any]]:
    """Every event of a table's stream with its envelope, read beside a running house."""
    reader = SqliteJournal.open_read_only(journal)
    try:
        return [
            (one.envelope, _EVENTS.decode(one.envelope.type, one.envelope.schema_version, one.envelope.payload))
            async for one in reader.read(f"table:{table}")
        ]
    finally:
        await reader.close()


async def observations_at(journal: Path, table: str = TABLE) -> list[Observation]:
    """Every recorded observation of a table, in log order."""
    return [event.observation for _, event in await events_at(journal, table) if isinstance(event, ObservationRecorded)]


def by_device(observations: Sequence[Observation]) -> dict[str, list[int]]:
    """The sequences on the log by device, in log order."""
    found: dict[str, list[int]] = {}
    for one in observations:
        found.setdefault(one.device, []).append(one.reading.device_sequence)
    return found

"""From device to journal through a gateway: once, in order, whatever happens to the line, the gateway or the house."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from services.floor.gateway_client import GatewayClient, Report, ReportRuling
from services.floor.simulation import Callers, Plan, Simulation
from services.game.authority import Actor, CommandContext, Role
from services.game.cards import Card
from services.game.profiles import profile
from services.house import House
from services.runtime.caller import GrpcCaller, open_channel
from services.runtime.clock import GamingCalendar, ManualClock, SystemClock
from services.runtime.failures import ServiceUnavailable
from services.table import client as tables
from services.table.client import ClockAlarm, ReadingKind
from services.table.observation_events import DeviceClockAlarmed, DeviceHistoryLost, ObservationContested
from services.wire.refusal import Refused
from tests.support.audit import wrong
from tests.support.devices import (
    NOON_US,
    TABLE,
    Devices,
    by_device,
    events_at,
    observation,
    observations_at,
    reading,
    readings,
)
from tests.support.gateway_here import gateway_at, house_settings
from tests.support.gateway_process import GatewayProcess
from tests.support.house_process import free_port
from tests.support.relay import Relay
from tests.support.seeds import seeded

RULES = Path("services/game/profiles/colorado.toml").read_text(encoding="utf-8")
WRITERS = ("shoe", "table", "wager")
RULING = reading(1, ReadingKind.PLAY_RESUMED, person="P-9", note="seen, play goes on")
GATEWAY = Actor(Role.DEVICE, "gateway-black-hawk")


async def until(true: Callable[[], Awaitable[bool]]) -> None:
    """Wait for what must come; the test's own timeout ends a wait for ever."""
    while not await true():  # noqa: ASYNC110 - another process is waited for
        await asyncio.sleep(0.02)


async def test_readings_get_from_the_device_to_the_journal_once_and_in_order(tmp_path: Path) -> None:
    async with House(house_settings(tmp_path), WRITERS) as house:
        async with (
            gateway_at(tmp_path / "gateway.db", f"127.0.0.1:{house.grpc_port}") as here,
            Devices(here.address) as devices,
        ):
            await devices.see_and_send(seeded("tests/integration/test_gateway.py"), 40)
            sent = {device.name: list(range(1, device.sequence + 1)) for device in devices.all if device.sequence}

            async def arrived() -> bool:
                line = await devices.gateway.get_line()
                return line.queued == 0 and line.up

            await until(arrived)
            for name in sent:
                answer = await devices.gateway.get_device(TABLE, name)
                assert (answer.next_sequence, answer.forwarded_through) == (sent[name][-1] + 1, sent[name][-1])
        recorded = await observations_at(tmp_path / "journal.db")
        assert by_device(recorded) == sent
        assert all(one.received_time_us > NOON_US for one in recorded)
    assert wrong(tmp_path / "journal.db") == []


async def test_an_hour_without_a_line_with_the_gateway_killed_in_between_loses_and_doubles_nothing(
    tmp_path: Path,
) -> None:
    random_ = seeded("tests/integration/test_gateway.py -k an_hour_without_a_line")
    address = f"127.0.0.1:{free_port()}"
    journal = tmp_path / "house" / "journal.db"
    async with (
        Relay(int(address.rpartition(":")[2])) as line,
        GatewayProcess(tmp_path, line.address) as gateway,
        Devices(gateway.address) as devices,
    ):
        async with House(house_settings(tmp_path / "house", address), WRITERS):
            await devices.see_and_send(random_, 15)
            line.cut()
            await devices.see_and_send(random_, 15)
            sending = asyncio.create_task(devices.see_and_send(random_, 25))
            await asyncio.sleep(0.05)
            await gateway.kill()
            await gateway.start()
            await sending
        # The house itself goes away and comes back, as when its tables move to another owner.
        async with House(house_settings(tmp_path / "house", address), WRITERS):
            line.mend()
            sending = asyncio.create_task(devices.see_and_send(random_, 25))
            await asyncio.sleep(0.02)
            line.cut()
            await asyncio.sleep(0.05)
            line.mend()
            await sending

            async def arrived() -> bool:
                return (await devices.gateway.get_line()).queued == 0

            await until(arrived)
        sent = {device.name: list(range(1, device.sequence + 1)) for device in devices.all if device.sequence}
        assert sum(device.failures for device in devices.all) > 0
    assert by_device(await observations_at(journal)) == sent
    assert wrong(journal) == []


async def test_commands_are_passed_on_and_refused_clearly_while_the_line_is_down(tmp_path: Path) -> None:
    boss = Actor(Role.SUPERVISOR, "P-1")
    async with (
        House(house_settings(tmp_path), WRITERS) as house,
        Relay(house.grpc_port) as line,
        gateway_at(tmp_path / "gateway.db", line.address) as here,
    ):
        channel = open_channel(here.address)
        client = tables.TableClient(GrpcCaller(channel, patience_seconds=0.0))

        async def up() -> bool:
            return here.gateway.forwarder.line.up

        await until(up)
        await client.open_table(
            TABLE,
            CommandContext("open", boss, 0, ""),
            tables.OpenTable(RULES, (tables.ChipCount(500, 100),), "D-1"),
        )
        with pytest.raises(Refused, match="TableAlreadyOpen"):
            await client.open_table(TABLE, CommandContext("twice", boss, 0, ""), tables.OpenTable(RULES, (), "D-1"))
        line.cut()
        seat = tables.SeatPlayer("p-1", 1, 10_000)

        async def refused() -> bool:
            try:
                await client.seat_player(TABLE, CommandContext("seat", boss, 0, ""), seat)
            except ServiceUnavailable as failure:
                return "LineDown" in str(failure) and "nothing happened" in str(failure)
            return False

        await until(refused)
        assert here.figure("holecard_gateway_line_up") == 0
        # Readings are taken all the same.
        gateway = GatewayClient(GrpcCaller(channel))
        assert (await gateway.report(TABLE, Report("tray-7", 0, readings(1, 3)))).kept_through == 3
        assert not (await gateway.get_line()).up
        line.mend()
        await until(up)
        seated = await client.seat_player(TABLE, CommandContext("seat", boss, 0, ""), seat)
        assert seated.session
        with pytest.raises(Refused, match="TableOfAnotherFloor"):
            await client.get_table("cripple-creek/BJ-01")
        await channel.close()


async def test_what_breaks_the_device_protocol_is_refused_by_name_and_not_kept(tmp_path: Path) -> None:
    async with gateway_at(tmp_path / "gateway.db", "127.0.0.1:1") as here:
        channel = open_channel(here.address)
        gateway = GatewayClient(GrpcCaller(channel))
        card = tables.Reading(1, 0, ReadingKind.CARD_DRAWN)
        wrongs = [
            ("other/BJ-07", "shoe-7", (reading(1),), "TableOfAnotherFloor"),
            ("BJ-07", "shoe-7", (reading(1),), "MalformedTableKey"),
            (TABLE, "shoe 7", (reading(1),), "MalformedReading"),
            (TABLE, "gateway", (reading(1),), "DeviceNameReserved"),
            (TABLE, "shoe-7", (), "MalformedReading"),
            (TABLE, "shoe-7", readings(1, 501), "MalformedReading"),
            (TABLE, "shoe-7", (card,), "MalformedReading"),
            (TABLE, "shoe-7", (reading(2),), "ReadingSequenceGap"),
            (TABLE, "shoe-7", (replace(reading(1), seat=8),), "MalformedReading"),
            (TABLE, "shoe-7", (replace(reading(1), amount_cents=-1),), "MalformedReading"),
            (TABLE, "shoe-7", (reading(1, ReadingKind.SUPERVISOR_CALLED),), "MalformedReading"),
            (TABLE, "shoe-7", (RULING,), "RulingNeedsSupervisor"),
        ]
        for table, device, said, name in wrongs:
            with pytest.raises(Refused) as refused:
                await gateway.report(table, Report(device, 0, said))
            assert refused.value.name == name
        for wrong_, supervisor in ((reading(1), "P-9"), (RULING, "P-8")):
            with pytest.raises(Refused, match="RulingNeedsSupervisor"):
                await gateway.report_ruling(TABLE, ReportRuling("terminal-7", 0, (wrong_,), supervisor))
        assert (await gateway.get_line()).queued == 0
        kept = await gateway.report_ruling(TABLE, ReportRuling("terminal-7", 0, (RULING,), "P-9"))
        assert kept.kept_through == 1
        await channel.close()


async def test_the_face_of_a_hidden_card_is_never_written_down(tmp_path: Path) -> None:
    ace = Card.parse("As")
    async with gateway_at(tmp_path / "gateway.db", "127.0.0.1:1") as here:
        channel = open_channel(here.address)
        gateway = GatewayClient(GrpcCaller(channel))
        hole = tables.Reading(1, 0, ReadingKind.CARD_DRAWN, card=ace, face_down=True)
        with pytest.raises(Refused, match="without its face"):
            await gateway.report(TABLE, Report("shoe-7", 0, (hole,)))
        await gateway.report(TABLE, Report("shoe-7", 0, (replace(hole, card=None),)))
        await channel.close()
    assert b"As" not in (tmp_path / "gateway.db").read_bytes()


async def test_a_full_disk_is_said_to_the_device_and_nothing_is_acknowledged(tmp_path: Path) -> None:
    async with House(house_settings(tmp_path / "house"), WRITERS) as house:
        async with gateway_at(tmp_path / "g.db", "127.0.0.1:1", limit_bytes=100_000) as here:
            channel = open_channel(here.address)
            gateway = GatewayClient(GrpcCaller(channel, patience_seconds=0.0))
            acknowledged = 0
            with contextlib.suppress(ServiceUnavailable):
                while said := readings(acknowledged + 1, acknowledged + 100):
                    acknowledged = (await gateway.report(TABLE, Report("tray-7", 0, said))).kept_through
            with pytest.raises(ServiceUnavailable, match="disk is full"):
                await gateway.report(TABLE, Report("tray-7", 0, said))
            assert (await gateway.get_device(TABLE, "tray-7")).next_sequence == acknowledged + 1
            await channel.close()
        async with gateway_at(tmp_path / "g.db", f"127.0.0.1:{house.grpc_port}") as here:

            async def arrived() -> bool:
                return here.figure("holecard_gateway_queued_readings") == 0

            await until(arrived)
        recorded = by_device(await observations_at(tmp_path / "house" / "journal.db"))
        assert recorded == {"tray-7": list(range(1, acknowledged + 1))}


async def test_the_house_itself_knows_what_it_has_whatever_a_gateway_sends(tmp_path: Path) -> None:
    async with House(house_settings(tmp_path), WRITERS) as house:
        client = tables.TableClient(house.caller("table"))

        async def record(*said: tables.Observation, actor: Actor = GATEWAY) -> tables.ObservationsRecorded:
            context = CommandContext("same", actor, NOON_US, "")
            return await client.record_observations(TABLE, context, tables.RecordObservations(said))

        first = await record(*(observation(one) for one in readings(1, 5)))
        assert first.devices == (tables.DeviceStanding("tray-7", 5),)
        again = await record(*(observation(one) for one in readings(3, 8)))
        assert (again.devices[0].recorded_through, again.repeated_readings, again.contested) == (8, 3, 0)
        forged = observation(replace(reading(4), amount_cents=1))
        for expected in (1, 0):
            assert (await record(forged)).contested == expected
        with pytest.raises(Refused, match="DeviceSequenceGap") as refused:
            await record(observation(reading(10)))
        assert refused.value.facts["expected"] == "9"
        lost = observation(reading(20, ReadingKind.HISTORY_LOST, note="memory replaced"))
        assert (await record(lost)).devices[0].recorded_through == 20
        with pytest.raises(Refused, match="NotAuthorised"):
            await record(observation(reading(21)), actor=Actor(Role.PLAYER, "p-1"))
        with pytest.raises(Refused, match="MalformedReading"):
            await record()
    events = [event for _, event in await events_at(tmp_path / "journal.db")]
    assert by_device(await observations_at(tmp_path / "journal.db")) == {"tray-7": [1, 2, 3, 4, 5, 6, 7, 8, 20]}
    contested = [event for event in events if isinstance(event, ObservationContested)]
    assert [(one.observation, one.recorded_digest) for one in contested] == [(forged, reading(4).digest)]
    assert [event for event in events if isinstance(event, DeviceHistoryLost)] == [DeviceHistoryLost("tray-7", 9, 19)]
    assert wrong(tmp_path / "journal.db") == []


async def test_a_clock_that_is_off_steps_or_dies_is_an_alarm_and_changes_no_order(tmp_path: Path) -> None:
    hour = 3_600_000_000
    async with House(house_settings(tmp_path), WRITERS) as house:
        client = tables.TableClient(house.caller("table"))
        at = iter(range(1, 100))

        async def record(offset_us: int | None, *, dead: bool = False) -> None:
            said = reading(next(at))
            said = replace(said, occurred_time_us=0 if dead else said.occurred_time_us + (offset_us or 0))
            context = CommandContext(f"c{said.device_sequence}", GATEWAY, NOON_US, "")
            seen = observation(said, offset_us=offset_us)
            await client.record_observations(TABLE, context, tables.RecordObservations((seen,)))

        for offset in (0, 300_000, -700_000, hour, hour + 10, hour + 20):
            await record(offset)
        assert (await client.get_devices(TABLE)).devices[0].clock is ClockAlarm.OFF
        await record(0)
        await record(0)
        await record(None, dead=True)
        await record(None, dead=True)
        await record(0)
        device = (await client.get_devices(TABLE)).devices[0]
        assert (device.clock, device.clock_offset_us, device.recorded_through) == (ClockAlarm.RIGHT, 0, 11)
    alarms = [event for _, event in await events_at(tmp_path / "journal.db") if isinstance(event, DeviceClockAlarmed)]
    stepped, off, right, dead = ClockAlarm.STEPPED, ClockAlarm.OFF, ClockAlarm.RIGHT, ClockAlarm.DEAD
    assert [(one.device_sequence, one.alarm) for one in alarms] == [
        (4, stepped), (5, off), (7, stepped), (8, right), (9, dead), (11, right),
    ]  # fmt: skip
    sequences = [one.reading.device_sequence for one in await observations_at(tmp_path / "journal.db")]
    assert sequences == list(range(1, 12))


async def test_each_observation_counts_for_the_gaming_day_on_which_it_was_kept(tmp_path: Path) -> None:
    # 2026-11-29 13:00 UTC is 06:00 in Denver: one second before it is still the day before.
    morning = 1_795_957_200_000_000
    async with House(house_settings(tmp_path), WRITERS) as house:
        client = tables.TableClient(house.caller("table"))
        seen = tuple(
            tables.Observation("tray-7", morning + after, 0, replace(reading(n), occurred_time_us=morning + after - 9))
            for n, after in ((1, -1_000_000), (2, 0), (3, 1_000_000))
        )
        await client.record_observations(TABLE, CommandContext("a", GATEWAY, 0, ""), tables.RecordObservations(seen))
    days = [(one.gaming_day, one.occurred_time_us) for one, _ in await events_at(tmp_path / "journal.db")]
    assert days == [
        ("2026-11-28", morning - 1_000_009),
        ("2026-11-29", morning - 9),
        ("2026-11-29", morning + 1_000_000 - 9),
    ]


async def test_a_stalled_report_raises_no_alarm_and_a_clock_that_steps_back_is_seen_after_some(tmp_path: Path) -> None:
    clock = ManualClock(NOON_US)
    async with gateway_at(tmp_path / "gateway.db", "127.0.0.1:1", clock=clock) as here:
        channel = open_channel(here.address)
        gateway = GatewayClient(GrpcCaller(channel))
        measured = []
        for sequence, late in enumerate((0, 30, 0, *(60,) * 8), start=1):
            answer = await gateway.report(TABLE, Report("tray-7", NOON_US - late * 1_000_000, (reading(sequence),)))
            measured.append(answer.clock_offset_us)
        assert measured[:3] == [0, 0, 0]
        assert measured[-1] == -60_000_000
        await channel.close()


async def test_conducted_tables_stop_while_the_line_is_down_and_play_on_when_it_is_back(tmp_path: Path) -> None:
    chance = seeded("tests/integration/test_gateway.py -k conducted_tables_stop")
    async with (
        House(house_settings(tmp_path), WRITERS) as house,
        Relay(house.grpc_port) as line,
        gateway_at(tmp_path / "gateway.db", line.address) as here,
    ):
        channel = open_channel(here.address)
        caller = GrpcCaller(channel, patience_seconds=1.0)
        plan = Plan(tables=2, seats=3, rounds=12, mischief=0.0, seed=chance.randrange(10**6), names=("black-hawk",))
        simulation = Simulation(plan, (profile("colorado"),), Callers(caller, caller, caller), SystemClock())
        playing = asyncio.create_task(simulation.run(lambda *_: None))

        async def played() -> bool:
            return simulation.figures.rounds >= 3 or playing.done()

        await until(played)
        line.cut()

        async def noticed() -> bool:
            return simulation.figures.outages > 0 or playing.done()

        await until(noticed)
        at_rest = simulation.figures.rounds
        await asyncio.sleep(0.5)
        assert simulation.figures.rounds <= at_rest + plan.tables, "play went on without a house"
        line.mend()
        figures = await playing
        await channel.close()
    assert figures.rounds >= plan.rounds
    # Whoever does not know whether his wager arrived, and lays another one, is told that the first one lies there.
    assert set(figures.surprises) <= {"WagerLocked"}
    assert wrong(tmp_path / "journal.db") == []


async def test_two_floors_keep_their_own_time_money_and_observations(tmp_path: Path) -> None:
    # 2026-10-25 00:30 UTC: in London the hour comes twice that night; in Denver it is still the evening before.
    night = 1_792_888_200_000_000
    calendars = {"mayfair": GamingCalendar("Europe/London", 6), "black-hawk": GamingCalendar("America/Denver", 6)}
    keys = ("mayfair/BJ-07", TABLE)
    async with House(replace(house_settings(tmp_path), calendars=calendars), WRITERS) as house:
        client = tables.TableClient(house.caller("table"))
        for at, key in enumerate(keys, start=1):
            hours = (0, 5 * 3_600_000_000, 6 * 3_600_000_000)
            seen = tuple(tables.Observation("tray-7", night + later, 0, reading(n)) for n, later in enumerate(hours, 1))
            context = CommandContext(f"floor-{at}", GATEWAY, 0, "")
            await client.record_observations(key, context, tables.RecordObservations(seen))
    days = {key: [one.gaming_day for one, _ in await events_at(tmp_path / "journal.db", key)] for key in keys}
    assert days["mayfair/BJ-07"] == ["2026-10-24", "2026-10-24", "2026-10-25"]
    assert days[TABLE] == ["2026-10-24"] * 3
    for key in keys:
        assert by_device(await observations_at(tmp_path / "journal.db", key)) == {"tray-7": [1, 2, 3]}

"""How far each device's readings are recorded, and how its clock stands: folded from the table's own events.

Owns the identity of a reading, (table, device, device sequence). Promises that a reading is recorded once and in its
device's order whatever is sent again, because the log itself says what it holds; no cache has to be kept. Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from services.game.quick import replace
from services.game.rejections import Rejection
from services.table import observation_events as o
from services.table.readings import ClockAlarm, Observation, Reading, ReadingKind

CONTENTS_REMEMBERED: Final = 1_000
"""A gateway repeats at most its last call, of 500; older contents are on the log and are not compared."""
CONTESTS_REMEMBERED: Final = 64
OFF_US: Final = 2_000_000
"""A clock may be this far off: game times are to be right to one second (GLI-19 C.6.3), and a report takes up to another."""
STEP_US: Final = 1_000_000


class DeviceSequenceGap(Rejection):
    """A reading whose predecessor is not on the log."""

    rule = "DESIGN §5"
    remedy = "Send the device's readings again from the expected sequence on."


@dataclass(frozen=True, slots=True)
class DeviceLog:
    """One device at one table. `contents` are the digests of its last readings, the newest last."""

    device: str
    last: int = 0
    last_received_us: int = 0
    contents: tuple[bytes, ...] = ()
    offset_us: int | None = None
    clock: ClockAlarm = ClockAlarm.RIGHT
    contests: tuple[bytes, ...] = ()

    def content(self, sequence: int) -> bytes:
        """The digest of a recorded reading, empty when it is not remembered."""
        back = self.last - sequence
        return self.contents[-1 - back] if 0 <= back < len(self.contents) else b""


Devices = Mapping[str, DeviceLog]


def arrived(devices: Devices, observation: Observation) -> tuple[o.DeviceEvent, ...]:
    """What is recorded of an observation as such: nothing for one that is on the log already; raises DeviceSequenceGap."""
    log = devices.get(observation.device) or DeviceLog(observation.device)
    reading = observation.reading
    if reading.device_sequence <= log.last:
        return _again(log, observation)
    events: list[o.DeviceEvent] = [o.ObservationRecorded(observation)]
    expected = log.last + 1
    if reading.device_sequence != expected:
        if reading.kind is not ReadingKind.HISTORY_LOST:
            raise DeviceSequenceGap(
                f"{log.device} goes on with {expected}, not {reading.device_sequence}",
                device=log.device,
                expected=expected,
                given=reading.device_sequence,
            )
        events.append(o.DeviceHistoryLost(log.device, expected, reading.device_sequence - 1))
    events += _clock(log, observation)
    return tuple(events)


def is_on_log(devices: Devices, observation: Observation) -> bool:
    """Whether its identity is recorded, with whatever content."""
    log = devices.get(observation.device)
    return log is not None and observation.reading.device_sequence <= log.last


def _again(log: DeviceLog, observation: Observation) -> tuple[o.DeviceEvent, ...]:
    known, digest = log.content(observation.reading.device_sequence), observation.reading.digest
    if not known or known == digest or digest in log.contests:
        return ()
    return (o.ObservationContested(observation, known, digest),)


def _clock(log: DeviceLog, observation: Observation) -> tuple[o.DeviceEvent, ...]:
    """An alarm when the clock's condition changed, and for every step."""
    alarm = _condition(log, observation)
    if alarm is log.clock and alarm is not ClockAlarm.STEPPED:
        return ()
    before = log.offset_us or 0
    now = observation.clock_offset_us
    offset = 0 if alarm is ClockAlarm.DEAD or now is None else now
    return (o.DeviceClockAlarmed(log.device, observation.reading.device_sequence, alarm, offset, before),)


def _condition(log: DeviceLog, observation: Observation) -> ClockAlarm:
    offset = observation.clock_offset_us
    if observation.reading.occurred_time_us == 0:
        return ClockAlarm.DEAD
    if offset is None:
        # A device that says when things happened and not what time it is now: nothing new is known of its clock.
        return ClockAlarm.RIGHT if log.clock is ClockAlarm.DEAD else log.clock
    if log.offset_us is not None and abs(offset - log.offset_us) > STEP_US:
        return ClockAlarm.STEPPED
    if abs(offset) > OFF_US:
        # After a step the clock stays where it stepped to; that is said once.
        return ClockAlarm.OFF
    return ClockAlarm.RIGHT


def evolve_devices(devices: Devices, event: o.DeviceEvent) -> Devices:
    """Fold one event."""
    match event:
        case o.ObservationRecorded(observation):
            log = devices.get(observation.device) or DeviceLog(observation.device)
            return {**devices, log.device: _recorded(log, observation)}
        case o.ObservationContested(observation):
            log = devices[observation.device]
            contests = (*log.contests, event.digest)[-CONTESTS_REMEMBERED:]
            return {**devices, log.device: replace(log, contests=contests)}
        case o.DeviceClockAlarmed():
            log = devices[event.device]
            return {**devices, log.device: replace(log, clock=event.alarm)}
        case _:
            return devices


def _recorded(log: DeviceLog, observation: Observation) -> DeviceLog:
    reading: Reading = observation.reading
    # After a hole in the sequence only what comes after it can be found by counting back.
    before = log.contents if reading.device_sequence == log.last + 1 else ()
    offset = log.offset_us if observation.clock_offset_us is None else observation.clock_offset_us
    if len(before) >= CONTENTS_REMEMBERED:
        before = before[1 - CONTENTS_REMEMBERED :]
    return DeviceLog(
        log.device,
        reading.device_sequence,
        observation.received_time_us,
        (*before, reading.digest),
        offset,
        log.clock,
        log.contests,
    )

"""What the table records of its devices: every observation, and what is wrong with a device itself.

Facts on the stream `table:<floor>/<table>`. What an observation means for the round comes in the round's own events, right
after it and in the same append.
"""

from dataclasses import dataclass

from services.table.readings import ClockAlarm, Observation


@dataclass(frozen=True, slots=True)
class ObservationRecorded:
    """A device saw something; never refused for what it says (DESIGN §5)."""

    observation: Observation


@dataclass(frozen=True, slots=True)
class ObservationContested:
    """A device's sequence came again with other content: the first stands, this one is evidence against the device.

    `recorded_digest` is empty when the first is older than the table remembers contents.
    """

    observation: Observation
    recorded_digest: bytes
    digest: bytes


@dataclass(frozen=True, slots=True)
class DeviceClockAlarmed:
    """A device's clock is off, stepped, died, or is right again; nothing is ordered or corrected by it."""

    device: str
    device_sequence: int
    alarm: ClockAlarm
    offset_us: int
    previous_offset_us: int


@dataclass(frozen=True, slots=True)
class DeviceHistoryLost:
    """A device says that these readings of it are gone for good: the log has a hole here, and says so."""

    device: str
    first_missing: int
    last_missing: int


DEVICE_EVENTS: tuple[type, ...] = (ObservationRecorded, ObservationContested, DeviceClockAlarmed, DeviceHistoryLost)
DeviceEvent = ObservationRecorded | ObservationContested | DeviceClockAlarmed | DeviceHistoryLost

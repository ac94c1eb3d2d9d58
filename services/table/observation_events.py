"""What the table records of its devices: every observation, and what is wrong with a device itself.

Facts on the stream `table:<floor>/<table>`. What an observation means for the round comes in the round's own events, right
after it and in the same append.
"""

from dataclasses import dataclass

from services.game.cards import Card
from services.table.readings import ClockAlarm, IrregularityKind, Observation


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


@dataclass(frozen=True, slots=True)
class ObservingStarted:
    """The table is observed from now on: devices tell what happens, and the backend conducts nothing here."""

    period: int


@dataclass(frozen=True, slots=True)
class IrregularityFound:
    """Something broke the rules and did happen (30-828); `TableSuspended` follows, except for TRAY_DIFFERS.

    `broken` is the name that a refusal of the same act would have. `due_cents` is what the rules give where `amount_cents`
    was seen. Counted from 1 at each table.
    """

    irregularity: int
    kind: IrregularityKind
    round_id: str
    device: str
    device_sequence: int
    broken: str
    message: str
    seat: int
    position: int
    card: Card | None
    amount_cents: int
    due_cents: int


@dataclass(frozen=True, slots=True)
class CardSetAside:
    """A card that left the shoe belongs to no hand: it lies aside, and goes to the rack with the round."""

    round_id: str
    shoe_id: str
    position: int
    card: Card | None


DEVICE_EVENTS: tuple[type, ...] = (
    ObservationRecorded,
    ObservationContested,
    DeviceClockAlarmed,
    DeviceHistoryLost,
)
OBSERVED_EVENTS: tuple[type, ...] = (*DEVICE_EVENTS, ObservingStarted, IrregularityFound, CardSetAside)
DeviceEvent = ObservationRecorded | ObservationContested | DeviceClockAlarmed | DeviceHistoryLost
ObservedEvent = DeviceEvent | ObservingStarted | IrregularityFound | CardSetAside

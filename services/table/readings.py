"""What devices at a physical table say, word for word: the readings, and which of them is none.

Owns the shape and the form check, the same for the gateway and the table. Knows no rule of the game: a reading that breaks
one is a fact all the same. Enum member names are the names on the wire.
"""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from services.game.cards import Card
from services.game.rejections import Breach, Rejection

MOST_IN_ONE_CALL: Final = 500
MOST_SEATS: Final = 7
MOST_DECKS: Final = 16
MOST_CENTS: Final = 1_000_000_000_000
MOST_NOTE: Final = 300
MAX_TIME_US: Final = 253_402_300_799_999_999
"""The end of the year 9999, beyond which no event is dated."""
MAX_SEQUENCE: Final = 2**53
_DEVICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,39}")
_PERSON = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._:@+-]{0,63}")


class MalformedReading(Rejection):
    """Not a reading as the device protocol describes it; `field` names what is wrong."""

    rule = "holecard.table.v1.Reading"
    remedy = "Send the reading as its kind is described in observations.proto."
    breach = Breach.FORM


class ReadingKind(StrEnum):
    """What was seen; protos/holecard/table/v1/observations.proto says which fields each kind uses."""

    SHOE_STARTED = "shoe started"
    CARD_DRAWN = "card drawn"
    CARD_BURNED = "card burned"
    CUT_CARD_SEEN = "cut card seen"
    SHOE_ENDED = "shoe ended"
    ROUND_STARTED = "round started"
    BET_SEEN = "bet seen"
    BETTING_CLOSED = "betting closed"
    HIT_SIGNALLED = "hit"
    STAND_SIGNALLED = "stand"
    DOUBLE_SIGNALLED = "double"
    SPLIT_SIGNALLED = "split"
    SURRENDER_SIGNALLED = "surrender"
    HAND_KEPT = "hand kept"
    INSURANCE_SEEN = "insurance"
    INSURANCE_DECLINED = "insurance declined"
    EVEN_MONEY_TAKEN = "even money"
    INSURANCE_CLOSED = "insurance closed"
    HOLE_CHECKED = "hole checked"
    CARD_TURNED = "card turned"
    DEALER_DONE = "dealer done"
    PAYMENT_SEEN = "payment seen"
    PICKED_UP = "picked up"
    TRAY_COUNTED = "tray counted"
    SEAT_TAKEN = "seat taken"
    SEAT_LEFT = "seat left"
    DEALER_CHANGED = "dealer changed"
    SUPERVISOR_CALLED = "supervisor called"
    PLAY_RESUMED = "play resumed"
    ROUND_VOIDED = "round voided"
    HISTORY_LOST = "history lost"
    DEVICE_REPORT = "device report"


class ClockAlarm(StrEnum):
    """How a device's clock stands."""

    RIGHT = "right"
    OFF = "off"
    STEPPED = "stepped"
    DEAD = "dead"


class IrregularityKind(StrEnum):
    """What broke the rules at an observed table; protos/holecard/table/v1/observations.proto says when each is meant."""

    CARD_OUT_OF_TURN = "card out of turn"
    CARD_IMPOSSIBLE = "card impossible"
    CARD_FACE_WRONG = "card face wrong"
    BET_AFTER_CLOSE = "bet after close"
    WAGER_NOT_ALLOWED = "wager not allowed"
    ACTION_NOT_ALLOWED = "action not allowed"
    PAYMENT_WRONG = "payment wrong"
    TRAY_DIFFERS = "tray differs"
    DEALER_ENDED_EARLY = "dealer ended early"
    HOLE_CHECK_WRONG = "hole check wrong"
    ROUND_OUT_OF_ORDER = "round out of order"
    SEAT_WRONG = "seat wrong"
    PLAYED_WHILE_SUSPENDED = "played while suspended"
    SHOE_OUT_OF_ORDER = "shoe out of order"


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of one device about one table. `occurred_time_us` is the device's own clock, 0 when it is dead."""

    device_sequence: int
    occurred_time_us: int
    kind: ReadingKind
    seat: int = 0
    card: Card | None = None
    face_down: bool = False
    position: int = 0
    amount_cents: int = 0
    makes_blackjack: bool = False
    decks: int = 0
    person: str = ""
    note: str = ""

    @property
    def digest(self) -> bytes:
        """SHA-256 over all that the device said: equal for the same reading only."""
        text = "\x1f".join(
            str(part)
            for part in (
                self.device_sequence,
                self.occurred_time_us,
                self.kind.name,
                self.seat,
                self.card or "",
                int(self.face_down),
                self.position,
                self.amount_cents,
                int(self.makes_blackjack),
                self.decks,
                self.person,
                self.note,
            )
        )
        return hashlib.sha256(text.encode()).digest()


@dataclass(frozen=True, slots=True)
class Observation:
    """A reading with what the gateway knows of it: when it was kept, and how far the device's clock was off then."""

    device: str
    received_time_us: int
    clock_offset_us: int | None
    reading: Reading

    @property
    def happened_us(self) -> int:
        """When it happened, as the device says; when it was kept, if the device has no time."""
        return self.reading.occurred_time_us or self.received_time_us


_K = ReadingKind
RULINGS: Final = frozenset({_K.PLAY_RESUMED, _K.ROUND_VOIDED})
"""What only a pit supervisor decides (30-828(1)); `person` is his badge."""
_AT_A_SEAT: Final = frozenset(
    {
        _K.BET_SEEN,
        _K.HIT_SIGNALLED,
        _K.STAND_SIGNALLED,
        _K.DOUBLE_SIGNALLED,
        _K.SPLIT_SIGNALLED,
        _K.SURRENDER_SIGNALLED,
        _K.HAND_KEPT,
        _K.INSURANCE_SEEN,
        _K.INSURANCE_DECLINED,
        _K.EVEN_MONEY_TAKEN,
        _K.PAYMENT_SEEN,
        _K.SEAT_TAKEN,
        _K.SEAT_LEFT,
    }
)
_BY_A_PERSON: Final = frozenset({_K.DEALER_CHANGED, _K.PLAY_RESUMED, _K.ROUND_VOIDED})
_NOTED: Final = frozenset({_K.SUPERVISOR_CALLED, _K.PLAY_RESUMED, _K.ROUND_VOIDED, _K.HISTORY_LOST, _K.DEVICE_REPORT})


def check_device(device: str) -> str:
    """`device` itself: 1 to 40 letters, digits and "-"; raises MalformedReading."""
    if not _DEVICE.fullmatch(device):
        raise MalformedReading(f"{device[:80]!r} is not the name of a device", field="device")
    return device


def check_reading(reading: Reading) -> Reading:
    """`reading` itself when it is one; raises MalformedReading that names the field."""
    _between(reading.device_sequence, 1, MAX_SEQUENCE, "device_sequence")
    _between(reading.occurred_time_us, 0, MAX_TIME_US, "occurred_time_us")
    _between(reading.seat, int(reading.kind in _AT_A_SEAT), MOST_SEATS, "seat")
    _between(reading.position, 0, 52 * MOST_DECKS * 100, "position")
    _between(reading.amount_cents, 0, MOST_CENTS, "amount_cents")
    _between(reading.decks, int(reading.kind is _K.SHOE_STARTED), MOST_DECKS, "decks")
    _require(len(reading.note) <= MOST_NOTE and (not reading.note or reading.note.isprintable()), "note")
    _require(bool(reading.note.strip()) or reading.kind not in _NOTED, "note")
    _require(not reading.person or bool(_PERSON.fullmatch(reading.person)), "person")
    _require(bool(reading.person) or reading.kind not in _BY_A_PERSON, "person")
    check = _FACES.get(reading.kind, _no_card)
    check(reading)
    return reading


def _open_or_down(reading: Reading) -> None:
    if reading.face_down and reading.card is not None:
        # The value of a face-down card is nobody's before its time (DESIGN §6), so it may not even be written down.
        raise MalformedReading("a card that lies face down is sent without its face", field="card")
    _require(reading.face_down or reading.card is not None, "card")


def _turned(reading: Reading) -> None:
    _require(reading.card is not None and not reading.face_down, "card")


def _no_card(reading: Reading) -> None:
    _require(reading.card is None and not reading.face_down, "card")


_FACES: Final[dict[ReadingKind, Callable[[Reading], None]]] = {
    _K.CARD_DRAWN: _open_or_down,
    _K.CARD_BURNED: _open_or_down,
    _K.CARD_TURNED: _turned,
}


def _between(value: int, least: int, most: int, field: str) -> None:
    if not least <= value <= most:
        raise MalformedReading(f"{field} is {least} to {most} here, not {value}", field=field, given=value)


def _require(holds: bool, field: str) -> None:
    if not holds:
        raise MalformedReading(f"{field} is missing, or not allowed here", field=field)

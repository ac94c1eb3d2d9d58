"""A record of an event topic as Kafka carries it: headers and value, made by a writer and read by everybody.

Promises: reading never raises; what is not one of our records comes back with a complaint that says why. The headers
repeat what is inside for tools like kcat; only `holecard` (the kind) is trusted, everything else is checked from the
value.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from services.journal.port import Recorded
from services.wire.batch import Claim, EventBatch, RecordInvalid, decode_batch, decode_claim, encode_batch, encode_claim
from services.wire.envelope import Envelope, EnvelopeInvalid, beginning_of, decode

KIND = "holecard"
_BATCH, _CLAIM = b"batch", b"claim"

Headers = list[tuple[str, bytes]]


@dataclass(frozen=True, slots=True)
class RawRecord:
    """A record as it came: Kafka's offset, headers, value (None for a tombstone)."""

    offset: int
    headers: Sequence[tuple[str, bytes | None]]
    value: bytes | None


@dataclass(frozen=True, slots=True)
class Reading:
    """What a record says: a claim, or a batch with its events, or a complaint (not empty) why it is neither.

    `numbers` are the events' numbers in the record, from 1.
    """

    complaint: str = ""
    claim: Claim | None = None
    batch_claim: int = -1
    envelopes: tuple[Envelope, ...] = ()
    stored: tuple[bytes, ...] = ()
    numbers: Sequence[int] = ()


def claim_record(claim: Claim) -> tuple[bytes, Headers]:
    """The value and the headers of a claim."""
    return encode_claim(claim), [(KIND, _CLAIM), ("owner", claim.owner.encode())]


def batch_record(claim: int, recorded: Sequence[Recorded]) -> tuple[bytes, Headers]:
    """The value and the headers of a batch: its claim, its first and last event, and their types."""
    types = sorted({one.envelope.type for one in recorded})
    return encode_batch(EventBatch(claim, tuple(one.stored for one in recorded))), [
        (KIND, _BATCH),
        ("claim", str(claim).encode()),
        ("first", _name(recorded[0])),
        ("last", _name(recorded[-1])),
        ("types", ",".join(types).encode()),
    ]


def read_record(raw: RawRecord, stream: str = "") -> Reading:
    """Read a record; with a stream named, only those events whose bytes begin with its name, as this version writes them."""
    kind = next((value for name, value in raw.headers if name == KIND), None)
    if raw.value is None or kind not in {_BATCH, _CLAIM}:
        return Reading("not a record of a Holecard journal: a foreign producer wrote here")
    try:
        if kind == _CLAIM:
            return Reading(claim=decode_claim(raw.value))
        batch = decode_batch(raw.value)
        stored = batch.events
        numbers: Sequence[int] = range(1, len(stored) + 1)
        if stream:
            beginning = beginning_of(stream)
            numbers = [number for number, one in enumerate(stored, 1) if one.startswith(beginning)]
            stored = tuple(stored[number - 1] for number in numbers)
        return Reading(batch_claim=batch.claim, envelopes=tuple(map(decode, stored)), stored=stored, numbers=numbers)
    except (RecordInvalid, EnvelopeInvalid) as error:
        return Reading(str(error))


def _name(recorded: Recorded) -> bytes:
    return f"{recorded.envelope.stream} {recorded.envelope.sequence}".encode()

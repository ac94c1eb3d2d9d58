"""What a device saw, in a sentence: read from the message itself, whatever kinds of readings are added later."""

from typing import Any

from google.protobuf.message import DecodeError

from services.surveillance.facts import Fact
from services.wire.messages import message_class

_PREFIX = "READING_KIND_"


def is_observation(fact: Fact) -> bool:
    """Whether the event is what a device told."""
    return fact.name == "ObservationRecorded"


def observation_text(fact: Fact) -> str:
    """Who saw what: "shoe-7 saw: card drawn 9s"; the event's name where it cannot be read."""
    message: Any = message_class(fact.envelope.type)
    try:
        observation = message.FromString(fact.envelope.payload).observation
    except DecodeError:
        return fact.name
    reading = observation.reading
    kinds = reading.DESCRIPTOR.fields_by_name["kind"].enum_type.values_by_number
    kind = kinds[reading.kind].name.removeprefix(_PREFIX).replace("_", " ").lower() if reading.kind in kinds else "?"
    parts = [kind]
    if reading.face_down:
        parts.append("face down")
    if reading.card:
        parts.append(reading.card)
    if reading.seat:
        parts.append(f"seat {reading.seat}")
    if reading.amount_cents:
        whole, rest = divmod(abs(reading.amount_cents), 100)
        parts.append(f"${whole:,}" + (f".{rest:02d}" if rest else ""))
    if reading.person:
        parts.append(f"by {reading.person}")
    if reading.note:
        parts.append(f"({reading.note})")
    return f"{observation.device} saw: {' '.join(parts)}"

"""A record of a Kafka journal as people and scripts read it. Payloads are shown as bytes: what is sealed stays sealed."""

import base64
from dataclasses import asdict
from datetime import UTC, datetime

from services.game.record import field_names
from services.journal.chain import hash_of
from services.journal.kafka_scan import Scanned
from services.wire.batch import Claim
from services.wire.envelope import Envelope

_SHOWN_BYTES = 512


def claim_text(claim: Claim, epoch: int) -> str:
    """Who claimed, where he is reached, since when by his own clock; whatever that clock says."""
    try:
        since = f"{datetime.fromtimestamp(claim.claimed_time_us / 1e6, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (ValueError, OverflowError, OSError):
        since = f"{claim.claimed_time_us} µs"
    return f"{claim.owner} at {claim.address or '-'} (build {claim.build or '-'}), epoch {epoch}, since {since}"


def as_lines(scanned: Scanned) -> list[str]:
    """One line for the record, and one for each of its events."""
    reading, offset = scanned.reading, scanned.raw.offset
    if reading.claim is not None:
        claim = reading.claim
        return [f"{offset:>8} {scanned.verdict}: {claim.owner} at {claim.address or '-'} (build {claim.build or '-'})"]
    if scanned.failure is not None:
        return [f"{offset:>8} {scanned.verdict}: {scanned.failure}", *_events(scanned)]
    if reading.complaint:
        return [f"{offset:>8} {scanned.verdict}: {reading.complaint}"]
    size = len(scanned.raw.value or b"")
    head = f"{offset:>8} {scanned.verdict}: batch of claim {reading.batch_claim}, {len(reading.stored)} events, {size} bytes"
    return [head, *_events(scanned)]


def as_json(scanned: Scanned, *, with_bytes: bool = False) -> dict[str, object]:
    """The record as an object; `with_bytes` adds the value in base64."""
    reading, raw = scanned.reading, scanned.raw
    shown: dict[str, object] = {
        "offset": raw.offset,
        "verdict": str(scanned.verdict),
        "complaint": reading.complaint,
        "stops": str(scanned.failure or ""),
        "headers": {name: _text(value) for name, value in raw.headers},
        "claim": None if reading.claim is None else asdict(reading.claim),
        "batch_claim": reading.batch_claim,
        "events": [
            _event(envelope, stored) for envelope, stored in zip(reading.envelopes, reading.stored, strict=True)
        ],
    }
    if with_bytes:
        shown["value"] = None if raw.value is None else base64.b64encode(raw.value).decode()
    return shown


def hex_lines(scanned: Scanned) -> list[str]:
    """The headers, and the value's first bytes in hexadecimal."""
    value = scanned.raw.value
    lines = [f"  header {name}: {_text(header)}" for name, header in scanned.raw.headers]
    if value is None:
        return [*lines, "  no value"]
    shown = [f"  {at:06x}  {value[at : at + 16].hex(' ')}" for at in range(0, min(len(value), _SHOWN_BYTES), 16)]
    more = [f"  … {len(value)} bytes in all"] if len(value) > _SHOWN_BYTES else []
    return [*lines, *shown, *more]


def _events(scanned: Scanned) -> list[str]:
    return [
        f"           {e.stream} {e.sequence} {e.type} v{e.schema_version} by {e.actor.role} {e.actor.id},"
        f" request {e.request_id}"
        for e in scanned.reading.envelopes
    ]


def _event(envelope: Envelope, stored: bytes) -> dict[str, object]:
    shown: dict[str, object] = {name: getattr(envelope, name) for name in field_names(envelope)}
    shown |= {
        "actor": asdict(envelope.actor),
        "cause": None if envelope.cause is None else asdict(envelope.cause),
        "payload": base64.b64encode(envelope.payload).decode(),
        "request_digest": envelope.request_digest.hex(),
        "previous_hash": envelope.previous_hash.hex(),
        "hash": hash_of(stored).hex(),
    }
    return shown


def _text(value: bytes | None) -> str:
    return "" if value is None else value.decode("utf-8", "backslashreplace")

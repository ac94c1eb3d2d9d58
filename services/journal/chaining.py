"""New events as they will be stored: each encoded once, with its number in the stream and the hash of the one before it.

Owns what every adapter does alike with an append. Does not know where events lie, and stores nothing.
"""

from collections.abc import Iterator, Sequence

from services.journal.chain import hash_of
from services.journal.errors import EventRefused
from services.journal.port import NewEvent
from services.wire.envelope import Encoder, Envelope, EnvelopeInvalid


def chained(
    stream: str, head: tuple[int, bytes], events: Sequence[NewEvent], recorded_time_us: int, epoch: int
) -> Iterator[tuple[Envelope, bytes, bytes]]:
    """Envelope, stored bytes and hash of each event after `head`, the sequence and hash of the stream's last one.

    Raises EventRefused at the first event that breaks a range.
    """
    sequence, previous_hash = head
    encoder = Encoder()
    for event in events:
        sequence += 1
        envelope = Envelope(
            stream,
            sequence,
            event.type,
            event.payload,
            event.schema_version,
            event.occurred_time_us,
            recorded_time_us,
            event.actor,
            event.request_id,
            event.request_digest,
            event.cause,
            event.round_id,
            event.gaming_day,
            epoch,
            previous_hash,
        )
        try:
            stored = encoder.encode(envelope)
        except EnvelopeInvalid as error:
            raise EventRefused(str(error)) from error
        previous_hash = hash_of(stored)
        yield envelope, stored, previous_hash

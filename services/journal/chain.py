"""The hash chain of a stream: each event carries the SHA-256 of the stored bytes of the one before it.

Owns: what a hash is over, and the check that a row of events hangs together. Promises: `ChainReader` lets nothing
through that is not the very next event of its stream. Does not: tell kinds of damage apart (fsck does) or know where
bytes are kept.
"""

import hashlib

from services.journal.errors import JournalDamaged
from services.wire.envelope import NO_HASH, Envelope


def hash_of(stored: bytes) -> bytes:
    """Return an event's hash: SHA-256 over exactly the stored bytes, never over a new encoding."""
    return hashlib.sha256(stored).digest()


class ChainReader:
    """Follows one stream from a known head and refuses whatever is not its next event."""

    __slots__ = ("hash", "sequence", "stream")

    def __init__(self, stream: str, sequence: int = 0, head: bytes = NO_HASH) -> None:
        """Start after `sequence`, whose event has the hash `head`; 0 and NO_HASH start at the stream's beginning."""
        self.stream = stream
        self.sequence = sequence
        self.hash = head

    def accept(self, envelope: Envelope, event_hash: bytes) -> None:
        """Take the next event, whose stored bytes hash to `event_hash`.

        Raises JournalDamaged when it is another stream's, not the next in sequence, or carries another previous hash.
        """
        expected = self.sequence + 1
        if envelope.previous_hash != self.hash or envelope.sequence != expected or envelope.stream != self.stream:
            raise JournalDamaged(self.stream, expected, self._wrong_with(envelope))
        self.sequence = expected
        self.hash = event_hash

    def _wrong_with(self, envelope: Envelope) -> str:
        if (envelope.stream, envelope.sequence) != (self.stream, self.sequence + 1):
            return f"found {envelope.stream!r} {envelope.sequence} in its place"
        return "it does not carry the hash of the event before it"

"""What a law says when it is broken: one finding, with the event that shows it.

Owns the record and its identity. A finding is never changed or deleted; a second look at the same log gives the same
findings with the same ids. Does not know what any law is.
"""

import hashlib
from dataclasses import dataclass

from services.surveillance.facts import Fact


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """A broken law: where it shows and why.

    `law` is its number in DESIGN §8 ("L1" to "L12"). `stream` and `sequence` name the first event that shows it
    (sequence 0: the stream as a whole, at its end). `round_id` is empty outside rounds. `reason` is a sentence with the
    numbers.
    """

    law: str
    stream: str
    sequence: int
    round_id: str
    reason: str
    recorded_time_us: int = 0

    @property
    def id(self) -> str:
        """The same for the same finding in every run, so that a second delivery adds nothing."""
        text = "\x00".join((self.law, self.stream, str(self.sequence), self.reason))
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def __str__(self) -> str:
        return f"{self.law} {self.stream} {self.sequence}: {self.reason}"


def found(law: str, fact: Fact, reason: str) -> Finding:
    """The finding that `fact` shows."""
    envelope = fact.envelope
    return Finding(
        law, envelope.stream, envelope.sequence, envelope.round_id, reason, recorded_time_us=envelope.recorded_time_us
    )

"""A circuit breaker for one address: who fails again and again is left alone for a while, then tried with one call.

Pure: the caller gives the time. Does not call anybody.
"""

from enum import IntEnum

FAILURES_TO_OPEN = 5
FIRST_REST_SECONDS = 0.25
LONGEST_REST_SECONDS = 2.0
"""Short, since owners move within seconds and a process that was started again must be found soon."""
PROBE_SECONDS = 5.0
"""How long the one call of a half-open circuit may take before another is let through."""


class Circuit(IntEnum):
    """How an address is treated; the number is what the metric shows."""

    CLOSED = 0
    """Calls go through."""
    HALF_OPEN = 1
    """One call is on its way to find out."""
    OPEN = 2
    """No call goes through until its rest is over."""


class Breaker:
    """Counts failures in a row. Times are seconds of one monotonic clock."""

    def __init__(self) -> None:
        self.circuit = Circuit.CLOSED
        self._failures = 0
        self._rest_seconds = FIRST_REST_SECONDS
        self._since = 0.0

    def lets_through(self, now: float) -> bool:
        """Whether a call may be made now; one that may, of a circuit that was open, is its probe."""
        wait = {Circuit.CLOSED: 0.0, Circuit.HALF_OPEN: PROBE_SECONDS, Circuit.OPEN: self._rest_seconds}[self.circuit]
        if self.circuit is Circuit.CLOSED:
            return True
        if now - self._since < wait:
            return False
        self.circuit, self._since = Circuit.HALF_OPEN, now
        return True

    def succeeded(self) -> None:
        """Note that the address answered, be it with a refusal."""
        self.circuit = Circuit.CLOSED
        self._failures = 0
        self._rest_seconds = FIRST_REST_SECONDS

    def failed(self, now: float) -> None:
        """Note that the address did not answer."""
        self._failures += 1
        if self.circuit is Circuit.HALF_OPEN:
            self._rest_seconds = min(self._rest_seconds * 2, LONGEST_REST_SECONDS)
        elif self._failures < FAILURES_TO_OPEN:
            return
        self.circuit, self._since = Circuit.OPEN, now

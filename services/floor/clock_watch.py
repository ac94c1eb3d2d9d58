"""How far each device's clock is off, measured from what its reports say the time is.

A report takes time to arrive, so one measurement is the true offset less that delay; the largest of the last few is the one
that was delayed least. A clock that steps back therefore shows only after MEASURES reports, one that steps forward at once.
Corrects nothing: order is the device's sequence (G13).
"""

from collections import deque

MEASURES = 8
MOST_DEVICES = 10_000


class ClockWatch:
    """The last measurements by (table, device)."""

    def __init__(self) -> None:
        self._measured: dict[tuple[str, str], deque[int]] = {}

    def offset_us(self, table: str, device: str, device_time_us: int, now_us: int) -> int | None:
        """The device's clock minus ours; None when it sent no time."""
        if not device_time_us:
            self._measured.pop((table, device), None)
            return None
        if len(self._measured) >= MOST_DEVICES and (table, device) not in self._measured:
            self._measured.clear()
        last = self._measured.setdefault((table, device), deque(maxlen=MEASURES))
        last.append(device_time_us - now_us)
        return max(last)

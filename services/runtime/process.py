"""How a process of the house uses its interpreter: set once, by whoever starts one.

Not set by the house itself, since it is the whole process's business and tests run many houses in one.
"""

import gc
import sys

SWITCH_SECONDS = 0.0005
"""How long a thread keeps the interpreter while another wants it. Python's own 5 ms would be added to a player's act each
time the event loop comes back from waiting while surveillance's threads compute."""
YOUNG_OBJECTS = 20_000
"""After how many new objects the collector looks at the young ones: a command makes hundreds, and none in a circle."""


def settle_process() -> None:
    """Set the interpreter up for a long life with one event loop and a few threads beside it."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.collect()
    # What is loaded by now stays for ever, so the collector need never look at it again.
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, 20, 50)

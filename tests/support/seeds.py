"""Random tests that can be run again: the seed is printed, and taken from HOLECARD_SEED when that is set."""

import os
import random


def seeded(test: str) -> random.Random:
    """A generator with a fresh seed, or with the one in HOLECARD_SEED; pytest shows the printed line when the test fails.

    `test` is the test's node id, so that the line is one command.
    """
    seed = int(os.environ.get("HOLECARD_SEED") or random.SystemRandom().randrange(10**9))
    print(f"again: HOLECARD_SEED={seed} pytest {test}")
    return random.Random(seed)
